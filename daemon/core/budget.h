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

/* In US dollars, tokens and milliseconds. Nothing is set aside of time: it passes by itself. */
enum budget_kind { BUDGET_COST, BUDGET_TOKENS, BUDGET_WALL, BUDGET_KINDS };

extern const struct state_names budget_kind_names;

/* How a limit of each kind is called, of a run and of an account, and what has become of it. */
struct budget_words { const char *run, *account, *spent; };

extern const struct budget_words budget_words[BUDGET_KINDS];

#define BUDGET_WARN 0.8		/* of a limit: the run gets a warning */

struct budget {
	double cap[BUDGET_KINDS];	/* NaN: no limit */
	double spent[BUDGET_KINDS];
	double reserved[BUDGET_KINDS];
	size_t under_way[BUDGET_KINDS];	/* attempts for which it is set aside */
};

/* That of a run from its rows, but for one attempt (ROW_NONE: all). now: TIME. */
struct budget budget_of_run(const struct plan *plan, const struct run_row *run,
    const struct attempt_row *const *attempts, size_t count, int64_t but, int64_t now);

/* Does the plan of a run have one? */
bool plan_has_budget(const struct plan *plan);

/* Is there a limit of any kind? */
bool budget_has_cap(const struct budget *b);

/* One attempt is counted: what it has cost, or what is set aside for it. */
void budget_add(struct budget *b, const struct attempt_row *a);

/* What an attempt says that it has used, NaN: it does not. Tokens are those of all kinds. */
double budget_told(const struct attempt_row *a, enum budget_kind kind);

/* The tokens of an attempt are those of its whole conversation: what the attempts before it in that
 * have used is taken off. */
void budget_take_off(const struct attempt_row *const *attempts, size_t count, struct attempt_row *a);

/* What an attempt that has ended counts as: what it says, else what was set aside for
 * it; NaN: neither. */
double budget_used(const struct attempt_row *a, enum budget_kind kind);

/* What is set aside for an attempt of that role: what the dearest of its role in the run has cost
 * so far, else a twentieth of the cap. */
double budget_estimate(const struct attempt_row *const *attempts, size_t count, enum role role,
    enum budget_kind kind, double cap);

enum budget_word {
	BUDGET_START,
	BUDGET_WAIT,			/* for what is under way: too much is set aside for it */
	BUDGET_SPENT			/* nothing more starts */
};

/* May an attempt start for which `own` would be reserved? *kind: the limit that refuses it. With
 * nothing else under way it may start as long as anything is left, since there is nothing to wait
 * for. */
enum budget_word budget_ask(const struct budget *b, const double own[BUDGET_KINDS], enum budget_kind *kind);

/* Is nothing left? *kind: of what. */
bool budget_is_spent(const struct budget *b, enum budget_kind *kind);

/* With `spent` four fifths of the cap are reached, which they were not with `before`. */
bool budget_warns(double cap, double before, double spent);

/* "$4.80 of $5.00", "1200000 of 1000000 tokens", "2h 05m of 2h"; malloc'd. */
char *budget_text(const struct budget *b, enum budget_kind kind);

/* The row of an account that counts on a day, NULL: it has spent nothing yet. A clock that is set
 * back over midnight makes no new day; one that was days ahead for a while comes back to the day
 * that it has left. */
struct spend_row *budget_day_row(struct spend_row *const *rows, size_t count, int64_t day);

/* What may be spent on a day is of the days of UTC, counted from 1970-01-01; a negative time is of
 * no day before that. */
int64_t budget_day(int64_t time);
/* TIME when the next one begins. */
int64_t budget_midnight(int64_t time);

#endif
