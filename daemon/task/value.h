/* SPDX-License-Identifier: MIT */
/* What the readers of JSON sources share: bounded parsing, and values that several tools write in
 * several ways. Pure. */
#ifndef TASK_VALUE_H
#define TASK_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole document. NULL with *error, words without a place, malloc'd. */
json_t *value_read(const char *text, size_t size, size_t max_values, char **error);

/* A byte order mark in front of a text: its size, 0 when there is none. */
size_t value_mark(const char *text, size_t size);

/* "a string", "an object": what value is. */
const char *value_kind(const json_t *value);

/* A member that is a string, absent or null, in which case *out is NULL. A new string. False: it is
 * something else. */
bool value_take_text(const json_t *object, const char *name, char **out);

/* A member that is a string or a list of strings: Markdown, a "- " line for each of a list. As
 * above. */
bool value_take_criteria(const json_t *object, const char *name, char **out);

/* A member that is a number, or one as text: "2", "P2". ROW_NONE when it is absent or null. */
bool value_take_priority(const json_t *object, const char *name, int64_t *out);

/* An id: a string, or a whole number. A new string; NULL: it is neither. */
char *value_id(const json_t *value);

/* Criteria of a list, one after the other. */
struct buf;
void criteria_add(struct buf *b, const char *criterion);

#endif
