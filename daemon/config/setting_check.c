/* SPDX-License-Identifier: MIT */
#include "config/setting.h"

#include <inttypes.h>
#include <stdlib.h>

#include "proto/memory.h"

#define SECOND INT64_C(1000)

char *setting_refuse(const struct setting *setting, json_t *value)
{
	struct schema_error error = { .object = "a table" };

	if (schema_check(&setting->is, value, &error))
		return NULL;
	return xasprintf("%s%s%s%s", error.field[0] != '\0' ? "'" : "", error.field,
	    error.field[0] != '\0' ? "' " : "", error.text);
}

int64_t setting_number(const struct setting *setting, const json_t *value)
{
	int64_t number = 0;

	if (setting->is.kind == SCHEMA_BOOL)
		return json_is_true(value);
	if (setting->is.kind == SCHEMA_INT)
		return json_integer_value(value);
	if (setting->is.kind == SCHEMA_CHOICE)
		return state_value(setting->is.choices, json_string_value(value));
	if ((setting->is.kind != SCHEMA_DURATION && setting->is.kind != SCHEMA_SIZE) ||
	    schema_number(&setting->is, value, &number) != 0)
		abort();
	return number;
}

double setting_money(const json_t *value)
{
	return json_number_value(value);
}

json_t *setting_json(const struct setting *setting, int64_t number)
{
	static const struct { int64_t ms; const char *unit; } units[] = { { 3600 * SECOND, "h" },
	    { 60 * SECOND, "m" }, { SECOND, "s" } };

	if (setting->is.kind == SCHEMA_BOOL)
		return json_boolean(number != 0);
	if (setting->is.kind == SCHEMA_CHOICE)
		return json_string(state_name(setting->is.choices, (int)number));
	for (size_t i = 0; setting->is.kind == SCHEMA_DURATION && i < sizeof(units) / sizeof(units[0]); i++) {
		if (number != 0 && number % units[i].ms == 0)
			return json_sprintf("%" PRId64 "%s", number / units[i].ms, units[i].unit);
	}
	return json_integer(number);
}
