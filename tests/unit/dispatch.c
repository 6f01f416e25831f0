/* SPDX-License-Identifier: MIT */
/* JSON-RPC 2.0 against a table of test methods, without a socket: the specification's examples in
 * both framings, parameters, batches, limits, and calls that outlive their client. */
#include "rpc/dispatch.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/frame.h"
#include "proto/memory.h"
#include "proto/scan.h"

/* ---- methods ---- */

static struct call *kept;	/* of "keep" */
static int told_gone, notified;

static struct reply subtract(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_ok(call, json_integer(call_int(call, "minuend", 0) - call_int(call, "subtrahend", 0)));
}

static struct reply sum(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_ok(call, json_integer(call_int(call, "a", 0) + call_int(call, "b", 0) + call_int(call, "c", 0)));
}

static struct reply notify(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	notified++;
	return reply_ok(call, json_object());
}

static struct reply get_data(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_ok(call, json_pack("[s,i]", "hello", 5));
}

static struct reply echo(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_ok(call, json_deep_copy(call_params(call)));
}

static struct reply refuse(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_error(call, RPC_CONFLICT, "key", "take another", "no %s", "way");
}

static struct reply keep(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	kept = call;
	return reply_later(call);
}

static void keep_gone(void *arg)
{
	told_gone++;
	call_drop(arg);
}

static struct reply linger(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	kept = call;
	call_wait(call, keep_gone, call);
	return reply_later(call);
}

static struct reply forget(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	(void)call;
	return (struct reply){ NULL };
}

static struct reply large(struct rpc *rpc, struct call *call)
{
	char *text = xcalloc(1, 400 * 1024 + 1);
	struct reply reply;

	(void)rpc;
	memset(text, 'x', 400 * 1024);
	reply = reply_ok(call, json_string(text));
	free(text);
	return reply;
}

static const struct schema two[] = {
	{ "minuend", SCHEMA_INT, .max = INT64_MAX, .help = "" },
	{ "subtrahend", SCHEMA_INT, .max = INT64_MAX, .help = "" }, { 0 },
};
static const struct schema three[] = {
	{ "a", SCHEMA_INT, .max = 100, .help = "" }, { "b", SCHEMA_INT, .max = 100, .help = "" },
	{ "c", SCHEMA_INT, .max = 100, .help = "" }, { 0 },
};
static const struct schema five[] = {
	{ "a", SCHEMA_INT, .max = 9, .help = "" }, { "b", SCHEMA_INT, .max = 9, .help = "" },
	{ "c", SCHEMA_INT, .max = 9, .help = "" },
	{ "d", SCHEMA_INT, .max = 9, .help = "" }, { "e", SCHEMA_INT, .max = 9, .help = "" }, { 0 },
};
static const char *const colours[] = { "red", "green" };
static const struct state_names colours_names = { "colour", colours, 2, NULL };
static const struct schema inner[] = { { "deep", SCHEMA_BOOL, .help = "" }, { 0 } };
static const struct schema every[] = {
	{ "text", SCHEMA_TEXT, .required = true, .min = 1, .max = 5, .help = "" },
	{ "colour", SCHEMA_TEXT, .max = 32, .choices = &colours_names, .help = "" },
	{ "number", SCHEMA_INT, .min = -2, .max = 7, .help = "" },
	{ "limit", SCHEMA_INT, .clamp = true, .min = 1, .max = 10, .help = "" },
	{ "flag", SCHEMA_BOOL, .help = "" },
	{ "object", SCHEMA_OBJECT, .members = inner, .help = "" },
	{ "ids", SCHEMA_IDS, .min = 1, .max = 3, .help = "" },
	{ "texts", SCHEMA_TEXTS, .max = 2, .choices = &colours_names, .help = "" },
	{ "pairs", SCHEMA_PAIRS, .max = 2, .help = "" },
	{ 0 },
};
static const struct schema any_text[] = { { "text", SCHEMA_TEXT, .max = 1000, .help = "" }, { 0 } };

