/* SPDX-License-Identifier: MIT */
/* Paths that other runs write in a shared work tree: one run works in it while another one keeps
 * its tasks there and updates them. Such changes are not part of the first run's work. They are
 * remembered until that run ends, even if the other one ends earlier. */
#include "slot/shared_paths.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/row.h"
#include "core/state.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Path of its tasks relative to a workspace; NULL: elsewhere, or not written by it. malloc'd. */
static char *kept_in(const struct run *run, const char *workspace)
{
	const char *path = run->rows->run.source_path;
	size_t n = strlen(workspace);
	char *full, *inside;

	if (path == NULL || !sources[run_source(run)].claims)
		return NULL;
	full = run_source(run) == SOURCE_BEADS ? xasprintf("%s/.beads", path) : xstrdup(path);
	inside = strncmp(full, workspace, n) == 0 && full[n] == '/' ? xstrdup(full + n + 1) : NULL;
	free(full);
	return inside;
}

/* The paths recorded for a run so far. malloc'd, NULL: none. */
static char **met(const struct run_row *row)
{
	json_t *array = row->others != NULL ? json_loads(row->others, 0, NULL) : NULL, *path;
	char **list = NULL;
	size_t i;

	json_array_foreach(array, i, path)
		strings_append(&list, json_string_value(path));
	json_decref(array);
	return list;
}

static void add(struct run_row *row, const char *path)
{
	json_t *array = row->others != NULL ? json_loads(row->others, 0, NULL) : NULL;

	if (array == NULL)
		array = json_array();
	json_array_append_new(array, json_string(path));
	free(row->others);
	row->others = json_dumps(array, JSON_COMPACT);
	json_decref(array);
}

static void meet(struct txn *txn, struct run *run, const struct run *other)
{
	const struct run_row *row = &run->rows->run;
	char *path = row->has_git == 1 && run->plan.isolation != ISOLATION_WORKTREE ?
	    kept_in(other, row->workspace) : NULL;
	char **known = path != NULL ? met(row) : NULL;

	if (path != NULL && !strings_contain(known, path)) {
		char *safe = text_escape(path, strlen(path), false);
		char *text = xasprintf("run %lld keeps its tasks in %s and writes there at the "
		    "same time: changes to it are not reviewed or committed here",
		    (long long)other->rows->run.id, safe);

		add(txn_edit_run(txn, run), path);
		run_warn(txn, run, text);
		free(text);
		free(safe);
	}
	strings_free(known);
	free(path);
}

static bool works(const struct run *run)
{
	return run->rows->run.started_at != ROW_NONE && !run_state_is_end((enum run_state)run->rows->run.state);
}

void run_meet(struct txn *txn, struct run *run)
{
	struct run *other;

	LIST_FOREACH(other, &run->engine->begun, begun) {
		if (other == run || !works(other))
			continue;
		meet(txn, run, other);
		meet(txn, other, run);
	}
}

char **slot_shared_paths(const struct slot *slot)
{
	return slot->row != NULL && slot->row->worktree == NULL ? met(&slot->run->rows->run) : NULL;
}

char **slot_written_paths(const struct slot *slot)
{
	char **list = slot_shared_paths(slot);
	char *own = slot->row->worktree == NULL ? kept_in(slot->run, slot->run->rows->run.workspace) : NULL;

	if (own != NULL && !strings_contain(list, own))
		strings_append(&list, own);
	free(own);
	return list;
}

size_t slot_count_shared_paths(const struct slot *slot)
{
	char **shared = slot_shared_paths(slot);
	size_t count = strings_count(shared);

	strings_free(shared);
	return count;
}
