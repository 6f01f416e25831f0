/* SPDX-License-Identifier: MIT */
#include "client/diff_stat.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

#define MARKS_MAX 40	/* columns of the longest row of marks */

struct stat_file {
	char *name;
	long long added, removed;
};

struct diff_stat {
	const struct print *print;
	struct stat_file *files;
	size_t count, room;
	/* lines of the current hunk that are still to come, of both sides */
	long long was, now;
};

static bool stat_starts(const char *line, const char *with, const char **rest)
{
	size_t length = strlen(with);

	if (strncmp(line, with, length) != 0)
		return false;
	*rest = line + length;
	return true;
}

/* Of "a/NAME b/NAME", in the head of a change without lines: its names are the same. */
static char *stat_head_name(const char *rest)
{
	size_t length = strlen(rest);

	return *rest == '"' || length < 5 ? xstrdup(rest) : xasprintf("%.*s", (int)((length - 5) / 2), rest + 2);
}

static void stat_begin(struct diff_stat *s, const char *rest)
{
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->files = xreallocarray(s->files, s->room, sizeof(*s->files));
	}
	s->files[s->count++] = (struct stat_file){ .name = stat_head_name(rest) };
}

/* A side in the head: "a/NAME" or "b/NAME", perhaps in quotes, and a tab if it has a blank. */
static void stat_side(struct stat_file *file, const char *side)
{
	char *name;

	if (strcmp(side, "/dev/null") == 0)
		return;
	name = *side == '"' ? xstrdup(side) : xstrdup(side[0] != '\0' && side[1] == '/' ? side + 2 : side);
	name[strcspn(name, "\t")] = '\0';
	free(file->name);
	file->name = name;
}

/* "@@ -1,3 +1,4 @@"; a number that is left out is 1. */
static void stat_hunk(struct diff_stat *s, const char *rest)
{
	char *at;

	s->was = s->now = 1;
	strtoll(rest, &at, 10);
	if (*at == ',')
		s->was = strtoll(at + 1, &at, 10);
	at = strchr(at, '+');
	if (at == NULL)
		return;
	strtoll(at + 1, &at, 10);
	if (*at == ',')
		s->now = strtoll(at + 1, &at, 10);
}

static void stat_inside(struct diff_stat *s, char first)
{
	struct stat_file *file = &s->files[s->count - 1];

	file->added += first == '+';
	file->removed += first == '-';
	s->now -= first == '+' || first == ' ';
	s->was -= first == '-' || first == ' ';
}

static void stat_head(struct diff_stat *s, const char *line)
{
	struct stat_file *file = s->count > 0 ? &s->files[s->count - 1] : NULL;
	const char *rest;

	if (stat_starts(line, "diff --git ", &rest)) {
		stat_begin(s, rest);
	} else if (file == NULL && *line != '\0') {
		print_painted(s->print, PAINT_NONE, line);
		fputc('\n', s->print->file);
	} else if (file != NULL && (stat_starts(line, "--- ", &rest) || stat_starts(line, "+++ ", &rest))) {
		stat_side(file, rest);
	} else if (file != NULL && stat_starts(line, "rename to ", &rest)) {
		text_set(&file->name, rest);
	} else if (file != NULL && stat_starts(line, "@@ -", &rest)) {
		stat_hunk(s, rest);
	}
}

static void stat_read(struct diff_stat *s, const char *patch, size_t size)
{
	const char *end = patch + size;

	while (patch < end) {
		const char *newline = memchr(patch, '\n', (size_t)(end - patch));
		size_t length = (size_t)((newline == NULL ? end : newline) - patch);
		char *line = xmemdup0(patch, length);

		if (s->was > 0 || s->now > 0)
			stat_inside(s, *line);
		else
			stat_head(s, line);
		free(line);
		patch += length + 1;
	}
}

/* Of all marks of the file that changed most, at most MARKS_MAX. */
static void stat_marks(const struct diff_stat *s, enum paint paint, char mark, long long lines, long long most)
{
	long long count = most <= MARKS_MAX ? lines : (lines * MARKS_MAX + most - 1) / most;
	char marks[MARKS_MAX + 1] = "";

	if (count > MARKS_MAX)
		count = MARKS_MAX;
	memset(marks, mark, (size_t)count);
	print_painted(s->print, paint, marks);
}

static void stat_print_file(const struct diff_stat *s, const struct stat_file *file, int wide, long long most)
{
	fputc(' ', s->print->file);
	print_painted(s->print, PAINT_NONE, file->name);
	fprintf(s->print->file, "%*s | %*lld%s", wide - (int)strlen(file->name), "",
	    snprintf(NULL, 0, "%lld", most), file->added + file->removed,
	    file->added + file->removed > 0 ? " " : "");
	stat_marks(s, PAINT_GREEN, '+', file->added, most);
	stat_marks(s, PAINT_RED, '-', file->removed, most);
	fputc('\n', s->print->file);
}

static void stat_print(const struct diff_stat *s)
{
	long long most = 0, added = 0, removed = 0;
	int wide = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct stat_file *file = &s->files[i];

		if (file->added + file->removed > most)
			most = file->added + file->removed;
		if ((int)strlen(file->name) > wide)
			wide = (int)strlen(file->name);
		added += file->added;
		removed += file->removed;
	}
	for (size_t i = 0; i < s->count; i++)
		stat_print_file(s, &s->files[i], wide, most);
	fprintf(s->print->file, " %zu file%s changed, %lld insertion%s(+), %lld deletion%s(-)\n", s->count,
	    s->count == 1 ? "" : "s", added, added == 1 ? "" : "s", removed, removed == 1 ? "" : "s");
}

void diff_stat_print(const struct print *p, const char *patch, size_t size)
{
	struct diff_stat s = { .print = p };

	stat_read(&s, patch, size);
	stat_print(&s);
	for (size_t i = 0; i < s.count; i++)
		free(s.files[i].name);
	free(s.files);
}
