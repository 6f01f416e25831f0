/* SPDX-License-Identifier: MIT */
/* core/retention.h: which runs go by which limit, and what keeps the others. */
#include "core.h"
#include "core/retention.h"
#include "core/row.h"
#include <stdio.h>
#include <string.h>

#define DAY INT64_C(86400000)
#define NOW (1000 * DAY)
#define NO ROW_NONE

#define MOST 6
#define ZERO (-1)	/* of a limit or of bytes: 0, where 0 says nothing */

/* A run that ended so many days ago. bytes 0: ten of them. retry_of, after 0: none. */
struct past {
	int64_t id;
	int state;
	int64_t days, bytes, retry_of, after;
	bool at_work, hook, younger, unmeasured;
	enum retention_merged merged;
};

#define RUN(number, of_state, ago, ...) { .id = (number), .state = RUN_S_##of_state, .days = (ago), __VA_ARGS__ }

static const struct {
	const char *name;
	struct retention_policy policy;	/* 0: no limit */
	int64_t others;
	struct past runs[MOST];
	/* of each run "-", or its limit, with "/" and its need if it stays */
	const char *want;
} cases[] = {
	{ "no limit, nothing goes", { 0 }, 0, { RUN(1, SUCCEEDED, 900), RUN(2, FAILED, 900) }, "- -" },
	{ "by age, at the millisecond", { .age = 90 * DAY }, 0,
	    { RUN(1, SUCCEEDED, 90), RUN(2, SUCCEEDED, 90, .younger = true) }, "age -" },
	{ "failures have an age of their own", { .age = 90 * DAY, .failures = 180 * DAY }, 0,
	    { RUN(1, FAILED, 180), RUN(2, CANCELLED, 181), RUN(3, FAILED, 179), RUN(4, SUCCEEDED, 91) },
	    "failures failures - age" },
	{ "failures without a limit stay", { .age = 90 * DAY }, 0, { RUN(1, FAILED, 999), RUN(2, SUCCEEDED, 999) },
	    "- age" },
	{ "by number: the newest stay, whatever became of them", { .number = 2 }, 0,
	    { RUN(1, SUCCEEDED, 3), RUN(2, FAILED, 2), RUN(3, SUCCEEDED, 1), RUN(4, RUNNING, 0), RUN(5, FAILED, 0) },
	    "number number - - -" },
	{ "none at all", { .number = ZERO }, 0, { RUN(1, SUCCEEDED, 0), RUN(2, QUEUED, 0) }, "number -" },
	{ "an age comes first", { .age = DAY, .number = ZERO }, 0, { RUN(1, SUCCEEDED, 2) }, "age" },
	{ "by size: the oldest, until the rest fits", { .size = 25 }, 0,
	    { RUN(1, SUCCEEDED, 4), RUN(2, FAILED, 3), RUN(3, SUCCEEDED, 2), RUN(4, SUCCEEDED, 1) }, "size size - -" },
	{ "exactly the size fits", { .size = 20 }, 0, { RUN(1, SUCCEEDED, 4), RUN(2, SUCCEEDED, 3) }, "- -" },
	{ "what belongs to no run counts", { .size = 20 }, 1, { RUN(1, SUCCEEDED, 4), RUN(2, SUCCEEDED, 3) },
	    "size -" },
	{ "what goes by age counts no more", { .age = 90 * DAY, .size = 20 }, 0,
	    { RUN(1, SUCCEEDED, 91), RUN(2, SUCCEEDED, 3), RUN(3, SUCCEEDED, 3) }, "age - -" },
	{ "what is not measured, or empty, frees nothing", { .size = ZERO }, 0,
	    { RUN(1, SUCCEEDED, 4, .unmeasured = true), RUN(2, SUCCEEDED, 3, .bytes = ZERO),
	      RUN(3, SUCCEEDED, 2) }, "- - size" },
	{ "the size stays exceeded when nothing more may go", { .size = 5 }, 0,
	    { RUN(1, RUNNING, 4), RUN(2, SUCCEEDED, 3) }, "- size" },
	{ "unfinished runs", { .age = DAY }, 0,
	    { RUN(1, HELD, 9), RUN(2, RUNNING, 9), RUN(3, QUEUED, 9), RUN(4, PAUSED, 9), RUN(5, RUNNING, 0) },
	    "age/held age/running age/running age/running -" },
	{ "the daemon is not done with it", { .age = ZERO }, 0,
	    { RUN(1, SUCCEEDED, 9, .at_work = true), RUN(2, FAILED, 9, .hook = true),
	      RUN(3, SUCCEEDED, 9, .hook = true) },
	    "age/running - age/hook" },
	{ "results", { .age = DAY }, 0,
	    { RUN(1, SUCCEEDED, 9, .merged = RETENTION_IS_UNMERGED),
	      RUN(2, SUCCEEDED, 9, .merged = RETENTION_IS_MERGED),
	      RUN(3, SUCCEEDED, 9, .merged = RETENTION_IS_UNREADABLE), RUN(4, SUCCEEDED, 9) },
	    "age/unmerged age age/unreadable age" },
	{ "saved work is kept as long as failures", { .age = DAY, .failures = 30 * DAY, .number = ZERO }, 0,
	    { RUN(1, FAILED, 30, .merged = RETENTION_IS_SAVED), RUN(2, FAILED, 29, .merged = RETENTION_IS_SAVED),
	      RUN(3, SUCCEEDED, 29, .merged = RETENTION_IS_SAVED), RUN(4, SUCCEEDED, 30, .merged = RETENTION_IS_SAVED),
	      RUN(5, FAILED, 2) },
	    "failures number/salvage age/salvage age number" },
	{ "also if these are kept for ever, and by size", { .size = ZERO }, 0,
	    { RUN(1, FAILED, 999, .merged = RETENTION_IS_SAVED), RUN(2, FAILED, 9) }, "- size" },
	{ "what a retry needs", { .age = DAY, .failures = 180 * DAY }, 0,
	    { RUN(1, SUCCEEDED, 9), RUN(2, FAILED, 9, .retry_of = 1), RUN(3, SUCCEEDED, 9) }, "age/needed - age" },
	{ "also of a retry of that", { .age = DAY, .failures = DAY }, 0,
	    { RUN(1, FAILED, 9), RUN(2, FAILED, 8, .retry_of = 1), RUN(3, RUNNING, 0, .retry_of = 2) },
	    "failures/needed failures/needed -" },
	{ "they go together", { .age = DAY, .failures = DAY }, 0,
	    { RUN(1, FAILED, 9), RUN(2, FAILED, 8, .retry_of = 1), RUN(3, SUCCEEDED, 7, .retry_of = 2) },
	    "failures failures age" },
	{ "what goes by size frees what it continues", { .size = 9 }, 0,
	    { RUN(1, FAILED, 9), RUN(2, SUCCEEDED, 8, .retry_of = 1) }, "size size" },
	{ "but no more than needed", { .size = 10 }, 0,
	    { RUN(1, FAILED, 9), RUN(2, SUCCEEDED, 8, .retry_of = 1) }, "- size" },
	{ "what another run waits for", { .age = DAY }, 0,
	    { RUN(1, SUCCEEDED, 9), RUN(2, QUEUED, 0, .after = 1), RUN(3, SUCCEEDED, 9),
	      RUN(4, SUCCEEDED, 0, .after = 3) },
	    "age/needed - age -" },
	{ "a run that was pruned before is continued", { .age = DAY }, 0,
	    { RUN(4, SUCCEEDED, 9), RUN(5, RUNNING, 0, .retry_of = 3) }, "age -" },
	{ "a number that no run has", { .age = DAY }, 0, { RUN(1, SUCCEEDED, 9), RUN(2, RUNNING, 0, .retry_of = 7) },
	    "age -" },
	{ "a held run that is continued is held", { .age = DAY }, 0,
	    { RUN(1, HELD, 9), RUN(2, RUNNING, 0, .retry_of = 1) }, "age/held -" },
};

