/* SPDX-License-Identifier: MIT */
/* What ended attempts, measured trees and read verdicts mean, over all their facts; findings from
 * round to round; the chain of the review log. */
#include <string.h>

#include "core.h"
#include "core/chain.h"
#include "core/findings.h"
#include "core/next_stage.h"
#include "core/profile.h"
#include "core/review.h"
#include "proto/memory.h"

static const struct attempt_facts good = {
	.role = ROLE_IMPLEMENT, .process = PROCESS_EXITED, .provider = PROVIDER_OK, .has_git = true,
	.review = true, .on_lost = ON_LOST_HOLD,
};

/* What the specification says about one attempt. Section 6: exit 0 with is_error, or with denied
 * permissions and no change, is no success; a committer's evidence is what git finds afterwards.
 * Section 5: a stop marker in the text of an implementer or a fixer releases the task. Section 7: a
 * check that fails twice goes to the fixer; a program that reviews says "findings" by status 1.
 * Section 10: on_lost holds for every role, and gives up after three losses. */
static enum slot_stage wanted_stage(const struct attempt_facts *f, enum move_reason *reason)
{
	static const enum slot_stage own[ROLES] = {
		[ROLE_IMPLEMENT] = SLOT_S_IMPLEMENTING, [ROLE_CHECK] = SLOT_S_CHECKING,
		[ROLE_REVIEW] = SLOT_S_REVIEWING,
		[ROLE_FIX] = SLOT_S_FIXING, [ROLE_COMMIT] = SLOT_S_COMMIT_AGENT, [ROLE_SETUP] = SLOT_S_SETTING_UP,
	};
	bool answered = f->status == 0 || (f->role == ROLE_REVIEW && f->by_status && f->status == 1);
	bool gone = f->process == PROCESS_LINGERED || (f->process == PROCESS_EXITED && answered);
	bool ok = gone && !f->is_error && f->provider == PROVIDER_OK;
	/* who has found nothing to do needed no permission */
	bool evidence = ok &&
	    (!f->denied || f->has_git || f->role == ROLE_COMMIT || (f->role == ROLE_IMPLEMENT && f->stop));
	/* checks are about what was measured, where there is git; older runs measure after them */
	enum slot_stage review = f->has_git ? SLOT_S_MEASURING : SLOT_S_REVIEWING,
	    checked = f->checks > 0 && !(f->has_git && f->checks_room) ? SLOT_S_CHECKING : review;

	if (f->role == ROLE_CHECK && f->has_git && f->checks_room)
		review = SLOT_S_CHECKOUT;

	*reason = MOVE_DONE;
	if (f->process == PROCESS_LOST && f->on_lost == ON_LOST_FAIL)
		return SLOT_S_FAILED;
	if (f->process == PROCESS_LOST && f->on_lost == ON_LOST_RETRY && f->losses < 3) {
		*reason = MOVE_RETRY;
		return f->role == ROLE_REVIEW && f->checkout ? SLOT_S_CHECKOUT : own[f->role];
	}
	if (f->process == PROCESS_LOST)
		return SLOT_S_HELD;
	/* whatever becomes of a set-up, no agent has failed */
	if (f->role == ROLE_SETUP)
		return !ok ? f->base_room ? SLOT_S_CHECKOUT : SLOT_S_HELD :
		    f->setup < f->setups ? SLOT_S_SETTING_UP : SLOT_S_PREPARING;
	if (f->role == ROLE_CHECK && f->process == PROCESS_NOT_STARTED)
		return SLOT_S_FAILED;
	if (f->role == ROLE_CHECK && !ok && !f->second) {
		*reason = MOVE_RERUN;
		return SLOT_S_CHECKING;
	}
	if (f->role == ROLE_CHECK && !ok)
		return SLOT_S_FIXING;
	if (f->role == ROLE_CHECK)
		return f->check < f->checks ? SLOT_S_CHECKING : review;
	if (f->role == ROLE_REVIEW && ok)
		return SLOT_S_VERIFYING;
	if (f->role == ROLE_REVIEW || !evidence)
		return SLOT_S_FAILED;
	if (f->role == ROLE_COMMIT)
		return SLOT_S_COMMITTING;
	if (f->stop) {
		*reason = MOVE_RELEASED;
		return SLOT_S_PASSED;
	}
	if (f->role == ROLE_FIX)
		return f->items_left > 0 ? SLOT_S_FIXING : checked;
	if (f->review && !f->later)
		return checked;
	/* exit 0 is no proof that anything was done: where there is git it is asked */
	if (f->has_git)
		return SLOT_S_MEASURING;
	return f->later ? SLOT_S_IMPLEMENTED : SLOT_S_PASSED;
}

static void expect_stage(const struct attempt_facts *f)
{
	bool answered = f->status == 0 || (f->role == ROLE_REVIEW && f->by_status && f->status == 1);
	bool gone = f->process == PROCESS_LINGERED || (f->process == PROCESS_EXITED && answered);
	bool ok = gone && !f->is_error && f->provider == PROVIDER_OK;
	enum move_reason reason, wanted_reason;
	enum slot_stage stage = stage_after_attempt(f, &reason), wanted = wanted_stage(f, &wanted_reason);

	if (stage != wanted || reason != wanted_reason || attempt_succeeded(f) != ok ||
	    attempt_outcome(f) != (!ok ? TASK_R_FAILED : f->denied ? TASK_R_DENIED : TASK_R_DONE))
		ck_abort_msg("%s, process %s, status %d, error %d, provider %s, denied %d, git %d, "
		    "review %d, later %d, stop %d, by status %d, checkout %d, "
		    "check %d of %d, items %d, on_lost %s, losses %d: %s (%s), expected %s (%s)",
		    state_name(&role_names, (int)f->role),
		    state_name(&process_result_names, (int)f->process), (int)f->status, f->is_error,
		    state_name(&provider_result_names, (int)f->provider),
		    f->denied, f->has_git, f->review, f->later, f->stop, f->by_status, f->checkout,
		    (int)f->check, (int)f->checks, (int)f->items_left,
		    state_name(&on_lost_names, (int)f->on_lost), (int)f->losses,
		    state_name(&slot_stage_names, (int)stage), move_reason_name(reason),
		    state_name(&slot_stage_names, (int)wanted), move_reason_name(wanted_reason));
}

