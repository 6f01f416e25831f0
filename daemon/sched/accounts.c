/* SPDX-License-Identifier: MIT */
/* Provider accounts: limits from rld.toml, and their state, which is in rows: the end of a
 * cooldown, and today's spending. */
#include "sched/accounts.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "base/log.h"
#include "base/strip.h"
#include "core/backoff.h"
#include "core/budget.h"
#include "core/order.h"
#include "core/row.h"
#include "core/state.h"
#include "model/model.h"
#include "model/reply.h"
#include "model/row_json.h"
#include "model/runs.h"
#include "proto/error.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "txn/txn.h"

/* Limit for a service's message, in bytes. */
#define WORDS_MAX 300

/* For a limit without a reset time. */
#define LIMIT_MS (INT64_C(3600) * 1000)

struct account {
	RB_ENTRY(account) entry;
	char *name;
	struct account_limits limits;
	struct cooldown_row *cooldown;	/* the last one, even if it is over; NULL: never */
	struct spend_row **spends;	/* of the last days with spending */
	size_t nspends;
};

static int compare(struct account *a, struct account *b)
{
	return strcmp(a->name, b->name);
}

RB_HEAD(account_tree, account);
TREE(account_tree, account, entry, compare)

struct accounts {
	struct account_tree tree;
};

static const struct account_limits no_limits = {
	.cooldown_max_ms = ACCOUNT_COOLDOWN_MAX_MS, .budget_day_usd = NAN,
	.budget_day_tokens = ROW_NONE, .budget_day_wall_ms = ROW_NONE,
};

struct accounts *accounts_new(void)
{
	struct accounts *accounts = xcalloc(1, sizeof(*accounts));

	RB_INIT(&accounts->tree);
	return accounts;
}

void accounts_free(struct accounts *accounts)
{
	struct account *account;

	while ((account = RB_MIN(account_tree, &accounts->tree)) != NULL) {
		RB_REMOVE(account_tree, &accounts->tree, account);
		row_free(ROW_COOLDOWN, account->cooldown);
		for (size_t i = 0; i < account->nspends; i++)
			row_free(ROW_SPEND, account->spends[i]);
		free(account->spends);
		free(account->name);
		free(account);
	}
	free(accounts);
}

static struct account *find(const struct engine *engine, const char *name)
{
	struct account key = { .name = (char *)name };

	return RB_FIND(account_tree, &engine->accounts->tree, &key);
}

static struct account *find_or_make(struct engine *engine, const char *name)
{
	struct account *account = find(engine, name);

	if (account != NULL)
		return account;
	account = xcalloc(1, sizeof(*account));
	account->name = xstrdup(name);
	account->limits = no_limits;
	RB_INSERT(account_tree, &engine->accounts->tree, account);
	return account;
}

static void add_spend(struct account *account, struct spend_row *row)
{
	account->spends = xreallocarray(account->spends, account->nspends + 1, sizeof(struct spend_row *));
	account->spends[account->nspends++] = row;
}

void accounts_load_cooldown(struct engine *engine, struct cooldown_row *row)
{
	find_or_make(engine, row->account)->cooldown = row;
}

void accounts_load_spend(struct engine *engine, struct spend_row *row)
{
	add_spend(find_or_make(engine, row->account), row);
}

void engine_configure_accounts(struct engine *engine, const char *const *names, const struct account_limits *limits)
{
	struct account *account;

	RB_FOREACH(account, account_tree, &engine->accounts->tree)
		account->limits = no_limits;
	for (size_t i = 0; names[i] != NULL; i++)
		find_or_make(engine, names[i])->limits = limits[i];
	accounts_look(engine);
	effect_cooling_now(engine);
}

void accounts_look(struct engine *engine)
{
	struct account *account;

	if (engine->recovering || engine->stopped)
		return;
	RB_FOREACH(account, account_tree, &engine->accounts->tree)
		account_look(engine, account->name);
}

static bool is_spent(struct engine *engine, const char *name)
{
	struct budget b = account_day(engine, name);
	enum budget_kind kind;

	return budget_is_spent(&b, &kind);
}

static const struct cooldown_row *in_force(struct engine *engine, const struct account *account)
{
	const struct cooldown_row *row = account->cooldown;

	if (row == NULL || row->until <= engine_now(engine))
		return NULL;
	/* after the clock was set back, a cooldown lasts no longer than it could have originally */
	if (row->kind == COOLDOWN_LIMIT && row->until - engine_now(engine) > account->limits.cooldown_max_ms)
		return NULL;
	/* a larger budget ends the cooldown without further action */
	return row->kind == COOLDOWN_BUDGET && !is_spent(engine, account->name) ? NULL : row;
}

