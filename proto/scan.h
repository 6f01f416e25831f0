/* SPDX-License-Identifier: MIT */
/* Checks a document before it is parsed: a parser's memory grows with values and depth, not with
 * bytes. */
#ifndef PROTO_SCAN_H
#define PROTO_SCAN_H

#include <stddef.h>

#define SCAN_DEPTH 32		/* nesting depth of arrays and objects */
#define SCAN_VALUES 20000	/* values of all kinds, without member names */

enum scan_result {
	SCAN_OK,		/* within the limits; it may still be invalid JSON */
	SCAN_EMPTY,
	SCAN_NUL,		/* a raw NUL byte: some parsers stop there */
	SCAN_DEEP,
	SCAN_MANY,
	SCAN_RESULTS
};

enum scan_result scan_json(const char *data, size_t size);
/* Likewise with other limits. */
enum scan_result scan_json_within(const char *data, size_t size, size_t max_depth, size_t max_values);

/* A sentence for the error reply; "" for SCAN_OK. */
const char *scan_message(enum scan_result result);

#endif