/* Digits of n to the bases of all facts: every combination once. */
static unsigned digit(unsigned *n, unsigned base)
{
	unsigned d = *n % base;

	*n /= base;
	return d;
}

START_TEST(every_attempt_leads_to_one_stage)
{
	static const struct { int64_t checks, check; } at[] = { { 0, 0 }, { 2, 1 }, { 2, 2 } };
	unsigned n, i;

	for (i = 0, n = 0; n == 0; i++) {
		struct attempt_facts f = { 0 };

		n = i;
		f.role = (enum role)digit(&n, ROLES);
		f.process = (enum process_result)digit(&n, PROCESS_RESULTS);
		f.status = digit(&n, 3);
		f.provider = (enum provider_result)digit(&n, PROVIDER_RESULTS);
		f.is_error = digit(&n, 2);
		f.denied = digit(&n, 2);
		f.has_git = digit(&n, 2);
		f.review = digit(&n, 2);
		f.later = digit(&n, 2) && f.review;
		f.stop = digit(&n, 2);
		f.by_status = digit(&n, 2);
		f.checkout = digit(&n, 2);
		f.checks_room = digit(&n, 2);
		f.second = digit(&n, 2);
		f.items_left = digit(&n, 2);
		f.on_lost = (enum on_lost)digit(&n, ON_LOST_CHOICES);
		f.losses = 2 + digit(&n, 2);
		f.checks = at[n % 3].checks;
		f.setups = f.checks;
		f.base_room = f.role == ROLE_SETUP && n % 2 == 0;
		f.check = f.setup = at[digit(&n, 3)].check;
		if (n == 0)
			expect_stage(&f);
	}
	ck_assert_uint_eq(i - 1, ROLES * PROCESS_RESULTS * 3 * PROVIDER_RESULTS * 2048 * ON_LOST_CHOICES * 2 * 3);
}
END_TEST

START_TEST(where_work_goes)
{
	for (int first = 0; first < 2; first++) {
		ck_assert_int_eq(stage_after_work(0, true, first), SLOT_S_MEASURING);
		ck_assert_int_eq(stage_after_work(0, false, first), SLOT_S_REVIEWING);
		ck_assert_int_eq(stage_after_work(1, true, first), first ? SLOT_S_MEASURING : SLOT_S_CHECKING);
		ck_assert_int_eq(stage_after_work(3, false, first), SLOT_S_CHECKING);
	}
}
END_TEST

/* A room is for the checks of its tree, then, made anew, for the reviewer. Older runs have checked
 * before. */
START_TEST(what_a_room_is_for)
{
	char *two[] = { (char *)"make", (char *)"make test", NULL };

	for (int first = 0; first < 2; first++)
		for (int checks = 0; checks < 2; checks++)
			for (int64_t checked = 0; checked <= 2; checked++) {
				struct plan plan = { .checks = checks ? two : NULL, .checks_in_room = first,
				    .workspace = REVIEW_IN_ROOM };

				ck_assert_int_eq(stage_after_checkout(&plan, checked, false),
				    first && checks && checked < 2 ? SLOT_S_CHECKING : SLOT_S_REVIEWING);
			}
}
END_TEST

/* The source is told first, then the work tree is made, where there are these; slot 0 has
 * nothing to implement. */
START_TEST(where_a_slot_begins)
{
	char *one[] = { (char *)"make", NULL };

	for (int isolation = 0; isolation < ISOLATIONS; isolation++)
		for (int checks = 0; checks < 2; checks++)
			for (int git = 0; git < 4; git++) {
				struct plan plan = { .isolation = (enum isolation)isolation,
				    .checks = checks ? one : NULL, .checks_in_room = git / 2,
				    .workspace = REVIEW_IN_ROOM };
				bool worktree = isolation == ISOLATION_WORKTREE;
				enum slot_stage work = checks && git != 3 ? SLOT_S_CHECKING : git % 2 ?
				    SLOT_S_MEASURING : SLOT_S_REVIEWING;

				ck_assert_int_eq(first_stage(&plan, true), SLOT_S_CLAIMING);
				ck_assert_int_eq(first_stage(&plan, false),
				    worktree ? SLOT_S_CREATING_WORKTREE : SLOT_S_IMPLEMENTING);
				ck_assert_int_eq(stage_after_claim(&plan),
				    worktree ? SLOT_S_CREATING_WORKTREE : SLOT_S_IMPLEMENTING);
				ck_assert_int_eq(first_review_stage(&plan, git % 2),
				    worktree ? SLOT_S_CREATING_WORKTREE : work);
				ck_assert_int_eq(stage_after_worktree(&plan, true),
				    checks && git / 2 == 0 ? SLOT_S_CHECKING : SLOT_S_MEASURING);
				ck_assert_int_eq(stage_after_worktree(&plan, false), SLOT_S_IMPLEMENTING);
			}
}
END_TEST

/* The base is checked where the work will be, before the work. */
START_TEST(where_the_base_is_checked)
{
	for (int next = 0; next < SLOT_STAGES; next++)
		for (int asked = 0; asked < 2; asked++)
			for (int room = 0; room < 2; room++)
				ck_assert_int_eq(stage_before_work((enum slot_stage)next, asked, room),
				    next != SLOT_S_IMPLEMENTING || !asked ? next :
				    room ? SLOT_S_CHECKOUT : SLOT_S_CHECKING);
}
END_TEST

