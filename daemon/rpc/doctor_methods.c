/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/offload.h"
#include "config/setting.h"
#include "keep/compare.h"
#include "keep/keeper.h"
#include "model/row_json.h"
#include "proc/process.h"
#include "proc/shims.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "rpc/context.h"
#include "rpc/doctor.h"

/* A call in progress: the database, then the host, then the review logs, then the state of the
 * daemon. */
struct examination {
	struct rpc *rpc;
	struct call *call;
	bool deep;
	struct doctor_host host;	/* with copies of its strings, because a reload may come */
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
	remedy = xasprintf("wait, or end the cooldown: rlctl cooldown clear %s", account->name);
	doctor_say(checks, "account", DOCTOR_WARNING, remedy, "%s: %s until %s%s%s", account->name,
	    state_name(&cooldown_kind_names, account->cooldown->kind), until,
	    account->cooldown->reason != NULL ? ": " : "",
	    account->cooldown->reason != NULL ? account->cooldown->reason : "");
	free(remedy);
}

static void add_host(void *arg, const char *launcher, const char *node, int64_t until, const char *why)
{
	char time[32], *remedy = xasprintf("see whether a log-in to %s works; it is tried again then", node);

	time_format(until, time, sizeof(time));
	doctor_say(arg, "launcher", DOCTOR_WARNING, remedy, "%s: %s is left out until %s: %s", launcher, node, time,
	    why);
	free(remedy);
}

static void add_accounts(struct examination *e, const json_t *agents)
{
	size_t before;

	engine_left_out(e->rpc->options.engine, add_host, &e->checks);
	before = e->checks.count;
	engine_accounts(e->rpc->options.engine, add_account, &e->checks);
	doctor_accounts(rpc_config(e->rpc), agents, &e->checks);
	if (e->checks.count == before)
		doctor_say(&e->checks, "account", DOCTOR_OK, NULL, "no account is on cooldown");
}

static void add_daemon(struct examination *e)
{
	if (engine_draining(e->rpc->options.engine))
		doctor_say(&e->checks, "daemon", DOCTOR_WARNING,
		    "start it again after it has stopped",
		    "rld %s is draining: it accepts no new work", e->rpc->version);
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
	strings_free(e->host.unknown);
	free((char *)e->host.config_file);
	free(e->host.shims);
	free(e);
}

static void doctor_answer(struct examination *e)
{
	json_t *agents = doctor_agents(rpc_config(e->rpc));

	add_daemon(e);
	add_accounts(e, agents);
	call_ok(e->call, json_pack("{s:s,s:s,s:I,s:b,s:o,s:o}", "state",
	    state_name(&doctor_state_names, (int)worst(&e->checks)), "version", e->rpc->version, "uid",
	    (json_int_t)agent_user()->is.uid, "deep", e->deep, "checks", doctor_json(&e->checks), "agents", agents));
	examination_free(e);
}

#define COMPARED_MAX 50		/* faults that are told */

static void look_at_keep(struct examination *e);

/* Rows without what they need, and what no row knows. */
static void compare_done(void *arg, const struct compare_fault *faults, size_t count, size_t seen)
{
	struct examination *e = arg;

	for (size_t i = 0; i < count && i < COMPARED_MAX; i++)
		doctor_say(&e->checks, "compare", faults[i].lost ? DOCTOR_FAILED : DOCTOR_WARNING,
		    faults[i].remedy, "%s", faults[i].text);
	if (count > COMPARED_MAX)
		doctor_say(&e->checks, "compare", DOCTOR_WARNING, "see to these first, and look again",
		    "%zu more like these", count - COMPARED_MAX);
	if (count == 0)
		doctor_say(&e->checks, "compare", DOCTOR_OK, NULL,
		    "%zu directories, refs and work trees go with the database", seen);
	look_at_keep(e);
}

/* What is kept of runs, and how many are beyond the limits of [keep]. */
static void keep_cb(void *arg, const struct prune_result *result)
{
	struct examination *e = arg;
	char size[32], beyond[32];
	int64_t runs, bytes;

	keeper_total(e->rpc->options.keeper, &runs, &bytes);
	size_format(bytes, size, sizeof(size));
	size_format(result->bytes + result->prepared, beyond, sizeof(beyond));
	if (keeper_waits(e->rpc->options.keeper))
		doctor_say(&e->checks, "keep", DOCTOR_WARNING, "correct the clock, or confirm it: rlctl prune",
		    "%s of %lld ended runs are kept; [keep] automatic waits, because the clock says that the last "
		    "prune was over a week ago", size, (long long)runs);
	else if (result->code == RPC_OK && (result->gone > 0 || result->prepared > 0))
		doctor_say(&e->checks, "keep", DOCTOR_WARNING,
		    "see what would go: rlctl prune --dry-run; then prune, or set automatic = true in [keep]",
		    "%s of %lld ended runs are kept; %zu of them, %s, are beyond the limits of [keep]", size,
		    (long long)runs, result->gone, beyond);
	else
		doctor_say(&e->checks, "keep", DOCTOR_OK, NULL, "%s of %lld ended runs are kept", size,
		    (long long)runs);
	doctor_answer(e);
}

static void look_at_keep(struct examination *e)
{
	struct prune_request request = { .check = true, .unasked = true, .by_uid = ROW_NONE };
	bool automatic;

	request.policy = config_keep(rpc_config(e->rpc), &automatic);
	keeper_prune(e->rpc->options.keeper, &request, keep_cb, e);
}

/* ---- step by step ---- */

