/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "core/state.h"
#include "job/run_report.h"
#include "model/row_json.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "rpc/context.h"
#include "rpc/page.h"
#include "rpc/run_answer.h"
#include "rpc/run_load.h"
#include "rpc/user.h"

#define REASON_MAX (16 * 1024)
#define LIST_LIMIT 20		/* runs */
#define LIST_MAX 50
#define OPEN "open"
#define DISMISSED "dismissed"
#define DISPUTED "disputed"

/* As long as no verdict has answered it, that is its state. */
static void set_dispute(json_t *json, const struct run_rows *rows, const char *task, const char *id)
{
	json_t *dispute = dispute_document(rows, task, id);

	if (json_is_object(dispute) && json_is_null(json_object_get(dispute, "answer")))
		json_object_set_new(json, "state", json_text(state_name(&finding_state_names, FINDING_DISPUTED)));
	json_object_set_new(json, "disputed", dispute);
}

static json_t *open_list(const struct run_rows *rows, const char *task, bool ids)
{
	json_t *list = json_array();
	size_t count;
	const struct finding_row **open = open_findings(rows, &count);

	for (size_t i = 0; i < count; i++) {
		const char *of = finding_task(rows, open[i]);
		json_t *json;

		if (task != NULL && strcmp(of, task) != 0)
			continue;
		if (ids) {
			json_array_append_new(list, json_text(open[i]->id));
			continue;
		}
		json = json_row(ROW_FINDING, open[i]);
		json_object_set_new(json, "task", json_text(of));
		json_object_set_new(json, "dismissed", json_null());
		set_dispute(json, rows, of, open[i]->id);
		json_array_append_new(list, json);
	}
	free(open);
	return list;
}

static json_t *open_of(const struct run_rows *rows, const char *task)
{
	return open_list(rows, task, false);
}

static json_t *dismissed_of(const struct run_rows *rows, const char *task)
{
	(void)task;
	return json_document(rows->run.dismissed, json_array());
}

static json_t *disputed_of(const struct run_rows *rows, const char *task)
{
	(void)task;
	return json_document(rows->run.disputed, json_array());
}