/* What a merge made anew is judged, and what is known of it need not be run. */
START_TEST(where_a_merge_that_waits_leads)
{
	char *one[] = { (char *)"make", NULL };
	enum review_merged words[] = { REVIEW_MERGED_ON_CONFLICT, REVIEW_MERGED_ALWAYS };

	for (unsigned n = 0; n < 32; n++) {
		struct plan plan = { .review = n & 1, .checks = n & 2 ? one : NULL, .checks_merged = n & 4,
		    .review_merged = words[n >> 3 & 1], .scope = n & 16 ? SCOPE_RUN : SCOPE_TASK,
		    .checks_in_room = true, .workspace = REVIEW_IN_ROOM };
		bool always = n & 8;

		ck_assert(plan_judges_merges(&plan) == ((n & 1) && (n & 4) && !(n & 16) && ((n & 2) || always)));
		if (!plan_judges_merges(&plan))
			continue;
		ck_assert_int_eq(stage_after_held_back(&plan, 0), always ? SLOT_S_MEASURING : SLOT_S_CHECKOUT);
		if (!always)
			ck_assert_int_eq(stage_after_held_back(&plan, 1), SLOT_S_MERGING);
		ck_assert_int_eq(stage_after_checkout(&plan, 1, true), SLOT_S_MERGING);
		ck_assert_int_eq(stage_after_checkout(&plan, 1, false), SLOT_S_REVIEWING);
		ck_assert_int_eq(stage_after_round(&plan, ROUND_PASS, false, true, true), SLOT_S_MERGING);
		plan.workspace = REVIEW_IN_PLACE;
		ck_assert_int_eq(stage_after_held_back(&plan, 0), n & 2 ? SLOT_S_CHECKING : SLOT_S_MEASURING);
	}
}
END_TEST

/* What is new is set up once before its use, and again after a human has put right what was wrong
 * with that. */
START_TEST(where_preparing_leads)
{
	char *one[] = { (char *)"x", NULL };

	for (unsigned n = 0; n < 64 * 12; n++) {
		struct plan plan = { .setup = n & 1 ? one : NULL, .copy = n & 2 ? one : NULL,
		    .checks = n & 4 ? one : NULL, .checks_in_room = true, .workspace = REVIEW_IN_ROOM };
		struct prepare_facts f = { .setup = n & 8 ? 1 : 0, .room = n & 16, .whole = n & 32,
		    .ready = n & 64, .unprepared = n & 128, .prepares = (enum prepares_state)(n / 256) };
		enum slot_stage want = n & 16 ? n & 4 ? SLOT_S_CHECKING : SLOT_S_REVIEWING :
		    n & 32 ? SLOT_S_MEASURING : SLOT_S_IMPLEMENTING;

		ck_assert(plan_prepares(&plan) == ((n & 3) != 0));
		if ((n & 3) != 0) {
			ck_assert_int_eq(stage_after_worktree(&plan, n & 32), SLOT_S_PREPARING);
			ck_assert_int_eq(stage_after_checkout(&plan, 0, false), SLOT_S_PREPARING);
		}
		if (f.prepares == PREPARES_BASE)
			want = SLOT_S_CHECKOUT;
		if ((n & 9) == 1 && !f.ready)
			want = f.room && f.unprepared && f.prepares == PREPARES_WORK ?
			    SLOT_S_CHECKOUT : SLOT_S_SETTING_UP;
		ck_assert_int_eq(stage_after_preparing(&plan, &f), want);
	}
}
END_TEST

/* What is under way is ended first. */
START_TEST(where_a_cancel_leads)
{
	for (int stage = 0; stage < SLOT_STAGES; stage++)
		if ((slot_followers[stage] & (1u << SLOT_S_ENDING | 1u << SLOT_S_CANCELLED)) != 0 &&
		    stage != SLOT_S_ENDING)
			ck_assert_int_eq(stage_after_cancel((enum slot_stage)stage),
			    stage == SLOT_S_WAITING || stage == SLOT_S_HELD ||
			    stage == SLOT_S_IMPLEMENTED ? SLOT_S_CANCELLED : SLOT_S_ENDING);
}
END_TEST

/* What is accepted is not reviewed again, nor is what slot 0 will review; what is reviewed is
 * committed after the verdict, not before. */
START_TEST(where_a_measured_tree_goes)
{
	static const enum slot_stage unreviewed[COMMIT_MODES] = { SLOT_S_PASSED, SLOT_S_COMMITTING,
	    SLOT_S_COMMIT_AGENT };
	char *one[] = { (char *)"make", NULL };

	for (int review = 0; review < 2; review++)
		for (int commit = 0; commit < COMMIT_MODES; commit++)
			for (int place = 0; place < REVIEW_PLACES; place++)
				for (int why = 0; why < 32; why++) {
					struct plan plan = { .review = review,
					    .commit = (enum commit_mode)commit,
					    .workspace = (enum review_place)place,
					    .checks = why & 4 ? one : NULL, .checks_in_room = why & 8 };
					struct measure_facts facts = { .accepted = (why & 1) != 0,
					    .later = (why & 2) != 0, .implement = true,
					    .checked = (why & 16) != 0 };
					enum slot_stage want = place == REVIEW_IN_ROOM ?
					    SLOT_S_CHECKOUT : SLOT_S_REVIEWING;

					if (!review || (why & 3) != 0)
						want = (why & 3) == 2 ? SLOT_S_IMPLEMENTED : unreviewed[commit];
					ck_assert_int_eq(stage_after_measure(&plan, &facts), want);
				}
}
END_TEST

/* Section 6: a false "done" is caught. Whoever was denied something and changed nothing has failed,
 * whatever he says; an implementer that changed nothing and did not say so is what run.on_no_change
 * is about; a fixer that changed nothing is the stall limit's. */
