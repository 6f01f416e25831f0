/* SPDX-License-Identifier: MIT */
/* Interrupted attempts. */
#ifndef SLOT_RETRY_H
#define SLOT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/review.h"
#include "core/slot.h"

struct slot;
struct txn;

/* The attempt before a in its slot, if it was interrupted in the same work: lost, or refused. NULL:
 * it was not. */
const struct attempt_row *attempt_interrupted(const struct slot *slot, const struct attempt_row *a);
/* The attempt whose conversation a resumes, ROW_NONE: a new conversation. */
int64_t attempt_resumes(const struct slot *slot, const struct attempt_row *a);
/* Whether a resumes the conversation of a malformed answer, to be asked about it. */
bool attempt_is_asked(const struct slot *slot, const struct attempt_row *a);
/* Refused by its service, or by the host (fault: the errno), with this reason (NULL: none): repeat
 * it later. */
void attempt_begin_again(struct txn *txn, struct slot *slot, const struct attempt_row *a,
    const struct attempt_facts *facts, enum slot_stage to, int fault, const char *words);
/* What follows if it is lost. Behind a launcher it may still work, unless it was seen to end: then
 * another one must not begin in the same tree by itself. */
enum on_lost attempt_on_lost(const struct slot *slot, const struct attempt_row *a);

#endif
