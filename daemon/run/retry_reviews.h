/* SPDX-License-Identifier: MIT */
/* The reviews that a retry takes over, with their findings: they are the first of the new run. */
#ifndef RUN_RETRY_REVIEWS_H
#define RUN_RETRY_REVIEWS_H

struct pending_submit;
struct run_rows;

/* Of the tasks that p has, and of the whole run; rows: the old run. Nothing, if the retry starts
 * from scratch. They get their hashes when the new run has its number. */
void retry_reviews_take(struct pending_submit *p, const struct run_rows *rows);

#endif
