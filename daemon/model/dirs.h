/* SPDX-License-Identifier: MIT */
/* Paths of the files of runs, slots and attempts below the state directory. All malloc'd. */
#ifndef MODEL_DIRS_H
#define MODEL_DIRS_H

#include <stdint.h>
#include <sys/types.h>

#include "core/plan.h"
#include "core/row.h"

char *dirs_attempt(const char *state_dir, int64_t id);
/* Open it; no link below the state directory is followed. -errno. */
int dirs_open_attempt(const char *state_dir, int64_t id);
char *dirs_run(const char *state_dir, int64_t run);

/* path, absolute or relative to the workdir, which is subdir of the workspace: as a path relative
 * to the workspace; NULL: it is outside. subdir NULL or "": the workspace itself. */
char *dirs_in_workspace(const char *workspace, const char *subdir, const char *path);

/* The name of a run at a task source that others use too: "rld-42-5c1f09ab". It differs between
 * daemons. */
char *run_actor(const char *state_dir, const struct run_row *run);

/* Name of a blob of this user in <state>/blobs. */
char *dirs_blob_name(uid_t uid, const char *blob);

/* The evidence repository of this id. */
char *dirs_evidence(const char *state_dir, const char *id);

/* The file of a task's text, and the directories of its slot. */
char *dirs_task_file(const char *state_dir, const struct run_row *run, const struct slot_row *row);
char *dirs_worktree(const char *state_dir, const struct slot_row *row);
/* NULL: of the run itself */
char *dirs_scratch(const char *state_dir, int64_t run, const struct slot_row *row);

/* Where the merges of the run have moved its branch: git/own_moves.h. */
char *dirs_moves(const char *state_dir, int64_t run);

/* The directory a slot works in: the run's workdir, or its counterpart in the slot's work tree. */
char *dirs_slot(const struct run_row *run, const struct slot_row *row);
/* The directory its reviewer works in: the same, or its counterpart in the checkout. */
char *dirs_review(const char *state_dir, const struct run_row *run, const struct plan *plan,
    const struct slot_row *row);
/* The checkout, counterpart of the workspace. */
char *dirs_checkout(const char *state_dir, const struct slot_row *row);
/* The top of the tree that a reviewer works in, the note of misnamed_note() about it, and the
 * carrier file of a review; NULL: the profile has none. */
char *dirs_review_top(const char *state_dir, const struct run_row *run, const struct plan *plan,
    const struct slot_row *row);
char *dirs_misnamed_file(const char *state_dir, const struct run_row *run, const struct slot_row *row);
char *dirs_review_file(const char *state_dir, const struct run_row *run, const struct plan *plan,
    const struct slot_row *row);

#endif
