/* SPDX-License-Identifier: MIT */
#include "proto/scan.h"

#include <stdbool.h>
#include <string.h>

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

static const char *const messages[SCAN_RESULTS] = {
	[SCAN_OK] = "",
	[SCAN_EMPTY] = "the document is empty",
	[SCAN_NUL] = "the document contains a NUL byte",
	[SCAN_DEEP] = "the document is nested deeper than " TEXT(SCAN_DEPTH) " levels",
	[SCAN_MANY] = "the document has more than " TEXT(SCAN_VALUES) " values",
};

const char *scan_message(enum scan_result result)
{
	return messages[result];
}

/* Index of the quote that ends the string whose content begins at i; size if there is none. */
static size_t string_end(const char *data, size_t size, size_t i)
{
	for (; i < size && data[i] != '"'; i++) {
		if (data[i] == '\\')
			i++;
	}
	return i < size ? i : size;
}

enum scan_result scan_json(const char *data, size_t size)
{
	return scan_json_within(data, size, SCAN_DEPTH, SCAN_VALUES);
}

enum scan_result scan_json_within(const char *data, size_t size, size_t max_depth, size_t max_values)
{
	size_t depth = 0, values = 0;
	bool scalar = false;	/* inside a number or a word */
	bool seen = false;

	if (memchr(data, '\0', size) != NULL)
		return SCAN_NUL;
	for (size_t i = 0; i < size; i++) {
		switch (data[i]) {
		case ' ': case '\t': case '\r': case '\n': case ',':
			scalar = false;
			continue;
		case ':':
			/* The string was a member name. The parser rejects a colon anywhere else at
			 * that point, so it cannot be used to hide values. */
			scalar = false;
			values -= values > 0;
			continue;
		case '}': case ']':
			scalar = false;
			depth -= depth > 0;
			continue;
		case '{': case '[':
			scalar = false;
			if (++depth > max_depth)
				return SCAN_DEEP;
			break;
		case '"':
			scalar = false;
			i = string_end(data, size, i + 1);
			break;
		default:
			if (scalar)
				continue;
			scalar = true;
			break;
		}
		seen = true;
		/* names are counted until their colon, so one may follow the last value */
		if (++values > max_values + 1)
			return SCAN_MANY;
	}
	if (values > max_values)
		return SCAN_MANY;
	return seen ? SCAN_OK : SCAN_EMPTY;
}
