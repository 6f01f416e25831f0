/* SPDX-License-Identifier: MIT */
#include "task/marker.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A line without its newline and surrounding white space. */
struct line {
	const char *text;
	size_t size;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct line trimmed(const char *text, size_t size)
{
	while (size > 0 && is_space(text[0])) {
		text++;
		size--;
	}
	while (size > 0 && is_space(text[size - 1]))
		size--;
	return (struct line){ text, size };
}

/* Number of ` or ~ at its beginning, if there are at least three. */
static size_t fence_size(struct line line)
{
	size_t n = 0;

	while (n < line.size && (line.text[0] == '`' || line.text[0] == '~') && line.text[n] == line.text[0])
		n++;
	return n >= 3 ? n : 0;
}

/* `code` on a line is not a fence: a fence has no further ` after it. */
static bool opens(struct line line, size_t n)
{
	return n > 0 && (line.text[0] == '~' || memchr(line.text + n, '`', line.size - n) == NULL);
}

static const char *marker_of(struct line line, char *const *markers)
{
	for (; *markers != NULL; markers++) {
		struct line marker = trimmed(*markers, strlen(*markers));

		if (marker.size > 0 && marker.size == line.size && strncasecmp(marker.text, line.text, line.size) == 0)
			return *markers;
	}
	return NULL;
}

const char *marker_in(const char *text, size_t size, char *const *markers)
{
	size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, open = 0;
	char fence = '\0';

	if (markers == NULL)
		return NULL;
	while (at < size) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
		struct line line = trimmed(text + at, length);
		size_t n = fence_size(line);
		const char *found;

		at += length + 1;
		if (open > 0) {
			if (n >= open && n == line.size && line.text[0] == fence)
				open = 0;
		} else if (opens(line, n)) {
			open = n;
			fence = line.text[0];
		} else if (line.size > 0 && line.text[0] != '>' && (found = marker_of(line, markers)) != NULL) {
			return found;
		}
	}
	return NULL;
}