static int64_t number_of(int64_t given, int64_t none)
{
	return given == 0 ? none : given == ZERO ? 0 : given;
}

static struct retention_policy policy_of(const struct retention_policy *given)
{
	return (struct retention_policy){ number_of(given->age, NO), number_of(given->failures, NO),
		number_of(given->number, NO), number_of(given->size, NO) };
}

/* Returns how many there are. */
static size_t runs_of(const struct past *past, struct retention_run *runs)
{
	size_t count = 0;

	for (; count < MOST && past[count].id != 0; count++) {
		const struct past *p = &past[count];

		runs[count] = (struct retention_run){
			.id = p->id, .state = p->state, .since = NOW - p->days * DAY + p->younger,
			.bytes = p->unmeasured ? NO : number_of(p->bytes, 10), .retry_of = number_of(p->retry_of, NO),
			.after = number_of(p->after, NO), .at_work = p->at_work, .hook = p->hook, .merged = p->merged,
		};
	}
	return count;
}

static void says(const struct retention_run *run, char *out, size_t room)
{
	const char *limit = state_name(&retention_limit_names, run->limit);

	if (limit == NULL)
		snprintf(out, room, "-");
	else if (run->need == RETENTION_FREE)
		snprintf(out, room, "%s", limit);
	else
		snprintf(out, room, "%s/%s", limit, state_name(&retention_need_names, run->need));
}

