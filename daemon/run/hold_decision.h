/* SPDX-License-Identifier: MIT */
/* What a human decides about a hold. */
#ifndef RUN_HOLD_DECISION_H
#define RUN_HOLD_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/reply.h"

struct engine;

enum hold_decision { HOLD_APPROVE, HOLD_REJECT, HOLD_REWORK };

/* A human decides an open hold of an unfinished run. by: the person's user name; message: NULL or
 * "" for none, which rework of anything but a lost attempt refuses with invalid-params. Other
 * codes: not-found, no-space, wrong-state (decided already; approve of a lost attempt; rework in a
 * run that has spent all). The reply's rows are the run's, its holds among them. */
void engine_hold(struct engine *engine, int64_t hold, enum hold_decision decision, const char *by,
    const char *message, bool check, engine_reply_cb *cb, void *arg);

#endif
