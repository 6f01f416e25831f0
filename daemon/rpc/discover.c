/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "config/setting.h"
#include "proto/schema_json.h"
#include "rpc/event_types.h"
#include "rpc/method.h"

static const char *const access_names[ACCESSES] = {
	[ACCESS_ANY] = "any", [ACCESS_READ] = "read", [ACCESS_SUBMIT] = "submit",
	[ACCESS_OWNER] = "owner", [ACCESS_ADMIN] = "admin",
};

static const struct schema *setting_schema(const char *path)
{
	return &setting_find(path, NULL)->is;
}

static json_t *error_json(int code)
{
	const struct rpc_error_row *row = rpc_error_find(code);

	return json_pack("{s:i,s:s,s:{s:s,s:b}}", "code", code, "message", row->kind, "data",
	    "kind", row->kind, "retryable", row->retryable);
}

/* A dry run answers otherwise, where the answer is a type. */
static json_t *answer_schema(const struct method *method)
{
	json_t *json = result_schema(method->results);

	for (const struct schema *p = method->params; p != NULL && p->name != NULL; p++) {
		if (strcmp(p->name, "check") == 0 && json_object_get(json, "$ref") != NULL)
			return json_pack("{s:[o,{s:s}]}", "anyOf", json, "$ref", "#/components/schemas/Checked");
	}
	return json;
}

static json_t *method_json(const struct method *method)
{
	json_t *params = json_array(), *errors = json_array(), *json;

	for (const struct schema *p = method->params; p != NULL && p->name != NULL; p++) {
		json_array_append_new(params, json =
		    json_pack("{s:s,s:s,s:b,s:o}", "name", p->name, "description",
		    schema_help(p, setting_schema), "required", p->required, "schema",
		    schema_json(p, setting_schema)));
		schema_mark(json, schema_help(p, setting_schema));
	}
	if (method->params != NULL)
		json_array_append_new(errors, error_json(RPC_INVALID_PARAMS));
	for (const int *code = method->errors; code != NULL && *code != 0; code++)
		json_array_append_new(errors, error_json(*code));
	json = json_pack("{s:s,s:s,s:s,s:o,s:{s:s,s:o},s:o,s:s}", "name", method->name, "summary", method->help,
	    "paramStructure", "either", "params", params, "result", "name", "result", "schema", answer_schema(method),
	    "errors", errors, "x-role", access_names[method->access]);
	schema_mark(json, method->help);
	return json;
}

static json_t *cancel_json(void)
{
	return json_pack("{s:s,s:s,s:{s:s,s:{s:{s:[sss],s:s}},s:[s],s:b}}", "name", CANCEL_REQUEST,
	    "summary", "end a call of this connection that waits; it is answered with error -32800", "params",
	    "type", "object", "properties", "id", "type", "integer", "number", "string",
	    "description", "id of the call", "required", "id", "additionalProperties", 0);
}

json_t *method_discover(method_tables tables, const char *version)
{
	json_t *methods = json_array();

	for (; *tables != NULL; tables++) {
		for (const struct method *m = *tables; m->name != NULL; m++)
			json_array_append_new(methods, method_json(m));
	}
	return json_pack("{s:s,s:{s:s,s:s,s:s},s:o,s:{s:o},s:o,s:[o]}", "openrpc", "1.3.2", "info", "title", "rld",
	    "version", version, "description",
	    "Runs coding agents and reviews each result. JSON-RPC 2.0 on a Unix socket, one "
	    "document per line or with Content-Length frames.", "methods", methods,
	    "components", "schemas", result_components(), "x-notifications", event_notifications(),
	    "x-client-notifications", cancel_json());
}

json_t *method_capabilities(method_tables tables)
{
	json_t *list = json_array();

	for (; *tables != NULL; tables++) {
		for (const struct method *m = *tables; m->name != NULL; m++)
			json_array_append_new(list, json_string(m->name));
	}
	for (const struct event_type *event = event_types; event->name != NULL; event++)
		json_array_append_new(list, json_sprintf("event:%s", event->name));
	return list;
}
