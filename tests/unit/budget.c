/* SPDX-License-Identifier: MIT */
/* Budgets: what counts as spent, what is set aside, who may start; days. */
#include <math.h>
#include <string.h>

#include "core.h"
#include "core/budget.h"
#include "proto/memory.h"

#define HOUR INT64_C(3600000)

static struct attempt_row row(int64_t id, enum role role, enum attempt_state state, double cost, double reserved)
{
	struct attempt_row a;

	row_init(ROW_ATTEMPT, &a);
	a.id = id;
	a.role = (int)role;
	a.state = (int)state;
	a.cost_usd = cost;
	a.reserved_usd = reserved;
	return a;
}

static struct budget dollars(double cap, double spent, double reserved, size_t under_way)
{
	struct budget b = { .cap = { NAN, NAN, NAN } };

	b.cap[BUDGET_COST] = cap;
	b.spent[BUDGET_COST] = spent;
	b.reserved[BUDGET_COST] = reserved;
	b.under_way[BUDGET_COST] = under_way;
	return b;
}

START_TEST(what_an_attempt_counts_as)
{
	struct attempt_row a = row(1, ROLE_FIX, ATTEMPT_S_EXITED, 0.5, 2);

	ck_assert(budget_used(&a, BUDGET_COST) == 0.5);
	/* it says nothing: what was set aside is gone */
	a.cost_usd = NAN;
	ck_assert(isnan(budget_told(&a, BUDGET_COST)) && budget_used(&a, BUDGET_COST) == 2);
	a.reserved_usd = NAN;
	ck_assert(isnan(budget_used(&a, BUDGET_COST)));
	/* each token once: those of reasoning are in the output */
	ck_assert(isnan(budget_told(&a, BUDGET_TOKENS)));
	a.tokens_input = 1;
	a.tokens_cached = 20;
	a.tokens_cache_write = 300;
	a.tokens_output = 4000;
	a.tokens_reasoning = 3000;
	a.reserved_tokens = 9;
	ck_assert(budget_used(&a, BUDGET_TOKENS) == 4321);
	a.tokens_input = a.tokens_cached = a.tokens_cache_write = a.tokens_output = ROW_NONE;
	ck_assert(budget_used(&a, BUDGET_TOKENS) == 9);
	ck_assert(isnan(budget_used(&a, BUDGET_WALL)));
	a.started_at = 1000;
	a.ended_at = 5000;
	ck_assert(budget_used(&a, BUDGET_WALL) == 4000);
}
END_TEST

/* Some programs count a conversation from its beginning. */
START_TEST(tokens_of_a_conversation)
{
	struct attempt_row rows[5];
	const struct attempt_row *list[5];

	for (int i = 0; i < 5; i++) {
		rows[i] = row(i + 1, ROLE_FIX, ATTEMPT_S_EXITED, NAN, NAN);
		rows[i].agent = (char *)(i == 1 ? "qwen" : "codex");
		rows[i].session = (char *)(i == 2 ? "other" : "s");
		rows[i].tokens_input = 100;
		list[i] = &rows[i];
	}
	rows[0].tokens_output = 10;
	rows[3].tokens_input = 250;
	rows[3].tokens_output = 15;
	rows[3].tokens_cached = 7;
	budget_take_off(list, 4, &rows[3]);
	ck_assert(rows[3].tokens_input == 150 && rows[3].tokens_output == 5 &&
	    rows[3].tokens_cached == 7 && rows[3].tokens_reasoning == ROW_NONE);
	/* the next one stands on both; one that says less than before has begun anew */
	rows[4].tokens_input = 251;
	rows[4].tokens_output = 3;
	budget_take_off(list, 5, &rows[4]);
	ck_assert(rows[4].tokens_input == 1 && rows[4].tokens_output == 0);
}
END_TEST