START_TEST(what_an_unchanged_tree_means)
{
	char *one[] = { (char *)"make", NULL };
	unsigned n, i;

	for (i = 0, n = 0; n == 0; i++) {
		struct measure_facts f = { 0 };
		struct plan plan = { .commit = COMMIT_MODE_AUTO };
		enum slot_stage want, unreviewed, reviewed;
		bool nothing, to_check;

		n = i;
		f.accepted = digit(&n, 2);
		f.later = digit(&n, 2);
		f.unchanged = digit(&n, 2);
		f.implement = digit(&n, 2);
		f.denied = digit(&n, 2);
		f.says_no_change = digit(&n, 2);
		f.checked = digit(&n, 2);
		plan.checks = digit(&n, 2) ? one : NULL;
		plan.workspace = (enum review_place)digit(&n, REVIEW_PLACES);
		plan.checks_in_room = digit(&n, 2);
		plan.review = digit(&n, 2);
		plan.on_no_change = (enum on_no_change)digit(&n, ON_NO_CHANGES);
		ck_assert_int_eq(measured_outcome(&f), !f.unchanged ? TASK_R_DONE : f.denied ?
		    TASK_R_DENIED : f.says_no_change ? TASK_R_DONE : TASK_R_NO_CHANGE);
		nothing = f.unchanged && f.implement && !f.denied && !f.says_no_change && !f.accepted;
		ck_assert_int_eq(measured_no_change(&f), nothing);
		/* a check that fails has the first word: its output goes to a fixer */
		to_check = plan.review && !f.later && plan.checks != NULL &&
		    plan_checks_room(&plan) && !f.checked;
		unreviewed = f.later && !f.accepted ? SLOT_S_IMPLEMENTED : SLOT_S_COMMITTING;
		reviewed = plan.review && !f.later ? plan.workspace == REVIEW_IN_ROOM ?
		    SLOT_S_CHECKOUT : SLOT_S_REVIEWING : unreviewed;
		if (f.accepted)
			want = SLOT_S_COMMITTING;
		else if (f.denied && f.unchanged)
			want = SLOT_S_FAILED;
		else if (nothing && !to_check)
			want = (const enum slot_stage[]){ reviewed, SLOT_S_FAILED, unreviewed }[plan.on_no_change];
		else
			want = reviewed;
		if (stage_after_measure(&plan, &f) != want)
			ck_abort_msg("%u: %s, expected %s", i,
			    state_name(&slot_stage_names, (int)stage_after_measure(&plan, &f)),
			    state_name(&slot_stage_names, (int)want));
	}
	ck_assert_uint_eq(i - 1, 2048 * ON_NO_CHANGES);
}
END_TEST

/* After the verdict: the commit, the merge, and the pin as the last of all, for nothing but
 * what a verdict passed. Slot 0 works where all is merged already; what it will review is
 * pinned with the run. */
START_TEST(where_a_passed_tree_goes)
{
	static const enum slot_stage passed[COMMIT_MODES] = { SLOT_S_PINNING, SLOT_S_COMMITTING, SLOT_S_COMMIT_AGENT };

	/* a human who approves a pass leaves it what it is */
	for (int commit = 0; commit < COMMIT_MODES; commit++)
		for (int kind = 0; kind < HOLD_KINDS; kind++) {
			struct plan plan = { .review = true, .commit = (enum commit_mode)commit };

			ck_assert_int_eq(stage_after_approval(&plan, (enum hold_kind)kind, true),
			    kind == HOLD_CUT || kind == HOLD_PROTECTED ? passed[commit] :
			    commit == COMMIT_MODE_NONE ? SLOT_S_PASSED : SLOT_S_MEASURING);
		}
	for (int commit = 0; commit < COMMIT_MODES; commit++)
		for (int integrate = 0; integrate < INTEGRATES; integrate++)
			for (int scope = 0; scope < SCOPES; scope++)
				for (int review = 0; review < 2; review++) {
					struct plan plan = { .review = review,
					    .commit = (enum commit_mode)commit, .integrate =
					    (enum integrate)integrate, .scope = (enum scope)scope };
					bool merge = integrate == INTEGRATE_MERGE, later = review && scope == SCOPE_RUN;
					enum slot_stage git = stage_after_round(&plan, ROUND_PASS, false, true,
					    false), none = stage_after_round(&plan, ROUND_PASS, false, false, false);

					ck_assert_int_eq(git, passed[commit]);
					ck_assert_int_eq(none, SLOT_S_PASSED);
					ck_assert_int_eq(stage_after_commit(&plan, true, false),
					    merge ? SLOT_S_MERGING : SLOT_S_PINNING);
					ck_assert_int_eq(stage_after_commit(&plan, false, false),
					    merge ? SLOT_S_MERGING : SLOT_S_PASSED);
					ck_assert_int_eq(stage_after_commit(&plan, true, true), SLOT_S_PINNING);
					ck_assert_int_eq(stage_after_commit(&plan, false, true), SLOT_S_PASSED);
					ck_assert_int_eq(stage_after_merge(&plan, true),
					    later ? SLOT_S_IMPLEMENTED : SLOT_S_PINNING);
					ck_assert_int_eq(stage_after_merge(&plan, false),
					    later ? SLOT_S_IMPLEMENTED : SLOT_S_PASSED);
				}
}
END_TEST

/* limit: of the clock, in milliseconds */
static void expect_cause(struct attempt_facts f, int64_t limit, const char *error, enum end_kind kind, const char *want)
{
	const struct attempt_limit clock = { limit, false, "limits.x in rld.toml" };
	char *cause = attempt_cause(&f, &clock, error);

	ck_assert_str_eq(cause, want);
	ck_assert_int_eq(attempt_end_kind(&f), kind);
	free(cause);
}

static const struct {
	int64_t kills, max, forks;
	const char *text;
} felt[] = {
	{ 0, 0, 0, NULL },
	{ 1, 67108864, 5, "out of memory: the kernel has killed 1 of its processes at 64 MiB; limits.memory sets the "
	    "limit" },
	{ 2, 0, 0, "out of memory: the kernel has killed 2 of its processes, as this machine, or all agents together, "
	    "had none left" },
	{ 0, 0, 7, "the kernel has refused it a process 7 times; limits.processes sets the limit" },
};

START_TEST(limits_that_were_felt)
{
	for (size_t i = 0; i < sizeof(felt) / sizeof(felt[0]); i++) {
		char *text = attempt_felt(felt[i].kills, felt[i].max, felt[i].forks);

		ck_assert_pstr_eq(text, felt[i].text);
		free(text);
	}
}
END_TEST

