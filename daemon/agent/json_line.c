/* SPDX-License-Identifier: MIT */
#include "agent/json_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/scan.h"

/* A tool's input may be a whole document itself. */
#define DEPTH_MAX 512
#define VALUES_MAX 400000

#define REPLACEMENT "\xef\xbf\xbd"

/* Value of four hex digits, -1 for anything else. */
static int hex4(const char *p, const char *end)
{
	int value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef", *at = memchr(digits, p[i] | 0x20, 16);

		if (at == NULL)
			return -1;
		value = value * 16 + (int)(at - digits);
	}
	return value;
}

/* Length of the escape at p (a backslash); a surrogate pair is one. *bad: it encodes no
 * character. */
static size_t escape_length(const char *p, const char *end, bool *bad)
{
	int first, second;

	*bad = false;
	if (end - p < 2 || p[1] != 'u')
		return end - p < 2 ? 1 : 2;
	first = hex4(p + 2, end);
	if (first == -1)
		return 2;
	*bad = first == 0 || (first >= 0xd800 && first <= 0xdfff);
	if (first < 0xd800 || first > 0xdbff || end - p < 12 || p[6] != '\\' || p[7] != 'u')
		return 6;
	second = hex4(p + 8, end);
	if (second < 0xdc00 || second > 0xdfff)
		return 6;
	*bad = false;
	return 12;
}

/* Length of the UTF-8 character at p, 0: invalid. */
static size_t character_length(const char *p, const char *end)
{
	for (size_t n = 1; n <= 4 && (size_t)(end - p) >= n; n++)
		if (text_is_utf8(p, n))
			return n;
	return 0;
}

/* Length of the number at p, 0: none. *large: an integer that may not fit into 64 bits. */
static size_t number_length(const char *p, const char *end, bool *large)
{
	size_t n = 0;
	bool whole = true;

	for (; p + n < end && p[n] != '\0' && strchr("+-.0123456789Ee", p[n]) != NULL; n++)
		whole = whole && strchr("+.Ee", p[n]) == NULL;
	*large = whole && n >= 19;
	return n;
}

static char *repaired(const char *data, size_t size, size_t *out_size)
{
	const char *p = data, *end = data + size;
	bool quoted = false;
	struct buf b = { 0 };

	while (p < end) {
		bool bad = false, large = false;
		size_t n = quoted ? 0 : number_length(p, end, &large);

		if (n == 0)
			n = *p == '\\' ? escape_length(p, end, &bad) : character_length(p, end);
		quoted ^= *p == '"';
		if (bad || n == 0)
			buf_adds(&b, REPLACEMENT);
		else
			buf_add(&b, p, n);
		if (large)
			buf_adds(&b, "e0");	/* makes it a real, which has the range */
		p += n > 0 ? n : 1;
	}
	return buf_take(&b, out_size);
}

json_t *json_line_parse(const char *data, size_t size)
{
	json_t *line;
	char *text;
	size_t n;

	if (scan_json_within(data, size, DEPTH_MAX, VALUES_MAX) != SCAN_OK)
		return NULL;
	line = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
	if (line != NULL)
		return line;
	text = repaired(data, size, &n);
	line = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return line;
}