static const struct method methods[] = {
	{ "subtract", ACCESS_ANY, false, two, NULL, NULL, subtract, "" },
	{ "sum", ACCESS_ANY, false, three, NULL, NULL, sum, "" },
	{ "update", ACCESS_ANY, false, five, NULL, NULL, notify, "" },
	{ "notify_hello", ACCESS_ANY, false, three, NULL, NULL, notify, "" },
	{ "notify_sum", ACCESS_SUBMIT, false, three, NULL, NULL, notify, "" },
	{ "get_data", ACCESS_ANY, false, NULL, NULL, NULL, get_data, "" },
	{ "echo", ACCESS_ANY, false, every, NULL, NULL, echo, "" },
	{ "say", ACCESS_ANY, false, any_text, NULL, NULL, echo, "" },
	{ "refuse", ACCESS_ANY, false, NULL, NULL, NULL, refuse, "" },
	{ "keep", ACCESS_ANY, true, NULL, NULL, NULL, keep, "" },
	{ "linger", ACCESS_ANY, false, NULL, NULL, NULL, linger, "" },
	{ "forget", ACCESS_ANY, false, NULL, NULL, NULL, forget, "" },
	{ "large", ACCESS_ANY, true, NULL, NULL, NULL, large, "" },
	{ 0 },
};
static const struct method *const tables[] = { methods, NULL };

/* ---- a client without a socket ---- */

static struct buf sent;		/* framed answers */
static enum frame_mode mode;
static int relieved;
static bool deaf;
static struct tally tally;
static struct link *link_;

static void client_send(void *arg, const char *json, size_t size)
{
	size_t framed;
	char *frame = frame_wrap(mode, json, size, &framed);

	(void)arg;
	buf_add(&sent, frame, framed);
	free(frame);
}

static bool client_room(void *arg)
{
	(void)arg;
	return true;
}

static bool client_deaf(void *arg)
{
	(void)arg;
	return deaf;
}

static void client_relieved(void *arg)
{
	(void)arg;
	relieved++;
}

static const struct link_ops ops = { client_send, client_room, client_deaf, client_relieved };

static void setup(void)
{
	mode = FRAME_LINE;
	relieved = told_gone = notified = 0;
	deaf = false;
	kept = NULL;
	link_ = link_new(&(struct caller){ .rank = RANK_ADMIN }, &tally, &ops, NULL);
}

static void teardown(void)
{
	if (link_ != NULL)
		link_close(link_);
	buf_release(&sent);
	ck_assert_uint_eq(tally.count, 0);
}

/* Through the frames and back: the one answer, NULL for none. */
static json_t *ask(const char *text)
{
	struct frame_reader *in = frame_reader_new(FRAME_MAX), *out = frame_reader_new(64 * FRAME_MAX);
	const char *data;
	json_t *answer = NULL;
	size_t size;
	char *frame = frame_wrap(mode, text, strlen(text), &size);

	buf_release(&sent);
	frame_feed(in, frame, size);
	free(frame);
	ck_assert_int_eq(frame_next(in, &data, &size), FRAME_READY);
	dispatch(tables, NULL, link_, data, size);
	ck_assert_int_eq(frame_next(in, &data, &size), FRAME_NONE);
	if (sent.size > 0) {
		frame_feed(out, sent.data, sent.size);
		ck_assert_int_eq(frame_next(out, &data, &size), FRAME_READY);
		answer = json_loadb(data, size, JSON_ALLOW_NUL, NULL);
		ck_assert_ptr_nonnull(answer);
		ck_assert_int_eq(frame_next(out, &data, &size), FRAME_NONE);
	}
	frame_reader_free(in);
	frame_reader_free(out);
	return answer;
}

/* Errors are compared by code only: messages and data are ours. */
static void strip(json_t *answer)
{
	json_t *error = json_object_get(answer, "error"), *item;
	size_t i;

	if (error != NULL) {
		ck_assert(json_is_string(json_object_get(error, "message")));
		ck_assert(json_is_string(json_object_get(json_object_get(error, "data"), "kind")));
		ck_assert(json_is_boolean(json_object_get(json_object_get(error, "data"), "retryable")));
		ck_assert(json_is_string(json_object_get(json_object_get(error, "data"), "hint")));
		json_object_del(error, "message");
		json_object_del(error, "data");
	}
	json_array_foreach(answer, i, item)
		strip(item);
}

static void expect(const char *request, const char *wanted)
{
	json_t *answer = ask(request), *json = wanted == NULL ? NULL : json_loads(wanted, 0, NULL);
	char *text;

	strip(answer);
	text = answer == NULL ? xstrdup("(none)") : json_dumps(answer, JSON_COMPACT);
	ck_assert_msg(json_equal(answer, json) || (answer == NULL && json == NULL),
	    "%s\nanswered %s\nwanted   %s", request, text, wanted == NULL ? "(none)" : wanted);
	free(text);
	json_decref(answer);
	json_decref(json);
}

