/* SPDX-License-Identifier: MIT */
#include "keep/keeper.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/run.h"
#include "keep/keeper_work.h"
#include "keep/run_usage.h"
#include "keep/prune.h"
#include "keep/prune_piece.h"
#include "proto/clock.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/units.h"

#define LAST_PRUNE "last_prune"		/* setting: TIME of the last one */
#define DAY_MS (INT64_C(86400) * 1000)
/* the last prune is longer ago: the clock may be wrong, or the daemon was off */
#define TRUSTED_MS (8 * DAY_MS)
#define SOON_MS 1000			/* the end of several runs is recorded at once */
#define LOOK_MS (INT64_C(600) * 1000)	/* the clock may be set */

static int64_t read_last_prune(struct store *store)
{
	const struct query_bind binds[] = { { ":name", 0, LAST_PRUNE }, { NULL, 0, NULL } };
	struct rowset set = { 0 };
	int64_t at = 0;

	store_read_now(store, "setting.get", ROW_SETTING, binds, &set);
	if (set.count > 0)
		at = strtoll(((const struct setting_row *)set.rows[0])->value, NULL, 10);
	rowset_release(&set);
	return at;
}

static void begin_next(struct keeper *keeper);

struct keeper *keeper_new(const struct keeper_options *options)
{
	struct keeper *keeper = xcalloc(1, sizeof(*keeper));
	struct rowset set = { 0 };

	keeper->options = *options;
	keeper->next = begin_next;
	store_read_now(options->store, "prune.total", ROW_RUN, NULL, &set);
	keeper->runs = ((const struct run_row *)set.rows[0])->id;
	keeper->bytes = ((const struct run_row *)set.rows[0])->bytes;
	if (keeper->bytes == ROW_NONE)
		keeper->bytes = 0;
	rowset_release(&set);
	store_read_now(options->store, "pruned.undone", ROW_PRUNED, NULL, &keeper->undone);
	keeper->last_prune = read_last_prune(options->store);
	keeper->more = true;
	STAILQ_INIT(&keeper->wishes);
	uv_timer_init(options->loop, &keeper->timer);
	keeper->timer.data = keeper;
	return keeper;
}

static void tick_cb(uv_timer_t *timer)
{
	struct keeper *keeper = timer->data;

	keeper->stalled = false;
	keeper_next(keeper);
}

static void set_timer(struct keeper *keeper, int64_t ms)
{
	if (!keeper->closing)
		uv_timer_start(&keeper->timer, tick_cb, (uint64_t)ms, 0);
}

/* ---- what an earlier daemon has not removed ---- */

static void undone_done(void *arg, const struct piece_result *result)
{
	struct keeper *keeper = arg;
	struct keeper_wish *wish = STAILQ_FIRST(&keeper->wishes);
	char *const *left = result->left;

	for (; wish != NULL && wish->retried && left != NULL && *left != NULL; left++)
		strings_append(&wish->left, *left);
	keeper->pruning = false;
	keeper_next(keeper);
}

static void finish_undone(struct keeper *keeper)
{
	struct piece_run piece[PIECE_RUNS];
	struct rowset *set = &keeper->undone, first = { .kind = ROW_PRUNED };
	size_t count = set->count < PIECE_RUNS ? set->count : PIECE_RUNS;

	first.rows = xcalloc(count, sizeof(*first.rows));
	for (; first.count < count; first.count++) {
		const struct pruned_row *row = first.rows[first.count] = set->rows[--set->count];

		piece[first.count] = (struct piece_run){ row->run, row->why, row };
	}
	keeper->pruning = true;
	piece_remove(keeper, piece, count, ROW_NONE, undone_done, keeper);
	rowset_release(&first);
}

static void undone_cb(void *arg, struct rowset *set)
{
	struct keeper *keeper = arg;

	keeper->undone = *set;
	*set = (struct rowset){ 0 };
	keeper->pruning = false;
	keeper_next(keeper);
}

