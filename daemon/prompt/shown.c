/* SPDX-License-Identifier: MIT */
#include "prompt/shown.h"

#include <stdlib.h>
#include <string.h>

#include "base/patch_note.h"
#include "proto/memory.h"

static bool starts(struct span line, const char *text)
{
	size_t size = strlen(text);

	return line.size >= size && memcmp(line.data, text, size) == 0;
}

static struct span after(struct span line, size_t size)
{
	return (struct span){ line.data + size, line.size - size };
}

/* "a/file" or "b/file", malloc'd. */
static char *side_name(struct span text)
{
	size_t size = text.size;
	char *name = patch_name_read(text.data, &size), *file = xstrdup(strlen(name) > 2 ? name + 2 : name);

	free(name);
	return file;
}

/* The file of "a/file b/file", which both have the same name unless a line for each follows. */
static char *head_name(struct span rest)
{
	size_t size = rest.size, half = rest.size / 2;

	if (size > 0 && rest.data[0] == '"')
		free(patch_name_read(rest.data, &size));
	else if (size > 4 && rest.data[half] == ' ' && size % 2 == 1)
		size = half;
	return side_name((struct span){ rest.data, size });
}

static void add(struct shown *shown, char *file, const char *why, uint64_t bytes)
{
	shown->files++;
	if (shown->count == LEFT_OUT_MAX) {
		free(file);
		return;
	}
	if (shown->list == NULL)
		shown->list = xcalloc(LEFT_OUT_MAX, sizeof(*shown->list));
	shown->list[shown->count++] = (struct left_out){ file, why, bytes };
}

/* The part of the diff from start to end is about file, and takes ownership of it. */
static void part_end(struct shown *shown, char *file, size_t start, size_t end)
{
	size_t from = start > shown->head ? start : shown->head, to = end < shown->tail ? end : shown->tail;

	if (file != NULL && from < to)
		add(shown, file, "size", to - from);
	else
		free(file);
}

void shown_find(struct span diff, size_t cap, struct shown *shown)
{
	size_t start = 0;
	char *file = NULL;
	bool headers = true;		/* the file's change has not begun */

	*shown = (struct shown){ .total = diff.size };
	shown->points = prompt_cut(diff, cap, &shown->head, &shown->tail);
	for (size_t at = 0, size; at < diff.size; at += size) {
		const char *data = diff.data + at, *newline = memchr(data, '\n', diff.size - at);
		struct span line;
		struct patch_note note;

		size = newline != NULL ? (size_t)(newline - data) + 1 : diff.size - at;
		line = (struct span){ data, newline != NULL ? size - 1 : size };
		if (starts(line, "diff --git ")) {
			part_end(shown, file, start, at);
			file = head_name(after(line, strlen("diff --git ")));
			start = at;
			headers = true;
		} else if (starts(line, "@@ ")) {
			headers = false;
		} else if (headers && starts(line, "rename to ")) {
			struct span name = after(line, strlen("rename to "));

			free(file);
			file = patch_name_read(name.data, &name.size);
		} else if (file == NULL && patch_note_read(line.data, line.size, &note)) {
			add(shown, note.file, note.binary ? "binary" : "large", note.now > 0 ? note.now : note.was);
		}
	}
	part_end(shown, file, start, diff.size);
}

void shown_release(struct shown *shown)
{
	for (size_t i = 0; i < shown->count; i++)
		free(shown->list[i].file);
	free(shown->list);
	*shown = (struct shown){ 0 };
}
