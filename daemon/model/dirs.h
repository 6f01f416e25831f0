/* SPDX-License-Identifier: MIT */
/* Where the files of runs, slots and attempts are below the state directory. */
#ifndef MODEL_DIRS_H
#define MODEL_DIRS_H

#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"

/* Paths, malloc'd. */
char *work_attempt_dir(const char *state_dir, int64_t id);
char *work_run_dir(const char *state_dir, int64_t run);

/* Who a run is for a source that others use as well, malloc'd: "rld-42-5c1f09ab". Another daemon's run 42 is somebody else. */
char *work_actor(const char *state_dir, const struct run_row *run);

/* A task's text, and its directories. malloc'd. */
char *work_task_file(const char *state_dir, const struct run_row *run, const struct slot_row *row);
char *work_worktree_dir(const char *state_dir, const struct slot_row *row);
char *work_scratch_dir(const char *state_dir, int64_t run, const struct slot_row *row);	/* NULL: of the run itself */

/* Where a slot works: the run's workdir, or its counterpart in the slot's work tree. malloc'd. */
char *work_slot_dir(const struct run_row *run, const struct slot_row *row);
/* Where its reviewer works: the same, or its counterpart in the checkout. malloc'd. */
char *work_review_dir(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row);
/* The checkout itself, the workspace's counterpart. */
char *work_checkout_dir(const char *state_dir, const struct slot_row *row);
/* The carrier file of a review, or NULL when the profile has none. malloc'd. */
/* Top of the tree that a reviewer works in, and where it is noted what it has of misnamed_note(). */
char *work_review_top(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row);
char *work_misnamed_file(const char *state_dir, const struct run_row *run, const struct slot_row *row);
char *work_review_file(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row);

#endif
