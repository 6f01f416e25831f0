/* SPDX-License-Identifier: MIT */
#include "client/field.h"

#include <math.h>

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

double field_real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

bool field_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
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
