/* SPDX-License-Identifier: MIT */
/* Attempts that were cut off. */
#ifndef SLOT_RETRY_H
#define SLOT_RETRY_H

#include <stdint.h>

#include "core/review.h"
#include "core/slot.h"

struct slot;
struct txn;

/* The attempt before a of its slot, when it was cut off in the middle of the same work: lost, or
 * not served. NULL: it was not. */
const struct attempt_row *attempt_interrupted(const struct slot *slot, const struct attempt_row *a);
/* The attempt whose conversation a goes on with, ROW_NONE: it begins a new one. */
int64_t attempt_resumes(const struct slot *slot, const struct attempt_row *a);
/* Its service did not serve it, or the host (fault: the errno), and said so in these words: the
 * same again, later. NULL: in none. */
void attempt_begin_again(struct txn *txn, struct slot *slot, const struct attempt_row *a,
    const struct attempt_facts *facts, enum slot_stage to, int fault, const char *words);

#endif
