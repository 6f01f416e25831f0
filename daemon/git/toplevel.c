/* SPDX-License-Identifier: MIT */
/* By the rules of git's own discovery. */
#include "git/toplevel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "proto/memory.h"

#define GITFILE_MAX 65536

/* A call failed without telling whether the path exists: keep the first such errno in *failure. */
static void note_failure(int *failure, int error)
{
	static const int answers[] = { ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG, EINVAL, EFBIG };

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (error == answers[i])
			return;
	}
	if (*failure == 0)
		*failure = error;
}

static bool is_there(const char *dir, const char *name, bool directory, int *failure)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct stat st;
	/* HEAD may be a dangling link */
	bool there = (directory ? stat : lstat)(path, &st) == 0;

	if (!there)
		note_failure(failure, errno);
	free(path);
	return there && (!directory || S_ISDIR(st.st_mode));
}

/* Whether git accepts it as a git directory: HEAD, objects/ and refs/, or commondir instead of
 * those in a work tree's. */
static bool is_git_dir(const char *dir, int *failure)
{
	return is_there(dir, "HEAD", false, failure) &&
	    ((is_there(dir, "objects", true, failure) && is_there(dir, "refs", true, failure)) ||
	    is_there(dir, "commondir", false, failure));
}

/* The .git of a work tree or submodule is a file that names the git directory. */
static bool is_git_file(const char *path, int *failure)
{
	static const char mark[] = "gitdir: ";
	char *data;
	size_t size;
	int rv = file_read(AT_FDCWD, path, GITFILE_MAX, &data, &size);
	bool yes;

	if (rv != 0) {
		note_failure(failure, -rv);
		return false;
	}
	yes = size > sizeof(mark) - 1 && memcmp(data, mark, sizeof(mark) - 1) == 0;
	free(data);
	return yes;
}

int git_toplevel(const char *dir, char **top)
{
	char *at = realpath(dir, NULL);
	struct stat st;
	int failure = 0;
	dev_t device;

	*top = NULL;
	if (at == NULL || stat(at, &st) == -1) {
		note_failure(&failure, errno);
		free(at);
		return -failure;
	}
	device = st.st_dev;
	for (;;) {
		char *git = xasprintf("%s/.git", strcmp(at, "/") == 0 ? "" : at), *slash;
		bool is_top = is_git_dir(git, &failure) || is_git_file(git, &failure);

		free(git);
		if (is_top) {
			*top = at;
			return 0;
		}
		/* there is no work tree inside a git directory, and git does not cross file
		 * systems */
		if (failure != 0 || is_git_dir(at, &failure) || strcmp(at, "/") == 0)
			break;
		slash = strrchr(at, '/');
		slash[slash == at] = '\0';
		if (stat(at, &st) == -1)
			note_failure(&failure, errno);
		if (failure != 0 || st.st_dev != device)
			break;
	}
	free(at);
	return -failure;
}
