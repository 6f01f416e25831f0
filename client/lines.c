/* SPDX-License-Identifier: MIT */
#include "client/lines.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"

void lines_init(struct lines *l, size_t width, bool color)
{
	*l = (struct lines){ .width = width, .color = color };
}

void lines_release(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->line[i]);
	free(l->line);
	free(l->open.data);
	*l = (struct lines){ .width = l->width, .color = l->color };
}

size_t lines_left(const struct lines *l)
{
	return l->width == 0 ? SIZE_MAX : l->width - l->used;
}

void lines_add(struct lines *l, enum paint paint, const char *text)
{
	size_t left = lines_left(l);
	char *shown;
	const char *sequence;

	if (left == 0)
		return;
	shown = print_clip(text, l->width == 0 ? 0 : left);
	sequence = l->color && *shown != '\0' ? print_sequence(paint) : "";
	buf_adds(&l->open, sequence);
	buf_adds(&l->open, shown);
	if (*sequence != '\0')
		buf_adds(&l->open, "\033[0m");
	l->used += text_width(shown);
	free(shown);
}

void lines_addf(struct lines *l, enum paint paint, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	lines_add(l, paint, text);
	free(text);
}

void lines_end(struct lines *l)
{
	if (l->count == l->room) {
		l->room = l->room == 0 ? 64 : l->room * 2;
		l->line = xreallocarray(l->line, l->room, sizeof(*l->line));
	}
	l->line[l->count++] = l->open.data != NULL ? l->open.data : xstrdup("");
	l->open = (struct buf){ 0 };
	l->used = 0;
}

void lines_print(const struct lines *l, FILE *file)
{
	for (size_t i = 0; i < l->count; i++)
		fprintf(file, "%s\n", l->line[i]);
}
