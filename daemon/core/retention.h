/* SPDX-License-Identifier: MIT */
/* Which runs prune removes: facts in, decision out. Pure. */
#ifndef CORE_RETENTION_H
#define CORE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/state.h"

/* [keep]: ROW_NONE: no limit. */
struct retention_policy {
	int64_t age;			/* ms since the end of a run that succeeded */
	int64_t failures;		/* ... of one that failed or was cancelled */
	int64_t number;			/* of ended runs */
	int64_t size;			/* bytes of all that prune may remove */
};

/* By which limit a run is to go. */
enum retention_limit {
	RETENTION_NONE,			/* it stays */
	RETENTION_AGE,
	RETENTION_FAILURES,
	RETENTION_NUMBER,
	RETENTION_SIZE,
	RETENTION_LIMITS
};

/* Why a run stays that a limit would remove. */
enum retention_need {
	RETENTION_FREE,			/* nothing needs it */
	RETENTION_RUNNING,		/* it has not ended */
	RETENTION_HELD,			/* a human has to decide */
	RETENTION_HOOK,			/* a hook that tells of it is running */
	RETENTION_NEEDED,		/* another run continues it, or waits for it */
	RETENTION_UNMERGED,		/* its result is on no branch of the user */
	RETENTION_UNREADABLE,		/* its repository does not say */
	RETENTION_SALVAGE,		/* saved work is on none, and not old enough */
	RETENTION_NEEDS
};

extern const struct state_names retention_limit_names, retention_need_names;

/* Whether the result of a run is on a branch of the user. */
enum retention_merged {
	RETENTION_NOT_ASKED,
	RETENTION_IS_MERGED,		/* or there is nothing to merge */
	RETENTION_IS_UNMERGED,
	RETENTION_IS_UNREADABLE,
	RETENTION_IS_SAVED		/* only what was saved of failed work is on none */
};

struct retention_run {
	/* facts */
	int64_t id;
	int state;			/* enum run_state */
	int64_t since;			/* TIME of the end; of an unfinished run: of its submit */
	int64_t bytes;			/* that are kept of it; ROW_NONE: not measured */
	int64_t retry_of, after;	/* runs that it continues and waits for, ROW_NONE */
	bool at_work;			/* it has ended, and the daemon still works for it */
	bool hook;			/* a hook of it is running */
	enum retention_merged merged;
	/* decision: it goes if there is a limit, and need is FREE */
	enum retention_limit limit;
	enum retention_need need;
	int64_t by;			/* NEEDED: the run that needs it; else ROW_NONE */
};

/* Decide about all runs that have not been pruned, in order of id. others: bytes of what counts for
 * the size and belongs to no run. What is decided about a run that has not been asked for holds if
 * its result is merged: ask, and decide again. */
void retention_decide(const struct retention_policy *policy, int64_t now, int64_t others, struct retention_run *runs,
    size_t count);

bool retention_goes(const struct retention_run *run);

#endif
