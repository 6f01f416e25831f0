/* SPDX-License-Identifier: MIT */
#include "job/cleanup.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "git/used_room.h"
#include "job/remove_theirs.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/memory.h"

#define ROOM "tree-"

static void remove_file(const char *state_dir, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s/%s", state_dir, dir, name);

	unlink(path);
	free(path);
}

static bool begins(const char *name, const char *head)
{
	return strncmp(name, head, strlen(head)) == 0;
}

/* Files in the run's directory: private index, rooms, output of confined reviewers. */
static void remove_scratch(const char *state_dir, const struct litter *litter)
{
	static const char *const heads[] = { "scratch", "tmp-", ROOM };
	char *path = dirs_run(state_dir, litter->run);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char *name = xasprintf("%s/%s", path, entry->d_name);

		/* one that agents of another user own is not ours to keep */
		if (begins(entry->d_name, ROOM) && !agent_user()->apart)
			used_room_keep(name, litter->evidence);
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			if (begins(entry->d_name, heads[i]))
				remove_theirs(name);
		free(name);
	}
	if (dir != NULL)
		closedir(dir);
	free(path);
}

/* Files left behind by a daemon that died between a run's end and its cleanup. */
static void sweep(const char *state_dir, char *const *keep)
{
	char *path = xasprintf("%s/env", state_dir);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && !strings_contain(keep, entry->d_name))
			remove_file(state_dir, "env", entry->d_name);
	if (dir != NULL)
		closedir(dir);
	free(path);
}

static void cleanup_run(struct job *base)
{
	struct cleanup_job *job = (struct cleanup_job *)base;
	const struct litter *litter = &job->litter;
	const char *state_dir = job->job.state_dir;

	if (litter->run != 0)
		remove_scratch(state_dir, litter);
	if (litter->environment != NULL)
		remove_file(state_dir, "env", litter->environment);
	if (litter->blob != NULL)
		remove_file(state_dir, "blobs", litter->blob);
	if (litter->leftover != NULL)
		unlink(litter->leftover);
	if (job->keep != NULL)
		sweep(state_dir, job->keep);
}

void litter_release(struct litter *litter)
{
	free(litter->evidence);
	free(litter->environment);
	free(litter->blob);
	free(litter->leftover);
	*litter = (struct litter){ 0 };
}

static void cleanup_release(struct job *base)
{
	struct cleanup_job *w = (struct cleanup_job *)base;

	litter_release(&w->litter);
	strings_free(w->keep);
}

const struct job_type cleanup_type = { "cleanup", cleanup_run, cleanup_release };
