/* SPDX-License-Identifier: MIT */
#include "git/lay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "proto/memory.h"

#define MODE_DIR 0755
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

struct lay {
	int root;
	int at;			/* open: the directory named in path; -1: none */
	char *path;		/* owned */
};

bool lay_allows(const char *path)
{
	for (const char *p = path; ; p++) {
		size_t size = strcspn(p, "/");

		if (size == 0 || (size <= 2 && strncmp(p, "..", size) == 0) || (size == 4 && strncasecmp(p, ".git", size) == 0))
			return false;
		p += size;
		if (*p == '\0')
			return true;
	}
}

/* ---- emptying ---- */

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A directory of fd becomes one of root, under a number that nobody has. */
static int move_up(int root, int fd, const char *name, unsigned *number)
{
	char to[32];
	int rv;

	if (fchmodat(fd, name, 0700, AT_SYMLINK_NOFOLLOW) == -1)	/* its ".." changes */
		return -errno;
	do {
		snprintf(to, sizeof(to), "%u", (*number)++);
		rv = renameat(fd, name, root, to) == -1 ? -errno : 0;
	} while (rv == -EEXIST || rv == -ENOTEMPTY || rv == -ENOTDIR);
	return rv;
}

/* What stands in dir goes, directories move up into root: no depth needs more than three open ones. */
static int lift(int root, const char *dir, unsigned *number)
{
	struct dirent *entry;
	int fd, rv = 0;
	DIR *d;

	if (fchmodat(root, dir, 0700, AT_SYMLINK_NOFOLLOW) == -1 || (fd = openat(root, dir, OPEN_DIR)) == -1)
		return -errno;
	d = fdopendir(fd);
	if (d == NULL) {
		rv = -errno;
		close(fd);
		return rv;
	}
	while (rv == 0 && (errno = 0, entry = readdir(d)) != NULL) {
		if (is_dots(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		rv = errno == EISDIR ? move_up(root, fd, entry->d_name, number) : -errno;
	}
	if (rv == 0)
		rv = -errno;
	closedir(d);
	if (rv == 0 && unlinkat(root, dir, AT_REMOVEDIR) == -1)
		rv = -errno;
	return rv;
}

/* Rounds over root, until one finds nothing. */
static int empty(int root)
{
	unsigned number = 0;
	bool found = true;
	int rv = 0;

	while (rv == 0 && found) {
		struct dirent *entry;
		int fd = openat(root, ".", OPEN_DIR);
		DIR *d = fd != -1 ? fdopendir(fd) : NULL;

		if (d == NULL) {
			rv = -errno;
			if (fd != -1)
				close(fd);
			break;
		}
		found = false;
		while (rv == 0 && (errno = 0, entry = readdir(d)) != NULL) {
			if (is_dots(entry->d_name))
				continue;
			found = true;
			if (unlinkat(root, entry->d_name, 0) == -1)
				rv = errno == EISDIR ? lift(root, entry->d_name, &number) : -errno;
		}
		if (rv == 0)
			rv = -errno;
		closedir(d);
	}
	return rv;
}

int lay_new(const char *dir, struct lay **lay)
{
	int root, rv = file_mkdirs(dir, 0700);

	if (rv != 0)
		return rv;
	if (fchmodat(AT_FDCWD, dir, 0700, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == EOPNOTSUPP ? -ENOTDIR : -errno;
	root = open(dir, OPEN_DIR);
	if (root == -1)
		return -errno;
	rv = empty(root);
	if (rv != 0) {
		close(root);
		return rv;
	}
	*lay = xcalloc(1, sizeof(**lay));
	**lay = (struct lay){ .root = root, .at = -1 };
	return 0;
}

void lay_free(struct lay *lay)
{
	if (lay == NULL)
		return;
	if (lay->at != -1)
		close(lay->at);
	close(lay->root);
	free(lay->path);
	free(lay);
}

int lay_remove(const char *dir)
{
	struct stat st;
	int root, rv;

	if (lstat(dir, &st) == -1)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (!S_ISDIR(st.st_mode))
		return unlink(dir) == -1 ? -errno : 0;
	if ((st.st_mode & 0700) != 0700 && fchmodat(AT_FDCWD, dir, 0700, AT_SYMLINK_NOFOLLOW) == -1)
		return -errno;
	root = open(dir, OPEN_DIR);
	if (root == -1)
		return -errno;
	rv = empty(root);
	close(root);
	if (rv == 0 && rmdir(dir) == -1)
		rv = -errno;
	return rv;
}

/* ---- filling ---- */

static int make(int at, const char *name)
{
	/* The mode is the same whatever the umask. */
	return mkdirat(at, name, MODE_DIR) == -1 || fchmodat(at, name, MODE_DIR, AT_SYMLINK_NOFOLLOW) == -1 ? -errno : 0;
}

/* name below *at, made when it is missing, takes the place of *at. */
static int enter(int *at, const char *name)
{
	int fd = -1, rv = make(*at, name);

	if (rv == -EEXIST)
		rv = 0;
	if (rv == 0 && (fd = openat(*at, name, OPEN_DIR)) == -1)
		rv = errno == ELOOP ? -ENOTDIR : -errno;
	close(*at);
	*at = fd;
	return rv;
}

/* The directory that path is to stand in; *name: its last component. It stays open: trees are sorted. */
static int parent(struct lay *lay, const char *path, const char **name, int *at)
{
	const char *slash = strrchr(path, '/');
	char *dir = xmemdup0(path, slash != NULL ? (size_t)(slash - path) : 0), *words, *word, *rest;
	int rv = 0;

	*name = slash != NULL ? slash + 1 : path;
	if (lay->at != -1 && strcmp(lay->path, dir) == 0) {
		free(dir);
		*at = lay->at;
		return 0;
	}
	if (lay->at != -1)
		close(lay->at);
	free(lay->path);
	lay->path = dir;
	lay->at = openat(lay->root, ".", OPEN_DIR);
	if (lay->at == -1)
		return -errno;
	words = rest = xstrdup(dir);
	while (rv == 0 && slash != NULL && (word = strsep(&rest, "/")) != NULL)
		rv = enter(&lay->at, word);
	free(words);
	*at = lay->at;
	return rv;
}

int lay_directory(struct lay *lay, const char *path)
{
	const char *name;
	int at, rv = parent(lay, path, &name, &at);

	return rv == 0 ? make(at, name) : rv;
}

int lay_link(struct lay *lay, const char *path, const char *text)
{
	const char *name;
	int at, rv = parent(lay, path, &name, &at);

	return rv == 0 && symlinkat(text, at, name) == -1 ? -errno : rv;
}

int lay_file(struct lay *lay, const char *path, bool program, int *fd)
{
	const char *name;
	int at, rv = parent(lay, path, &name, &at);

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