START_TEST(causes)
{
	struct attempt_facts f = good;
	char *cause;

	f.role = ROLE_REVIEW;
	f.status = 3;
	expect_cause(f, 0, NULL, END_ERROR, "reviewer process exited with status 3");
	expect_cause(f, 0, "no such model", END_ERROR, "reviewer process exited with status 3: no such model");
	f.role = ROLE_FIX;
	expect_cause(f, 0, NULL, END_ERROR, "fixer process exited with status 3");
	f.process = PROCESS_SIGNALLED;
	f.status = 9;
	expect_cause(f, 0, NULL, END_ERROR, "fixer process killed by signal 9");
	f.process = PROCESS_TIMEOUT;
	expect_cause(f, 2 * 60 * 60 * 1000, NULL, END_TIMEOUT,
	    "fixer process timed out after 2h 00m; limits.x in rld.toml sets the limit");
	f.process = PROCESS_IDLE;
	expect_cause(f, 20 * 60 * 1000, NULL, END_TIMEOUT,
	    "fixer process printed nothing for 20m 00s; limits.x in rld.toml sets the limit");
	cause = attempt_cause(&f, &(struct attempt_limit){ 1000, true, "limits.x" }, NULL);
	ck_assert_str_eq(cause, "fixer process made no progress for 1s; limits.x sets the limit");
	free(cause);
	f.process = PROCESS_LINGERED;
	expect_cause(f, 30 * 1000, "no", END_ERROR, "fixer process gave its result and did not "
	    "exit within 30s; limits.x in rld.toml sets the limit: no");
	f.process = PROCESS_LOST;
	expect_cause(f, 0, "why", END_LOST, "lost: fixer process is gone and its exit status is unknown: why");
	f = good;
	f.is_error = true;
	expect_cause(f, 0, "it says so", END_ERROR,
	    "implementer process exited with status 0 but reported an error: it says so");
	f = good;
	f.denied = true;
	expect_cause(f, 0, NULL, END_DENIED, "implementer process was denied permissions and changed nothing");
	f = good;
	f.role = ROLE_CHECK;
	f.process = PROCESS_NOT_STARTED;
	expect_cause(f, 0, "no such file", END_NOT_STARTED, "check process could not be started: no such file");
	f.role = ROLE_COMMIT;
	f.process = PROCESS_EXITED;
	f.status = 1;
	expect_cause(f, 0, NULL, END_ERROR, "commit process exited with status 1");
	f.process = PROCESS_TIMEOUT;
	f.role = ROLE_REVIEW;
	expect_cause(f, 120 * 1000, NULL, END_TIMEOUT,
	    "reviewer process timed out after 2m 00s; limits.x in rld.toml sets the limit");
}
END_TEST

/* Over every combination: a pass needs a valid verdict that says so and an unchanged tree, and
 * dismissed findings need a valid verdict, too; a reviewer that changed the tree is not asked. */
START_TEST(every_round_has_one_meaning)
{
	for (int verdict = 0; verdict < 8; verdict++)
		for (int pass = 0; pass < 8; pass++)
			for (int changed = 0; changed < 2; changed++)
				for (int fix = 0; fix < 4; fix++)
					for (int stalled = 0; stalled < 4; stalled++)
						for (int limit = 0; limit < 3; limit++) {
							struct review_facts f = { .verdict = verdict & 1,
							    .pass = pass & 1, .dismissed = verdict >> 2,
							    .cut = (pass >> 1) & 1, .touched = pass >> 2,
							    .tree_changed = changed, .asks = (verdict >> 1) & 1,
							    .fix = fix, .fixes = 2, .stalled = stalled,
							    .stall_limit = limit };
							enum round_end want = ROUND_FINDINGS;

							if ((verdict & 3) == 2 && !changed)
								want = ROUND_ASK;
							else if (!(verdict & 1) || changed)
								want = ROUND_VIOLATION;
							else if (pass & 1)
								want = pass >> 2 ? ROUND_PROTECTED :
								    pass == 3 ? ROUND_CUT : ROUND_PASS;
							else if (f.dismissed)
								want = pass != 0 ? ROUND_DISMISSED_HELD :
								    ROUND_DISMISSED;
							else if (fix >= 2)
								want = ROUND_EXHAUSTED;
							else if (limit > 0 && stalled >= limit)
								want = ROUND_STALLED;
							ck_assert_int_eq(review_classify(&f), want);
						}
}
END_TEST

/* A failing check uses a fix round, and does no more when none is left. */
START_TEST(a_failing_check)
{
	for (int fixes = 0; fixes < 4; fixes++)
		for (int fix = 0; fix < 5; fix++)
			ck_assert_int_eq(check_classify(fix, fixes), fix < fixes ? ROUND_FINDINGS : ROUND_EXHAUSTED);
}
END_TEST

