/* SPDX-License-Identifier: MIT */
/* What is told about a run as a whole: the report, and the review logs in the form of requirement
 * 001. Pure: rows in, JSON out. */
#ifndef JOB_RUN_REPORT_H
#define JOB_RUN_REPORT_H

#include <jansson.h>

#include "core/plan.h"
#include "model/view.h"

/* The report of docs/protocol.md (requirement 003): result, stats.review_rounds, timeline with
 * cumulative turns, known issues, warnings, tokens, cost; for a run in any state. plan NULL: it
 * cannot be read, and no settings are told. answer: the accepted final text, NULL when there is
 * none. New reference. */
json_t *report_make(const struct run_rows *rows, const struct plan *plan, const char *answer, size_t size);

/* The review rows->reviews[at] with its findings, those that it found resolved among
 * them. New reference. */
json_t *review_document(const struct run_rows *rows, size_t at);

/* A hold with every review of its task. New reference. */
json_t *hold_document(const struct run_rows *rows, const struct hold_row *hold);

/* The log of one task, exactly as in requirement 001: {task_id, overlay, iterations: [{iteration,
 * decision, feedback, timestamp}], final_decision, completed_at}; the last two are null until the
 * task's reviews are over. New reference; NULL: the task has no review. */
json_t *review_log_make(const struct run_rows *rows, const char *task);

/* "<task>.json" with every byte of the id that is not a letter, a digit, '-', '_' or an inner '.'
 * percent-encoded; one that would be too long is cut, with a digest of the id behind. malloc'd. */
char *review_log_name(const char *task);

#endif
