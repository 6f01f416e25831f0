/* SPDX-License-Identifier: MIT */
/* Members of a JSON object that a program wrote: whatever is missing or of another
 * kind is "not given". */
#ifndef AGENT_MEMBER_H
#define AGENT_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* The object may be NULL or no object everywhere. */
const json_t *member(const json_t *object, const char *key);
/* NULL for anything but a string. Borrowed. */
const char *member_text(const json_t *object, const char *key);
bool member_is(const json_t *object, const char *key, const char *value);
/* `otherwise` for anything but an integer that is not negative, nor larger than anything that
 * is counted (2^45). */
int64_t member_count(const json_t *object, const char *key, int64_t otherwise);
/* NaN for anything but a number that is not negative, nor more than a billion. */
double member_amount(const json_t *object, const char *key);
/* Replaces *text by a copy when there is one. */
void member_keep(char **text, const json_t *object, const char *key);

/* Counts of which each may be ROW_NONE: "not given" adds nothing, and takes nothing away. A sum
 * ends at the largest count. */
int64_t count_sum(int64_t a, int64_t b);
/* whole without its part, never below 0. */
int64_t count_without(int64_t whole, int64_t part);

#endif