static void chains_done(void *arg, enum doctor_state state, const char *text, const char *moved, const char *newest)
{
	struct examination *e = arg;

	doctor_say(&e->checks, "reviews", state, state == DOCTOR_OK ? NULL :
	    "the database or its files were altered: restore a backup, and do not trust that log any more",
	    "%s", text);
	if (moved != NULL)
		doctor_say(&e->checks, "refs", DOCTOR_FAILED,
		    "look at both commits, and restore the ref if the newer one is not yours", "%s", moved);
	else if (newest != NULL)
		doctor_say(&e->checks, "refs", DOCTOR_OK, NULL,
		    "the results of these runs are where rld left them, the newest at %s", newest);
	else
		doctor_say(&e->checks, "refs", DOCTOR_OK, NULL, "these runs have left no results in git");
	keeper_compare(e->rpc->options.keeper, e->rpc->instance, compare_done, e);
}

static void host_run(void *arg)
{
	struct doctor_host *host = &((struct examination *)arg)->host;

	doctor_look(host);
	doctor_logout(&host->checks);
	if (host->deep)
		host->shims = shims_find(host->state_dir, &host->nshims);
}

/* Of an attempt that has ended, or never was: one that it outlives, or of a state directory that
 * was here before. What has only just ended is gone at the second look. */
static bool is_left(const struct examination *e, const struct shim_seen *shim)
{
	char name[PROCESS_NAME_MAX];
	struct agent agent;
	pid_t parent;

	return engine_find_agent(e->rpc->options.engine, shim->id, "", &agent) && agent.run == 0 &&
	    process_identify(shim->pid, name, &parent) && strcmp(name, PROCESS_SHIM) == 0;
}

/* The other way about, an attempt without a process, is for the engine: it watches each of them. */
static void check_shims(struct examination *e)
{
	size_t left = 0;

	for (size_t i = 0; i < e->host.nshims; i++) {
		if (!is_left(e, &e->host.shims[i]))
			continue;
		left++;
		doctor_say(&e->checks, "processes", DOCTOR_WARNING,
		    "look at what it runs; kill PID ends it and its agent",
		    "rl-shim %d works in attempts/%lld, which is no attempt or operation that runs",
		    (int)e->host.shims[i].pid, (long long)e->host.shims[i].id);
	}
	if (left == 0)
		doctor_say(&e->checks, "processes", DOCTOR_OK, NULL,
		    "%zu rl-shim, each of an attempt or operation that runs", e->host.nshims);
}

static void host_done(void *arg)
{
	struct examination *e = arg;

	doctor_move(&e->checks, &e->host.checks);
	if (e->deep)
		check_shims(e);
	if (e->deep)
		doctor_chains(e->rpc, chains_done, e);
	else
		look_at_keep(e);
}

static void database_cb(void *arg, enum store_health health, const char *fault)
{
	struct examination *e = arg;

	switch (health) {
	case STORE_WHOLE:
		doctor_say(&e->checks, "database", DOCTOR_OK, NULL, "%s",
		    e->deep ? "intact, including its indexes" : "intact");
		break;
	case STORE_DAMAGED:
		doctor_say(&e->checks, "database", DOCTOR_FAILED,
		    "stop the daemon, save a copy, and restore a backup of rld.db", "%s", fault);
		break;
	case STORE_UNCHECKED:
		doctor_say(&e->checks, "database", DOCTOR_OK, e->deep ?
		    "check a copy: sqlite3 COPY 'PRAGMA integrity_check'" : "rlctl doctor --deep",
		    "too large to check while the daemon works");
		break;
	}
	if (e->rpc->options.unknown != NULL)
		doctor_say(&e->checks, "numbers", DOCTOR_WARNING,
		    "stop the daemon and restore a newer rld.db together with its rld.db-wal, if "
		    "any; otherwise keep these directories for their outputs", "at start: %s",
		    e->rpc->options.unknown);
	if (*e->rpc->options.lost != NULL)
		doctor_say(&e->checks, "results", DOCTOR_WARNING,
		    "look for the work in the work tree and commit it, or retry the run: rlctl "
		    "retry RUN",
		    "since the machine restarted: %s", *e->rpc->options.lost);
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
		.to_others = rpc->roles.open,
		.unknown = strings_copy(rpc->roles.unknown),
		.config_file = xstrdup(rpc->options.config_file),
		.config = config_stamp(config),
		.disk_floor = wanted.disk_floor,
		.parallel = config_parallel(config),
		.limits = { config_attempt_memory(config), config_attempt_processes(config) },
		.sandbox_required = wanted.sandbox_required,
		.deep = e->deep,
	};
	store_check(rpc->options.store, e->deep, database_cb, e);
	return reply_later(call);
}

static const struct schema doctor_params[] = {
	{ "deep", SCHEMA_BOOL, .help =
	    "also run slow checks: the whole database, the review logs and the refs of the newest "
	    "1000 runs, the directories of all attempts" },
	{ 0 },
};
static const struct result_field doctor_results[] = {
	{ "state", "DoctorState", "worst result of the checks" },
	{ "version", "string", "version of the daemon" },
	{ "uid", "integer", "user that the agents run as" },
	{ "deep", "boolean", "as requested" },
	{ "checks", "[DoctorCheck]", "in the order of the checks" },
	{ "agents", "[DoctorAgent]", "each agent that a run may name, for checks by the client" },
	{ 0 },
};

const struct method doctor_methods[] = {
	{ "daemon.doctor", ACCESS_READ, true, doctor_params, doctor_results, NULL, doctor_call,
	    "check the daemon and its host, with remedies" },
	{ 0 },
};