/* Every end of a round under every policy, each of the three knobs having a value of its own. */
START_TEST(every_end_has_its_policy)
{
	for (int malformed = 0; malformed < BAD_ENDS; malformed++)
		for (int reviewer = 0; reviewer < BAD_END_ASK; reviewer++)
			for (int exhausted = 0; exhausted < BAD_END_ASK; exhausted++)
				for (int end = 0; end < ROUND_ENDS; end++)
					for (int commit = 0; commit < COMMIT_MODES; commit++)
						for (int git = 0; git < 2; git++) {
							struct plan plan = {
								.on_malformed = (enum bad_end)malformed,
								.malformed_again = (enum bad_end)((reviewer + 1) %
								    BAD_END_ASK),
								.workspace = (enum review_place)(exhausted % 2),
								.on_reviewer_error = (enum bad_end)reviewer,
								.on_exhausted = (enum bad_end)exhausted,
								.commit = (enum commit_mode)commit,
							};
							enum bad_end policy = end == ROUND_ASK ? BAD_END_ASK :
							    end == ROUND_VIOLATION ?
							    malformed == BAD_END_ASK ? plan.malformed_again :
							    plan.on_malformed :
							    end == ROUND_REVIEWER_ERROR ?
							    plan.on_reviewer_error :
							    end == ROUND_EXHAUSTED || end == ROUND_STALLED ?
							    plan.on_exhausted :
							    end == ROUND_CONFLICT || end == ROUND_REFUSED ||
							    end == ROUND_REVIEWER_CHANGED || end == ROUND_CUT ||
							    end == ROUND_REF_MOVED || end == ROUND_PROTECTED ||
							    end == ROUND_DISMISSED_HELD ?
							    BAD_END_HOLD : BAD_ENDS;
							enum slot_stage want = SLOT_S_FAILED;

							if (end == ROUND_PASS)
								want = git ? (const enum slot_stage[]){
								    SLOT_S_PINNING, SLOT_S_COMMITTING,
								    SLOT_S_COMMIT_AGENT }[commit] :
								    SLOT_S_PASSED;
							else if (end == ROUND_FINDINGS)
								want = SLOT_S_FIXING;
							else if (policy == BAD_END_ASK)
								want = git && plan.workspace == REVIEW_IN_ROOM ?
								    SLOT_S_CHECKOUT : SLOT_S_REVIEWING;
							else if (policy == BAD_END_HOLD)
								want = SLOT_S_HELD;
							else if (policy == BAD_END_ACCEPT ||
							    policy == BAD_END_KNOWN_ISSUES || end == ROUND_DISMISSED)
								want = git && commit != COMMIT_MODE_NONE ?
								    SLOT_S_MEASURING : SLOT_S_PASSED;
							ck_assert_int_eq(round_policy(&plan,
							    (enum round_end)end, false), policy);
							ck_assert_int_eq(stage_after_round(&plan,
							    (enum round_end)end, false, git, false), want);
							/* not of protected paths */
							if (policy == BAD_END_ACCEPT ||
							    policy == BAD_END_KNOWN_ISSUES) {
								policy = BAD_END_HOLD;
								want = SLOT_S_HELD;
							}
							ck_assert_int_eq(round_policy(&plan,
							    (enum round_end)end, true), policy);
							ck_assert_int_eq(stage_after_round(&plan,
							    (enum round_end)end, true, git, false), want);
						}
}
END_TEST

START_TEST(holds_say_why)
{
	ck_assert_int_eq(round_hold(ROUND_EXHAUSTED), HOLD_EXHAUSTED);
	ck_assert_int_eq(round_hold(ROUND_STALLED), HOLD_STALLED);
	ck_assert_int_eq(round_hold(ROUND_VIOLATION), HOLD_VIOLATION);
	ck_assert_int_eq(round_hold(ROUND_REVIEWER_ERROR), HOLD_REVIEWER);
	ck_assert_int_eq(round_hold(ROUND_CONFLICT), HOLD_CONFLICT);
	ck_assert_int_eq(round_hold(ROUND_REFUSED), HOLD_REFUSED);
	ck_assert_int_eq(round_hold(ROUND_REVIEWER_CHANGED), HOLD_REVIEWER_CHANGED);
	ck_assert_int_eq(round_hold(ROUND_CUT), HOLD_CUT);
	ck_assert_int_eq(round_hold(ROUND_PROTECTED), HOLD_PROTECTED);
	ck_assert_int_eq(round_hold(ROUND_REF_MOVED), HOLD_REF_MOVED);
	ck_assert_int_eq(round_hold(ROUND_DISMISSED_HELD), HOLD_DISMISSED);
}
END_TEST

/* Rework: a lost attempt is run again, whatever it was; anything else is a fix with
 * the human's text. */
START_TEST(rework)
{
	static const enum slot_stage again[ROLES] = {
		[ROLE_IMPLEMENT] = SLOT_S_IMPLEMENTING, [ROLE_CHECK] = SLOT_S_CHECKING,
		[ROLE_REVIEW] = SLOT_S_REVIEWING, [ROLE_FIX] = SLOT_S_FIXING,
		[ROLE_COMMIT] = SLOT_S_COMMIT_AGENT, [ROLE_SETUP] = SLOT_S_SETTING_UP,
	};

	for (int kind = 0; kind < HOLD_KINDS; kind++)
		for (int role = 0; role < ROLES; role++)
			for (int checkout = 0; checkout < 2; checkout++) {
				bool repeats = kind == HOLD_LOST || kind == HOLD_REVIEWER_CHANGED ||
				    kind == HOLD_QUESTION;
				enum slot_stage want = kind == HOLD_SETUP ? SLOT_S_PREPARING :
				    !repeats ? SLOT_S_FIXING :
				    role == ROLE_REVIEW && checkout ? SLOT_S_CHECKOUT : again[role];

				ck_assert_int_eq(stage_after_rework((enum hold_kind)kind,
				    (enum role)role, checkout, false, SLOT_S_HELD), want);
				/* a reviewer that gave no verdict has found nothing to fix */
				ck_assert_int_eq(stage_after_rework((enum hold_kind)kind, (enum role)role, checkout,
				    false, SLOT_S_MEASURING), kind == HOLD_REVIEWER || kind == HOLD_VIOLATION ?
				    SLOT_S_MEASURING : want);
				/* of a panel those vote again that have not */
				ck_assert_int_eq(stage_after_rework((enum hold_kind)kind, (enum role)role, checkout,
				    true, SLOT_S_HELD), repeats || kind == HOLD_SETUP ? SLOT_S_PANEL : want);
			}
}
END_TEST

