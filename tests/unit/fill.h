/* SPDX-License-Identifier: MIT */
/* Rows of every kind with a value of its own in each field, and their comparison field by field. */
#ifndef TESTS_UNIT_FILL_H
#define TESTS_UNIT_FILL_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/memory.h"

static inline void *field_at(const void *row, const struct field *f)
{
	return (char *)(uintptr_t)row + f->offset;
}

/* Every field gets a value that depends on its place and on seed. What row holds is freed. */
static inline void fill_row(enum row_kind kind, void *row, int seed)
{
	const struct row_type *type = &row_types[kind];

	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		void *at = field_at(row, f);

		switch (f->kind) {
		case FIELD_INT:
		case FIELD_TIME:
			*(int64_t *)at = 1000 * seed + (int64_t)i;
			break;
		case FIELD_REAL:
			*(double *)at = seed + 0.25 * (double)i;
			break;
		case FIELD_TEXT:
			free(*(char **)at);
			*(char **)at = xasprintf("%s %s %d \303\244\n", type->name, f->name, seed);
			break;
		case FIELD_JSON:
			free(*(char **)at);
			*(char **)at = xasprintf("{\"%s\":%d}", f->name, seed);
			break;
		case FIELD_STATE:
			*(int *)at = (int)((size_t)(seed + 1) % f->names->count);
			break;
		}
	}
}

static inline void assert_field_equal(const struct row_type *type, const struct field *f, const void *a, const void *b)
{
	const void *x = field_at(a, f), *y = field_at(b, f);

	switch (f->kind) {
	case FIELD_INT:
	case FIELD_TIME:
		ck_assert_msg(*(const int64_t *)x == *(const int64_t *)y, "%s.%s: %lld, %lld", type->name, f->name,
		    (long long)*(const int64_t *)x, (long long)*(const int64_t *)y);
		break;
	case FIELD_REAL:
		ck_assert_msg(memcmp(x, y, sizeof(double)) == 0 ||
		    *(const double *)x == *(const double *)y, "%s.%s", type->name, f->name);
		break;
	case FIELD_TEXT:
	case FIELD_JSON:
		if (*(char *const *)x == NULL || *(char *const *)y == NULL)
			ck_assert_msg(*(char *const *)x == *(char *const *)y, "%s.%s: one is NULL",
			    type->name, f->name);
		else
			ck_assert_msg(strcmp(*(char *const *)x, *(char *const *)y) == 0,
			    "%s.%s: '%s', '%s'", type->name,
			    f->name, *(char *const *)x, *(char *const *)y);
		break;
	case FIELD_STATE:
		ck_assert_msg(*(const int *)x == *(const int *)y, "%s.%s", type->name, f->name);
		break;
	}
}

/* All fields but the one named except (may be NULL). */
static inline void assert_rows_equal(enum row_kind kind, const void *a, const void *b, const char *except)
{
	const struct row_type *type = &row_types[kind];

	for (size_t i = 0; i < type->nfields; i++) {
		if (except == NULL || strcmp(except, type->fields[i].name) != 0)
			assert_field_equal(type, &type->fields[i], a, b);
	}
}

#endif
