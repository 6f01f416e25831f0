/* SPDX-License-Identifier: MIT */
/* Where the result of a run is in git. Pure. */
#ifndef JOB_RUN_RESULT_H
#define JOB_RUN_RESULT_H

#include <stddef.h>

#include "model/view.h"

/* The last slot that worked on the task; NULL: none. */
const struct slot_row *run_result_slot(const struct run_rows *rows, const char *task);

/* Whether the task has passed and has commits on a branch of its own. A branch without commits was
 * removed with its work tree. */
bool run_result_has_branch(const struct run_rows *rows, const struct task_row *task);

/* All texts are borrowed. */
struct run_result {
	/* short name of the branch with all of it; NULL: none, or several */
	const char *branch;
	/* its tip, or the commit in the work tree of the run; NULL: none */
	const char *commit;
	size_t branches;	/* number of tasks with a branch of their own */
};

struct run_result run_result_of(const struct run_rows *rows);

#endif
