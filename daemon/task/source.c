/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "task/task_op.h"

const struct source sources[SOURCES] = {
	[SOURCE_PROMPT] = { .name = "prompt" },
	[SOURCE_BEADS] = { .name = "beads", .reloads = true, .markers = true, .claims = true },
	[SOURCE_STORIES] = { .name = "stories", .markers = true, .claims = true },
	[SOURCE_WORKFLOW] = { .name = "workflow", .profile = "decision" },
};

static const char *const names[] = { "prompt", "beads", "stories", "workflow" };
const struct state_names source_names = { "source", names, SOURCES, NULL };

int source_find(const char *name)
{
	for (int i = 0; i < SOURCES; i++)
		if (strcmp(sources[i].name, name) == 0)
			return i;
	return -1;
}
