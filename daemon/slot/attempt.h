/* SPDX-License-Identifier: MIT */
/* An attempt of a slot: begun, and over before anything of it ran. */
#ifndef SLOT_ATTEMPT_H
#define SLOT_ATTEMPT_H

#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"

struct slot;
struct txn;

void attempt_begin(struct txn *txn, struct slot *slot, enum role role);
/* It was decided, and is not started after all, since its run is at a limit: so its slot fails. */
void attempt_forgone(struct txn *txn, struct slot *slot, struct cause cause);
/* It was decided, and is cancelled before anything of it ran. */
void attempt_unstarted(struct txn *txn, struct slot *slot);
/* A stage of attempts is to be taken up without one: a bug. */
void attempt_missing(struct slot *slot);
void attempt_emit_started(struct txn *txn, const struct attempt_row *a);
void attempt_emit_ended(struct txn *txn, const struct attempt_row *a);

#endif
