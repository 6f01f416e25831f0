/* SPDX-License-Identifier: MIT */
#include "client/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "proto/escape.h"
#include "proto/memory.h"

#define GAP 2		/* spaces between columns */
#define NARROWEST 4	/* a flexible column is not made narrower than this */
#define USEFUL 16	/* spare columns give way for so many columns of a flexible one */

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

static struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *t = xreallocarray(NULL, 1, sizeof(*t));

	*t = (struct table){ .columns = columns, .count = count };
	return t;
}

static void table_free(struct table *t)
{
	for (size_t i = 0; i < t->used; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

/* The next cell, row by row; takes ownership of text. */
static void table_take(struct table *t, enum paint paint, char *text)
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
	free(text);
}

/* Widths that fit every cell; 0 for an empty column. */
static void table_measure(const struct table *t, bool bare, size_t *widths)
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

static size_t table_total(const struct table *t, const size_t *widths)
{
	size_t sum = 0;

	for (size_t c = 0; c < t->count; c++)
		sum += widths[c] == 0 ? 0 : widths[c] + (sum == 0 ? 0 : GAP);
	return sum;
}

static bool table_is_common(const struct table *t, size_t c)
{
	for (size_t i = c + t->count; i < t->used; i += t->count)
		if (strcmp(t->cells[i].text, t->cells[c].text) != 0)
			return false;
	return t->used > t->count;
}

/* What the table needs at least. */
static size_t table_need(const struct table *t, const size_t *widths)
{
	size_t sum = table_total(t, widths);

	for (size_t c = 0; c < t->count; c++)
		if (t->columns[c].flags & TABLE_FLEXIBLE && widths[c] > USEFUL)
			sum -= widths[c] - USEFUL;
	return sum;
}

/* The column to leave out next; count: none. */
static size_t table_sparest(const struct table *t, const size_t *widths)
{
	size_t found = t->count;

	for (size_t c = 0; c < t->count; c++)
		if (t->columns[c].spare > 0 && widths[c] > 0 &&
		    (found == t->count || t->columns[c].spare < t->columns[found].spare))
			found = c;
	return found;
}

static void table_leave_out(const struct table *t, size_t limit, size_t *widths)
{
	size_t c;

	if (limit == 0)
		return;
	for (c = 0; c < t->count; c++)
		if (t->columns[c].flags & TABLE_COMMON && table_is_common(t, c))
			widths[c] = 0;
	while (table_need(t, widths) > limit && (c = table_sparest(t, widths)) < t->count)
		widths[c] = 0;
}

/* Shrink the widest flexible column until the line fits or no column can shrink. */
static void table_shrink(const struct table *t, size_t limit, size_t *widths)
{
	while (limit > 0 && table_total(t, widths) > limit) {
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

/* Padding is uncoloured and written only before text, never at the end of a line. */
static void table_print_cell(const struct print *p, const struct table_column *column,
    enum paint paint, const char *text, size_t width, size_t *blanks)
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
static void table_print_row(
    const struct table *t, const struct print *p, const struct cell *cells, const size_t *widths)
{
	size_t blanks = 0;
	bool first = true;

	for (size_t c = 0; c < t->count; c++) {
		if (widths[c] == 0)
			continue;
		blanks += first ? 0 : GAP;
		first = false;
		table_print_cell(p, &t->columns[c], cells == NULL ? PAINT_BOLD : cells[c].paint,
			cells == NULL ? t->columns[c].title : cells[c].text, widths[c], &blanks);
	}
	fputc('\n', p->file);
}

/* bare: without titles. Frees the table. */
static void table_print(struct table *t, const struct print *p, bool bare)
{
	size_t *widths = xreallocarray(NULL, t->count, sizeof(*widths));

	table_measure(t, bare, widths);
	table_leave_out(t, p->width, widths);
	table_shrink(t, p->width, widths);
	if (!bare && t->used > 0)
		table_print_row(t, p, NULL, widths);
	for (size_t i = 0; i + t->count <= t->used; i += t->count)
		table_print_row(t, p, &t->cells[i], widths);
	free(widths);
	table_free(t);
}

static struct table *table_of_rows(const struct table_column *columns, size_t count, const json_t *rows)
{
	struct table *t = table_new(columns, count);

	for (size_t i = 0; i < json_array_size(rows); i++) {
		for (const struct table_column *column = columns; column < columns + count; column++) {
			char *text = column->text(json_array_get(rows, i), column->key);

			table_take(t, column->paint_of != NULL ? column->paint_of(text) : column->paint, text);
		}
	}
	return t;
}

void table_print_rows(const struct print *p, const struct table_column *columns, size_t count, const json_t *rows)
{
	table_print(table_of_rows(columns, count, rows), p, false);
}

void table_print_bare(const struct print *p, const struct table_column *columns, size_t count, const json_t *rows)
{
	table_print(table_of_rows(columns, count, rows), p, true);
}

void table_print_apart(const struct print *p, const struct table_column *columns, size_t count, const json_t *rows)
{
	if (json_array_size(rows) > 0)
		fputc('\n', p->file);
	table_print_rows(p, columns, count, rows);
}

struct table *table_facts(void)
{
	static const struct table_column columns[] = { { .title = "" }, { .title = "", .flags = TABLE_FLEXIBLE } };

	return table_new(columns, ARRAY_SIZE(columns));
}

void table_fact(struct table *t, const char *name, enum paint paint, char *value)
{
	if (*value != '\0') {
		table_take(t, PAINT_DIM, xstrdup(name));
		table_take(t, paint, value);
	} else {
		free(value);
	}
}

void table_member(struct table *t, const char *name, enum paint paint, const json_t *object, const char *key)
{
	table_fact(t, name, paint, cell_text(object, key));
}

void table_print_facts(struct table *t, const struct print *p)
{
	table_print(t, p, true);
}
