/* SPDX-License-Identifier: MIT */
#include "proto/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/units.h"

#define SECOND INT64_C(1000)
#define DURATION_FORM "a duration like 90, \"90s\", \"2h\" or \"30d\""
#define SIZE_FORM "a size like 4096, \"64K\", \"64M\" or \"1G\""

bool schema_refuse(struct schema_error *error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, ap);
	va_end(ap);
	return false;
}

static const char *object_name(const struct schema_error *error)
{
	return error->object != NULL ? error->object : "an object";
}

static const char *type_name(const json_t *value, const struct schema_error *error)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return object_name(error);
	case JSON_ARRAY: return "an array";
	case JSON_STRING: return "a string";
	case JSON_INTEGER: return "an integer";
	case JSON_REAL: return "a fraction";
	case JSON_TRUE:
	case JSON_FALSE: return "a boolean";
	case JSON_NULL: return "null";
	}
	abort();
}

static bool refuse_type(struct schema_error *error, const char *wanted, const json_t *value)
{
	return schema_refuse(error, "must be %s, is %s", wanted, type_name(value, error));
}

static bool has_nul(const json_t *text)
{
	return strlen(json_string_value(text)) != json_string_length(text);
}

/* The error is about one item of a list. */
static bool refuse_item(struct schema_error *error, size_t number)
{
	char text[sizeof(error->text)];

	memcpy(text, error->text, sizeof(text));
	if (error->field[0] != '\0')
		schema_refuse(error, "(item %zu) '%s' %.320s", number, error->field, text);
	else
		schema_refuse(error, "(item %zu) %.460s", number, text);
	error->field[0] = '\0';
	return false;
}

static bool check_int(const struct schema *s, json_t *value, struct schema_error *error)
{
	int64_t number = json_integer_value(value);

	if (!json_is_integer(value))
		return refuse_type(error, "an integer", value);
	if (s->clamp && number > s->max) {
		json_integer_set(value, s->max);
		return true;
	}
	if (number >= s->min && number <= s->max)
		return true;
	if (s->max == INT64_MAX)
		return schema_refuse(error, "must be at least %" PRId64 ", is %" PRId64, s->min, number);
	return schema_refuse(error, "must be from %" PRId64 " to %" PRId64 ", is %" PRId64, s->min, s->max, number);
}

static bool check_money(const struct schema *s, const json_t *value, struct schema_error *error)
{
	double amount = json_number_value(value), min = (double)s->min / 100;

	if (!json_is_number(value))
		return refuse_type(error, "an amount like 5 or 2.50", value);
	if (isfinite(amount) && amount >= min && amount <= (double)s->max)
		return true;
	return schema_refuse(error, "must be an amount from %g to %" PRId64, min, s->max);
}

int schema_number(const struct schema *s, const json_t *value, int64_t *number)
{
	int64_t unit = s->kind == SCHEMA_DURATION ? SECOND : 1;

	if (json_is_string(value) && !has_nul(value))
		return s->kind == SCHEMA_DURATION ? duration_parse(json_string_value(value), number)
		                                  : size_parse(json_string_value(value), number);
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -EINVAL;
	if (json_integer_value(value) > INT64_MAX / unit)
		return -ERANGE;
	*number = json_integer_value(value) * unit;
	return 0;
}

static bool check_measure(const struct schema *s, const json_t *value, struct schema_error *error)
{
	bool duration = s->kind == SCHEMA_DURATION;
	const char *form = duration ? DURATION_FORM : SIZE_FORM, *what = duration ? "a duration" : "a size";
	char min[32], max[32];
	int64_t number;
	int rv;

	if (!json_is_string(value) && !json_is_integer(value))
		return refuse_type(error, form, value);
	rv = schema_number(s, value, &number);
	if (rv == -EINVAL)
		return schema_refuse(error, "must be %s", form);
	if (rv == 0 && number >= s->min && number <= s->max)
		return true;
	(duration ? duration_format : size_format)(s->min, min, sizeof(min));
	(duration ? duration_format : size_format)(s->max, max, sizeof(max));
	if (s->min <= 0)
		return schema_refuse(error, "must be %s of at most %s", what, max);
	return schema_refuse(error, "must be %s from %s to %s", what, min, max);
}

static bool check_choice(const struct schema *s, const json_t *value, struct schema_error *error)
{
	size_t n;

	if (s->choices == NULL)
		return true;
	if (json_is_string(value) && !has_nul(value) && state_value(s->choices, json_string_value(value)) != -1)
		return true;
	schema_refuse(error, "must be one of ");
	for (size_t i = 0; i < s->choices->count; i++) {
		n = strlen(error->text);
		snprintf(error->text + n, sizeof(error->text) - n, "%s\"%s\"", i == 0 ? "" : ", ",
		    s->choices->names[i]);
	}
	return false;
}

