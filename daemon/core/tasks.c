/* SPDX-License-Identifier: MIT */
#include "core/tasks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct task_row *find(const char *id, struct task_row *const *tasks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(tasks[i]->id, id) == 0)
			return tasks[i];
	return NULL;
}

static bool never_passes(const struct task_row *task)
{
	return task->state == TASK_S_FAILED || task->state == TASK_S_CANCELLED || task->state == TASK_S_TAKEN || task->state == TASK_S_RELEASED;
}

static bool has_passed(const struct task_row *task)
{
	return task->state == TASK_S_PASSED || task->state == TASK_S_DONE;
}

/* The first dependency that holds it back, one that will never pass before one that may; NULL: none. */
static const struct task_row *obstacle(const struct task_row *task, struct task_row *const *tasks, size_t count, bool *never)
{
	json_t *ids = task->depends_on != NULL ? json_loads(task->depends_on, 0, NULL) : NULL, *id;
	const struct task_row *found = NULL;
	size_t i;

	*never = false;
	json_array_foreach(ids, i, id) {
		const struct task_row *on = json_is_string(id) ? find(json_string_value(id), tasks, count) : NULL;

		if (on == NULL || has_passed(on))
			continue;
		if (found == NULL)
			found = on;
		if (never_passes(on) && !*never) {
			found = on;
			*never = true;
		}
	}
	json_decref(ids);
	return found;
}

enum task_wait task_wait(const struct task_row *task, struct task_row *const *tasks, size_t count)
{
	bool never;

	if (task->state != TASK_S_OPEN)
		return TASK_W_NOT_OPEN;
	if (obstacle(task, tasks, count, &never) == NULL)
		return TASK_W_NOTHING;
	return never ? TASK_W_NEVER : TASK_W_DEPENDENCY;
}

struct task_row *task_next(struct task_row *const *tasks, size_t count)
{
	struct task_row *next = NULL;

	for (size_t i = 0; i < count; i++) {
		if (next != NULL && next->position <= tasks[i]->position)
			continue;
		if (task_wait(tasks[i], tasks, count) == TASK_W_NOTHING)
			next = tasks[i];
	}
	return next;
}

char *task_reason(const struct task_row *task, struct task_row *const *tasks, size_t count)
{
	bool never;
	const struct task_row *on = obstacle(task, tasks, count, &never);

	if (on == NULL)
		return NULL;
	return never ? xasprintf("depends on %s, which %s", on->id, on->state == TASK_S_FAILED ? "failed" : "never passed") :
	    xasprintf("waits for %s", on->id);
}

char *task_depends(char *const *ids)
{
	json_t *list;
	char *text;

	if (ids == NULL || ids[0] == NULL)
		return NULL;
	list = json_array();
	for (; *ids != NULL; ids++)
		json_array_append_new(list, json_string(*ids));
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}
