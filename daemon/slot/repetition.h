/* SPDX-License-Identifier: MIT */
/* Whether the fixes of a slot lead anywhere: each round whose work is sent back is compared with
 * all before it. */
#ifndef SLOT_REPETITION_H
#define SLOT_REPETITION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct finding_counts;
struct slot;
struct txn;

/* The last review has findings. Counts the round; returns why it stalls ("round 4 repeats round 2:
 * the tree is the same"), malloc'd; NULL: it does not, or stall_limit is 0. counts: of that
 * review; disputed: disputed_ids() before it. */
char *repetition_review(struct txn *txn, struct slot *slot, const struct finding_counts *counts,
    const json_t *disputed);
/* Likewise of a check that has failed twice; finding: its id, NULL: not known. */
char *repetition_check(struct txn *txn, struct slot *slot, const char *finding);
/* Likewise of an objection of git. again: it follows another one. */
char *repetition_obstacle(struct txn *txn, struct slot *slot, const char *why, bool again);
/* Whether the fixes without progress are as many as stall_limit. */
bool repetition_stalls(const struct slot *slot);

#endif
