/* SPDX-License-Identifier: MIT */
/* Budgets of runs and accounts applied to attempts. */
#ifndef SCHED_SPENDING_H
#define SCHED_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/run.h"

struct attempt_row;
struct engine;
struct run;
struct slot;
struct txn;

/* Why nothing more of the run may start: "$5.20 of $5.00 are spent (max_cost)"; "": it may. */
void run_spent(const struct run *run, char out[RUN_SPENT_MAX]);
/* Likewise why the attempt may not: with strict_budget, also "..., and this attempt is expected to
 * use $0.02". */
void attempt_spent(const struct slot *slot, const struct attempt_row *a, char out[RUN_SPENT_MAX]);
/* max_wall is over; ms until then, at least 1, ROW_NONE: no limit. */
bool run_is_out_of_time(const struct run *run);
int64_t run_time_left(const struct run *run);
/* Why the attempt waits for others under way, malloc'd; NULL: it does not. account: that would pay
 * for it. */
char *budget_waits(struct slot *slot, const struct attempt_row *a, const char *account);
/* Reserve an amount for the attempt, if there is a limit; false: unchanged. */
bool budget_reserve(struct txn *txn, struct slot *slot, const struct attempt_row *a);
/* Release the reservation of an attempt that does not start yet; false: none. */
bool budget_release(struct txn *txn, const struct attempt_row *a);
/* The attempt has ended, and its row says so: its cost replaces the reservation. */
void budget_settle(struct txn *txn, const struct slot *slot, const struct attempt_row *a);
/* Watch the time of a started run: it gets a warning when most of it is over, and attempts that
 * wait for an account end with it, also when nothing else happens then. */
void budget_watch(struct run *run);

#endif
