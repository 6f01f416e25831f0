/* SPDX-License-Identifier: MIT */
/* The committed rows of unfinished runs, as they are on disk; rpc reads them. A commit installs
 * rows; they leave when their run has ended. Ended runs are read from the store in pages. */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include "core/decision.h"

/* All rows of one run, each list in order of its keys. Transactions alone edit working rows:
 * txn/txn.h. */
struct run_rows {
	struct run_row run;
	const struct task_row **tasks;
	size_t ntasks;
	const struct iteration_row **iterations;
	size_t niterations;
	const struct slot_row **slots;
	size_t nslots;
	const struct attempt_row **attempts;
	size_t nattempts;
	const struct step_row **steps;	/* unfinished ones only */
	size_t nsteps;
	const struct review_row **reviews;
	size_t nreviews;
	const struct finding_row **findings;
	size_t nfindings;
	const struct product_row **products;
	size_t nproducts;
	const struct evidence_row **evidence;
	size_t nevidence;
	const struct entry_row **entries;
	size_t nentries;
	const struct pruned_row **pruned;	/* at most one */
	size_t npruned;
	const struct hold_row **holds;
	size_t nholds;
};

struct view;

struct view *view_new(void);
void view_free(struct view *view);

/* Copy the rows of a committed decision into the view. Rows that are no working rows of a run are
 * ignored: events, settings, hooks, claims, salvage, groups. */
void view_install(struct view *view, const struct decision *d);

/* Add one row as read from disk at start; takes ownership. */
void view_load(struct view *view, enum row_kind kind, void *row);

/* The rows of an unfinished run, NULL if it has ended or does not exist. Valid until the next
 * install. */
const struct run_rows *view_run(const struct view *view, int64_t id);

/* The run of an unfinished run's attempt, NULL otherwise. */
const struct run_rows *view_run_of_attempt(const struct view *view, int64_t attempt);

/* The run of an unfinished run's hold, NULL otherwise. */
const struct run_rows *view_run_of_hold(const struct view *view, int64_t hold);

/* Drop an ended run. */
void view_remove(struct view *view, int64_t id);

/* The run with the lowest id above after; NULL: none. */
const struct run_rows *view_next(const struct view *view, int64_t after);

size_t view_count(const struct view *view);
/* Number of runs in a state. */
size_t view_in_state(const struct view *view, enum run_state state);

/* Number of running attempts. */
size_t view_running(const struct view *view);

/* Rows outside of a view, as read from the store. run_rows_put() takes ownership of row. */
struct run_rows *run_rows_new(void);
void run_rows_put(struct run_rows *rows, enum row_kind kind, void *row);
/* Remove and free the row with the key of this one, if it exists. Kinds with a list only. */
void run_rows_drop(struct run_rows *rows, enum row_kind kind, const void *row);
/* NULL: no such task. */
const struct task_row *run_rows_task(const struct run_rows *rows, const char *id);
/* Index of the attempt; nattempts: no such attempt. */
size_t run_rows_attempt_at(const struct run_rows *rows, int64_t id);
/* NULL: no such attempt. */
const struct attempt_row *run_rows_attempt(const struct run_rows *rows, int64_t id);
/* The attempt whose answer the review is; of a panel's decision, that of one of its votes. NULL: of
 * a human, or of an earlier run. */
const struct attempt_row *run_rows_reviewing(const struct run_rows *rows, const struct review_row *review);
/* NULL: no such review. */
const struct review_row *run_rows_review(const struct run_rows *rows, int64_t number);
/* NULL: no such product. */
const struct product_row *run_rows_product(const struct run_rows *rows, int64_t number);
/* Whether the chains of reviews, products, evidence and record are intact, and the rows that have
 * ended are as they entered the record. NULL: they are, else a sentence that names the row at fault
 * (malloc'd). */
char *run_rows_verify(const struct run_rows *rows);
/* The findings of one review, *count of them: a section of the run's list, borrowed. */
const struct finding_row **run_rows_findings(const struct run_rows *rows, int64_t review, size_t *count);
/* A deep copy without the steps, which only the engine needs. */
struct run_rows *run_rows_copy(const struct run_rows *from);
void run_rows_free(struct run_rows *rows);

#endif
