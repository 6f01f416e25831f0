/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/preview.h"
#include "config/config.h"
#include "core/plan_json.h"
#include "core/slot.h"
#include "proto/memory.h"
#include "record/layout.h"
#include "rpc/chunk.h"
#include "rpc/context.h"
#include "rpc/document.h"
#include "rpc/output_wait.h"
#include "rpc/page.h"
#include "rpc/pruned.h"
#include "rpc/run_load.h"
#include "rpc/preview_answer.h"

#define PREVIEW_LINES 3
#define OUTPUT_WAIT_MAX (10 * 60 * 1000)

struct find {
	struct rpc *rpc;
	struct call *call;
	void (*found)(struct find *find, const struct attempt_row *row);
	int64_t id;
	struct output_wait *wait;	/* the call may have ended meanwhile; NULL: it cannot */
};

static void find_end(struct find *find, const struct attempt_row *row)
{
	if (row != NULL)
		find->found(find, row);
	else if (find->wait == NULL || !output_wait_looked(find->wait, false))
		call_error(find->call, RPC_NOT_FOUND, "id", NULL, "no such attempt: %lld",
		    (long long)find->id);
	free(find);
}

static void find_rows_cb(void *arg, struct rowset *set)
{
	find_end(arg, set->count > 0 ? set->rows[0] : NULL);
	rowset_release(set);
}

static void find_row(struct find what)
{
	const struct query_bind binds[] = { { ":id", what.id, NULL }, { NULL, 0, NULL } };
	const struct run_rows *rows = view_run_of_attempt(engine_view(what.rpc->options.engine), what.id);
	struct find *find = xcalloc(1, sizeof(*find));

	*find = what;
	if (rows != NULL)
		find_end(find, run_rows_attempt(rows, what.id));
	else
		rpc_read(what.rpc, "attempt.get", ROW_ATTEMPT, binds, find_rows_cb, find);
}

/* The row of the attempt that the call names: from the view, otherwise from the store. */
static struct reply find_attempt(struct rpc *rpc, struct call *call,
    void (*found)(struct find *find, const struct attempt_row *row))
{
	find_row((struct find){ .rpc = rpc, .call = call, .found = found, .id = call_int(call, "id", 0) });
	return reply_later(call);
}

static void get_found(struct find *find, const struct attempt_row *row)
{
	call_ok(find->call, attempt_document(row));
}

static struct reply attempt_get(struct rpc *rpc, struct call *call)
{
	return find_attempt(rpc, call, get_found);
}

/* Nothing will be appended to its output any more. */
static bool is_complete(const struct attempt_row *row)
{
	return row->state == ATTEMPT_S_EXITED || row->state == ATTEMPT_S_LOST;
}

static void output_found(struct find *find, const struct attempt_row *row);

static void output_look(struct rpc *rpc, struct call *call, struct output_wait *wait)
{
	find_row((struct find){ .rpc = rpc, .call = call, .found = output_found, .id = call_int(call, "id", 0),
	    .wait = wait });
}

static void output_found(struct find *find, const struct attempt_row *row)
{
	static const struct {
		const char *stream, *name;
		bool segments;
	} streams[] = {
		{ "stdout", RECORD_STDOUT, true },
		{ "stderr", RECORD_STDERR, true },
		{ "answer", RECORD_ANSWER, false },
		{ "prompt", RECORD_PROMPT, false },
	};
	const char *stream;
	size_t i = 0;

	if (find->wait != NULL && output_wait_is_over(find->wait))
		return;
	stream = call_text(find->call, "stream");
	if (find->wait == NULL && call_int(find->call, "wait_ms", 0) > 0)
		find->wait = output_wait_new(find->rpc, find->call, output_look);
	while (stream != NULL && strcmp(streams[i].stream, stream) != 0)
		i++;	/* the parameter check allows only these */
	chunk_answer(find->call, &(struct chunk_request){
		.loop = find->rpc->options.loop,
		.state_dir = find->rpc->state_dir,
		.id = row->id,
		.name = streams[i].name,
		.key = "data",
		.segments = streams[i].segments,
		.complete = is_complete(row),
		.offset = call_int(find->call, "offset", 0),
		.limit = call_int(find->call, "limit", CHUNK_MAX),
		.rpc = find->rpc,
		.run = row->run,
		.hold_back = find->wait != NULL ? output_wait_looked : NULL,
		.arg = find->wait,
	});
}

