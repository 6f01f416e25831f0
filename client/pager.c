/* SPDX-License-Identifier: MIT */
#include "client/pager.h"

#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"

#define LINES_MAX 200000	/* older lines are dropped */

/* A row of the screen: a part of a line. */
struct row {
	size_t line, from, size;
};

struct pager {
	char *title, *filter;
	enum paint (*paint_of)(const char *line);
	char **lines;		/* escaped */
	size_t count, room;
	struct buf open;	/* the last line, which has no newline yet; as it came */
	char *open_line;	/* ... escaped, NULL: none; line number count */
	struct row *rows;	/* for this width; rebuilt when stale */
	size_t nrows, rows_room, width;
	bool stale, at_end;
	size_t top;		/* first row on the screen */
};

struct pager *pager_new(const char *title, enum paint (*paint_of)(const char *line), bool at_end)
{
	struct pager *p = xcalloc(1, sizeof(*p));

	p->title = xstrdup(title);
	p->paint_of = paint_of;
	p->at_end = at_end;
	p->stale = true;
	return p;
}

void pager_free(struct pager *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->count; i++)
		free(p->lines[i]);
	free(p->lines);
	free(p->rows);
	free(p->title);
	free(p->filter);
	buf_release(&p->open);
	free(p->open_line);
	free(p);
}

bool pager_matches(const char *text, const char *word)
{
	return word == NULL || *word == '\0' || strcasestr(text, word) != NULL;
}

/* Tabs are layout here; everything else is made visible. malloc'd. */
static char *shown_line(const char *text, size_t size)
{
	char *wide, *safe;

	while (size > 0 && text[size - 1] == '\r')
		size--;
	wide = print_untabbed(text, size, &size);
	safe = text_escape(wide, size, false);
	free(wide);
	return safe;
}

static void add_line(struct pager *p, const char *text, size_t size)
{
	if (p->count == LINES_MAX) {
		for (size_t i = 0; i < LINES_MAX / 2; i++)
			free(p->lines[i]);
		p->count -= LINES_MAX / 2;
		memmove(p->lines, p->lines + LINES_MAX / 2, p->count * sizeof(*p->lines));
	}
	if (p->count == p->room) {
		p->room = p->room == 0 ? 64 : p->room * 2;
		p->lines = xreallocarray(p->lines, p->room, sizeof(*p->lines));
	}
	p->lines[p->count++] = shown_line(text, size);
}

void pager_add(struct pager *p, const char *text, size_t size)
{
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t n = end != NULL ? (size_t)(end - text) : size;

		buf_add(&p->open, text, n);
		if (end != NULL) {
			add_line(p, p->open.data, p->open.size);
			p->open.size = 0;
			n++;
		}
		text += n;
		size -= n;
	}
	p->stale = true;
}

void pager_filter(struct pager *p, const char *text)
{
	text_set(&p->filter, text);
	p->stale = true;
	p->top = 0;
}

/* Bytes of a text that fit into so many columns, broken behind a blank of the second half if there
 * is one. */
static size_t row_size(const char *text, size_t width)
{
	size_t fits = text_fit(text, width), n = fits;

	if (fits == 0 || text[fits] == '\0')
		return strlen(text);	/* or narrower than a wide character: cut later */
	while (n > fits / 2 && text[n - 1] != ' ')
		n--;
	return n > fits / 2 ? n : fits;
}

static void add_rows(struct pager *p, size_t line, const char *text)
{
	size_t size = strlen(text), from = 0;

	if (!pager_matches(text, p->filter))
		return;
	do {
		size_t n = row_size(text + from, p->width);

		if (p->nrows == p->rows_room) {
			p->rows_room = p->rows_room == 0 ? 64 : p->rows_room * 2;
			p->rows = xreallocarray(p->rows, p->rows_room, sizeof(*p->rows));
		}
		p->rows[p->nrows++] = (struct row){ line, from, n };
		from += n;
	} while (from < size);
}

/* The text as rows, with the open line as the last. */
static void lay_out(struct pager *p, size_t width)
{
	if (!p->stale && p->width == width)
		return;
	p->width = width;
	p->nrows = 0;
	p->stale = false;
	free(p->open_line);
	p->open_line = p->open.size > 0 ? shown_line(p->open.data, p->open.size) : NULL;
	for (size_t i = 0; i < p->count; i++)
		add_rows(p, i, p->lines[i]);
	if (p->open_line != NULL)
		add_rows(p, p->count, p->open_line);
}

/* Rows of text on a screen of this height. */
static size_t text_rows(size_t height)
{
	return height > 2 ? height - 2 : 1;
}

static size_t last_top(const struct pager *p, size_t height)
{
	return p->nrows > text_rows(height) ? p->nrows - text_rows(height) : 0;
}

/* As in less(1). */
static enum key scrolling_key(enum key key, char c)
{
	static const struct {
		char c;
		enum key key;
	} letters[] = {
		{ ' ', KEY_PAGE_DOWN }, { 'g', KEY_HOME }, { 'G', KEY_LAST }, { 'j', KEY_DOWN }, { 'k', KEY_UP },
	};

	if (key == KEY_ENTER)
		return KEY_DOWN;
	for (size_t i = 0; key == KEY_TEXT && i < ARRAY_SIZE(letters); i++)
		if (letters[i].c == c)
			return letters[i].key;
	return key;
}

bool pager_key(struct pager *p, enum key key, char c, size_t height)
{
	size_t page = text_rows(height), last = last_top(p, height), top = p->top;

	key = scrolling_key(key, c);
	if (key == KEY_UP)
		top -= top > 0;
	else if (key == KEY_DOWN)
		top++;
	else if (key == KEY_PAGE_UP)
		top -= top > page ? page : top;
	else if (key == KEY_PAGE_DOWN)
		top += page;
	else if (key == KEY_HOME)
		top = 0;
	else if (key == KEY_LAST)
		top = last;
	else
		return false;
	p->at_end = top >= last && top >= p->top;
	p->top = top < last ? top : last;
	return true;
}

static void draw_row(struct lines *l, const struct pager *p, size_t i)
{
	const struct row *row = &p->rows[i];
	const char *line = row->line < p->count ? p->lines[row->line] : p->open_line;
	char *part = xmemdup0(line + row->from, row->size);

	lines_add(l, p->paint_of != NULL ? p->paint_of(line) : PAINT_NONE, part);
	free(part);
}

void pager_draw(struct lines *l, struct pager *p, const char *keys, size_t height)
{
	size_t rows = text_rows(height), first = l->count;
	char *position;

	lay_out(p, l->width);
	if (p->at_end || p->top > last_top(p, height))
		p->top = last_top(p, height);
	position = xasprintf("  %zu-%zu of %zu%s%s", p->nrows > 0 ? p->top + 1 : 0,
	    p->top + rows < p->nrows ? p->top + rows : p->nrows, p->nrows,
	    p->filter != NULL ? ", with " : "", p->filter != NULL ? p->filter : "");
	if (height > 1) {
		lines_add(l, PAINT_BOLD, p->title);
		lines_add(l, PAINT_DIM, position);
		lines_end(l);
	}
	free(position);
	for (size_t i = p->top; i < p->top + rows; i++) {
		if (i < p->nrows)
			draw_row(l, p, i);
		lines_end(l);
	}
	if (height > 2) {
		lines_add(l, PAINT_DIM, keys);
		lines_end(l);
	}
	while (l->count > first + height)
		free(l->line[--l->count]);
}
