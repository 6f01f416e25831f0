/* SPDX-License-Identifier: MIT */
#include "job/cleanup.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "core/row.h"
#include "model/dirs.h"
#include "model/job.h"
#include "proto/memory.h"

static void remove_file(const char *state_dir, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s/%s", state_dir, dir, name);

	unlink(path);
	free(path);
}

/* Files in the run's directory: private index, checkouts, output of confined reviewers. */
static void remove_scratch(const char *state_dir, int64_t run)
{
	static const char *const heads[] = { "scratch", "tmp-", "tree-" };
	char *path = dirs_run(state_dir, run);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
			char *name = xasprintf("%s/%s", path, entry->d_name);

			if (strncmp(entry->d_name, heads[i], strlen(heads[i])) == 0)
				file_remove_tree(name);
			free(name);
		}
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
	const char *state_dir = job->job.state_dir;

	if (job->run != ROW_NONE)
		remove_scratch(state_dir, job->run);
	if (job->environment != NULL)
		remove_file(state_dir, "env", job->environment);
	if (job->blob != NULL)
		remove_file(state_dir, "blobs", job->blob);
	if (job->leftover != NULL)
		unlink(job->leftover);
	if (job->keep != NULL)
		sweep(state_dir, job->keep);
}

static void cleanup_release(struct job *base)
{
	struct cleanup_job *w = (struct cleanup_job *)base;

	free(w->environment);
	free(w->blob);
	strings_free(w->keep);
	free(w->leftover);
}

const struct job_type cleanup_type = { "cleanup", cleanup_run, cleanup_release };
