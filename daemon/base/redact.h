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

/* Shorter values are words that occur elsewhere, too. */
#define REDACT_VALUE_MIN 8

struct redactor;

/* Without exact values. */
struct redactor *redact_new(void);
/* NULL is allowed. Overwrites the values before it frees them. */
void redact_free(struct redactor *redactor);

/* Add a secret value, whatever its name; one of less than REDACT_VALUE_MIN bytes is ignored.
 * Copied. */
void redact_add(struct redactor *redactor, const char *value);

/* Add the value of "NAME=value" if the name is one of a secret or the value looks like a key; also
 * the password in a URL. */
void redact_add_variable(struct redactor *redactor, const char *entry);

/* The redacted text, new and NUL-terminated, or NULL: it contains no secret. redactor NULL:
 * patterns only. size: may be NULL. */
char *redact_text(const struct redactor *redactor, const char *text, size_t length, size_t *size);

/* Likewise in place: *text is an owned string, or NULL. Returns whether it was changed. */
bool redact_string(const struct redactor *redactor, char **text);

/* Whether the value of a variable of this name must be hidden. value NULL: any value. */
bool redact_hides(const char *name, const char *value);

#endif
