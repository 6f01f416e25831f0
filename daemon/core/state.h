/* SPDX-License-Identifier: MIT */
/* All enums that reach the disk or the wire, with their names: they are stored as text, so values
 * may be renumbered. */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/kinds.h"
#include "proto/state_names.h"

enum run_state { RUN_S_QUEUED, RUN_S_RUNNING, RUN_S_PAUSED, RUN_S_HELD, RUN_S_SUCCEEDED,
    RUN_S_FAILED, RUN_S_CANCELLED, RUN_STATES };
enum task_state {
	TASK_S_OPEN, TASK_S_CLAIMED,
	/* done, to be reviewed with the whole run: other tasks may build on it */
	TASK_S_IMPLEMENTED,
	TASK_S_PASSED, TASK_S_FAILED, TASK_S_CANCELLED,
	TASK_S_DONE,		/* done already, by its source */
	TASK_S_TAKEN,		/* not for this run: claimed elsewhere, or blocked */
	TASK_S_RELEASED,	/* given back because of a stop marker */
	TASK_STATES
};
enum iteration_state { ITERATION_S_RUNNING, ITERATION_S_PASSED, ITERATION_S_FAILED,
    ITERATION_S_CANCELLED, ITERATION_STATES };

/* Stages are finer than the phases shown to users; slot_phase() in core/slot.h maps them. */
enum slot_stage {
	SLOT_S_WAITING,		/* nothing has run yet */
	SLOT_S_CLAIMING,	/* the task is claimed at its source */
	SLOT_S_CREATING_WORKTREE,		/* git creates the work tree of the task */
	/* git copies ignored files into a new work tree or room, and restores tracked ones */
	SLOT_S_PREPARING,
	SLOT_S_SETTING_UP,	/* a set-up attempt runs there */
	SLOT_S_IMPLEMENTING,	/* the implement attempt runs */
	SLOT_S_CHECKING,	/* a check attempt runs */
	SLOT_S_MEASURING,	/* git records the tree and the diff to review */
	SLOT_S_CHECKOUT,	/* git makes the room of the tree under review */
	SLOT_S_REVIEWING,	/* the review attempt runs */
	/* git records the tree again, to prove that the reviewer did not change it; then the
	 * verdict is read */
	SLOT_S_VERIFYING,
	/* the reviewers of a panel are at work, each in a separate slot: slot/panel.h */
	SLOT_S_PANEL,
	SLOT_S_FIXING,		/* the fix attempt runs */
	SLOT_S_PINNING,		/* git pins the passed tree */
	SLOT_S_COMMIT_AGENT,	/* the commit attempt runs */
	SLOT_S_COMMITTING,	/* git commits the changes, or checks the commits of an agent */
	/* git merges the commits with those of other tasks; one slot of a run at a time */
	SLOT_S_MERGING,
	SLOT_S_IMPLEMENTED,	/* scope "run": done, to be reviewed with the whole run by slot 0 */
	SLOT_S_ENDING,		/* cancelled; its process is being ended */
	SLOT_S_HELD,
	SLOT_S_PASSED,
	SLOT_S_FAILED,
	SLOT_S_CANCELLED,
	SLOT_STAGES
};

enum slot_phase {
	PHASE_WAITING, PHASE_IMPLEMENTING, PHASE_CHECKING, PHASE_REVIEWING, PHASE_FIXING, PHASE_COMMITTING,
	PHASE_SETTING_UP, PHASE_HELD, PHASE_COOLING, PHASE_PASSED, PHASE_FAILED, PHASE_CANCELLED, PHASES
};

/* Teardown of a slot that has ended: what is still to be given back, in this order. */
enum slot_leaving {
	LEAVING_NOTHING,
	LEAVING_TASK,		/* the task is closed or released at its source */
	LEAVING_INSPECT,	/* look for commits that rld did not make */
	LEAVING_REFS,		/* compare what rld set for the whole run */
	LEAVING_REMOVE,		/* save and remove the work tree */
	/* delete the rest of its files: the slot is free for another task, and only the end of the
	 * run waits for this */
	LEAVING_DELETE,
	SLOT_LEAVINGS
};

enum role { ROLE_IMPLEMENT, ROLE_CHECK, ROLE_REVIEW, ROLE_FIX, ROLE_COMMIT, ROLE_SETUP, ROLES };
enum attempt_state { ATTEMPT_S_STARTING, ATTEMPT_S_RUNNING, ATTEMPT_S_EXITED, ATTEMPT_S_LOST, ATTEMPT_STATES };

