/* SPDX-License-Identifier: MIT */
/* rlctl mcp: a server of the Model Context Protocol on standard input and output, so that programs
 * with agents can use the daemon. A message is one line. Requests that need the daemon have a
 * thread and a connection of their own: others are answered meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "client/client.h"
#include "client/commands.h"
#include "client/field.h"
#include "client/mcp_link.h"
#include "client/mcp_tools.h"
#include "client/message.h"
#include "proto/error.h"
#include "proto/frame.h"
#include "proto/memory.h"

#define MESSAGE_MAX (4 * FRAME_MAX)
#define REQUESTS_MAX 16		/* at work at a time */
#define PAGE_RUNS 50
#define RESOURCE_NOT_FOUND (-32002)
#define INSTRUCTIONS \
	"rld runs coding agents and has their work reviewed. Use submit to give it a task, wait until the run " \
	"has ended or is held, and show for its state. A held run waits for a decision: holds shows why, with the " \
	"reviews, and decide answers. findings lists what reviews found, logs is the output of the agents. The " \
	"resource rld://run/N/report is the whole report of run N."

/* The newest first, which is offered to clients that want another. */
static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

struct mcp_request;

struct mcp_method {
	const char *name;
	/* Returns the result, or NULL with error; NULL for a notification. params: an object */
	json_t *(*answer)(struct mcp_request *r, json_t *params, struct call_error *error);
	bool apart;	/* in a thread of its own */
};

struct mcp {
	struct client *client;
	FILE *out;
	pthread_mutex_t lock;		/* out and requests */
	pthread_cond_t done;		/* a request is done */
	LIST_HEAD(, mcp_request) requests;
	size_t count;
};

struct mcp_request {
	struct mcp *mcp;
	const struct mcp_method *method;
	const struct mcp_tool *tool;	/* NULL: none yet */
	json_t *id, *params;		/* id NULL: a notification */
	struct mcp_link link;
	LIST_ENTRY(mcp_request) entry;
};

static void mcp_send(struct mcp *mcp, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);

	pthread_mutex_lock(&mcp->lock);
	fprintf(mcp->out, "%s\n", text);
	fflush(mcp->out);
	pthread_mutex_unlock(&mcp->lock);
	free(text);
	json_decref(message);
}

static json_t *error_json(const struct call_error *e)
{
	json_t *error = json_pack("{s:i, s:s}", "code", e->code != 0 ? e->code : RPC_INTERNAL, "message", e->message);

	if (*e->hint != '\0')
		json_object_set_new(error, "data", json_pack("{s:s}", "hint", e->hint));
	return error;
}

/* Answer with the result, or with the error if it is NULL. Takes ownership of result. */
static void mcp_answer(struct mcp *mcp, json_t *id, json_t *result, const struct call_error *error)
{
	mcp_send(mcp, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id,
	    result != NULL ? "result" : "error", result != NULL ? result : error_json(error)));
}

