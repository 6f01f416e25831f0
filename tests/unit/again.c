/* SPDX-License-Identifier: MIT */
/* What becomes of an attempt that its service did not serve: never a success, never endless, and
 * no cost but time. */
#include "core.h"
#include "core/backoff.h"
#include "core/next_stage.h"

#define NOW INT64_C(1700000000000)
#define LATER (NOW + BACKOFF_MAX_MS + 1)

static const struct attempt_facts failed = {
	.role = ROLE_IMPLEMENT, .process = PROCESS_EXITED, .status = 1, .is_error = true,
	.provider = PROVIDER_OK, .account = true, .has_git = true,
	.now = NOW, .reset_at = ROW_NONE, .retries_max = 5, .on_lost = ON_LOST_RETRY, .losses = 1,
};

/* The attempt begins again, a reviewer in a new checkout if it has one of its own. */
static void expect_retry(const struct attempt_facts *f)
{
	static const enum slot_stage own[ROLES] = {
		[ROLE_IMPLEMENT] = SLOT_S_IMPLEMENTING, [ROLE_CHECK] = SLOT_S_CHECKING,
		[ROLE_REVIEW] = SLOT_S_REVIEWING,
		[ROLE_FIX] = SLOT_S_FIXING, [ROLE_COMMIT] = SLOT_S_COMMIT_AGENT,
		[ROLE_SETUP] = SLOT_S_SETTING_UP,
	};
	enum move_reason reason;

	ck_assert_int_eq(stage_after_attempt(f, &reason),
	    f->role == ROLE_REVIEW && f->checkout ? SLOT_S_CHECKOUT : own[f->role]);
	ck_assert_int_eq(reason, MOVE_RETRY);
}

static void expect_stage(const struct attempt_facts *f, enum slot_stage stage)
{
	enum move_reason reason;

	ck_assert_int_eq(stage_after_attempt(f, &reason), stage);
	ck_assert_int_eq(reason, MOVE_DONE);
}

static const struct {
	enum provider_result provider;
	bool transient;
	int64_t reset_at;
	enum again again;		/* of a process that has exited */
	bool silent;			/* the same of one that a clock has ended */
} cases[] = {
	{ PROVIDER_LIMIT, false, ROW_NONE, AGAIN_COOL, true },
	{ PROVIDER_LIMIT, false, NOW + 1, AGAIN_COOL, true },
	{ PROVIDER_LIMIT, false, NOW + INT64_C(1000) * 86400000, AGAIN_COOL, true },
	/* that time is over: it is not to be believed more than a throttle */
	{ PROVIDER_LIMIT, false, NOW, AGAIN_RETRY, false },
	{ PROVIDER_LIMIT, false, NOW - 1, AGAIN_RETRY, false },
	{ PROVIDER_THROTTLED, false, ROW_NONE, AGAIN_RETRY, false },
	{ PROVIDER_THROTTLED, false, NOW + BACKOFF_MAX_MS, AGAIN_RETRY, false },
	{ PROVIDER_THROTTLED, false, LATER, AGAIN_COOL, true },
	{ PROVIDER_ERROR, true, ROW_NONE, AGAIN_RETRY, false },
	{ PROVIDER_ERROR, false, ROW_NONE, AGAIN_NOT, false },
	{ PROVIDER_ERROR, false, LATER, AGAIN_NOT, false },
	{ PROVIDER_AUTH, false, ROW_NONE, AGAIN_NOT, false },
	{ PROVIDER_AUTH, true, LATER, AGAIN_NOT, false },
	{ PROVIDER_OK, false, ROW_NONE, AGAIN_NOT, false },
	{ PROVIDER_OK, true, LATER, AGAIN_NOT, false },
	{ PROVIDER_NONE, false, ROW_NONE, AGAIN_NOT, false },
};

static bool is_clock(enum process_result process)
{
	return process == PROCESS_TIMEOUT || process == PROCESS_IDLE;
}

static bool is_own(enum process_result process)
{
	return process == PROCESS_EXITED || process == PROCESS_SIGNALLED ||
	    process == PROCESS_LINGERED || process == PROCESS_REFUSED;
}

START_TEST(every_answer_of_a_service)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int process = 0; process < PROCESS_RESULTS; process++) {
			struct attempt_facts f = failed;
			enum again want = is_own((enum process_result)process) ? cases[i].again :
			    is_clock((enum process_result)process) && cases[i].silent ? AGAIN_COOL : AGAIN_NOT;

			f.process = (enum process_result)process;
			f.provider = cases[i].provider;
			f.transient = cases[i].transient;
			f.reset_at = cases[i].reset_at;
			ck_assert_msg(attempt_again(&f) == want, "case %zu, process %d: %d", i,
			    process, attempt_again(&f));
			/* nobody pays a check, so nobody is exhausted */
			f.account = false;
			ck_assert_int_eq(attempt_again(&f), AGAIN_NOT);
		}
	}
}
END_TEST

