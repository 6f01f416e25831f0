/* SPDX-License-Identifier: MIT */
#include "core/chain.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/memory.h"

static void add_field(struct buf *b, const char *name, const char *value)
{
	if (value != NULL)
		buf_addf(b, "%zu:%s,%zu:%s,", strlen(name), name, strlen(value), value);
}

/* What is not part of a row's hash: the hash, what it is told in, a text that only the store has,
 * and what is set after the end of the run. */
static bool is_left_out(enum row_kind kind, const char *name)
{
	static const struct { enum row_kind kind; const char *name; } left_out[] = {
		{ ROW_TASK, "text" }, { ROW_RUN, "entry_count" }, { ROW_RUN, "entry_head" }, { ROW_RUN, "bytes" },
		{ ROW_RUN, "pruned_at" }, { ROW_PRUNED, "done" },
	};
	bool found = strcmp(name, "hash") == 0;

	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]) && !found; i++)
		found = left_out[i].kind == kind && strcmp(left_out[i].name, name) == 0;
	return found;
}

static void add_row(struct buf *b, enum row_kind kind, const void *row)
{
	const struct row_type *type = &row_types[kind];

	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		const char *at = (const char *)row + f->offset;
		char number[32];

		if (is_left_out(kind, f->name))
			continue;
		switch (f->kind) {
		case FIELD_INT:
		case FIELD_TIME:
			snprintf(number, sizeof(number), "%lld", (long long)*(const int64_t *)(const void *)at);
			add_field(b, f->name, *(const int64_t *)(const void *)at == ROW_NONE ? NULL : number);
			break;
		case FIELD_REAL:
			snprintf(number, sizeof(number), "%.17g", *(const double *)(const void *)at);
			add_field(b, f->name, isnan(*(const double *)(const void *)at) ? NULL : number);
			break;
		case FIELD_TEXT:
		case FIELD_JSON:
			add_field(b, f->name, *(char *const *)(const void *)at);
			break;
		case FIELD_STATE:
			add_field(b, f->name, state_name(f->names, *(const int *)(const void *)at));
			break;
		}
	}
}

void review_hash(const struct review_row *row, const struct finding_row *const *findings,
    size_t count, char hex[DIGEST_HEX])
{
	struct buf b = { 0 };

	add_row(&b, ROW_REVIEW, row);
	for (size_t i = 0; i < count; i++) {
		buf_adds(&b, "finding,");
		add_row(&b, ROW_FINDING, findings[i]);
	}
	digest_hex(b.data, b.size, hex);
	buf_release(&b);
}

static bool chain_same(const char *a, const char *b)
{
	return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

char *chain_verify(const struct review_row *const *reviews, size_t nreviews,
    const struct finding_row *const *findings, size_t nfindings, int64_t count, const char *head)
{
	const char *previous = NULL;
	char hex[DIGEST_HEX];
	size_t f = 0;

	for (size_t i = 0; i < nreviews; i++) {
		const struct review_row *row = reviews[i];
		size_t first = f;

		if (row->number != (int64_t)i + 1)
			return xasprintf("review %zu is missing: number %lld is in its place",
			    i + 1, (long long)row->number);
		while (f < nfindings && findings[f]->review == row->number)
			f++;
		if (!chain_same(row->previous_hash, previous))
			return xasprintf("review %zu does not follow review %zu: the previous row "
			    "was changed, removed or reordered", i + 1, i);
		review_hash(row, findings + first, f - first, hex);
		if (!chain_same(row->hash, hex))
			return xasprintf("review %zu was changed: its hash is %.12s, its content gives %.12s",
			    i + 1, row->hash ? row->hash : "", hex);
		previous = row->hash;
	}
	if (f != nfindings)
		return xasprintf("finding %lld of review %lld has no matching review",
		    (long long)findings[f]->number, (long long)findings[f]->review);
	if ((int64_t)nreviews != count)
		return xasprintf("the run has recorded %lld reviews, but the log contains %zu",
		    (long long)count, nreviews);
	if (!chain_same(previous, head))
		return xasprintf("the newest review is not the one recorded by the run");
	return NULL;
}

/* A column that both kinds of rows have. */
static const void *member(enum row_kind kind, const void *row, const char *name)
{
	const struct field *f = row_types[kind].fields;

	while (strcmp(f->name, name) != 0)
		f++;
	return (const char *)row + f->offset;
}

static const char *text_member(enum row_kind kind, const void *row, const char *name)
{
	return *(char *const *)member(kind, row, name);
}

void record_hash(enum row_kind kind, const void *row, char hex[DIGEST_HEX])
{
	struct buf b = { 0 };

	add_row(&b, kind, row);
	digest_hex(b.data, b.size, hex);
	buf_release(&b);
}

bool judge_is_recorded(const struct judge_row *judge, const char *hash)
{
	char hex[DIGEST_HEX];

	if (judge == NULL || hash == NULL)
		return hash == NULL;
	record_hash(ROW_JUDGE, judge, hex);
	return strcmp(hex, hash) == 0;
}

char *record_verify(enum row_kind kind, const void *const *rows, size_t nrows, int64_t count, const char *head)
{
	const char *name = row_types[kind].name, *previous = NULL;
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < nrows; i++) {
		int64_t number = *(const int64_t *)member(kind, rows[i], "number");
		const char *hash = text_member(kind, rows[i], "hash");

		if (number != (int64_t)i + 1)
			return xasprintf("%s %zu is missing: number %lld is in its place", name, i + 1,
			    (long long)number);
		if (!chain_same(text_member(kind, rows[i], "previous_hash"), previous))
			return xasprintf("%s %zu does not follow %s %zu: the previous row was changed, "
			    "removed or reordered", name, i + 1, name, i);
		record_hash(kind, rows[i], hex);
		if (!chain_same(hash, hex))
			return xasprintf("%s %zu was changed: its hash is %.12s, its content gives %.12s",
			    name, i + 1, hash ? hash : "", hex);
		previous = hash;
	}
	if ((int64_t)nrows != (count == ROW_NONE ? 0 : count))
		return xasprintf("the run has recorded %lld rows of %s, but there are %zu",
		    (long long)(count == ROW_NONE ? 0 : count), name, nrows);
	if (!chain_same(previous, head))
		return xasprintf("the newest %s is not the one recorded by the run", name);
	return NULL;
}
