/* SPDX-License-Identifier: MIT */
/* Budgets of runs and accounts: spent, reserved for attempts under way, and whether one more may
 * start. Pure.
 *
 * The cost of an attempt is unknown before its end. So an amount is reserved before it starts, and
 * replaced by what the attempt reports; when it reports nothing, the reserved amount counts. */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"

/* US dollars, tokens and milliseconds. Time is never reserved: it passes by itself. */
enum budget_kind { BUDGET_COST, BUDGET_TOKENS, BUDGET_WALL, BUDGET_KINDS };

extern const struct state_names budget_kind_names;

/* Names of the limits of each kind, for a run and for an account, and the word for their use. */
struct budget_words { const char *run, *account, *spent; };

extern const struct budget_words budget_words[BUDGET_KINDS];

#define BUDGET_WARN 0.8		/* of a limit: the run gets a warning */

struct budget {
	double cap[BUDGET_KINDS];	/* NaN: no limit */
	double spent[BUDGET_KINDS];
	double reserved[BUDGET_KINDS];
	size_t under_way[BUDGET_KINDS];	/* number of running attempts with a reservation */
};

/* Budget of a run from its rows, without attempt `but` (ROW_NONE: with all). now: TIME. */
struct budget budget_of_run(const struct plan *plan, const struct run_row *run,
    const struct attempt_row *const *attempts, size_t count, int64_t but, int64_t now);

/* Whether the plan of a run sets any limit. */
bool plan_has_budget(const struct plan *plan);

/* Whether there is a limit of any kind. */
bool budget_has_cap(const struct budget *b);

/* Add one attempt: its cost, or its reservation. */
void budget_add(struct budget *b, const struct attempt_row *a);

/* What an attempt reported, NaN: nothing. Tokens are the sum over all kinds. */
double budget_told(const struct attempt_row *a, enum budget_kind kind);

/* The tokens reported by an attempt cover its whole conversation: subtract those of the earlier
 * attempts in it. */
void budget_take_off(const struct attempt_row *const *attempts, size_t count, struct attempt_row *a);

/* What an ended attempt counts as: its report, else its reservation; NaN: neither. */
double budget_used(const struct attempt_row *a, enum budget_kind kind);

/* Reservation for an attempt of that role: the most expensive one of its role in the run so far,
 * else a twentieth of the cap. */
double budget_estimate(const struct attempt_row *const *attempts, size_t count, enum role role,
    enum budget_kind kind, double cap);

enum budget_word {
	BUDGET_START,
	/* until running attempts end: too much is reserved for them */
	BUDGET_WAIT,
	BUDGET_SPENT			/* for good: the limit is reached */
};

/* May an attempt start for which `own` would be reserved? *kind: the limit that refuses it. With
 * nothing else under way it may start as long as anything is left, since there is nothing to wait
 * for. */
enum budget_word budget_ask(const struct budget *b, const double own[BUDGET_KINDS], enum budget_kind *kind);

/* Whether less than that is left, with nothing else under way. *kind: of which limit. */
bool budget_is_short(const struct budget *b, const double own[BUDGET_KINDS], enum budget_kind *kind);

/* Whether nothing is left. *kind: of which limit. */
bool budget_is_spent(const struct budget *b, enum budget_kind *kind);

/* Whether `spent` reaches four fifths of the cap and `before` did not. */
bool budget_warns(double cap, double before, double spent);

/* "$0.02", "3000 tokens"; malloc'd. */
char *budget_amount(enum budget_kind kind, double value);

/* "$4.80 of $5.00", "1200000 of 1000000 tokens", "2h 05m of 2h"; malloc'd. */
char *budget_text(const struct budget *b, enum budget_kind kind);

/* The row of an account for a day, NULL: nothing spent yet. A clock that is set back over midnight
 * starts no new day; one that was days ahead for a while returns to the day it left. */
struct spend_row *budget_day_row(struct spend_row *const *rows, size_t count, int64_t day);

/* Day of a TIME: UTC days, counted from 1970-01-01. A negative time belongs to day 0. */
int64_t budget_day(int64_t time);
/* TIME when the next day begins. */
int64_t budget_midnight(int64_t time);

#endif