/* The three results of an attempt, kept apart. *_NONE: not known yet. */
enum process_result {
	PROCESS_NONE, PROCESS_EXITED, PROCESS_SIGNALLED, PROCESS_TIMEOUT, PROCESS_IDLE,
	PROCESS_LINGERED,	/* it gave its result, did not exit, and was ended:
				 * limits.post_result */
	PROCESS_REFUSED,	/* it waited for a service that refused it, and was
				 * ended for that */
	PROCESS_CANCELLED, PROCESS_NOT_STARTED, PROCESS_LOST, PROCESS_RESULTS
};
enum provider_result {
	PROVIDER_NONE, PROVIDER_OK, PROVIDER_LIMIT, PROVIDER_THROTTLED, PROVIDER_AUTH, PROVIDER_ERROR,
	PROVIDER_UNKNOWN,	/* the attempt failed before its service answered */
	PROVIDER_RESULTS
};
enum task_result { TASK_R_NONE, TASK_R_DONE, TASK_R_DENIED, TASK_R_NO_CHANGE, TASK_R_STOP_MARKER,
    TASK_R_FAILED, TASK_RESULTS };

enum finding_state {
	FINDING_NEW, FINDING_REPEATED, FINDING_RESOLVED,
	FINDING_DISMISSED,	/* a user decided that it need not be fixed */
	/* a fixer says that it is mistaken; in no row, because the next verdict answers that */
	FINDING_DISPUTED,
	/* only those have it whose votes do not count: the others of the panel passed the work */
	FINDING_OUTVOTED,
	FINDING_STATES
};
enum on_lost { ON_LOST_HOLD, ON_LOST_RETRY, ON_LOST_FAIL, ON_LOST_CHOICES };

/* What a bad end of a review leads to: no evidence, a failed reviewer, or remaining findings. ASK:
 * only for no evidence. */
enum bad_end { BAD_END_FAIL, BAD_END_HOLD, BAD_END_ACCEPT, BAD_END_KNOWN_ISSUES, BAD_END_ASK, BAD_ENDS };
/* The agent that fixes findings. */
enum fixer { FIXER_FRESH, FIXER_IMPLEMENTER, FIXER_CORRECTOR, FIXER_RESUME, FIXER_PER_FINDING, FIXERS };
enum scope { SCOPE_TASK, SCOPE_RUN, SCOPES };
enum commit_mode { COMMIT_MODE_NONE, COMMIT_MODE_AUTO, COMMIT_MODE_AGENT, COMMIT_MODES };
/* *_AUTO: plan_settle() decides once the workdir is known. */
enum isolation { ISOLATION_AUTO, ISOLATION_SHARED, ISOLATION_WORKTREE, ISOLATIONS };
enum integrate { INTEGRATE_AUTO, INTEGRATE_NONE, INTEGRATE_MERGE, INTEGRATES };
enum on_failure { ON_FAILURE_STOP, ON_FAILURE_CONTINUE, ON_FAILURES };
/* The party that chooses the task of a slot. */
enum assign { ASSIGN_DAEMON, ASSIGN_AGENT, ASSIGNS };
enum claim_state {
	CLAIM_S_HELD,		/* an unfinished run works on it */
	CLAIM_S_DONE,		/* passed; its source cannot record it */
	CLAIM_S_FREE,		/* given back */
	CLAIM_STATES
};
/* What exhausts an account. */
enum cooldown_kind {
	COOLDOWN_LIMIT,		/* reported by its service */
	COOLDOWN_BUDGET,	/* the day's budget is spent */
	COOLDOWN_OPERATOR,	/* an operator set it */
	COOLDOWN_KINDS
};
/* The party that accepted work without a passing verdict. */
enum accepted { ACCEPTED_BY_NONE, ACCEPTED_BY_POLICY, ACCEPTED_BY_HUMAN, ACCEPTED_WITH_ISSUES, ACCEPTEDS };
/* What to do with an implementer that changed nothing without declaring it. */
enum on_no_change { ON_NO_CHANGE_REVIEW, ON_NO_CHANGE_FAIL, ON_NO_CHANGE_PASS, ON_NO_CHANGES };
enum review_place { REVIEW_IN_PLACE, REVIEW_IN_ROOM, REVIEW_PLACES };
enum room_of { ROOM_CLONE, ROOM_REUSE, ROOMS };
enum judged_in { JUDGED_UNSAID, JUDGED_IN_PLACE, JUDGED_IN_CLEAN_ROOM, JUDGED_IN_REUSED_ROOM, JUDGED_INS };
/* What the checks of a run say about its base. */
enum check_on_base { CHECK_ON_BASE_SKIP, CHECK_ON_BASE_WARN, CHECK_ON_BASE_REQUIRE, CHECK_ON_BASES };
/* How far a slot has checked its base. The numbers are stored. */
enum base_state {
	BASE_UNKNOWN, BASE_CHECKING, BASE_GREEN, BASE_RED,
	BASE_COMPARING,		/* a check that is red there runs in the user's directory */
	BASE_AWAITED		/* the baseline is to say whether its failed check is red there */
};
/* The room of a slot: that of its work; one of the base, which is prepared for later rooms; or that
 * of its work, after a try to prepare one. The numbers are stored. */
