/* SPDX-License-Identifier: MIT */
/* What a source offers. */
#ifndef RUN_TASK_REFRESH_H
#define RUN_TASK_REFRESH_H

#include <stdbool.h>

#include "task/task_op.h"

struct run;
struct txn;

/* The source has been asked: list is all that it has, by position. */
void offer_take(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd);
/* It is read once only: what other runs do with the tasks of the same one is known here. */
void offer_follow_claims(struct txn *txn, struct run *run);

#endif
