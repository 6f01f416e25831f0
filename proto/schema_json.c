/* SPDX-License-Identifier: MIT */
#include "proto/schema_json.h"

#include <string.h>

/* Turns "string|null" into {"type": ["string", "null"]}. */
static json_t *typed_json(const char *type)
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

static json_t *value_json(const struct schema *schema, schema_of_setting *of, bool lengths);

void schema_mark(json_t *json, const char *help)
{
	static const char mark[] = "deprecated: ";

	if (help != NULL && strncmp(help, mark, strlen(mark)) == 0)
		json_object_set_new(json, "deprecated", json_true());
}

const char *schema_help(const struct schema *schema, schema_of_setting *of)
{
	return schema->help == NULL && schema->path != NULL ? of(schema->path)->help : schema->help;
}

static json_t *members_json(const struct schema *members, schema_of_setting *of, bool lengths)
{
	json_t *properties = json_object(), *required = json_array(), *json;

	for (const struct schema *m = members; m->name != NULL; m++) {
		json_object_set_new(properties, m->name, json = value_json(m, of, lengths));
		if (schema_help(m, of) != NULL)
			json_object_set_new(json, "description", json_string(schema_help(m, of)));
		schema_mark(json, schema_help(m, of));
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
	return json_pack("{s:s,s:o}", "type", "object", "additionalProperties", typed_json("string"));
}

/* lengths: include those of texts. */
static json_t *value_json(const struct schema *schema, schema_of_setting *of, bool lengths)
{
	json_t *json;

	switch (schema->kind) {
	case SCHEMA_ANY:
		return value_json(of(schema->path), of, false);
	case SCHEMA_BOOL:
		return typed_json("boolean");
	case SCHEMA_INT:
		json = typed_json("integer");
		set_range(json, "minimum", "maximum", schema->min, schema->clamp ? INT64_MAX : schema->max);
		return json;
	case SCHEMA_MONEY:
		json = typed_json("number");
		json_object_set_new(json, "minimum", json_real((double)schema->min / 100));
		json_object_set_new(json, "maximum", json_integer(schema->max));
		return json;
	case SCHEMA_DURATION:
	case SCHEMA_SIZE:
	case SCHEMA_TEXT_OR_INT:
		return typed_json("integer|string");
	case SCHEMA_TEXT:
	case SCHEMA_TEXT_OR_TRUE:
	case SCHEMA_CHOICE:
		json = typed_json(schema->kind == SCHEMA_TEXT_OR_TRUE ? "string|boolean" : "string");
		if (lengths && schema->max > 0)
			set_range(json, "minLength", "maxLength", schema->min, schema->max);
		set_choices(json, schema);
		return json;
	case SCHEMA_IDS:
		return list_json(schema, typed_json("integer"));
	case SCHEMA_TEXTS:
	case SCHEMA_ARGV:
		return list_json(schema, typed_json("string"));
	case SCHEMA_OBJECTS:
		return list_json(schema, members_json(schema->members, of, false));
	case SCHEMA_PAIRS:
		return json_pack("{s:[o,o]}", "oneOf", list_json(&(struct schema){ .kind = SCHEMA_TEXTS },
		    typed_json("string")), map_json());
	case SCHEMA_MAP:
		return map_json();
	case SCHEMA_OBJECT:
		return members_json(schema->members, of, lengths);
	case SCHEMA_KINDS:
		break;
	}
	return json_object();
}

json_t *schema_json(const struct schema *schema, schema_of_setting *of)
{
	return value_json(schema, of, true);
}