enum prepares_state { PREPARES_WORK, PREPARES_BASE, PREPARES_WORK_AGAIN };
enum sandbox { SANDBOX_OFF, SANDBOX_TRY, SANDBOX_REQUIRE, SANDBOXES };
/* What to do with a pass when the prompt did not show all of the diff. */
/* Which failed checks count: all, or those that were green on the base. */
enum checks_mode { CHECKS_ALL, CHECKS_NEW_FAILURES, CHECKS_MODES };

/* When the result of a merge is reviewed: if it had to be fixed, or whenever it is a new tree. */
enum review_merged { REVIEW_MERGED_ON_CONFLICT, REVIEW_MERGED_ALWAYS, REVIEW_MERGED_CHOICES };
/* How far the merge of a slot's commits has come. */
enum slot_merge {
	MERGE_NOT,
	MERGE_JUDGING,		/* it gave a new tree, and the branch waits for the word on that */
	MERGE_SENT_BACK,	/* that was not green: a fixer or a human has it */
	MERGE_UNCHANGED,	/* merged; the tree is the one that was judged before */
	MERGE_CHECKED,		/* merged; the new tree was judged */
	MERGE_UNCHECKED,	/* merged; it was not */
	/* it was red, perhaps by what it was merged onto: see core/train.h */
	MERGE_SUSPECTED,
	MERGE_AGAIN,		/* what it was merged onto was red: it is merged once more */
	/* merged; judged was the tree of a later task that was merged onto it */
	MERGE_TOGETHER,
	SLOT_MERGES
};

enum on_question { ON_QUESTION_IGNORE, ON_QUESTION_HOLD, ON_QUESTIONS };
enum on_cut { ON_CUT_WARN, ON_CUT_HOLD, ON_CUTS };
/* What a review without issues is if the reviewer did not end it with the line of its prompt. */
enum silence { SILENCE_PASS, SILENCE_VIOLATION, SILENCES };
enum strictness { STRICTNESS_SAME, STRICTNESS_BY_ROUND, STRICTNESSES };

/* Warnings that a run gives once. A set of them is stored: do not change the numbers. */
enum warning_kind {
	WARNING_WALL = 1 << 0,		/* most of max_wall is over */
	WARNING_TIME_ZONE = 1 << 1	/* a reset time names an unknown time zone */
};

enum product_kind {
	PRODUCT_BASE,		/* what the run or the slot began with */
	PRODUCT_WORK,		/* what agents made of it */
	PRODUCT_MERGED,		/* that, on the branch with the results of the run */
	PRODUCT_RESULT,		/* what passed */
	PRODUCT_KINDS
};
/* VOTE: of a reviewer of a panel, whose decision is REVIEW. */
enum evidence_kind { EVIDENCE_CHECK, EVIDENCE_REVIEW, EVIDENCE_HUMAN, EVIDENCE_VOTE, EVIDENCE_KINDS };
enum evidence_result {
	EVIDENCE_GREEN, EVIDENCE_RED,
	EVIDENCE_FLAKY,		/* red, then green on the same product */
	EVIDENCE_VOID,		/* it gave no judgement */
	EVIDENCE_RESULTS
};

enum hold_kind { HOLD_LOST, HOLD_EXHAUSTED, HOLD_STALLED, HOLD_VIOLATION, HOLD_REVIEWER,
    HOLD_CONFLICT, HOLD_REFUSED, HOLD_REVIEWER_CHANGED, HOLD_CUT, HOLD_REF_MOVED, HOLD_SETUP,
    HOLD_PROTECTED, HOLD_DISMISSED, HOLD_QUESTION, HOLD_KINDS };
enum hold_state {
	HOLD_S_OPEN, HOLD_S_APPROVED, HOLD_S_REJECTED,
	HOLD_S_REWORK,		/* decided; the slot continues when the run has a permit */
	HOLD_S_REWORKED, HOLD_S_CANCELLED, HOLD_STATES
};

extern const struct state_names run_state_names, task_state_names, iteration_state_names,
    slot_stage_names, slot_phase_names,
    role_names, attempt_state_names, process_result_names, provider_result_names, task_result_names,
    finding_state_names, on_lost_names, bad_end_names, on_malformed_names, fixer_names, scope_names, commit_mode_names,
    review_place_names, room_of_names, judged_in_names, sandbox_names, on_cut_names, on_question_names, silence_names,
    check_on_base_names, checks_mode_names,
    review_merged_names, slot_merge_names,
    strictness_names, hold_kind_names, hold_state_names, slot_leaving_names, isolation_names,
    integrate_names, on_failure_names,
    assign_names, claim_state_names, cooldown_kind_names, on_no_change_names, accepted_names,
    product_kind_names, evidence_kind_names, evidence_result_names;

/* True for succeeded, failed, cancelled. */
bool run_state_is_end(enum run_state state);

#endif
