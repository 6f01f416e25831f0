/* SPDX-License-Identifier: MIT */
/* Which stage of a slot comes next: one pure function per decision, facts in, stage out. The facts
 * are defined in core/review.h; which stages may follow each other, in core/slot.h. */
#ifndef CORE_NEXT_STAGE_H
#define CORE_NEXT_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/review.h"
#include "core/slot.h"

/* First stage of a slot. claims: the task must be claimed at its source first. */
enum slot_stage first_stage(const struct plan *plan, bool claims);
/* First stage of slot 0, which reviews the whole run. */
enum slot_stage first_review_stage(const struct plan *plan, bool has_git);

enum slot_stage stage_after_claim(const struct plan *plan);
/* whole: for slot 0. */
enum slot_stage stage_after_worktree(const struct plan *plan, bool whole);

/* The work of a round is done but not checked yet. checks: their number. */
enum slot_stage stage_after_work(int64_t checks, bool has_git);

/* FIXING after a failed check, FAILED when a reviewer gave no answer: for both the policy of the
 * plan decides, see stage_after_round(). */
enum slot_stage stage_after_attempt(const struct attempt_facts *facts, enum move_reason *reason);

/* Whether to review and where, or only to commit. FAILED: a denial stopped the work, or
 * on_no_change says so. */
enum slot_stage stage_after_measure(const struct plan *plan, const struct measure_facts *facts);

/* According to the policies of the plan. */
enum slot_stage stage_after_round(const struct plan *plan, enum round_end end, bool has_git);
/* After acceptance by a policy or a human, without a verdict. */
enum slot_stage stage_after_acceptance(const struct plan *plan, bool has_git);

/* passed: by a verdict; whole: for slot 0. */
enum slot_stage stage_after_commit(const struct plan *plan, bool passed, bool whole);
enum slot_stage stage_after_merge(const struct plan *plan, bool passed);

/* After a human sends a held slot back: the lost attempt again, otherwise a fix. role: of the
 * hold's attempt; checkout: reviewers work in a checkout. */
enum slot_stage stage_after_rework(enum hold_kind kind, enum role role, bool checkout);

/* ENDING while something may still run in the stage, otherwise CANCELLED. */
enum slot_stage stage_after_cancel(enum slot_stage stage);

#endif
