/* SPDX-License-Identifier: MIT */
#include "rpc/rpc.h"

#include <stdio.h>
#include <stdlib.h>

#include "proto/memory.h"
#include "rpc/agent_access.h"
#include "rpc/context.h"
#include "rpc/dispatch.h"
#include "rpc/doctor.h"
#include "rpc/ended_cache.h"
#include "rpc/environment.h"
#include "rpc/output_wait.h"

static const struct method *const tables[] = {
	daemon_methods, backup_methods, metrics_methods, doctor_methods, blob_methods, submit_methods,
	run_methods, retry_methods, change_methods, diff_methods, wait_methods, attempt_methods,
	review_methods, finding_methods, evidence_methods, attest_methods, hold_methods, group_methods,
	cooldown_methods, salvage_methods, report_methods, event_methods, prompt_methods,
	prune_methods, NULL,
};

static void event_page(void *arg, int64_t since, int64_t limit, store_rows_cb *cb, void *cb_arg)
{
	const struct query_bind binds[] = { { ":since", since, NULL }, { ":limit", limit, NULL }, { NULL, 0, NULL } };

	rpc_read(arg, "event.since", ROW_EVENT, binds, cb, cb_arg);
}

static void rpc_document(void *arg, struct link *link, const char *data, size_t size)
{
	dispatch(((struct rpc *)arg)->methods, arg, link, data, size);
}

/* A user without a role learns that, before anything else is looked at. */
static char *rpc_admit(void *arg, struct caller *caller)
{
	char *why = roles_admit(arg, caller);

	if (why == NULL && !caller_identify(arg, caller))
		why = xstrdup("the process that connected has ended, or another PID namespace hides it: it could "
		    "be an agent's; connect from a process that stays");
	return why;
}

struct rpc *rpc_new(const struct rpc_options *options)
{
	struct rpc *rpc = xcalloc(1, sizeof(*rpc));
	const struct feed_source source = { event_page, rpc };
	int64_t first, last;

	environment_init();
	rpc->options = *options;
	rpc->methods = tables;
	rpc->capabilities = method_capabilities(tables);
	rpc->state_dir = xstrdup(options->state_dir);
	rpc->version = xstrdup(options->version);
	rpc->instance = xstrdup(options->instance);
	TAILQ_INIT(&rpc->blobs);
	LIST_INIT(&rpc->keyed);
	TAILQ_INIT(&rpc->unread);
	LIST_INIT(&rpc->waits);
	outputs_init(rpc);
	uv_timer_init(options->loop, &rpc->stopper);
	rpc->stopper.data = rpc;
	store_event_range(options->store, &first, &last);
	rpc->ended = ended_cache_new();
	counters_init(&rpc->counters);
	rpc->feed = feed_new(&source, last);
	rpc->server = server_new(options->loop, &rpc->tally, rpc_document, rpc_admit, rpc);
	roles_init(rpc);
	server_set_open(rpc->server, rpc->roles.open);
	return rpc;
}

int rpc_listen(struct rpc *rpc, const char *path, int inherited, char *error, size_t room)
{
	if (server_listen(rpc->server, path, inherited, error, room) == -1)
		return -1;
	strings_append(&rpc->sockets, path);
	return 0;
}

void rpc_refuse_waiting(int inherited, const char *message)
{
	server_refuse_waiting(inherited, message);
}

void rpc_listen_again(struct rpc *rpc)
{
	server_listen_again(rpc->server);
}

void rpc_access_changed(struct rpc *rpc)
{
	roles_refresh(rpc, NULL, NULL);
}

void rpc_committed(struct rpc *rpc, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		if (d->changes[i].kind == ROW_EVENT) {
			counters_add(&rpc->counters, d->changes[i].row);
			feed_add(rpc->feed, d->changes[i].row);
		}
	}
	for (size_t i = 0; i < d->count; i++) {
		if (d->changes[i].kind == ROW_RUN) {
			ended_cache_drop(rpc->ended, ((const struct run_row *)d->changes[i].row)->id);
			waits_changed(rpc, ((const struct run_row *)d->changes[i].row)->id);
		} else if (d->changes[i].kind == ROW_ATTEMPT) {
			outputs_changed(rpc, ((const struct attempt_row *)d->changes[i].row)->id);
		} else if (d->changes[i].kind == ROW_HOLD) {
			waits_changed(rpc, ((const struct hold_row *)d->changes[i].row)->run);
		}
	}
}

static void stopper_closed_cb(uv_handle_t *handle)
{
	struct rpc *rpc = handle->data;
	void (*closed)(void *arg) = rpc->closed;
	void *arg = rpc->closed_arg;

	feed_free(rpc->feed);
	counters_release(&rpc->counters);
	ended_cache_free(rpc->ended);
	roles_release(&rpc->roles);
	json_decref(rpc->capabilities);
	free(rpc->state_dir);
	strings_free(rpc->sockets);
	free(rpc->version);
	free(rpc->instance);
	free(rpc);
	closed(arg);
}

/* The last call has ended. Callers on the stack may still use rpc, so it is freed from the top of
 * the loop. */
static void rpc_idle(void *arg)
{
	struct rpc *rpc = arg;

	rpc->tally.none = NULL;
	uv_close((uv_handle_t *)&rpc->stopper, stopper_closed_cb);
}

static void server_closed(void *arg)
{
	struct rpc *rpc = arg;

	rpc->server = NULL;
	rpc->tally.none = rpc_idle;
	rpc->tally.arg = rpc;
	if (rpc->tally.count == 0)
		rpc_idle(rpc);
}

void rpc_close(struct rpc *rpc, void (*closed)(void *arg), void *arg)
{
	rpc->closed = closed;
	rpc->closed_arg = arg;
	uv_timer_stop(&rpc->stopper);
	server_close(rpc->server, server_closed, rpc);
}

/* Takes ownership of document. */
static int print_document(json_t *document)
{
	int rv = json_dumpf(document, stdout, JSON_INDENT(2));

	json_decref(document);
	return rv == 0 && putchar('\n') != EOF && fflush(stdout) == 0 ? 0 : 1;
}

int rpc_print_agents(const struct config *config)
{
	return print_document(json_pack("{s:o}", "agents", doctor_agents(config)));
}

int rpc_print_openrpc(const char *version)
{
	return print_document(method_discover(tables, version));
}
