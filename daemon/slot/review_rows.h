/* SPDX-License-Identifier: MIT */
/* The rows of reviews and findings. */
#ifndef SLOT_REVIEW_ROWS_H
#define SLOT_REVIEW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/findings.h"
#include "core/review.h"
#include "core/row.h"
#include "verdict/verdict.h"

struct judge_process;
struct slot;
struct txn;

/* The slot's review attempt has given an answer, or failed to. decision, feedback: see struct
 * review_row. */
struct finding_counts review_append(struct txn *txn, struct slot *slot, const char *decision,
    const char *feedback, const struct verdict *v);
/* The same of a voter of a panel: its reviewer's vote. decision: as above, REVIEW_VIOLATION or
 * REVIEW_ERROR. */
void review_vote(struct txn *txn, struct slot *voter, const char *decision, const char *feedback,
    const struct verdict *v);
/* A decision of a panel. findings: with their ids and reviewers, in the state FINDING_OUTVOTED
 * those that are; taken over, not the array. by: its reviewers; votes: JSON array of their
 * numbers. verdict: there is one. */
struct panel_said {
	struct finding_row **findings;
	size_t count;
	const char *by, *votes;
	bool verdict;
};
struct finding_counts review_panel(struct txn *txn, struct slot *slot, const char *decision,
    const char *feedback, const struct panel_said *said);
void review_error(struct txn *txn, struct slot *slot, const char *cause);
/* A human decision about the work. decision: REVIEW_ACCEPTED, REVIEW_REJECTED, or the profile's
 * pass word for a pass that stays one. process: that asked for it, NULL: it decided the newest
 * hold. */
void review_human(struct txn *txn, struct slot *slot, const char *decision, const char *by, const char *message,
    const struct judge_process *process);
/* Report the corrector's marks as resolved findings; the next review records them. */
void review_marked(struct txn *txn, struct slot *slot, const struct verdict_finding *marks, size_t count);
/* Write the review log again: it has a new review, or a final decision. */
void review_log(struct txn *txn, struct slot *slot);
/* The newest review of the slot's work; NULL: none yet. */
const struct review_row *review_last(const struct slot *slot);
/* Likewise by a reviewer, not a human. */
const struct review_row *review_last_verdict(const struct slot *slot);
/* The next finding to fix after number `after` of the last review, NULL: none. */
const struct finding_row *review_item(const struct slot *slot, int64_t after);
/* The finding of that number in the last review, NULL: none. */
const struct finding_row *review_finding(const struct slot *slot, int64_t number);
int64_t review_items_left(const struct slot *slot);
/* review_issue() of all findings to fix in the last review. Free with strings_free(); NULL:
 * none. */
char **review_issues(const struct slot *slot);
/* JSON array of the last review's findings, malloc'd; NULL: none. */
char *review_findings_json(const struct slot *slot);

bool slot_passed(const struct slot *slot);		/* whether a verdict passed its work */

#endif
