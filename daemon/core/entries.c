/* SPDX-License-Identifier: MIT */
#include "core/entries.h"

#include <stdlib.h>
#include <string.h>

#include "core/chain.h"
#include "core/run.h"
#include "core/state.h"
#include "core/tasks.h"
#include "proto/memory.h"

bool entry_is_due(enum row_kind kind, const void *row)
{
	const struct attempt_row *a = row;
	const struct hold_row *hold = row;

	switch ((int)kind) {
	case ROW_RUN:
		return run_state_is_end((enum run_state)((const struct run_row *)row)->state);
	case ROW_TASK:
		return ((const struct task_row *)row)->state != TASK_S_OPEN &&
		    ((const struct task_row *)row)->state != TASK_S_CLAIMED;
	case ROW_ATTEMPT:
		return a->state == ATTEMPT_S_EXITED || a->state == ATTEMPT_S_LOST;
	case ROW_PRUNED:
		return true;
	case ROW_HOLD:
		return hold->state != HOLD_S_OPEN && hold->state != HOLD_S_REWORK;
	default:
		return false;
	}
}

int64_t entry_run(enum row_kind kind, const void *row)
{
	switch ((int)kind) {
	case ROW_RUN:
		return ((const struct run_row *)row)->id;
	case ROW_TASK:
		return ((const struct task_row *)row)->run;
	case ROW_ATTEMPT:
		return ((const struct attempt_row *)row)->run;
	case ROW_PRUNED:
		return ((const struct pruned_row *)row)->run;
	default:
		return ((const struct hold_row *)row)->run;
	}
}

char *entry_key(enum row_kind kind, const void *row)
{
	if (kind == ROW_TASK)
		return xstrdup(((const struct task_row *)row)->id);
	/* the id is the first field of the others */
	return xasprintf("%lld", (long long)*(const int64_t *)row);
}

const struct entry_row *entry_newest(const struct entry_row *const *entries, size_t count, const char *kind,
    const char *key)
{
	for (size_t i = count; i > 0; i--)
		if (strcmp(entries[i - 1]->key, key) == 0 && strcmp(entries[i - 1]->kind, kind) == 0)
			return entries[i - 1];
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct entry_row *x = *(const struct entry_row *const *)a, *y = *(const struct entry_row *const *)b;
	int order = strcmp(x->key, y->key);

	return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

struct entry_index entry_index_make(const struct entry_row *const *entries, size_t count, enum row_kind kind)
{
	struct entry_index index = { xcalloc(count + 1, sizeof(*index.entries)), 0 };

	for (size_t i = 0; i < count; i++)
		if (strcmp(entries[i]->kind, row_types[kind].name) == 0)
			index.entries[index.count++] = entries[i];
	qsort(index.entries, index.count, sizeof(*index.entries), by_key);
	return index;
}

void entry_index_free(struct entry_index *index)
{
	free(index->entries);
}

/* Position of the newest entry about the row with the key; count: none. */
static size_t newest_at(const struct entry_index *index, const char *key)
{
	size_t at = 0, end = index->count;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (strcmp(index->entries[middle]->key, key) <= 0)
			at = middle + 1;
		else
			end = middle;
	}
	return at > 0 && strcmp(index->entries[at - 1]->key, key) == 0 ? at - 1 : index->count;
}

const struct entry_row *entry_index_newest(const struct entry_index *index, const char *key)
{
	size_t at = newest_at(index, key);

	return at < index->count ? index->entries[at] : NULL;
}

struct entry_row *entry_make(const struct entry_row *last, enum row_kind kind, const void *row, int64_t number,
    const char *previous, int64_t now)
{
	struct entry_row *entry;
	char hex[DIGEST_HEX];

	record_hash(kind, row, hex);
	if (last != NULL && strcmp(last->row_hash, hex) == 0)
		return NULL;
	entry = row_new(ROW_ENTRY);
	entry->run = entry_run(kind, row);
	entry->number = number + 1;
	entry->kind = xstrdup(row_types[kind].name);
	entry->key = entry_key(kind, row);
	entry->row_hash = xstrdup(hex);
	entry->created_at = now;
	entry->previous_hash = xstrdup(previous);
	record_hash(ROW_ENTRY, entry, hex);
	entry->hash = xstrdup(hex);
	return entry;
}

