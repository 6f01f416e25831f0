/* SPDX-License-Identifier: MIT */
/* A reviewer has failed, alone or as a voter of a panel. */
#ifndef SLOT_REVIEWER_FAILURE_H
#define SLOT_REVIEWER_FAILURE_H

#include "core/cause.h"

struct slot;
struct txn;

/* text: for the record; cause: of what follows. */
void reviewer_failed(struct txn *txn, struct slot *slot, const char *text, struct cause cause);

#endif