/* The user may have removed what prevented the last one. */
static bool is_retried(struct keeper *keeper)
{
	const struct keeper_wish *wish = STAILQ_FIRST(&keeper->wishes);

	return keeper->faults && wish != NULL && !wish->request.check && !wish->retried;
}

static void retry_undone(struct keeper *keeper)
{
	STAILQ_FIRST(&keeper->wishes)->retried = true;
	rowset_release(&keeper->undone);
	keeper->faults = false;
	keeper->pruning = true;
	keeper_read(keeper, "pruned.undone", ROW_PRUNED, ROW_NONE, undone_cb, keeper);
}

/* ---- runs to be measured ---- */

static void unmeasured_cb(void *arg, struct rowset *set)
{
	struct keeper *keeper = arg;

	/* those that are being recorded are among them once more, and are left out then */
	keeper->more = set->count == STORE_PAGE;
	for (size_t i = 0; i < set->count; i++)
		keeper_ended(keeper, ((const struct run_row *)set->rows[i])->id);
	rowset_release(set);
	keeper->measuring = false;
	keeper_next(keeper);
}

/* ---- once a day ---- */

static void noted_cb(void *arg, bool ok)
{
	(void)arg, (void)ok;
}

static void note_prune(struct keeper *keeper)
{
	char *value = xasprintf("%lld", (long long)keeper->last_prune);
	struct setting_row row = { .name = (char[]){ LAST_PRUNE }, .value = value };
	struct decision *d = xcalloc(1, sizeof(*d));

	decision_put(d, ROW_SETTING, &row);
	keeper_commit(keeper, d, true, noted_cb, NULL);
	free(value);
}

static void confirm_clock(struct keeper *keeper)
{
	keeper->last_prune = clock_wall();
	keeper->confirmed = keeper->held_back = false;
	note_prune(keeper);
}

static void automatic_cb(void *arg, const struct prune_result *result)
{
	struct keeper *keeper = arg;
	char size[32];

	size_format(result->bytes + result->prepared, size, sizeof(size));
	if (result->gone > 0 || result->prepared > 0)
		log_info("pruned by [keep]: %zu runs, %s", result->gone, size);
	if (result->code == RPC_OK)
		note_prune(keeper);
	else if (result->code != RPC_UNAVAILABLE)
		log_warn("cannot prune by [keep]: %s", result->fault);
}

bool keeper_waits(const struct keeper *keeper)
{
	bool automatic;

	(void)config_keep(*keeper->options.config, &automatic);
	return automatic && keeper->last_prune != 0 && clock_wall() - keeper->last_prune >= TRUSTED_MS;
}

/* A clock that has jumped by years would make all runs old at once. */
static void hold_back(struct keeper *keeper)
{
	char at[32];

	if (keeper->held_back)
		return;
	keeper->held_back = true;
	time_format(keeper->last_prune, at, sizeof(at));
	log_warn("[keep] automatic prunes nothing: the last prune was at %s, so the clock may be wrong, or the daemon "
	    "was off; correct the clock, or confirm it: rlctl prune", at);
}

static bool is_due(struct keeper *keeper, struct prune_request *request)
{
	int64_t now = clock_wall();
	bool automatic;

	if (keeper_waits(keeper)) {
		hold_back(keeper);
		return false;
	}

	*request = (struct prune_request){
		.policy = config_keep(*keeper->options.config, &automatic), .by_uid = ROW_NONE,
	};
	return automatic && (now - keeper->last_prune >= DAY_MS || now < keeper->last_prune);
}

/* ---- one after the other ---- */

static void grant_wish(struct keeper *keeper)
{
	struct keeper_wish *wish = STAILQ_FIRST(&keeper->wishes);

	STAILQ_REMOVE_HEAD(&keeper->wishes, next);
	keeper->pruning = true;
	keeper->ncontinued = 0;
	prune_begin(keeper, wish);
	free(wish);
}

