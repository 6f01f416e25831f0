/* SPDX-License-Identifier: MIT */
/* The checks of the plan on the base of the work: run.check_on_base. "require" runs them before an
 * agent is paid; "warn" runs them beside the first attempts (slot/baseline.h); for work that began
 * on another base, when a check has failed on it, before a fixer is paid. What is known of the base
 * is evidence: see check_on_base(). */
#ifndef SLOT_BASE_CHECK_H
#define SLOT_BASE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

struct attempt_row;
struct slot;
struct txn;

/* next, or the stage that checks the base before it. */
enum slot_stage base_before_work(struct txn *txn, struct slot *slot, enum slot_stage next);

/* A check of the work has failed. Returns whether the slot has moved: the base is to be checked
 * first, or the check does not count. */
bool base_after_red(struct txn *txn, struct slot *slot, const struct attempt_row *failed);

/* A check of the base is over, in CHECKING, and the next one does not follow by itself. red: it has
 * failed. Returns whether the slot has moved; otherwise slot->row->failed_check counts. */
bool base_checked(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool red);

/* A check that is red on the base has run in the user's directory. As base_checked(). */
bool base_compared(struct txn *txn, struct slot *slot, const struct attempt_row *a, bool green);

/* The baseline may have ended, for which the slot waits. */
void base_look(struct slot *slot);

/* The shell could not start the check. */
bool base_cannot_start(const struct attempt_row *a);
/* End the slot for that. */
void base_fail_unstarted(struct txn *txn, struct slot *slot, const struct attempt_row *a);
/* ... or since it is green in the user's directory. */
void base_fail_here(struct txn *txn, struct slot *slot, const struct attempt_row *a);
/* The checks of the slot are those of the run, on the base of the run. */
bool base_is_of_run(const struct slot *slot);
/* The current check is red on the base. Whether it runs once in the user's directory, since what a
 * clean checkout lacks may be the cause. */
bool base_compare(struct txn *txn, struct slot *slot);

/* Before an implementer is told: ask for what other runs know of the base, then call done, as
 * checks_ask(). false: it is known, or need not be. */
bool base_ask(struct slot *slot, void (*done)(struct slot *slot));
/* Record what was found. false: nothing was. */
bool base_take(struct txn *txn, struct slot *slot);

/* The checks that are known to fail on the base, one a line, malloc'd; NULL: none. *output: the
 * attempt of the first one, ROW_NONE: not known. */
char *base_red(const struct slot *slot, int64_t *output);

#endif
