/* SPDX-License-Identifier: MIT */
/* Rows in memory: made, copied, compared and freed by the tables of row.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/memory.h"

static void *at(void *row, const struct field *f)
{
	return (char *)row + f->offset;
}

/* The owned text of a field, NULL for kinds that own nothing. */
static char **owned_text(void *row, const struct field *f)
{
	return f->kind == FIELD_TEXT || f->kind == FIELD_JSON ? at(row, f) : NULL;
}

void *row_new(enum row_kind kind)
{
	void *row = xcalloc(1, row_types[kind].size);

	row_init(kind, row);
	return row;
}

void row_init(enum row_kind kind, void *row)
{
	const struct row_type *type = &row_types[kind];

	memset(row, 0, type->size);
	for (const struct field *f = type->fields; f < type->fields + type->nfields; f++) {
		switch (f->kind) {
		case FIELD_INT:
		case FIELD_TIME:
			*(int64_t *)at(row, f) = ROW_NONE;
			break;
		case FIELD_REAL:
			*(double *)at(row, f) = NAN;
			break;
		case FIELD_TEXT:
		case FIELD_JSON:
		case FIELD_STATE:
			break;
		}
	}
}

void *row_copy(enum row_kind kind, const void *row)
{
	const struct row_type *type = &row_types[kind];
	void *copy = xmemdup0(row, type->size);

	for (const struct field *f = type->fields; f < type->fields + type->nfields; f++) {
		char **text = owned_text(copy, f);

		if (text != NULL)
			*text = xstrdup(*text);
	}
	return copy;
}

static bool field_equal(const struct field *f, const char *a, const char *b)
{
	switch (f->kind) {
	case FIELD_INT:
	case FIELD_TIME:
		return *(const int64_t *)(const void *)a == *(const int64_t *)(const void *)b;
	case FIELD_REAL:
		return *(const double *)(const void *)a == *(const double *)(const void *)b ||
		    (isnan(*(const double *)(const void *)a) && isnan(*(const double *)(const void *)b));
	case FIELD_TEXT:
	case FIELD_JSON:
		return text_equal(*(char *const *)(const void *)a, *(char *const *)(const void *)b);
	case FIELD_STATE:
		return *(const int *)(const void *)a == *(const int *)(const void *)b;
	}
	abort();
}

const struct field *row_difference(enum row_kind kind, const void *a, const void *b)
{
	const struct row_type *type = &row_types[kind];

	for (const struct field *f = type->fields; f < type->fields + type->nfields; f++)
		if (!field_equal(f, (const char *)a + f->offset, (const char *)b + f->offset))
			return f;
	return NULL;
}

bool row_equal(enum row_kind kind, const void *a, const void *b)
{
	return row_difference(kind, a, b) == NULL;
}

void row_assign(enum row_kind kind, void *dst, const void *src)
{
	void *copy = row_copy(kind, src);	/* copy first: src may be dst */

	row_release(kind, dst);
	memcpy(dst, copy, row_types[kind].size);
	free(copy);
}

void row_release(enum row_kind kind, void *row)
{
	const struct row_type *type = &row_types[kind];

	for (const struct field *f = type->fields; f < type->fields + type->nfields; f++) {
		char **text = owned_text(row, f);

		if (text != NULL)
			free(*text);
	}
	memset(row, 0, type->size);
}

void row_free(enum row_kind kind, const void *row)
{
	if (row == NULL)
		return;
	row_release(kind, (void *)row);
	free((void *)row);
}
