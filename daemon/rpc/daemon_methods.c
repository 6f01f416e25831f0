/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/offload.h"
#include "job/host_refusal.h"
#include "keep/keeper.h"
#include "model/row_json.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/path_access.h"

static struct reply daemon_discover(struct rpc *rpc, struct call *call)
{
	return reply_ok(call, method_discover(rpc->methods, rpc->version));
}

static struct reply daemon_hello(struct rpc *rpc, struct call *call)
{
	int64_t min = call_int(call, "min", RPC_PROTOCOL), max = call_int(call, "max", RPC_PROTOCOL);
	char *const *names = config_agent_env(rpc_config(rpc));
	json_t *list;

	if (min > RPC_PROTOCOL || max < RPC_PROTOCOL)
		return reply_error(call, RPC_INVALID_PARAMS, min > RPC_PROTOCOL ? "min" : "max",
		    "use an rlctl of the daemon's own version",
		    "this daemon (version %s) speaks protocol %d, the client %" PRId64 " to %" PRId64,
		    rpc->version, RPC_PROTOCOL, min, max);
	list = json_array();
	for (size_t i = 0; names[i] != NULL; i++)
		json_array_append_new(list, json_text(names[i]));
	return reply_ok(call,
	    json_pack("{s:s,s:i,s:s,s:s,s:O,s:o}", "version", rpc->version, "protocol", RPC_PROTOCOL,
	    "instance", rpc->instance, "role", roles_name(link_caller(call_link(call))),
	    "capabilities", rpc->capabilities, "agent_env", list));
}

json_t *run_counts(struct rpc *rpc)
{
	const struct view *view = engine_view(rpc->options.engine);
	json_t *json = json_object();

	for (int i = 0; i < RUN_STATES; i++) {
		if (!run_state_is_end((enum run_state)i))
			json_object_set_new(json, state_name(&run_state_names, i),
			    json_integer((json_int_t)view_in_state(view, (enum run_state)i)));
	}
	return json;
}

static void add_cooling(void *arg, const struct account_info *info)
{
	json_t *json;

	if (info->cooldown == NULL)
		return;
	json = json_row(ROW_COOLDOWN, info->cooldown);
	json_object_set_new(json, "in_force", json_true());
	json_array_append_new(arg, json);
}

/* Accounts on cooldown. */
static json_t *cooling(struct rpc *rpc)
{
	json_t *list = json_array();

	engine_accounts(rpc->options.engine, add_cooling, list);
	return list;
}

static struct reply daemon_status(struct rpc *rpc, struct call *call)
{
	const struct rpc_options *o = &rpc->options;
	const struct config *config = rpc_config(rpc);
	int64_t first, last, kept, bytes;

	store_event_range(o->store, &first, &last);
	keeper_total(o->keeper, &kept, &bytes);
	return reply_ok(call,
	    json_pack("{s:s,s:s,s:s,s:i,s:I,s:s,s:o,s:o,s:I,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I,"
	    "s:{s:I,s:I},s:{s:I,s:I},s:I}",
	    "state", engine_draining(o->engine) ? "draining" : "running", "version", rpc->version,
	    "instance", rpc->instance, "pid", (int)getpid(), "uid", (json_int_t)geteuid(),
	    "role", roles_name(link_caller(call_link(call))),
	    "state_dir", json_text(rpc->state_dir), "started_at", json_time(o->started_at),
	    "uptime_ms", (json_int_t)(clock_wall() - o->started_at),
	    "config", json_text(config_path(config)), "runs", run_counts(rpc),
	    "cooling", cooling(rpc), "parallel", (json_int_t)config_parallel(config),
	    "attempts", (json_int_t)engine_running(o->engine),
	    "busy", (json_int_t)engine_busy(o->engine),
	    "clients", (json_int_t)server_clients(rpc->server),
	    "followers", (json_int_t)feed_followers(rpc->feed),
	    "events", "first", (json_int_t)first, "last", (json_int_t)last,
	    "kept", "runs", (json_int_t)kept, "bytes", (json_int_t)bytes,
	    "commits", (json_int_t)store_commits(o->store)));
}

static void stopper_cb(uv_timer_t *timer)
{
	struct rpc *rpc = timer->data;

	rpc->options.stop(rpc->options.arg, rpc->stop_drain);
}

static struct reply daemon_stop(struct rpc *rpc, struct call *call)
{
	bool drain = call_flag(call, "drain");

	if (!call_flag(call, "check")) {
		rpc->stop_drain = drain;
		uv_timer_start(&rpc->stopper, stopper_cb, 0, 0);
	}
	return reply_ok(call, json_pack("{s:s,s:I}", "state", drain ? "draining" : "stopping", "attempts",
	    (json_int_t)engine_running(rpc->options.engine)));
}

