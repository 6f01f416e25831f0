/* SPDX-License-Identifier: MIT */
#include "base/strip.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"

#define ESC '\x1b'
#define BEL '\x07'

/* Bytes that structure a JSON text. */
static bool is_structure(char c)
{
	return c == '{' || c == '}' || c == '"' || c == '\\';
}

/* Length of the escape sequence at p (ECMA-48). It always ends before a byte of structure or a
 * newline. */
static size_t escape_length(const char *p, size_t left)
{
	size_t n = 2;

	if (left < 2)
		return 1;
	if (strchr("]PX^_", p[1]) != NULL && p[1] != '\0') {
		for (; n < left; n++) {
			if (p[n] == BEL)
				return n + 1;
			if (p[n] == ESC)
				return n + 1 < left && p[n + 1] == '\\' ? n + 2 : n;
			if ((unsigned char)p[n] < ' ' || is_structure(p[n]))
				break;
		}
		return n;
	}
	if (p[1] != '[')
		n = 1;
	while (n < left && p[n] >= ' ' && p[n] <= (p[1] == '[' ? '?' : '/') && !is_structure(p[n]))
		n++;
	if (n < left && p[n] >= '0' && p[n] <= '~' && !is_structure(p[n]))
		n++;
	return n;
}

char *strip_escapes(const char *text, size_t size, size_t *stripped)
{
	char *out;
	size_t n = 0;

	if (memchr(text, ESC, size) == NULL)
		return NULL;
	out = xcalloc(size, 1);
	for (size_t i = 0; i < size;) {
		if (text[i] == ESC)
			i += escape_length(text + i, size - i);
		else
			out[n++] = text[i++];
	}
	*stripped = n;
	return out;
}

char *strip_line(const char *text)
{
	size_t size = strlen(text), n = 0;
	char *plain = strip_escapes(text, size, &size), *line;

	if (plain == NULL)
		plain = xmemdup0(text, size);
	for (size_t i = 0; i < size; i++) {
		bool blank = strchr(" \t\r\n", plain[i]) != NULL && plain[i] != '\0';

		if (!blank)
			plain[n++] = plain[i];
		else if (n > 0 && plain[n - 1] != ' ')
			plain[n++] = ' ';
	}
	n -= n > 0 && plain[n - 1] == ' ';
	line = text_escape(plain, n, false);
	free(plain);
	return line;
}
