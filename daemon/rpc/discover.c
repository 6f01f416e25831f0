/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "config/setting.h"
#include "rpc/method.h"

static const char *const access_names[ACCESSES] = {
	[ACCESS_ANY] = "any", [ACCESS_READ] = "read", [ACCESS_SUBMIT] = "submit", [ACCESS_OWNER] = "owner", [ACCESS_ADMIN] = "admin",
};

/* "string|null" becomes {"type": ["string", "null"]}. */
static json_t *typed(const char *type)
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

static json_t *texts(const char *const *list)
{
	json_t *array = json_array();

	for (; *list != NULL; list++)
		json_array_append_new(array, json_string(*list));
	return array;
}

static json_t *setting_schema(const struct setting *setting)
{
	json_t *schema = NULL;

	switch (setting->kind) {
	case SETTING_BOOL:
		return typed("boolean");
	case SETTING_INT:
		schema = typed("integer");
		set_range(schema, "minimum", "maximum", setting->min, setting->max);
		return schema;
	case SETTING_MONEY:
		schema = typed("number");
		json_object_set_new(schema, "minimum", json_real((double)setting->min / 100));
		json_object_set_new(schema, "maximum", json_integer(setting->max));
		return schema;
	case SETTING_DURATION:
	case SETTING_SIZE:
		return typed("integer|string");
	case SETTING_CHOICE:
		schema = typed("string");
		json_object_set_new(schema, "enum", json_array());
		for (size_t i = 0; i < setting->choices->count; i++)
			json_array_append_new(json_object_get(schema, "enum"), json_string(setting->choices->names[i]));
		return schema;
	case SETTING_TEXT:
	case SETTING_REVISION:
	case SETTING_PROFILE:
	case SETTING_AGENT:
	case SETTING_ACCOUNT:
	case SETTING_FILE:
	case SETTING_FILE_OR_NONE:
	case SETTING_DIRECTORY:
	case SETTING_FILE_NAME:
	case SETTING_PROGRAM:
		return typed("string");
	case SETTING_SECTIONS:
		return json_pack("{s:s,s:{s:s,s:{s:o,s:o},s:[s,s],s:b}}", "type", "array", "items", "type", "object", "properties",
		    "file", typed("string"), "section", typed("string"), "required", "file", "section", "additionalProperties", 0);
	case SETTING_ARGV:
	case SETTING_TEXTS:
	case SETTING_LINES:
	case SETTING_FILES:
	case SETTING_PATHS:
	case SETTING_NAMES:
	case SETTING_AGENTS:
		return json_pack("{s:s,s:o}", "type", "array", "items", typed("string"));
	case SETTING_MAP:
		return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", typed("string"));
	case SETTING_KINDS:
		break;
	}
	return json_object();
}

static json_t *param_schema(const struct param *param);

static const char *param_help(const struct param *param)
{
	return param->type == PARAM_SETTING && param->help == NULL ? setting_find(param->path, NULL)->help : param->help;
}

static json_t *members_schema(const struct param *members)
{
	json_t *properties = json_object(), *schema;

	for (const struct param *p = members; p->name != NULL; p++) {
		schema = param_schema(p);
		json_object_set_new(schema, "description", json_string(param_help(p)));
		json_object_set_new(properties, p->name, schema);
	}
	return json_pack("{s:s,s:o,s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

static json_t *param_schema(const struct param *param)
{
	json_t *schema = NULL, *items;

	switch (param->type) {
	case PARAM_TEXT:
		schema = typed("string");
		set_range(schema, "minLength", "maxLength", param->min, param->max);
		if (param->choices != NULL)
			json_object_set_new(schema, "enum", texts(param->choices));
		return schema;
	case PARAM_INT:
		schema = typed("integer");
		set_range(schema, "minimum", "maximum", param->min, param->clamp ? INT64_MAX : param->max);
		return schema;
	case PARAM_BOOL:
		return typed("boolean");
	case PARAM_TEXT_OR_TRUE:
		schema = typed("string|boolean");
		set_range(schema, "minLength", "maxLength", param->min, param->max);
		return schema;
	case PARAM_OBJECT:
		return members_schema(param->members);
	case PARAM_IDS:
	case PARAM_TEXTS:
		items = typed(param->type == PARAM_IDS ? "integer" : "string");
		if (param->choices != NULL)
			json_object_set_new(items, "enum", texts(param->choices));
		schema = json_pack("{s:s,s:o}", "type", "array", "items", items);
		set_range(schema, "minItems", "maxItems", param->min, param->max);
		return schema;
	case PARAM_PAIRS:
		return json_pack("{s:[o,o]}", "oneOf", json_pack("{s:s,s:o}", "type", "array", "items", typed("string")),
		    json_pack("{s:s,s:o}", "type", "object", "additionalProperties", typed("string")));
	case PARAM_DURATION:
		return typed("integer|string");
	case PARAM_SETTING:
		return setting_schema(setting_find(param->path, NULL));
	case PARAM_TYPES:
		break;
	}
	return json_object();
}

static json_t *error_json(int code)
{
	const struct rpc_error_row *row = rpc_error_find(code);

	return json_pack("{s:i,s:s,s:{s:s,s:b}}", "code", code, "message", row->kind, "data", "kind", row->kind, "retryable", row->retryable);
}

static json_t *method_json(const struct method *method)
{
	json_t *params = json_array(), *properties = json_object(), *errors = json_array(), *schema;

	for (const struct param *p = method->params; p != NULL && p->name != NULL; p++) {
		json_array_append_new(params, json_pack("{s:s,s:s,s:b,s:o}", "name", p->name, "description", param_help(p),
		    "required", p->required, "schema", param_schema(p)));
	}
	for (const struct result_field *r = method->results; r != NULL && r->name != NULL; r++) {
		schema = typed(r->type);
		json_object_set_new(schema, "description", json_string(r->help));
		json_object_set_new(properties, r->name, schema);
	}
	if (method->params != NULL)
		json_array_append_new(errors, error_json(RPC_INVALID_PARAMS));
	for (const int *code = method->errors; code != NULL && *code != 0; code++)
		json_array_append_new(errors, error_json(*code));
	return json_pack("{s:s,s:s,s:s,s:o,s:{s:s,s:{s:s,s:o}},s:o,s:s}", "name", method->name, "summary", method->help,
	    "paramStructure", "either", "params", params, "result", "name", "result", "schema", "type", "object",
	    "properties", properties, "errors", errors, "x-role", access_names[method->access]);
}

json_t *method_discover(method_tables tables, const char *version)
{
	json_t *methods = json_array();

	for (; *tables != NULL; tables++) {
		for (const struct method *m = *tables; m->name != NULL; m++)
			json_array_append_new(methods, method_json(m));
	}
	return json_pack("{s:s,s:{s:s,s:s,s:s},s:o}", "openrpc", "1.3.2", "info", "title", "rld", "version", version, "description",
	    "Runs coding agents and has each result reviewed. JSON-RPC 2.0 on a Unix socket, a document a line or Content-Length frames.",
	    "methods", methods);
}
