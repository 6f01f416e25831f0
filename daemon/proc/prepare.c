/* SPDX-License-Identifier: MIT */
#include "proc/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "record/layout.h"
#include "record/lock.h"

static int failed(struct prepare *p, const char *name, const char *why)
{
	snprintf(p->error, sizeof(p->error), "attempt directory %s%s%s: %s", p->dir, name != NULL ? "/" : "",
	    name != NULL ? name : "", why);
	return -1;
}

static int failed_errno(struct prepare *p, const char *name, int error)
{
	p->full = error == ENOSPC || error == EDQUOT;
	return failed(p, name, strerror(error));
}

/* The directory's own entry must last as long as the exit record in it. */
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

static int open_dir(struct prepare *p)
{
	int dirfd, rv = file_mkdirs(p->dir, 0700);
	struct stat st;

	if (rv == 0 && p->launch->job.durable)
		rv = sync_dir(p->attempts_dir);
	if (rv != 0)
		return failed_errno(p, NULL, -rv);
	dirfd = open(p->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dirfd == -1)
		return failed(p, NULL, strerror(errno));
	if (fstat(dirfd, &st) == -1 || st.st_uid != geteuid()) {
		close(dirfd);
		return failed(p, NULL, "belongs to another user");
	}
	return dirfd;
}

static int fill(struct prepare *p, int dirfd)
{
	int rv;

	if (faccessat(dirfd, RECORD_SHIM, F_OK, 0) == 0 || faccessat(dirfd, RECORD_EXIT, F_OK, 0) == 0)
		return failed(p, NULL, "was used before; numbers are never used again");
	p->lock = lock_take(dirfd);
	if (p->lock < 0)
		return failed_errno(p, RECORD_LOCK, -p->lock);
	for (size_t i = 0; i < p->launch->nfiles; i++) {
		const struct launch_file *f = &p->launch->files[i];

		rv = file_write(dirfd, f->name, f->data, f->size, f->mode, false);
		if (rv != 0)
			return failed_errno(p, f->name, -rv);
	}
	rv = job_write(dirfd, &p->launch->job);
	return rv == 0 ? 0 : failed_errno(p, RECORD_JOB, -rv);
}

void prepare(struct prepare *p)
{
	int dirfd;

	p->full = false;
	p->lock = -1;
	dirfd = open_dir(p);
	if (dirfd < 0)
		return;
	if (fill(p, dirfd) == -1) {
		if (p->lock >= 0)
			close(p->lock);
		p->lock = -1;
	}
	close(dirfd);
}
