/* SPDX-License-Identifier: MIT */
#include "core/next_stage.h"

#include "proto/memory.h"

/* The room is there, and set up. checked: how many checks have begun on its tree. */
static enum slot_stage stage_of_room(const struct plan *plan, int64_t checked)
{
	if (plan_checks_room(plan) && checked < (int64_t)strings_count(plan->checks))
		return SLOT_S_CHECKING;
	return plan_has_panel(plan) ? SLOT_S_PANEL : SLOT_S_REVIEWING;
}

enum slot_stage stage_before_work(enum slot_stage next, bool checks_base, bool in_room)
{
	if (next != SLOT_S_IMPLEMENTING || !checks_base)
		return next;
	return in_room ? SLOT_S_CHECKOUT : SLOT_S_CHECKING;
}

enum slot_stage first_stage(const struct plan *plan, bool claims)
{
	return claims ? SLOT_S_CLAIMING : stage_after_claim(plan);
}

enum slot_stage first_review_stage(const struct plan *plan, bool has_git)
{
	if (plan->isolation == ISOLATION_WORKTREE)
		return SLOT_S_CREATING_WORKTREE;
	return stage_after_work((int64_t)strings_count(plan->checks), has_git, plan_checks_room(plan));
}

enum slot_stage stage_after_claim(const struct plan *plan)
{
	return plan->isolation == ISOLATION_WORKTREE ? SLOT_S_CREATING_WORKTREE : SLOT_S_IMPLEMENTING;
}

/* The work tree is there, and set up. */
static enum slot_stage stage_of_worktree(const struct plan *plan, bool whole)
{
	return whole ? stage_after_work((int64_t)strings_count(plan->checks), true, plan_checks_room(plan)) :
	    SLOT_S_IMPLEMENTING;
}

enum slot_stage stage_after_worktree(const struct plan *plan, bool whole)
{
	return plan_prepares(plan) ? SLOT_S_PREPARING : stage_of_worktree(plan, whole);
}

enum slot_stage stage_after_preparing(const struct plan *plan, const struct prepare_facts *f)
{
	if (f->setup == 0 && strings_count(plan->setup) > 0 && !f->ready)
		return f->room && f->unprepared && f->prepares == PREPARES_WORK ? SLOT_S_CHECKOUT : SLOT_S_SETTING_UP;
	if (f->prepares == PREPARES_BASE)
		return SLOT_S_CHECKOUT;
	return f->room ? stage_of_room(plan, f->checked) : stage_of_worktree(plan, f->whole);
}

enum slot_stage stage_after_work(int64_t checks, bool has_git, bool in_room)
{
	if (checks > 0 && !(has_git && in_room))
		return SLOT_S_CHECKING;
	return has_git ? SLOT_S_MEASURING : SLOT_S_REVIEWING;
}

/* The same attempt again. A reviewer that may have changed its room gets a new one; a check needs
 * what the checks before it have built. */
static enum slot_stage stage_of_retry(enum role role, bool checkout)
{
	return role == ROLE_REVIEW && checkout ? SLOT_S_CHECKOUT : slot_role_stage(role);
}

static enum slot_stage stage_after_loss(const struct attempt_facts *f, enum move_reason *reason)
{
	/* A fault of the host is not a failure, whatever the policy for lost attempts. */
	if (f->on_lost == ON_LOST_FAIL && !attempt_is_cut(f))
		return SLOT_S_FAILED;
	if (f->on_lost != ON_LOST_RETRY || f->losses >= LOSSES_MAX)
		return SLOT_S_HELD;
	*reason = MOVE_RETRY;
	return stage_of_retry(f->role, f->checkout);
}

/* One failure may be chance, and a fix is paid. */
static enum slot_stage stage_after_check(const struct attempt_facts *f, enum move_reason *reason)
{
	if (f->process == PROCESS_NOT_STARTED)
		return SLOT_S_FAILED;
	if (!attempt_succeeded(f) && !f->second) {
		*reason = MOVE_RERUN;
		return SLOT_S_CHECKING;
	}
	if (!attempt_succeeded(f))
		return SLOT_S_FIXING;
	if (f->check < f->checks)
		return SLOT_S_CHECKING;
	if (f->merged)
		return SLOT_S_MERGING;
	if (f->has_git && f->checks_room)
		return SLOT_S_CHECKOUT;
	return stage_after_work(0, f->has_git, false);
}

/* A set-up that fails is no failure of an agent: a human can put right what it lacks. What fails on
 * the base may be what the work corrects. */
