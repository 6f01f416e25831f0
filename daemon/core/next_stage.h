/* SPDX-License-Identifier: MIT */
/* Which stage of a slot comes next: one function for each decision, facts in, stage out.
 * Pure. What the facts are is in core/review.h; which stages may follow each other at all
 * is in core/slot.h. */
#ifndef CORE_NEXT_STAGE_H
#define CORE_NEXT_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/review.h"
#include "core/slot.h"

/* The first stage of a slot; claims: its task source has to be told first. */
enum slot_stage first_stage(const struct plan *plan, bool claims);
/* The same of slot 0, which reviews the whole run. */
enum slot_stage first_review_stage(const struct plan *plan, bool has_git);

enum slot_stage stage_after_claim(const struct plan *plan);
/* whole: of slot 0. */
enum slot_stage stage_after_worktree(const struct plan *plan, bool whole);

/* The work of a round is done and not checked yet; checks: how many there are. */
enum slot_stage stage_after_work(int64_t checks, bool has_git);

/* FIXING for a check that failed, FAILED for a reviewer that gave no answer: the policy of the plan
 * has the last word about both, see stage_after_round(). */
enum slot_stage stage_after_attempt(const struct attempt_facts *facts, enum move_reason *reason);

/* Is it reviewed, where, or only committed? FAILED: what was denied stopped the work, or
 * on_no_change says so. */
enum slot_stage stage_after_measure(const struct plan *plan, const struct measure_facts *facts);

/* By the policies of the plan. */
enum slot_stage stage_after_round(const struct plan *plan, enum round_end end, bool has_git);
/* A policy or a human accepts it without a verdict. */
enum slot_stage stage_after_acceptance(const struct plan *plan, bool has_git);

/* passed: by a verdict; whole: of slot 0. */
enum slot_stage stage_after_commit(const struct plan *plan, bool passed, bool whole);
enum slot_stage stage_after_merge(const struct plan *plan, bool passed);

/* A human sends a held slot back: the lost attempt again, else a fix. role: of the hold's attempt;
 * checkout: reviewers work in one of their own. */
enum slot_stage stage_after_rework(enum hold_kind kind, enum role role, bool checkout);

/* ENDING while something may be under way in the stage, else CANCELLED. */
enum slot_stage stage_after_cancel(enum slot_stage stage);

#endif
