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


/* How many checks run in the slot's place: on the base after the work, no more than up to the one
 * that has failed on the work. */
int64_t checks_count(const struct slot *slot);

/* The newest evidence about the command on the slot's base, red only if it failed twice; NULL: it
 * is not known. */
const struct evidence_row *check_on_base(const struct slot *slot, const char *command);

/* The last check of the slot, check or after it, before which all checks after check are known to
 * be green on tree; on the base after the work, known at all. */
int64_t checks_known(const struct slot *slot, const char *tree, int64_t check);

/* Ask the store for checks of other runs on tree, for checks_known() and check_on_base(); then call
 * done, if the slot still waits for it as for a job. false: there is nothing to ask. */
bool checks_ask(struct slot *slot, const char *tree, void (*done)(struct slot *slot));

/* Record that the slot's checks after first, up to last, are not run on its tree, or on its
 * base while that is checked. */
void checks_reuse(struct txn *txn, struct slot *slot, int64_t first, int64_t last);
/* The same for check + 1 on the base, which check_on_base() knows. */
void check_reuse_base(struct txn *txn, struct slot *slot, int64_t check);

#endif
