/* SPDX-License-Identifier: MIT */
/* Retries: a slot begins with the work of an earlier run, at the phase that failed there. */
#ifndef SLOT_CONTINUE_H
#define SLOT_CONTINUE_H

#include <stdbool.h>

#include "core/continuation.h"
#include "core/review.h"
#include "core/state.h"

struct measure_facts;
struct slot;
struct txn;

/* The work that the slot continues; false: there is none, or it has its own already. Release *c. */
bool continue_work(const struct slot *slot, struct continuation *c);

/* next, or where its work is continued: in its place comes what the work was last at. */
enum slot_stage continue_before_work(struct txn *txn, struct slot *slot, enum slot_stage next);

/* The new work tree was to have the work of the slot. It is implemented again if that is gone. */
void continue_laid(struct txn *txn, struct slot *slot, bool laid);

/* What the earlier run has said about tree, which was just measured. */
void continue_facts(const struct slot *slot, const char *tree, struct measure_facts *facts);
/* By these facts the slot moves to that stage without another judgement. */
bool continue_decides(const struct measure_facts *facts, enum slot_stage to);
/* How the round with the earlier pass would end here: ROUND_PASS, or why it is held, with its
 * cause, malloc'd. */
enum round_end continue_end(const struct slot *slot, char **cause);
void continue_measured(struct txn *txn, struct slot *slot, const struct measure_facts *facts);

#endif
