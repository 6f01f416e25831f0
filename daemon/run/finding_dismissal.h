/* SPDX-License-Identifier: MIT */
/* Dismissing a finding of a review: a user decides that it need not be fixed. */
#ifndef RUN_FINDING_DISMISSAL_H
#define RUN_FINDING_DISMISSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/row.h"
#include "model/reply.h"
#include "run/hold_decision.h"

struct engine;
struct run_rows;

struct finding_dismissal {
	int64_t run;
	const char *task;		/* NULL: the one that has the finding */
	const char *finding;		/* its id */
	const char *reason;
	const struct decider *by;
	bool check;			/* validate only */
};

/* The findings of a run that must be fixed: those of the newest verdict on each task that no user
 * dismissed. The array is malloc'd, its rows belong to rows. */
const struct finding_row **open_findings(const struct run_rows *rows, size_t *count);
/* The task of a finding; borrowed. */
const char *finding_task(const struct run_rows *rows, const struct finding_row *finding);

/* The next verdicts on the task do not count the finding as open. Attempts under way keep what they
 * were given. Codes: not-found (no such unfinished run; no such open finding), invalid-params (no
 * reason; several tasks have it), wrong-state (dismissed already; the run is ending; too many),
 * no-space. The reply's rows are the run's. */
void engine_dismiss(struct engine *engine, const struct finding_dismissal *d, engine_reply_cb *cb, void *arg);

#endif
