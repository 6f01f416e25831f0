/* SPDX-License-Identifier: MIT */
#include "client/table.h"

#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"

#define GAP 2		/* spaces between columns */
#define NARROWEST 4	/* a flexible column is not cut below this */

struct cell {
	char *text;	/* escaped */
	size_t width;
	enum paint paint;
};

struct table {
	const struct table_column *columns;
	size_t count;
	struct cell *cells;
	size_t used, room;
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *t = xreallocarray(NULL, 1, sizeof(*t));

	*t = (struct table){ .columns = columns, .count = count };
	return t;
}

void table_free(struct table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->used; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

void table_add(struct table *t, enum paint paint, const char *text)
{
	struct cell *cell;

	if (t->used == t->room) {
		t->room = t->room == 0 ? 64 : t->room * 2;
		t->cells = xreallocarray(t->cells, t->room, sizeof(*t->cells));
	}
	cell = &t->cells[t->used++];
	cell->text = print_clip(text, 0);
	cell->width = text_width(cell->text);
	cell->paint = paint;
}

void table_take(struct table *t, enum paint paint, char *text)
{
	table_add(t, paint, text);
	free(text);
}

/* Widths that hold every cell; 0 for a column without content. */
static void measure(const struct table *t, bool bare, size_t *widths)
{
	for (size_t c = 0; c < t->count; c++) {
		widths[c] = 0;
		for (size_t i = c; i < t->used; i += t->count)
			if (t->cells[i].width > widths[c])
				widths[c] = t->cells[i].width;
		if (!bare && widths[c] > 0 && widths[c] < strlen(t->columns[c].title))
			widths[c] = strlen(t->columns[c].title);
	}
}

static size_t total(const struct table *t, const size_t *widths)
{
	size_t sum = 0;

	for (size_t c = 0; c < t->count; c++)
		sum += widths[c] == 0 ? 0 : widths[c] + (sum == 0 ? 0 : GAP);
	return sum;
}

/* Take from the widest flexible column until the line fits or nothing can give. */
static void shrink(const struct table *t, size_t limit, size_t *widths)
{
	while (limit > 0 && total(t, widths) > limit) {
		size_t widest = t->count;

		for (size_t c = 0; c < t->count; c++) {
			if (t->columns[c].flags & TABLE_FLEXIBLE && widths[c] > NARROWEST &&
			    (widest == t->count || widths[c] > widths[widest]))
				widest = c;
		}
		if (widest == t->count)
			return;
		widths[widest]--;
	}
}

/* Blanks stand outside the colour, and are written only before text: never at the end of a line. */
static void print_cell(const struct print *p, const struct table_column *column, enum paint paint, const char *text, size_t width, size_t *blanks)
{
	char *shown = print_clip(text, width);
	size_t space = width - text_width(shown);

	if (column->flags & TABLE_RIGHT)
		*blanks += space;
	if (*shown != '\0') {
		fprintf(p->file, "%*s", (int)*blanks, "");
		print_painted(p, paint, shown);
		*blanks = 0;
	}
	if (!(column->flags & TABLE_RIGHT))
		*blanks += space;
	free(shown);
}

/* cells NULL: the titles */
static void print_row(const struct table *t, const struct print *p, const struct cell *cells, const size_t *widths)
{
	size_t blanks = 0;
	bool first = true;

	for (size_t c = 0; c < t->count; c++) {
		if (widths[c] == 0)
			continue;
		blanks += first ? 0 : GAP;
		first = false;
		print_cell(p, &t->columns[c], cells == NULL ? PAINT_BOLD : cells[c].paint,
			cells == NULL ? t->columns[c].title : cells[c].text, widths[c], &blanks);
	}
	fputc('\n', p->file);
}

struct table *table_facts(void)
{
	static const struct table_column columns[] = { { "", 0 }, { "", TABLE_FLEXIBLE } };

	return table_new(columns, 2);
}

void table_fact(struct table *t, const char *name, enum paint paint, char *value)
{
	if (*value != '\0') {
		table_add(t, PAINT_DIM, name);
		table_add(t, paint, value);
	}
	free(value);
}

void table_print(struct table *t, const struct print *p, bool bare)
{
	size_t *widths;

	if (t->used == 0)
		return;
	widths = xreallocarray(NULL, t->count, sizeof(*widths));
	measure(t, bare, widths);
	shrink(t, p->width, widths);
	if (!bare)
		print_row(t, p, NULL, widths);
	for (size_t i = 0; i + t->count <= t->used; i += t->count)
		print_row(t, p, &t->cells[i], widths);
	free(widths);
}
