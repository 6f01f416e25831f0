/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "proto/memory.h"

int file_read(int dirfd, const char *name, size_t max, char **data, size_t *size)
{
	struct buf b = { 0 };
	struct stat st;
	int fd, rv;

	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1)
		return -errno;
	if (fstat(fd, &st) == -1) {
		rv = -errno;
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		rv = -EINVAL;
		goto out;
	}
	rv = buf_read(&b, fd, max);
	if (rv == 0)
		*data = buf_take(&b, size);
out:
	buf_release(&b);
	close(fd);
	return rv;
}

int file_read_recorded(int dirfd, const char *name, size_t max, const char *hash, char **data,
    size_t *size)
{
	char hex[DIGEST_HEX];
	int rv = file_read(dirfd, name, max, data, size);

	if (rv != 0 || hash == NULL)
		return rv;
	digest_hex(*data, *size, hex);
	if (strcmp(hex, hash) == 0)
		return 0;
	free(*data);
	*data = NULL;
	*size = 0;
	return -ESTALE;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

/* fsync the directory that contains name, which makes the rename durable. */
static int sync_parent(int dirfd, const char *name)
{
	char path[PATH_MAX];
	const char *slash = strrchr(name, '/');
	int fd, rv;

	if (slash == NULL)
		snprintf(path, sizeof(path), ".");
	else
		snprintf(path, sizeof(path), "%.*s", slash == name ? 1 : (int)(slash - name), name);
	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (fd == -1)
		return -errno;
	rv = fsync(fd) == -1 ? -errno : 0;
	close(fd);
	return rv;
}

/* keep_mode: exactly mode, ignoring the umask. */
static int file_replace(int dirfd, const char *name, const void *data, size_t size, int mode,
    bool keep_mode, bool durable)
{
	char *tmp = xasprintf("%s.tmp%d", name, (int)gettid());
	int fd, rv;

	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd == -1) {
		rv = -errno;
		free(tmp);
		return rv;
	}
	rv = keep_mode && fchmod(fd, (mode_t)mode) == -1 ? -errno : 0;
	if (rv == 0)
		rv = write_all(fd, data, size);
	if (rv == 0 && durable && fsync(fd) == -1)
		rv = -errno;
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	if (rv == 0 && renameat(dirfd, tmp, dirfd, name) == -1)
		rv = -errno;
	if (rv != 0)
		unlinkat(dirfd, tmp, 0);
	else if (durable)
		rv = sync_parent(dirfd, name);
	free(tmp);
	return rv;
}

int file_write(int dirfd, const char *name, const void *data, size_t size, int mode, bool durable)
{
	return file_replace(dirfd, name, data, size, mode, false, durable);
}

int file_update(const char *path, const void *data, size_t size)
{
	char *target = realpath(path, NULL);
	struct stat st;
	int rv;

	if (target == NULL)
		return -errno;
	if (stat(target, &st) == -1)
		rv = -errno;
	else if (!S_ISREG(st.st_mode))
		rv = -EINVAL;
	else
		rv = file_replace(AT_FDCWD, target, data, size, st.st_mode & 07777, true, true);
	free(target);
	return rv;
}

int file_mkdirs(const char *path, int mode)
{
	char *copy = xstrdup(path);
	int rv = 0;

	for (char *p = copy + 1; rv == 0; p++) {
		if (*p != '/' && *p != '\0')
			continue;
		char end = *p;

		*p = '\0';
		if (mkdir(copy, (mode_t)mode) == -1 && errno != EEXIST)
			rv = -errno;
		*p = end;
		if (end == '\0')
			break;
	}
	free(copy);
	return rv;
}

void file_remove_tree(const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	const FTSENT *entry;

	while (fts != NULL && (entry = fts_read(fts)) != NULL) {
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else if (entry->fts_info != FTS_D)
			unlink(entry->fts_accpath);
	}
	if (fts != NULL)
		fts_close(fts);
}

int file_mkdir_anew(const char *path, int mode)
{
	if (mkdir(path, (mode_t)mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	file_remove_tree(path);
	return mkdir(path, (mode_t)mode) == -1 ? -errno : 0;
}

/* Copy up to max bytes between descriptors. Returns 0 or -errno. */
static int file_copy(int from, int to, size_t max)
{
	char chunk[16384];
	ssize_t n = 0;
	int rv = 0;

	while (rv == 0 && max > 0 && (n = read(from, chunk, max < sizeof(chunk) ? max : sizeof(chunk))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		rv = write_all(to, chunk, (size_t)n);
		max -= (size_t)n;
	}
	return rv;
}

int file_move(int fromdir, const char *from, int dirfd, const char *name, size_t max)
{
	int in, out, rv = renameat(fromdir, from, dirfd, name) == -1 ? -errno : 0;

	if (rv != -EXDEV)
		return rv;
	in = openat(fromdir, from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (in == -1)
		return -errno;
	unlinkat(dirfd, name, 0);
	out = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rv = out == -1 ? -errno : file_copy(in, out, max);
	if (rv == 0 && fsync(out) == -1)
		rv = -errno;
	if (out != -1)
		close(out);
	close(in);
	if (rv != 0)
		unlinkat(dirfd, name, 0);
	else
		unlinkat(fromdir, from, 0);
	return rv;
}

/* Open name below at, creating it if it is missing and mode is not 0; closes at. */
static int file_enter(int at, const char *name, int mode)
{
	int fd = -1, rv = 0;

	if (mode != 0 && mkdirat(at, name, (mode_t)mode) == -1 && errno != EEXIST)
		rv = -errno;
	else if ((fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)) == -1)
		rv = errno == ELOOP ? -ENOTDIR : -errno;
	close(at);
	return rv == 0 ? fd : rv;
}

int file_open_below(const char *base, const char *path, int mode)
{
	int at = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *copy = xstrdup(path), *rest = copy, *word;

	if (at == -1)
		at = -errno;
	while (at >= 0 && (word = strsep(&rest, "/")) != NULL)
		if (word[0] != '\0' && strcmp(word, ".") != 0)
			at = file_enter(at, word, mode);
	free(copy);
	return at;
}