static enum slot_stage stage_after_setup(const struct attempt_facts *f)
{
	if (!attempt_succeeded(f))
		return f->base_room ? SLOT_S_CHECKOUT : SLOT_S_HELD;
	return f->setup < f->setups ? SLOT_S_SETTING_UP : SLOT_S_PREPARING;
}

static enum slot_stage stage_after_implement(const struct attempt_facts *f)
{
	if (f->review && !f->later)
		return stage_after_work(f->checks, f->has_git, f->checks_room);
	/* only the tree shows whether anything was done */
	if (f->has_git)
		return SLOT_S_MEASURING;
	return f->later ? SLOT_S_IMPLEMENTED : SLOT_S_PASSED;
}

enum slot_stage stage_after_attempt(const struct attempt_facts *f, enum move_reason *reason)
{
	bool implements = f->role == ROLE_IMPLEMENT, stops = (implements || f->role == ROLE_FIX) && f->stop;
	/* with git, the tree shows whether it did something despite the denial */
	bool denied = f->denied && !f->has_git && (implements ? !f->stop : f->role == ROLE_FIX);

	*reason = MOVE_DONE;
	if (f->process == PROCESS_LOST || attempt_is_cut(f))
		return stage_after_loss(f, reason);
	if (attempt_again(f) != AGAIN_NOT) {
		*reason = MOVE_RETRY;
		return stage_of_retry(f->role, f->checkout);
	}
	if (f->role == ROLE_CHECK)
		return stage_after_check(f, reason);
	if (f->role == ROLE_SETUP)
		return stage_after_setup(f);
	if (attempt_succeeded(f) && f->asks && !stops)
		return f->has_git ? SLOT_S_MEASURING : SLOT_S_HELD;
	if (!attempt_succeeded(f) || denied)
		return SLOT_S_FAILED;
	if (stops) {
		*reason = MOVE_RELEASED;
		return SLOT_S_PASSED;
	}
	switch (f->role) {
	case ROLE_REVIEW:
		return SLOT_S_VERIFYING;
	case ROLE_FIX:
		return f->items_left > 0 ? SLOT_S_FIXING :
		    stage_after_work(f->checks, f->has_git, f->checks_room);
	case ROLE_COMMIT:
		return SLOT_S_COMMITTING;
	case ROLE_IMPLEMENT:
	case ROLE_CHECK:
	case ROLE_SETUP:
	case ROLES:
		break;
	}
	return stage_after_implement(f);
}

/* After a pass: no commit, one by rld, or one by a commit agent. */
static enum slot_stage stage_after_pass(const struct plan *plan, bool has_git)
{
	static const enum slot_stage commit[COMMIT_MODES] = {
		[COMMIT_MODE_NONE] = SLOT_S_PINNING,
		[COMMIT_MODE_AUTO] = SLOT_S_COMMITTING,
		[COMMIT_MODE_AGENT] = SLOT_S_COMMIT_AGENT,
	};

	return has_git ? commit[plan->commit] : SLOT_S_PASSED;
}

enum slot_stage stage_after_measure(const struct plan *plan, const struct measure_facts *f)
{
	static const enum slot_stage commit[COMMIT_MODES] = {
		[COMMIT_MODE_NONE] = SLOT_S_PASSED,
		[COMMIT_MODE_AUTO] = SLOT_S_COMMITTING,
		[COMMIT_MODE_AGENT] = SLOT_S_COMMIT_AGENT,
	};
	bool passed = f->earlier == EARLIER_PASS, reviews = plan->review && !f->accepted && !f->later && !passed;
	bool checks = reviews && plan_checks_room(plan) && !f->checked && strings_count(plan->checks) > 0;
	/* the output of a failed check goes to a fixer in any case */
	bool no_change = measured_no_change(f) && !checks;
	bool fails = measured_outcome(f) == TASK_R_DENIED || (no_change && plan->on_no_change == ON_NO_CHANGE_FAIL);

	if (!f->accepted && fails)
		return SLOT_S_FAILED;
	if (f->earlier == EARLIER_FINDINGS && reviews)
		return SLOT_S_FIXING;
	if (reviews && !(no_change && plan->on_no_change == ON_NO_CHANGE_PASS) && plan_has_panel(plan) && !checks)
		return SLOT_S_PANEL;
	if (reviews && !(no_change && plan->on_no_change == ON_NO_CHANGE_PASS))
		return plan->workspace == REVIEW_IN_ROOM ? SLOT_S_CHECKOUT : SLOT_S_REVIEWING;
	if (f->later && !f->accepted && plan->integrate != INTEGRATE_MERGE)
		return SLOT_S_IMPLEMENTED;
	if (f->merged)
		return stage_after_merge(plan, passed);
	if (f->committed)
		return stage_after_commit(plan, passed, f->whole);
	return passed ? stage_after_pass(plan, true) : commit[plan->commit];
}

