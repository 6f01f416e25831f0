/* SPDX-License-Identifier: MIT */
/* Beginning an attempt, and ending one that never started. */
#ifndef SLOT_ATTEMPT_H
#define SLOT_ATTEMPT_H

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"

struct slot;
struct txn;

void attempt_begin(struct txn *txn, struct slot *slot, enum role role);
/* The attempt is not started after all, because its run is at a limit: its slot fails. */
void attempt_forgone(struct txn *txn, struct slot *slot, struct cause cause);
/* The attempt is cancelled before it was started. */
void attempt_unstarted(struct txn *txn, struct slot *slot);
/* The activity of a cancelled slot is over; if its attempt is not started, that ends with it. */
void attempt_cancelled(struct txn *txn, struct slot *slot);
/* The attempt is not started, because the reviewing program is not that of the submit: its task is
 * held. */
void attempt_reviewer_changed(struct slot *slot, const char *why);
/* A stage of attempts is taken up without one: a bug. */
void attempt_missing(struct slot *slot);
void attempt_emit_started(struct txn *txn, const struct attempt_row *a);
void attempt_emit_ended(struct txn *txn, const struct attempt_row *a);

#endif
