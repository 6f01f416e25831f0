/* SPDX-License-Identifier: MIT */
/* Unfinished runs with their working rows, which run ahead of the view by the transactions in flight. */
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
	LIST_ENTRY(run) entry;
	RB_ENTRY(run) by_id;
	struct engine *engine;
	const struct run_rows *rows;	/* working rows, owned; edited through transactions */
	struct plan plan;
	struct slot own;		/* it has a permit while the run prepares, loads and reviews, so between its slots */
	struct slot **slots;		/* of the current iteration, and of earlier ones what is held or waits for the review of the run */
	size_t nslots;
	enum end_kind failure_kind;	/* of failure */
	char *failure;			/* its source or its tree cannot be looked at any more, and why; owned. What waits for a human still does */
	char *iteration_head;		/* ... and HEAD there, owned; NULL: as the run has it */
	char *iteration_head_at;	/* ... and what its file had in it, likewise */
	char *iteration_tree;		/* what a shared tree has when the next iteration begins, owned; NULL: not looked at */
	bool drained;			/* the source has been asked after the last iteration, and has no more; nobody has decided anything since */
	bool judged_before;		/* it is judged by what the run was judged by that it retries */
};

/* Takes rows, and plan out of *plan; plan NULL: read from the row, and NULL is returned when that is damaged. */
struct run *run_new(struct engine *engine, struct run_rows *rows, struct plan *plan);
/* It is over: nobody finds it any more. */
void run_free(struct run *run);
struct run *run_find(struct engine *engine, int64_t id);
struct slot *run_slot(struct run *run, int64_t iteration, int64_t number);	/* slot ROW_NONE: its own */
void run_make_slots(struct run *run);
void run_add_slot(struct run *run, const struct slot_row *row);
bool run_cancelling(const struct run *run);
bool slot_ending(const struct slot *slot);	/* it, or its run, is being cancelled */
bool run_is_prepared(const struct run *run);	/* its base is there */
bool run_is_active(const struct run *run);	/* something of it is under way */
enum source_kind run_source(const struct run *run);
const struct attempt_row *run_attempt(const struct run *run, int64_t id);

#endif