/* What a user calls it: the 3 of "42/3" for an attempt. malloc'd. */
static char *name_of(enum row_kind kind, const void *row, const char *key)
{
	if (kind == ROW_ATTEMPT)
		return xasprintf("attempt %lld", (long long)((const struct attempt_row *)row)->number);
	return xasprintf("%s %s", row_types[kind].name, key);
}

/* NULL: it is as recorded. entry: the newest about it. over: its run has ended, so it has. */
static char *compare(const struct entry_row *entry, enum row_kind kind, const void *row, const char *key, bool over)
{
	char *name = name_of(kind, row, key), *fault = NULL, hex[DIGEST_HEX];

	record_hash(kind, row, hex);
	if (!entry_is_due(kind, row) && over)
		fault = xasprintf("%s was changed: it has not ended, but its run has", name);
	else if (!entry_is_due(kind, row) && entry != NULL && kind != ROW_TASK)
		fault = xasprintf("%s was changed: by entry %lld of the record it has ended", name,
		    (long long)entry->number);
	else if (entry_is_due(kind, row) && entry == NULL && (over || kind != ROW_TASK))
		fault = xasprintf("%s is not in the record", name);
	else if (entry_is_due(kind, row) && entry != NULL && strcmp(entry->row_hash, hex) != 0)
		fault = xasprintf("%s was changed: entry %lld of the record has %.12s, its content gives %.12s",
		    name, (long long)entry->number, entry->row_hash, hex);
	free(name);
	return fault;
}

/* The first entry of the record whose row has not been seen; NULL: none. seen: of the newest entry
 * of each row. */
static const struct entry_row *unseen(const struct entry_index *index, const bool *seen)
{
	const struct entry_row *found = NULL;

	for (size_t i = 0, first = 0; i < index->count; i++) {
		if (i + 1 < index->count && strcmp(index->entries[i]->key, index->entries[i + 1]->key) == 0)
			continue;
		if (!seen[i] && (found == NULL || index->entries[first]->number < found->number))
			found = index->entries[first];
		first = i + 1;
	}
	return found;
}

char *entries_compare(const struct entry_row *const *entries, size_t count, enum row_kind kind,
    const void *const *rows, size_t nrows, bool over)
{
	struct entry_index index = entry_index_make(entries, count, kind);
	/* the last: rows without an entry */
	bool *seen = xcalloc(index.count + 1, sizeof(*seen));
	const struct entry_row *gone;
	char *fault = NULL;

	for (size_t i = 0; i < nrows && fault == NULL; i++) {
		char *key = entry_key(kind, rows[i]);
		size_t at = newest_at(&index, key);

		seen[at] = true;
		fault = compare(at < index.count ? index.entries[at] : NULL, kind, rows[i], key, over);
		free(key);
	}
	gone = fault == NULL ? unseen(&index, seen) : NULL;
	if (gone != NULL)
		fault = xasprintf("%s with id %s was removed: entry %lld of the record names it", gone->kind,
		    gone->key, (long long)gone->number);
	free(seen);
	entry_index_free(&index);
	return fault;
}

char *entries_attested(const struct entry_row *const *entries, size_t count, int64_t number, const char *hash)
{
	const struct entry_row *entry = number >= 1 && (uint64_t)number <= count ? entries[number - 1] : NULL;

	if (entry == NULL)
		return xasprintf("entry %lld of the record was attested, but it has %zu entries: it was rewritten",
		    (long long)number, count);
	if (strcmp(entry->hash, hash) != 0)
		return xasprintf("entry %lld of the record (%s %s) was attested with hash %.12s, but has %.12s: the "
		    "record was rewritten", (long long)number, entry->kind, entry->key, hash, entry->hash);
	return NULL;
}
