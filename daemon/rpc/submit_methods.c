/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/logout.h"
#include "base/offload.h"
#include "core/plan_json.h"
#include "job/host_refusal.h"
#include "model/row_json.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/environment.h"
#include "rpc/path_access.h"
#include "rpc/submit_source.h"
#include "rpc/submit_warnings.h"

#define OVERRIDES_MAX 64
#define SETTING(name, setting_path) { name, SCHEMA_ANY, .path = setting_path }

static const struct schema review_params[] = {
	SETTING("enabled", "review.enabled"),
	SETTING("profile", "review.profile"),
	SETTING("agent", "review.agent"),
	SETTING("model", "review.model"),
	SETTING("fixer_agent", "review.fixer_agent"),
	SETTING("fixer_model", "review.fixer_model"),
	SETTING("max_fixes", "review.max_fixes"),
	SETTING("stall_limit", "review.stall_limit"),
	SETTING("timeout", "review.timeout"),
	SETTING("on_malformed", "review.on_malformed"),
	SETTING("on_reviewer_error", "review.on_reviewer_error"),
	SETTING("on_exhausted", "review.on_exhausted"),
	SETTING("fixer", "review.fixer"),
	SETTING("scope", "review.scope"),
	SETTING("strictness", "review.strictness"),
	SETTING("checks", "review.checks"),
	SETTING("checks_mode", "review.checks_mode"),
	SETTING("review_merged", "review.review_merged"),
	SETTING("guidelines", "review.guidelines"),
	SETTING("conventions", "review.conventions"),
	SETTING("reviewer", "review.reviewer"),
	SETTING("env", "review.env"),
	SETTING("review_file", "review.review_file"),
	SETTING("review_log", "review.review_log"),
	SETTING("read_only", "review.read_only"),
	SETTING("sandbox", "review.sandbox"),
	SETTING("on_cut", "review.on_cut"),
	SETTING("on_question", "review.on_question"),
	SETTING("silence", "review.silence"),
	SETTING("workspace", "review.workspace"),
	SETTING("room", "review.room"),
	SETTING("protect", "review.protect"),
	SETTING("escalate", "review.escalate"),
	SETTING("reviewers", "review.reviewers"),
	SETTING("quorum", "review.quorum"),
	SETTING("reviewer_may_change", "review.reviewer_may_change"),
	SETTING("developer_prompt", "review.developer_prompt"),
	SETTING("reviewer_prompt", "review.reviewer_prompt"),
	{ 0 },
};
static const struct schema submit_params[] = {
	{ "task", SCHEMA_TEXT, .max = INT_MAX,
	    .help = "description of the task; instead of task_blob, beads, stories or workflow" },
	{ "workdir", SCHEMA_TEXT, .required = true, .min = 1, .max = PATH_MAX,
	    .help = "absolute path of the workdir" },
	{ "task_blob", SCHEMA_TEXT, .min = 1, .max = 64,
	    .help = "name of a blob with the description of the task, instead of task" },
	SETTING("agent", "default_agent"),
	SETTING("reviewer_agent", "review.agent"),
	SETTING("fixer_agent", "review.fixer_agent"),
	SETTING("model", "run.model"),
	SETTING("reviewer_model", "review.model"),
	SETTING("fixer_model", "review.fixer_model"),
	{ "review", SCHEMA_OBJECT, .members = review_params, .help = "settings of the review" },
	SETTING("skip_review", "review.skip"),
	SETTING("timeout", "limits.timeout"),
	SETTING("idle_timeout", "limits.idle_timeout"),
	SETTING("on_lost", "run.on_lost"),
	SETTING("env", "run.env"),
	{ "priority", SCHEMA_INT, .min = -100, .max = 100, .help =
	    "higher starts first; default 0" },
	{ "environment", SCHEMA_PAIRS, .max = ENVIRONMENT_MAX,
	    .help = "the submitter's variables; only those that agents may get are used" },
	{ "key", SCHEMA_TEXT, .min = 1, .max = 256, .help =
	    "the same key returns the first result again" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	SETTING("reviewer", "review.reviewer"),
	SETTING("checks", "review.checks"),
	SETTING("commit", "run.commit"),
	SETTING("report", "run.report"),
	{ "beads", SCHEMA_TEXT_OR_TRUE, .min = 1, .max = PATH_MAX, .help =
	    "absolute path of the directory that contains .beads, or true for the workdir: the "
	    "beads are the tasks" },
	{ "stories", SCHEMA_TEXT, .min = 1, .max = INT_MAX,
	    .help = "text of a JSON PRD: its user stories are the tasks" },
	{ "stories_path", SCHEMA_TEXT, .min = 1, .max = PATH_MAX,
	    .help = "absolute path of that file; stories that pass are marked in it" },
	{ "workflow", SCHEMA_TEXT, .min = 1, .max = INT_MAX,
	    .help = "text of a YAML workflow: its tasks are the tasks" },
	{ "workflow_path", SCHEMA_TEXT, .min = 1, .max = PATH_MAX, .help = "absolute path of that file, for messages" },
	SETTING("assign", "run.assign"),
	SETTING("stop_markers", "run.stop_markers"),
	SETTING("iterations", "run.iterations"),
	SETTING("parallel", "run.parallel"),
	SETTING("pause_ms", "run.pause_ms"),
	SETTING("on_failure", "run.on_failure"),
	SETTING("isolation", "run.isolation"),
	SETTING("base", "run.base"),
	SETTING("integrate", "run.integrate"),
	{ "group", SCHEMA_TEXT, .min = 1, .max = 64,
	    .help = "group whose limits apply to the run; default \"default\"" },
	{ "after", SCHEMA_INT, .min = 1, .max = INT64_MAX,
	    .help = "run that must succeed before this one starts" },
	SETTING("max_cost", "run.max_cost"),
	SETTING("max_tokens", "run.max_tokens"),
	SETTING("max_wall", "run.max_wall"),
	SETTING("strict_budget", "run.strict_budget"),
	SETTING("on_no_change", "run.on_no_change"),
	SETTING("evidence_age", "run.evidence_age"),
	SETTING("no_change_markers", "run.no_change_markers"),
	SETTING("retries", "run.retries"),
	SETTING("setup", "run.setup"),
	SETTING("copy", "run.copy"),
	SETTING("setup_inputs", "run.setup_inputs"),
	SETTING("check_on_base", "run.check_on_base"),
	SETTING("labels", "run.label"),
	SETTING("launcher", "run.launcher"),
	{ 0 },
};
struct overrides {
	struct config_override list[OVERRIDES_MAX];
	char field[OVERRIDES_MAX][64];
	size_t count;
};

/* A submit in progress: look up its key, read project and source, resolve the settings, hand it to
 * the engine. A submit with a key is in rpc's list until its answer, so that a second one with the
 * same key waits for the first instead of creating another run. */
struct submit {
	struct rpc *rpc;
	struct call *call;
	struct overrides *overrides;
	struct project_text project;	/* .rld.toml of the workdir */
	struct submit_source source;
	struct plan plan;		/* resolved */
	struct plan own_plan;		/* what the daemon's settings alone make of it */
	struct path_access access;
	char *warnings;			/* as in struct submission */
	char hash[DIGEST_HEX];		/* of the compared parameters */
	char **environment;
	int64_t seq;			/* newest event when the call came */
	bool listed;
	bool parked;			/* an older submit with this key is in progress */
	LIST_ENTRY(submit) entry;
	TAILQ_ENTRY(submit) unread;
};

static void submit_start(struct submit *s);

static bool is_same_key(const struct submit *a, const struct submit *b)
{
	return call_uid(a->call) == call_uid(b->call) &&
	    strcmp(call_text(a->call, "key"), call_text(b->call, "key")) == 0;
}

/* The call is about to be answered. Returns the submits that waited for it. */
static struct submit *submit_unlist(struct submit *s)
{
	struct submit *other, *next = NULL;

	if (!s->listed)
		return NULL;
	LIST_REMOVE(s, entry);
	LIST_FOREACH(other, &s->rpc->keyed, entry) {
		if (other->parked && is_same_key(other, s))
			next = other;	/* the list has the newest first */
	}
	return next;
}

static void submit_free(struct submit *s, struct submit *next)
{
	for (size_t i = 0; i < s->overrides->count; i++)
		free((char *)s->overrides->list[i].value);
	free(s->overrides);
	project_text_release(&s->project);
	submit_source_release(&s->source);
	strings_wipe(s->environment);
	plan_release(&s->plan);
	plan_release(&s->own_plan);
	free(s->access.text);
	free(s->warnings);
	free(s);
	if (next != NULL) {
		next->parked = false;
		submit_start(next);
	}
}

/* Frees s. */
static void submit_refuse(struct submit *s, int code, const char *field, const char *hint, const char *text)
{
	struct submit *next = submit_unlist(s);

	call_error(s->call, code, field[0] != '\0' ? field : NULL, hint, "%s", text);
	submit_free(s, next);
}

/* seq: an event before the first one of the run. */
static json_t *submit_result(const struct run_row *run, int64_t seq)
{
	return json_pack("{s:o,s:s,s:o,s:I}", "id", json_int(run->id),
	    "state", state_name(&run_state_names, run->state),
	    "warnings", json_document(run->warnings, json_array()), "seq", (json_int_t)seq);
}

static void submit_reply(void *arg, const struct engine_reply *reply)
{
	struct submit *s = arg, *next = submit_unlist(s);

	if (reply->code != RPC_OK)
		call_error(s->call, reply->code, reply->field, reply->hint, "%s", reply->message);
	else if (reply->rows != NULL)
		call_ok(s->call, submit_result(&reply->rows->run, s->seq));
	else
		call_ok(s->call, json_pack("{s:n,s:s,s:[],s:I}", "id", "state", "checked", "warnings", "seq",
		    (json_int_t)s->seq));
	submit_free(s, next);
}

static void submit_go(struct submit *s)
{
	const json_t *task = call_param(s->call, "task");
	const struct submission submission = {
		.owner = call_uid(s->call),
		.workdir = call_text(s->call, "workdir"),
		.source = s->source.kind,
		.source_path = s->source.path,
		.tasks = s->source.tasks.count > 0 ? &s->source.tasks : NULL,
		.task_plans = s->source.plans,
		.group = call_text(s->call, "group"),
		.after = call_int(s->call, "after", ROW_NONE),
		.task = json_string_value(task),
		.task_size = json_string_length(task),
		.task_blob = call_text(s->call, "task_blob"),
		.environment = s->environment,
		.key = call_text(s->call, "key"),
		.body_hash = s->hash,
		.priority = call_int(s->call, "priority", 0),
		.plan = &s->plan,
		.warnings = s->warnings,
		.check = call_flag(s->call, "check"),
	};

	engine_submit(s->rpc->options.engine, &submission, submit_reply, s);
}

/* run NULL: none. Frees s, or passes it on. */
static void submit_follow(struct submit *s, const struct run_row *run)
{
	long long id = (long long)call_int(s->call, "after", 0);
	char *text = NULL;

	if (run == NULL) {
		text = xasprintf("no such run: %lld", id);
		submit_refuse(s, RPC_NOT_FOUND, "after", "see 'rlctl list'", text);
	} else if (run_state_is_end(run->state) && run->state != RUN_S_SUCCEEDED) {
		text = xasprintf("run %lld is %s; a run after it would never start", id,
		    state_name(&run_state_names, run->state));
		submit_refuse(s, RPC_WRONG_STATE, "after",
		    "retry that run first, then name the retry in --after", text);
	} else {
		submit_go(s);
	}
	free(text);
}

static void after_cb(void *arg, struct rowset *set)
{
	submit_follow(arg, set->count > 0 ? set->rows[0] : NULL);
	rowset_release(set);
}

/* The run that must succeed first: unfinished, or succeeded. */
static void submit_after(struct submit *s)
{
	const struct query_bind binds[] = { { ":id", call_int(s->call, "after", ROW_NONE), NULL }, { NULL, 0, NULL } };
	const struct run_rows *rows;

	if (binds[0].number == ROW_NONE) {
		submit_go(s);
		return;
	}
	rows = view_run(engine_view(s->rpc->options.engine), binds[0].number);
	if (rows != NULL)
		submit_follow(s, &rows->run);
	else
		rpc_read(s->rpc, "run.get", ROW_RUN, binds, after_cb, s);
}

static void refuse_access(struct submit *s)
{
	submit_refuse(s, RPC_NOT_PERMITTED, s->access.field, PATH_ACCESS_HINT, s->access.text);
}

/* What the daemon's own settings name may be what they like. */
static void resolve_own(struct submit *s)
{
	char *profile = xasprintf("\"%s\"", s->plan.profile_name);
	const struct config_override overrides[] = {
		{ "review.enabled", "true", "review" }, { "review.profile", profile, "review.profile" },
	};
	struct config_error error;

	if (s->access.peer != NULL)
		(void)config_resolve(rpc_config(s->rpc), NULL, overrides, s->plan.review ? 2 : 0, &s->own_plan, &error);
	s->plan.read_as = path_access_read_as(&s->access, &s->own_plan);
	submit_source_read_as(&s->source, s->plan.read_as);
	free(profile);
}

/* use the current settings: a reload may have come while the project was read. False: s is
 * freed. */
static bool submit_resolve(struct submit *s, const struct logout *logout)
{
	struct project *project = NULL;
	struct config_error error;
	bool ok = false;

	if (s->access.text != NULL) {
		refuse_access(s);
	} else if (s->source.error != NULL) {
		submit_refuse(s, s->source.code, s->source.field, s->source.hint, s->source.error);
	} else if (project_parse(&project, &s->project, &error) == -1) {
		submit_refuse(s, host_refusal_code(-s->project.error, RPC_INVALID_PARAMS), error.field,
		    host_refusal_hint(-s->project.error, NULL), error.text);
	} else if (!submit_source_resolve(&s->source, rpc_config(s->rpc), project,
	    s->overrides->list, s->overrides->count, &s->plan, &s->environment)) {
		submit_refuse(s, RPC_INVALID_PARAMS, s->source.field, s->source.hint, s->source.error);
	} else {
		s->warnings = submit_warnings(&s->plan, s->source.kinds, logout);
		resolve_own(s);
		ok = true;
	}
	project_free(project);
	return ok;
}

/* Projects and sources of submits that arrived during the previous read. There is one worker, so
 * that runs are numbered in order of arrival. */
struct batch_read {
	struct rpc *rpc;
	struct submits submits;
	struct logout logout;
};

static void read_start(struct rpc *rpc);

static void read_run(void *arg)
{
	struct batch_read *batch = arg;
	struct submit *s;

	logout_look(&batch->logout);
	TAILQ_FOREACH(s, &batch->submits, unread) {
		if (!path_access_workdir(&s->access, call_text(s->call, "workdir")) ||
		    !submit_source_access(&s->source, &s->access))
			continue;
		path_access_read(&s->access, &s->project, call_text(s->call, "workdir"));
		(void)submit_source_read(&s->source);
	}
}

static void paths_run(void *arg)
{
	struct batch_read *batch = arg;
	struct submit *s;

	TAILQ_FOREACH(s, &batch->submits, unread)
		(void)path_access_plan(&s->access, &s->plan, &s->own_plan, call_text(s->call, "workdir"));
}

static void paths_done(void *arg)
{
	struct batch_read *batch = arg;
	struct rpc *rpc = batch->rpc;
	struct submit *s;

	while ((s = TAILQ_FIRST(&batch->submits)) != NULL) {
		TAILQ_REMOVE(&batch->submits, s, unread);
		if (s->access.text != NULL)
			refuse_access(s);
		else
			submit_after(s);
	}
	logout_release(&batch->logout);
	free(batch);
	rpc->reading = false;
	read_start(rpc);
}

static void read_done(void *arg)
{
	struct batch_read *batch = arg;
	struct submits resolved = TAILQ_HEAD_INITIALIZER(resolved);
	struct submit *s, *next;
	bool asks = false;

	for (s = TAILQ_FIRST(&batch->submits); s != NULL; s = next) {
		next = TAILQ_NEXT(s, unread);
		TAILQ_REMOVE(&batch->submits, s, unread);
		if (!submit_resolve(s, &batch->logout))
			continue;
		asks |= s->access.peer != NULL;
		TAILQ_INSERT_TAIL(&resolved, s, unread);
	}
	TAILQ_CONCAT(&batch->submits, &resolved, unread);
	if (asks)
		offload(batch->rpc->options.loop, paths_run, paths_done, batch);
	else
		paths_done(batch);
}

static void read_start(struct rpc *rpc)
{
	struct batch_read *batch;

	if (rpc->reading || TAILQ_EMPTY(&rpc->unread))
		return;
	rpc->reading = true;
	batch = xcalloc(1, sizeof(*batch));
	batch->rpc = rpc;
	TAILQ_INIT(&batch->submits);
	TAILQ_CONCAT(&batch->submits, &rpc->unread, unread);
	offload(rpc->options.loop, read_run, read_done, batch);
}

static void submit_read(struct submit *s)
{
	TAILQ_INSERT_TAIL(&s->rpc->unread, s, unread);
	read_start(s->rpc);
}

static void by_key_cb(void *arg, struct rowset *set)
{
	struct submit *s = arg, *next;
	const struct run_row *run = set->count > 0 ? set->rows[0] : NULL;

	if (run == NULL) {
		rowset_release(set);
		submit_read(s);
		return;
	}
	next = submit_unlist(s);
	if (run->body_hash != NULL && strcmp(run->body_hash, s->hash) == 0)
		call_ok(s->call, submit_result(run, 0));
	else
		call_error(s->call, RPC_CONFLICT, "key",
		    "use another key, or submit with the original parameters",
		    "the key '%s' belongs to run %lld, which was submitted with other parameters",
		    call_text(s->call, "key"), (long long)run->id);
	rowset_release(set);
	submit_free(s, next);
}

static void submit_start(struct submit *s)
{
	const struct query_bind binds[] = {
		{ ":owner", call_uid(s->call), NULL }, { ":key", 0, call_text(s->call, "key") }, { NULL, 0, NULL },
	};
	struct submit *other;

	if (call_text(s->call, "key") == NULL) {
		submit_read(s);
		return;
	}
	if (!s->listed) {
		LIST_FOREACH(other, &s->rpc->keyed, entry)
			s->parked = s->parked || is_same_key(other, s);
		LIST_INSERT_HEAD(&s->rpc->keyed, s, entry);
		s->listed = true;
		if (s->parked)
			return;
	}
	rpc_read(s->rpc, "run.by_key", ROW_RUN, binds, by_key_cb, s);
}

/* SHA-256 of what makes two submits equal. */
static void hash_body(const json_t *params, char hex[DIGEST_HEX])
{
	static const char *const aside[] = { "environment", "key", "check" };
	json_t *body = json_copy((json_t *)params);
	char *text;

	for (size_t i = 0; i < sizeof(aside) / sizeof(aside[0]); i++)
		json_object_del(body, aside[i]);
	text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
	if (text == NULL)
		abort();
	digest_hex(text, strlen(text), hex);
	free(text);
	json_decref(body);
}

static bool has_path(const struct overrides *o, const char *path)
{
	for (size_t i = 0; i < o->count; i++) {
		if (strcmp(o->list[i].path, path) == 0)
			return true;
	}
	return false;
}

/* Collect the settings in params. Returns NULL, or the field of one that is given twice. */
static const char *collect(struct overrides *o, const struct schema *params, const char *prefix, const json_t *object)
{
	const char *twice = NULL;

	for (const struct schema *p = params; p->name != NULL && twice == NULL; p++) {
		const json_t *value = json_object_get(object, p->name);

		if (value == NULL)
			continue;
		if (p->kind == SCHEMA_OBJECT)
			twice = collect(o, p->members, "review.", value);
		if (p->kind != SCHEMA_ANY)
			continue;
		snprintf(o->field[o->count], sizeof(o->field[0]), "%s%s", prefix, p->name);
		if (o->count == OVERRIDES_MAX - 1 || has_path(o, p->path))
			return o->field[o->count];
		o->list[o->count] = (struct config_override){
			.path = p->path,
			.value = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY),
			.field = o->field[o->count],
		};
		o->count++;
	}
	return twice;
}

