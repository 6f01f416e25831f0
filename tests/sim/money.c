/* SPDX-License-Identifier: MIT */
/* Money of the simulated world: added up from the rows on disk and what each process really told,
 * without the daemon's own sums. */
#include <math.h>

#include "core/profile.h"
#include "core/slot.h"
#include "world_int.h"

enum { COST, TOKENS, KINDS };	/* of w->paid, too */

static double number(int64_t value)
{
	return value == ROW_NONE ? (double)NAN : (double)value;
}

/* A check, and a program that reviews: nobody pays. */
bool money_is_free(const struct world *w, const struct attempt_row *row)
{
	const struct plan *plan = world_task_plan(w, row->run, row->slot == 0 ? NULL : row->task);

	return role_is_command((enum role)row->role) ||
	    (row->role == ROLE_REVIEW && plan->profile->carrier == CARRIER_EXIT);
}

static bool has_ended(const struct attempt_row *row)
{
	return row->state == ATTEMPT_S_EXITED || row->state == ATTEMPT_S_LOST;
}

static double reserved(const struct attempt_row *row, int kind)
{
	return kind == COST ? row->reserved_usd : number(row->reserved_tokens);
}

/* Of one that has ended: what it told, else what was set aside. */
static double used(const struct attempt_row *row, int kind)
{
	double told = kind == COST ? row->cost_usd : number(row->tokens_output),
	    used = isnan(told) ? reserved(row, kind) : told;

	return isnan(used) ? 0 : used;
}

static double spent(const struct run_rows *rows, int kind)
{
	double sum = 0;

	for (size_t i = 0; i < rows->nattempts; i++)
		if (has_ended(rows->attempts[i]))
			sum += used(rows->attempts[i], kind);
	return sum;
}

static double cap_of(const struct plan *plan, int kind)
{
	return kind == COST ? plan->max_cost_usd : number(plan->max_tokens);
}

bool money_is_gone(const struct world *w, const struct run_rows *rows)
{
	const struct plan *plan = world_plan(w, rows->run.id);

	for (int kind = 0; kind < KINDS; kind++)
		if (!isnan(cap_of(plan, kind)) && spent(rows, kind) >= cap_of(plan, kind))
			return true;
	return false;
}

bool world_is_spent(const struct world *w, const struct run_rows *rows)
{
	const struct plan *plan = world_plan(w, rows->run.id);
	int64_t until = rows->run.ended_at != ROW_NONE ? rows->run.ended_at : w->now;

	if (money_is_gone(w, rows))
		return true;
	return plan->max_wall_ms != ROW_NONE && rows->run.started_at != ROW_NONE &&
	    until - rows->run.started_at >= plan->max_wall_ms;
}

/* What a process that is there may still cost: what was set aside. Of one that has gone the daemon
 * may know already what it did cost. */
static double at_stake(const struct world *w, const struct attempt_row *row, int kind)
{
	const struct process *p = row->id < w->ids_max ? w->procs[row->id] : NULL;

	return p != NULL && (p->state == PROC_STARTING || p->state == PROC_RUNNING) ? reserved(row, kind) : 0;
}

/* What starts is paid for by what is left, or is the only one that is. */
static void check_fits(struct world *w, const struct attempt_row *row, int kind, double cap,
    double spent, const char *account)
{
	const struct run_rows *rows = NULL;
	double stake = 0;
	int others = 0;

	if (isnan(cap))
		return;
	if (spent >= cap)
		world_fail(w, "attempt %lld starts, and %g of %g are spent", (long long)row->id, spent, cap);
	if (money_is_free(w, row))
		return;
	if (isnan(reserved(row, kind)))
		world_fail(w, "attempt %lld starts, and nothing is set aside for it", (long long)row->id);
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		if (account == NULL && rows->run.id != row->run)
			continue;
		for (size_t i = 0; i < rows->nattempts; i++) {
			const struct attempt_row *other = rows->attempts[i];
			double more = other->id == row->id || (account != NULL &&
			    (other->account == NULL || strcmp(other->account, account) != 0)) ? 0 :
			    at_stake(w, other, kind);

			if (isnan(more) || more == 0)
				continue;
			stake += more;
			others++;
		}
	}
	if (others > 0 && spent + stake + reserved(row, kind) > cap + 1e-6)
		world_fail(w,
		    "attempt %lld starts with %g set aside; %g of %g are spent, and %g are at stake",
		    (long long)row->id, reserved(row, kind), spent, cap, stake);
}

