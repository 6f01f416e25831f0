/* SPDX-License-Identifier: MIT */
#include "model/row_json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/units.h"

json_t *json_text(const char *text)
{
	size_t size = text == NULL ? 0 : strlen(text), n;
	struct buf b = { 0 };
	json_t *json;

	if (text == NULL)
		return json_null();
	if (text_is_utf8(text, size))
		return json_stringn_nocheck(text, size);
	for (size_t i = 0; i < size; i += n) {
		for (n = 1; n <= 4 && i + n <= size; n++) {
			if (text_is_utf8(text + i, n))
				break;
		}
		if (n > 4 || i + n > size) {
			buf_adds(&b, "\xef\xbf\xbd");
			n = 1;
		} else {
			buf_add(&b, text + i, n);
		}
	}
	json = json_stringn_nocheck(b.data, b.size);
	buf_release(&b);
	return json;
}

json_t *json_int(int64_t value)
{
	return value == ROW_NONE ? json_null() : json_integer(value);
}

json_t *json_time(int64_t ms)
{
	char text[40];

	if (ms == ROW_NONE)
		return json_null();
	time_format(ms, text, sizeof(text));
	return json_string(text);
}

json_t *json_document(const char *text, json_t *fallback)
{
	json_t *json = text == NULL ? NULL : json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (json == NULL)
		return fallback;
	json_decref(fallback);
	return json;
}

static json_t *json_field(const struct field *field, const void *row)
{
	const char *at = (const char *)row + field->offset;

	switch (field->kind) {
	case FIELD_INT:
		if (field->flag)
			return json_boolean(*(const int64_t *)(const void *)at == 1);
		return json_int(*(const int64_t *)(const void *)at);
	case FIELD_TIME:
		return json_time(*(const int64_t *)(const void *)at);
	case FIELD_REAL:
		return isnan(*(const double *)(const void *)at) ? json_null() :
		    json_real(*(const double *)(const void *)at);
	case FIELD_TEXT:
		return json_text(*(char *const *)(const void *)at);
	case FIELD_JSON:
		return json_document(*(char *const *)(const void *)at, json_null());
	case FIELD_STATE:
		return json_text(state_name(field->names, *(const int *)(const void *)at));
	}
	abort();
}

static json_t *known(const struct state_names *names, int value, int unknown)
{
	return value == unknown ? json_null() : json_string(state_name(names, value));
}

void json_results(json_t *json, const struct attempt_row *a)
{
	json_object_set_new(json, "process", known(&process_result_names, a->process, PROCESS_NONE));
	json_object_set_new(json, "provider", known(&provider_result_names, a->provider, PROVIDER_NONE));
	json_object_set_new(json, "outcome", known(&task_result_names, a->outcome, TASK_R_NONE));
	json_object_set_new(json, "fault", known(&fault_names, (int)attempt_fault(a), FAULT_NONE));
}

json_t *json_row(enum row_kind kind, const void *row)
{
	const struct row_type *type = &row_types[kind];
	json_t *json = json_object();

	for (size_t i = 0; i < type->nfields; i++) {
		const struct field *field = &type->fields[i];

		if (field->hidden)
			continue;
		json_object_set_new(json, field_shown(field), json_field(field, row));
	}
	return json;
}
