/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "config/setting.h"
#include "proto/memory.h"
#include "rpc/event_types.h"
#include "rpc/method.h"

static const char *const access_names[ACCESSES] = {
	[ACCESS_ANY] = "any", [ACCESS_READ] = "read", [ACCESS_SUBMIT] = "submit",
	[ACCESS_OWNER] = "owner", [ACCESS_ADMIN] = "admin",
};

/* Turns "string|null" into {"type": ["string", "null"]}. */
static json_t *discover_typed(const char *type)
{
	json_t *types = json_array();

	while (*type != '\0') {
		size_t n = strcspn(type, "|");

		json_array_append_new(types, json_stringn(type, n));
		type += n + (type[n] == '|');
	}
	if (json_array_size(types) == 1) {
		json_t *one = json_incref(json_array_get(types, 0));

		json_decref(types);
		types = one;
	}
	return json_pack("{s:o}", "type", types);
}

static void set_range(json_t *schema, const char *min_key, const char *max_key, int64_t min, int64_t max)
{
	json_object_set_new(schema, min_key, json_integer(min));
	if (max != INT64_MAX)
		json_object_set_new(schema, max_key, json_integer(max));
}

static json_t *schema_json(const struct schema *schema, bool lengths);

static const char *schema_help(const struct schema *schema)
{
	return schema->help == NULL && schema->path != NULL ? setting_find(schema->path, NULL)->is.help : schema->help;
}

static json_t *members_json(const struct schema *members, bool lengths)
{
	json_t *properties = json_object(), *required = json_array(), *json;

	for (const struct schema *m = members; m->name != NULL; m++) {
		json_object_set_new(properties, m->name, json = schema_json(m, lengths));
		if (schema_help(m) != NULL)
			json_object_set_new(json, "description", json_string(schema_help(m)));
		if (m->required)
			json_array_append_new(required, json_string(m->name));
	}
	json = json_pack("{s:s,s:o,s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
	if (json_array_size(required) > 0)
		json_object_set(json, "required", required);
	json_decref(required);
	return json;
}

static void set_choices(json_t *json, const struct schema *schema)
{
	json_t *array = schema->choices != NULL ? json_array() : NULL;

	for (size_t i = 0; array != NULL && i < schema->choices->count; i++)
		json_array_append_new(array, json_string(schema->choices->names[i]));
	if (array != NULL)
		json_object_set_new(json, "enum", array);
}

static json_t *list_json(const struct schema *schema, json_t *items)
{
	json_t *json = json_pack("{s:s,s:o}", "type", "array", "items", items);

	set_choices(items, schema);
	if (schema->max > 0)
		set_range(json, "minItems", "maxItems", schema->min, schema->max);
	return json;
}

static json_t *map_json(void)
{
	return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", discover_typed("string"));
}

/* lengths: include those of texts. */
static json_t *schema_json(const struct schema *schema, bool lengths)
{
	json_t *json;

	switch (schema->kind) {
	case SCHEMA_ANY:
		return schema_json(&setting_find(schema->path, NULL)->is, false);
	case SCHEMA_BOOL:
		return discover_typed("boolean");
	case SCHEMA_INT:
		json = discover_typed("integer");
		set_range(json, "minimum", "maximum", schema->min, schema->clamp ? INT64_MAX : schema->max);
		return json;
	case SCHEMA_MONEY:
		json = discover_typed("number");
		json_object_set_new(json, "minimum", json_real((double)schema->min / 100));
		json_object_set_new(json, "maximum", json_integer(schema->max));
		return json;
	case SCHEMA_DURATION:
	case SCHEMA_SIZE:
		return discover_typed("integer|string");
	case SCHEMA_TEXT:
	case SCHEMA_TEXT_OR_TRUE:
	case SCHEMA_CHOICE:
		json = discover_typed(schema->kind == SCHEMA_TEXT_OR_TRUE ? "string|boolean" : "string");
		if (lengths && schema->max > 0)
			set_range(json, "minLength", "maxLength", schema->min, schema->max);
		set_choices(json, schema);
		return json;
	case SCHEMA_IDS:
		return list_json(schema, discover_typed("integer"));
	case SCHEMA_TEXTS:
	case SCHEMA_ARGV:
		return list_json(schema, discover_typed("string"));
	case SCHEMA_OBJECTS:
		return list_json(schema, members_json(schema->members, false));
	case SCHEMA_PAIRS:
		return json_pack("{s:[o,o]}", "oneOf", list_json(&(struct schema){ .kind = SCHEMA_TEXTS },
		    discover_typed("string")), map_json());
	case SCHEMA_MAP:
		return map_json();
	case SCHEMA_OBJECT:
		return members_json(schema->members, lengths);
	case SCHEMA_KINDS:
		break;
	}
	return json_object();
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
	json_t *params = json_array(), *errors = json_array();

	for (const struct schema *p = method->params; p != NULL && p->name != NULL; p++) {
		json_array_append_new(params,
		    json_pack("{s:s,s:s,s:b,s:o}", "name", p->name, "description", schema_help(p),
		    "required", p->required, "schema", schema_json(p, true)));
	}
	if (method->params != NULL)
		json_array_append_new(errors, error_json(RPC_INVALID_PARAMS));
	for (const int *code = method->errors; code != NULL && *code != 0; code++)
		json_array_append_new(errors, error_json(*code));
	return json_pack("{s:s,s:s,s:s,s:o,s:{s:s,s:o},s:o,s:s}", "name", method->name, "summary", method->help,
	    "paramStructure", "either", "params", params, "result", "name", "result", "schema", answer_schema(method),
	    "errors", errors, "x-role", access_names[method->access]);
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
