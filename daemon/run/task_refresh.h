/* SPDX-License-Identifier: MIT */
/* The tasks that a source offers. */
#ifndef RUN_TASK_REFRESH_H
#define RUN_TASK_REFRESH_H

#include <stdbool.h>

#include "task/task_op.h"

struct run;
struct txn;

/* Take over list, all tasks of the source by position. */
void offer_take(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd);
/* Like offer_take(), for a source that is read once: follow the claims of other runs
 * on its tasks. */
void offer_follow_claims(struct txn *txn, struct run *run);

#endif