static json_t *mcp_fail(struct call_error *error, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static json_t *mcp_fail(struct call_error *error, int code, const char *fmt, ...)
{
	va_list ap;

	*error = (struct call_error){ .code = code };
	va_start(ap, fmt);
	vsnprintf(error->message, sizeof(error->message), fmt, ap);
	va_end(ap);
	return NULL;
}

static json_t *answer_initialize(struct mcp_request *r, json_t *params, struct call_error *error)
{
	const char *wanted = field_text(params, "protocolVersion"), *version = versions[0];

	(void)r;
	(void)error;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (strcmp(wanted, versions[i]) == 0)
			version = versions[i];
	return json_pack("{s:s, s:{s:{}, s:{}}, s:{s:s, s:s, s:s}, s:s}", "protocolVersion", version, "capabilities",
	    "tools", "resources", "serverInfo", "name", "rld", "title", "rld: coding agents and their reviews",
	    "version", RLD_VERSION, "instructions", INSTRUCTIONS);
}

static json_t *answer_ping(struct mcp_request *r, json_t *params, struct call_error *error)
{
	(void)r;
	(void)params;
	(void)error;
	return json_object();
}

static json_t *answer_tools_list(struct mcp_request *r, json_t *params, struct call_error *error)
{
	json_t *tools = json_array();

	(void)r;
	(void)params;
	(void)error;
	for (const struct mcp_tool *tool = mcp_tools; tool->name != NULL; tool++)
		json_array_append_new(tools, mcp_tool_json(tool));
	return json_pack("{s:o}", "tools", tools);
}

/* Before its thread: a wrong name needs none. */
static bool find_tool(struct mcp_request *r, struct call_error *error)
{
	const json_t *arguments = json_object_get(r->params, "arguments");

	r->tool = mcp_tool_find(field_text(r->params, "name"));
	if (r->tool == NULL)
		mcp_fail(error, RPC_INVALID_PARAMS, "there is no tool \"%s\"", field_text(r->params, "name"));
	else if (arguments != NULL && !json_is_object(arguments))
		mcp_fail(error, RPC_INVALID_PARAMS, "\"arguments\" must be an object");
	else
		return true;
	return false;
}

static json_t *answer_tools_call(struct mcp_request *r, json_t *params, struct call_error *error)
{
	json_t *arguments = json_object_get(params, "arguments"), *result;

	(void)error;
	arguments = arguments != NULL ? json_incref(arguments) : json_object();
	result = mcp_tool_call(r->tool, &r->link, arguments);
	json_decref(arguments);
	return result;
}

static json_t *report_json(const json_t *run)
{
	long long id = field_count(run, "id");
	char *uri = xasprintf("rld://run/%lld/report", id), *name = xasprintf("report of run %lld", id);
	char *title = xasprintf("Run %lld, %s: %s", id, field_text(run, "state"), field_text(run, "title"));
	json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "uri", uri, "name", name, "title", title, "mimeType",
	    "application/json");

	free(uri);
	free(name);
	free(title);
	return json;
}

static json_t *answer_resources_list(struct mcp_request *r, json_t *params, struct call_error *error)
{
	const char *cursor = json_string_value(json_object_get(params, "cursor"));
	json_t *wanted = json_pack("{s:i}", "limit", PAGE_RUNS), *page, *resources, *answer;
	int64_t before;
	size_t i;
	const json_t *run;

	if (cursor != NULL && client_parse_id(cursor, &before) != 0) {
		json_decref(wanted);
		return mcp_fail(error, RPC_INVALID_PARAMS, "\"cursor\" must be a nextCursor of this server");
	}
	if (cursor != NULL)
		json_object_set_new(wanted, "cursor", json_integer(before));
	page = mcp_link_call(&r->link, "run.list", wanted, true, error);
	if (page == NULL)
		return NULL;
	resources = json_array();
	json_array_foreach(field_array(page, "runs"), i, run)
		json_array_append_new(resources, report_json(run));
	answer = json_pack("{s:o}", "resources", resources);
	if (field_int(page, "next") != FIELD_NONE)
		json_object_set_new(answer, "nextCursor", json_sprintf("%lld", field_count(page, "next")));
	json_decref(page);
	return answer;
}

static json_t *answer_templates(struct mcp_request *r, json_t *params, struct call_error *error)
{
	(void)r;
	(void)params;
	(void)error;
	return json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "resourceTemplates", "uriTemplate", "rld://run/{run}/report",
	    "name", "report of a run", "description",
	    "what was done, by which agents, what the reviews found, what it cost", "mimeType", "application/json");
}

/* The run of "rld://run/42/report". Returns 0 or -1. */
static int parse_uri(const char *uri, int64_t *run)
{
	static const char head[] = "rld://run/", tail[] = "/report";
	size_t length = strlen(uri), around = strlen(head) + strlen(tail);
	char *number;
	int result;

	if (length <= around || strncmp(uri, head, strlen(head)) != 0 ||
	    strcmp(uri + length - strlen(tail), tail) != 0)
		return -1;
	number = xmemdup0(uri + strlen(head), length - around);
	result = client_parse_id(number, run);
	free(number);
	return result;
}

