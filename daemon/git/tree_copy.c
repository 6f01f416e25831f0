/* SPDX-License-Identifier: MIT */
#include "git/tree_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/artifact.h"
#include "git/room_copy.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
#define DEPTH_MAX 200		/* two descriptors each */
#define CHUNK (256 * 1024)
#define LINK_MAX_BYTES 4096

/* ---- what belongs to git ---- */

#define MODE_REPOSITORY 0160000

/* A submodule is a directory of git's, with the content of nobody but a set-up. */
static bool is_left_out(const struct tree_copy *copy, const char *path)
{
	const struct change *tracked = changes_find(copy->tracked, path);

	return strcmp(path, ".git") == 0 || (tracked != NULL && tracked->mode != MODE_REPOSITORY) ||
	    artifact_has(copy->left_out, path);
}

/* ---- texts ---- */

static bool has_text(const struct tree_copy *copy, const char *data, size_t size)
{
	for (char *const *text = copy->sought; text != NULL && *text != NULL; text++)
		if (memmem(data, size, *text, strlen(*text)) != NULL)
			return true;
	return false;
}

static size_t longest(char *const *texts)
{
	size_t size = 1;

	for (; *texts != NULL; texts++)
		size = strlen(*texts) > size ? strlen(*texts) : size;
	return size;
}

/* 0 or -errno. */
static int search(struct tree_copy *copy, int dir, const char *name)
{
	size_t kept = 0, overlap;
	char *chunk;
	ssize_t n = 0;
	int fd;

	if (copy->sought == NULL || copy->found)
		return 0;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1)
		return -errno;
	overlap = longest(copy->sought) - 1;
	chunk = xcalloc(1, CHUNK + overlap);
	while (!copy->found && (n = read(fd, chunk + kept, CHUNK)) != 0) {
		if (n == -1 && errno != EINTR)
			break;
		kept += n > 0 ? (size_t)n : 0;
		copy->found = has_text(copy, chunk, kept);
		if (kept > overlap) {
			memmove(chunk, chunk + kept - overlap, overlap);
			kept = overlap;
		}
	}
	n = !copy->found && n == -1 ? -errno : 0;
	close(fd);
	free(chunk);
	return (int)n;
}

/* ---- one of them ---- */

static int keep_times(int dir, const char *name, const struct stat *st)
{
	const struct timespec times[] = { st->st_mtim, st->st_mtim };

	return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}

static int make_way(int to, const char *name)
{
	return unlinkat(to, name, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

static int copy_file(struct tree_copy *copy, int from, int to, const char *name, const struct stat *st)
{
	int rv = make_way(to, name);

	if (rv == 0)
		rv = room_copy_file(from, name, to, name, st->st_mode & 0777);
	if (rv == 0)
		rv = keep_times(to, name, st);
	return rv == 0 ? search(copy, from, name) : rv;
}

static int copy_link(struct tree_copy *copy, int from, int to, const char *name, const struct stat *st)
{
	char text[LINK_MAX_BYTES];
	ssize_t size = readlinkat(from, name, text, sizeof(text) - 1);
	int rv = size == -1 ? -errno : make_way(to, name);

	if (rv != 0)
		return rv;
	text[size] = '\0';
	copy->found |= has_text(copy, text, (size_t)size);
	return symlinkat(text, to, name) == 0 ? keep_times(to, name, st) : -errno;
}

static int copy_content(struct tree_copy *copy, int from, int to, const char *path, int depth, bool *any);

/* One with files of git below is made only if there is anything else in it; its mode is git's. */
static int copy_directory(struct tree_copy *copy, int from, int to, const char *name, const char *path,
    const struct stat *st, int depth, bool *any)
{
	bool mixed = changes_has_below(copy->tracked, path), content = false,
	    made = mkdirat(to, name, mixed ? 0755 : 0700) == 0;
	int rv = made || errno == EEXIST ? 0 : -errno, below = -1, its = -1;

	if (rv == 0 && ((below = openat(from, name, OPEN_DIR)) == -1 || (its = openat(to, name, OPEN_DIR)) == -1 ||
	    (!mixed && fchmod(its, 0700) == -1)))
		rv = -errno;
	if (rv == 0)
		rv = copy_content(copy, below, its, path, depth + 1, &content);
	if (rv == 0 && !mixed && fchmod(its, st->st_mode & 0777) == -1)
		rv = -errno;
	if (rv == 0 && !mixed)
		rv = keep_times(to, name, st);
	if (below != -1)
		close(below);
	if (its != -1)
		close(its);
	if (rv == 0 && made && mixed && !content && unlinkat(to, name, AT_REMOVEDIR) == -1)
		rv = -errno;
	*any |= content || !mixed;
	return rv;
}

static int copy_entry(struct tree_copy *copy, int from, int to, const char *name, const char *path, int depth,
    bool *any)
{
	struct stat st;
	int rv;

	if (is_left_out(copy, path))
		return 0;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return copy_directory(copy, from, to, name, path, &st, depth, any);
	if ((!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) || changes_has_below(copy->tracked, path))
		return 0;
	rv = S_ISLNK(st.st_mode) ? copy_link(copy, from, to, name, &st) : copy_file(copy, from, to, name, &st);
	*any = true;
	return rv;
}

static int copy_content(struct tree_copy *copy, int from, int to, const char *path, int depth, bool *any)
{
	int fd = depth < DEPTH_MAX ? openat(from, ".", OPEN_DIR) : -1, rv = 0;
	DIR *dir = fd != -1 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (dir == NULL)
		return depth < DEPTH_MAX ? -errno : -ENAMETOOLONG;
	while (rv == 0 && (errno = 0, e = readdir(dir)) != NULL) {
		char *its;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		its = path[0] != '\0' ? xasprintf("%s/%s", path, e->d_name) : xstrdup(e->d_name);
		rv = copy_entry(copy, from, to, e->d_name, its, depth, any);
		if (rv != 0 && copy->path == NULL)
			copy->path = xstrdup(its);
		free(its);
	}
	if (rv == 0)
		rv = -errno;
	closedir(dir);
	return rv;
}

int tree_copy(struct tree_copy *copy, int from, int to)
{
	bool any = false;

	return copy_content(copy, from, to, "", 0, &any);
}
