/* SPDX-License-Identifier: MIT */
/* Which rows enter the record of a run, and whether they still are as they entered it. Pure. */
#ifndef CORE_ENTRIES_H
#define CORE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"

/* A row of a run, task, attempt or hold that has ended, or what prune has left of one. */
bool entry_is_due(enum row_kind kind, const void *row);
/* Id of the run of such a row; its key in the record, malloc'd. */
int64_t entry_run(enum row_kind kind, const void *row);
char *entry_key(enum row_kind kind, const void *row);

/* The newest entry about a row; NULL: none. */
const struct entry_row *entry_newest(const struct entry_row *const *entries, size_t count, const char *kind,
    const char *key);

/* The entries about rows of a kind, borrowed: for many such questions, since a run may have tens of
 * thousands of tasks. */
struct entry_index {
	const struct entry_row **entries;	/* in order of key, then number */
	size_t count;
};
struct entry_index entry_index_make(const struct entry_row *const *entries, size_t count, enum row_kind kind);
/* The newest entry about the row with the key; NULL: none. */
const struct entry_row *entry_index_newest(const struct entry_index *index, const char *key);
void entry_index_free(struct entry_index *index);

/* The entry of a row in its last form, after number entries of which the newest has the hash
 * previous; last: the newest about the row, NULL: none. NULL: that has this form already. Owned by
 * the caller. */
struct entry_row *entry_make(const struct entry_row *last, enum row_kind kind, const void *row, int64_t number,
    const char *previous, int64_t now);

/* Compare all rows of a kind with their newest entries, and look for entries whose rows are gone.
 * The chain of the entries must be intact. over: the run has ended. NULL: all are as recorded, else
 * a sentence that names the row (malloc'd). */
char *entries_compare(const struct entry_row *const *entries, size_t count, enum row_kind kind,
    const void *const *rows, size_t nrows, bool over);

/* Compare with an attestation, which names an entry and its hash. The chain of the entries must be
 * intact. NULL: the record has it, else a sentence (malloc'd). */
char *entries_attested(const struct entry_row *const *entries, size_t count, int64_t number, const char *hash);

#endif