static json_t *answer_resources_read(struct mcp_request *r, json_t *params, struct call_error *error)
{
	const char *uri = field_text(params, "uri");
	json_t *report, *answer;
	int64_t run;
	char *text;

	if (parse_uri(uri, &run) != 0)
		return mcp_fail(error, RESOURCE_NOT_FOUND,
		    "there is no resource \"%s\"; resources are rld://run/N/report", uri);
	report = mcp_link_call(&r->link, "run.report", json_pack("{s:I}", "id", (json_int_t)run), true, error);
	if (report == NULL) {
		if (error->code == RPC_NOT_FOUND)
			error->code = RESOURCE_NOT_FOUND;
		return NULL;
	}
	text = json_dumps(report, JSON_COMPACT);
	answer = json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType", "application/json",
	    "text", text);
	free(text);
	json_decref(report);
	return answer;
}

/* A cancelled request gets no answer. */
static json_t *answer_cancelled(struct mcp_request *r, json_t *params, struct call_error *error)
{
	const json_t *id = json_object_get(params, "requestId");
	struct mcp_request *other;

	(void)error;
	pthread_mutex_lock(&r->mcp->lock);
	LIST_FOREACH(other, &r->mcp->requests, entry)
		if (json_equal(other->id, id))
			mcp_link_cancel(&other->link);
	pthread_mutex_unlock(&r->mcp->lock);
	return NULL;
}

static const struct mcp_method methods[] = {
	{ "initialize", answer_initialize, false },
	{ "ping", answer_ping, false },
	{ "tools/list", answer_tools_list, false },
	{ "tools/call", answer_tools_call, true },
	{ "resources/list", answer_resources_list, true },
	{ "resources/templates/list", answer_templates, false },
	{ "resources/read", answer_resources_read, true },
	{ "notifications/cancelled", answer_cancelled, false },
};

static const struct mcp_method *find_method(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static void request_free(struct mcp_request *r)
{
	mcp_link_release(&r->link);
	json_decref(r->id);
	json_decref(r->params);
	free(r);
}

static void request_answer(struct mcp_request *r)
{
	struct call_error error = { .code = 0 };
	json_t *result = r->method->answer(r, r->params, &error);

	if (r->id != NULL && !mcp_link_is_cancelled(&r->link))
		mcp_answer(r->mcp, r->id, result, &error);
	else
		json_decref(result);
}

static void *request_thread(void *arg)
{
	struct mcp_request *r = arg;
	struct mcp *mcp = r->mcp;

	request_answer(r);
	pthread_mutex_lock(&mcp->lock);
	LIST_REMOVE(r, entry);
	mcp->count--;
	request_free(r);
	pthread_cond_signal(&mcp->done);
	pthread_mutex_unlock(&mcp->lock);
	return NULL;
}

/* Takes ownership, also when it returns false with error. */
static bool request_start(struct mcp_request *r, struct call_error *error)
{
	struct mcp *mcp = r->mcp;
	pthread_t thread;
	int failure = EAGAIN;

	pthread_mutex_lock(&mcp->lock);
	if (mcp->count < REQUESTS_MAX)
		failure = pthread_create(&thread, NULL, request_thread, r);
	if (failure == 0) {
		pthread_detach(thread);
		LIST_INSERT_HEAD(&mcp->requests, r, entry);
		mcp->count++;
	}
	pthread_mutex_unlock(&mcp->lock);
	if (failure == 0)
		return true;
	mcp_fail(error, RPC_BUSY, "busy: at most %d requests at a time", REQUESTS_MAX);
	request_free(r);
	return false;
}

/* Whether r may be answered; otherwise error says why not. */
static bool request_check(struct mcp_request *r, const json_t *message, struct call_error *error)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	json_t *params = json_object_get(message, "params");

	if (method == NULL || !field_is(message, "jsonrpc", "2.0"))
		mcp_fail(error, RPC_INVALID_REQUEST, "not a request of JSON-RPC 2.0");
	else if ((r->method = find_method(method)) == NULL)
		mcp_fail(error, RPC_METHOD_NOT_FOUND, "there is no method \"%s\"", method);
	else if (params != NULL && !json_is_object(params))
		mcp_fail(error, RPC_INVALID_PARAMS, "\"params\" must be an object");
	else {
		r->params = params != NULL ? json_incref(params) : json_object();
		return r->method->answer != answer_tools_call || find_tool(r, error);
	}
	return false;
}