/* A reload whose names of [access] are being looked up. */
struct reloading {
	struct rpc *rpc;
	struct call *call;
};

static void reload_done(void *arg)
{
	struct reloading *r = arg;

	call_ok(r->call, json_pack("{s:o}", "config", json_text(config_path(rpc_config(r->rpc)))));
	free(r);
}

static struct reply daemon_reload(struct rpc *rpc, struct call *call)
{
	const char *path = config_path(rpc_config(rpc));
	struct config *config = NULL;
	struct config_error error;
	char text[sizeof(error.text)];
	struct reloading *r;

	if (!call_flag(call, "check")) {
		if (rpc->options.reload(rpc->options.arg, text, sizeof(text)) == -1)
			return reply_error(call, RPC_UNAVAILABLE, NULL,
			    "the old settings remain in effect: correct the file and reload again", "%s", text);
		r = xcalloc(1, sizeof(*r));
		*r = (struct reloading){ rpc, call };
		roles_refresh(rpc, reload_done, r);
		return reply_later(call);
	}
	 if (path != NULL) {
		if (config_load(&config, path, true, &error) == -1)
			return reply_error(call, RPC_UNAVAILABLE, NULL,
			    "correct the file before a reload", "%s", error.text);
		config_free(config);
	}
	return reply_ok(call, json_pack("{s:o}", "config", json_text(config_path(rpc_config(rpc)))));
}

static void add_setting(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	json_array_append_new(arg, json_pack("{s:o,s:o,s:o,s:o}", "path", json_text(path), "value",
	    json_document(value, json_null()), "from", json_text(from), "help", json_text(help)));
}

/* A config.show that waits for the project file. */
struct shown {
	struct rpc *rpc;
	struct call *call;
	struct project_text text;
	struct path_access access;
};

static void show_settings(struct rpc *rpc, struct call *call, const struct project *project)
{
	json_t *settings = json_array(), *profile = call_param(call, "profile");
	const struct config_override overrides[] = {
		{ "review.profile", json_dumps(profile, JSON_COMPACT | JSON_ENCODE_ANY), "profile" },
		/* like --review=PROFILE of a submit: with the review off, it would not commit */
		{ "review.enabled", "true", "profile" },
	};
	struct config_error error;

	if (config_each(rpc_config(rpc), project, overrides, profile == NULL ? 0 : 2, add_setting,
	    settings, &error) == 0) {
		call_ok(call, json_pack("{s:o,s:O}", "config",
		    json_text(config_path(rpc_config(rpc))), "settings", settings));
	} else {
		call_error(call, RPC_INVALID_PARAMS, error.field[0] != '\0' ? error.field : NULL,
		    NULL, "%s", error.text);
	}
	json_decref(settings);
	free((char *)overrides[0].value);
}

static void show_run(void *arg)
{
	struct shown *shown = arg;
	const char *workdir = call_text(shown->call, "workdir");

	if (path_access_project(&shown->access, workdir))
		path_access_read(&shown->access, &shown->text, workdir);
}

static void show_done(void *arg)
{
	struct shown *shown = arg;
	struct project *project = NULL;
	struct config_error error;

	if (shown->access.text != NULL)
		call_error(shown->call, RPC_NOT_PERMITTED, "workdir", PATH_ACCESS_HINT, "%s", shown->access.text);
	else if (project_parse(&project, &shown->text, &error) == 0)
		show_settings(shown->rpc, shown->call, project);
	else
		call_error(shown->call, host_refusal_code(-shown->text.error, RPC_INVALID_PARAMS), error.field,
		    host_refusal_hint(-shown->text.error, NULL), "%s", error.text);
	project_free(project);
	project_text_release(&shown->text);
	free(shown->access.text);
	free(shown);
}

static struct reply config_show(struct rpc *rpc, struct call *call)
{
	const char *workdir = call_text(call, "workdir");
	struct shown *shown;

	if (workdir == NULL) {
		show_settings(rpc, call, NULL);
	} else if (workdir[0] != '/') {
		return reply_error(call, RPC_INVALID_PARAMS, "workdir", "use an absolute path",
		    "workdir '%s' is not absolute", workdir);
	} else {
		shown = xcalloc(1, sizeof(*shown));
		shown->rpc = rpc;
		shown->call = call;
		shown->access.peer = path_access_peer(call);
		offload(rpc->options.loop, show_run, show_done, shown);
	}
	return reply_later(call);
}

