/* SPDX-License-Identifier: MIT */
/* Who pays, until when one is exhausted, and what it has spent. */
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

/* What rld.toml says of a provider account: cooldown_max_ms, how long one may be at most; of a day of UTC: NaN, ROW_NONE: no limit. */
struct account_limits {
	int64_t cooldown_max_ms;
	double budget_day_usd;
	int64_t budget_day_tokens, budget_day_wall_ms;
};

#define ACCOUNT_COOLDOWN_MAX_MS (INT64_C(24) * 3600 * 1000)	/* of an account that rld.toml does not name */

/* Accounts as rld.toml has them: at start and after a reload. names NULL-terminated, limits beside them. */
void engine_configure_accounts(struct engine *engine, const char *const *names, const struct account_limits *limits);

struct account_info {
	const char *name;
	const struct account_limits *limits;
	const struct cooldown_row *cooldown;	/* in force; NULL: none */
	const struct spend_row *spend;		/* of today; NULL: nothing yet */
	double reserved_usd;			/* by attempts that have not ended */
	int64_t reserved_tokens;
	size_t waiting;				/* slots that wait for it */
};

/* The cooldown in force, NULL: none. Valid until the next call about the account. */
const struct cooldown_row *account_cooldown(struct engine *engine, const char *account);

/* Every account that rld.toml names, that was ever exhausted or that has paid for something, by name. */
void engine_accounts(struct engine *engine, void (*each)(void *arg, const struct account_info *account), void *arg);

/* Somebody says that an account is exhausted until then; a time that has passed: that it is not. Who waits for it goes on. reason may be
 * NULL. by: the person's user name. The account need not be known. reply.id is 0 and there are no rows. */
void engine_cooldown_set(struct engine *engine, const char *account, int64_t until, const char *reason, const char *by, bool check,
    engine_reply_cb *cb, void *arg);

struct accounts *accounts_new(void);
void accounts_free(struct accounts *accounts);
void accounts_load_cooldown(struct engine *engine, struct cooldown_row *row);	/* takes row */
void accounts_load_spend(struct engine *engine, struct spend_row *row);		/* takes row */
/* Puts the row into the transaction and tells it; until one that has passed: lifted. A limit lasts no longer than cooldown_max. */
void account_cool(struct txn *txn, struct engine *engine, const char *account, enum cooldown_kind kind, int64_t until, const char *reason,
    int64_t attempt, const char *set_by);
/* Its service says so to an attempt, in these words, NULL: in none. reset_at ROW_NONE: it does not say until when. What is exhausted for longer stays so. */
void account_exhausted(struct txn *txn, struct engine *engine, const struct attempt_row *a, int64_t reset_at, const char *words);
/* It has served an attempt: it is not exhausted any more, whatever it said before. */
void account_serves(struct txn *txn, struct engine *engine, const struct attempt_row *a);
const struct account_limits *account_limits(struct engine *engine, const char *account);
/* What it has paid for today; all 0 before the first. */
const struct spend_row *account_spend(struct engine *engine, const char *account);
/* An attempt of it has ended: the day's row goes into the txn. Negative numbers are none. */
void account_settle(struct txn *txn, struct engine *engine, const char *account, double cost_usd, int64_t tokens, int64_t wall_ms);
/* Of today, without what is set aside. */
struct budget account_day(struct engine *engine, const char *account);
/* What it may pay for today is spent: it is exhausted until the next day. b: its day; attempt: that has spent it, ROW_NONE. */
void account_cool_if_spent(struct txn *txn, struct engine *engine, const char *account, const struct budget *b, int64_t attempt);
/* The same, as a decision of its own; of all accounts. */
void account_look(struct engine *engine, const char *account);
void accounts_look(struct engine *engine);

#endif
