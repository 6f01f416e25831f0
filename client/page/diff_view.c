/* SPDX-License-Identifier: MIT */
#include "client/page/diff_view.h"

#include <stdbool.h>
#include <string.h>

#include "client/page/pieces.h"

/* A line with its number in the new file; number 0: it has none. */
static void view_line(struct html *h, const char *line, size_t size, long long number, bool marked)
{
	static const struct {
		char first;
		const char *element, *class;
	} kinds[] = { { '+', "ins", NULL }, { '-', "del", NULL }, { '@', "span", "at" }, { '\0', "span", NULL } };
	size_t kind = 0;

	while (kinds[kind].first != '\0' && (size == 0 || kinds[kind].first != *line))
		kind++;
	html_open_class(h, "span", marked ? "line marked" : "line");
	html_open_class(h, "span", "no");
	if (number > 0)
		html_textf(h, "%lld", number);
	html_close(h);
	html_open_class(h, kinds[kind].element, kinds[kind].class);
	html_bytes(h, line, size);
	html_text(h, "\n");
	html_close(h);
	html_close(h);
}

/* The lines of a hunk from skip on, at most count of them. */
static void view_lines(struct html *h, const struct diff_hunk *hunk, size_t skip, size_t count, long long mark)
{
	long long number = hunk->from;
	size_t index = 0;

	for (const char *line = hunk->text, *end = line + hunk->size; line < end; index++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((newline == NULL ? end : newline) - line);
		bool counts = size > 0 && (*line == ' ' || *line == '+') && index > 0;

		if (index >= skip && index < skip + count)
			view_line(h, line, size, counts ? number : 0, counts && number == mark);
		number += counts;
		line += size + (newline != NULL);
	}
}

/* Number of lines of a hunk; *at: index of the line with this number. */
static size_t view_count(const struct diff_hunk *hunk, long long wanted, size_t *at)
{
	long long number = hunk->from;
	size_t count = 0;

	*at = 0;
	for (const char *line = hunk->text, *end = line + hunk->size; line < end; count++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (count > 0 && (*line == ' ' || *line == '+') && number++ <= wanted)
			*at = count;
		line = newline == NULL ? end : newline + 1;
	}
	return count;
}

void diff_view_hunk(struct html *h, const char *file, const struct diff_hunk *hunk, long long line, bool mark)
{
	size_t at, count = view_count(hunk, line, &at), most = PIECE_HUNK_LINES, skip;

	skip = count <= most || at < most / 2 ? 0 : at - most / 2;
	html_open_class(h, "figure", "hunk");
	html_leaf(h, "figcaption", NULL, file);
	html_open_class(h, "pre", "diff");
	view_lines(h, hunk, skip, most, mark ? line : -1);
	html_close(h);
	html_close(h);
}

static void view_file(struct html *h, const struct diff_file *file, bool open)
{
	html_open_class(h, "details", "file");
	html_attr(h, "open", open ? "" : NULL);
	html_open(h, "summary");
	html_leaf(h, "code", NULL, file->name);
	html_text(h, " ");
	html_leaff(h, "span", "plus", "+%lld", file->added);
	html_text(h, " ");
	html_leaff(h, "span", "minus", "−%lld", file->removed);
	html_close(h);
	if (file->count == 0) {
		html_leaf(h, "p", "note", "No lines: it is binary, or only its name or mode changed.");
	} else {
		html_open_class(h, "pre", "diff");
		for (size_t i = 0; i < file->count; i++)
			view_lines(h, &file->hunks[i], 0, SIZE_MAX, -1);
		html_close(h);
	}
	html_close(h);
}

void diff_view_all(struct html *h, const struct diff *diff, const char *more)
{
	size_t lines = 0;

	for (size_t i = 0; i < diff->count; i++)
		lines += (size_t)(diff->files[i].added + diff->files[i].removed);
	for (size_t i = 0; i < diff->count; i++)
		view_file(h, &diff->files[i], lines <= 200);
	if (more == NULL)
		return;
	html_open_class(h, "p", "cut");
	html_textf(h, "The diff is longer than %d KiB; ", PIECE_DIFF_MAX / 1024);
	html_leaf(h, "code", NULL, more);
	html_text(h, " shows all of it.");
	html_close(h);
}