START_TEST(decisions)
{
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct retention_policy policy = policy_of(&cases[c].policy);
		struct retention_run runs[MOST];
		size_t count = runs_of(cases[c].runs, runs);
		char got[256] = "", one[64];

		/* deciding again comes to the same */
		for (int times = 0; times < 2; times++)
			retention_decide(&policy, NOW, cases[c].others, runs, count);
		for (size_t i = 0; i < count; i++) {
			says(&runs[i], one, sizeof(one));
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i > 0 ? " " : "", one);
			ck_assert_int_eq(retention_goes(&runs[i]), strcmp(one, "-") != 0 && strchr(one, '/') == NULL);
		}
		ck_assert_msg(strcmp(got, cases[c].want) == 0, "%s: %s, not %s", cases[c].name, got, cases[c].want);
	}
}
END_TEST

/* The run that needs another is named: the newest of those that stay. */
START_TEST(by_whom)
{
	const struct past past[MOST] = {
		RUN(1, SUCCEEDED, 9), RUN(2, RUNNING, 0, .retry_of = 1), RUN(3, RUNNING, 0, .retry_of = 1),
		RUN(4, SUCCEEDED, 9),
	};
	const struct retention_policy policy = { DAY, NO, NO, NO };
	struct retention_run runs[MOST];

	retention_decide(&policy, NOW, 0, runs, runs_of(past, runs));
	ck_assert_int_eq(runs[0].by, 3);
	ck_assert_int_eq(runs[3].by, NO);
}
END_TEST

/* An answer about one result lets another run go in its place. */
START_TEST(asked)
{
	const struct past past[MOST] = { RUN(1, SUCCEEDED, 9), RUN(2, SUCCEEDED, 8) };
	const struct retention_policy policy = { NO, NO, NO, 10 };
	struct retention_run runs[MOST];
	size_t count = runs_of(past, runs);

	retention_decide(&policy, NOW, 0, runs, count);
	ck_assert(retention_goes(&runs[0]) && !retention_goes(&runs[1]));
	runs[0].merged = RETENTION_IS_UNMERGED;
	retention_decide(&policy, NOW, 0, runs, count);
	ck_assert(!retention_goes(&runs[0]) && retention_goes(&runs[1]));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { decisions, by_whom, asked };

	return RUN_SUITE("retention", tests);
}
