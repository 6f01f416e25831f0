/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "engine/work.h"

static void remove_file(const char *state_dir, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s/%s", state_dir, dir, name);

	unlink(path);
	free(path);
}

static void remove_scratch(const char *state_dir, int64_t run)
{
	static const char *const names[] = { "index", "index.lock" };
	char *dir = work_run_dir(state_dir, run), *scratch = xasprintf("%s/scratch", dir);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = xasprintf("%s/%s", scratch, names[i]);

		unlink(path);
		free(path);
	}
	rmdir(scratch);
	free(scratch);
	free(dir);
}

/* What a daemon that died between a run's end and the forgetting left behind. */
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

void forget_run(struct forget_work *work)
{
	const char *state_dir = work->work.state_dir;

	if (work->run != ROW_NONE)
		remove_scratch(state_dir, work->run);
	if (work->environment != NULL)
		remove_file(state_dir, "env", work->environment);
	if (work->blob != NULL)
		remove_file(state_dir, "blobs", work->blob);
	if (work->keep != NULL)
		sweep(state_dir, work->keep);
}
