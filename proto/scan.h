/* SPDX-License-Identifier: MIT */
/* One look at a document before it is parsed: a parser's memory grows with values and
 * depth, not with bytes. */
#ifndef PROTO_SCAN_H
#define PROTO_SCAN_H

#include <stddef.h>

#define SCAN_DEPTH 32		/* arrays and objects inside each other */
#define SCAN_VALUES 20000	/* values of all kinds, names of members aside */

enum scan_result {
	SCAN_OK,		/* within the limits; whether it is JSON is the parser's matter */
	SCAN_EMPTY,
	SCAN_NUL,		/* a raw NUL byte: some parsers stop there */
	SCAN_DEEP,
	SCAN_MANY,
	SCAN_RESULTS
};

enum scan_result scan_json(const char *data, size_t size);
/* The same with limits of the caller's own. */
enum scan_result scan_json_within(const char *data, size_t size, size_t max_depth, size_t max_values);

/* A sentence for the error reply; "" for SCAN_OK. */
const char *scan_message(enum scan_result result);

#endif