/* The sentences of the requirements, each profile in its own words. */
START_TEST(causes_of_rounds)
{
	static const struct { const char *profile, *cause; bool fixed; } want[] = {
		{ "verdict", "drift unresolved after 2 fix attempt(s)", false },
		{ "decision", "NO_GO unresolved after 2 fix attempt(s)", false },
		{ "file", "Review failed after 3 iterations. "
		    "Please manually review autom8_review.md for remaining issues.", true },
		{ "exit", "max review rounds (3) reached", true },
		{ "comments", "must-fix unresolved after 2 fix attempt(s)", false },
	};
	struct slot_row slot;

	row_init(ROW_SLOT, &slot);
	slot.round = 3;
	slot.fix = slot.stalled = 2;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct plan plan = { .profile = profile_find(want[i].profile) };
		char *cause, *stalled, *both;

		plan.review_file = xstrdup(plan.profile->carrier_file);
		cause = round_cause(&plan, ROUND_EXHAUSTED, &slot, NULL);
		stalled = round_cause(&plan, ROUND_STALLED, &slot, "round 3 repeats round 1");
		both = round_cause(&plan, ROUND_EXHAUSTED, &slot, "round 3 repeats round 1");
		ck_assert_str_eq(cause, want[i].cause);
		ck_assert_str_eq(stalled, "stalled: round 3 repeats round 1");
		/* sentences of a requirement stay as they are */
		ck_assert(strncmp(both, cause, strlen(cause)) == 0);
		ck_assert_str_eq(both + strlen(cause), want[i].fixed ? "" : ": round 3 repeats round 1");
		free(both);
		free(cause);
		free(stalled);
		free(plan.review_file);
	}
}
END_TEST

START_TEST(rounds_that_stall)
{
	struct slot_row row;

	row_init(ROW_SLOT, &row);
	row.round = 1;
	ck_assert(!round_stalls(&row, 1, 1));
	row.round = 2;
	ck_assert(round_stalls(&row, 2, 2));
	ck_assert(!round_stalls(&row, 2, 1));
	ck_assert(!round_stalls(&row, 0, 0));
	row.tree = xstrdup("t");
	row.previous_tree = xstrdup("t");
	ck_assert(round_stalls(&row, 1, 0));	/* neither said anything */
	row.answer_hash = xstrdup("a");
	row.previous_answer_hash = xstrdup("b");
	ck_assert(!round_stalls(&row, 1, 0));
	row.previous_answer_hash[0] = 'a';
	ck_assert(round_stalls(&row, 1, 0));
	row_release(ROW_SLOT, &row);
}
END_TEST

static void expect_same_id(bool same, const char *file_a, const char *a, const char *file_b, const char *b)
{
	char x[FINDING_ID], y[FINDING_ID];

	finding_id_first(file_a, a, x);
	finding_id_first(file_b, b, y);
	ck_assert_msg((strcmp(x, y) == 0) == same, "\"%s\" and \"%s\"", a, b);
}

/* The rule of older versions, whose runs keep their ids. */
START_TEST(ids_are_stable)
{
	expect_same_id(true, NULL, "foo.c:12: x  is unset", NULL, "foo.c:14:\n x is unset ");
	expect_same_id(true, NULL, "on line 3 it fails", NULL, "on line 300 it fails");
	expect_same_id(false, NULL, "needs 3 arguments", NULL, "needs 4 arguments");
	expect_same_id(false, "a.c", "x", "b.c", "x");
	expect_same_id(false, NULL, "x", NULL, "y");
	expect_same_id(false, NULL, "x", NULL, "X");
	{
		char id[FINDING_ID];

		finding_id_first("a.c", "line 3: x  is unset", id);
		ck_assert_str_eq(id, "0e5eec8ef1ad212c");
	}
}
END_TEST

static struct finding_row *finding(int64_t review, int64_t number, const char *text)
{
	struct finding_row *row = row_new(ROW_FINDING);
	char id[FINDING_ID];

	finding_id(NULL, text, id);
	row->run = 1;
	row->review = review;
	row->number = number;
	row->id = xstrdup(id);
	row->text = xstrdup(text);
	return row;
}

START_TEST(new_repeated_resolved)
{
	const struct finding_row *before[] = { finding(1, 1, "a"), finding(1, 2, "b"), finding(1, 3, "e") };
	struct finding_row *now[] = { finding(2, 1, "b"), finding(2, 2, "c"), finding(2, 3, "d") };
	struct finding_counts counts = findings_compare(now, 3, before, 3);

	ck_assert_int_eq(counts.new, 2);
	ck_assert_int_eq(counts.repeated, 1);
	ck_assert_int_eq(counts.resolved, 2);
	ck_assert_int_eq(now[0]->state, FINDING_REPEATED);
	ck_assert_int_eq(now[1]->state, FINDING_NEW);
	for (size_t i = 0; i < 3; i++)
		row_free(ROW_FINDING, now[i]);
	for (size_t i = 0; i < 3; i++)
		row_free(ROW_FINDING, before[i]);
}
END_TEST

static struct review_row *log_rows[3];
static struct finding_row *log_findings[2];

static void make_log(void)
{
	char hex[DIGEST_HEX];

	log_findings[0] = finding(1, 1, "a");
	log_findings[1] = finding(1, 2, "b");
	for (int64_t i = 0; i < 3; i++) {
		struct review_row *row = row_new(ROW_REVIEW);

		row->run = 1;
		row->number = i + 1;
		row->decision = xstrdup(i == 2 ? "pass" : "drift");
		row->feedback = xasprintf("round %d", (int)i);
		row->timestamp = 1000 + i;
		row->previous_hash = i == 0 ? NULL : xstrdup(log_rows[i - 1]->hash);
		review_hash(row, (const struct finding_row *const *)log_findings, i == 0 ? 2 : 0, hex);
		row->hash = xstrdup(hex);
		log_rows[i] = row;
	}
}

static bool holds(struct review_row *const *reviews, size_t n, struct finding_row *const *findings,
    size_t nf, int64_t count, const char *head)
{
	char *broken = chain_verify((const struct review_row *const *)reviews, n,
	    (const struct finding_row *const *)findings, nf, count, head);
	bool ok = broken == NULL;

	free(broken);
	return ok;
}