/* ---- the examples of the JSON-RPC 2.0 specification ---- */

#define ERROR(code, id) "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":" code "},\"id\":" id "}"
#define RESULT(result, id) "{\"jsonrpc\":\"2.0\",\"result\":" result ",\"id\":" id "}"

static const struct {
	const char *request, *answer;
} examples[] = {
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [42, 23], \"id\": 1}", RESULT("19", "1") },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [23, 42], \"id\": 2}", RESULT("-19", "2") },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"subtrahend\": 23, "
	    "\"minuend\": 42}, \"id\": 3}", RESULT("19", "3") },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": {\"minuend\": 42, "
	    "\"subtrahend\": 23}, \"id\": 4}", RESULT("19", "4") },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"update\", \"params\": [1,2,3,4,5]}", NULL },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"foobar\"}", NULL },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"foobar\", \"id\": \"1\"}", ERROR("-32601", "\"1\"") },
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\": \"bar\", \"baz]", ERROR("-32700", "null") },
	{ "{\"jsonrpc\": \"2.0\", \"method\": 1, \"params\": \"bar\"}", ERROR("-32600", "null") },
	{ "[{\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": "
	    "\"1\"},{\"jsonrpc\": \"2.0\", \"method\"]", ERROR("-32700", "null") },
	{ "[]", ERROR("-32600", "null") },
	{ "[1]", "[" ERROR("-32600", "null") "]" },
	{ "[1,2,3]", "[" ERROR("-32600", "null") "," ERROR("-32600", "null") "," ERROR("-32600", "null") "]" },
	{ "[{\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": \"1\"},"
	  "{\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", \"params\": [7]},"
	  "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": [42,23], \"id\": \"2\"},"
	  "{\"foo\": \"boo\"},"
	  "{\"jsonrpc\": \"2.0\", \"method\": \"foo.get\", \"params\": {\"name\": \"myself\"}, \"id\": \"5\"},"
	  "{\"jsonrpc\": \"2.0\", \"method\": \"get_data\", \"id\": \"9\"}]",
	  "[" RESULT("7", "\"1\"") "," RESULT("19", "\"2\"") "," ERROR("-32600", "null") ","
	  ERROR("-32601", "\"5\"") "," RESULT("[\"hello\",5]", "\"9\"") "]" },
	{ "[{\"jsonrpc\": \"2.0\", \"method\": \"notify_sum\", \"params\": [1,2,4]},{\"jsonrpc\": "
	    "\"2.0\", \"method\": \"notify_hello\", \"params\": [7]}]", NULL },
	/* and what the text says beside them */
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":null}", RESULT("[\"hello\",5]", "null") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":1.5}", RESULT("[\"hello\",5]", "1.5") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":\"\"}", RESULT("[\"hello\",5]", "\"\"") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":9223372036854775807}",
	    RESULT("[\"hello\",5]", "9223372036854775807") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":[1]}", ERROR("-32600", "null") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":true}", ERROR("-32600", "null") },
	{ "{\"jsonrpc\":\"1.0\",\"method\":\"get_data\",\"id\":1}", ERROR("-32600", "1") },
	{ "{\"method\":\"get_data\",\"id\":1}", ERROR("-32600", "1") },
	{ "{\"jsonrpc\":2.0,\"method\":\"get_data\",\"id\":1}", ERROR("-32600", "1") },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1}", ERROR("-32600", "1") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"params\":null,\"id\":1}",
	    "{\"jsonrpc\":\"2.0\",\"result\":[\"hello\",5],\"id\":1}" },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"params\":[],\"id\":1}", RESULT("[\"hello\",5]", "1") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"params\":[1],\"id\":1}", ERROR("-32602", "1") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"sum\",\"params\":{\"x\":1}}", NULL },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\\u0000x\",\"id\":1}", ERROR("-32601", "1") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":1,\"id\":2}", ERROR("-32700", "null") },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":1} x", ERROR("-32700", "null") },
	{ "[[]]", "[" ERROR("-32600", "null") "]" },
	{ "1", ERROR("-32600", "null") },
	{ "\"text\"", ERROR("-32600", "null") },
	{ "null", ERROR("-32600", "null") },
	{ "nul", ERROR("-32700", "null") },
	{ "\"\xff\"", ERROR("-32700", "null") },
	{ "1e400", ERROR("-32700", "null") },
};
#define EXAMPLES (int)(sizeof(examples) / sizeof(examples[0]))

