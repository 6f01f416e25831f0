/* SPDX-License-Identifier: MIT */
#include "task/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "proto/scan.h"

#define DEPTH_MAX 64

static const char *const scan_words[SCAN_RESULTS] = {
	[SCAN_EMPTY] = "it is empty",
	[SCAN_NUL] = "it contains a NUL byte",
	[SCAN_DEEP] = "its objects and lists are nested more than 64 deep",
	[SCAN_MANY] = "it has too many values",
};

size_t value_mark(const char *text, size_t size)
{
	return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

json_t *value_read(const char *text, size_t size, size_t max_values, char **error)
{
	size_t mark = value_mark(text, size);
	enum scan_result scanned = scan_json_within(text + mark, size - mark, DEPTH_MAX, max_values);
	json_error_t said;
	json_t *value;
	char *words;

	if (scanned != SCAN_OK) {
		*error = xstrdup(scan_words[scanned]);
		return NULL;
	}
	value = json_loadb(text + mark, size - mark, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &said);
	if (value == NULL) {
		words = text_escape(said.text, strlen(said.text), false);
		*error = xasprintf("it is not valid JSON: line %d, column %d: %s", said.line, said.column, words);
		free(words);
	}
	return value;
}

const char *value_kind(const json_t *value)
{
	static const char *const kinds[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a string",
		[JSON_INTEGER] = "a number",
		[JSON_REAL] = "a number", [JSON_TRUE] = "true", [JSON_FALSE] = "false", [JSON_NULL] = "null",
	};

	return value != NULL ? kinds[json_typeof(value)] : "missing";
}

bool value_take_text(const json_t *object, const char *name, char **out)
{
	const json_t *value = json_object_get(object, name);

	*out = NULL;
	if (value == NULL || json_is_null(value))
		return true;
	if (!json_is_string(value))
		return false;
	*out = xstrdup(json_string_value(value));
	return true;
}

void criteria_add(struct buf *b, const char *criterion)
{
	size_t size = strlen(criterion);

	while (size > 0 && (criterion[size - 1] == '\n' || criterion[size - 1] == '\r' || criterion[size - 1] == ' '))
		size--;
	buf_adds(b, b->size > 0 ? "\n- " : "- ");
	for (size_t i = 0; i < size; i++) {
		buf_add(b, criterion + i, 1);
		if (criterion[i] == '\n')
			buf_adds(b, "  ");	/* another line of the same item */
	}
}

bool value_take_criteria(const json_t *object, const char *name, char **out)
{
	const json_t *value = json_object_get(object, name), *one;
	struct buf b = { 0 };
	size_t i;

	if (!json_is_array(value))
		return value_take_text(object, name, out);
	*out = NULL;
	json_array_foreach(value, i, one) {
		if (!json_is_string(one)) {
			buf_release(&b);
			return false;
		}
		criteria_add(&b, json_string_value(one));
	}
	if (b.size > 0)
		*out = buf_take(&b, NULL);
	return true;
}

bool value_take_priority(const json_t *object, const char *name, int64_t *out)
{
	const json_t *value = json_object_get(object, name);
	const char *text;
	char *end;

	*out = ROW_NONE;
	if (value == NULL || json_is_null(value))
		return true;
	if (json_is_integer(value)) {
		*out = json_integer_value(value);
		return *out != ROW_NONE;
	}
	if (json_is_real(value)) {
		double number = json_real_value(value);

		*out = number > -1e15 && number < 1e15 ? (int64_t)number : ROW_NONE;
		return *out != ROW_NONE && (double)*out == number;
	}
	if (!json_is_string(value))
		return false;
	text = json_string_value(value);
	text += *text == 'P' || *text == 'p';
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && *end == '\0';
}

char *value_id(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	return json_is_integer(value) ? xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value)) : NULL;
}