const struct cooldown_row *account_cooldown(struct engine *engine, const char *name)
{
	const struct account *account = find(engine, name);

	return account != NULL ? in_force(engine, account) : NULL;
}

const struct account_limits *account_limits(struct engine *engine, const char *name)
{
	const struct account *account = find(engine, name);

	return account != NULL ? &account->limits : &no_limits;
}

static int64_t today(struct engine *engine)
{
	return budget_day(engine_now(engine));
}

/* A new day starts with zero. */
static struct spend_row *spend_of(struct engine *engine, struct account *account)
{
	struct spend_row *row = budget_day_row(account->spends, account->nspends, today(engine));

	if (row != NULL)
		return row;
	row = row_new(ROW_SPEND);
	row->account = xstrdup(account->name);
	row->day = today(engine);
	row->attempts = row->tokens = row->wall_ms = 0;
	row->cost_usd = 0;
	add_spend(account, row);
	return row;
}

const struct spend_row *account_spend(struct engine *engine, const char *name)
{
	return spend_of(engine, find_or_make(engine, name));
}

static double number(int64_t value)
{
	return value == ROW_NONE ? (double)NAN : (double)value;
}

/* Today's budget, without reservations. */
struct budget account_day(struct engine *engine, const char *name)
{
	const struct account_limits *limits = account_limits(engine, name);
	const struct spend_row *spend = account_spend(engine, name);

	return (struct budget){
		.cap = { limits->budget_day_usd, number(limits->budget_day_tokens),
		    number(limits->budget_day_wall_ms) },
		.spent = { spend->cost_usd, (double)spend->tokens, (double)spend->wall_ms },
	};
}

void account_settle(struct txn *txn, struct engine *engine, const char *name, double cost_usd,
    int64_t tokens, int64_t wall_ms)
{
	struct spend_row *row = spend_of(engine, find_or_make(engine, name));

	row->attempts++;
	row->cost_usd += cost_usd > 0 ? cost_usd : 0;
	row->tokens += tokens > 0 ? tokens : 0;
	row->wall_ms += wall_ms > 0 ? wall_ms : 0;
	txn_put(txn, ROW_SPEND, row);
}

void account_cool(struct txn *txn, struct engine *engine, const char *name, enum cooldown_kind kind,
    int64_t until, const char *reason, int64_t attempt, const char *set_by)
{
	struct account *account = find_or_make(engine, name);
	int64_t now = engine_now(engine), most = now + account->limits.cooldown_max_ms;
	struct cooldown_row *row = row_new(ROW_COOLDOWN);

	row->account = xstrdup(name);
	row->kind = (int)kind;
	/* a service's message may be misread; what a user sets, and a day, are exact */
	row->until = kind == COOLDOWN_LIMIT && until > most ? most : until;
	row->reason = xstrdup(reason);
	row->attempt = attempt;
	row->set_by = xstrdup(set_by);
	row->created_at = now;
	row_free(ROW_COOLDOWN, account->cooldown);
	account->cooldown = row;
	txn_put(txn, ROW_COOLDOWN, row);
	txn_emit(txn, "cooldown", ROW_NONE, json_pack("{s:o, s:s, s:b, s:o, s:o, s:o}", "account",
	    json_text(name), "kind", state_name(&cooldown_kind_names, (int)kind),
	    "in_force", row->until > now, "until", json_time(row->until), "reason",
	    json_text(reason), "set_by", json_text(set_by)));
	txn_effect_cooling(txn);
}

/* Put the account on cooldown until the next day, unless it already is for longer. A user's
 * cooldown stands: the day is checked again when it is over. */
void account_cool_if_spent(struct txn *txn, struct engine *engine, const char *name,
    const struct budget *b, int64_t attempt)
{
	int64_t midnight = budget_midnight(engine_now(engine));
	const struct cooldown_row *cooldown = account_cooldown(engine, name);
	enum budget_kind kind;
	char *text, *reason;

	if (!budget_is_spent(b, &kind) ||
	    (cooldown != NULL && (cooldown->until >= midnight || cooldown->kind == COOLDOWN_OPERATOR)))
		return;
	text = budget_text(b, kind);
	reason = xasprintf("%s are %s today (%s)", text, budget_words[kind].spent, budget_words[kind].account);
	log_warn("account %s: %s", name, reason);
	account_cool(txn, engine, name, COOLDOWN_BUDGET, midnight, reason, attempt, NULL);
	free(reason);
	free(text);
}

void account_look(struct engine *engine, const char *name)
{
	struct budget b = account_day(engine, name);
	struct txn *txn;

	if (!budget_has_cap(&b))
		return;
	txn = txn_new(engine);
	account_cool_if_spent(txn, engine, name, &b, ROW_NONE);
	txn_commit_or_drop(txn);
}

