/* SPDX-License-Identifier: MIT */
/* daemon.metrics: numbers for a monitoring system. One row of the table is one metric. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/offload.h"
#include "core/state.h"
#include "proto/memory.h"
#include "rpc/context.h"

/* A call that waits for the disk. */
struct scrape {
	struct rpc *rpc;
	struct call *call;
	char *state_dir, *database;
	int64_t bytes, wal, room;	/* -1: unknown */
};

static void add_sample(json_t *samples, const char *label, const char *value, double number)
{
	json_t *labels = label != NULL ? json_pack("{s:s}", label, value) : json_object();

	json_array_append_new(samples, json_pack("{s:o,s:f}", "labels", labels, "value", number));
}

/* ---- the daemon ---- */

static void build(const struct scrape *s, json_t *samples)
{
	json_array_append_new(samples, json_pack("{s:{s:s,s:s},s:i}", "labels", "version", s->rpc->version, "instance",
	    s->rpc->instance, "value", 1));
}

static void start_time(const struct scrape *s, json_t *samples)
{
	add_sample(samples, NULL, NULL, (double)s->rpc->options.started_at / 1000);
}

static void draining(const struct scrape *s, json_t *samples)
{
	add_sample(samples, NULL, NULL, engine_draining(s->rpc->options.engine));
}

static void slots(const struct scrape *s, json_t *samples)
{
	add_sample(samples, NULL, NULL, (double)config_parallel(rpc_config(s->rpc)));
}

static void running(const struct scrape *s, json_t *samples)
{
	add_sample(samples, NULL, NULL, (double)engine_running(s->rpc->options.engine));
}

static void clients(const struct scrape *s, json_t *samples)
{
	add_sample(samples, NULL, NULL, (double)server_clients(s->rpc->server));
}

static void commits(const struct scrape *s, json_t *samples)
{
	add_sample(samples, NULL, NULL, (double)store_commits(s->rpc->options.store));
}

/* ---- the disk ---- */

static void database_bytes(const struct scrape *s, json_t *samples)
{
	if (s->bytes != -1)
		add_sample(samples, "file", "rld.db", (double)s->bytes);
	if (s->wal != -1)
		add_sample(samples, "file", "rld.db-wal", (double)s->wal);
}

static void free_bytes(const struct scrape *s, json_t *samples)
{
	if (s->room != -1)
		add_sample(samples, NULL, NULL, (double)s->room);
}

/* ---- unfinished runs ---- */

static void runs(const struct scrape *s, json_t *samples)
{
	json_t *counts = run_counts(s->rpc), *count;
	const char *state;

	json_object_foreach(counts, state, count)
		add_sample(samples, "state", state, json_number_value(count));
	json_decref(counts);
}

static void holds(const struct scrape *s, json_t *samples)
{
	const struct view *view = engine_view(s->rpc->options.engine);
	size_t open = 0;

	for (const struct run_rows *rows = view_next(view, 0); rows != NULL; rows = view_next(view, rows->run.id))
		for (size_t i = 0; i < rows->nholds; i++)
			open += rows->holds[i]->state == HOLD_S_OPEN;
	add_sample(samples, NULL, NULL, (double)open);
}

/* ---- accounts ---- */

static void add_cooling(void *arg, const struct account_info *info)
{
	add_sample(arg, "account", info->name, info->cooldown != NULL);
}

static void add_waiting(void *arg, const struct account_info *info)
{
	add_sample(arg, "account", info->name, (double)info->waiting);
}

static void add_spent(void *arg, const struct account_info *info)
{
	add_sample(arg, "account", info->name, info->spend != NULL ? info->spend->cost_usd : 0);
}

static void cooling(const struct scrape *s, json_t *samples)
{
	engine_accounts(s->rpc->options.engine, add_cooling, samples);
}

static void waiting(const struct scrape *s, json_t *samples)
{
	engine_accounts(s->rpc->options.engine, add_waiting, samples);
}

static void spent(const struct scrape *s, json_t *samples)
{
	engine_accounts(s->rpc->options.engine, add_spent, samples);
}

/* ---- counted since the start ---- */

static void add_counted(json_t *samples, json_t *counted, const char *first, const char *second)
{
	const char *key;
	json_t *number;

	json_object_foreach(counted, key, number) {
		const char *blank = second != NULL ? strchr(key, ' ') : NULL;
		json_t *labels = json_pack("{s:s%}", first, key, blank != NULL ? (size_t)(blank - key) : strlen(key));

		if (blank != NULL)
			json_object_set_new(labels, second, json_string(blank + 1));
		json_array_append_new(samples, json_pack("{s:o,s:O}", "labels", labels, "value", number));
	}
}

