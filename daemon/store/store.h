/* SPDX-License-Identifier: MIT */
/* The database on its own thread. The loop hands over decisions and queries; the thread takes all
 * that wait, commits once, and reports on the loop. The only room that includes sqlite3.h. */
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

/* Rows in one page of history. */
#define STORE_PAGE 256

/* Rows of one query, in its order. All of one kind. Fields that the statement does not select are
 * as row_init() left them. */
struct rowset {
	enum row_kind kind;
	void **rows;
	size_t count;
	int64_t after;		/* paged statements: bind it as ":after" for the next page;
				 * ROW_NONE: this was the last one */
};

void rowset_release(struct rowset *set);

/* Called on the loop. d is the decision as handed over, event rows with their seq; the callee
 * owns and frees it. */
typedef void store_committed_cb(void *arg, enum store_result result, struct decision *d);

/* Called on the loop. The callee owns set's rows (rowset_release, or take them one by one
 * and set count = 0). */
typedef void store_rows_cb(void *arg, struct rowset *set);

/* Bind values of a query: named parameters of the statement, NULL-name-terminated. */
struct query_bind {
	const char *name;	/* ":run"; a parameter of the statement that no bind
				 * names is NULL */
	int64_t number;		/* bound when text is NULL; ROW_NONE binds NULL */
	const char *text;	/* copied */
};

/* Told on the loop when writing stops for want of space (true) and when it goes on (false). */
typedef void store_space_cb(void *arg, bool full);

/* Open (create, migrate). NULL on failure, with a sentence that names the file and the remedy in
 * error. Blocks; called once before the loop runs. The thread starts with the first store_commit()
 * or store_read(). */
struct store *store_open(uv_loop_t *loop, const char *path, store_space_cb *space, void *arg, char *error, size_t room);

/* Blocking reads at start-up, only allowed before the first store_commit() or store_read(). Not
 * paged: every row at once, since the "*.unfinished" ones go into the view anyway. statement: a
 * name of sql/, binds may be NULL; kind: the row type that sql/ names for it. */
void store_read_now(struct store *store, const char *statement, enum row_kind kind,
    const struct query_bind *binds, struct rowset *set);

/* Record d, taking ownership. Decisions are committed in the order of the calls, as many as wait in
 * one transaction; the rows of one in their order, so a row stands after the rows it refers to (its
 * run, its review). refusable: answered STORE_NO_SPACE at once when the disk is full; otherwise it
 * is tried again until there is space. An error of COMMIT, and any error that is not lack of space,
 * ends the process: the restart re-reads. */
void store_commit(struct store *store, struct decision *d, bool refusable, store_committed_cb *cb, void *arg);

/* A page of history: at most STORE_PAGE rows, between batches. Runs after every decision handed
 * over before it, but for those that wait for space. Paged statements are read on with set->after;
 * those with :limit by the key of the last row. */
void store_read(struct store *store, const char *statement, enum row_kind kind,
    const struct query_bind *binds, store_rows_cb *cb, void *arg);

enum store_health { STORE_WHOLE, STORE_DAMAGED, STORE_UNCHECKED };

/* Called on the loop. fault: what is wrong, "" when nothing is known of that; valid
 * during the callback. */
typedef void store_checked_cb(void *arg, enum store_health health, const char *fault);

/* Read the whole database between batches and see whether it is sound; deep: its indexes against
 * their tables as well. Commits wait meanwhile, so it is given up after some seconds, and one that
 * is not deep is not begun on a file that is too large for that: STORE_UNCHECKED. */
void store_check(struct store *store, bool deep, store_checked_cb *cb, void *arg);

/* First and last event seq on disk; 0, 0 when there is none. As of the last report to the loop. */
void store_event_range(const struct store *store, int64_t *first, int64_t *last);

/* Commits since start: the group-commit test counts them. */
uint64_t store_commits(const struct store *store);

/* The store alone no longer keeps the loop running: called in the tear-down, so that the loop ends
 * when all else has. */
void store_unref(struct store *store);

/* Commit what waits, report it, close the database, join the thread. What still waits for space is
 * dropped unreported, as a crash would. The loop must run once more to let go of the handle. */
void store_close(struct store *store);

#endif
