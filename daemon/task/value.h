/* SPDX-License-Identifier: MIT */
/* Shared by the readers of JSON sources: bounded parsing, and values that tools write in several
 * ways. Pure. */
#ifndef TASK_VALUE_H
#define TASK_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole document. NULL with *error, a message without a place, malloc'd. */
json_t *value_read(const char *text, size_t size, size_t max_values, char **error);

/* Size of a byte order mark at the beginning of a text, 0: none. */
size_t value_mark(const char *text, size_t size);

/* "a string", "an object": the type of value. */
const char *value_kind(const json_t *value);

/* A member that is a string, or missing or null, which gives NULL. A new string. False: another
 * type. */
bool value_take_text(const json_t *object, const char *name, char **out);

/* A member that is a string or a list of strings: Markdown, with a "- " line for each. As above. */
bool value_take_criteria(const json_t *object, const char *name, char **out);

/* A member that is a number, also as text: "2", "P2". ROW_NONE if missing or null. */
bool value_take_priority(const json_t *object, const char *name, int64_t *out);

/* An id: a string or an integer. A new string; NULL: neither. */
char *value_id(const json_t *value);

/* Criteria of a list, one after the other. */
struct buf;
void criteria_add(struct buf *b, const char *criterion);

#endif