static struct reply attempt_output(struct rpc *rpc, struct call *call)
{
	if (call_int(call, "wait_ms", 0) > 0 && link_waiting(call_link(call)) >= WAITS_OF_LINK)
		return reply_error(call, RPC_LIMIT_REACHED, NULL, "use another connection",
		    "this connection has %d waits already", WAITS_OF_LINK);
	return find_attempt(rpc, call, output_found);
}

/* An attempt's output, whose format depends on the settings of its run. */
struct preview_find {
	struct rpc *rpc;
	struct call *call;
	void (*answer)(struct call *call, const struct preview_request *request);
	int64_t id;
	bool complete;
	enum role role;
	char *task, *agent;
};

/* A task's own settings precede its run's. *secrets: values to redact; empty if they cannot be
 * read. */
static enum reader_kind reader_of(const struct preview_find *find, const struct run_rows *rows, struct secrets *secrets)
{
	const struct plan *plan = rows == NULL ? NULL : engine_plan(find->rpc->options.engine, rows->run.id);
	const char *text = rows == NULL ? NULL : rows->run.plan;
	struct plan stored = { 0 };
	enum reader_kind kind = READER_TEXT;

	for (size_t i = 0; rows != NULL && find->task != NULL && i < rows->ntasks; i++) {
		if (rows->tasks[i]->plan != NULL && strcmp(rows->tasks[i]->id, find->task) == 0) {
			text = rows->tasks[i]->plan;
			plan = NULL;
		}
	}
	if (plan == NULL && text != NULL && plan_from_json(text, &stored) == 0)
		plan = &stored;
	if (plan != NULL)
		kind = plan_agent(plan, find->role, find->agent)->reader;
	if (plan != NULL)
		*secrets = secrets_new(rows->run.environment, plan);
	plan_release(&stored);
	return kind;
}

static void preview_find_free(struct preview_find *find)
{
	free(find->task);
	free(find->agent);
	free(find);
}

static void preview_run_cb(void *arg, const struct run_rows *rows)
{
	struct preview_find *find = arg;
	struct secrets secrets = { 0 };
	enum reader_kind reader;

	if (rows != NULL && call_pruned(find->call, "id", &rows->run, "the outputs of its attempts are gone", NULL)) {
		preview_find_free(find);
		return;
	}
	reader = reader_of(find, rows, &secrets);

	find->answer(find->call, &(struct preview_request){
		.loop = find->rpc->options.loop,
		.state_dir = find->rpc->state_dir,
		.id = find->id,
		.reader = role_is_command((enum role)find->role) ? READER_TEXT : reader,
		.secrets = secrets,
		.lines = (size_t)call_int(find->call, "lines", PREVIEW_LINES),
		.offset = call_int(find->call, "offset", 0),
		.complete = find->complete,
	});
	preview_find_free(find);
}

static void load_reader(const struct find *find, const struct attempt_row *row,
    void (*answer)(struct call *call, const struct preview_request *request))
{
	struct preview_find *preview = xcalloc(1, sizeof(*preview));

	*preview = (struct preview_find){ find->rpc, find->call, answer, row->id, is_complete(row),
	    (enum role)row->role, xstrdup(row->task), xstrdup(row->agent) };
	load_run(find->rpc, row->run, LOAD_TASKS, preview_run_cb, preview);
}

static void preview_found(struct find *find, const struct attempt_row *row)
{
	load_reader(find, row, preview_answer);
}

static void transcript_found(struct find *find, const struct attempt_row *row)
{
	load_reader(find, row, transcript_answer);
}

static struct reply attempt_transcript(struct rpc *rpc, struct call *call)
{
	return find_attempt(rpc, call, transcript_found);
}

static struct reply attempt_preview(struct rpc *rpc, struct call *call)
{
	return find_attempt(rpc, call, preview_found);
}

static void list_cb(void *arg, const struct run_rows *rows)
{
	struct call *call = arg;
	struct page page;

	if (rows == NULL) {
		call_no_run(call, "run", call_int(call, "run", 0));
		return;
	}
	page = page_begin(call);
	for (size_t i = 0; i < rows->nattempts; i++)
		if (page_takes(&page, i))
			page_add(&page, attempt_document(rows->attempts[i]));
	page_answer(&page, call, "attempts");
}

static struct reply attempt_list(struct rpc *rpc, struct call *call)
{
	load_run(rpc, call_int(call, "run", 0), LOAD_ATTEMPTS, list_cb, call);
	return reply_later(call);
}

