/* SPDX-License-Identifier: MIT */
/* What the reviews of a run are based on: the reviewer's prompt, guidelines and conventions. They
 * are read at submit, before any coder of the run has run, and kept in the database. */
#ifndef JOB_REVIEW_BASIS_H
#define JOB_REVIEW_BASIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"

/* in: borrowed */
struct review_basis {
	const struct plan *plan;	/* see review_basis_plan(); NULL: no reviews */
	const char *state_dir, *config_dir, *workspace, *workdir;
	const char *subdir;		/* see run_row */
	int64_t retry_of;		/* the run that this one retries, ROW_NONE */
	bool anew;			/* ... without keeping its judge */
	char *const *read_as;		/* see base/peer_file.h */
	const struct judge_row *kept;	/* its judge; NULL: it began with an earlier version */
	/* out: owned */
	char **warnings;		/* about missing files; NULL: none */
	char *error;			/* what a person must fix, or the host; NULL: none */
	const char *field;		/* ... the setting it is about, static */
};

/* The settings for a run's review criteria: the run's own, otherwise those of its first reviewed
 * task (all reviews of a workflow have one profile, and so the same criteria). NULL: no reviews. A
 * task's plan is put into *own, which must be zeroed and is released by the caller. */
const struct plan *review_basis_plan(const struct plan *run, const struct task_row *const *tasks,
    size_t count, struct plan *own);

/* The files that judge, relative to the workspace, whether they exist or not. NULL: none. */
char **review_basis_files(const struct review_basis *basis);

/* A new row, without its run. Reads files; call it off the loop. */
struct judge_row *review_basis_read(struct review_basis *basis);

/* What an earlier version kept in the directory of a run. NULL: nothing, or not all of it. */
struct judge_row *review_basis_old(const char *state_dir, int64_t run);

#endif
