/* SPDX-License-Identifier: MIT */
/* Members of a JSON object written by a program: missing ones and those of another type count as
 * "not reported". */
#ifndef AGENT_MEMBER_H
#define AGENT_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* The object may be NULL or not an object everywhere. */
const json_t *member(const json_t *object, const char *key);
/* NULL for anything but a string. Borrowed. */
const char *member_text(const json_t *object, const char *key);
bool member_is(const json_t *object, const char *key, const char *value);
/* `otherwise` for anything but an integer from 0 to the largest count (2^45). */
int64_t member_count(const json_t *object, const char *key, int64_t otherwise);
/* NaN for anything but a number from 0 to a billion. */
double member_amount(const json_t *object, const char *key);
/* Replaces *text by a copy, if there is a text. */
void member_keep(char **text, const json_t *object, const char *key);
/* Replaces *text by the names of the object's members, "a, b", if it has any. */
void member_keep_names(char **text, const json_t *object);

/* Sums of counts that may be ROW_NONE, which changes nothing. A sum is at most the largest
 * count. */
int64_t count_sum(int64_t a, int64_t b);
/* whole minus part, never below 0. */
int64_t count_without(int64_t whole, int64_t part);

#endif
