/* SPDX-License-Identifier: MIT */
/* What is told about a run as a whole: the report, and the review logs in the form of requirement
 * 001. Pure: rows in, JSON out. */
#ifndef JOB_RUN_REPORT_H
#define JOB_RUN_REPORT_H

#include <jansson.h>

#include "core/plan.h"
#include "model/view.h"

/* The report of docs/protocol.md (requirement 003): result, stats.review_rounds, timeline with
 * cumulative turns, known issues, warnings, tokens, cost; for a run in any state. plan NULL:
 * unreadable, settings are omitted. answer: the accepted final text, NULL if there is none. New
 * reference. */
json_t *report_make(const struct run_rows *rows, const struct plan *plan, const char *answer, size_t size);

/* The review rows->reviews[at] with its findings, including resolved ones. New reference. */
/* The newest dispute of that finding, null: there is none. New reference. */
json_t *dispute_document(const struct run_rows *rows, const char *task, const char *finding);
json_t *review_document(const struct run_rows *rows, size_t at);

/* A hold with all reviews of its task. New reference. */
json_t *hold_document(const struct run_rows *rows, const struct hold_row *hold);

/* The log of a task, exactly as in requirement 001: {task_id, overlay, iterations: [{iteration,
 * decision, feedback, timestamp}], final_decision, completed_at}; the last two are null until the
 * task's reviews are complete. New reference; NULL: no reviews. */
json_t *review_log_make(const struct run_rows *rows, const char *task);

/* "<task>.json" with every byte of the id percent-encoded except letters, digits, '-', '_' and
 * inner '.'; one that is too long is cut, followed by a digest of the id. malloc'd. */
char *review_log_name(const char *task);

#endif
