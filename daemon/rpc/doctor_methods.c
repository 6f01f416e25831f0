/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/offload.h"
#include "config/setting.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "rpc/context.h"
#include "rpc/doctor.h"

/* A call on its way: the database, then the host, then the review logs, then what the
 * loop itself knows. */
struct examination {
	struct rpc *rpc;
	struct call *call;
	bool deep;
	struct doctor_host host;	/* with copies of its strings: a reload may come */
	struct doctor_checks checks;
};

/* ---- the end: what the loop knows ---- */

static void add_account(void *arg, const struct account_info *account)
{
	struct doctor_checks *checks = arg;
	char until[32], *remedy;

	if (account->cooldown == NULL)
		return;
	time_format(account->cooldown->until, until, sizeof(until));
	remedy = xasprintf("wait, or say that it serves again: rlctl cooldown clear %s", account->name);
	doctor_say(checks, "account", DOCTOR_WARNING, remedy, "%s: %s until %s%s%s", account->name,
	    state_name(&cooldown_kind_names, account->cooldown->kind), until,
	    account->cooldown->reason != NULL ? ": " : "",
	    account->cooldown->reason != NULL ? account->cooldown->reason : "");
	free(remedy);
}

static void add_accounts(struct examination *e, const json_t *agents)
{
	size_t before = e->checks.count;

	engine_accounts(e->rpc->options.engine, add_account, &e->checks);
	doctor_accounts(rpc_config(e->rpc), agents, &e->checks);
	if (e->checks.count == before)
		doctor_say(&e->checks, "account", DOCTOR_OK, NULL, "none is exhausted");
}

static void add_daemon(struct examination *e)
{
	if (engine_draining(e->rpc->options.engine))
		doctor_say(&e->checks, "daemon", DOCTOR_WARNING, "start it again when it has ended",
		    "rld %s is draining: it takes no new work", e->rpc->version);
	else
		doctor_say(&e->checks, "daemon", DOCTOR_OK, NULL,
		    "rld %s, process %d, %zu attempts running", e->rpc->version, (int)getpid(),
		    engine_running(e->rpc->options.engine));
}

static enum doctor_state worst(const struct doctor_checks *checks)
{
	enum doctor_state state = DOCTOR_OK;

	for (size_t i = 0; i < checks->count; i++)
		state = checks->list[i].state > state ? checks->list[i].state : state;
	return state;
}

static void examination_free(struct examination *e)
{
	doctor_release(&e->checks);
	doctor_release(&e->host.checks);
	strings_free(e->host.sockets);
	free((char *)e->host.config_file);
	free(e);
}

static void doctor_answer(struct examination *e)
{
	json_t *agents = doctor_agents(rpc_config(e->rpc));

	add_daemon(e);
	add_accounts(e, agents);
	call_ok(e->call, json_pack("{s:s,s:s,s:i,s:b,s:o,s:o}", "state",
	    state_name(&doctor_state_names, (int)worst(&e->checks)), "version", e->rpc->version, "uid",
	    (int)geteuid(), "deep", e->deep, "checks", doctor_json(&e->checks), "agents", agents));
	examination_free(e);
}

/* ---- step by step ---- */

static void chains_done(void *arg, enum doctor_state state, const char *text)
{
	struct examination *e = arg;

	doctor_say(&e->checks, "reviews", state, state == DOCTOR_OK ? NULL :
	    "somebody has changed the database: restore a backup, and trust that log no more",
	    "%s", text);
	doctor_answer(e);
}

static void host_run(void *arg)
{
	doctor_look(&((struct examination *)arg)->host);
}

static void host_done(void *arg)
{
	struct examination *e = arg;

	doctor_move(&e->checks, &e->host.checks);
	if (e->deep)
		doctor_chains(e->rpc, chains_done, e);
	else
		doctor_answer(e);
}

