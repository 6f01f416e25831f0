/* SPDX-License-Identifier: MIT */
#include "client/budget_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/field.h"
#include "client/print.h"
#include "proto/memory.h"

static char *budget_money(double amount)
{
	return xasprintf("$%.*f", amount > 0 && amount < 0.1 ? 4 : 2, amount);
}

static char *budget_count(double amount)
{
	return print_count((int64_t)amount);
}

static char *budget_span(double amount)
{
	return print_duration((int64_t)amount);
}

static const struct {
	const char *kind;			/* of events */
	const char *limit, *spent, *reserved;	/* members of the budget; NULL: none */
	char *(*print)(double amount);
	const char *unit;
} kinds[] = {
	{ "cost", "max_cost_usd", "spent_usd", "reserved_usd", budget_money, "" },
	{ "tokens", "max_tokens", "spent_tokens", "reserved_tokens", budget_count, " tokens" },
	{ "wall", "max_wall_ms", "wall_ms", NULL, budget_span, "" },
};

#define KINDS ARRAY_SIZE(kinds)

/* reserved NaN: omit it. */
static char *budget_part(size_t kind, double spent, double limit, double reserved)
{
	char *had = kinds[kind].print(spent), *most = kinds[kind].print(limit),
	     *aside = kinds[kind].print(reserved > 0 ? reserved : 0);
	char *text = xasprintf("%s of %s%s%s%s%s", had, most, kinds[kind].unit,
	    reserved > 0 ? ", " : "", reserved > 0 ? aside : "", reserved > 0 ? " reserved" : "");

	free(had);
	free(most);
	free(aside);
	return text;
}

char *budget_line(const json_t *budget)
{
	struct buf line = { 0 };

	for (size_t i = 0; i < KINDS; i++) {
		double limit = field_real(budget, kinds[i].limit);
		char *text;

		if (isnan(limit))
			continue;
		text = budget_part(i, field_real(budget, kinds[i].spent), limit,
		    kinds[i].reserved != NULL ? field_real(budget, kinds[i].reserved)
		                              : (double)NAN);
		buf_separate(&line, "; ");
		buf_adds(&line, text);
		free(text);
	}
	return buf_take(&line, NULL);
}

char *budget_told(const json_t *event)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i].kind, field_text(event, "kind")) == 0)
			return budget_part(i, field_real(event, "spent"), field_real(event, "limit"), (double)NAN);
	return xstrdup("");
}