START_TEST(a_run_adds_up)
{
	struct plan plan = { .max_cost_usd = 10, .max_tokens = ROW_NONE, .max_wall_ms = 2 * HOUR };
	struct run_row run;
	struct attempt_row rows[] = {
		row(1, ROLE_IMPLEMENT, ATTEMPT_S_EXITED, 1, NAN), row(2, ROLE_CHECK,
		    ATTEMPT_S_EXITED, NAN, NAN), row(3, ROLE_REVIEW, ATTEMPT_S_LOST, NAN, 0.5),
		row(4, ROLE_FIX, ATTEMPT_S_RUNNING, NAN, 0.25), row(5, ROLE_FIX, ATTEMPT_S_STARTING,
		    NAN, NAN), row(6, ROLE_FIX, ATTEMPT_S_STARTING, NAN, 2),
	};
	const struct attempt_row *list[6];
	struct budget b;

	for (size_t i = 0; i < 6; i++)
		list[i] = &rows[i];
	row_init(ROW_RUN, &run);
	b = budget_of_run(&plan, &run, list, 6, ROW_NONE, 9 * HOUR);
	ck_assert(b.spent[BUDGET_COST] == 1.5 && b.reserved[BUDGET_COST] == 2.25 && b.under_way[BUDGET_COST] == 2);
	ck_assert(b.spent[BUDGET_WALL] == 0 && isnan(b.cap[BUDGET_TOKENS]) && budget_has_cap(&b) &&
	    plan_has_budget(&plan));
	b = budget_of_run(&plan, &run, list, 6, 6, 9 * HOUR);
	ck_assert(b.reserved[BUDGET_COST] == 0.25 && b.under_way[BUDGET_COST] == 1);
	/* time passes from the start, and no more after the end */
	run.started_at = 8 * HOUR;
	ck_assert(budget_of_run(&plan, &run, list, 6, 6, 9 * HOUR).spent[BUDGET_WALL] == (double)HOUR);
	run.ended_at = 8 * HOUR + 5;
	ck_assert(budget_of_run(&plan, &run, list, 6, 6, 9 * HOUR).spent[BUDGET_WALL] == 5);
	plan = (struct plan){ .max_cost_usd = NAN, .max_tokens = ROW_NONE, .max_wall_ms = ROW_NONE };
	b = budget_of_run(&plan, &run, list, 6, 6, 9 * HOUR);
	ck_assert(!budget_has_cap(&b) && !plan_has_budget(&plan));
	plan.max_tokens = 1;
	ck_assert(plan_has_budget(&plan));
}
END_TEST

/* The dearest of the same role so far; what is not known says nothing about others. */
START_TEST(what_is_set_aside)
{
	struct attempt_row rows[] = {
		row(1, ROLE_IMPLEMENT, ATTEMPT_S_EXITED, 1, NAN), row(2, ROLE_IMPLEMENT,
		    ATTEMPT_S_EXITED, 3, NAN), row(3, ROLE_IMPLEMENT, ATTEMPT_S_LOST, NAN, 7),
		row(4, ROLE_REVIEW, ATTEMPT_S_EXITED, 0.25, NAN), row(5, ROLE_FIX, ATTEMPT_S_RUNNING, 9, NAN),
	};
	const struct attempt_row *list[5];

	for (size_t i = 0; i < 5; i++)
		list[i] = &rows[i];
	ck_assert(budget_estimate(list, 5, ROLE_IMPLEMENT, BUDGET_COST, 100) == 3);
	ck_assert(budget_estimate(list, 5, ROLE_REVIEW, BUDGET_COST, 100) == 0.25);
	ck_assert(budget_estimate(list, 5, ROLE_FIX, BUDGET_COST, 100) == 5);
	/* whole tokens */
	ck_assert(budget_estimate(list, 5, ROLE_FIX, BUDGET_TOKENS, 101) == 6);
	ck_assert(isnan(budget_estimate(list, 0, ROLE_FIX, BUDGET_COST, NAN)));
}
END_TEST

static enum budget_word ask(struct budget b, double own)
{
	const double all[BUDGET_KINDS] = { own, NAN, NAN };
	enum budget_kind kind = BUDGET_KINDS;
	enum budget_word word = budget_ask(&b, all, &kind);

	ck_assert(word == BUDGET_START || kind == BUDGET_COST);
	return word;
}