/* Today. */
static const struct spend_row *spend_of(const struct world *w, const char *account)
{
	for (size_t i = 0; i < w->nspends; i++)
		if (strcmp(w->spends[i]->account, account) == 0 &&
		    w->spends[i]->day == w->now / (INT64_C(24) * 3600 * 1000))
			return w->spends[i];
	return NULL;
}

void money_start(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct plan *plan = world_plan(w, row->run);

	for (int kind = 0; kind < KINDS; kind++)
		check_fits(w, row, kind, cap_of(plan, kind), spent(rows, kind), NULL);
	/* a few ms pass from the last look to the start */
	if (plan->max_wall_ms != ROW_NONE && w->now - rows->run.started_at >= plan->max_wall_ms + 50)
		world_fail(w, "attempt %lld starts, and the time of its run is over", (long long)row->id);
	for (int i = 0; i < ACCOUNTS && row->account != NULL && !money_is_free(w, row); i++) {
		const struct spend_row *spend = spend_of(w, world_accounts[i]);

		if (strcmp(world_accounts[i], row->account) != 0)
			continue;
		check_fits(w, row, COST, w->limits[i].budget_day_usd,
		    spend != NULL ? spend->cost_usd : 0, row->account);
		check_fits(w, row, TOKENS, number(w->limits[i].budget_day_tokens),
		    spend != NULL ? (double)spend->tokens : 0, row->account);
	}
}

void money_forgone(struct world *w, const struct attempt_row *row)
{
	const struct attempt_row *before = disk_attempt(w, row->id);

	if (before != NULL && !has_ended(before) && !world_is_spent(w, view_run(w->disk, row->run)))
		world_fail(w, "attempt %lld is at a limit (%s), which is not reached", (long long)row->id, row->cause);
}

static int count_warnings(const struct run_rows *rows, const char *what)
{
	int count = 0;

	for (const char *at = rows->run.warnings; at != NULL && (at = strstr(at, what)) != NULL; at++)
		count++;
	return count;
}

/* What it has paid, and that it was warned in time. */
void money_retire(struct world *w, const struct run_rows *rows)
{
	static const char *const names[KINDS] = { "(max_cost)", "(max_tokens)" };

	if (count_warnings(rows, "(max_wall)") > 1)
		world_fail(w, "run %lld was warned of its time twice", (long long)rows->run.id);
	for (int kind = 0; kind < KINDS; kind++) {
		double cap = cap_of(world_plan(w, rows->run.id), kind);
		bool most = !isnan(cap) && cap > 0 && spent(rows, kind) >= cap * 0.8 - 1e-6;

		if (count_warnings(rows, names[kind]) != most)
			world_fail(w, "run %lld has used %g of %g, and %d warnings say so",
			    (long long)rows->run.id, spent(rows, kind), cap,
			    count_warnings(rows, names[kind]));
	}
	for (size_t i = 0; i < rows->nattempts; i++)
		for (int n = 0; n < ACCOUNTS; n++)
			for (int kind = 0; kind < KINDS; kind++)
				if (has_ended(rows->attempts[i]) &&
				    !money_is_free(w, rows->attempts[i]) &&
				    strcmp(rows->attempts[i]->account, world_accounts[n]) == 0)
					w->paid[n][kind] += used(rows->attempts[i], kind);
}

void money_check_end(struct world *w)
{
	double rows_of[ACCOUNTS][KINDS] = { { 0 } };
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		money_retire(w, rows);
	for (size_t i = 0; i < w->nspends; i++)
		for (int n = 0; n < ACCOUNTS; n++)
			if (strcmp(w->spends[i]->account, world_accounts[n]) == 0) {
				rows_of[n][COST] += w->spends[i]->cost_usd;
				rows_of[n][TOKENS] += (double)w->spends[i]->tokens;
			}
	for (int n = 0; n < ACCOUNTS; n++)
		for (int kind = 0; kind < KINDS; kind++)
			if (fabs(w->paid[n][kind] - rows_of[n][kind]) > 1e-6)
				world_fail(w, "account %s has paid %g, and its attempts have cost %g",
				    world_accounts[n], rows_of[n][kind], w->paid[n][kind]);
}