static const char *const streams[] = { "stdout", "stderr", "answer", "prompt" };
static const struct state_names stream_names = { "stream", streams, sizeof(streams) / sizeof(streams[0]), NULL };

#define ID_PARAM { "id", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "of the attempt" }

static const struct schema list_params[] = {
	{ "run", SCHEMA_INT, .required = true, .min = 1, .max = INT64_MAX, .help = "id of the run" },
	PAGE_OF_RUN("attempts"),
	{ 0 },
};
static const struct schema get_params[] = { ID_PARAM, { 0 } };
static const struct schema output_params[] = {
	ID_PARAM,
	{ "stream", SCHEMA_TEXT, .max = 16, .choices = &stream_names, .help =
	    "stream to read; default stdout" },
	{ "offset", SCHEMA_INT, .max = INT64_MAX, .help =
	    "first byte to return, in the agent's original output" },
	{ "limit", SCHEMA_INT, .clamp = true, .min = 1, .max = CHUNK_MAX, .help =
	    "maximum number of bytes" },
	{ "wait_ms", SCHEMA_INT, .clamp = true, .max = OUTPUT_WAIT_MAX, .help =
	    "maximum time to wait for output where there is none at offset; default 0" },
	{ 0 },
};

static const struct schema transcript_params[] = {
	ID_PARAM,
	{ "offset", SCHEMA_INT, .max = INT64_MAX, .help =
	    "first byte of stdout to read; in the middle of a line: after that line" },
	{ 0 },
};

static const struct schema preview_params[] = {
	ID_PARAM,
	{ "lines", SCHEMA_INT, .clamp = true, .min = 1, .max = PREVIEW_LINES_MAX,
	    .help = "maximum number of lines; default 3" },
	{ 0 },
};

static const struct result_field list_results[] = {
	{ "attempts", "[Attempt]", "in starting order" },
	PAGE_NEXT,
	{ 0 },
};
static const struct result_field get_results[] = {
	RESULT_TYPE("Attempt"),
	{ 0 },
};
static const struct result_field output_results[] = {
	{ "offset", "integer",
	    "offset of the first byte of data; greater than the requested one where bytes were "
	    "dropped" },
	{ "next", "integer", "offset to continue with" },
	{ "data", "string", "content" },
	{ "encoding", "'utf-8'|'base64'", "of data" },
	{ "eof", "boolean", "whether this is the end" },
	{ "dropped", "integer", "number of bytes missing before offset" },
	{ 0 },
};
static const struct result_field preview_results[] = {
	{ "lines", "[string]",
	    "last human-readable lines, oldest first: no control characters, at most 220 "
	    "characters each, none twice in a row" },
	{ "updated_at", "time|null", "time of its last output; null: none yet" },
	{ 0 },
};
static const struct result_field transcript_results[] = {
	{ "reader", "Reader", "format of the output; text: one piece, as it was printed" },
	{ "items", "[TranscriptItem]", "in order; none: there is no whole line yet, or nothing in it for people" },
	{ "offset", "integer", "offset of the first byte that was read" },
	{ "next", "integer", "offset to continue with" },
	{ "eof", "boolean", "whether this is the end" },
	{ "dropped", "integer", "number of bytes missing before offset" },
	{ 0 },
};
static const int find_errors[] = { RPC_NOT_FOUND, 0 };
static const int output_errors[] = { RPC_NOT_FOUND, RPC_LIMIT_REACHED, RPC_UNAVAILABLE, 0 };
static const int preview_errors[] = { RPC_NOT_FOUND, RPC_UNAVAILABLE, 0 };

const struct method attempt_methods[] = {
	{ "attempt.list", ACCESS_READ, true, list_params, list_results, find_errors, attempt_list,
	    "list the attempts of a run" },
	{ "attempt.get", ACCESS_READ, false, get_params, get_results, find_errors, attempt_get,
	    "return an attempt in detail" },
	{ "attempt.output", ACCESS_READ, true, output_params, output_results, output_errors,
	    attempt_output, "return the output or input of an attempt" },
	{ "attempt.preview", ACCESS_READ, false, preview_params, preview_results, preview_errors, attempt_preview,
	    "return the last lines of an attempt, as interpreted by its reader" },
	{ "attempt.transcript", ACCESS_READ, true, transcript_params, transcript_results, preview_errors,
	    attempt_transcript, "return output of an attempt as a conversation, as interpreted by its reader" },
	{ 0 },
};
