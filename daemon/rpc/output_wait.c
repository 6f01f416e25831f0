/* SPDX-License-Identifier: MIT */
#include "rpc/output_wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "proto/memory.h"
#include "rpc/context.h"

#define POLL_MS 500		/* where the directory cannot be watched */

/* Looks follow one another; what happens during a look leads to another one. */
struct output_wait {
	struct rpc *rpc;
	struct call *call;		/* NULL: the client is gone */
	output_look_fn *look;
	int64_t id;			/* of the attempt */
	uv_fs_event_t watch;		/* of its directory */
	uv_timer_t timer, poll;
	size_t handles;			/* not closed yet */
	bool looking, again, waiting, timed_out;
	LIST_ENTRY(output_wait) entry;
};

static void closed_cb(uv_handle_t *handle)
{
	struct output_wait *w = handle->data;

	if (--w->handles == 0)
		free(w);
}

static void output_wait_free(struct output_wait *w)
{
	LIST_REMOVE(w, entry);
	uv_close((uv_handle_t *)&w->watch, closed_cb);
	uv_close((uv_handle_t *)&w->timer, closed_cb);
	uv_close((uv_handle_t *)&w->poll, closed_cb);
}

static void wait_look(struct output_wait *w)
{
	w->again = w->looking;
	if (w->looking)
		return;
	w->looking = true;
	w->look(w->rpc, w->call, w);
}

static void watch_cb(uv_fs_event_t *watch, const char *name, int events, int status)
{
	(void)name;
	(void)events;
	(void)status;
	wait_look(watch->data);
}

static void poll_cb(uv_timer_t *timer)
{
	wait_look(timer->data);
}

static void timer_cb(uv_timer_t *timer)
{
	struct output_wait *w = timer->data;

	w->timed_out = true;
	wait_look(w);
}

static void gone(void *arg)
{
	struct output_wait *w = arg;
	struct call *call = w->call;

	w->call = NULL;
	call_drop(call);
	/* a look in progress will notice */
	if (!w->looking)
		output_wait_free(w);
}

bool output_wait_looked(void *wait, bool empty)
{
	struct output_wait *w = wait;

	w->looking = false;
	if (w->call != NULL && (!empty || w->timed_out)) {
		output_wait_free(w);
		return false;
	}
	if (w->call == NULL) {
		output_wait_free(w);
		return true;
	}
	if (!w->waiting) {
		w->waiting = true;
		call_wait(w->call, gone, w);	/* may free it */
		return true;
	}
	if (w->again)
		wait_look(w);
	return true;
}

bool output_wait_is_over(struct output_wait *w)
{
	if (w->call != NULL)
		return false;
	output_wait_free(w);
	return true;
}

struct output_wait *output_wait_new(struct rpc *rpc, struct call *call, output_look_fn *look)
{
	struct output_wait *w = xcalloc(1, sizeof(*w));
	char *dir;

	w->rpc = rpc;
	w->call = call;
	w->look = look;
	w->id = call_int(call, "id", 0);
	w->looking = true;
	w->handles = 3;
	uv_fs_event_init(rpc->options.loop, &w->watch);
	uv_timer_init(rpc->options.loop, &w->timer);
	uv_timer_init(rpc->options.loop, &w->poll);
	w->watch.data = w->timer.data = w->poll.data = w;
	dir = xasprintf("%s/attempts/%lld", rpc->state_dir, (long long)w->id);
	if (uv_fs_event_start(&w->watch, watch_cb, dir, 0) != 0)
		uv_timer_start(&w->poll, poll_cb, POLL_MS, POLL_MS);
	free(dir);
	uv_timer_start(&w->timer, timer_cb, (uint64_t)call_int(call, "wait_ms", 0), 0);
	LIST_INSERT_HEAD(&rpc->outputs, w, entry);
	return w;
}

void outputs_init(struct rpc *rpc)
{
	LIST_INIT(&rpc->outputs);
	uv_fs_event_init(rpc->options.loop, &rpc->first_watch);
	(void)uv_fs_event_start(&rpc->first_watch, watch_cb, rpc->state_dir, 0);
	uv_close((uv_handle_t *)&rpc->first_watch, NULL);
}

void outputs_changed(struct rpc *rpc, int64_t attempt)
{
	struct output_wait *w, *next;

	for (w = LIST_FIRST(&rpc->outputs); w != NULL; w = next) {
		next = LIST_NEXT(w, entry);
		if (w->id == attempt)
			wait_look(w);
	}
}
