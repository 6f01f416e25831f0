/* SPDX-License-Identifier: MIT */
/* The tasks of a run, from run.get: their states, and where their results are. */
#ifndef CLIENT_TASK_SUMMARY_H
#define CLIENT_TASK_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>

#include "client/print.h"

struct table;

/* "12: 5 passed, 1 failed, 6 open"; nothing for a run with one task. The caller frees. */
char *tasks_count(const json_t *run);

/* One line per task, unless the only task is the one given at submit. */
void tasks_print(const struct print *p, const json_t *run);

/* Whether anything has passed or was accepted. */
bool tasks_have_result(const json_t *run);

/* Short name of the branch with the whole result; empty: none, or one per task. The caller
 * frees. */
char *tasks_branch(const json_t *run);

/* Facts about what a run has taken: members wall_ms, tokens and cost_usd of totals. */
void tasks_add_totals(struct table *facts, const json_t *totals);

/* Facts about the result of a run, and how to get it. */
void tasks_add_result(struct table *facts, const json_t *run);

#endif