static bool check_text(const struct schema *s, const json_t *value, int64_t max, struct schema_error *error)
{
	if (!json_is_string(value))
		return refuse_type(error, s->rule != NULL ? s->rule->what : "a string", value);
	if (has_nul(value))
		return schema_refuse(error, "must not contain a NUL character");
	if (max > 0 && json_string_length(value) > (size_t)max)
		return schema_refuse(error, "must not be longer than %" PRId64 " bytes, is %zu",
		    max, json_string_length(value));
	if (s->rule != NULL && !s->rule->fits(json_string_value(value), error))
		return false;
	return check_choice(s, value, error);
}

static bool check_whole_text(const struct schema *s, const json_t *value, struct schema_error *error)
{
	if (json_is_string(value) && json_string_length(value) < (size_t)s->min)
		return schema_refuse(error, "must not be empty");
	return check_text(s, value, s->max, error);
}

static bool check_object(const struct schema *s, json_t *value, struct schema_error *error)
{
	if (!json_is_object(value))
		return refuse_type(error, s->rule != NULL ? s->rule->what : object_name(error), value);
	return schema_check_members(s->members, value, error);
}

static bool check_item(const struct schema *s, json_t *item, struct schema_error *error)
{
	if (s->kind == SCHEMA_OBJECTS)
		return check_object(s, item, error);
	if (s->kind != SCHEMA_IDS)
		return check_text(s, item, s->bytes, error);
	return (json_is_integer(item) && json_integer_value(item) > 0) ||
	    refuse_type(error, "an id, an integer from 1 up", item);
}

static bool check_list(const struct schema *s, json_t *value, struct schema_error *error)
{
	const char *items = s->kind == SCHEMA_IDS ? "ids" : s->rule != NULL ? s->rule->list :
	    s->kind == SCHEMA_OBJECTS ? "objects" : "strings";
	size_t size = json_array_size(value), i;
	char wanted[96];
	json_t *item;

	if (!json_is_array(value)) {
		snprintf(wanted, sizeof(wanted), "an array of %s", items);
		return refuse_type(error, wanted, value);
	}
	if (s->max > 0 && (size < (size_t)s->min || size > (size_t)s->max))
		return schema_refuse(error,
		    "must have from %" PRId64 " to %" PRId64 " items, has %zu", s->min, s->max,
		    size);
	json_array_foreach(value, i, item) {
		if (!check_item(s, item, error))
			return refuse_item(error, i + 1);
	}
	if (s->kind == SCHEMA_ARGV &&
	    (size < (size_t)s->min ||
	        (size > 0 && json_string_length(json_array_get(value, 0)) == 0)))
		return schema_refuse(error,
		    s->min > 0 ? "must begin with the program to start"
		               : "must not begin with an empty word");
	return true;
}

static bool check_map(const struct schema *s, json_t *value, struct schema_error *error)
{
	const char *name;
	json_t *item;

	if (!json_is_object(value))
		return schema_refuse(error, "must be %s of strings, is %s", object_name(error),
		    type_name(value, error));
	if (s->max > 0 && json_object_size(value) > (size_t)s->max)
		return schema_refuse(error, "must have at most %" PRId64 " members, has %zu", s->max,
		    json_object_size(value));
	json_object_foreach(value, name, item) {
		if (s->rule != NULL && !s->rule->fits(name, error))
			return false;
		if (!json_is_string(item))
			return schema_refuse(error, "must contain strings, but '%s' is %s", name,
			    type_name(item, error));
		if (s->bytes > 0 && json_string_length(item) > (size_t)s->bytes)
			return schema_refuse(error,
			    "must contain strings of at most %" PRId64 " bytes, but '%s' has %zu", s->bytes, name,
			    json_string_length(item));
		if (has_nul(item))
			return schema_refuse(error,
			    "must not contain a NUL character, but '%s' does", name);
	}
	return true;
}