START_TEST(who_may_start)
{
	struct budget b;
	enum budget_kind kind;

	ck_assert_int_eq(ask(dollars(10, 4, 3, 1), 3), BUDGET_START);
	ck_assert_int_eq(ask(dollars(10, 4, 3, 1), 3.01), BUDGET_WAIT);
	/* nobody waits for nothing */
	ck_assert_int_eq(ask(dollars(10, 9.99, 0, 0), 5), BUDGET_START);
	ck_assert_int_eq(ask(dollars(10, 10, 0, 0), 0.01), BUDGET_SPENT);
	ck_assert_int_eq(ask(dollars(10, 12, 3, 2), 0.01), BUDGET_SPENT);
	ck_assert_int_eq(ask(dollars(0, 0, 0, 0), 0.01), BUDGET_SPENT);
	ck_assert_int_eq(ask(dollars(NAN, 1e9, 1e9, 9), NAN), BUDGET_START);
	/* sums of fractions are not exact, and that is nobody's fault */
	ck_assert_int_eq(ask(dollars(0.3, 0.1 + 0.1, 0.05, 1), 0.05), BUDGET_START);
	ck_assert_int_eq(ask(dollars(1, 0.1 * 9.999999999999999, 0, 0), 0.1), BUDGET_SPENT);
	/* of several the one that says no is told; what is spent goes before what is
	 * only set aside */
	b = dollars(10, 4, 6, 1);
	b.cap[BUDGET_TOKENS] = 100;
	b.spent[BUDGET_TOKENS] = 100;
	ck_assert_int_eq(budget_ask(&b, (const double[]){ 1, 1, NAN }, &kind), BUDGET_SPENT);
	ck_assert_int_eq(kind, BUDGET_TOKENS);
	b.spent[BUDGET_TOKENS] = 0;
	b.cap[BUDGET_WALL] = 5;
	b.spent[BUDGET_WALL] = 5;
	ck_assert(budget_is_spent(&b, &kind) && kind == BUDGET_WALL);
}
END_TEST

/* At whatever step a sum crosses four fifths, it is said once. */
START_TEST(four_fifths_are_told_once)
{
	int told = 0;

	for (int i = 0; i < 40; i++)
		told += budget_warns(10, i * 0.5, (i + 1) * 0.5);
	ck_assert_int_eq(told, 1);
	ck_assert(budget_warns(10, 7.99, 8) && !budget_warns(10, 8, 8.5) &&
	    !budget_warns(10, 1, 7.99) && budget_warns(10, 0, 50) && !budget_warns(NAN, 0, 50));
}
END_TEST

static void expect_text(double cap, double spent, enum budget_kind kind, const char *want)
{
	struct budget b = { .cap = { NAN, NAN, NAN } };
	char *text;

	b.cap[kind] = cap;
	b.spent[kind] = spent;
	text = budget_text(&b, kind);
	ck_assert_str_eq(text, want);
	free(text);
}

START_TEST(texts)
{
	expect_text(5, 4.8, BUDGET_COST, "$4.80 of $5.00");
	expect_text(0.05, 0, BUDGET_COST, "$0.00 of $0.0500");
	expect_text(1000000, 1200000, BUDGET_TOKENS, "1200000 of 1000000 tokens");
	expect_text(2 * (double)HOUR, 125 * 60000.0, BUDGET_WALL, "2h 05m of 2h 00m");
	ck_assert_str_eq(state_name(&budget_kind_names, BUDGET_WALL), "wall");
}
END_TEST

START_TEST(the_row_of_a_day)
{
	struct spend_row on[] = { { .day = 0 }, { .day = 20779 }, { .day = 20780 }, { .day = 24855 } },
	    *rows[] = { &on[3], &on[1], &on[0], &on[2] };

	ck_assert_ptr_null(budget_day_row(NULL, 0, 20779));
	ck_assert_ptr_eq(budget_day_row(rows, 4, 20780), &on[2]);
	/* set back over midnight, in whatever order they were read */
	ck_assert_ptr_eq(budget_day_row(rows, 4, 20779), &on[2]);
	ck_assert_ptr_null(budget_day_row(rows, 4, 20781));
	/* far ahead, or not set yet, and back again */
	ck_assert_ptr_eq(budget_day_row(rows, 4, 24855), &on[3]);
	ck_assert_ptr_eq(budget_day_row(rows, 4, 0), &on[0]);
	ck_assert_ptr_eq(budget_day_row(rows, 2, 20779), &on[1]);
}
END_TEST

START_TEST(days)
{
	const int64_t noon = INT64_C(1795348800000);	/* 2026-11-22 12:00 */

	ck_assert_int_eq(budget_day(0), 0);
	ck_assert_int_eq(budget_day(24 * HOUR - 1), 0);
	ck_assert_int_eq(budget_day(24 * HOUR), 1);
	ck_assert_int_eq(budget_day(-1), 0);
	ck_assert_int_eq(budget_midnight(noon), noon + 12 * HOUR);
	ck_assert_int_eq(budget_midnight(noon + 12 * HOUR - 1), noon + 12 * HOUR);
	ck_assert_int_eq(budget_midnight(noon + 12 * HOUR), noon + 36 * HOUR);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { what_an_attempt_counts_as, tokens_of_a_conversation,
	    a_run_adds_up, what_is_set_aside, who_may_start,
	    four_fifths_are_told_once, texts, the_row_of_a_day, days };

	return RUN_SUITE("budget", tests);
}
