/* SPDX-License-Identifier: MIT */
/* What its answer means. */
#ifndef SLOT_GIT_RESULT_H
#define SLOT_GIT_RESULT_H

#include <stdint.h>

struct slot;
struct txn;

void git_done(struct txn *txn, struct slot *slot, int64_t last_step);
/* Where the slot's work tree will be, and what it is made at: on record before anything of it is there. */
void git_lay(struct txn *txn, struct slot *slot);

#endif
