/* SPDX-License-Identifier: MIT */
#include "rpc/method.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/memory.h"
#include "proto/units.h"

const struct method *method_find(method_tables tables, const char *name)
{
	for (; *tables != NULL; tables++) {
		for (const struct method *m = *tables; m->name != NULL; m++) {
			if (strcmp(m->name, name) == 0)
				return m;
		}
	}
	return NULL;
}

static bool refuse(struct param_error *error, const char *field, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool refuse(struct param_error *error, const char *field, const char *fmt, ...)
{
	va_list ap;

	snprintf(error->field, sizeof(error->field), "%s", field);
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	return false;
}

static bool has_nul(const json_t *text)
{
	return strlen(json_string_value(text)) != json_string_length(text);
}

static bool is_choice(const char *const *choices, const char *text)
{
	for (; choices != NULL && *choices != NULL; choices++) {
		if (strcmp(*choices, text) == 0)
			return true;
	}
	return choices == NULL;
}

static bool check_choice(const struct param *param, const char *field, const char *text, struct param_error *error)
{
	struct buf b = { 0 };

	if (is_choice(param->choices, text))
		return true;
	for (size_t i = 0; param->choices[i] != NULL; i++)
		buf_addf(&b, "%s%s", i > 0 ? ", " : "", param->choices[i]);
	refuse(error, field, "'%s' must be one of: %s", field, b.data);
	buf_release(&b);
	return false;
}

static bool check_text(const struct param *param, const char *field, const json_t *value, struct param_error *error)
{
	size_t size = json_string_length(value);

	if (!json_is_string(value))
		return refuse(error, field, "'%s' must be a string", field);
	if (has_nul(value))
		return refuse(error, field, "'%s' must not contain a NUL character", field);
	if (size < (size_t)param->min)
		return refuse(error, field, "'%s' must not be empty", field);
	if (size > (size_t)param->max)
		return refuse(error, field, "'%s' must not be longer than %" PRId64 " bytes, is %zu", field, param->max, size);
	return check_choice(param, field, json_string_value(value), error);
}

static bool check_int(const struct param *param, const char *field, json_t *value, struct param_error *error)
{
	if (!json_is_integer(value))
		return refuse(error, field, "'%s' must be an integer", field);
	if (param->clamp && json_integer_value(value) > param->max)
		json_integer_set(value, param->max);
	if (json_integer_value(value) >= param->min && json_integer_value(value) <= param->max)
		return true;
	if (param->max == INT64_MAX)
		return refuse(error, field, "'%s' must be at least %" PRId64 ", is %" JSON_INTEGER_FORMAT, field, param->min, json_integer_value(value));
	return refuse(error, field, "'%s' must be from %" PRId64 " to %" PRId64 ", is %" JSON_INTEGER_FORMAT, field, param->min, param->max,
	    json_integer_value(value));
}

static bool check_duration(const char *field, const json_t *value, struct param_error *error)
{
	int64_t ms;

	if (json_is_integer(value) && json_integer_value(value) >= 0)
		return true;
	if (json_is_string(value) && !has_nul(value) && duration_parse(json_string_value(value), &ms) == 0)
		return true;
	return refuse(error, field, "'%s' must be seconds, or a duration such as \"90s\", \"15m\", \"2h\" or \"1d\"", field);
}

static bool check_array(const struct param *param, const char *field, json_t *value, struct param_error *error)
{
	json_t *item;
	size_t i;

	if (!json_is_array(value))
		return refuse(error, field, "'%s' must be an array", field);
	if (json_array_size(value) < (size_t)param->min || json_array_size(value) > (size_t)param->max)
		return refuse(error, field, "'%s' must have from %" PRId64 " to %" PRId64 " items, has %zu", field, param->min, param->max,
		    json_array_size(value));
	json_array_foreach(value, i, item) {
		if (param->type == PARAM_IDS) {
			if (!json_is_integer(item) || json_integer_value(item) < 1)
				return refuse(error, field, "'%s' must be an array of ids, integers from 1 on", field);
		} else {
			if (!json_is_string(item) || has_nul(item))
				return refuse(error, field, "'%s' must be an array of strings without NUL characters", field);
			if (!check_choice(param, field, json_string_value(item), error))
				return false;
		}
	}
	return true;
}

/* What may stand before the "=": a variable's name that a shell could set. */
static bool check_pair(const char *field, const char *name, size_t size, struct param_error *error)
{
	static const char head[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	if (size == 0 || memchr(name, '=', size) != NULL)
		return refuse(error, field, "'%s' must have the form NAME=VALUE, with a name", field);
	if (strchr(head, name[0]) == NULL)
		return refuse(error, field, "'%s': a variable's name begins with a letter or '_'", field);
	return true;
}

static bool check_pairs(const struct param *param, const char *field, json_t *value, struct param_error *error)
{
	const char *name;
	json_t *item;
	size_t i;

	if (!json_is_object(value) && !json_is_array(value))
		return refuse(error, field, "'%s' must be an object of strings, or an array of \"NAME=VALUE\"", field);
	if (json_object_size(value) + json_array_size(value) > (size_t)param->max)
		return refuse(error, field, "'%s' must have at most %" PRId64 " entries", field, param->max);
	json_array_foreach(value, i, item) {
		const char *text = json_string_value(item);

		if (text == NULL || has_nul(item) || strchr(text, '=') == NULL)
			return refuse(error, field, "'%s' must be an array of \"NAME=VALUE\" without NUL characters", field);
		if (!check_pair(field, text, strcspn(text, "="), error))
			return false;
	}
	json_object_foreach(value, name, item) {
		if (!json_is_string(item) || has_nul(item))
			return refuse(error, field, "'%s' must be an object of strings without NUL characters", field);
		if (!check_pair(field, name, strlen(name), error))
			return false;
	}
	return true;
}

static bool check_members(const struct param *params, const char *prefix, json_t *object, struct param_error *error);

static bool check(const struct param *param, const char *field, json_t *value, struct param_error *error)
{
	switch (param->type) {
	case PARAM_TEXT:
		return check_text(param, field, value, error);
	case PARAM_INT:
		return check_int(param, field, value, error);
	case PARAM_BOOL:
		return json_is_boolean(value) || refuse(error, field, "'%s' must be true or false", field);
	case PARAM_TEXT_OR_TRUE:
		if (!json_is_string(value))
			return json_is_true(value) || refuse(error, field, "'%s' must be a string or true", field);
		return check_text(param, field, value, error);
	case PARAM_OBJECT:
		if (!json_is_object(value))
			return refuse(error, field, "'%s' must be an object", field);
		return check_members(param->members, field, value, error);
	case PARAM_IDS:
	case PARAM_TEXTS:
		return check_array(param, field, value, error);
	case PARAM_PAIRS:
		return check_pairs(param, field, value, error);
	case PARAM_DURATION:
		return check_duration(field, value, error);
	case PARAM_SETTING:
		return true;
	case PARAM_TYPES:
		break;
	}
	return refuse(error, field, "'%s' cannot be checked", field);
}

static const struct param *param_find(const struct param *params, const char *name)
{
	for (; params != NULL && params->name != NULL; params++) {
		if (strcmp(params->name, name) == 0)
			return params;
	}
	return NULL;
}

/* null means: not given. */
static bool check_members(const struct param *params, const char *prefix, json_t *object, struct param_error *error)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		const struct param *param = param_find(params, name);
		char field[sizeof(error->field)];

		snprintf(field, sizeof(field), "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
		if (param == NULL)
			return refuse(error, field, "'%.80s' is not a parameter of this method", field);
		if (json_is_null(value))
			json_object_del(object, name);
		else if (!check(param, field, value, error))
			return false;
	}
	for (const struct param *p = params; p != NULL && p->name != NULL; p++) {
		if (p->required && json_object_get(object, p->name) == NULL)
			return refuse(error, p->name, "'%s' is missing", p->name);
	}
	return true;
}

json_t *method_bind(const struct method *method, json_t *params, struct param_error *error)
{
	const struct param *param = method->params;
	json_t *object, *value;
	size_t i;

	if (params == NULL || json_is_null(params)) {
		object = json_object();
	} else if (json_is_object(params)) {
		object = json_deep_copy(params);
	} else {
		object = json_object();
		json_array_foreach(params, i, value) {
			if (param == NULL || param->name == NULL) {
				snprintf(error->field, sizeof(error->field), "%zu", i);
				snprintf(error->text, sizeof(error->text), "there are more parameters than this method has");
				json_decref(object);
				return NULL;
			}
			json_object_set_new(object, param->name, json_deep_copy(value));
			param++;
		}
	}
	if (check_members(method->params, "", object, error))
		return object;
	json_decref(object);
	return NULL;
}
