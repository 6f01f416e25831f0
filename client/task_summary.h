/* SPDX-License-Identifier: MIT */
/* The tasks of a run, as run.get gives them: what became of them, and where their results are. */
#ifndef CLIENT_TASK_SUMMARY_H
#define CLIENT_TASK_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>

#include "client/print.h"

struct table;

/* "12: 5 passed, 1 failed, 6 open"; of a run with one task nothing. The caller frees. */
char *tasks_count(const json_t *run);

/* A line for each, unless there is only the task that the run was submitted with. */
void tasks_print(const struct print *p, const json_t *run);

/* Whether anything has passed, or was accepted. */
bool tasks_have_result(const json_t *run);

/* Short name of the one branch that has the result; empty: there is none, or one for each task.
 * The caller frees. */
char *tasks_branch(const json_t *run);

/* Facts about what a run has taken: members wall_ms, tokens and cost_usd of totals. */
void tasks_add_totals(struct table *facts, const json_t *totals);

/* Facts about the result of a run, and how to have it. */
void tasks_add_result(struct table *facts, const json_t *run);

#endif
