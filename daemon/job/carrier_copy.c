/* SPDX-License-Identifier: MIT */
#include "job/carrier_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/digest.h"
#include "base/file.h"
#include "model/dirs.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/layout.h"

#define FILE_MAX (1024 * 1024)
#define LARGE_MAX ((size_t)64 * 1024 * 1024)	/* limit for saving a larger one */

/* file times lag by up to a tick of the kernel */
#define TICK_MS 10

/* The rest of path below base; NULL: it is not below it. */
static const char *below(const char *path, const char *base)
{
	size_t n = base != NULL ? strlen(base) : 0;

	return n > 0 && strncmp(path, base, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

int carrier_dir(const char *state_dir, const char *workspace, const char *file, const char **name)
{
	const char *last = strrchr(file, '/'), *rest = below(file, state_dir), *base = state_dir;
	char *dir;
	int fd;

	*name = last + 1;
	if (rest == NULL) {
		base = workspace;
		rest = below(file, workspace);
	}
	if (rest == NULL)
		return -ENOENT;
	dir = xmemdup0(rest, rest < last ? (size_t)(last - rest) : 0);
	fd = file_open_below(base, dir, 0);
	free(dir);
	return fd;
}

int carrier_put(const char *state_dir, const char *workspace, const char *file, const char *data, size_t size)
{
	const char *name;
	int at = carrier_dir(state_dir, workspace, file, &name), rv = 0;

	if (at < 0)
		return data != NULL || host_fault(-at) ? at : 0;
	if (data == NULL)
		unlinkat(at, name, 0);
	else if ((rv = file_write(at, name, data, size, 0644, false)) == 0)
		rv = agent_user_give(at, name, 0660);
	close(at);
	return rv;
}

/* A change after the shim began to end the reviewer is no answer. st: of it or its directory. */
static bool is_answer_to_end(int dirfd, const struct stat *st)
{
	struct exit_record record;

	if (exit_record_read(dirfd, &record) != 0 || record.by == EXIT_OWN || record.signalled_ms == 0)
		return false;
	return (int64_t)st->st_ctim.tv_sec * 1000 + st->st_ctim.tv_nsec / 1000000 + TICK_MS >= record.signalled_ms;
}

/* Why what was opened is no answer. malloc'd; NULL: it is one. */
static char *carrier_fault(int dirfd, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return xstrdup("the review file is not a regular file");
	if (st->st_uid != geteuid() && st->st_uid != agent_user()->is.uid && st->st_uid != 0)
		return xasprintf("the review file belongs to another user, with uid %lld", (long long)st->st_uid);
	if (st->st_nlink > 1)
		return xstrdup("the review file has another name, too: it is a hard link");
	if (is_answer_to_end(dirfd, st))
		return xstrdup("the review file was changed after the reviewer was told to stop");
	return NULL;
}

/* One that is too large may be a review that was paid for: save it. */
static int save_large(struct carrier_copy *copy, int at, const char *name, int dirfd, const char *dir)
{
	int rv = copy->file != NULL ? file_move(at, name, dirfd, RECORD_LARGE, LARGE_MAX) : 0;

	if (rv == 0)
		copy->fault = xasprintf("the review file is larger than 1 MiB; it is saved as %s/%s", dir,
		    copy->file != NULL ? RECORD_LARGE : name);
	return rv;
}

static int copy_open(struct carrier_copy *copy, int fd, int at, const char *name, int dirfd, const char *dir)
{
	struct buf b = { 0 };
	char hex[DIGEST_HEX];
	struct stat st;
	int rv = 0;

	if (at >= 0 && fstat(fd != -1 ? fd : at, &st) == -1)
		return -errno;
	if (fd != -1)
		copy->fault = carrier_fault(dirfd, &st);
	else if (at >= 0 && at != dirfd && is_answer_to_end(dirfd, &st))
		copy->fault = xstrdup("there is no review file, and its directory was changed after the reviewer "
		    "was told to stop");
	if (copy->fault != NULL)
		return 0;
	if (fd != -1)
		rv = buf_read(&b, fd, FILE_MAX);
	if (rv == -EFBIG) {
		buf_release(&b);
		return save_large(copy, at, name, dirfd, dir);
	}
	if (rv == 0)
		rv = file_write(dirfd, RECORD_CARRIER, b.data != NULL ? b.data : "", b.size, 0600, true);
	if (rv == 0) {
		digest_hex(b.data != NULL ? b.data : "", b.size, hex);
		copy->hash = xstrdup(hex);
	}
	buf_release(&b);
	return rv;
}

/* From the directory at, or -errno. */
static int copy_from(struct carrier_copy *copy, int at, const char *name, int dirfd, const char *dir)
{
	int fd = at >= 0 ? openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
	int rv = at < 0 ? at : fd == -1 ? -errno : 0;

	if (rv == 0 || rv == -ENOENT)
		rv = copy_open(copy, fd, at, name, dirfd, dir);
	if (fd != -1)
		close(fd);
	if (rv == 0 || host_fault(-rv))
		return rv;
	if (rv == -ELOOP || rv == -ENXIO || rv == -ENODEV)
		copy->fault = xstrdup("the review file is not a regular file");
	else if (rv == -ENOTDIR)
		copy->fault = xstrdup("the directory of the review file is not that of the reviewer: it is a link "
		    "or a file");
	else
		copy->fault = xasprintf("the review file cannot be read: %s", strerror(-rv));
	return 0;
}

int carrier_copy_make(struct carrier_copy *copy, const char *state_dir, int64_t attempt)
{
	char *dir = dirs_attempt(state_dir, attempt);
	const char *name = RECORD_VERDICT;
	int dirfd = dirs_open_attempt(state_dir, attempt), at = dirfd, rv;

	if (dirfd >= 0 && copy->file != NULL)
		at = carrier_dir(state_dir, copy->workspace, copy->file, &name);
	rv = dirfd < 0 ? dirfd : copy_from(copy, at, name, dirfd, dir);
	if (at >= 0 && at != dirfd)
		close(at);
	if (dirfd >= 0)
		close(dirfd);
	free(dir);
	return rv;
}

int carrier_copy_read(int dirfd, const char *hash, char **data, size_t *size)
{
	return file_read_recorded(dirfd, RECORD_CARRIER, FILE_MAX, hash, data, size);
}

void carrier_copy_release(struct carrier_copy *copy)
{
	free(copy->file);
	free(copy->workspace);
	free(copy->hash);
	free(copy->fault);
}
