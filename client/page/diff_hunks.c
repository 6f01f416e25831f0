/* SPDX-License-Identifier: MIT */
#include "client/page/diff_hunks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

/* What is being read. */
struct hunks_reader {
	struct diff *diff;
	/* lines of the current hunk that are still to come, of both sides */
	long long was, now;
};

static bool hunks_starts(const char *line, size_t length, const char *with)
{
	size_t wanted = strlen(with);

	return length >= wanted && memcmp(line, with, wanted) == 0;
}

static struct diff_file *hunks_last(const struct diff *p)
{
	return p->count == 0 ? NULL : &p->files[p->count - 1];
}

/* The b/NAME in "a/NAME b/NAME": both halves are the same. */
static char *hunks_head_name(const char *rest, size_t length)
{
	return length < 5 || *rest == '"' ? xmemdup0(rest, length) : xmemdup0(rest + (length + 1) / 2 + 2,
	    length - (length + 1) / 2 - 2);
}

static void hunks_begin_file(struct diff *p, const char *line, size_t length)
{
	static const size_t head = sizeof("diff --git ") - 1;

	p->files = xreallocarray(p->files, p->count + 1, sizeof(*p->files));
	p->files[p->count++] = (struct diff_file){ .text = line, .name = hunks_head_name(line + head, length - head) };
}

/* "--- a/NAME" or "+++ b/NAME", with a tab behind a name that has a blank. */
static void hunks_name_file(struct diff_file *file, const char *line, size_t length)
{
	char *name = xmemdup0(line + 4, length - 4), *side = name;

	name[strcspn(name, "\t\r")] = '\0';
	if (side[0] != '\0' && side[1] == '/')
		side += 2;
	if (strcmp(name, "/dev/null") != 0)
		text_set(&file->name, side);
	free(name);
}

/* A number and the count behind a comma; a count that is left out is 1. */
static const char *hunks_range(const char *at, long long *from, long long *count)
{
	char *end;

	*from = strtoll(at, &end, 10);
	*count = 1;
	if (*end == ',')
		*count = strtoll(end + 1, &end, 10);
	return end;
}

/* "@@ -1,3 +1,4 @@" */
static void hunks_begin_hunk(struct hunks_reader *r, const char *line, size_t length)
{
	struct diff_file *file = hunks_last(r->diff);
	struct diff_hunk hunk = { .text = line };
	char *copy = xmemdup0(line, length);
	const char *plus = strchr(copy, '+');
	long long from;

	hunks_range(copy + 4, &from, &r->was);
	r->now = 0;
	if (plus != NULL)
		hunks_range(plus + 1, &hunk.from, &r->now);
	hunk.lines = r->now;
	file->hunks = xreallocarray(file->hunks, file->count + 1, sizeof(*file->hunks));
	file->hunks[file->count++] = hunk;
	free(copy);
}

static void hunks_count(struct hunks_reader *r, struct diff_file *file, char first)
{
	file->added += first == '+';
	file->removed += first == '-';
	r->now -= first == '+' || first == ' ';
	r->was -= first == '-' || first == ' ';
}

static void hunks_line(struct hunks_reader *r, const char *line, size_t length, size_t whole)
{
	struct diff_file *file = hunks_last(r->diff);
	bool inside = r->was > 0 || r->now > 0;

	if (!inside && hunks_starts(line, length, "diff --git ")) {
		hunks_begin_file(r->diff, line, length);
		file = hunks_last(r->diff);
	} else if (file == NULL) {
		return;
	} else if (inside && length > 0) {
		hunks_count(r, file, *line);
	} else if (hunks_starts(line, length, "@@ -")) {
		hunks_begin_hunk(r, line, length);
	} else if (hunks_starts(line, length, "--- ") || hunks_starts(line, length, "+++ ")) {
		hunks_name_file(file, line, length);
	}
	file->size += whole;
	if (file->count > 0)
		file->hunks[file->count - 1].size += whole;
}

void hunks_read(struct diff *p, const char *text, size_t size)
{
	struct hunks_reader r = { .diff = p };

	*p = (struct diff){ 0 };
	for (const char *line = text, *end = text + size; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline == NULL ? end : newline) - line), whole = length + (newline != NULL);

		hunks_line(&r, line, length, whole);
		line += whole;
	}
}

void hunks_release(struct diff *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->files[i].name);
		free(p->files[i].hunks);
	}
	free(p->files);
	*p = (struct diff){ 0 };
}

/* Lines between the hunk and the line; 0: the hunk has it. */
static long long hunks_distance(const struct diff_hunk *hunk, long long line)
{
	long long last = hunk->from + (hunk->lines > 0 ? hunk->lines - 1 : 0);

	return line < hunk->from ? hunk->from - line : line > last ? line - last : 0;
}

const struct diff_hunk *hunks_find(const struct diff *p, const char *file, long long line)
{
	const struct diff_hunk *found = NULL;

	for (size_t i = 0; i < p->count; i++) {
		const struct diff_file *f = &p->files[i];

		for (size_t n = 0; strcmp(f->name, file) == 0 && n < f->count; n++)
			if (found == NULL || hunks_distance(&f->hunks[n], line) < hunks_distance(found, line))
				found = &f->hunks[n];
	}
	return found;
}
