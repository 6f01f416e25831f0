/* SPDX-License-Identifier: MIT */
#include "agent/preview.h"

#include <stdlib.h>
#include <string.h>

#include "base/strip.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define ELLIPSIS "\xe2\x80\xa6"
/* Bytes of one character more than is shown, whatever their length. */
#define ENOUGH (4 * (PREVIEW_CHARACTERS + 1))

bool preview_full(const struct preview *p)
{
	return p->count >= p->wanted || p->count == PREVIEW_LINES_MAX;
}

static bool is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

bool preview_back(const struct preview_tail *tail, const char *ends, size_t *at, struct preview_tail *line)
{
	size_t end = *at, start;

	if (end == 0)
		return false;
	if (is_one_of(tail->data[end - 1], ends))
		end--;
	for (start = end; start > 0 && !is_one_of(tail->data[start - 1], ends); start--)
		;
	*line = (struct preview_tail){ tail->data + start, end - start, tail->cut && start == 0 };
	*at = start;
	return true;
}

static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Offset of character n (from 0) of valid UTF-8, or its end. */
static size_t place_of(const char *text, size_t n)
{
	size_t i = 0;

	for (; text[i] != '\0'; i++) {
		if (!is_inside(text[i]) && n-- == 0)
			break;
	}
	return i;
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += !is_inside(*text);
	return n;
}

static char *escaped(const char *data, size_t size)
{
	char *copy = strip_escapes(data, size, &size), *text;

	if (copy == NULL)
		copy = xmemdup0(data, size);
	for (size_t i = 0; i < size; i++) {
		if (copy[i] == '\t')
			copy[i] = ' ';
	}
	text = text_escape(copy, size, false);
	free(copy);
	return text;
}

/* A line is represented by its beginning, or by its end if the beginning is missing. malloc'd. */
static char *shown(const struct preview_tail *line)
{
	const char *data = line->data;
	size_t size = line->size, n;
	char *text, *out;

	if (!line->cut) {
		text = escaped(data, size < ENOUGH ? size : ENOUGH);
		n = place_of(text, PREVIEW_CHARACTERS - 1);
		if (characters(text) > PREVIEW_CHARACTERS) {
			text[n] = '\0';
			out = xasprintf("%s" ELLIPSIS, text);
			free(text);
			return out;
		}
		return text;
	}
	if (size > ENOUGH) {
		data += size - ENOUGH;
		size = ENOUGH;
	}
	for (n = 0; n < 3 && size > 0 && is_inside(*data); n++) {
		data++;
		size--;
	}
	text = escaped(data, size);
	n = characters(text);
	out = xasprintf(ELLIPSIS "%s",
	    text + (n < PREVIEW_CHARACTERS ? 0 : place_of(text, n - (PREVIEW_CHARACTERS - 1))));
	free(text);
	return out;
}

static void preview_put(struct preview *p, struct preview_tail line)
{
	char *text;

	while (line.size > 0 && is_one_of(line.data[line.size - 1], " \t\v\f"))
		line.size--;
	if (line.size == 0)
		return;
	text = shown(&line);
	if (p->count > 0 && strcmp(p->lines[p->count - 1], text) == 0)
		free(text);
	else
		p->lines[p->count++] = text;
}

void preview_text(struct preview *p, const struct preview_tail *text)
{
	struct preview_tail line;
	size_t at = text->size;

	while (!preview_full(p) && preview_back(text, "\r\n", &at, &line))
		preview_put(p, line);
}