/* What may precede the "=": a variable name that is valid in a shell. */
static bool check_pair(const char *name, size_t size, struct schema_error *error)
{
	static const char head[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	if (size == 0 || memchr(name, '=', size) != NULL)
		return schema_refuse(error, "must have the form NAME=VALUE, with a name");
	if (strchr(head, name[0]) == NULL)
		return schema_refuse(error,
		    "must have variable names that begin with a letter or '_'");
	return true;
}

static bool check_pairs(const struct schema *s, json_t *value, struct schema_error *error)
{
	const char *name;
	json_t *item;
	size_t i;

	if (!json_is_object(value) && !json_is_array(value))
		return refuse_type(error, "an object of strings, or an array of \"NAME=VALUE\"", value);
	if (json_object_size(value) + json_array_size(value) > (size_t)s->max)
		return schema_refuse(error, "must have at most %" PRId64 " entries", s->max);
	json_array_foreach(value, i, item) {
		const char *text = json_string_value(item);

		if (text == NULL || has_nul(item) || strchr(text, '=') == NULL)
			return schema_refuse(error, "must be an array of \"NAME=VALUE\" without NUL characters");
		if (!check_pair(text, strcspn(text, "="), error))
			return false;
	}
	json_object_foreach(value, name, item) {
		if (!json_is_string(item) || has_nul(item))
			return schema_refuse(error, "must be an object of strings without NUL characters");
		if (!check_pair(name, strlen(name), error))
			return false;
	}
	return true;
}

bool schema_check(const struct schema *s, json_t *value, struct schema_error *error)
{
	switch (s->kind) {
	case SCHEMA_ANY:
		return true;
	case SCHEMA_BOOL:
		return json_is_boolean(value) || refuse_type(error, "true or false", value);
	case SCHEMA_INT:
		return check_int(s, value, error);
	case SCHEMA_MONEY:
		return check_money(s, value, error);
	case SCHEMA_DURATION:
	case SCHEMA_SIZE:
		return check_measure(s, value, error);
	case SCHEMA_TEXT:
		return check_whole_text(s, value, error);
	case SCHEMA_TEXT_OR_TRUE:
		if (!json_is_string(value))
			return json_is_true(value) || refuse_type(error, "a string or true", value);
		return check_whole_text(s, value, error);
	case SCHEMA_TEXT_OR_INT:
		return json_is_integer(value) ? check_int(s, value, error) : check_text(s, value, 0, error);
	case SCHEMA_CHOICE:
		return check_choice(s, value, error);
	case SCHEMA_TEXTS:
	case SCHEMA_ARGV:
	case SCHEMA_IDS:
	case SCHEMA_OBJECTS:
		return check_list(s, value, error);
	case SCHEMA_PAIRS:
		return check_pairs(s, value, error);
	case SCHEMA_MAP:
		return check_map(s, value, error);
	case SCHEMA_OBJECT:
		return check_object(s, value, error);
	case SCHEMA_KINDS:
		break;
	}
	abort();
}

static const struct schema *member_find(const struct schema *members, const char *name)
{
	for (; members != NULL && members->name != NULL; members++) {
		if (strcmp(members->name, name) == 0)
			return members;
	}
	return NULL;
}

/* Prefix the field of the error with the name of the member at fault. */
static bool refuse_member(struct schema_error *error, const char *name)
{
	char inner[sizeof(error->field)];

	memcpy(inner, error->field, sizeof(inner));
	snprintf(error->field, sizeof(error->field), "%.60s%s%.60s", name, inner[0] != '\0' ? "." : "", inner);
	return false;
}

bool schema_check_members(const struct schema *members, json_t *object, struct schema_error *error)
{
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		const struct schema *member = member_find(members, name);

		if (member == NULL) {
			schema_refuse(error, "%s", error->unknown != NULL ? error->unknown : "is unknown");
			return refuse_member(error, name);
		}
		if (json_is_null(value))
			json_object_del(object, name);
		else if (!schema_check(member, value, error))
			return refuse_member(error, name);
	}
	for (const struct schema *m = members; m != NULL && m->name != NULL; m++) {
		if (m->required && json_object_get(object, m->name) == NULL) {
			schema_refuse(error, "is missing");
			return refuse_member(error, m->name);
		}
	}
	return true;
}

/* Only digits and one dot: no sign, no exponent, no decimal comma. */
static bool is_amount(const char *word)
{
	size_t whole = strspn(word, "0123456789"), cents = 0;

	if (word[whole] == '.' && (cents = strspn(word + whole + 1, "0123456789")) == 0)
		return false;
	return whole > 0 && word[whole + (cents > 0 ? cents + 1 : 0)] == '\0' && strlen(word) < 20;
}

static json_t *read_int(const char *word, struct schema_error *error)
{
	long long number;
	char *end;

	errno = 0;
	number = strtoll(word, &end, 10);
	if (end != word && *end == '\0' && errno == 0)
		return json_integer(number);
	schema_refuse(error, "must be an integer");
	return NULL;
}

static json_t *read_word(const struct schema *s, const char *word, struct schema_error *error)
{
	json_t *text;

	if (s->kind == SCHEMA_INT)
		return read_int(word, error);
	if (s->kind == SCHEMA_MONEY && is_amount(word + (*word == '$')))
		return json_real(strtod(word + (*word == '$'), NULL));
	if (s->kind == SCHEMA_MONEY)
		schema_refuse(error, "must be an amount in US dollars such as 5 or 2.50");
	else if ((text = json_string(word)) != NULL)
		return text;
	else
		schema_refuse(error, "must be UTF-8 text");
	return NULL;
}

json_t *schema_read(const struct schema *s, const char *word, struct schema_error *error)
{
	json_t *value = read_word(s, word, error);

	if (value == NULL || schema_check(s, value, error))
		return value;
	json_decref(value);
	return NULL;
}
