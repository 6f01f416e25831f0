/* SPDX-License-Identifier: MIT */
/* An attempt of a slot: begun, started, ended, and what it came to. */
#ifndef SLOT_ATTEMPT_H
#define SLOT_ATTEMPT_H

#include "core/cause.h"
#include "core/row.h"
#include "record/exit_record.h"

struct slot;
struct txn;

void attempt_begin(struct txn *txn, struct slot *slot, enum role role);
void attempt_collect(struct slot *slot);
/* It was decided, and is not started after all, since its run is at a limit: so its slot fails. */
void attempt_forgone(struct txn *txn, struct slot *slot, struct cause cause);
/* It was decided, and is cancelled before anything of it ran. */
void attempt_unstarted(struct txn *txn, struct slot *slot);
void attempt_started(struct slot *slot);
void attempt_refused(struct slot *slot, int status, const char *error);	/* status: errno, 0: none */
/* Its number was taken: it has never begun, and gets the next one. */
void attempt_renumber(struct slot *slot);
/* record NULL: lost. */
void attempt_ended(struct slot *slot, const struct exit_record *record, const char *detail);

#endif
