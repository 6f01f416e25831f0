/* SPDX-License-Identifier: MIT */
/* The variables that rld sets for the processes it starts, one table. rld(8) describes each row. */
#ifndef JOB_VARIABLES_H
#define JOB_VARIABLES_H

#include <stdint.h>

#include "core/cause.h"
#include "job/run_overview.h"

/* What a hook is told. */
struct hook_report {
	const char *name;		/* on_hold, on_pass, on_end */
	const struct run_row *run;
	/* on_hold: ROW_NONE: a fault of the host or of a task source */
	int64_t hold;
	const char *kind, *reason;
	const char *task;		/* its id; NULL: no single one */
	/* on_pass, on_end: of the task or the run */
	struct cause cause;
	const char *title, *ref, *branch, *commit;
	const char *base;		/* git commit or tree that the work started from */
	const char *verdict;		/* decision of the last review; NULL: none */
	double cost;			/* USD; NaN: nothing was reported */
	const struct run_overview *overview;	/* of the run, as of now; NULL: on_hold */
};

/* The variables that a hook keeps in its row: a JSON object, malloc'd. */
char *variables_of_hook(const struct hook_report *report);

/* Add the variables that differ from start to start; socket NULL: none. */
void variables_of_hook_start(char ***env, const char *uuid, const char *socket);

/* Add the variables of an operation of rl-git. */
void variables_of_operation(char ***env, const char *uuid);

#endif