/* Some services keep naming a time in the near future, for hours: each such notice after another
 * counts for twice as long as the previous one. */
static int64_t least(const struct account *account, int64_t now)
{
	const struct cooldown_row *row = account->cooldown;
	int64_t span;

	if (row == NULL || row->kind != COOLDOWN_LIMIT || row->until > now || row->until < now - LIMIT_MS)
		return now;
	span = row->until - row->created_at;
	if (span > BACKOFF_MAX_MS)
		return now;
	return now + (2 * span < BACKOFF_MAX_MS ? 2 * span : BACKOFF_MAX_MS);
}

void account_exhausted(struct txn *txn, struct engine *engine, const struct attempt_row *a,
    int64_t reset_at, const char *words)
{
	const struct cooldown_row *row = account_cooldown(engine, a->account);
	int64_t now = engine_now(engine), until = reset_at != ROW_NONE ? reset_at : now + LIMIT_MS,
	    shortest = least(find_or_make(engine, a->account), now);
	char *safe = NULL;

	if (until < shortest)
		until = shortest;
	/* a user's cooldown stays: as a limit it would end with the next success */
	if (row != NULL && (row->until >= until || row->kind == COOLDOWN_OPERATOR))
		return;
	if (words != NULL) {
		char *line = strip_line(words);

		safe = xmemdup0(line, strlen(line) > WORDS_MAX ?
		    WORDS_MAX - text_unfinished(line, WORDS_MAX) : strlen(line));
		free(line);
	}
	log_warn("account %s is exhausted: %s", a->account, safe != NULL ? safe :
	    "no reason given");
	account_cool(txn, engine, a->account, COOLDOWN_LIMIT, until, safe, a->id, NULL);
	free(safe);
}

void account_serves(struct txn *txn, struct engine *engine, const struct attempt_row *a)
{
	const struct cooldown_row *row = a->account != NULL ? account_cooldown(engine, a->account) : NULL;

	if (row == NULL || row->kind != COOLDOWN_LIMIT)
		return;
	log_info("account %s is available again", a->account);
	account_cool(txn, engine, a->account, COOLDOWN_LIMIT, engine_now(engine),
	    "it is available again", a->id, NULL);
}

void engine_cooldown_set(struct engine *engine, const char *account, int64_t until,
    const char *reason, const char *by, bool check, engine_reply_cb *cb, void *arg)
{
	struct engine_reply reply = { .id = 0 };
	struct txn *txn;
	char *human;

	if (engine->full) {
		reply.code = RPC_NO_SPACE;
		reply.message = "no space left for the database";
		reply.hint = "make room on the disk of the state directory";
	}
	if (reply.code != RPC_OK || check) {
		cb(arg, &reply);
		return;
	}
	human = xasprintf("human:%s", by);
	txn = txn_new(engine);
	account_cool(txn, engine, account, COOLDOWN_OPERATOR, until, reason, ROW_NONE, human);
	txn_reply(txn, cb, arg, 0);
	txn_effect_schedule(txn);
	txn_commit(txn);
	free(human);
	/* a user's word does not add budget */
	account_look(engine, account);
}

/* Reservations of its unfinished attempts, and number of slots that wait for it. */
static void count_use(const struct engine *engine, const char *name, struct account_info *info)
{
	const struct run *run;

	LIST_FOREACH(run, &engine->begun, begun) {
		for (size_t i = 0; i < run->rows->nattempts; i++) {
			const struct attempt_row *a = run->rows->attempts[i];

			if (a->account == NULL || strcmp(a->account, name) != 0 ||
			    a->state == ATTEMPT_S_EXITED || a->state == ATTEMPT_S_LOST)
				continue;
			info->reserved_usd += isnan(a->reserved_usd) ? 0 : a->reserved_usd;
			info->reserved_tokens += a->reserved_tokens == ROW_NONE ? 0 : a->reserved_tokens;
		}
		for (size_t i = 0; i < run->rows->nslots; i++)
			info->waiting += run->rows->slots[i]->cooling != NULL &&
			    strcmp(run->rows->slots[i]->cooling, name) == 0;
	}
}

void engine_accounts(struct engine *engine, void (*each)(void *arg, const struct account_info *account), void *arg)
{
	struct account *account;

	RB_FOREACH(account, account_tree, &engine->accounts->tree) {
		struct account_info info = {
			.name = account->name,
			.limits = &account->limits,
			.cooldown = in_force(engine, account),
			.spend = budget_day_row(account->spends, account->nspends, today(engine)),
		};

		count_use(engine, account->name, &info);
		each(arg, &info);
	}
}
