/* SPDX-License-Identifier: MIT */
#include "base/own_lines.h"

#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct own_line own_line_trim(const char *text, size_t size)
{
	while (size > 0 && is_space(text[0])) {
		text++;
		size--;
	}
	while (size > 0 && is_space(text[size - 1]))
		size--;
	return (struct own_line){ text, size };
}

/* Number of ` or ~ at its beginning, if there are at least three. */
static size_t fence_size(struct own_line line)
{
	size_t n = 0;

	while (n < line.size && (line.text[0] == '`' || line.text[0] == '~') && line.text[n] == line.text[0])
		n++;
	return n >= 3 ? n : 0;
}

/* `code` on a line is not a fence: a fence has no further ` after it. */
static bool opens(struct own_line line, size_t n)
{
	return n > 0 && (line.text[0] == '~' || memchr(line.text + n, '`', line.size - n) == NULL);
}

struct own_lines own_lines_of(const char *text, size_t size)
{
	bool mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;

	return (struct own_lines){ .text = text, .size = size, .at = mark ? 3 : 0 };
}

bool own_lines_next(struct own_lines *l, struct own_line *line)
{
	while (l->at < l->size) {
		const char *start = l->text + l->at, *end = memchr(start, '\n', l->size - l->at);
		size_t length = end != NULL ? (size_t)(end - start) : l->size - l->at, n;

		*line = own_line_trim(start, length);
		n = fence_size(*line);
		l->at += length + 1;
		if (l->open > 0) {
			if (n >= l->open && n == line->size && line->text[0] == l->fence)
				l->open = 0;
		} else if (opens(*line, n)) {
			l->open = n;
			l->fence = line->text[0];
		} else if (line->size > 0 && line->text[0] != '>') {
			return true;
		}
	}
	return false;
}
