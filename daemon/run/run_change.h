/* SPDX-License-Identifier: MIT */
/* New settings for an unfinished run. */
#ifndef RUN_RUN_CHANGE_H
#define RUN_RUN_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "model/reply.h"

struct engine;
struct task_list;

struct run_change {
	int64_t run;
	const char *by;			/* "uid 1000" */
	const struct plan *plan;	/* has the new values ... */
	unsigned changes;		/* ... of these, see core/plan_change.h */
	int64_t priority;		/* ROW_NONE: as it is */
	/* its stories by now, of which those with new ids become tasks; NULL: as they are */
	const struct task_list *stories;
	bool check;			/* validate only */
};

/* Attempts under way keep what they began with; slots above a lower number finish.
 * What waits for space or a budget tries again. Codes: not-found, no-space, wrong-state (the run is
 * ending), invalid-params. The reply's rows are the run's. */
void engine_change(struct engine *engine, const struct run_change *change, engine_reply_cb *cb, void *arg);

#endif