START_TEST(retries_come_to_an_end)
{
	struct attempt_facts f = failed;

	f.provider = PROVIDER_THROTTLED;
	for (f.retries = 0; f.retries < 10; f.retries++) {
		ck_assert_int_eq(attempt_again(&f), f.retries < 5 ? AGAIN_RETRY : AGAIN_NOT);
		if (f.retries < 5)
			expect_retry(&f);
		else
			expect_stage(&f, SLOT_S_FAILED);
	}
	/* but a limit is waited for however often */
	f.provider = PROVIDER_LIMIT;
	ck_assert_int_eq(attempt_again(&f), AGAIN_COOL);
	f.retries = f.retries_max = 0;
	f.provider = PROVIDER_THROTTLED;
	ck_assert_int_eq(attempt_again(&f), AGAIN_NOT);
}
END_TEST

START_TEST(who_succeeds_is_not_asked)
{
	struct attempt_facts f = failed;

	f.status = 0;
	f.is_error = false;
	f.resumed = true;
	ck_assert_int_eq(attempt_again(&f), AGAIN_NOT);
	/* exit 0 is no success when the service has refused it */
	f.provider = PROVIDER_LIMIT;
	ck_assert_int_eq(attempt_again(&f), AGAIN_COOL);
}
END_TEST

/* A conversation that was cut off may be gone: one that failed with it is begun again without, and
 * that one counts. */
START_TEST(anew_without_the_conversation)
{
	struct attempt_facts f = failed;

	f.resumed = true;
	ck_assert_int_eq(attempt_again(&f), AGAIN_ANEW);
	expect_retry(&f);
	f.provider = PROVIDER_AUTH;
	ck_assert_int_eq(attempt_again(&f), AGAIN_NOT);
	f.provider = PROVIDER_ERROR;
	ck_assert_int_eq(attempt_again(&f), AGAIN_ANEW);
	f.process = PROCESS_TIMEOUT;
	ck_assert_int_eq(attempt_again(&f), AGAIN_NOT);
	f.process = PROCESS_NOT_STARTED;
	ck_assert_int_eq(attempt_again(&f), AGAIN_NOT);
}
END_TEST

/* The loss goes before what its output may have said; a reviewer's checkout is not what is under
 * review any more. */
START_TEST(stages)
{
	static const enum role agents[] = { ROLE_IMPLEMENT, ROLE_REVIEW, ROLE_FIX, ROLE_COMMIT };

	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
		struct attempt_facts f = failed;

		f.role = agents[i];
		f.provider = PROVIDER_LIMIT;
		expect_retry(&f);
		f.checkout = true;
		expect_retry(&f);
		f.process = PROCESS_LOST;
		expect_retry(&f);
	}
}
END_TEST

/* What the host has kept from being done uses nothing, and is no failure, whatever is to become
 * of lost attempts. */
START_TEST(of_the_host)
{
	for (int role = 0; role < ROLES; role++) {
		struct attempt_facts f = failed, cut;

		f.role = (enum role)role;
		f.account = role != ROLE_CHECK;
		f.checkout = true;
		f.host = true;
		f.process = PROCESS_NOT_STARTED;
		ck_assert_int_eq(attempt_again(&f), AGAIN_HOST);
		expect_retry(&f);
		cut = f;
		cut.host = false;
		cut.cut = cut.is_error = true;
		cut.process = PROCESS_EXITED;
		cut.status = 0;
		ck_assert(!attempt_succeeded(&cut) && attempt_is_cut(&cut));
		cut.is_error = false;
		cut.provider = PROVIDER_OK;
		ck_assert(!attempt_succeeded(&cut) && attempt_is_cut(&cut));
		cut.on_lost = ON_LOST_FAIL;
		expect_stage(&cut, SLOT_S_HELD);
		cut.on_lost = ON_LOST_HOLD;
		expect_stage(&cut, SLOT_S_HELD);
		cut.on_lost = ON_LOST_RETRY;
		expect_retry(&cut);
		cut.losses = LOSSES_MAX;
		expect_stage(&cut, SLOT_S_HELD);
		/* one that has failed by itself has failed */
		cut.status = 3;
		ck_assert(!attempt_is_cut(&cut));
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { every_answer_of_a_service, retries_come_to_an_end,
	    who_succeeds_is_not_asked, anew_without_the_conversation, of_the_host, stages };

	return RUN_SUITE("again", tests);
}
