/* SPDX-License-Identifier: MIT */
/* The task source of a submit: read off the loop; then the settings of the run and of each task. */
#ifndef RPC_SUBMIT_SOURCE_H
#define RPC_SUBMIT_SOURCE_H

#include <jansson.h>
#include <stdbool.h>

#include "config/config.h"
#include "rpc/path_access.h"
#include "task/task_op.h"

struct submit_source {
	enum source_kind kind;
	char *path;			/* as in struct submission: NULL: none */
	struct task_list tasks;		/* STORIES, WORKFLOW */
	/* WORKFLOW: resolved settings of each task, an entry NULL: the run's; other
	 * sources: NULL */
	char **plans;

	/* why the run is impossible; error NULL: it may be possible */
	char *error;
	int code;
	char field[64];			/* parameter at fault, "": none */
	const char *hint;		/* remedy, NULL: none */

	/* parameters of the submit, used until submit_source_release() */
	const json_t *params;
	char **kinds;			/* owns the texts of plans */
};

/* Find the task source in the parameters of run.submit. Returns false with error. */
bool submit_source_take(struct submit_source *source, const json_t *params);

/* Whether the caller may name the files of the source. On a worker. Returns false with
 * access->text. */
bool submit_source_access(const struct submit_source *source, struct path_access *access);

/* Read the source. Blocks on the disk only: call it on a worker. Returns false with error. */
bool submit_source_read(struct submit_source *source);

/* Resolve the settings of the run, as config_resolve(), and of each task with its own. The agents'
 * variables are added to *environment, see job/secrets.h. Returns false with error, and without a
 * plan. */
bool submit_source_resolve(struct submit_source *source, const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count, struct plan *plan, char ***environment);

/* Set for whom files are read in the settings of each task, see struct plan. */
void submit_source_read_as(struct submit_source *source, char *const *read_as);

/* Also for a zeroed struct. */
void submit_source_release(struct submit_source *source);

#endif