static struct reply submit_call(struct rpc *rpc, struct call *call)
{
	struct submit *s = xcalloc(1, sizeof(*s));
	const char *twice, *group = call_text(call, "group");
	struct reply reply;

	s->rpc = rpc;
	s->call = call;
	s->seq = feed_last(rpc->feed);
	s->access.peer = path_access_peer(call);
	s->overrides = xcalloc(1, sizeof(*s->overrides));
	twice = collect(s->overrides, submit_params, "", call_params(call));
	if (!submit_source_take(&s->source, call_params(call))) {
		reply = reply_error(call, RPC_INVALID_PARAMS, s->source.field, s->source.hint, "%s", s->source.error);
		submit_free(s, NULL);
		return reply;
	}
	if (group != NULL && !config_group_name(group)) {
		reply = reply_error(call, RPC_INVALID_PARAMS, "group", NULL,
		    "'group' must be a name: letters, digits, \"-\" and \"_\", at most 64");
		submit_free(s, NULL);
		return reply;
	}
	if (group != NULL && strcmp(group, CHECKS_GROUP) == 0) {
		reply = reply_error(call, RPC_INVALID_PARAMS, "group", "choose another name",
		    "group \"" CHECKS_GROUP "\" is reserved for the checks of merges");
		submit_free(s, NULL);
		return reply;
	}
	if (twice != NULL) {
		reply = reply_error(call, RPC_INVALID_PARAMS, twice, NULL,
		    "'%s' is given twice: remove one of them", twice);
		submit_free(s, NULL);
		return reply;
	}
	s->environment = environment_sent(call);
	hash_body(call_params(call), s->hash);
	submit_start(s);
	return reply_later(call);
}

static const struct result_field submit_results[] = {
	{ "id", "integer|null", "id of the new run; null for check" },
	{ "state", "RunState|'checked'", "of the run; 'checked' for check" },
	{ "warnings", "[string]", "what was accepted, but may be a mistake" },
	{ "seq", "integer", "number of an event before the first one of the run: event.subscribe with this "
	    "since misses none; 0 where a key returns an earlier run" },
	{ 0 },
};
static const int submit_errors[] = { RPC_NOT_FOUND, RPC_WRONG_STATE, RPC_CONFLICT,
    RPC_LIMIT_REACHED, RPC_DRAINING, RPC_NO_SPACE, RPC_UNAVAILABLE, RPC_BUSY, 0 };

const struct method submit_methods[] = {
	{ "run.submit", ACCESS_SUBMIT, false, submit_params, submit_results, submit_errors,
	    submit_call, "queue a run" },
	{ 0 },
};
