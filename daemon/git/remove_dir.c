/* SPDX-License-Identifier: MIT */
#include "git/remove_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether that directory is on the mount of dir: 0, -EXDEV or another -errno. A bind mount has the
 * device of its source, so only the kernel says it. */
static int is_here(int dir, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };
	struct stat above, st;
	long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));

	if (fd != -1) {
		close((int)fd);
		return 0;
	}
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	/* an older kernel, or a filter of system calls that does not know it */
	if (fstat(dir, &above) == -1 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return -errno;
	return st.st_dev == above.st_dev ? 0 : -EXDEV;
}

/* The same of a path: whether nothing is mounted there. */
static int is_no_mount(const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	int dir, rv;

	if (slash == NULL)
		return is_here(AT_FDCWD, path);
	snprintf(parent, sizeof(parent), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return -errno;
	rv = slash[1] != '\0' ? is_here(dir, slash + 1) : 0;
	close(dir);
	return rv;
}

/* One of another user is as open as it is. */
static bool open_up(int fd, const char *name)
{
	return fchmodat(fd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 || errno == EPERM;
}

/* Move a directory of fd to root, under an unused number. */
static int move_up(int root, int fd, const char *name, unsigned *number)
{
	char to[32];
	int rv = is_here(fd, name);

	if (rv != 0)
		return rv;
	/* needs write permission, because moving it changes its ".." */
	if (!open_up(fd, name))
		return -errno;
	do {
		snprintf(to, sizeof(to), "%u", (*number)++);
		rv = renameat(fd, name, root, to) == -1 ? -errno : 0;
	} while (rv == -EEXIST || rv == -ENOTEMPTY || rv == -ENOTDIR);
	return rv;
}

/* What is being removed, and how much of it may be. */
struct removal {
	unsigned number;		/* the next name of a directory that is moved */
	size_t left;			/* entries, SIZE_MAX: all */
};

static bool is_enough(struct removal *r)
{
	if (r->left == 0)
		return true;
	r->left -= r->left != SIZE_MAX;
	return false;
}

/* 0; 1: it is enough; -errno. */
static int remove_entry(struct removal *r, int fd, const char *name)
{
	if (is_enough(r))
		return 1;
	return unlinkat(fd, name, 0) == -1 ? -errno : 0;
}

/* Remove the content of dir, moving directories up to root: so at most three are open, whatever the
 * depth. */
static int remove_level(int root, const char *dir, struct removal *r)
{
	struct dirent *entry;
	int fd, rv = is_here(root, dir);
	DIR *d;

	if (rv != 0)
		return rv;
	if (!open_up(root, dir) || (fd = openat(root, dir, OPEN_DIR)) == -1)
		return -errno;
	d = fdopendir(fd);
	if (d == NULL) {
		rv = -errno;
		close(fd);
		return rv;
	}
	while (rv == 0 && (errno = 0, entry = readdir(d)) != NULL) {
		if (is_dots(entry->d_name))
			continue;
		rv = remove_entry(r, fd, entry->d_name);
		if (rv == -EISDIR)
			rv = move_up(root, fd, entry->d_name, &r->number);
	}
	if (rv == 0)
		rv = -errno;
	closedir(d);
	if (rv == 0 && unlinkat(root, dir, AT_REMOVEDIR) == -1)
		rv = -errno;
	return rv;
}

/* Rounds over root, until one removes nothing: what another user must remove stays. */
static int remove_content(int root, struct removal *r)
{
	bool found = true;
	int rv = 0, kept = 0;

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
		kept = 0;
		while (rv == 0 && (errno = 0, entry = readdir(d)) != NULL) {
			if (is_dots(entry->d_name))
				continue;
			rv = remove_entry(r, root, entry->d_name);
			if (rv == -EISDIR)
				rv = remove_level(root, entry->d_name, r);
			found |= rv == 0;
			kept = rv == -EPERM ? rv : kept;
			rv = rv == -EPERM ? 0 : rv;
		}
		if (rv == 0)
			rv = -errno;
		closedir(d);
	}
	return rv != 0 ? rv : kept;
}

int empty_dir(int root)
{
	struct removal all = { 0, SIZE_MAX };

	return remove_content(root, &all);
}

int remove_dir(const char *dir)
{
	return remove_dir_some(dir, SIZE_MAX);
}

int remove_dir_some(const char *dir, size_t limit)
{
	struct removal r = { 0, limit };
	struct stat st;
	int root, rv;

	if (lstat(dir, &st) == -1)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (!S_ISDIR(st.st_mode))
		return unlink(dir) == -1 ? -errno : 0;
	rv = is_no_mount(dir);
	if (rv != 0)
		return rv;
	if ((st.st_mode & 0700) != 0700 && fchmodat(AT_FDCWD, dir, 0700, AT_SYMLINK_NOFOLLOW) == -1)
		return -errno;
	root = open(dir, OPEN_DIR);
	if (root == -1)
		return -errno;
	rv = remove_content(root, &r);
	close(root);
	if (rv == 0 && rmdir(dir) == -1)
		rv = -errno;
	return rv;
}