static void database_cb(void *arg, enum store_health health, const char *fault)
{
	struct examination *e = arg;

	switch (health) {
	case STORE_WHOLE:
		doctor_say(&e->checks, "database", DOCTOR_OK, NULL, "%s",
		    e->deep ? "sound, its indexes as well" : "sound");
		break;
	case STORE_DAMAGED:
		doctor_say(&e->checks, "database", DOCTOR_FAILED,
		    "stop the daemon, keep a copy, and restore a backup of rld.db", "%s", fault);
		break;
	case STORE_UNCHECKED:
		doctor_say(&e->checks, "database", DOCTOR_OK, e->deep ?
		    "check a copy: sqlite3 COPY 'PRAGMA integrity_check'" : "rlctl doctor --deep",
		    "too large to be read through beside the work");
		break;
	}
	if (e->rpc->options.unknown != NULL)
		doctor_say(&e->checks, "numbers", DOCTOR_WARNING, "stop the daemon and restore a "
		    "newer rld.db together with its rld.db-wal, if there is one; "
		    "else keep these directories for the outputs in them", "at its start: %s",
		    e->rpc->options.unknown);
	if (*e->rpc->options.lost != NULL)
		doctor_say(&e->checks, "results", DOCTOR_WARNING, "look for the work in the work "
		    "tree, then put it into a commit, or retry the run: rlctl retry RUN",
		    "since the machine was started anew: %s", *e->rpc->options.lost);
	offload(e->rpc->options.loop, host_run, host_done, e);
}

struct wanted {
	int64_t disk_floor;
	bool sandbox_required;
};

static void take_setting(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	struct wanted *wanted = arg;
	json_t *json;

	(void)from;
	(void)help;
	if (strcmp(path, "limits.disk_floor") == 0) {
		json = json_document(value, json_null());
		wanted->disk_floor = setting_number(setting_find(path, NULL), json);
		json_decref(json);
	} else if (strcmp(path, "review.sandbox") == 0) {
		wanted->sandbox_required = strcmp(value, "\"require\"") == 0;
	}
}

static struct reply doctor_call(struct rpc *rpc, struct call *call)
{
	const struct config *config = rpc_config(rpc);
	struct examination *e = xcalloc(1, sizeof(*e));
	struct wanted wanted = { 0 };
	struct config_error error;

	(void)config_each(config, NULL, NULL, 0, take_setting, &wanted, &error);
	e->rpc = rpc;
	e->call = call;
	e->deep = call_flag(call, "deep");
	e->host = (struct doctor_host){
		.state_dir = rpc->state_dir,
		.shim = rpc->options.shim,
		.rl_git = rpc->options.rl_git,
		.version = rpc->version,
		.sockets = strings_copy(rpc->sockets),
		.config_file = xstrdup(rpc->options.config_file),
		.config = config_stamp(config),
		.disk_floor = wanted.disk_floor,
		.parallel = config_parallel(config),
		.sandbox_required = wanted.sandbox_required,
		.deep = e->deep,
	};
	store_check(rpc->options.store, e->deep, database_cb, e);
	return reply_later(call);
}

static const struct schema doctor_params[] = {
	{ "deep", SCHEMA_BOOL, .help = "also what takes time: every part of the database, "
	    "the review logs of the newest 1000 runs, all attempts' directories" },
	{ 0 },
};
static const struct result_field doctor_results[] = {
	{ "state", "string", "the worst of the checks: ok, warning or failed" },
	{ "version", "string", "of the daemon" },
	{ "uid", "integer", "user whose rights agents have" },
	{ "deep", "boolean", "as asked" },
	{ "checks", "array", "{name, state, text, remedy} in the order in which they were made; "
	    "remedy: null when there is nothing to do" },
	{ "agents", "array", "{name, program, preset, account, reader, env, set, used_by, "
	    "measured, node, login, login_help, caveat} of each agent that a run may "
	    "name: what its submitter is to look for" },
	{ 0 },
};

const struct method doctor_methods[] = {
	{ "daemon.doctor", ACCESS_READ, true, doctor_params, doctor_results, NULL, doctor_call,
	    "what works on this host, and what to do about the rest" },
	{ 0 },
};
