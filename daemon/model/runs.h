/* SPDX-License-Identifier: MIT */
/* Unfinished runs with their working rows. These are ahead of the view by the transactions in
 * flight. */
#ifndef MODEL_RUNS_H
#define MODEL_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "core/plan.h"
#include "model/slots.h"
#include "model/view.h"
#include "task/task_op.h"

struct engine;

struct run {
	LIST_ENTRY(run) entry, begun;
	RB_ENTRY(run) by_id, by_after;
	struct engine *engine;
	const struct run_rows *rows;	/* working rows, owned; edited through transactions */
	struct plan plan;
	struct slot own;		/* has the run's permit between its slots: it
					 * prepares, loads */
	struct slot **slots;		/* of the iteration, one for each task that it has begun
					 * if the run rolls; of earlier ones those
					 * held or implemented */
	size_t nslots;
	enum end_kind failure_kind;	/* kind of failure */
	char *failure;			/* why source or tree cannot be read any more;
					 * owned. Holds stay open */
	char *iteration_head;		/* HEAD at iteration_tree, owned; NULL: as in the run */
	char *iteration_head_at;	/* content of the HEAD file there, owned;
					 * NULL: as in the run */
	char *iteration_tree;		/* a shared tree when an iteration begins,
					 * owned; NULL: not read */
	/* slots that had ended when the source was asked last: it has no more until another one
	 * has; SIZE_MAX: ask it */
	size_t asked;
	int64_t asked_at;		/* ROW_NONE: not since the daemon started */
	/* while it is prepared: the files that its judge was read from, as in its row; owned, NULL:
	 * none */
	char **basis;
	/* while it is prepared: an earlier version took its submit, and did not read what judges
	 * it */
	bool unjudged;
};

/* Takes rows, and the contents of *plan. plan NULL: the plan is read from the row; returns NULL
 * when that is damaged. */
struct run *run_new(struct engine *engine, struct run_rows *rows, struct plan *plan);
/* Remove the run from all indexes and free it. */
void run_free(struct run *run);
/* The run starts, or has started: it may have slots and an activity from now on. */
void run_begin(struct run *run);
struct run *run_find(struct engine *engine, int64_t id);
/* The next of the runs that must not start before this one has succeeded, after `before`; NULL:
 * before the first, behind the last. */
struct run *run_after(const struct run *run, struct run *before);
/* slot ROW_NONE: its own */
struct slot *run_slot(struct run *run, int64_t iteration, int64_t number);
/* That the attempt, which has not ended, is of; NULL: none. */
struct slot *run_slot_of(struct run *run, const struct attempt_row *a);
void run_make_slots(struct run *run);
void run_add_slot(struct run *run, const struct slot_row *row);
/* The slot that checks, or has checked, the base of the run; NULL: none. */
const struct slot_row *run_baseline(const struct run *run);
/* A check cannot be started on the base: the run ends for that. */
bool run_base_failed(const struct run *run);
/* Its source or tree cannot be read any more: it ends, also when the daemon has died since it
 * failed the tasks that waited for their review. */
bool run_gave_up(const struct run *run);
bool run_cancelling(const struct run *run);
bool slot_ending(const struct slot *slot);	/* the slot, or its run, is being cancelled */
bool run_is_prepared(const struct run *run);	/* the base exists */
/* Whether agents of some unfinished run may have worked in the repository with that evidence
 * repository; NULL: false. */
bool run_is_at_work(const struct engine *engine, const char *evidence);
/* its products and evidence are kept: it did not begin with an earlier version */
bool run_is_recorded(const struct run *run);
bool run_is_active(const struct run *run);	/* an activity is under way */
enum source_kind run_source(const struct run *run);
const struct attempt_row *run_attempt(const struct run *run, int64_t id);

#endif
