/* SPDX-License-Identifier: MIT */
#include "git/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "child/child.h"
#include "git/remove_dir.h"
#include "proto/memory.h"

#define MODE_DIR 0755
#define MODE_TOP 0700
#define MODE_OURS 0070		/* rld, with our group, makes way for a review file there */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

struct unpack {
	int root;
	int at;			/* open: the directory named in path; -1: none */
	char *path;		/* owned */
};

bool unpack_allows(const char *path)
{
	for (const char *p = path; ; p++) {
		size_t size = strcspn(p, "/");

		if (size == 0 || (size <= 2 && strncmp(p, "..", size) == 0) ||
		    (size == 4 && strncasecmp(p, ".git", size) == 0))
			return false;
		p += size;
		if (*p == '\0')
			return true;
	}
}

static mode_t mode_of(mode_t mode)
{
	return child_has_agents() ? mode | MODE_OURS : mode;
}

int unpack_new(const char *dir, struct unpack **unpack)
{
	int rv = file_mkdirs(dir, 0700);

	*unpack = NULL;
	if (rv != 0)
		return rv;
	if (fchmodat(AT_FDCWD, dir, mode_of(MODE_TOP), AT_SYMLINK_NOFOLLOW) == -1)
		return errno == EOPNOTSUPP ? -ENOTDIR : -errno;
	rv = unpack_open(dir, unpack);
	if (rv == 0)
		rv = empty_dir((*unpack)->root);
	if (rv != 0) {
		unpack_free(*unpack);
		*unpack = NULL;
	}
	return rv;
}

int unpack_open(const char *dir, struct unpack **unpack)
{
	int root = open(dir, OPEN_DIR);

	*unpack = NULL;
	if (root == -1)
		return errno == ELOOP ? -ENOTDIR : -errno;
	*unpack = xcalloc(1, sizeof(**unpack));
	**unpack = (struct unpack){ .root = root, .at = -1 };
	return 0;
}

void unpack_free(struct unpack *unpack)
{
	if (unpack == NULL)
		return;
	if (unpack->at != -1)
		close(unpack->at);
	close(unpack->root);
	free(unpack->path);
	free(unpack);
}

static int make_dir(int at, const char *name)
{
	/* the mode does not depend on the umask */
	return mkdirat(at, name, MODE_DIR) == -1 || fchmodat(at, name, mode_of(MODE_DIR),
	    AT_SYMLINK_NOFOLLOW) == -1 ? -errno : 0;
}

/* Replace *at by its subdirectory name, created if missing and wanted. */
static int enter_dir(int *at, const char *name, bool make)
{
	int fd = -1, rv = make ? make_dir(*at, name) : 0;

	if (rv == -EEXIST)
		rv = 0;
	if (rv == 0 && (fd = openat(*at, name, OPEN_DIR)) == -1)
		rv = errno == ELOOP ? -ENOTDIR : -errno;
	close(*at);
	*at = fd;
	return rv;
}

/* The directory for path; *name: its last component. It stays open, because trees are sorted. */
static int open_parent(struct unpack *unpack, const char *path, bool make, const char **name, int *at)
{
	const char *slash = strrchr(path, '/');
	char *dir = xmemdup0(path, slash != NULL ? (size_t)(slash - path) : 0), *words, *word, *rest;
	int rv = 0;

	*name = slash != NULL ? slash + 1 : path;
	*at = -1;
	if (unpack->at != -1 && strcmp(unpack->path, dir) == 0) {
		free(dir);
		*at = unpack->at;
		return 0;
	}
	if (unpack->at != -1)
		close(unpack->at);
	free(unpack->path);
	unpack->path = dir;
	unpack->at = openat(unpack->root, ".", OPEN_DIR);
	if (unpack->at == -1)
		return -errno;
	words = rest = xstrdup(dir);
	while (rv == 0 && slash != NULL && (word = strsep(&rest, "/")) != NULL)
		rv = enter_dir(&unpack->at, word, make);
	free(words);
	*at = unpack->at;
	return rv;
}

int unpack_find(struct unpack *unpack, const char *path, int *at, const char **name)
{
	return open_parent(unpack, path, false, name, at);
}

int unpack_directory(struct unpack *unpack, const char *path)
{
	const char *name;
	int at, rv = open_parent(unpack, path, true, &name, &at);

	return rv == 0 ? make_dir(at, name) : rv;
}

int unpack_link(struct unpack *unpack, const char *path, const char *text)
{
	const char *name;
	int at, rv = open_parent(unpack, path, true, &name, &at);

	return rv == 0 && symlinkat(text, at, name) == -1 ? -errno : rv;
}

int unpack_move(struct unpack *unpack, const char *path, int from, const char *old)
{
	const char *name;
	int at, rv = open_parent(unpack, path, true, &name, &at);

	return rv == 0 && renameat2(from, old, at, name, RENAME_NOREPLACE) == -1 ? -errno : rv;
}

int unpack_file(struct unpack *unpack, const char *path, bool program, int *fd)
{
	const char *name;
	int at, rv = open_parent(unpack, path, true, &name, &at);

	if (rv != 0)
		return rv;
	*fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd == -1)
		return -errno;
	if (fchmod(*fd, program ? 0755 : 0644) == -1) {
		rv = -errno;
		close(*fd);
		return rv;
	}
	return 0;
}
