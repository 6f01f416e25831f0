/* SPDX-License-Identifier: MIT */
#include "core/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "proto/units.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)
#define SHARE 0.05	/* of the cap, for the first attempt of a role */
#define DUST 1e-6	/* tolerance for rounding errors in sums */

static const char *const kinds[BUDGET_KINDS] = {
	[BUDGET_COST] = "cost",
	[BUDGET_TOKENS] = "tokens",
	[BUDGET_WALL] = "wall",
};

const struct state_names budget_kind_names = { "budget", kinds, BUDGET_KINDS, NULL };

static double number(int64_t value)
{
	return value == ROW_NONE ? (double)NAN : (double)value;
}

static double tokens_of(const struct attempt_row *a)
{
	const int64_t parts[] = { a->tokens_input, a->tokens_cached, a->tokens_cache_write, a->tokens_output };
	double sum = NAN;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] != ROW_NONE)
			sum = (isnan(sum) ? 0 : sum) + (double)parts[i];
	return sum;
}

double budget_told(const struct attempt_row *a, enum budget_kind kind)
{
	switch (kind) {
	case BUDGET_COST:
		return a->cost_usd;
	case BUDGET_TOKENS:
		return tokens_of(a);
	case BUDGET_WALL:
		return a->started_at == ROW_NONE || a->ended_at == ROW_NONE ? (double)NAN :
		    (double)(a->ended_at - a->started_at);
	case BUDGET_KINDS:
		break;
	}
	abort();
}

static bool is_same_conversation(const struct attempt_row *a, const struct attempt_row *b)
{
	return a->session != NULL && b->session != NULL && strcmp(a->session, b->session) == 0 &&
	    strcmp(a->agent, b->agent) == 0;
}

static void take_off(int64_t *tokens, int64_t before)
{
	if (*tokens != ROW_NONE && before != ROW_NONE)
		*tokens = *tokens > before ? *tokens - before : 0;
}

void budget_take_off(const struct attempt_row *const *attempts, size_t count, struct attempt_row *a)
{
	for (size_t i = 0; i < count; i++) {
		const struct attempt_row *before = attempts[i];

		if (before->id >= a->id || !is_same_conversation(before, a))
			continue;
		take_off(&a->tokens_input, before->tokens_input);
		take_off(&a->tokens_cached, before->tokens_cached);
		take_off(&a->tokens_cache_write, before->tokens_cache_write);
		take_off(&a->tokens_output, before->tokens_output);
		take_off(&a->tokens_reasoning, before->tokens_reasoning);
	}
}

static double set_aside(const struct attempt_row *a, enum budget_kind kind)
{
	switch (kind) {
	case BUDGET_COST:
		return a->reserved_usd;
	case BUDGET_TOKENS:
		return number(a->reserved_tokens);
	case BUDGET_WALL:
	case BUDGET_KINDS:
		break;
	}
	return NAN;
}

static bool has_ended(const struct attempt_row *a)
{
	return a->state == ATTEMPT_S_EXITED || a->state == ATTEMPT_S_LOST;
}

double budget_used(const struct attempt_row *a, enum budget_kind kind)
{
	double used = budget_told(a, kind);

	return isnan(used) ? set_aside(a, kind) : used;
}

void budget_add(struct budget *b, const struct attempt_row *a)
{
	for (int kind = BUDGET_COST; kind <= BUDGET_TOKENS; kind++) {
		double used = has_ended(a) ? budget_used(a, (enum budget_kind)kind) :
		    set_aside(a, (enum budget_kind)kind);

		if (isnan(used))
			continue;
		*(has_ended(a) ? &b->spent[kind] : &b->reserved[kind]) += used;
		b->under_way[kind] += !has_ended(a);
	}
}

struct budget budget_of_run(const struct plan *plan, const struct run_row *run,
    const struct attempt_row *const *attempts, size_t count, int64_t but, int64_t now)
{
	struct budget b = { .cap = { plan->max_cost_usd, number(plan->max_tokens), number(plan->max_wall_ms) } };

	for (size_t i = 0; i < count; i++)
		if (attempts[i]->id != but)
			budget_add(&b, attempts[i]);
	if (run->started_at != ROW_NONE)
		b.spent[BUDGET_WALL] = (double)((run->ended_at != ROW_NONE ? run->ended_at : now) - run->started_at);
	return b;
}

