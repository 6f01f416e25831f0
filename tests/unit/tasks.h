/* SPDX-License-Identifier: MIT */
/* Tasks of a run from one line: "a:passed b:open<a,c c:open", each an id, a state and
 * what it depends on. */
#ifndef UNIT_TASKS_H
#define UNIT_TASKS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/tasks.h"
#include "proto/memory.h"

static size_t tasks_make(const char *text, struct task_row ***list)
{
	char *copy = xstrdup(text), *rest = copy;
	size_t count = 0;

	*list = xcalloc(16, sizeof(**list));
	for (char *word = strtok_r(rest, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		struct task_row *row = row_new(ROW_TASK);
		char *state = strchr(word, ':'), *on = strchr(word, '<'), **ids = NULL;

		*state++ = '\0';
		if (on != NULL)
			*on++ = '\0';
		for (char *id = on; id != NULL && (id = strtok_r(id, ",", &on)) != NULL; id = on)
			strings_append(&ids, id);
		row->id = xstrdup(word);
		row->state = state_value(&task_state_names, state);
		ck_assert_int_ne(row->state, -1);
		row->depends_on = task_depends(ids);
		strings_free(ids);
		(*list)[count++] = row;
		row->position = (int64_t)count;
	}
	free(copy);
	return count;
}

static void tasks_free(struct task_row **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_free(ROW_TASK, list[i]);
	free(list);
}

#endif
