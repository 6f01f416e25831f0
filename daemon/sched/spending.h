/* SPDX-License-Identifier: MIT */
/* What runs and their accounts may spend. */
#ifndef SCHED_SPENDING_H
#define SCHED_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/run.h"

struct engine;
struct run;
struct slot;
struct txn;

/* Why nothing more of the run may be started: "$5.20 of $5.00 are spent (max_cost)"; "": it may. */
void run_spent(const struct run *run, char out[RUN_SPENT_MAX]);
/* Its max_wall is over; ms until then, at least 1, ROW_NONE: it has none. */
bool run_is_out_of_time(const struct run *run);
int64_t run_time_left(const struct run *run);
/* Why the attempt has to wait for others that are under way, malloc'd; NULL: it need not. account: that would pay for it. */
char *budget_waits(struct slot *slot, const struct attempt_row *a, const char *account);
/* Something is set aside for it, if there is a limit; false: nothing more than before. */
bool budget_reserve(struct txn *txn, struct slot *slot, const struct attempt_row *a);
/* It does not start yet; false: nothing was set aside. */
bool budget_release(struct txn *txn, const struct attempt_row *a);
/* It has ended, as its row says already: what it has cost takes the place of what was set aside. */
void budget_settle(struct txn *txn, const struct slot *slot, const struct attempt_row *a);
/* The run has been started: it is warned when most of its time is over, and what waits for an account ends with it, also when nothing else
 * happens then. */
void budget_watch(struct run *run);

#endif
