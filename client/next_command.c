/* SPDX-License-Identifier: MIT */
#include "client/next_command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/host.h"
#include "proto/memory.h"
#include "proto/program.h"

/* Whether the current directory is not the project's. */
static bool is_elsewhere(const char *directory)
{
	char here[PATH_MAX];

	return getcwd(here, sizeof(here)) == NULL || strcmp(here, directory) != 0;
}

static void add_git(struct buf *out, const char *directory)
{
	buf_adds(out, "git");
	if (is_elsewhere(directory)) {
		buf_adds(out, " -C ");
		host_add_word(out, directory);
	}
}

bool next_in_repository(const char *directory)
{
	char *above = xstrdup(directory), *slash;
	bool found = false;
	struct stat st;

	do {
		char *path;

		slash = strrchr(above, '/');
		path = xasprintf("%s/.git", above);
		found = lstat(path, &st) == 0;
		free(path);
		if (slash != NULL)
			*slash = '\0';
	} while (!found && slash != NULL);
	free(above);
	return found;
}

char *next_run(const char *directory, bool start, bool review)
{
	char self[PATH_MAX] = "rlctl", *found = program_find(getenv("PATH"), "rlctl");
	ssize_t n = found == NULL ? readlink("/proc/self/exe", self, sizeof(self) - 1) : 0;
	bool elsewhere = is_elsewhere(directory);
	struct buf line = { 0 };

	if (n > 0)
		self[n] = '\0';
	if (!next_in_repository(directory)) {
		buf_adds(&line, "git init -q ");
		if (elsewhere)
			host_add_word(&line, directory);
		buf_adds(&line, elsewhere ? " && " : "&& ");
	}
	host_add_word(&line, self);
	buf_adds(&line, " run");
	if (elsewhere) {
		buf_adds(&line, " -C ");
		host_add_word(&line, directory);
	}
	buf_addf(&line, "%s%s \"Describe one change\"", start ? " --start" : "", review ? " --review" : "");
	free(found);
	return buf_take(&line, NULL);
}

char *next_commit(const char *directory)
{
	struct buf line = { 0 };

	add_git(&line, directory);
	buf_adds(&line, " add .rld.toml && ");
	add_git(&line, directory);
	buf_adds(&line, " commit -m \"Add settings of rld\" .rld.toml");
	return buf_take(&line, NULL);
}
