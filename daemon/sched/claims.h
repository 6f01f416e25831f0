/* SPDX-License-Identifier: MIT */
/* Claims of tasks of shared sources. */
#ifndef SCHED_CLAIMS_H
#define SCHED_CLAIMS_H

#include <stdbool.h>

#include "core/row.h"
#include "core/state.h"
#include "task/task_op.h"

struct claims;
struct run;
struct txn;

struct claims *claims_new(void);
void claims_free(struct claims *claims);
void claims_load(struct claims *claims, struct claim_row *row);	/* takes ownership of row */
/* NULL: never claimed. */
const struct claim_row *claims_find(const struct claims *claims, const char *source, const char *task);
/* The name of a source in claims, malloc'd; NULL: its tasks belong to one run. */
char *claim_source(enum source_kind kind, const char *path);
char *run_claim_source(const struct run *run);
/* Another run has the task, or has passed it since this one last asked its source. */
bool run_is_claimed_elsewhere(const struct run *run, const char *task);
/* Set the claim of a task of the run. No effect for sources without claims. */
void run_claim(struct txn *txn, struct run *run, const char *task, enum claim_state state);

#endif
