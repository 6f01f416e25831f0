/* SPDX-License-Identifier: MIT */
/* The settings of a run, as a test asks for them. */
#ifndef TESTS_UNIT_PLAN_AT_H
#define TESTS_UNIT_PLAN_AT_H

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/plan_json.h"
#include "proto/memory.h"

/* The JSON text at a dotted path of the plan, a number for an item of an array; malloc'd. */
static inline char *plan_at(const struct plan *plan, const char *path)
{
	char *json = plan_to_json(plan), *copy = xstrdup(path), *rest = copy, *segment, *text;
	json_t *root = json_loads(json, 0, NULL), *at = root;

	while ((segment = strsep(&rest, ".")) != NULL)
		at = json_is_array(at) ? json_array_get(at, strtoul(segment, NULL, 10)) : json_object_get(at, segment);
	ck_assert_msg(at != NULL, "no %s in %s", path, json);
	text = json_dumps(at, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(root);
	free(copy);
	free(json);
	return text;
}

#endif
