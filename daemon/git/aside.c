/* SPDX-License-Identifier: MIT */
#include "git/aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static int make_parents(int to, const char *path)
{
	char *copy = xstrdup(path);
	int rv = 0;

	for (char *p = strchr(copy, '/'); rv == 0 && p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdirat(to, copy, 0700) == -1 && errno != EEXIST)
			rv = -errno;
		*p = '/';
	}
	free(copy);
	return rv;
}

static int copy_bytes(int in, int out)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(in, chunk, sizeof(chunk))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		for (ssize_t done = 0; done < n; ) {
			ssize_t written = write(out, chunk + done, (size_t)(n - done));

			if (written == -1 && errno != EINTR)
				return -errno;
			done += written > 0 ? written : 0;
		}
	}
	return 0;
}

static int copy_file(int from, int to, const char *name, const struct stat *st)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	int in, out, rv;

	in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (in == -1)
		return -errno;
	out = openat(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out == -1) {
		rv = -errno;
		close(in);
		return rv;
	}
	rv = copy_bytes(in, out);
	if (rv == 0 && (fchmod(out, st->st_mode & 0777) == -1 || futimens(out, times) == -1))
		rv = -errno;
	if (close(out) == -1 && rv == 0)
		rv = -errno;
	close(in);
	return rv;
}

static int copy_link(int from, int to, const char *name)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n == -1)
		return -errno;
	text[n] = '\0';
	if (symlinkat(text, to, name) == -1 && errno != EEXIST)
		return -errno;
	return 0;
}

static int copy_dir(int from, int to, const char *name)
{
	int in, out = -1, rv = 0;
	struct dirent *entry;
	DIR *dir = NULL;

	in = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (in == -1 || (dir = fdopendir(in)) == NULL) {
		rv = -errno;
		if (in != -1)
			close(in);
		return rv;
	}
	if (mkdirat(to, name, 0700) == -1 && errno != EEXIST)
		rv = -errno;
	else if ((out = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) == -1)
		rv = -errno;
	while (rv == 0 && (errno = 0, entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rv = aside_copy(in, out, entry->d_name);
	}
	if (rv == 0)
		rv = -errno;
	if (out != -1)
		close(out);
	closedir(dir);
	return rv;
}

int aside_copy(int from, int to, const char *path)
{
	struct stat st;
	bool dir;
	int rv = make_parents(to, path);

	if (rv != 0)
		return rv;
	if (fstatat(from, path, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : -errno;
	dir = S_ISDIR(st.st_mode);
	if (dir)
		rv = copy_dir(from, to, path);
	else if (S_ISREG(st.st_mode))
		rv = copy_file(from, to, path, &st);
	else if (S_ISLNK(st.st_mode))
		rv = copy_link(from, to, path);
	if (rv == 0 && unlinkat(from, path, dir ? AT_REMOVEDIR : 0) == -1)
		rv = -errno;
	return rv;
}

int aside_move(int from, int to, const char *path)
{
	int rv = make_parents(to, path);

	if (rv != 0)
		return rv;
	if (renameat(from, path, to, path) == 0 || errno == ENOENT)
		return 0;
	return errno == EXDEV ? aside_copy(from, to, path) : -errno;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

void aside_each(const char *dir, void (*each)(void *arg, const char *path), void *arg)
{
	char *root = xstrdup(dir), *roots[] = { root, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	while (fts != NULL && (entry = fts_read(fts)) != NULL) {
		if (entry->fts_info == FTS_D && strcmp(entry->fts_name, ".git") == 0)
			fts_set(fts, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F || entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)
			each(arg, entry->fts_path + strlen(dir) + 1);
	}
	if (fts != NULL)
		fts_close(fts);
	free(root);
}
