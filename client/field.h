/* SPDX-License-Identifier: MIT */
/* Reading the members of a reply: what is missing, null or of another type is simply not there. */
#ifndef CLIENT_FIELD_H
#define CLIENT_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define FIELD_NONE INT64_MIN

const char *field_text(const json_t *object, const char *key);		/* "" when not there; borrowed */
int64_t field_int(const json_t *object, const char *key);		/* FIELD_NONE when not there */
double field_real(const json_t *object, const char *key);		/* NaN when not there */
bool field_true(const json_t *object, const char *key);
int64_t field_time(const json_t *object, const char *key);		/* milliseconds since the epoch, or FIELD_NONE */
const json_t *field_array(const json_t *object, const char *key);	/* NULL when not there, which iterates as empty */


#endif
