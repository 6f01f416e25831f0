/* SPDX-License-Identifier: MIT */
#include "agent/member.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/memory.h"

/* Larger counts, costs and times are impossible, so they are ignored, and sums stay within 64
 * bits. */
#define COUNT_MAX (INT64_C(1) << 45)
#define AMOUNT_MAX 1e9

const json_t *member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

const char *member_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool member_is(const json_t *object, const char *key, const char *value)
{
	const char *text = member_text(object, key);

	return text != NULL && strcmp(text, value) == 0;
}

int64_t member_count(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(object, key);
	json_int_t count = json_integer_value(value);

	return json_is_integer(value) && count >= 0 && count <= COUNT_MAX ? count : otherwise;
}

double member_amount(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	double amount = json_number_value(value);

	return json_is_number(value) && amount >= 0 && amount <= AMOUNT_MAX ? amount : NAN;
}

void member_keep(char **text, const json_t *object, const char *key)
{
	const char *value = member_text(object, key);

	if (value == NULL)
		return;
	free(*text);
	*text = xstrdup(value);
}

int64_t count_sum(int64_t a, int64_t b)
{
	if (a == ROW_NONE || b == ROW_NONE)
		return a == ROW_NONE ? b : a;
	return a + b < COUNT_MAX ? a + b : COUNT_MAX;
}

int64_t count_without(int64_t whole, int64_t part)
{
	if (whole == ROW_NONE || part == ROW_NONE)
		return whole;
	return whole > part ? whole - part : 0;
}

void member_keep_names(char **text, const json_t *object)
{
	struct buf names = { 0 };
	const json_t *value;
	const char *name;

	json_object_foreach((json_t *)object, name, value)
		buf_addf(&names, "%s%s", names.size > 0 ? ", " : "", name);
	if (names.size > 0) {
		free(*text);
		*text = buf_take(&names, NULL);
	}
	buf_release(&names);
}
