/* SPDX-License-Identifier: MIT */
/* Rows as the JSON that clients and files get, by the field table of core/row.h. */
#ifndef MODEL_ROW_JSON_H
#define MODEL_ROW_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "core/row.h"

/* A string of any bytes: what is not UTF-8 becomes U+FFFD. NULL becomes null. */
json_t *json_text(const char *text);

/* ROW_NONE becomes null. */
json_t *json_int(int64_t value);
/* Milliseconds to RFC 3339; ROW_NONE becomes null. */
json_t *json_time(int64_t ms);
/* The JSON document in text; fallback (taken over) when text is NULL or broken. */
json_t *json_document(const char *text, json_t *fallback);

/* The three results of an attempt, as members of json: process, provider, outcome, each null while it is not known; and fault, which of
 * them kept it from being a success ("process", "provider", "task"), null when none did. */
void json_results(json_t *json, const struct attempt_row *attempt);

/* Every column that clients may see. */
json_t *json_row(enum row_kind kind, const void *row);

#endif
