/* SPDX-License-Identifier: MIT */
#include "verdict/clean.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "proto/escape.h"
#include "base/strip.h"

#define BOM "\xef\xbb\xbf"
#define REPLACEMENT "\xef\xbf\xbd"

/* Length of all byte order marks: cleaned text may be cleaned again. */
static size_t bom_length(const char *text, size_t size)
{
	size_t n = 0;

	while (size - n >= strlen(BOM) && memcmp(text + n, BOM, strlen(BOM)) == 0)
		n += strlen(BOM);
	return n;
}

bool clean_is_blank(const char *text, size_t size)
{
	for (size_t i = text != NULL ? bom_length(text, size) : size; i < size; i++) {
		if (text[i] == '\0' || strchr(" \t\r\n\v\f", text[i]) == NULL)
			return false;
	}
	return true;
}

bool clean_is_silent(const char *text, size_t size)
{
	size_t left = size;
	char *stripped = text != NULL ? strip_escapes(text, size, &left) : NULL;
	bool silent = clean_is_blank(stripped != NULL ? stripped : text, left);

	free(stripped);
	return silent;
}

/* Length of the code point at text, 0: invalid. */
static size_t point_length(const char *text, size_t size)
{
	unsigned char c = (unsigned char)*text;
	size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	return n > 0 && n <= size && text_is_utf8(text, n) ? n : 0;
}

static void replace(struct buf *out, const char *text, size_t size)
{
	size_t kept = 0;

	for (size_t i = 0, n; i < size; i += n) {
		n = text[i] != '\0' ? point_length(text + i, size - i) : 0;
		if (n > 0)
			continue;
		buf_add(out, text + kept, i - kept);
		buf_adds(out, REPLACEMENT);
		n = 1;
		kept = i + n;
	}
	buf_add(out, text + kept, size - kept);
}

static bool inside_point(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

char *clean_text(const char *text, size_t size, size_t max)
{
	struct buf whole = { 0 }, cut = { 0 };
	size_t bom = bom_length(text, size), head, tail;

	text += bom;
	size -= bom;
	if (text_is_utf8(text, size) && memchr(text, '\0', size) == NULL)
		buf_add(&whole, text, size);
	else
		replace(&whole, text, size);
	if (whole.size <= max)
		return buf_take(&whole, NULL);
	for (head = max / 2; head > 0 && inside_point(whole.data[head]); head--)
		;
	for (tail = whole.size - max / 2; tail < whole.size && inside_point(whole.data[tail]); tail++)
		;
	buf_add(&cut, whole.data, head);
	buf_addf(&cut, "\n[... %zu bytes left out ...]\n", tail - head);
	buf_add(&cut, whole.data + tail, whole.size - tail);
	buf_release(&whole);
	return buf_take(&cut, NULL);
}
