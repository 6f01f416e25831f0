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

struct entry_row *entry_make(const struct entry_row *const *entries, size_t count, enum row_kind kind,
    const void *row, int64_t number, const char *previous, int64_t now)
{
	char *key = entry_key(kind, row), hex[DIGEST_HEX];
	const struct entry_row *last = entry_newest(entries, count, row_types[kind].name, key);
	struct entry_row *entry;

	record_hash(kind, row, hex);
	if (last != NULL && strcmp(last->row_hash, hex) == 0) {
		free(key);
		return NULL;
	}
	entry = row_new(ROW_ENTRY);
	entry->run = entry_run(kind, row);
	entry->number = number + 1;
	entry->kind = xstrdup(row_types[kind].name);
	entry->key = key;
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

/* NULL: it is as recorded. over: its run has ended, so it has. */
static char *compare(const struct entry_row *const *entries, size_t count, enum row_kind kind, const void *row,
    const char *key, bool over)
{
	char *name = name_of(kind, row, key), *fault = NULL, hex[DIGEST_HEX];
	const struct entry_row *entry = entry_newest(entries, count, row_types[kind].name, key);

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

char *entries_compare(const struct entry_row *const *entries, size_t count, enum row_kind kind,
    const void *const *rows, size_t nrows, bool over)
{
	char **keys = NULL, *fault = NULL;

	for (size_t i = 0; i < nrows && fault == NULL; i++) {
		char *key = entry_key(kind, rows[i]);

		fault = compare(entries, count, kind, rows[i], key, over);
		strings_append(&keys, key);
		free(key);
	}
	for (size_t i = 0; i < count && fault == NULL; i++)
		if (strcmp(entries[i]->kind, row_types[kind].name) == 0 && !strings_contain(keys, entries[i]->key))
			fault = xasprintf("%s with id %s was removed: entry %lld of the record names it",
			    entries[i]->kind, entries[i]->key, (long long)entries[i]->number);
	strings_free(keys);
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
