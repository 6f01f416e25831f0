/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/document.h"
#include "rpc/run_load.h"
#include "rpc/run_reason.h"

#define IDS_MAX 256

/* A run.wait: check every run (and report those that do not exist), wait for unfinished ones, and
 * check again for the answer. */
struct wait {
	struct rpc *rpc;
	struct call *call;		/* NULL: the client is gone */
	json_t *runs;
	size_t looked;			/* ids checked in this pass */
	bool last_look, timed_out, listed;
	uv_timer_t timer;
	bool has_timer;
	LIST_ENTRY(wait) entry;
};

static void timer_closed_cb(uv_handle_t *handle)
{
	free(handle->data);
}

static void wait_free(struct wait *w)
{
	if (w->listed)
		LIST_REMOVE(w, entry);
	json_decref(w->runs);
	if (w->has_timer)
		uv_close((uv_handle_t *)&w->timer, timer_closed_cb);
	else
		free(w);
}

/* A held run whose holds are all decided, or that is cancelled, still needs git and its task
 * source. */
static bool is_settled(const struct run_rows *rows)
{
	if (rows->run.state != RUN_S_HELD)
		return run_state_is_end((enum run_state)rows->run.state);
	for (size_t i = 0; i < rows->nholds; i++)
		if (rows->holds[i]->state == HOLD_S_OPEN)
			return true;
	return rows->nholds == 0;
}

static size_t id_count(const struct wait *w)
{
	return json_array_size(call_param(w->call, "ids"));
}

static int64_t id_at(const struct wait *w, size_t i)
{
	return json_integer_value(json_array_get(call_param(w->call, "ids"), i));
}

/* According to the view: a run that is not in it has ended. */
static bool all_settled(const struct wait *w)
{
	for (size_t i = 0; i < id_count(w); i++) {
		const struct run_rows *rows = view_run(engine_view(w->rpc->options.engine), id_at(w, i));

		if (rows != NULL && !is_settled(rows))
			return false;
	}
	return true;
}

static void wait_look(struct wait *w);

static void look_again(struct wait *w, bool timed_out)
{
	if (w->listed)
		LIST_REMOVE(w, entry);
	w->listed = false;
	w->timed_out = timed_out;
	w->last_look = true;
	wait_look(w);
}

static void timer_cb(uv_timer_t *timer)
{
	struct wait *w = timer->data;

	if (w->listed)
		look_again(w, true);
}

static void gone(void *arg)
{
	struct wait *w = arg;
	struct call *call = w->call;

	w->call = NULL;
	call_drop(call);
	/* A pass in progress will notice. */
	if (w->listed)
		wait_free(w);
}

static void wait_answer(void *arg)
{
	struct wait *w = arg;

	if (w->call != NULL)
		call_ok(w->call, json_pack("{s:O,s:b}", "runs", w->runs, "timed_out", w->timed_out));
	wait_free(w);
}

static void looked(struct wait *w)
{
	int64_t timeout = call_int(w->call, "timeout_ms", -1);

	if (w->last_look || all_settled(w)) {
		if (!w->last_look && json_array_size(w->runs) > 0) {
			/* a run may have ended between its check and the last one */
			look_again(w, false);
			return;
		}
		/* the report must be written before the answer */
		if (w->timed_out)
			wait_answer(w);
		else
			engine_after_writing(w->rpc->options.engine, wait_answer, w);
		return;
	}
	LIST_INSERT_HEAD(&w->rpc->waits, w, entry);
	w->listed = true;
	if (timeout >= 0) {
		uv_timer_init(w->rpc->options.loop, &w->timer);
		w->timer.data = w;
		w->has_timer = true;
		uv_timer_start(&w->timer, timer_cb, (uint64_t)timeout, 0);
	}
	call_wait(w->call, gone, w);
}

static void look_cb(void *arg, const struct run_rows *rows)
{
	struct wait *w = arg;
	struct run_overview overview;
	struct run_rows now;
	struct run_row *copy;

	if (w->call == NULL) {
		wait_free(w);
		return;
	}
	if (rows == NULL) {
		call_no_run(w->call, "ids", id_at(w, w->looked));
		wait_free(w);
		return;
	}
	overview = overview_of(rows);
	now = run_reason_now(w->rpc, rows, &copy);
	json_array_append_new(w->runs, run_summary(&now.run, &overview));
	row_free(ROW_RUN, copy);
	overview_release(&overview);
	w->looked++;
	if (w->looked < id_count(w))
		load_run(w->rpc, id_at(w, w->looked), LOAD_OVERVIEW, look_cb, w);
	else
		looked(w);
}

static void wait_look(struct wait *w)
{
	json_array_clear(w->runs);
	w->looked = 0;
	load_run(w->rpc, id_at(w, 0), LOAD_OVERVIEW, look_cb, w);
}

void waits_changed(struct rpc *rpc, int64_t run)
{
	const struct run_rows *rows = view_run(engine_view(rpc->options.engine), run);
	struct wait *w, *next;

	if (rows != NULL && !is_settled(rows))
		return;
	for (w = LIST_FIRST(&rpc->waits); w != NULL; w = next) {
		next = LIST_NEXT(w, entry);
		if (all_settled(w))
			look_again(w, false);
	}
}

static struct reply wait_for(struct rpc *rpc, struct call *call)
{
	struct wait *w;

	if (link_waiting(call_link(call)) >= WAITS_OF_LINK)
		return reply_error(call, RPC_LIMIT_REACHED, NULL,
		    "name several runs in one run.wait, or use another connection",
		    "this connection has %d waits already", WAITS_OF_LINK);
	w = xcalloc(1, sizeof(*w));
	w->rpc = rpc;
	w->call = call;
	w->runs = json_array();
	wait_look(w);
	return reply_later(call);
}

static const struct schema wait_params[] = {
	{ "ids", SCHEMA_IDS, .required = true, .min = 1, .max = IDS_MAX, .help =
	    "ids of the runs" },
	{ "timeout_ms", SCHEMA_INT, .max = INT64_C(36500) * 86400000,
	    .help = "maximum time to wait; default: no limit" },
	{ 0 },
};
static const struct result_field wait_results[] = {
	{ "runs", "[RunSummary]", "in the order of ids" },
	{ "timed_out", "boolean", "true: the time is up and some runs continue" },
	{ 0 },
};
static const int wait_errors[] = { RPC_NOT_FOUND, RPC_LIMIT_REACHED, 0 };

const struct method wait_methods[] = {
	{ "run.wait", ACCESS_READ, false, wait_params, wait_results, wait_errors, wait_for,
	    "wait until all runs have ended or are held and their reports are written" },
	{ 0 },
};
