/* SPDX-License-Identifier: MIT */
#include "core/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Names of an enum with exactly count values. */
#define NAMES_SINCE(id, title, total, older, ...)						\
	static const char *const id##_list[] = { __VA_ARGS__ };					\
	static_assert(sizeof(id##_list) / sizeof(id##_list[0]) == (total), \
	    title " has a value without a name"); \
	const struct state_names id##_names = { title, id##_list, (total), older }
#define NAMES(id, title, total, ...) NAMES_SINCE(id, title, total, NULL, __VA_ARGS__)

NAMES(run_state, "run state", RUN_STATES,
    [RUN_S_QUEUED] = "queued",
    [RUN_S_RUNNING] = "running",
    [RUN_S_PAUSED] = "paused",
    [RUN_S_HELD] = "held",
    [RUN_S_SUCCEEDED] = "succeeded",
    [RUN_S_FAILED] = "failed",
    [RUN_S_CANCELLED] = "cancelled");

NAMES(task_state, "task state", TASK_STATES,
    [TASK_S_OPEN] = "open",
    [TASK_S_CLAIMED] = "claimed",
    [TASK_S_IMPLEMENTED] = "implemented",
    [TASK_S_PASSED] = "passed",
    [TASK_S_FAILED] = "failed",
    [TASK_S_CANCELLED] = "cancelled",
    [TASK_S_DONE] = "done",
    [TASK_S_TAKEN] = "taken",
    [TASK_S_RELEASED] = "released");

NAMES(iteration_state, "iteration state", ITERATION_STATES,
    [ITERATION_S_RUNNING] = "running",
    [ITERATION_S_PASSED] = "passed",
    [ITERATION_S_FAILED] = "failed",
    [ITERATION_S_CANCELLED] = "cancelled");

NAMES(slot_stage, "slot stage", SLOT_STAGES,
    [SLOT_S_WAITING] = "waiting",
    [SLOT_S_CLAIMING] = "claiming",
    [SLOT_S_CREATING_WORKTREE] = "creating-worktree",
    [SLOT_S_PREPARING] = "preparing",
    [SLOT_S_SETTING_UP] = "setting-up",
    [SLOT_S_IMPLEMENTING] = "implementing",
    [SLOT_S_CHECKING] = "checking",
    [SLOT_S_MEASURING] = "measuring",
    [SLOT_S_CHECKOUT] = "checkout",
    [SLOT_S_REVIEWING] = "reviewing",
    [SLOT_S_VERIFYING] = "verifying",
    [SLOT_S_PANEL] = "panel",
    [SLOT_S_FIXING] = "fixing",
    [SLOT_S_PINNING] = "pinning",
    [SLOT_S_COMMIT_AGENT] = "commit-agent",
    [SLOT_S_COMMITTING] = "committing",
    [SLOT_S_MERGING] = "merging",
    [SLOT_S_IMPLEMENTED] = "implemented",
    [SLOT_S_ENDING] = "ending",
    [SLOT_S_HELD] = "held",
    [SLOT_S_PASSED] = "passed",
    [SLOT_S_FAILED] = "failed",
    [SLOT_S_CANCELLED] = "cancelled");

NAMES(slot_phase, "slot phase", PHASES,
    [PHASE_WAITING] = "waiting",
    [PHASE_IMPLEMENTING] = "implementing",
    [PHASE_CHECKING] = "checking",
    [PHASE_REVIEWING] = "reviewing",
    [PHASE_FIXING] = "fixing",
    [PHASE_COMMITTING] = "committing",
    [PHASE_SETTING_UP] = "setting-up",
    [PHASE_HELD] = "held",
    [PHASE_COOLING] = "cooling",
    [PHASE_PASSED] = "passed",
    [PHASE_FAILED] = "failed",
    [PHASE_CANCELLED] = "cancelled");

NAMES(role, "role", ROLES,
    [ROLE_IMPLEMENT] = "implement",
    [ROLE_CHECK] = "check",
    [ROLE_REVIEW] = "review",
    [ROLE_FIX] = "fix",
    [ROLE_COMMIT] = "commit",
    [ROLE_SETUP] = "setup");

NAMES(attempt_state, "attempt state", ATTEMPT_STATES,
    [ATTEMPT_S_STARTING] = "starting",
    [ATTEMPT_S_RUNNING] = "running",
    [ATTEMPT_S_EXITED] = "exited",
    [ATTEMPT_S_LOST] = "lost");

NAMES(process_result, "process result", PROCESS_RESULTS,
    [PROCESS_NONE] = "none",
    [PROCESS_EXITED] = "exited",
    [PROCESS_SIGNALLED] = "signalled",
    [PROCESS_TIMEOUT] = "timeout",
    [PROCESS_IDLE] = "idle",
    [PROCESS_LINGERED] = "lingered",
    [PROCESS_REFUSED] = "refused",
    [PROCESS_CANCELLED] = "cancelled",
    [PROCESS_NOT_STARTED] = "not-started",
    [PROCESS_LOST] = "lost");

NAMES(provider_result, "provider result", PROVIDER_RESULTS,
    [PROVIDER_NONE] = "none",
    [PROVIDER_OK] = "ok",
    [PROVIDER_LIMIT] = "limit",
    [PROVIDER_THROTTLED] = "throttled",
    [PROVIDER_AUTH] = "auth",
    [PROVIDER_ERROR] = "error",
    [PROVIDER_UNKNOWN] = "unknown");

NAMES(task_result, "task result", TASK_RESULTS,
    [TASK_R_NONE] = "none",
    [TASK_R_DONE] = "done",
    [TASK_R_DENIED] = "denied",
    [TASK_R_NO_CHANGE] = "no-change",
    [TASK_R_STOP_MARKER] = "stop-marker",
    [TASK_R_FAILED] = "failed");

NAMES(finding_state, "finding state", FINDING_STATES,
    [FINDING_NEW] = "new",
    [FINDING_REPEATED] = "repeated",
    [FINDING_RESOLVED] = "resolved",
    [FINDING_DISMISSED] = "dismissed",
    [FINDING_DISPUTED] = "disputed",
    [FINDING_OUTVOTED] = "outvoted");

NAMES(product_kind, "product kind", PRODUCT_KINDS,
    [PRODUCT_BASE] = "base",
    [PRODUCT_WORK] = "work",
    [PRODUCT_MERGED] = "merged",
    [PRODUCT_RESULT] = "result");

NAMES(evidence_kind, "evidence kind", EVIDENCE_KINDS,
    [EVIDENCE_CHECK] = "check",
    [EVIDENCE_REVIEW] = "review",
    [EVIDENCE_HUMAN] = "human",
    [EVIDENCE_VOTE] = "vote");

NAMES(evidence_result, "evidence result", EVIDENCE_RESULTS,
    [EVIDENCE_GREEN] = "green",
    [EVIDENCE_RED] = "red",
    [EVIDENCE_FLAKY] = "flaky",
    [EVIDENCE_VOID] = "none");

NAMES(on_lost, "on_lost", ON_LOST_CHOICES,
    [ON_LOST_HOLD] = "hold",
    [ON_LOST_RETRY] = "retry",
    [ON_LOST_FAIL] = "fail");

NAMES(bad_end, "bad end", BAD_END_ASK,
    [BAD_END_FAIL] = "fail",
    [BAD_END_HOLD] = "hold",
    [BAD_END_ACCEPT] = "accept",
    [BAD_END_KNOWN_ISSUES] = "known_issues");

NAMES(on_malformed, "malformed answer", BAD_ENDS,
    [BAD_END_FAIL] = "fail",
    [BAD_END_HOLD] = "hold",
    [BAD_END_ACCEPT] = "accept",
    [BAD_END_KNOWN_ISSUES] = "known_issues",
    [BAD_END_ASK] = "ask");

NAMES(fixer, "fixer", FIXERS,
    [FIXER_FRESH] = "fresh",
    [FIXER_IMPLEMENTER] = "implementer",
    [FIXER_CORRECTOR] = "corrector",
    [FIXER_RESUME] = "resume",
    [FIXER_PER_FINDING] = "per_finding");

NAMES(scope, "scope", SCOPES,
    [SCOPE_TASK] = "task",
    [SCOPE_RUN] = "run");

NAMES(commit_mode, "commit", COMMIT_MODES,
    [COMMIT_MODE_NONE] = "none",
    [COMMIT_MODE_AUTO] = "auto",
    [COMMIT_MODE_AGENT] = "agent");

NAMES(slot_leaving, "slot leaving", SLOT_LEAVINGS,
    [LEAVING_NOTHING] = "nothing",
    [LEAVING_TASK] = "task",
    [LEAVING_INSPECT] = "look",
    [LEAVING_REFS] = "refs",
    [LEAVING_REMOVE] = "clear",
    [LEAVING_DELETE] = "delete");

NAMES(isolation, "isolation", ISOLATIONS,
    [ISOLATION_AUTO] = "auto",
    [ISOLATION_SHARED] = "shared",
    [ISOLATION_WORKTREE] = "worktree");

NAMES(integrate, "integrate", INTEGRATES,
    [INTEGRATE_AUTO] = "auto",
    [INTEGRATE_NONE] = "none",
    [INTEGRATE_MERGE] = "merge");

NAMES(on_failure, "on_failure", ON_FAILURES,
    [ON_FAILURE_STOP] = "stop",
    [ON_FAILURE_CONTINUE] = "continue");

NAMES(assign, "assign", ASSIGNS,
    [ASSIGN_DAEMON] = "daemon",
    [ASSIGN_AGENT] = "agent");

NAMES(claim_state, "claim state", CLAIM_STATES,
    [CLAIM_S_HELD] = "held",
    [CLAIM_S_DONE] = "done",
    [CLAIM_S_FREE] = "free");

NAMES(cooldown_kind, "cooldown kind", COOLDOWN_KINDS,
    [COOLDOWN_LIMIT] = "limit",
    [COOLDOWN_BUDGET] = "budget",
    [COOLDOWN_OPERATOR] = "operator");

NAMES(accepted, "accepted", ACCEPTEDS,
    [ACCEPTED_BY_NONE] = NULL,
    [ACCEPTED_BY_POLICY] = "policy",
    [ACCEPTED_BY_HUMAN] = "human",
    [ACCEPTED_WITH_ISSUES] = "known-issues");

NAMES(on_no_change, "on_no_change", ON_NO_CHANGES,
    [ON_NO_CHANGE_REVIEW] = "review",
    [ON_NO_CHANGE_FAIL] = "fail",
    [ON_NO_CHANGE_PASS] = "pass");

NAMES_SINCE(review_place, "workspace", REVIEW_PLACES, "snapshot",
    [REVIEW_IN_PLACE] = "same",
    [REVIEW_IN_ROOM] = "room");

NAMES(room_of, "room", ROOMS,
    [ROOM_CLONE] = "clone",
    [ROOM_REUSE] = "reuse");

NAMES(judged_in, "room", JUDGED_INS,
    [JUDGED_UNSAID] = NULL,
    [JUDGED_IN_PLACE] = "same",
    [JUDGED_IN_CLEAN_ROOM] = "clone",
    [JUDGED_IN_REUSED_ROOM] = "reuse");

NAMES(sandbox, "sandbox", SANDBOXES,
    [SANDBOX_OFF] = "off",
    [SANDBOX_TRY] = "try",
    [SANDBOX_REQUIRE] = "require");

NAMES(check_on_base, "check_on_base", CHECK_ON_BASES,
    [CHECK_ON_BASE_SKIP] = "skip",
    [CHECK_ON_BASE_WARN] = "warn",
    [CHECK_ON_BASE_REQUIRE] = "require");

NAMES(checks_mode, "checks_mode", CHECKS_MODES,
    [CHECKS_ALL] = "all",
    [CHECKS_NEW_FAILURES] = "new_failures");

NAMES(slot_merge, "merge", SLOT_MERGES,
    [MERGE_JUDGING] = "judging",
    [MERGE_SENT_BACK] = "sent_back",
    [MERGE_UNCHANGED] = "unchanged",
    [MERGE_CHECKED] = "checked",
    [MERGE_UNCHECKED] = "not_checked",
    [MERGE_SUSPECTED] = "suspected",
    [MERGE_AGAIN] = "again",
    [MERGE_TOGETHER] = "checked_together");

NAMES(review_merged, "review_merged", REVIEW_MERGED_CHOICES,
    [REVIEW_MERGED_ON_CONFLICT] = "on_conflict",
    [REVIEW_MERGED_ALWAYS] = "always");

NAMES(on_question, "on_question", ON_QUESTIONS,
    [ON_QUESTION_IGNORE] = "ignore",
    [ON_QUESTION_HOLD] = "hold");

NAMES(on_cut, "on_cut", ON_CUTS,
    [ON_CUT_WARN] = "warn",
    [ON_CUT_HOLD] = "hold");

NAMES(silence, "silence", SILENCES,
    [SILENCE_PASS] = "pass",
    [SILENCE_VIOLATION] = "violation");

NAMES(strictness, "strictness", STRICTNESSES,
    [STRICTNESS_SAME] = "same",
    [STRICTNESS_BY_ROUND] = "by_round");

NAMES(hold_kind, "hold kind", HOLD_KINDS,
    [HOLD_LOST] = "lost",
    [HOLD_EXHAUSTED] = "exhausted",
    [HOLD_STALLED] = "stalled",
    [HOLD_VIOLATION] = "violation",
    [HOLD_REVIEWER] = "reviewer-error",
    [HOLD_CONFLICT] = "conflict",
    [HOLD_REFUSED] = "commit-refused",
    [HOLD_REVIEWER_CHANGED] = "reviewer-changed",
    [HOLD_CUT] = "cut",
    [HOLD_REF_MOVED] = "ref-moved",
    [HOLD_SETUP] = "setup",
    [HOLD_PROTECTED] = "protected",
    [HOLD_DISMISSED] = "dismissed",
    [HOLD_QUESTION] = "question");

NAMES(hold_state, "hold state", HOLD_STATES,
    [HOLD_S_OPEN] = "open",
    [HOLD_S_APPROVED] = "approved",
    [HOLD_S_REJECTED] = "rejected",
    [HOLD_S_REWORK] = "rework",
    [HOLD_S_REWORKED] = "reworked",
    [HOLD_S_CANCELLED] = "cancelled");

bool run_state_is_end(enum run_state state)
{
	return state == RUN_S_SUCCEEDED || state == RUN_S_FAILED || state == RUN_S_CANCELLED;
}