bool plan_has_budget(const struct plan *plan)
{
	return !isnan(plan->max_cost_usd) || plan->max_tokens != ROW_NONE || plan->max_wall_ms != ROW_NONE;
}

bool budget_has_cap(const struct budget *b)
{
	return !isnan(b->cap[BUDGET_COST]) || !isnan(b->cap[BUDGET_TOKENS]) || !isnan(b->cap[BUDGET_WALL]);
}

double budget_estimate(const struct attempt_row *const *attempts, size_t count, enum role role,
    enum budget_kind kind, double cap)
{
	double most = NAN;

	for (size_t i = 0; i < count; i++) {
		double used = attempts[i]->role == (int)role && has_ended(attempts[i]) ?
		    budget_told(attempts[i], kind) : (double)NAN;

		if (!isnan(used) && !(used <= most))
			most = used;
	}
	if (isnan(most))
		most = cap * SHARE;
	return kind == BUDGET_TOKENS ? ceil(most) : most;
}

bool budget_is_spent(const struct budget *b, enum budget_kind *kind)
{
	for (int i = 0; i < BUDGET_KINDS; i++) {
		if (isnan(b->cap[i]) || b->spent[i] < b->cap[i] - DUST)
			continue;
		*kind = (enum budget_kind)i;
		return true;
	}
	return false;
}

enum budget_word budget_ask(const struct budget *b, const double own[BUDGET_KINDS], enum budget_kind *kind)
{
	if (budget_is_spent(b, kind))
		return BUDGET_SPENT;
	for (int i = 0; i < BUDGET_KINDS; i++) {
		double mine = isnan(own[i]) ? 0 : own[i];

		if (isnan(b->cap[i]) || b->under_way[i] == 0 || b->spent[i] + b->reserved[i] + mine <= b->cap[i] + DUST)
			continue;
		*kind = (enum budget_kind)i;
		return BUDGET_WAIT;
	}
	return BUDGET_START;
}

bool budget_is_short(const struct budget *b, const double own[BUDGET_KINDS], enum budget_kind *kind)
{
	for (int i = 0; i < BUDGET_KINDS; i++) {
		if (isnan(b->cap[i]) || isnan(own[i]) || b->under_way[i] > 0 ||
		    b->spent[i] + own[i] <= b->cap[i] + DUST)
			continue;
		*kind = (enum budget_kind)i;
		return true;
	}
	return false;
}

bool budget_warns(double cap, double before, double spent)
{
	return !isnan(cap) && before < cap * BUDGET_WARN - DUST && spent >= cap * BUDGET_WARN - DUST;
}

static char *amount(enum budget_kind kind, double value)
{
	char text[32];

	switch (kind) {
	case BUDGET_COST:
		return xasprintf("$%.*f", value > 0 && value < 0.1 ? 4 : 2, value);
	case BUDGET_TOKENS:
		return xasprintf("%.0f", value);
	case BUDGET_WALL:
		duration_format((int64_t)value, text, sizeof(text));
		return xstrdup(text);
	case BUDGET_KINDS:
		break;
	}
	abort();
}

const struct budget_words budget_words[BUDGET_KINDS] = {
	[BUDGET_COST] = { "max_cost", "budget_day_usd", "spent" },
	[BUDGET_TOKENS] = { "max_tokens", "budget_day_tokens", "used" },
	[BUDGET_WALL] = { "max_wall", "budget_day_wall", "over" },
};

char *budget_amount(enum budget_kind kind, double value)
{
	char *number = amount(kind, value), *text = xasprintf("%s%s", number, kind == BUDGET_TOKENS ? " tokens" : "");

	free(number);
	return text;
}

char *budget_text(const struct budget *b, enum budget_kind kind)
{
	char *spent = amount(kind, b->spent[kind]), *cap = amount(kind, b->cap[kind]);
	char *text = xasprintf("%s of %s%s", spent, cap, kind == BUDGET_TOKENS ? " tokens" : "");

	free(cap);
	free(spent);
	return text;
}

struct spend_row *budget_day_row(struct spend_row *const *rows, size_t count, int64_t day)
{
	struct spend_row *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (rows[i]->day == day + 1 || (rows[i]->day == day && found == NULL))
			found = rows[i];
	return found;
}

int64_t budget_day(int64_t time)
{
	return time < 0 ? 0 : time / DAY_MS;
}

int64_t budget_midnight(int64_t time)
{
	return (budget_day(time) + 1) * DAY_MS;
}
