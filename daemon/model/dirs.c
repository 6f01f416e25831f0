/* SPDX-License-Identifier: MIT */
#include "model/dirs.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "proto/memory.h"
#include "task/task_op.h"

char *dirs_attempt(const char *state_dir, int64_t id)
{
	return xasprintf("%s/attempts/%lld", state_dir, (long long)id);
}

char *dirs_in_workspace(const char *workspace, const char *subdir, const char *path)
{
	size_t n = strlen(workspace);

	if (path[0] != '/')
		return subdir != NULL && subdir[0] != '\0' ? xasprintf("%s/%s", subdir, path) : xstrdup(path);
	return strncmp(path, workspace, n) == 0 && path[n] == '/' ? xstrdup(path + n + 1) : NULL;
}

int dirs_open_attempt(const char *state_dir, int64_t id)
{
	char *path = xasprintf("attempts/%lld", (long long)id);
	int fd = file_open_below(state_dir, path, 0);

	free(path);
	return fd;
}

char *dirs_run(const char *state_dir, int64_t run)
{
	return xasprintf("%s/runs/%lld", state_dir, (long long)run);
}

char *dirs_blob_name(uid_t uid, const char *blob)
{
	return xasprintf("%u-%s", (unsigned)uid, blob);
}

char *dirs_evidence(const char *state_dir, const char *id)
{
	return xasprintf("%s/evidence/%s.git", state_dir, id);
}

char *run_actor(const char *state_dir, const struct run_row *run)
{
	char *which = xasprintf("%s\n%lld\n%lld", state_dir, (long long)run->id,
	    (long long)run->created_at), hex[DIGEST_HEX], *actor;

	digest_hex(which, strlen(which), hex);
	actor = xasprintf("rld-%lld-%.8s", (long long)run->id, hex);
	free(which);
	return actor;
}

/* The file of a prompt is created with the run's directory; other sources have one file per slot,
 * created at its start. */
char *dirs_task_file(const char *state_dir, const struct run_row *run, const struct slot_row *row)
{
	if (strcmp(run->source, sources[SOURCE_PROMPT].name) == 0)
		return xasprintf("%s/runs/%lld/task", state_dir, (long long)run->id);
	return xasprintf("%s/runs/%lld/task-%lld-%lld", state_dir, (long long)run->id,
	    (long long)row->iteration, (long long)row->slot);
}

char *dirs_worktree(const char *state_dir, const struct slot_row *row)
{
	return xasprintf("%s/worktrees/%lld/%lld-%lld", state_dir, (long long)row->run,
	    (long long)row->iteration, (long long)row->slot);
}

char *dirs_scratch(const char *state_dir, int64_t run, const struct slot_row *row)
{
	if (row == NULL)
		return xasprintf("%s/runs/%lld/scratch", state_dir, (long long)run);
	return xasprintf("%s/runs/%lld/scratch/%lld-%lld", state_dir, (long long)run,
	    (long long)row->iteration, (long long)row->slot);
}

char *dirs_moves(const char *state_dir, int64_t run)
{
	return xasprintf("%s/runs/%lld/scratch/moves", state_dir, (long long)run);
}

char *dirs_checkout(const char *state_dir, const struct slot_row *row)
{
	return xasprintf("%s/runs/%lld/tree-%lld-%lld", state_dir, (long long)row->run,
	    (long long)row->iteration, (long long)row->slot);
}

/* dir, or the run's workdir within it. */
static char *inside(const struct run_row *run, char *dir)
{
	char *path;

	if (run->subdir == NULL || run->subdir[0] == '\0')
		return dir;
	path = xasprintf("%s/%s", dir, run->subdir);
	free(dir);
	return path;
}

char *dirs_slot(const struct run_row *run, const struct slot_row *row)
{
	return row == NULL || row->worktree == NULL ? xstrdup(run->workdir) : inside(run, xstrdup(row->worktree));
}

char *dirs_review(const char *state_dir, const struct run_row *run, const struct plan *plan, const struct slot_row *row)
{
	if (plan->workspace != REVIEW_IN_ROOM || run->has_git != 1)
		return dirs_slot(run, row);
	return inside(run, dirs_checkout(state_dir, row));
}

char *dirs_review_top(const char *state_dir, const struct run_row *run, const struct plan *plan,
    const struct slot_row *row)
{
	if (plan->workspace == REVIEW_IN_ROOM && run->has_git == 1)
		return dirs_checkout(state_dir, row);
	return xstrdup(row->worktree != NULL ? row->worktree : run->workspace);
}

char *dirs_misnamed_file(const char *state_dir, const struct run_row *run, const struct slot_row *row)
{
	char *scratch = dirs_scratch(state_dir, run->id, row), *file = xasprintf("%s/misnamed", scratch);

	free(scratch);
	return file;
}

char *dirs_review_file(const char *state_dir, const struct run_row *run, const struct plan *plan,
    const struct slot_row *row)
{
	char *dir, *path;

	if (plan->review_file == NULL)
		return NULL;
	dir = dirs_review(state_dir, run, plan, row);
	path = xasprintf("%s/%s", dir, plan->review_file);
	free(dir);
	return path;
}