#define COUNTED(name, member, first, second) \
	static void name(const struct scrape *s, json_t *samples) \
	{ \
		add_counted(samples, s->rpc->counters.member, first, second); \
	}

COUNTED(runs_ended, runs, "state", NULL)
COUNTED(attempts_ended, attempts, "role", "outcome")
COUNTED(reviews, reviews, "decision", NULL)
COUNTED(cost, cost, "role", NULL)
COUNTED(tokens_input, input, "role", NULL)
COUNTED(tokens_output, output, "role", NULL)
COUNTED(events, events, "type", NULL)

/* ---- the table ---- */

static const struct {
	const char *name, *type, *help;
	void (*add)(const struct scrape *s, json_t *samples);
} metrics[] = {
	{ "rld_build_info", "gauge", "Version and instance of the daemon.", build },
	{ "rld_start_time_seconds", "gauge", "Start of the daemon, since 1970.", start_time },
	{ "rld_draining", "gauge", "1 while the daemon takes no new work and stops soon.", draining },
	{ "rld_slots", "gauge", "Attempts that may run at a time.", slots },
	{ "rld_attempts_running", "gauge", "Attempts that run.", running },
	{ "rld_runs", "gauge", "Unfinished runs by state.", runs },
	{ "rld_holds_open", "gauge", "Holds that wait for a decision.", holds },
	{ "rld_account_cooling", "gauge", "1 while the account is exhausted.", cooling },
	{ "rld_account_waiting", "gauge", "Slots that wait for the account.", waiting },
	{ "rld_account_spent_today_usd", "gauge", "Cost of today's ended attempts (UTC), as agents report it.", spent },
	{ "rld_database_bytes", "gauge", "Size of the database.", database_bytes },
	{ "rld_state_free_bytes", "gauge", "Free space of the state directory.", free_bytes },
	{ "rld_clients", "gauge", "Connections.", clients },
	{ "rld_commits_total", "counter", "Transactions since the start.", commits },
	{ "rld_runs_ended_total", "counter", "Runs that ended since the start, by state.", runs_ended },
	{ "rld_attempts_ended_total", "counter", "Attempts that ended since the start.", attempts_ended },
	{ "rld_reviews_total", "counter", "Reviews since the start, by decision.", reviews },
	{ "rld_cost_usd_total", "counter", "Cost of attempts that ended since the start.", cost },
	{ "rld_tokens_input_total", "counter", "Input tokens of ended attempts since the start.", tokens_input },
	{ "rld_tokens_output_total", "counter", "Output tokens of ended attempts since the start.", tokens_output },
	{ "rld_events_total", "counter", "Events since the start, by type.", events },
};

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

static void look_run(void *arg)
{
	struct scrape *s = arg;
	char *wal = xasprintf("%s-wal", s->database);
	struct statvfs fs;

	s->bytes = size_of(s->database);
	s->wal = size_of(wal);
	s->room = statvfs(s->state_dir, &fs) == 0 ? (int64_t)fs.f_bavail * (int64_t)fs.f_frsize : -1;
	free(wal);
}

static void look_done(void *arg)
{
	struct scrape *s = arg;
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		json_t *samples = json_array();

		metrics[i].add(s, samples);
		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:o}", "name", metrics[i].name, "type",
		    metrics[i].type, "help", metrics[i].help, "samples", samples));
	}
	call_ok(s->call, json_pack("{s:o}", "metrics", list));
	free(s->state_dir);
	free(s->database);
	free(s);
}

static struct reply daemon_metrics(struct rpc *rpc, struct call *call)
{
	struct scrape *s = xcalloc(1, sizeof(*s));

	s->rpc = rpc;
	s->call = call;
	s->state_dir = xstrdup(rpc->state_dir);
	s->database = xasprintf("%s/rld.db", rpc->state_dir);
	offload(rpc->options.loop, look_run, look_done, s);
	return reply_later(call);
}

static const struct result_field metrics_results[] = {
	{ "metrics", "[Metric]", "all of them, in a fixed order" },
	{ 0 },
};

const struct method metrics_methods[] = {
	{ "daemon.metrics", ACCESS_READ, false, NULL, metrics_results, NULL, daemon_metrics,
	    "return numbers for a monitoring system" },
	{ 0 },
};