/* Answers of the client are not expected, and ignored. */
static bool is_answer(const json_t *message)
{
	return json_object_get(message, "method") == NULL &&
	    (json_object_get(message, "result") != NULL || json_object_get(message, "error") != NULL);
}

static void mcp_take(struct mcp *mcp, const json_t *message)
{
	json_t *id = json_object_get(message, "id"), *none = json_null();
	struct mcp_request *r;
	struct call_error error = { .code = 0 };

	if (is_answer(message))
		return;
	r = xcalloc(1, sizeof(*r));
	*r = (struct mcp_request){ .mcp = mcp, .id = json_incref(id) };
	mcp_link_init(&r->link, mcp->client);
	if (!request_check(r, message, &error)) {
		/* an unknown notification is ignored */
		if (id != NULL || error.code == RPC_INVALID_REQUEST)
			mcp_answer(mcp, id != NULL ? id : none, NULL, &error);
		request_free(r);
	} else if (!r->method->apart) {
		request_answer(r);
		request_free(r);
	} else if (!request_start(r, &error) && id != NULL) {
		mcp_answer(mcp, id, NULL, &error);
	}
}

static void mcp_take_text(struct mcp *mcp, const char *data, size_t size)
{
	json_error_t fault;
	json_t *message = json_loadb(data, size, JSON_ALLOW_NUL, &fault);
	const json_t *one;
	struct call_error error;
	size_t i;

	if (message == NULL) {
		mcp_fail(&error, RPC_PARSE_ERROR, "not JSON: %s, at byte %d", fault.text, fault.position);
		mcp_answer(mcp, json_null(), NULL, &error);
	} else if (json_is_array(message)) {
		json_array_foreach(message, i, one)
			mcp_take(mcp, one);
	} else {
		mcp_take(mcp, message);
	}
	json_decref(message);
}

/* Requests up to the end of the input. */
static void mcp_read(struct mcp *mcp, struct frame_reader *reader)
{
	char bytes[65536];
	bool ended = false;

	while (!ended) {
		ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
		enum frame_result found;
		const char *data;
		size_t size;

		if (n == -1 && errno == EINTR)
			continue;
		ended = n <= 0;
		if (ended)
			frame_eof(reader);
		else
			frame_feed(reader, bytes, (size_t)n);
		while ((found = frame_next(reader, &data, &size)) == FRAME_READY)
			mcp_take_text(mcp, data, size);
		if (found != FRAME_NONE) {
			struct call_error error;

			mcp_fail(&error, RPC_PARSE_ERROR, "a message is one line of JSON, of at most %d MiB",
			    MESSAGE_MAX >> 20);
			mcp_answer(mcp, json_null(), NULL, &error);
			return;
		}
	}
}

/* Nobody waits any more; everything else is still answered. */
static void mcp_finish(struct mcp *mcp)
{
	struct mcp_request *r;

	pthread_mutex_lock(&mcp->lock);
	LIST_FOREACH(r, &mcp->requests, entry)
		if (r->tool != NULL && r->tool->waits)
			mcp_link_cancel(&r->link);
	while (mcp->count > 0)
		pthread_cond_wait(&mcp->done, &mcp->lock);
	pthread_mutex_unlock(&mcp->lock);
}

int mcp_command(struct client *c)
{
	struct mcp mcp = { .client = c, .requests = LIST_HEAD_INITIALIZER(mcp.requests) };
	/* from here on stdout is for messages only: whatever else is printed goes to stderr */
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	struct frame_reader *reader;
	bool failed;

	mcp.out = fd == -1 || dup2(STDERR_FILENO, STDOUT_FILENO) == -1 ? NULL : fdopen(fd, "w");
	if (mcp.out == NULL) {
		message_errno("standard output");
		return EXIT_REFUSED;
	}
	pthread_mutex_init(&mcp.lock, NULL);
	pthread_cond_init(&mcp.done, NULL);
	json_object_seed(0);
	reader = frame_reader_new(MESSAGE_MAX);
	mcp_read(&mcp, reader);
	mcp_finish(&mcp);
	frame_reader_free(reader);
	failed = ferror(mcp.out) != 0;
	if (fclose(mcp.out) == EOF || failed) {
		message_errno("standard output");
		return EXIT_REFUSED;
	}
	return EXIT_DONE;
}
