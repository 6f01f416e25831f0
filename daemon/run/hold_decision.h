/* SPDX-License-Identifier: MIT */
/* Decisions about holds. */
#ifndef RUN_HOLD_DECISION_H
#define RUN_HOLD_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/reply.h"

struct engine;

enum hold_decision { HOLD_APPROVE, HOLD_REJECT, HOLD_REWORK, HOLD_ANSWER };

/* Who decides, and the process that asks for it: attempt is the one that it belongs to, ROW_NONE:
 * none. */
struct decider {
	const char *name;		/* of the user */
	int64_t uid, pid, attempt;
};

/* Decide an open hold of an unfinished run. message: NULL or "" for none,
 * which an answer refuses with invalid-params, and rework, except for a lost attempt. Other codes:
 * not-found, no-space, wrong-state (decided already; approve of a lost attempt; an answer where
 * nothing was asked; rework or an answer in a run whose budget is spent). The reply's rows are the
 * run's, including its holds. */
void engine_hold(struct engine *engine, int64_t hold, enum hold_decision decision, const struct decider *by,
    const char *message, bool check, engine_reply_cb *cb, void *arg);

#endif