static const struct schema hello_params[] = {
	{ "client", SCHEMA_TEXT, .max = 256, .help =
	    "name of the client, for people who read the conversation" },
	{ "min", SCHEMA_INT, .min = 1, .max = 1000000, .help =
	    "oldest protocol version supported by the client" },
	{ "max", SCHEMA_INT, .min = 1, .max = 1000000, .help =
	    "newest protocol version supported by the client" },
	{ 0 },
};
static const struct schema stop_params[] = {
	{ "drain", SCHEMA_BOOL, .help =
	    "accept no new work and exit when running attempts have ended; otherwise exit now and "
	    "leave the agents running" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};
static const struct schema check_params[] = {
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};

static const struct schema config_params[] = {
	{ "workdir", SCHEMA_TEXT, .min = 1, .max = PATH_MAX,
	    .help = "absolute path: settings of a run there, with the project's own" },
	{ "profile", SCHEMA_ANY, .path = "review.profile", .help =
	    "settings of a run reviewed under this profile" },
	{ 0 },
};

static const struct result_field discover_results[] = {
	{ "openrpc", "string", "version of OpenRPC" },
	{ "info", "object", "title and version" },
	{ "methods", "[object]", "all methods with their parameters, results and errors" },
	{ "components", "object", "the schemas of what methods answer with" },
	{ "x-notifications", "[object]", "the notifications of a subscription" },
	{ "x-client-notifications", "[object]", "what clients may send beside calls" },
	{ 0 },
};
static const struct result_field hello_results[] = {
	{ "version", "string", "version of the daemon" },
	{ "protocol", "integer", "protocol version" },
	{ "instance", "string",
	    "eight hex digits that identify the state directory; part of ref names" },
	{ "role", "CallerRole", "what the caller may do" },
	{ "capabilities", "[string]", "names of the methods, and event:TYPE of each type of events" },
	{ "agent_env", "[string]",
	    "variables that agents get from the submitter's environment, according to the settings" },
	{ 0 },
};
static const struct result_field status_results[] = {
	{ "state", "'running'|'draining'", "draining: it takes no new work and stops soon" },
	{ "version", "string", "version of the daemon" },
	{ "instance", "string",
	    "eight hex digits that identify the state directory; part of ref names" },
	{ "pid", "integer", "process ID" },
	{ "uid", "integer", "user ID" },
	{ "role", "CallerRole", "what the caller may do" },
	{ "state_dir", "string", "state directory" },
	{ "started_at", "time", "time of the start" },
	{ "uptime_ms", "integer", "time since the start of the daemon" },
	{ "config", "string|null", "settings file in use" },
	{ "runs", "RunCounts", "number of unfinished runs by state" },
	{ "cooling", "[Cooldown]", "exhausted accounts" },
	{ "parallel", "integer", "number of slots of the daemon" },
	{ "attempts", "integer", "number of running attempts" },
	{ "busy", "integer",
	    "number of running runs, submits and commits in progress; at 0 a draining daemon exits" },
	{ "clients", "integer", "connections" },
	{ "followers", "integer", "number of event subscriptions" },
	{ "events", "EventRange", "events that are kept" },
	{ "kept", "KeptTotal", "what prune could remove of ended runs, as measured at their end" },
	{ "commits", "integer", "number of commits since the start" },
	{ 0 },
};
static const struct result_field stop_results[] = {
	{ "state", "'stopping'|'draining'", "draining: it waits for running attempts first" },
	{ "attempts", "integer", "number of running attempts" },
	{ 0 },
};
static const struct result_field reload_results[] = {
	{ "config", "string|null", "settings file in use" },
	{ 0 },
};
static const struct result_field config_results[] = {
	{ "config", "string|null", "settings file in use" },
	{ "settings", "[Setting]", "all of them" },
	{ 0 },
};
static const int reload_errors[] = { RPC_UNAVAILABLE, 0 };
static const int show_errors[] = { RPC_NO_SPACE, RPC_UNAVAILABLE, RPC_BUSY, 0 };

const struct method daemon_methods[] = {
	{ "rpc.discover", ACCESS_ANY, true, NULL, discover_results, NULL, daemon_discover,
	    "describe all methods as an OpenRPC document" },
	{ "daemon.hello", ACCESS_ANY, false, hello_params, hello_results, NULL, daemon_hello,
	    "agree on a protocol version" },
	{ "daemon.status", ACCESS_READ, false, NULL, status_results, NULL, daemon_status,
	    "return the state of the daemon" },
	{ "daemon.stop", ACCESS_ADMIN, false, stop_params, stop_results, NULL, daemon_stop,
	    "stop the daemon" },
	{ "daemon.reload", ACCESS_ADMIN, false, check_params, reload_results, reload_errors,
	    daemon_reload, "reload the settings; applies to new runs" },
	{ "config.show", ACCESS_SUBMIT, false, config_params, config_results, show_errors,
	    config_show, "return the effective settings and their origin" },
	{ 0 },
};