START_TEST(example_line)
{
	expect(examples[_i].request, examples[_i].answer);
}
END_TEST

START_TEST(example_header)
{
	mode = FRAME_HEADER;
	expect(examples[_i].request, examples[_i].answer);
}
END_TEST

START_TEST(notifications_are_done)
{
	expect("[{\"jsonrpc\":\"2.0\",\"method\":\"notify_sum\",\"params\":[1,2,4]},"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notify_hello\"}]", NULL);
	ck_assert_int_eq(notified, 2);
}
END_TEST

/* For a client that has gone only changes are still made. */
START_TEST(deaf_client)
{
	deaf = true;
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"notify_hello\",\"id\":1}", NULL);
	ck_assert_int_eq(notified, 0);
	json_decref(ask("{\"jsonrpc\":\"2.0\",\"method\":\"notify_sum\",\"id\":1}"));
	ck_assert_int_eq(notified, 1);
}
END_TEST

/* ---- parameters ---- */

static const struct {
	const char *params, *field;	/* field NULL: taken */
} checks[] = {
	{ "{\"text\":\"abc\"}", NULL },
	{ "[\"abc\",\"red\",7,99,true,{\"deep\":false},[1,2],[\"green\"],[\"A=1\"]]", NULL },
	{ "{}", "text" },
	{ "{\"text\":null}", "text" },
	{ "{\"text\":\"\"}", "text" },
	{ "{\"text\":\"abcdef\"}", "text" },
	{ "{\"text\":1}", "text" },
	{ "{\"text\":\"a\\u0000\"}", "text" },
	{ "{\"text\":\"a\",\"colour\":\"blue\"}", "colour" },
	{ "{\"text\":\"a\",\"colour\":null}", NULL },
	{ "{\"text\":\"a\",\"number\":-2}", NULL },
	{ "{\"text\":\"a\",\"number\":-3}", "number" },
	{ "{\"text\":\"a\",\"number\":8}", "number" },
	{ "{\"text\":\"a\",\"number\":1.0}", "number" },
	{ "{\"text\":\"a\",\"number\":\"1\"}", "number" },
	{ "{\"text\":\"a\",\"limit\":0}", "limit" },
	{ "{\"text\":\"a\",\"flag\":1}", "flag" },
	{ "{\"text\":\"a\",\"object\":[]}", "object" },
	{ "{\"text\":\"a\",\"object\":{\"deep\":1}}", "object.deep" },
	{ "{\"text\":\"a\",\"object\":{\"shallow\":true}}", "object.shallow" },
	{ "{\"text\":\"a\",\"ids\":[]}", "ids" },
	{ "{\"text\":\"a\",\"ids\":[1,2,3,4]}", "ids" },
	{ "{\"text\":\"a\",\"ids\":[0]}", "ids" },
	{ "{\"text\":\"a\",\"ids\":[\"1\"]}", "ids" },
	{ "{\"text\":\"a\",\"ids\":1}", "ids" },
	{ "{\"text\":\"a\",\"texts\":[\"blue\"]}", "texts" },
	{ "{\"text\":\"a\",\"texts\":[1]}", "texts" },
	{ "{\"text\":\"a\",\"pairs\":{\"A\":\"1\",\"B\":\"2\"}}", NULL },
	{ "{\"text\":\"a\",\"pairs\":{\"A\":1}}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":{\"A=\":\"1\"}}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":{\"\":\"1\"}}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":{\"1A\":\"1\"}}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":{\"A\":\"1\",\"B\":\"2\",\"C\":\"3\"}}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":[\"A\"]}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":[\"=1\"]}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":[\"A=\\u0000\"]}", "pairs" },
	{ "{\"text\":\"a\",\"pairs\":1}", "pairs" },
	{ "{\"text\":\"a\",\"unknown\":1}", "unknown" },
	{ "[\"a\",\"red\",1,1,true,{},[1],[],{},1]", "9" },
};

START_TEST(parameters)
{
	char *request = xasprintf("{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":%s,\"id\":1}",
	    checks[_i].params);
	json_t *answer = ask(request), *error = json_object_get(answer, "error");
	const char *field = json_string_value(json_object_get(json_object_get(error, "data"), "field"));

	if (checks[_i].field == NULL) {
		ck_assert_ptr_nonnull(json_object_get(answer, "result"));
	} else {
		ck_assert_int_eq(json_integer_value(json_object_get(error, "code")), RPC_INVALID_PARAMS);
		ck_assert_ptr_nonnull(field);
		ck_assert_str_eq(field, checks[_i].field);
	}
	json_decref(answer);
	free(request);
}
END_TEST

START_TEST(clamped)
{
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"params\":{\"text\":\"a\","
	    "\"limit\":99999},\"id\":1}", RESULT("{\"text\":\"a\",\"limit\":10}", "1"));
}
END_TEST

START_TEST(error_data)
{
	json_t *answer = ask("{\"jsonrpc\":\"2.0\",\"method\":\"refuse\",\"id\":1}");
	json_t *wanted = json_loads("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":4,"
	    "\"message\":\"no way\",\"data\":{\"kind\":\"conflict\","
	    "\"retryable\":false,\"hint\":\"take another\",\"field\":\"key\"}}}", 0, NULL);

	ck_assert(json_equal(answer, wanted));
	json_decref(answer);
	json_decref(wanted);
}
END_TEST

START_TEST(nul_comes_back)
{
	json_t *answer = ask("{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":\"a\\u0000b\"}");

	ck_assert_uint_eq(json_string_length(json_object_get(answer, "id")), 3);
	json_decref(answer);
}
END_TEST

/* ---- limits ---- */

static char *repeated(const char *head, const char *item, int count, const char *tail)
{
	struct buf b = { 0 };

	buf_adds(&b, head);
	for (int i = 0; i < count; i++)
		buf_addf(&b, "%s%s", i > 0 ? "," : "", item);
	buf_adds(&b, tail);
	return buf_take(&b, NULL);
}

START_TEST(batch_limits)
{
	static const char item[] = "{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":1}";
	char *fits = repeated("[", item, BATCH_CALLS, "]"), *more = repeated("[", item, BATCH_CALLS + 1, "]");
	json_t *answer = ask(fits);

	ck_assert_uint_eq(json_array_size(answer), BATCH_CALLS);
	json_decref(answer);
	expect(more, ERROR("-32700", "null"));
	free(fits);
	free(more);
}
END_TEST

START_TEST(batch_answer_is_bounded)
{
	char *request = repeated("[", "{\"jsonrpc\":\"2.0\",\"method\":\"large\",\"id\":1}", 4, "]");
	json_t *answer = ask(request);

	ck_assert_uint_eq(json_array_size(answer), 4);
	ck_assert_ptr_nonnull(json_object_get(json_array_get(answer, 1), "result"));
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json_array_get(answer, 2),
	    "error"), "code")), RPC_LIMIT_REACHED);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json_array_get(answer, 3),
	    "error"), "code")), RPC_LIMIT_REACHED);
	json_decref(answer);
	free(request);
}
END_TEST

