/* SPDX-License-Identifier: MIT */
#include "config/values.h"

#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

struct value *values_find(const struct values *values, const char *path)
{
	for (size_t i = 0; i < values->count; i++) {
		if (strcmp(values->list[i].path, path) == 0)
			return &values->list[i];
	}
	return NULL;
}

static void value_release(struct value *value)
{
	free(value->path);
	free(value->field);
	json_decref(value->json);
}

struct value *values_put(struct values *values, const char *path, const struct setting *setting, json_t *json)
{
	struct value *value = values_find(values, path);

	if (value == NULL) {
		values->list = xreallocarray(values->list, values->count + 1, sizeof(*values->list));
		value = &values->list[values->count++];
	} else {
		value_release(value);
	}
	*value = (struct value){ .path = xstrdup(path), .setting = setting, .json = json };
	return value;
}

void values_release(struct values *values)
{
	for (size_t i = 0; i < values->count; i++)
		value_release(&values->list[i]);
	free(values->list);
	*values = (struct values){ 0 };
}
