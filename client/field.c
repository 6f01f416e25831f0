/* SPDX-License-Identifier: MIT */
#include "client/field.h"

#include <math.h>
#include <string.h>

#include "proto/memory.h"
#include "proto/units.h"

const char *field_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text == NULL ? "" : text;
}

int64_t field_int(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : FIELD_NONE;
}

long long field_count(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

double field_real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool field_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Value of a name; 0 if missing, other if unknown. */
static int kind_of(const json_t *object, const char *key, const struct state_names *names, int other)
{
	const char *name = field_text(object, key);
	int kind = state_value(names, name);

	return *name == '\0' ? 0 : kind == -1 ? other : kind;
}

enum end_kind field_end_kind(const json_t *object)
{
	return (enum end_kind)kind_of(object, "end_kind", &end_kind_names, END_ERROR);
}

enum wait_kind field_wait_kind(const json_t *object)
{
	return (enum wait_kind)kind_of(object, "wait_kind", &wait_kind_names, WAIT_OTHER);
}

int64_t field_time(const json_t *object, const char *key)
{
	int64_t ms;

	return time_parse(field_text(object, key), &ms) == 0 ? ms : FIELD_NONE;
}

const json_t *field_array(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_array(value) ? value : NULL;
}

bool field_is(const json_t *object, const char *key, const char *text)
{
	return strcmp(field_text(object, key), text) == 0;
}

const char *field_either(const json_t *object, const char *key, const char *other)
{
	const char *text = field_text(object, key);

	return *text != '\0' ? text : field_text(object, other);
}

const json_t *field_find(const json_t *array, const char *key, int64_t number)
{
	for (size_t i = json_array_size(array); i-- > 0;)
		if (field_int(json_array_get(array, i), key) == number)
			return json_array_get(array, i);
	return NULL;
}

bool field_has(const json_t *array, const char *word)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *item = json_string_value(json_array_get(array, i));

		if (item != NULL && strcmp(item, word) == 0)
			return true;
	}
	return false;
}

char *field_joined(const json_t *array)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(array); i++) {
		buf_separate(&text, ", ");
		buf_adds(&text, json_string_value(json_array_get(array, i)));
	}
	return buf_take(&text, NULL);
}