START_TEST(scan_limits)
{
	char *many = repeated("{\"jsonrpc\":\"2.0\",\"method\":\"get_data\",\"id\":1,\"params\":[",
	    "1", SCAN_VALUES, "]}");
	char *deep = xcalloc(1, SCAN_DEPTH * 2 + 3);

	expect(many, ERROR("-32700", "null"));
	free(many);
	memset(deep, '[', SCAN_DEPTH + 1);
	memset(deep + SCAN_DEPTH + 1, ']', SCAN_DEPTH + 1);
	expect(deep, ERROR("-32700", "null"));
	free(deep);
}
END_TEST

/* ---- lives ---- */

START_TEST(answered_later)
{
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"keep\",\"id\":1}", NULL);
	ck_assert_uint_eq(link_busy(link_), 1);
	ck_assert(link_large(link_));
	ck_assert_int_eq(relieved, 0);
	call_ok(kept, json_integer(5));
	ck_assert_str_eq(sent.data, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":5}\n");
	ck_assert_uint_eq(link_busy(link_), 0);
	ck_assert(!link_large(link_));
	ck_assert_int_eq(relieved, 1);
}
END_TEST

START_TEST(batch_answered_later)
{
	expect("[{\"jsonrpc\":\"2.0\",\"method\":\"keep\",\"id\":1},{\"jsonrpc\":\"2.0\","
	    "\"method\":\"get_data\",\"id\":2}]", NULL);
	call_error(kept, RPC_BUSY, NULL, NULL, "not now");
	ck_assert_ptr_nonnull(strstr(sent.data, "[{\"jsonrpc\":\"2.0\",\"id\":2,"));
	ck_assert_ptr_nonnull(strstr(sent.data, "\"code\":9"));
}
END_TEST

