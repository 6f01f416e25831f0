/* SPDX-License-Identifier: MIT */
/* The tasks of a run, from run.get: their states, and where their results are. */
#ifndef CLIENT_TASK_SUMMARY_H
#define CLIENT_TASK_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>

#include "client/print.h"

struct table;

/* Whether the run has more than one task: then what passed, failed or waits comes first. */
bool tasks_are_many(const json_t *run);

/* "12: 5 passed, 1 failed, 6 open"; nothing for a run with one task. The caller frees. */
char *tasks_count(const json_t *run);
/* "12 tasks: 5 passed, 1 failed, 1 held"; the caller frees. */
char *tasks_counts(const json_t *run);
/* "12 tasks, 5 passed"; the caller frees. */
char *tasks_passed(const json_t *run);

/* One line per task, unless the only task is the one given at submit. */
void tasks_print(const struct print *p, const json_t *run);

/* For a table of attempts: set "of" in each to its task, unless the run has only one. */
void tasks_name(const json_t *run, const json_t *attempts);

/* Whether anything has passed or was accepted. */
bool tasks_have_result(const json_t *run);

/* Facts about what a run has taken: members wall_ms, tokens and cost_usd of totals. */
void tasks_add_totals(struct table *facts, const json_t *totals);

/* Facts of a run with many tasks: what passed, failed and waits, what it took, and how to get the
 * result. run: from run.get or run.report. */
void tasks_add_overview(struct table *facts, const json_t *run, const json_t *totals);

/* Facts about the result of a run, and unless it has many tasks, how to get it. */
void tasks_add_result(struct table *facts, const json_t *run);

#endif
