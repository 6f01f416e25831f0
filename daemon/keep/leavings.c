/* SPDX-License-Identifier: MIT */
#include "keep/leavings.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/prepared_room.h"
#include "git/remove_dir.h"
#include "keep/repository.h"
#include "model/dirs.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define BLOCK 512		/* unit of st_blocks */

int64_t disk_usage(const char *dir)
{
	char *const paths[] = { (char *)dir, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	int64_t sum = 0;
	FTSENT *e;

	while (fts != NULL && (e = fts_read(fts)) != NULL)
		if (e->fts_info != FTS_DP && e->fts_info != FTS_NS && e->fts_info != FTS_ERR)
			sum += (int64_t)e->fts_statp->st_blocks * BLOCK;
	if (fts != NULL)
		fts_close(fts);
	return sum;
}

int64_t prepared_usage(const char *state_dir)
{
	char *evidence = xasprintf("%s/evidence", state_dir);
	DIR *dir = opendir(evidence);
	struct dirent *e;
	int64_t sum = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char *path = xasprintf("%s/%s/rld/prepared", evidence, e->d_name);

		if (e->d_name[0] != '.')
			sum += disk_usage(path);
		free(path);
	}
	if (dir != NULL)
		closedir(dir);
	free(evidence);
	return sum;
}

int64_t prepared_free(const char *state_dir, bool all)
{
	int64_t before = prepared_usage(state_dir), after;

	if (all)
		prepared_drop(state_dir);
	else
		prepared_prune_all(state_dir);
	after = prepared_usage(state_dir);
	return before > after ? before - after : 0;
}

static char *run_dir(const struct leavings *l, const char *folder)
{
	return xasprintf("%s/%s/%lld", l->state_dir, folder, (long long)l->run);
}

void leavings_measure(struct leavings *l)
{
	char *dir = run_dir(l, "runs");

	l->bytes = disk_usage(dir);
	for (size_t i = 0; i < l->nids; i++) {
		char *attempt = dirs_attempt(l->state_dir, l->ids[i]);

		l->bytes += disk_usage(attempt);
		free(attempt);
	}
	free(dir);
}

/* The first fault is told. Takes dir. */
static void remove_one(struct leavings *l, char *dir)
{
	int rv = remove_dir(dir);

	if (rv == -EXDEV && l->fault == NULL)
		l->fault = xasprintf("run %lld: cannot remove %s: something is mounted there; unmount it",
		    (long long)l->run, dir);
	else if (rv != 0 && l->fault == NULL)
		l->fault = xasprintf("run %lld: cannot remove %s: %s", (long long)l->run, dir, host_words(-rv));
	free(dir);
}

void leavings_remove(struct leavings *l)
{
	char *trees = run_dir(l, "worktrees");

	if (l->workspace != NULL && l->instance != NULL)
		l->fault = repository_remove_refs(l->workspace, l->instance, l->run);
	for (size_t i = 0; i < l->nids; i++)
		remove_one(l, dirs_attempt(l->state_dir, l->ids[i]));
	remove_one(l, run_dir(l, "runs"));
	/* a work tree that is left has what was not saved */
	rmdir(trees);
	free(trees);
}