enum slot_stage stage_after_checkout(const struct plan *plan, int64_t checked, bool merged)
{
	if (merged && checked >= (int64_t)strings_count(plan->checks))
		return SLOT_S_MERGING;
	/* another run has answered its checks meanwhile: the room is not needed */
	if (stage_of_room(plan, checked) == SLOT_S_PANEL)
		return SLOT_S_PANEL;
	return plan_prepares(plan) ? SLOT_S_PREPARING : stage_of_room(plan, checked);
}

enum slot_stage stage_after_round(const struct plan *plan, enum round_end end, bool touched, bool has_git,
    bool merged)
{
	if (merged && end == ROUND_PASS)
		return SLOT_S_MERGING;
	if (end == ROUND_DISMISSED)
		return stage_after_acceptance(plan, has_git);
	switch (round_policy(plan, end, touched)) {
	case BAD_END_FAIL:
		return SLOT_S_FAILED;
	case BAD_END_HOLD:
		return SLOT_S_HELD;
	case BAD_END_ACCEPT:
	case BAD_END_KNOWN_ISSUES:
		return stage_after_acceptance(plan, has_git);
	case BAD_END_ASK:
		return stage_of_retry(ROLE_REVIEW, has_git && plan->workspace == REVIEW_IN_ROOM);
	case BAD_ENDS:
		break;
	}
	return end == ROUND_FINDINGS ? SLOT_S_FIXING : stage_after_pass(plan, has_git);
}

enum slot_stage stage_after_acceptance(const struct plan *plan, bool has_git)
{
	return plan->commit != COMMIT_MODE_NONE && has_git ? SLOT_S_MEASURING : SLOT_S_PASSED;
}

bool hold_of_pass(enum hold_kind kind)
{
	return kind == HOLD_CUT || kind == HOLD_PROTECTED;
}

enum slot_stage stage_after_approval(const struct plan *plan, enum hold_kind kind, bool has_git)
{
	return hold_of_pass(kind) ? stage_after_pass(plan, has_git) : stage_after_acceptance(plan, has_git);
}

enum slot_stage stage_after_commit(const struct plan *plan, bool passed, bool whole)
{
	if (plan->integrate == INTEGRATE_MERGE && !whole)
		return SLOT_S_MERGING;
	return passed ? SLOT_S_PINNING : SLOT_S_PASSED;
}

enum slot_stage stage_after_merge(const struct plan *plan, bool passed)
{
	if (plan->review && plan->scope == SCOPE_RUN)
		return SLOT_S_IMPLEMENTED;
	return passed ? SLOT_S_PINNING : SLOT_S_PASSED;
}

enum slot_stage stage_after_held_back(const struct plan *plan, int64_t checked)
{
	if (plan->review_merged == REVIEW_MERGED_ALWAYS)
		return stage_after_work((int64_t)strings_count(plan->checks), true, plan_checks_room(plan));
	if (!plan_checks_room(plan))
		return SLOT_S_CHECKING;
	return checked == (int64_t)strings_count(plan->checks) ? SLOT_S_MERGING : SLOT_S_CHECKOUT;
}

bool hold_repeats(enum hold_kind kind)
{
	return kind == HOLD_LOST || kind == HOLD_REVIEWER_CHANGED || kind == HOLD_SETUP || kind == HOLD_QUESTION;
}

bool hold_reviews(enum hold_kind kind)
{
	return kind == HOLD_REVIEWER || kind == HOLD_VIOLATION;
}

enum slot_stage stage_after_rework(enum hold_kind kind, enum role role, bool checkout, bool panel,
    enum slot_stage review)
{
	if (panel && hold_repeats(kind))
		return SLOT_S_PANEL;
	if (kind == HOLD_SETUP)
		return SLOT_S_PREPARING;
	if (hold_repeats(kind))
		return stage_of_retry(role, checkout);
	return hold_reviews(kind) && review != SLOT_S_HELD ? review : SLOT_S_FIXING;
}

enum slot_stage stage_after_cancel(enum slot_stage stage)
{
	bool idle = stage == SLOT_S_WAITING || stage == SLOT_S_HELD || stage == SLOT_S_IMPLEMENTED;

	return idle ? SLOT_S_CANCELLED : SLOT_S_ENDING;
}
