/* SPDX-License-Identifier: MIT */
#include "rpc/result.h"

#include <assert.h>
#include <string.h>

#include "core/row.h"
#include "proto/schema_json.h"

static json_t *read_type(const char **at);

/* {"type": "array", "items": ...}; *at stands behind the bracket. */
static json_t *read_inner(const char **at, const char *type, const char *key, char end)
{
	json_t *inner = read_type(at);

	assert(**at == end);
	(*at)++;
	return json_pack("{s:s,s:o}", "type", type, key, inner);
}

static json_t *read_word(const char **at)
{
	size_t size = strcspn(*at, "|]}?");
	const char *word = *at;

	*at += size;
	if (word[0] == '\'')
		return json_pack("{s:s,s:[o]}", "type", "string", "enum", json_stringn(word + 1, size - 2));
	if (size == 4 && strncmp(word, "time", size) == 0)
		return json_pack("{s:s,s:s}", "type", "string", "format", "date-time");
	if (word[0] >= 'A' && word[0] <= 'Z')
		return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%.*s", (int)size, word));
	return json_pack("{s:o}", "type", json_stringn(word, size));
}

static json_t *read_one(const char **at)
{
	switch (**at) {
	case '[':
		(*at)++;
		return read_inner(at, "array", "items", ']');
	case '{':
		(*at)++;
		return read_inner(at, "object", "additionalProperties", '}');
	default:
		return read_word(at);
	}
}

/* Two literals become one enum, two simple types {"type": ["string", "null"]}. */
static json_t *join(json_t *one, json_t *other)
{
	json_t *type = json_object_get(one, "type"), *more = json_object_get(other, "type");

	if (json_object_get(one, "enum") != NULL && json_object_get(other, "enum") != NULL) {
		json_array_extend(json_object_get(one, "enum"), json_object_get(other, "enum"));
		json_decref(other);
		return one;
	}
	if (type == NULL || more == NULL || json_object_size(other) != 1 ||
	    json_object_get(one, "enum") != NULL)
		return json_pack("{s:[o,o]}", "anyOf", one, other);
	if (json_is_array(type))
		json_array_append(type, more);
	else
		json_object_set_new(one, "type", json_pack("[O,O]", type, more));
	json_decref(other);
	return one;
}

/* *at stands behind it afterwards: at the end, or at the bracket of what it is in. */
static json_t *read_type(const char **at)
{
	json_t *json = read_one(at);

	while (**at == '|') {
		(*at)++;
		json = join(json, read_one(at));
	}
	return json;
}

static json_t *enum_schema(const struct result_enum *values)
{
	json_t *json = json_pack("{s:s,s:[],s:s}", "type", "string", "enum", "description", values->help);

	for (size_t i = 0; i < values->names->count; i++) {
		if (values->names->names[i] != NULL)
			json_array_append_new(json_object_get(json, "enum"), json_string(values->names->names[i]));
	}
	return json;
}

static const char *enum_name(const struct state_names *names)
{
	const struct result_enum *values = result_enums;

	while (values->names != names)
		values++;
	return values->name;
}

static const struct result_field *type_fields(const char *name)
{
	const struct result_type *type = result_types;

	while (strcmp(type->name, name) != 0)
		type++;
	return type->fields;
}

/* The later description of a member counts. */
static void add_member(json_t *json, const char *name, const char *type, const char *help)
{
	json_t *properties = json_object_get(json, "properties"), *schema = read_type(&type);

	if (*type != '?' && json_object_get(properties, name) == NULL)
		json_array_append_new(json_object_get(json, "required"), json_string(name));
	assert(type[*type == '?'] == '\0');
	json_object_set_new(schema, "description", json_string(help));
	schema_mark(schema, help);
	json_object_set_new(properties, name, schema);
}

static void add_columns(json_t *json, const char *name)
{
	static const char *const types[] = {
		[FIELD_INT] = "integer", [FIELD_TIME] = "time", [FIELD_REAL] = "number",
		[FIELD_TEXT] = "string", [FIELD_JSON] = NULL, [FIELD_STATE] = NULL,
	};
	const struct row_type *row = row_types;

	while (strcmp(row->name, name) != 0)
		row++;
	for (const struct field *f = row->fields; f < row->fields + row->nfields; f++) {
		char type[80];

		if (f->help == NULL)
			continue;
		strlcpy(type, f->flag ? "boolean" : f->kind == FIELD_JSON ? f->json :
		    f->kind == FIELD_STATE ? enum_name(f->names) : types[f->kind], sizeof(type));
		if (f->null)
			strlcat(type, "|null", sizeof(type));
		add_member(json, field_shown(f), type, f->help);
	}
}

static bool is_type(const struct result_field *field)
{
	return strcmp(field->name, "*") == 0 && field->type[0] >= 'A' && field->type[0] <= 'Z';
}

static void add_fields(json_t *json, const struct result_field *fields)
{
	for (const struct result_field *f = fields; f != NULL && f->name != NULL; f++) {
		if (is_type(f))
			add_fields(json, type_fields(f->type));
		else if (strcmp(f->name, "*") == 0)
			add_columns(json, f->type);
		else
			add_member(json, f->name, f->type, f->help);
	}
}

json_t *result_schema(const struct result_field *fields)
{
	json_t *json;

	if (fields != NULL && fields[0].name != NULL && is_type(fields) && fields[1].name == NULL)
		return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", fields[0].type));
	json = json_pack("{s:s,s:{},s:[],s:b}", "type", "object", "properties", "required",
	    "additionalProperties", 0);
	add_fields(json, fields);
	return json;
}

json_t *result_components(void)
{
	json_t *json = json_object();

	for (const struct result_enum *values = result_enums; values->name != NULL; values++)
		json_object_set_new(json, values->name, enum_schema(values));
	for (const struct result_type *type = result_types; type->name != NULL; type++) {
		json_t *schema = result_schema(type->fields);

		json_object_set_new(schema, "description", json_string(type->help));
		json_object_set_new(json, type->name, schema);
	}
	return json;
}
