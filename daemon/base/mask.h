/* SPDX-License-Identifier: MIT */
/* Secrets out of texts that others wrote: exact values, and the patterns of base/secret_patterns.h. Pure, in time linear in the text.
 *
 * What is secret becomes "[secret]"; what tells its kind stays: "sk-ant-[secret]", "https://me:[secret]@host". A masked text stays as
 * it is when it is masked again. What a cut has left of an exact value at either end of a text is found as well, from eight bytes on. */
#ifndef BASE_MASK_H
#define BASE_MASK_H

#include <stdbool.h>
#include <stddef.h>

/* Shorter values are words that stand elsewhere too. */
#define MASK_VALUE_MIN 8

struct mask;

/* No exact values yet. */
struct mask *mask_new(void);
/* NULL is none. Overwrites the values before it frees them. */
void mask_free(struct mask *mask);

/* A value that must not be seen, under whatever name; one of less than MASK_VALUE_MIN bytes is passed over. Copied. */
void mask_add(struct mask *mask, const char *value);

/* "NAME=value": added when the name is one of a secret or the value looks like a key. The password in a value that is a URL as well. */
void mask_add_variable(struct mask *mask, const char *entry);

/* The masked text, new and NUL-terminated, or NULL: there is nothing to mask. mask NULL: patterns only. size: may be NULL. */
char *mask_text(const struct mask *mask, const char *text, size_t length, size_t *size);

/* The same in place: *text is a string of its own, or NULL. True when it was changed. */
bool mask_string(const struct mask *mask, char **text);

/* Is the value of a variable of this name to be kept from view? value NULL: whatever it is. */
bool mask_hides(const char *name, const char *value);

#endif
