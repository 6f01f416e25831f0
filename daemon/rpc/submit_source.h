/* SPDX-License-Identifier: MIT */
/* Where the tasks of a submit come from: read off the loop, then the settings of the run
 * and of each task. */
#ifndef RPC_SUBMIT_SOURCE_H
#define RPC_SUBMIT_SOURCE_H

#include <jansson.h>
#include <stdbool.h>

#include "config/config.h"
#include "task/task_op.h"

struct submit_source {
	enum source_kind kind;
	char *path;			/* as struct submission has it: NULL: none */
	struct task_list tasks;		/* STORIES, WORKFLOW */
	char **plans;			/* WORKFLOW: resolved settings of each of tasks, NULL where
					 * the run's hold; else NULL */

	/* why there is no such run; error NULL: there may be one */
	char *error;
	int code;
	char field[64];			/* parameter at fault, "": none */
	const char *hint;		/* remedy, NULL: none */

	const json_t *params;		/* of the submit, read until submit_source_release() */
	char **kinds;			/* owns the texts of plans */
};

/* The one source that the parameters of run.submit name. False: error says why not. */
bool submit_source_take(struct submit_source *source, const json_t *params);

/* Reads what it names. Blocks on the disk, and on nothing else: a worker thread's
 * work. False: error. */
bool submit_source_read(struct submit_source *source);

/* The settings of the run, as config_resolve(), and of each task that has its own. What agents set
 * goes into *environment, see job/secrets.h. False: error; then there is no plan. */
bool submit_source_resolve(struct submit_source *source, const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count, struct plan *plan, char ***environment);

/* Also of a zeroed one. */
void submit_source_release(struct submit_source *source);

#endif
