/* SPDX-License-Identifier: MIT */
/* git_top(): finds the repository by the rules of git's own discovery, without running git. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "git/op.h"

#define GITFILE_MAX 65536

static bool is_dir(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct stat st;
	bool yes = stat(path, &st) == 0 && S_ISDIR(st.st_mode);

	free(path);
	return yes;
}

/* What git takes for a git directory: HEAD, objects/ and refs/, or commondir in their place for a worktree's. */
static bool is_git_dir(const char *dir)
{
	char *head = xasprintf("%s/HEAD", dir), *common = xasprintf("%s/commondir", dir);
	struct stat st;
	bool yes = lstat(head, &st) == 0 && ((is_dir(dir, "objects") && is_dir(dir, "refs")) || stat(common, &st) == 0);

	free(head);
	free(common);
	return yes;
}

/* A worktree's or submodule's .git is a file that names the git directory. */
static bool is_git_file(const char *path)
{
	static const char mark[] = "gitdir: ";
	char *data;
	size_t size;
	bool yes;

	if (file_read(AT_FDCWD, path, GITFILE_MAX, &data, &size) != 0)
		return false;
	yes = size > sizeof(mark) - 1 && memcmp(data, mark, sizeof(mark) - 1) == 0;
	free(data);
	return yes;
}

char *git_top(const char *dir)
{
	char *at = realpath(dir, NULL), *found = NULL;
	struct stat st;
	dev_t device;

	if (at == NULL || stat(at, &st) == -1) {
		free(at);
		return NULL;
	}
	device = st.st_dev;
	while (found == NULL) {
		char *git = xasprintf("%s/.git", strcmp(at, "/") == 0 ? "" : at), *slash;
		bool is_top = is_git_dir(git) || is_git_file(git);

		free(git);
		if (is_top) {
			found = xstrdup(at);
			break;
		}
		/* Inside a git directory there is no work tree. git does not cross file systems either. */
		if (is_git_dir(at) || strcmp(at, "/") == 0)
			break;
		slash = strrchr(at, '/');
		slash[slash == at] = '\0';
		if (stat(at, &st) == -1 || st.st_dev != device)
			break;
	}
	free(at);
	return found;
}
