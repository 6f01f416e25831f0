/* SPDX-License-Identifier: MIT */
/* Commits that agents make by themselves in a shared work tree, whatever they were told: HEAD where the work of a slot began is
 * compared with HEAD at its end. Of what has passed they are the result; of anything else it is told how to take them back. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/engine_int.h"

/* The whole run is reviewed, and comes to one end. */
static bool of_the_run(const struct lane *lane)
{
	return lane_plan(lane)->review && lane_plan(lane)->scope == SCOPE_RUN;
}

const char *lane_head(const struct lane *lane)
{
	const char *of_run = lane->run->rows->run.head;

	if (lane->row == NULL || lane->row->worktree != NULL)
		return NULL;
	return lane->row->head != NULL && !of_the_run(lane) ? lane->row->head : of_run;
}

bool head_is_open(const struct lane *lane)
{
	const struct slot_row *row = lane->row;
	bool committed = row->commit_id != NULL || (of_the_run(lane) && lane->run->rows->run.result_commit != NULL);

	/* with slot 0 the others pass, and they look */
	return lane_head(lane) != NULL && row->attempt != ROW_NONE && !(row->stage == SLOT_S_PASSED && (committed || row->slot == 0));
}

/* Others of the run have worked in the same tree at the same time. */
static bool has_siblings(const struct lane *lane)
{
	const struct run_rows *rows = lane->run->rows;
	size_t count = 0;

	for (size_t i = 0; i < rows->nslots; i++)
		count += rows->slots[i]->iteration == lane->row->iteration && rows->slots[i]->slot != 0;
	return count > 1 && !of_the_run(lane);
}

static bool has_warning(const struct run_row *run, const char *text)
{
	json_t *list = run->warnings != NULL ? json_loads(run->warnings, 0, NULL) : NULL, *each;
	bool has = false;
	size_t i;

	json_array_foreach(list, i, each)
		has |= strcmp(json_string_value(each), text) == 0;
	json_decref(list);
	return has;
}

static char *undo(const struct lane *lane, const char *since, const char *head)
{
	const char *workspace = lane->run->rows->run.workspace;

	if (has_siblings(lane))
		return xasprintf("other tasks worked in the same tree: see `git log %.12s..%.12s` in %s, and `git revert` those that are not wanted",
		    since, head, workspace);
	return xasprintf("`git reset %.12s` in %s takes them back and keeps the changes in the work tree", since, workspace);
}

/* It is a commit of the run's own. */
static bool is_ours(const struct run_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->commit_id != NULL && strcmp(rows->slots[i]->commit_id, id) == 0)
			return true;
	return false;
}

/* What of the operation's answer was made by others, in words; NULL: nothing. */
static char *told(const struct lane *lane, const char *head, bool accepted)
{
	const char *since = lane_head(lane), *workspace = lane->run->rows->run.workspace;
	char *const *ahead = git_op_ahead(lane->op.git);
	char *way, *text;
	size_t count = 0;

	if (git_op_rewritten(lane->op.git))
		return xasprintf("history was rewritten while it was worked on: HEAD was at %.12s and is at %.12s, which does not come after it; "
		    "`git reset %.12s` in %s goes back there and keeps the changes in the work tree", since, head, since, workspace);
	for (size_t i = 0; ahead != NULL && ahead[i] != NULL; i++)
		count += !is_ours(lane->run->rows, ahead[i]);
	if (count == 0)
		return NULL;
	way = undo(lane, since, head);
	text = xasprintf("%zu commit%s that rld did not make came onto HEAD while it was worked on (%.12s..%.12s), and %s; %s", count,
	    count == 1 ? "" : "s", since, head, accepted ? "the result includes them" : "nothing has accepted them", way);
	free(way);
	return text;
}

static void tell(struct turn *turn, struct lane *lane, const char *head, bool accepted)
{
	char *what = told(lane, head, accepted), *text;

	if (what == NULL)
		return;
	text = of_the_run(lane) ? xstrdup(what) : xasprintf("task %s: %s", lane_task_id(lane), what);
	if (!has_warning(&lane->run->rows->run, text))
		run_warn(turn, lane->run, text);
	free(text);
	free(what);
}

void head_committed(struct turn *turn, struct lane *lane)
{
	const char *commit = git_op_commit(lane->op.git);

	/* what a commit agent does was asked for */
	if (lane->git_kind == GIT_COMMIT && lane_head(lane) != NULL && commit != NULL)
		tell(turn, lane, commit, true);
}

void head_looked(struct turn *turn, struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;
	const char *head = git_op_commit(lane->op.git);
	bool passed = lane->row->stage == SLOT_S_PASSED;

	if (head != NULL)
		tell(turn, lane, head, passed);
	if (head != NULL && passed) {
		text_set(&run->result_commit, head);
		turn_put(turn, ROW_RUN, run);
	}
	leave_next(turn, lane, NULL);
}
