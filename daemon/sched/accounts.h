/* SPDX-License-Identifier: MIT */
/* Accounts: their cooldowns, and what they have spent. */
#ifndef SCHED_ACCOUNTS_H
#define SCHED_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/row.h"
#include "model/reply.h"

struct accounts;
struct engine;
struct txn;

/* Limits of an account in rld.toml: the longest cooldown, and budgets for a day of UTC (NaN,
 * ROW_NONE: none). */
struct account_limits {
	int64_t cooldown_max_ms;
	double budget_day_usd;
	int64_t budget_day_tokens, budget_day_wall_ms;
};

/* for an account that rld.toml does not name */
#define ACCOUNT_COOLDOWN_MAX_MS (INT64_C(24) * 3600 * 1000)

/* Set the accounts of rld.toml, at start and after a reload. names is NULL-terminated, with one
 * limits for each. */
void engine_configure_accounts(struct engine *engine, const char *const *names, const struct account_limits *limits);

struct account_info {
	const char *name;
	const struct account_limits *limits;
	const struct cooldown_row *cooldown;	/* in effect; NULL: none */
	const struct spend_row *spend;		/* today's; NULL: none yet */
	double reserved_usd;			/* for unfinished attempts */
	int64_t reserved_tokens;
	size_t waiting;				/* slots that wait for the account */
};

/* The cooldown in force; NULL: none. Valid until the next call about the account. */
const struct cooldown_row *account_cooldown(struct engine *engine, const char *account);

/* Call each for every account that rld.toml names, that was ever exhausted, or that has paid, by
 * name. */
void engine_accounts(struct engine *engine, void (*each)(void *arg, const struct account_info *account), void *arg);

/* Set the cooldown of an account; a time in the past lifts it, and waiting attempts continue.
 * reason may be NULL. by: user name. The account need not be known. reply.id is 0, without rows. */
void engine_cooldown_set(struct engine *engine, const char *account, int64_t until,
    const char *reason, const char *by, bool check, engine_reply_cb *cb, void *arg);

struct accounts *accounts_new(void);
void accounts_free(struct accounts *accounts);
/* takes ownership of row */
void accounts_load_cooldown(struct engine *engine, struct cooldown_row *row);
/* takes ownership of row */
void accounts_load_spend(struct engine *engine, struct spend_row *row);
/* Record and emit a cooldown; until in the past: lifted. A limit lasts at most cooldown_max. */
void account_cool(struct txn *txn, struct engine *engine, const char *account,
    enum cooldown_kind kind, int64_t until, const char *reason, int64_t attempt, const char *set_by);
/* The service refused an attempt because the account is exhausted. words: of the service, NULL:
 * none. reset_at ROW_NONE: not given. A longer cooldown stays. */
void account_exhausted(struct txn *txn, struct engine *engine, const struct attempt_row *a,
    int64_t reset_at, const char *words);
/* The service has served an attempt: lift the cooldown, whatever it said before. */
void account_serves(struct txn *txn, struct engine *engine, const struct attempt_row *a);
const struct account_limits *account_limits(struct engine *engine, const char *account);
/* Today's spending of an account; all 0 before the first. */
const struct spend_row *account_spend(struct engine *engine, const char *account);
/* An attempt has ended: add its cost to the day's row. Negative numbers count as none. */
void account_settle(struct txn *txn, struct engine *engine, const char *account, double cost_usd,
    int64_t tokens, int64_t wall_ms);
/* Today's budget, without reservations. */
struct budget account_day(struct engine *engine, const char *account);
/* If the day's budget is spent, the account is exhausted until the next day. b: its day; attempt:
 * that spent it, ROW_NONE: none. */
void account_cool_if_spent(struct txn *txn, struct engine *engine, const char *account,
    const struct budget *b, int64_t attempt);
/* The same in a separate decision; and for all accounts. */
void account_look(struct engine *engine, const char *account);
void accounts_look(struct engine *engine);

#endif
