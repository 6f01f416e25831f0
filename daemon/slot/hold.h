/* SPDX-License-Identifier: MIT */
/* The human decision queue. */
#ifndef SLOT_HOLD_H
#define SLOT_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/row.h"
#include "model/reply.h"

struct engine;
struct run;
struct slot;
struct txn;

enum hold_decision { HOLD_APPROVE, HOLD_REJECT, HOLD_REWORK };

/* A human decides an open hold of an unfinished run. by: the person's user name; message: NULL or "" for none, which rework of
 * anything but a lost attempt refuses with invalid-params. Other codes: not-found, no-space, wrong-state (decided already; approve of a
 * lost attempt; rework in a run that has spent all). The reply's rows are the run's, its holds among them. */
void engine_hold(struct engine *engine, int64_t hold, enum hold_decision decision, const char *by, const char *message, bool check,
    engine_reply_cb *cb, void *arg);

void hold_open(struct txn *txn, struct slot *slot, enum hold_kind kind, const char *reason);
/* Close the slot's open hold, if it has one. */
void hold_close(struct txn *txn, struct slot *slot, enum hold_state state, const char *by, const char *message);
/* The slots that were sent back while the run had no slot of the daemon go on. */
void hold_resume(struct txn *txn, struct run *run);

#endif
