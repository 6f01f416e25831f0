/* SPDX-License-Identifier: MIT */
/* Rows as JSON for clients and files, by the field table of core/row.h. */
#ifndef MODEL_ROW_JSON_H
#define MODEL_ROW_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "core/row.h"

/* A string from any bytes: invalid UTF-8 becomes U+FFFD, NULL becomes null. */
json_t *json_text(const char *text);

/* ROW_NONE becomes null. */
json_t *json_int(int64_t value);
/* Milliseconds to RFC 3339; ROW_NONE becomes null. */
json_t *json_time(int64_t ms);
/* The JSON document in text; fallback (takes ownership) if text is NULL or malformed. */
json_t *json_document(const char *text, json_t *fallback);

/* Add the three results of an attempt to json: process, provider, outcome, each null while unknown;
 * and fault, the one that prevented a success ("process", "provider", "task"), null: none. */
void json_results(json_t *json, const struct attempt_row *attempt);

/* All columns visible to clients. */
json_t *json_row(enum row_kind kind, const void *row);

#endif
