/* SPDX-License-Identifier: MIT */
#include "git/gitdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "proto/memory.h"

#define POINTER_MAX 65536

/* The path that a small file holds behind mark; a relative one starts at base. */
static char *follow(const char *file, const char *mark, const char *base)
{
	char *data, *path = NULL;
	size_t size;
	int rv = file_read(AT_FDCWD, file, POINTER_MAX, &data, &size);

	if (rv != 0) {
		errno = -rv;
		return NULL;
	}
	while (size > 0 && (data[size - 1] == '\n' || data[size - 1] == '\r'))
		data[--size] = '\0';
	if (strncmp(data, mark, strlen(mark)) == 0 && size > strlen(mark)) {
		const char *to = data + strlen(mark);

		path = to[0] == '/' ? xstrdup(to) : xasprintf("%s/%s", base, to);
	} else {
		errno = EINVAL;
	}
	free(data);
	return path;
}

char *git_dir_own(const char *workspace)
{
	char *git = xasprintf("%s/.git", workspace), *dir = NULL;
	struct stat st;

	if (stat(git, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return git;
		dir = follow(git, "gitdir: ", workspace);
	}
	free(git);
	return dir;
}

char *git_dir_common(const char *workspace)
{
	char *own = git_dir_own(workspace), *file, *common;

	if (own == NULL)
		return NULL;
	file = xasprintf("%s/commondir", own);
	common = follow(file, "", own);
	free(file);
	if (common == NULL && errno == ENOENT)
		return own;		/* not shared */
	free(own);
	return common;
}

/* 16 hex digits. A bare repository is its own directory. */
char *git_dir_id(const char *workspace)
{
	char *common = git_dir_common(workspace), *real = realpath(common != NULL ? common : workspace, NULL);
	const char *path = real != NULL ? real : workspace;
	char hex[DIGEST_HEX], *id;

	digest_hex(path, strlen(path), hex);
	id = xmemdup0(hex, 16);
	free(real);
	free(common);
	return id;
}

const char *git_dir_in_progress(const char *workspace, const char **finish)
{
	static const struct { const char *file, *what, *finish; } all[] = {
		{ "MERGE_HEAD", "a merge is in progress",
		    "finish it with `git commit` or `git merge --abort`" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick is in progress",
		    "finish it with `git cherry-pick --continue` or `--abort`" },
		{ "REVERT_HEAD", "a revert is in progress",
		    "finish it with `git revert --continue` or `--abort`" },
		{ "rebase-merge", "a rebase is in progress",
		    "finish it with `git rebase --continue` or `--abort`" },
		{ "rebase-apply", "a rebase is in progress",
		    "finish it with `git rebase --continue` or `--abort`" },
	};
	char *dir = git_dir_own(workspace);
	const char *what = NULL;

	for (size_t i = 0; dir != NULL && what == NULL && i < sizeof(all) / sizeof(all[0]); i++) {
		char *file = xasprintf("%s/%s", dir, all[i].file);
		struct stat st;

		if (lstat(file, &st) == 0) {
			what = all[i].what;
			*finish = all[i].finish;
		}
		free(file);
	}
	free(dir);
	return what;
}

/* "DIRC", the version, and the number of entries, each a four-byte number. */
bool git_dir_lists(const char *dir)
{
	char *own = git_dir_own(dir), *file = own != NULL ? xasprintf("%s/index", own) : NULL;
	int fd = file != NULL ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	unsigned char head[12];
	bool any = fd != -1 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) && memcmp(head, "DIRC", 4) == 0 &&
	    (head[8] | head[9] | head[10] | head[11]) != 0;

	if (fd != -1)
		close(fd);
	free(file);
	free(own);
	return any;
}
