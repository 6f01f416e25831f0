/* SPDX-License-Identifier: MIT */
#include "rpc/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "proto/scan.h"
#include "proto/memory.h"
#include "rpc/agent_access.h"
#include "rpc/roles.h"

/* Answer something that is not a request. */
static void answer_error(struct link *link, struct batch *batch, json_t *id, int code, const char *message)
{
	size_t size;
	char *json;

	if (batch != NULL) {
		batch_error(batch, id, code, message);
		return;
	}
	json = error_document(id, code, message, &size);
	link_send(link, json, size);
	free(json);
}

/* Why a value is not a request; NULL: it is one. */
static const char *flaw(const json_t *request)
{
	const json_t *version = json_object_get(request, "jsonrpc");
	const json_t *method = json_object_get(request, "method");
	const json_t *params = json_object_get(request, "params");
	const json_t *id = json_object_get(request, "id");

	if (!json_is_object(request))
		return "a request must be an object";
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return "\"jsonrpc\" must be \"2.0\"";
	if (!json_is_string(method))
		return "\"method\" must be a string";
	if (params != NULL && !json_is_null(params) && !json_is_object(params) && !json_is_array(params))
		return "\"params\" must be an object or an array";
	if (id != NULL && !json_is_string(id) && !json_is_number(id) && !json_is_null(id))
		return "\"id\" must be a string, a number or null";
	return NULL;
}

/* The id for the answer to a malformed request: null if it has no valid one. */
static json_t *usable_id(const json_t *request)
{
	json_t *id = json_object_get(request, "id");

	return json_is_string(id) || json_is_number(id) ? id : NULL;
}

/* A call whose parameters are valid, until its method has it. */
struct begun {
	struct rpc *rpc;
	const struct method *method;
	struct call *call;
};

static void begun_end(struct begun *begun)
{
	call_unref(begun->call);
	free(begun);
}

static void begun_go(void *arg)
{
	struct begun *begun = arg;
	struct reply reply = begun->method->handler(begun->rpc, begun->call);

	if (!call_kept(begun->call, reply)) {
		log_bug("method %s gave no answer", begun->method->name);
		call_error(begun->call, RPC_INTERNAL, NULL, NULL, "the method gave no answer");
	}
	begun_end(begun);
}

static void begun_refuse(void *arg, const char *text, const char *hint)
{
	struct begun *begun = arg;

	call_error(begun->call, RPC_NOT_PERMITTED, NULL, hint, "%s", text);
	begun_end(begun);
}

static void dispatch_begin(method_tables tables, struct rpc *rpc, struct link *link,
    struct batch *batch, json_t *request)
{
	const char *why = flaw(request);
	const struct method *method;
	const json_t *name;
	struct schema_error error;
	json_t *id, *params;
	struct begun *begun;
	struct call *call;
	char *refused;

	if (why != NULL) {
		answer_error(link, batch, usable_id(request), RPC_INVALID_REQUEST, why);
		return;
	}
	id = json_object_get(request, "id");
	name = json_object_get(request, "method");
	method = strlen(json_string_value(name)) == json_string_length(name) ?
	    method_find(tables, json_string_value(name)) : NULL;
	if (strcmp(json_string_value(name), CANCEL_REQUEST) == 0 && id == NULL) {
		link_cancel(link, json_object_get(json_object_get(request, "params"), "id"));
		return;
	}
	if (method == NULL) {
		char text[128];

		snprintf(text, sizeof(text), "unknown method '%.64s'", json_string_value(name));
		if (id != NULL)
			answer_error(link, batch, id, RPC_METHOD_NOT_FOUND, text);
		return;
	}
	/* skip requests whose answer cannot be delivered; changes are made nevertheless */
	if (link_deaf(link) && (method->access == ACCESS_ANY || method->access == ACCESS_READ))
		return;
	params = method_bind(method, json_object_get(request, "params"), &error);
	call = call_new(link, batch, json_incref(id), params, params != NULL && method->large);
	refused = params != NULL ? agent_refusal(rpc, link_caller(link), method, params) : NULL;
	if (refused != NULL) {
		call_error(call, RPC_NOT_PERMITTED, NULL, "leave that to the user of the daemon", "%s", refused);
		call_unref(call);
		free(refused);
	} else if (params == NULL) {
		call_error(call, RPC_INVALID_PARAMS, error.field,
		    rpc_error_find(RPC_INVALID_PARAMS)->help, "%s", error.text);
		call_unref(call);
	} else {
		begun = xcalloc(1, sizeof(*begun));
		*begun = (struct begun){ rpc, method, call };
		roles_check(&(struct roles_check){ rpc, link_caller(link), method, params, begun_go, begun_refuse,
		    begun });
	}
}

static void begin_batch(method_tables tables, struct rpc *rpc, struct link *link, json_t *requests)
{
	struct batch *batch;
	json_t *request;
	char text[128];
	size_t i;

	if (json_array_size(requests) == 0) {
		answer_error(link, NULL, NULL, RPC_INVALID_REQUEST, "a batch must not be empty");
		return;
	}
	if (json_array_size(requests) > BATCH_CALLS) {
		snprintf(text, sizeof(text),
		    "a batch may have at most %d requests, this one has %zu",
		    BATCH_CALLS, json_array_size(requests));
		answer_error(link, NULL, NULL, RPC_PARSE_ERROR, text);
		return;
	}
	batch = batch_new(link);
	json_array_foreach(requests, i, request)
		dispatch_begin(tables, rpc, link, batch, request);
	batch_begun(batch);
}

/* Whether the number that ends at end consists of digits only. */
static bool is_integer(const char *data, size_t end)
{
	size_t begin = end;

	while (begin > 0 && strchr("0123456789+-.eE", data[begin - 1]) != NULL)
		begin--;
	return strspn(data + begin, "-0123456789") >= end - begin;
}

/* Answer something that could not be parsed. An integer out of range still makes a request, and may
 * be its id. */
static void answer_unparsed(struct link *link, const char *data, size_t size, const json_error_t *error)
{
	char text[sizeof(error->text) + 64];
	size_t end = error->position > 0 && (size_t)error->position <= size ? (size_t)error->position : 0;

	if (json_error_code(error) == json_error_numeric_overflow && is_integer(data, end)) {
		snprintf(text, sizeof(text),
		    "the integer that ends at byte %zu is out of range (-2^63 to 2^63-1): send ids "
		    "and values of this size as strings", end);
		answer_error(link, NULL, NULL, RPC_INVALID_REQUEST, text);
		return;
	}
	snprintf(text, sizeof(text), "not valid JSON at byte %d: %s", error->position, error->text);
	answer_error(link, NULL, NULL, RPC_PARSE_ERROR, text);
}

void dispatch(method_tables tables, struct rpc *rpc, struct link *link, const char *data, size_t size)
{
	enum scan_result scan = scan_json(data, size);
	json_error_t error;
	json_t *document;

	if (scan != SCAN_OK) {
		answer_error(link, NULL, NULL, RPC_PARSE_ERROR, scan_message(scan));
		return;
	}
	/* \u0000 is valid in JSON; the parameter check refuses it with the name of the parameter */
	document = json_loadb(data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (document == NULL) {
		answer_unparsed(link, data, size, &error);
		return;
	}
	if (json_is_array(document))
		begin_batch(tables, rpc, link, document);
	else
		dispatch_begin(tables, rpc, link, NULL, document);
	json_decref(document);
}
