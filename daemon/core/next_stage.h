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

/* Before it implements, the slot may have to check its base: next, or a stage for that. */
enum slot_stage stage_before_work(enum slot_stage next, bool checks_base, bool in_room);

/* First stage of a slot. claims: the task must be claimed at its source first. */
enum slot_stage first_stage(const struct plan *plan, bool claims);
/* First stage of slot 0, which reviews the whole run. */
enum slot_stage first_review_stage(const struct plan *plan, bool has_git);

enum slot_stage stage_after_claim(const struct plan *plan);
/* whole: for slot 0. */
enum slot_stage stage_after_worktree(const struct plan *plan, bool whole);

/* The work of a round is done, but neither measured nor checked yet. checks: their number;
 * in_room: by plan_checks_room(). */
enum slot_stage stage_after_work(int64_t checks, bool has_git, bool in_room);

/* FIXING after a failed check, FAILED when a reviewer gave no answer: for both the policy of the
 * plan decides, see stage_after_round(). */
enum slot_stage stage_after_attempt(const struct attempt_facts *facts, enum move_reason *reason);

/* Whether to check and review and where, or only to commit, or to continue where an earlier run
 * ended. FAILED: a denial stopped the work, or
 * on_no_change says so. Asked again when the checks of a measured tree have passed. */
enum slot_stage stage_after_measure(const struct plan *plan, const struct measure_facts *facts);

/* The room is there. checked: how many checks have begun on this tree; merged: after the last one,
 * the merge continues. */
enum slot_stage stage_after_checkout(const struct plan *plan, int64_t checked, bool merged);

struct prepare_facts {
	int64_t setup;			/* set-up commands that have begun */
	bool room;			/* it is a room, not a work tree */
	bool whole;			/* of slot 0 */
	bool ready;			/* a prepared room was cloned: nothing to set up */
	bool unprepared;		/* there is none to clone, and it is not one of the base */
	enum prepares_state prepares;
	int64_t checked;		/* checks that have begun on the tree of the room */
};

/* Ignored files are in the work tree or room; or its set-up is complete. CHECKOUT: of a room of the
 * base that is to be prepared; after that, of the work again. */
enum slot_stage stage_after_preparing(const struct plan *plan, const struct prepare_facts *facts);

/* According to the policies of the plan. touched: see round_policy(); merged: a merge waits for a
 * pass. */
enum slot_stage stage_after_round(const struct plan *plan, enum round_end end, bool touched, bool has_git,
    bool merged);
/* Whether a verdict passed what is held: then the approval leaves it a pass. */
bool hold_of_pass(enum hold_kind kind);
/* After the approval of a hold. */
enum slot_stage stage_after_approval(const struct plan *plan, enum hold_kind kind, bool has_git);
/* After acceptance by a policy or a human, without a verdict. */
enum slot_stage stage_after_acceptance(const struct plan *plan, bool has_git);

/* passed: by a verdict; whole: for slot 0. */
enum slot_stage stage_after_commit(const struct plan *plan, bool passed, bool whole);
enum slot_stage stage_after_merge(const struct plan *plan, bool passed);
/* The merge gave a new tree, which is to be judged. checked: how many of its checks are known to be
 * green. */
enum slot_stage stage_after_held_back(const struct plan *plan, int64_t checked);

/* Rework runs the attempt of a hold of this kind again; of other kinds, it begins a fix ... */
bool hold_repeats(enum hold_kind kind);
/* ... or without a message for a fixer, a review: the reviewer of such a hold has found nothing. */
bool hold_reviews(enum hold_kind kind);
/* After a human sends a held slot back. role: of the hold's attempt; checkout: reviewers work in a
 * checkout; panel: that attempt was of one of its reviewers. review: the stage that begins a
 * review, if one is asked for, else HELD. */
enum slot_stage stage_after_rework(enum hold_kind kind, enum role role, bool checkout, bool panel,
    enum slot_stage review);

/* ENDING while something may still run in the stage, otherwise CANCELLED. */
enum slot_stage stage_after_cancel(enum slot_stage stage);

#endif
