/* SPDX-License-Identifier: MIT */
/* Any bytes from a client: frames and dispatch. The same bytes give the same answers however they
 * are cut, every answer is a JSON-RPC 2.0 response, and no call is left behind. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/frame.h"
#include "proto/memory.h"
#include "rpc/dispatch.h"

static struct reply echo(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_ok(call, json_deep_copy(call_params(call)));
}

static struct reply refuse(struct rpc *rpc, struct call *call)
{
	(void)rpc;
	return reply_error(call, RPC_BUSY, "field", NULL, "%s", "no");
}

static const char *const choices[] = { "red", "green" };
static const struct state_names choices_names = { "colour", choices, 2, NULL };
static const struct schema members[] = { { "deep", SCHEMA_BOOL, .help = "" }, { 0 } };
static const struct schema params[] = {
	{ "text", SCHEMA_TEXT, .max = 64, .help = "" },
	{ "colour", SCHEMA_TEXT, .max = 8, .choices = &choices_names, .help = "" },
	{ "number", SCHEMA_INT, .min = -5, .max = 5, .help = "" },
	{ "limit", SCHEMA_INT, .clamp = true, .min = 1, .max = 10, .help = "" },
	{ "flag", SCHEMA_BOOL, .help = "" },
	{ "object", SCHEMA_OBJECT, .members = members, .help = "" },
	{ "ids", SCHEMA_IDS, .min = 1, .max = 3, .help = "" },
	{ "texts", SCHEMA_TEXTS, .max = 2, .choices = &choices_names, .help = "" },
	{ "pairs", SCHEMA_PAIRS, .max = 2, .help = "" },
	{ 0 },
};
static const struct method methods[] = {
	{ "echo", ACCESS_ANY, false, params, NULL, NULL, echo, "" },
	{ "refuse", ACCESS_ANY, false, NULL, NULL, NULL, refuse, "" },
	{ 0 },
};
static const struct method *const tables[] = { methods, NULL };

static void check_response(const json_t *json)
{
	const json_t *version = json_object_get(json, "jsonrpc"), *error = json_object_get(json, "error");

	if (version == NULL || strcmp(json_string_value(version), "2.0") != 0 || json_object_get(json, "id") == NULL ||
	    (json_object_get(json, "result") == NULL) == (error == NULL))
		abort();
	if (error != NULL && (!json_is_integer(json_object_get(error,
	    "code")) || !json_is_string(json_object_get(error, "message"))))
		abort();
}

static void client_send(void *arg, const char *text, size_t size)
{
	json_t *json = json_loadb(text, size, JSON_ALLOW_NUL, NULL), *item;
	size_t i;

	if (json == NULL || (json_is_array(json) && json_array_size(json) == 0))
		abort();
	json_array_foreach(json, i, item)
		check_response(item);
	if (!json_is_array(json))
		check_response(json);
	json_decref(json);
	buf_add(arg, text, size);
	buf_adds(arg, "\n");
}

static bool yes(void *arg)
{
	(void)arg;
	return true;
}

static bool no(void *arg)
{
	(void)arg;
	return false;
}

static void relieved(void *arg)
{
	(void)arg;
}

/* All answers to data that comes step bytes at a time. */
static char *answers(const uint8_t *data, size_t size, size_t step)
{
	static const struct link_ops ops = { client_send, yes, no, relieved };
	struct frame_reader *in = frame_reader_new(4096);
	struct tally tally = { 0 };
	struct buf out = { 0 };
	struct link *link = link_new(&(struct caller){ .rank = RANK_ADMIN }, &tally, &ops, &out);
	enum frame_result rv = FRAME_NONE;
	const char *frame;
	size_t n;

	for (size_t at = 0; at < size + step; at += step) {
		if (at < size)
			frame_feed(in, data + at, size - at < step ? size - at : step);
		else
			frame_eof(in);
		while ((rv = frame_next(in, &frame, &n)) == FRAME_READY)
			dispatch(tables, NULL, link, frame, n);
	}
	buf_adds(&out, rv == FRAME_NONE ? "end" : rv == FRAME_TOO_LONG ? "long" : rv == FRAME_HTTP ? "http" : "header");
	link_close(link);
	frame_reader_free(in);
	if (tally.count != 0)
		abort();
	return buf_take(&out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole = answers(data, size, size + 1), *cut = answers(data, size, size % 7 + 1);

	if (strcmp(whole, cut) != 0)
		abort();
	free(whole);
	free(cut);
	return 0;
}