START_TEST(client_leaves)
{
	expect("[{\"jsonrpc\":\"2.0\",\"method\":\"keep\",\"id\":1}]", NULL);
	link_close(link_);
	link_ = NULL;
	call_ok(kept, json_integer(5));
	ck_assert_uint_eq(sent.size, 0);
	ck_assert_int_eq(relieved, 0);
}
END_TEST

START_TEST(waiting_client_leaves)
{
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"linger\",\"id\":1}", NULL);
	ck_assert_uint_eq(link_busy(link_), 0);
	ck_assert_uint_eq(link_waiting(link_), 1);
	link_close(link_);
	link_ = NULL;
	ck_assert_int_eq(told_gone, 1);
	ck_assert_uint_eq(tally.count, 0);
}
END_TEST

START_TEST(waits_are_answered)
{
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"linger\",\"id\":1}", NULL);
	call_ok(kept, json_true());
	ck_assert_uint_eq(link_waiting(link_), 0);
	ck_assert_ptr_nonnull(strstr(sent.data, "true"));
	link_close(link_);
	link_ = NULL;
	ck_assert_int_eq(told_gone, 0);
}
END_TEST

START_TEST(a_handler_that_forgets)
{
	expect("{\"jsonrpc\":\"2.0\",\"method\":\"forget\",\"id\":1}", ERROR("-32603", "1"));
}
END_TEST

/* A method and a parameter whose help begins with the mark. */
START_TEST(deprecated)
{
	static const struct schema params[] = {
		{ "colour", SCHEMA_BOOL, .help = SCHEMA_DEPRECATED("shade") "whether it has one" },
		{ "shade", SCHEMA_BOOL, .help = "whether it has one" }, { 0 },
	};
	static const struct result_field results[] = {
		{ "colour", "boolean", SCHEMA_DEPRECATED("shade") "whether it has one" },
		{ "shade", "boolean", "whether it has one" }, { NULL, NULL, NULL },
	};
	static const struct method table[] = {
		{ "paint", ACCESS_ANY, false, params, results, NULL, notify, SCHEMA_DEPRECATED("draw") "paints" },
		{ "draw", ACCESS_ANY, false, params, results, NULL, notify, "paints" }, { 0 },
	};
	json_t *document = method_discover((method_tables)(const struct method *const[]){ table, NULL }, "1");
	const json_t *listed = json_object_get(document, "methods"), *method = json_array_get(listed, 0);

	ck_assert_str_eq(json_string_value(json_object_get(method, "summary")), "deprecated: use draw; paints");
	for (size_t i = 0; i < 2; i++) {
		const json_t *of = json_array_get(listed, i), *list = json_object_get(of, "params");
		const json_t *schema = json_object_get(json_object_get(of, "result"), "schema");
		const json_t *members = json_object_get(schema, "properties");

		ck_assert_int_eq(json_is_true(json_object_get(of, "deprecated")), i == 0);
		ck_assert(json_is_true(json_object_get(json_array_get(list, 0), "deprecated")));
		ck_assert_ptr_null(json_object_get(json_array_get(list, 1), "deprecated"));
		ck_assert(json_is_true(json_object_get(json_object_get(members, "colour"), "deprecated")));
		ck_assert_ptr_null(json_object_get(json_object_get(members, "shade"), "deprecated"));
	}
	json_decref(document);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dispatch");
	TCase *tc = tcase_create("dispatch");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, example_line, 0, EXAMPLES);
	tcase_add_loop_test(tc, example_header, 0, EXAMPLES);
	tcase_add_test(tc, notifications_are_done);
	tcase_add_test(tc, deaf_client);
	tcase_add_loop_test(tc, parameters, 0, sizeof(checks) / sizeof(checks[0]));
	tcase_add_test(tc, clamped);
	tcase_add_test(tc, error_data);
	tcase_add_test(tc, nul_comes_back);
	tcase_add_test(tc, batch_limits);
	tcase_add_test(tc, batch_answer_is_bounded);
	tcase_add_test(tc, scan_limits);
	tcase_add_test(tc, answered_later);
	tcase_add_test(tc, batch_answered_later);
	tcase_add_test(tc, client_leaves);
	tcase_add_test(tc, waiting_client_leaves);
	tcase_add_test(tc, waits_are_answered);
	tcase_add_test(tc, a_handler_that_forgets);
	tcase_add_test(tc, deprecated);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
