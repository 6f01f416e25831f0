/* SPDX-License-Identifier: MIT */
#include "proc/far_cancel.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "proc/version_probe.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "record/far_claim.h"
#include "record/far_status.h"
#include "record/shim_job.h"

#define CANCEL_MS 30000		/* all tries together */
#define CANCEL_TRIES 3

/* env looks the program up on PATH. */
static bool cancel_succeeds(char *const *cancel, int tries_max)
{
	static const struct timespec pause = { .tv_sec = 1 };
	int64_t end = clock_steady() + CANCEL_MS, left;
	char **argv = NULL, text[256];
	int tries = 0, rv = -1;

	strings_append(&argv, "env");
	for (; *cancel != NULL; cancel++)
		strings_append(&argv, *cancel);
	while ((left = end - clock_steady()) > 0 && tries++ < tries_max && rv != 0) {
		if (tries > 1)
			nanosleep(&pause, NULL);
		rv = version_probe_text("/usr/bin/env", argv, NULL, left, text, sizeof(text));
	}
	strings_free(argv);
	return rv == 0;
}

/* Of a job with a launcher. */
static enum exit_cancel cancel_job(const struct shim_job *job, int dirfd)
{
	struct far_status far;
	bool revoked = far_revoke(dirfd);
	bool cancelled = job->cancel == NULL || cancel_succeeds(job->cancel, revoked ? 1 : CANCEL_TRIES);

	if (revoked)
		return EXIT_CANCEL_DONE;
	if (!cancelled)
		return EXIT_CANCEL_FAILED;
	far_status_read(dirfd, job->far, job->uuid, &far);
	return far_status_is_over(&far) ? EXIT_CANCEL_DONE : EXIT_CANCEL_UNSEEN;
}

/* Not of a copy, which says nothing about what is in the original. */
static bool is_same(const char *path, int dirfd)
{
	struct stat there, here;

	return stat(path, &there) == 0 && fstat(dirfd, &here) == 0 && there.st_dev == here.st_dev &&
	    there.st_ino == here.st_ino;
}

bool far_is_followed(const char *dir, const char *uuid, bool revoke)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct far_claim claim = { .by = FAR_NOBODY };
	struct shim_job job;

	if (dirfd == -1)
		return false;
	if (shim_job_read(dirfd, &job) == 0) {
		if (job.follows != NULL && is_same(job.follows, dirfd) && uuid != NULL && strcmp(job.uuid, uuid) == 0) {
			/* it may be claimed at this moment */
			if (revoke)
				far_revoke(dirfd);
			far_claim_read(dirfd, &claim);
		}
		shim_job_release(&job);
	}
	close(dirfd);
	return far_claim_is_away(&claim);
}

enum exit_cancel far_cancel(const char *dir, const char *uuid)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum exit_cancel did = EXIT_CANCEL_NONE;
	struct shim_job job;

	if (dirfd == -1)
		return did;
	if (shim_job_read(dirfd, &job) == 0) {
		if (job.far != NULL && uuid != NULL && strcmp(job.uuid, uuid) == 0)
			did = cancel_job(&job, dirfd);
		if (did == EXIT_CANCEL_FAILED)
			log_warn("%s: the cancel command %s of its launcher failed", dir, job.cancel[0]);
		shim_job_release(&job);
	}
	close(dirfd);
	return did;
}
