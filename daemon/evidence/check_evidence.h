/* SPDX-License-Identifier: MIT */
/* Evidence by tree: a check that was green on a tree need not run on it again. That holds for the
 * same command, after the same setup, in the same environment; variables RL_* count only if the
 * command names one. */
#ifndef EVIDENCE_CHECK_EVIDENCE_H
#define EVIDENCE_CHECK_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/row.h"
#include "core/state.h"

struct slot;
struct txn;

/* Record the ended check a of the slot. Of its product only if it ran in a room. */
void evidence_check(struct txn *txn, const struct slot *slot, const struct attempt_row *a, enum evidence_result result);

/* The last check of the slot, check or after it, before which all checks after check are known to
 * be green on tree. */
int64_t checks_known(const struct slot *slot, const char *tree, int64_t check);

/* Ask the store for checks of other runs on the slot's tree, for checks_known(); then call done, if
 * the slot still waits for it as for a job. false: there is nothing to ask. */
bool checks_ask(struct slot *slot, void (*done)(struct slot *slot));

/* Record that the slot's checks after first, up to last, are not run on its tree, or on its
 * base while that is checked. */
void checks_reuse(struct txn *txn, struct slot *slot, int64_t first, int64_t last);

#endif
