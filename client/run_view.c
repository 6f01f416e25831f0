/* SPDX-License-Identifier: MIT */
#include "client/run_view.h"

#include <stdio.h>

#include "client/field.h"

const json_t *view_attempt(const struct view *view, const json_t *slot)
{
	int64_t id = field_int(slot, "attempt");

	return id != FIELD_NONE ? field_find(view->attempts, "id", id) : NULL;
}

const json_t *view_preview(const struct view *view, const json_t *slot)
{
	char key[24];

	snprintf(key, sizeof(key), "%lld", field_count(slot, "attempt"));
	return json_object_get(view->previews, key);
}

bool view_is_over(const json_t *slot)
{
	return field_is(slot, "phase", "passed") || field_is(slot, "phase", "failed") ||
	    field_is(slot, "phase", "cancelled");
}

const char *view_reviewed(const json_t *slot)
{
	const char *task = field_text(slot, "task");

	/* name of the whole run in the review record, if it has several tasks */
	return *task == '\0' && field_int(slot, "slot") == 0 ? "run" : task;
}
