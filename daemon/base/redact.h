/* SPDX-License-Identifier: MIT */
/* Removal of secrets from foreign texts: exact values, and the patterns of base/secret_patterns.h.
 * Pure, in time linear in the text.
 *
 * What is secret becomes "[secret]"; its kind stays visible: "sk-ant-[secret]",
 * "https://me:[secret]@host". A masked text stays as it is when it is masked again. What a cut has
 * left of an exact value at either end of a text is found as well, from eight bytes on. */
#ifndef BASE_REDACT_H
#define BASE_REDACT_H

#include <stdbool.h>
#include <stddef.h>

/* Shorter values are words that stand elsewhere too. */
#define REDACT_VALUE_MIN 8

struct redactor;

/* No exact values yet. */
struct redactor *redact_new(void);
/* NULL is none. Overwrites the values before it frees them. */
void redact_free(struct redactor *redactor);

/* A value that must not be seen, under whatever name; one of less than REDACT_VALUE_MIN bytes is
 * passed over. Copied. */
void redact_add(struct redactor *redactor, const char *value);

/* "NAME=value": added when the name is one of a secret or the value looks like a key. The password
 * in a value that is a URL as well. */
void redact_add_variable(struct redactor *redactor, const char *entry);

/* The masked text, new and NUL-terminated, or NULL: there is nothing to mask. redactor NULL:
 * patterns only. size: may be NULL. */
char *redact_text(const struct redactor *redactor, const char *text, size_t length, size_t *size);

/* The same in place: *text is a string of its own, or NULL. True when it was changed. */
bool redact_string(const struct redactor *redactor, char **text);

/* Is the value of a variable of this name to be kept from view? value NULL: whatever it is. */
bool redact_hides(const char *name, const char *value);

#endif