START_TEST(the_chain_shows_every_change)
{
	struct review_row *swapped[3];
	char *head;

	make_log();
	head = log_rows[2]->hash;
	swapped[0] = log_rows[1];
	swapped[1] = log_rows[0];
	swapped[2] = log_rows[2];
	ck_assert(holds(log_rows, 3, log_findings, 2, 3, head));
	/* cut off at the end */
	ck_assert(!holds(log_rows, 2, log_findings, 2, 3, head));
	ck_assert(!holds(log_rows, 2, log_findings, 2, 2, head));
	ck_assert(!holds(log_rows + 1, 2, log_findings, 0, 2, head));	/* cut off at the start */
	ck_assert(!holds(swapped, 3, log_findings, 2, 3, head));
	/* a finding removed */
	ck_assert(!holds(log_rows, 3, log_findings, 1, 3, head));
	log_rows[1]->feedback[0] = 'R';
	ck_assert(!holds(log_rows, 3, log_findings, 2, 3, head));
	log_rows[1]->feedback[0] = 'r';
	log_findings[1]->text[0] = 'B';
	ck_assert(!holds(log_rows, 3, log_findings, 2, 3, head));
	log_findings[1]->text[0] = 'b';
	ck_assert(holds(log_rows, 3, log_findings, 2, 3, head));
	ck_assert(!holds(log_rows, 3, log_findings, 2, 3, "0000"));
	ck_assert(holds(NULL, 0, NULL, 0, 0, NULL));
	for (size_t i = 0; i < 3; i++)
		row_free(ROW_REVIEW, log_rows[i]);
	for (size_t i = 0; i < 2; i++)
		row_free(ROW_FINDING, log_findings[i]);
}
END_TEST

/* Two different rows never make the same bytes: every field carries its length. */
START_TEST(fields_do_not_run_together)
{
	struct review_row *a = row_new(ROW_REVIEW), *b = row_new(ROW_REVIEW);
	char x[DIGEST_HEX], y[DIGEST_HEX];

	a->run = b->run = a->number = b->number = 1;
	a->decision = xstrdup("pass1:x,");
	a->feedback = xstrdup("");
	b->decision = xstrdup("pass");
	b->feedback = xstrdup("1:x,");
	review_hash(a, NULL, 0, x);
	review_hash(b, NULL, 0, y);
	ck_assert_str_ne(x, y);
	free(a->feedback);
	a->feedback = NULL;
	free(b->decision);
	b->decision = xstrdup("pass1:x,");
	free(b->feedback);
	b->feedback = xstrdup("");
	review_hash(a, NULL, 0, x);
	review_hash(b, NULL, 0, y);
	ck_assert_str_ne(x, y);
	row_free(ROW_REVIEW, a);
	row_free(ROW_REVIEW, b);
}
END_TEST

static const void *record_rows[3];

static void make_record(void)
{
	char hex[DIGEST_HEX];

	for (int64_t i = 0; i < 3; i++) {
		struct evidence_row *row = row_new(ROW_EVIDENCE);

		row->run = 1;
		row->number = i + 1;
		row->product = i;
		row->subject = xasprintf("check %d", (int)i);
		row->result = EVIDENCE_RED;
		row->created_at = 1000 + i;
		row->previous_hash = i == 0 ? NULL : xstrdup(((const struct evidence_row *)record_rows[i - 1])->hash);
		record_hash(ROW_EVIDENCE, row, hex);
		row->hash = xstrdup(hex);
		record_rows[i] = row;
	}
}

static void expect_fault(const void *const *rows, size_t count, int64_t recorded, const char *head, const char *words)
{
	char *fault = record_verify(ROW_EVIDENCE, rows, count, recorded, head);

	if (words == NULL)
		ck_assert_msg(fault == NULL, "%s", fault);
	else
		ck_assert_msg(fault != NULL && strstr(fault, words) != NULL, "%s", fault);
	free(fault);
}

/* The chain of products and that of evidence. */
START_TEST(the_record_shows_every_change)
{
	struct evidence_row *middle;
	const void *swapped[3];
	const char *head;

	make_record();
	middle = (struct evidence_row *)record_rows[1];
	head = ((const struct evidence_row *)record_rows[2])->hash;
	swapped[0] = record_rows[1];
	swapped[1] = record_rows[0];
	swapped[2] = record_rows[2];
	expect_fault(record_rows, 3, 3, head, NULL);
	expect_fault(NULL, 0, 0, NULL, NULL);
	expect_fault(NULL, 0, ROW_NONE, NULL, NULL);	/* of a run that had no chain yet */
	expect_fault(record_rows, 2, 3, head, "the run has recorded 3 rows of evidence, but there are 2");
	expect_fault(record_rows, 3, ROW_NONE, NULL, "the run has recorded 0 rows of evidence, but there are 3");
	expect_fault(record_rows, 2, 2, head, "the newest evidence is not the one recorded");
	expect_fault(record_rows + 1, 2, 2, head, "evidence 1 is missing");
	expect_fault(swapped, 3, 3, head, "evidence 1 is missing");
	middle->result = EVIDENCE_GREEN;
	expect_fault(record_rows, 3, 3, head, "evidence 2 was changed");
	middle->result = EVIDENCE_RED;
	middle->product = ROW_NONE;
	expect_fault(record_rows, 3, 3, head, "evidence 2 was changed");
	middle->product = 1;
	text_set(&middle->previous_hash, "0000");
	expect_fault(record_rows, 3, 3, head, "evidence 2 does not follow evidence 1");
	for (size_t i = 0; i < 3; i++)
		row_free(ROW_EVIDENCE, record_rows[i]);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_attempt_leads_to_one_stage, where_work_goes,
	    what_a_room_is_for,
	    where_a_slot_begins, where_preparing_leads, where_a_merge_that_waits_leads,
	    where_the_base_is_checked, where_a_cancel_leads, where_a_measured_tree_goes,
	    what_an_unchanged_tree_means, where_a_passed_tree_goes, causes,
	    limits_that_were_felt,
	    every_round_has_one_meaning, a_failing_check, every_end_has_its_policy, holds_say_why,
	    rework, causes_of_rounds, rounds_that_stall, ids_are_stable, new_repeated_resolved,
	    the_chain_shows_every_change, the_record_shows_every_change, fields_do_not_run_together };

	return RUN_SUITE("review", tests);
}
