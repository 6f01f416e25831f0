/* SPDX-License-Identifier: MIT */
/* The database on its own thread. The loop hands over decisions and queries; the thread takes all
 * waiting ones, commits once, and reports on the loop. No other room includes sqlite3.h. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <uv.h>

#include "core/decision.h"

struct store;

enum store_result {
	STORE_OK,
	STORE_NO_SPACE	/* rolled back, nothing recorded; only for refusable decisions */
};

/* Rows per page of history. */
#define STORE_PAGE 256

/* The rows of one query, in its order, all of one kind. Fields that the statement does not select
 * are as row_init() leaves them. */
struct rowset {
	enum row_kind kind;
	void **rows;
	size_t count;
	int64_t after;		/* paged: ":after" of the next page; ROW_NONE: last page */
};

void rowset_release(struct rowset *set);

/* Called on the loop. d is the decision that was passed in, event rows with their seq; the callee
 * owns and frees it. */
typedef void store_committed_cb(void *arg, enum store_result result, struct decision *d);

/* Called on the loop. The callee owns the rows of set: rowset_release(), or take them and set count
 * = 0. */
typedef void store_rows_cb(void *arg, struct rowset *set);

/* Values of the named parameters of a query; the list ends with name NULL. */
struct query_bind {
	const char *name;	/* ":run"; parameters that no bind names are NULL */
	int64_t number;		/* used if text is NULL; ROW_NONE binds NULL */
	const char *text;	/* copied */
};

/* Called on the loop when writing stops for lack of space (true) and when it continues (false). */
typedef void store_space_cb(void *arg, bool full);

/* Open the database; create or migrate it. NULL on failure, with a sentence in error that names the
 * file and the remedy. Blocks; call once, before the loop runs. The thread starts with the first
 * store_commit() or store_read(). */
struct store *store_open(uv_loop_t *loop, const char *path, store_space_cb *space, void *arg, char *error, size_t room);

/* Read all rows of a statement at start-up, before the first store_commit() or store_read().
 * Blocks. Not paged, since the "*.unfinished" rows go into the view anyway. statement: a name of
 * sql/; binds may be NULL; kind: the row type that sql/ names for it. */
void store_read_now(struct store *store, const char *statement, enum row_kind kind,
    const struct query_bind *binds, struct rowset *set);

/* Record d; takes ownership. Decisions are committed in the order of the calls, all waiting ones in
 * one transaction, and the rows of one in their order: a row stands after the rows it refers to.
 * refusable: answered STORE_NO_SPACE at once when the disk is full; other decisions are retried
 * until there is space. An error of COMMIT, and any error other than lack of space, ends the
 * process; the next start reads the disk. */
void store_commit(struct store *store, struct decision *d, bool refusable, store_committed_cb *cb, void *arg);

/* Read a page of history, at most STORE_PAGE rows, between batches. It runs after every decision
 * handed over earlier, except those that wait for space. Continue paged statements with set->after,
 * those with :limit by the key of the last row. */
void store_read(struct store *store, const char *statement, enum row_kind kind,
    const struct query_bind *binds, store_rows_cb *cb, void *arg);

enum store_health { STORE_WHOLE, STORE_DAMAGED, STORE_UNCHECKED };

/* Called on the loop. fault: what is wrong, "": unknown; valid during the callback. */
typedef void store_checked_cb(void *arg, enum store_health health, const char *fault);

/* Check the whole database between batches; deep: also its indexes against their tables. Commits
 * wait meanwhile, so a check ends after some seconds, and a check that is not deep does not begin
 * on a file too large for that: STORE_UNCHECKED. */
void store_check(struct store *store, bool deep, store_checked_cb *cb, void *arg);

/* Called on the loop. fault: why there is no copy, NULL: there is one, of so many bytes; valid
 * during the callback. */
typedef void store_copied_cb(void *arg, const char *fault, int64_t bytes);

/* Copy the database to the new file path (absolute), a few pages between two batches: what is
 * committed meanwhile is in the copy. */
void store_backup(struct store *store, const char *path, store_copied_cb *cb, void *arg);

/* First and last event seq on disk, 0, 0: none. As of the last report to the loop. */
void store_event_range(const struct store *store, int64_t *first, int64_t *last);

/* Commits since start: the group-commit test counts them. */
uint64_t store_commits(const struct store *store);

/* The store no longer keeps the loop running. For the tear-down: the loop ends with everything
 * else. */
void store_unref(struct store *store);

/* Commit and report waiting decisions, close the database, join the thread. Decisions that wait for
 * space are dropped without a report, as in a crash. The loop must run once more to release the
 * handle. */
void store_close(struct store *store);

#endif