static void refuse_wishes(struct keeper *keeper)
{
	const struct prune_result refusal = { .code = RPC_UNAVAILABLE, .fault = "the daemon is stopping" };
	struct keeper_wish *wish;

	while ((wish = STAILQ_FIRST(&keeper->wishes)) != NULL) {
		STAILQ_REMOVE_HEAD(&keeper->wishes, next);
		wish->cb(wish->arg, &refusal);
		strings_free(wish->left);
		free(wish);
	}
}

static void begin_next(struct keeper *keeper)
{
	struct prune_request request;

	if (keeper->closing || keeper->measuring || keeper->pruning)
		return;
	if (keeper->confirmed)
		confirm_clock(keeper);
	if (is_retried(keeper)) {
		retry_undone(keeper);
	} else if (keeper->undone.count > 0) {
		finish_undone(keeper);
	} else if (keeper->nended > 0 && !keeper->stalled) {
		run_usage_begin(keeper);
	} else if (!STAILQ_EMPTY(&keeper->wishes)) {
		grant_wish(keeper);
	} else if (keeper->nended > 0) {
		set_timer(keeper, SOON_MS);
	} else if (keeper->more) {
		keeper->measuring = true;
		keeper_read(keeper, "prune.unmeasured", ROW_RUN, ROW_NONE, unmeasured_cb, keeper);
	} else if (is_due(keeper, &request)) {
		keeper->last_prune = clock_wall();
		keeper_prune(keeper, &request, automatic_cb, keeper);
	} else {
		set_timer(keeper, LOOK_MS);
	}
}

void keeper_start(struct keeper *keeper)
{
	keeper_next(keeper);
}

void keeper_reloaded(struct keeper *keeper)
{
	set_timer(keeper, 0);
}

/* A retry may come and end while its predecessor waits to be removed. */
static void note_continued(struct keeper *keeper, const struct run_row *row)
{
	if (!keeper->pruning || row->retry_of == ROW_NONE || row->pruned_at != ROW_NONE)
		return;
	for (size_t i = 0; i < keeper->ncontinued; i++)
		if (keeper->continued[i] == row->retry_of)
			return;
	keeper->continued = xreallocarray(keeper->continued, keeper->ncontinued + 1, sizeof(int64_t));
	keeper->continued[keeper->ncontinued++] = row->retry_of;
}

void keeper_committed(struct keeper *keeper, const struct decision *d)
{
	bool any = false;

	for (size_t i = 0; i < d->count; i++) {
		const struct run_row *row = d->changes[i].row;

		if (d->changes[i].kind != ROW_RUN)
			continue;
		note_continued(keeper, row);
		if (!run_state_is_end((enum run_state)row->state))
			continue;
		keeper_ended(keeper, row->id);
		any = true;
	}
	if (any)
		set_timer(keeper, SOON_MS);
}

void keeper_total(const struct keeper *keeper, int64_t *runs, int64_t *bytes)
{
	*runs = keeper->runs;
	*bytes = keeper->bytes;
}

void keeper_prune(struct keeper *keeper, const struct prune_request *request, prune_cb *cb, void *arg)
{
	const struct keeper_wish asked = { .request = *request, .cb = cb, .arg = arg };
	struct keeper_wish *wish;

	if (request->unasked && !keeper->closing) {
		prune_begin(keeper, &asked);
		return;
	}
	wish = xcalloc(1, sizeof(*wish));
	*wish = asked;
	STAILQ_INSERT_TAIL(&keeper->wishes, wish, next);
	if (keeper->closing)
		refuse_wishes(keeper);
	else
		keeper_next(keeper);
}

static void timer_closed(uv_handle_t *handle)
{
	keeper_release(handle->data);
}

void keeper_close(struct keeper *keeper, void (*closed)(void *arg), void *arg)
{
	keeper->closing = true;
	keeper->closed = closed;
	keeper->closed_arg = arg;
	refuse_wishes(keeper);
	keeper_hold(keeper);
	uv_close((uv_handle_t *)&keeper->timer, timer_closed);
}

void keeper_free(struct keeper *keeper)
{
	rowset_release(&keeper->undone);
	free(keeper->continued);
	free(keeper->ended);
	free(keeper);
}