/* The lists of an answer, which are also the states that a client can ask for. */
static const struct {
	const char *name;
	json_t *(*of)(const struct run_rows *rows, const char *task);
} lists[] = {
	{ OPEN, open_of }, { DISMISSED, dismissed_of }, { DISPUTED, disputed_of },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* The findings of a page of runs. */
struct listing {
	struct call *call;
	json_t *runs;		/* for each run an object of its lists */
	json_t *next;
	size_t missing;		/* runs that are not read yet */
	bool several;		/* of a directory */
};

struct listed {
	struct listing *listing;
	json_t *place;		/* of listing->runs */
};

/* Of several runs, each finding stands with its own run, not also with those that inherit the
 * decision. */
static void join(json_t *to, const json_t *from, json_int_t run)
{
	json_t *finding;
	size_t i;

	json_array_foreach(from, i, finding)
		if (run == ROW_NONE || json_integer_value(json_object_get(finding, "run")) == run)
			json_array_append(to, finding);
}

static void listing_end(struct listing *listing)
{
	json_t *answer = json_pack("{s:o}", "next", listing->next), *run;
	size_t i;

	for (size_t l = 0; l < LISTS; l++) {
		json_t *list = json_array();

		json_array_foreach(listing->runs, i, run)
			join(list, json_object_get(run, lists[l].name), listing->several ?
			    json_integer_value(json_object_get(run, "run")) : ROW_NONE);
		json_object_set_new(answer, lists[l].name, list);
	}
	call_ok(listing->call, answer);
	json_decref(listing->runs);
	free(listing);
}

static void listed_cb(void *arg, const struct run_rows *rows)
{
	struct listed *l = arg;
	struct listing *listing = l->listing;
	const char *state = call_text(listing->call, "state");

	for (size_t i = 0; rows != NULL && i < LISTS; i++)
		if (state == NULL || strcmp(state, lists[i].name) == 0)
			json_object_set_new(l->place, lists[i].name,
			    lists[i].of(rows, call_text(listing->call, "task")));
	free(l);
	if (--listing->missing == 0)
		listing_end(listing);
}

static void listing_add(struct rpc *rpc, struct listing *listing, int64_t run)
{
	struct listed *l = xcalloc(1, sizeof(*l));

	*l = (struct listed){ listing, json_pack("{s:I}", "run", (json_int_t)run) };
	json_array_append_new(listing->runs, l->place);
	listing->missing++;
	load_run(rpc, run, LOAD_TASKS | LOAD_REVIEWS | LOAD_FINDINGS, listed_cb, l);
}

static struct listing *listing_new(struct call *call, bool several)
{
	struct listing *listing = xcalloc(1, sizeof(*listing));

	*listing = (struct listing){ call, json_array(), json_null(), 1, several };
	return listing;
}

static void list_run(struct rpc *rpc, struct call *call)
{
	struct listing *listing = listing_new(call, false);

	listing_add(rpc, listing, call_int(call, "run", 0));
	if (--listing->missing == 0)
		listing_end(listing);
}

static void list_runs_cb(void *arg, struct rowset *set)
{
	struct pending *p = arg;
	struct listing *listing = listing_new(p->call, true);
	int64_t limit = call_int(p->call, "limit", LIST_LIMIT);

	for (size_t i = 0; i < set->count; i++)
		listing_add(p->rpc, listing, ((const struct run_row *)set->rows[i])->id);
	if (set->count > 0 && (int64_t)set->count == limit)
		listing->next = json_integer(((const struct run_row *)set->rows[set->count - 1])->id);
	if (--listing->missing == 0)
		listing_end(listing);
	rowset_release(set);
	free(p);
}

static struct reply finding_list(struct rpc *rpc, struct call *call)
{
	const char *workdir = call_text(call, "workdir");
	const struct query_bind binds[] = {
		{ ":workdir", ROW_NONE, workdir },
		{ ":before", call_int(call, "cursor", ROW_NONE), NULL },
		{ ":limit", call_int(call, "limit", LIST_LIMIT), NULL },
		{ NULL, 0, NULL },
	};

	if ((workdir == NULL) == (call_param(call, "run") == NULL))
		return reply_error(call, RPC_INVALID_PARAMS, workdir == NULL ? "run" : "workdir",
		    "a run, or a directory for all runs in it", workdir == NULL ?
		    "missing argument: run or workdir" : "'run' and 'workdir' are mutually exclusive");
	if (workdir == NULL)
		call_of_run(rpc, call, list_run);
	else
		rpc_read(rpc, "run.list", ROW_RUN, binds, list_runs_cb, pending_new(rpc, call));
	return reply_later(call);
}

/* ---- finding.dismiss ---- */

struct dismissing {
	struct rpc *rpc;
	struct call *call;
};

/* The task of the finding, which need not be named. */
static const char *task_of(const struct run_rows *rows, const char *id)
{
	for (size_t i = rows->nfindings; i > 0; i--)
		if (strcmp(rows->findings[i - 1]->id, id) == 0)
			return finding_task(rows, rows->findings[i - 1]);
	return "";
}

static json_t *open_hold(const struct run_rows *rows, const char *task)
{
	for (size_t i = 0; i < rows->nholds; i++)
		if (rows->holds[i]->state == HOLD_S_OPEN && strcmp(rows->holds[i]->task, task) == 0)
			return json_integer((json_int_t)rows->holds[i]->id);
	return json_null();
}

/* For a dry run, the finding is still open. */
static json_t *dismissed_answer(const struct run_rows *rows, const struct call *call)
{
	const char *finding = call_text(call, "finding"), *task = call_text(call, "task");
	json_t *open, *id;
	size_t i;

	if (task == NULL)
		task = task_of(rows, finding);
	open = open_list(rows, task, true);
	json_array_foreach(open, i, id)
		if (strcmp(json_string_value(id), finding) == 0)
			json_array_remove(open, i--);
	return json_pack("{s:I, s:s, s:s, s:o, s:o}", "run", (json_int_t)rows->run.id, "task", task,
	    "finding", finding, "open", open, "hold", open_hold(rows, task));
}

static void ended_cb(void *arg, const struct run_rows *rows)
{
	call_ended_retry(arg, "run", rows, "`rlctl retry` continues its work as a new run; dismiss the finding there");
}

static void dismissed_cb(void *arg, const struct engine_reply *reply)
{
	struct dismissing *d = arg;
	const struct run_rows *rows = reply->rows;

	if (reply->code == RPC_OK && rows == NULL)
		rows = view_run(engine_view(d->rpc->options.engine), reply->id);
	if (reply->code != RPC_OK)
		call_refused(d->call, reply, "run");
	else
		call_ok(d->call, dismissed_answer(rows, d->call));
	free(d);
}

static void dismiss_cb(void *arg, const char *name)
{
	struct dismissing *d = arg;
	const struct caller *caller = link_caller(call_link(d->call));
	int64_t run = call_int(d->call, "run", 0);

	/* it may have ended meanwhile */
	if (view_run(engine_view(d->rpc->options.engine), run) == NULL) {
		load_run(d->rpc, run, 0, ended_cb, d->call);
		free(d);
		return;
	}
	engine_dismiss(d->rpc->options.engine, &(struct finding_dismissal){
	    .run = run, .task = call_text(d->call, "task"), .finding = call_text(d->call, "finding"),
	    .reason = call_text(d->call, "reason"), .check = call_flag(d->call, "check"),
	    .by = &(struct decider){ .name = name, .uid = (int64_t)caller->peer.uid, .pid = (int64_t)caller->peer.pid,
	    .attempt = ROW_NONE } }, dismissed_cb, d);
}

static struct reply finding_dismiss(struct rpc *rpc, struct call *call)
{
	struct dismissing *d = xcalloc(1, sizeof(*d));

	*d = (struct dismissing){ rpc, call };
	user_name(rpc->options.loop, call_uid(call), dismiss_cb, d);
	return reply_later(call);
}

#define RUN_PARAM { "run", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "id of the run" }

static const char *const list_names[] = { OPEN, DISMISSED, DISPUTED };
static const struct state_names list_states = { "state", list_names, LISTS, NULL };

static const struct schema list_params[] = {
	{ "run", SCHEMA_INT, .min = 1, .max = INT64_MAX, .help = "id of the run; this or workdir" },
	{ "task", SCHEMA_TEXT, .min = 1, .max = 256, .help = "only open findings of this task" },
	{ "workdir", SCHEMA_TEXT, .min = 1, .max = PATH_MAX,
	    .help = "of the runs in this directory or below it, newest first; an absolute path" },
	{ "state", SCHEMA_TEXT, .max = 16, .choices = &list_states, .help = "only this list; the others are empty" },
	PAGE_PARAMS(LIST_MAX, "with workdir: runs per page; default 20"),
	{ 0 },
};
static const struct schema dismiss_params[] = {
	RUN_PARAM,
	{ "task", SCHEMA_TEXT, .min = 1, .max = 256,
	    .help = "task of the finding; needed if several tasks have it" },
	{ "finding", SCHEMA_TEXT, .required = true, .min = 1, .max = 64, .help = "id of an open finding" },
	{ "reason", SCHEMA_TEXT, .required = true, .min = 1, .max = REASON_MAX,
	    .help = "why it need not be fixed: recorded, and given to fixers and reviewers" },
	{ "check", SCHEMA_BOOL, .help = "validate only; make no changes (dry run)" },
	{ 0 },
};
static const struct result_field list_results[] = {
	{ "open", "[OpenFinding]", "findings of the newest verdict on each task that must be fixed" },
	{ "dismissed", "[Dismissal]", "findings that users dismissed, also in the runs that this one retries" },
	{ "disputed", "[Dispute]", "findings that fixers disputed, also in the runs whose work this one continues" },
	PAGE_NEXT,
	{ 0 },
};
static const struct result_field dismiss_results[] = {
	{ "run", "integer", "id of the run" },
	{ "task", "string", "id of the task" },
	{ "finding", "string", "id of the finding" },
	{ "open", "[string]", "ids of the findings of the task that stay open" },
	{ "hold", "integer|null", "id of the open hold of the task, which the dismissal does not decide; null: none" },
	{ 0 },
};
static const int list_errors[] = { RPC_NOT_FOUND, 0 };
static const int dismiss_errors[] = { RPC_NOT_FOUND, RPC_INVALID_PARAMS, RPC_WRONG_STATE, RPC_NO_SPACE, 0 };

const struct method finding_methods[] = {
	{ "finding.list", ACCESS_READ, true, list_params, list_results, list_errors, finding_list,
	    "return the open findings of a run or a directory, and the dismissed and disputed ones" },
	{ "finding.dismiss", ACCESS_OWNER, false, dismiss_params, dismiss_results, dismiss_errors, finding_dismiss,
	    "decide that a finding need not be fixed" },
	{ 0 },
};
