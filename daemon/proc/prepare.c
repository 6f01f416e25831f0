/* SPDX-License-Identifier: MIT */
#include "proc/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agent_user.h"
#include "base/file.h"
#include "record/layout.h"
#include "record/lock_file.h"
#include "record/output.h"

static int prepare_failed(struct prepare *p, const char *name, const char *why)
{
	snprintf(p->error, sizeof(p->error), "attempt directory %s%s%s: %s", p->dir, name != NULL ? "/" : "",
	    name != NULL ? name : "", why);
	return -1;
}

static int failed_errno(struct prepare *p, const char *name, int error)
{
	p->status = error;
	return prepare_failed(p, name, strerror(error));
}

/* The directory's own entry must be as durable as the exit record in it. */
static int sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rv;

	if (fd == -1)
		return -errno;
	rv = fsync(fd) == -1 ? -errno : 0;
	close(fd);
	return rv;
}

static int64_t find_vacant(const struct prepare *p)
{
	char path[PATH_MAX];
	int64_t id = p->launch->id;
	struct stat st;

	do
		snprintf(path, sizeof(path), "%s/%lld", p->attempts_dir, (long long)++id);
	while (lstat(path, &st) == 0);
	return id;
}

static int make_dir(struct prepare *p)
{
	int rv = file_mkdirs(p->attempts_dir, 0700);

	if (rv == 0 && mkdir(p->dir, 0700) == -1)
		rv = -errno;
	if (rv == 0)
		rv = agent_user_pass(AT_FDCWD, p->dir, p->launch->job.keeps_group == 1 ? 0770 : 0711);
	if (rv == -EEXIST) {
		p->vacant = find_vacant(p);
		return prepare_failed(p, NULL, "exists already");
	}
	if (rv != 0)
		return failed_errno(p, NULL, -rv);
	p->made = true;
	return 0;
}

static int open_dir(struct prepare *p)
{
	int dirfd, rv;

	if (!p->made && make_dir(p) == -1)
		return -1;
	rv = p->launch->job.durable ? sync_dir(p->attempts_dir) : 0;
	if (rv != 0)
		return failed_errno(p, NULL, -rv);
	dirfd = open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dirfd == -1 ? failed_errno(p, NULL, errno) : dirfd;
}

static int fill(struct prepare *p, int dirfd)
{
	int rv;

	p->lock = lock_take(dirfd);
	if (p->lock == -EWOULDBLOCK)
		return prepare_failed(p, RECORD_LOCK, "is locked by another process");
	if (p->lock < 0)
		return failed_errno(p, RECORD_LOCK, -p->lock);
	for (size_t i = 0; i < p->launch->nfiles; i++) {
		const struct launch_file *f = &p->launch->files[i];

		rv = f->data != NULL ? file_write(dirfd, f->name, f->data, f->size, 0600, f->durable) :
		    mkdirat(dirfd, f->name, 0700) == -1 ? -errno : 0;
		if (rv == 0 && f->shared != 0)
			rv = agent_user_give(dirfd, f->name, f->shared);
		if (rv != 0)
			return failed_errno(p, f->name, -rv);
	}
	rv = shim_job_write(dirfd, &p->launch->job);
	return rv == 0 ? 0 : failed_errno(p, RECORD_JOB, -rv);
}

void prepare_undo(struct prepare *p)
{
	int dirfd = p->made ? open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (dirfd == -1)
		return;
	for (size_t i = p->launch->nfiles; i-- > 0;)
		unlinkat(dirfd, p->launch->files[i].name, p->launch->files[i].data == NULL ? AT_REMOVEDIR : 0);
	unlinkat(dirfd, RECORD_JOB, 0);
	unlinkat(dirfd, RECORD_LOCK, 0);
	close(dirfd);
	rmdir(p->dir);
}

void prepare(struct prepare *p)
{
	int dirfd;

	p->status = 0;
	p->vacant = 0;
	p->lock = -1;
	dirfd = open_dir(p);
	if (dirfd < 0) {
		if (p->vacant == 0)
			prepare_undo(p);
		return;
	}
	if (fill(p, dirfd) == -1) {
		if (p->lock >= 0)
			close(p->lock);
		p->lock = -1;
		prepare_undo(p);
	}
	close(dirfd);
}

static int make_room(struct prepare *p, int dirfd)
{
	static const char *const streams[] = { RECORD_STDOUT, RECORD_STDERR };
	int rv;

	if (faccessat(dirfd, RECORD_EXIT, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return prepare_failed(p, RECORD_EXIT, "exists already");
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		rv = output_remove(dirfd, streams[i]);
		if (rv != 0)
			return failed_errno(p, streams[i], -rv);
	}
	/* last: what has an identity was started, also for an earlier rld */
	return unlinkat(dirfd, RECORD_SHIM, 0) == 0 || errno == ENOENT ? 0 : failed_errno(p, RECORD_SHIM, errno);
}

void prepare_another(struct prepare *p)
{
	int dirfd = open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	p->status = 0;
	p->error[0] = '\0';
	p->lock = -1;
	if (dirfd == -1) {
		failed_errno(p, NULL, errno);
		return;
	}
	p->lock = lock_take(dirfd);
	if (p->lock < 0) {
		failed_errno(p, RECORD_LOCK, -p->lock);
		p->lock = -1;
	} else if (make_room(p, dirfd) == -1) {
		close(p->lock);
		p->lock = -1;
	}
	close(dirfd);
}
