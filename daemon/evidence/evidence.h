/* SPDX-License-Identifier: MIT */
/* The evidence of a run: one row per judgement about a product, in a hash chain. A run that is not
 * recorded has none, and nothing here changes that; see run_is_recorded(). */
#ifndef EVIDENCE_EVIDENCE_H
#define EVIDENCE_EVIDENCE_H

#include "core/row.h"
#include "core/state.h"

/* The subject of the row of a merge that gave a new tree, of which nothing was said. */
#define MERGED_UNCHECKED "merged, not checked"
/* Likewise if the tree of a later task, which has this one's work, was checked. */
#define MERGED_TOGETHER "merged, checked with a later task"

struct run;
struct slot;
struct txn;

/* Append the row to the run's chain; takes it. Fills in run, number, time and hashes. */
void evidence_append(struct txn *txn, struct run *run, struct evidence_row *row);

/* The rest is about the slot's newest product. */

/* A row for evidence_append(). A check in a work tree is about no product. */
struct evidence_row *evidence_new(const struct slot *slot, enum evidence_kind kind, const char *subject,
    enum evidence_result result);

/* Where the slot's attempts judge, if that is a room or the work itself. */
enum judged_in judged_in(const struct slot *slot, bool in_room);

/* The process that gave a human's judgement, and the attempt that it belongs to; ROW_NONE: none. */
struct judge_process {
	int64_t uid, pid, attempt;
};

/* review: by an agent, or by a human. by: of a human; NULL: what decided the newest hold. */
void evidence_review(struct txn *txn, const struct slot *slot, const struct review_row *review,
    enum evidence_result result, const struct judge_process *by);
/* The answer of that review attempt is malformed, and the reviewer is asked about it: no review of
 * the log comes of it. */
void evidence_asked(struct txn *txn, const struct slot *slot, const struct attempt_row *a);
/* A human sent it back to a fixer. by: "human:<user>" */
void evidence_rework(struct txn *txn, const struct slot *slot, const char *by);

#endif
