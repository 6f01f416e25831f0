/* SPDX-License-Identifier: MIT */
#include "model/dirs.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "proto/memory.h"
#include "task/task_op.h"

char *work_attempt_dir(const char *state_dir, int64_t id)
{
	return xasprintf("%s/attempts/%lld", state_dir, (long long)id);
}

char *work_run_dir(const char *state_dir, int64_t run)
{
	return xasprintf("%s/runs/%lld", state_dir, (long long)run);
}

char *work_actor(const char *state_dir, const struct run_row *run)
{
	char *which = xasprintf("%s\n%lld\n%lld", state_dir, (long long)run->id, (long long)run->created_at), hex[DIGEST_HEX], *actor;

	digest_hex(which, strlen(which), hex);
	actor = xasprintf("rld-%lld-%.8s", (long long)run->id, hex);
	free(which);
	return actor;
}

/* A prompt's is made with the run's directory; the others have one for each slot, when it begins. */
char *work_task_file(const char *state_dir, const struct run_row *run, const struct slot_row *row)
{
	if (strcmp(run->source, sources[SOURCE_PROMPT].name) == 0)
		return xasprintf("%s/runs/%lld/task", state_dir, (long long)run->id);
	return xasprintf("%s/runs/%lld/task-%lld-%lld", state_dir, (long long)run->id, (long long)row->iteration, (long long)row->slot);
}

char *work_worktree_dir(const char *state_dir, const struct slot_row *row)
{
	return xasprintf("%s/worktrees/%lld/%lld-%lld", state_dir, (long long)row->run, (long long)row->iteration, (long long)row->slot);
}

char *work_scratch_dir(const char *state_dir, int64_t run, const struct slot_row *row)
{
	if (row == NULL)
		return xasprintf("%s/runs/%lld/scratch", state_dir, (long long)run);
	return xasprintf("%s/runs/%lld/scratch/%lld-%lld", state_dir, (long long)run, (long long)row->iteration, (long long)row->slot);
}

char *work_checkout_dir(const char *state_dir, const struct slot_row *row)
{
	return xasprintf("%s/runs/%lld/tree-%lld-%lld", state_dir, (long long)row->run, (long long)row->iteration, (long long)row->slot);
}

/* dir, or its part that is the run's workdir in it. */
static char *inside(const struct run_row *run, char *dir)
{
	char *path;

	if (run->subdir == NULL || run->subdir[0] == '\0')
		return dir;
	path = xasprintf("%s/%s", dir, run->subdir);
	free(dir);
	return path;
}

char *work_slot_dir(const struct run_row *run, const struct slot_row *row)
{
	return row == NULL || row->worktree == NULL ? xstrdup(run->workdir) : inside(run, xstrdup(row->worktree));
}

char *work_review_dir(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row)
{
	if (plan->workspace != REVIEW_IN_SNAPSHOT || run->has_git != 1)
		return work_slot_dir(run, row);
	return inside(run, work_checkout_dir(state_dir, row));
}

char *work_review_top(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row)
{
	if (plan->workspace == REVIEW_IN_SNAPSHOT && run->has_git == 1)
		return work_checkout_dir(state_dir, row);
	return xstrdup(row->worktree != NULL ? row->worktree : run->workspace);
}

char *work_misnamed_file(const char *state_dir, const struct run_row *run, const struct slot_row *row)
{
	char *scratch = work_scratch_dir(state_dir, run->id, row), *file = xasprintf("%s/misnamed", scratch);

	free(scratch);
	return file;
}

char *work_review_file(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row)
{
	char *dir, *path;

	if (plan->review_file == NULL)
		return NULL;
	dir = work_review_dir(state_dir, run, plan, row);
	path = xasprintf("%s/%s", dir, plan->review_file);
	free(dir);
	return path;
}
