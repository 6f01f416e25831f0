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

/* Decision of the last review of the task, in the words of the profile; task NULL: of the whole
 * run, or of its only task. NULL: there is none. */
const char *run_result_decision(const struct run_rows *rows, const char *task);

/* USD of the attempts of the task; NaN: none was reported. */
double run_result_cost(const struct run_rows *rows, const char *task);

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
