/* SPDX-License-Identifier: MIT */
/* Members of a reply: missing, null and of the wrong type are treated the same. Results are
 * borrowed. */
#ifndef CLIENT_FIELD_H
#define CLIENT_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/kinds.h"

#define FIELD_NONE INT64_MIN

const char *field_text(const json_t *object, const char *key);		/* "" if missing */
/* FIELD_NONE if missing */
int64_t field_int(const json_t *object, const char *key);
long long field_count(const json_t *object, const char *key);		/* 0 if missing */
double field_real(const json_t *object, const char *key);		/* NaN if missing */
bool field_true(const json_t *object, const char *key);
/* milliseconds since the epoch, or FIELD_NONE */
int64_t field_time(const json_t *object, const char *key);
/* Why the object ended. END_NONE if missing, END_ERROR if this client does not know the kind. */
enum end_kind field_end_kind(const json_t *object);
/* why the object waits; likewise, with WAIT_OTHER for an unknown kind */
enum wait_kind field_wait_kind(const json_t *object);
/* NULL if missing, which iterates as empty */
const json_t *field_array(const json_t *object, const char *key);

/* Whether the member is this text. */
bool field_is(const json_t *object, const char *key, const char *text);

/* The first of two members that is a non-empty text, or "". */
const char *field_either(const json_t *object, const char *key, const char *other);

/* The last object of an array whose member key is this number; NULL: none. */
const json_t *field_find(const json_t *array, const char *key, int64_t number);

/* Whether word is in an array of texts; all of them as "a, b", which the caller frees. */
bool field_has(const json_t *array, const char *word);
char *field_joined(const json_t *array);

#endif
