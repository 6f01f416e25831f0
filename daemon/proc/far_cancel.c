/* SPDX-License-Identifier: MIT */
#include "proc/far_cancel.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "proc/version_probe.h"
#include "proto/clock.h"
#include "proto/memory.h"
#include "record/shim_job.h"

#define CANCEL_MS 30000		/* all tries together */
#define CANCEL_TRIES 3

/* env looks the program up on PATH. */
static bool cancel_succeeds(char *const *cancel)
{
	static const struct timespec pause = { .tv_sec = 1 };
	int64_t end = clock_steady() + CANCEL_MS, left;
	char **argv = NULL, text[256];
	int tries = 0, rv = -1;

	strings_append(&argv, "env");
	for (; *cancel != NULL; cancel++)
		strings_append(&argv, *cancel);
	while ((left = end - clock_steady()) > 0 && tries++ < CANCEL_TRIES && rv != 0) {
		if (tries > 1)
			nanosleep(&pause, NULL);
		rv = version_probe_text("/usr/bin/env", argv, NULL, left, text, sizeof(text));
	}
	strings_free(argv);
	return rv == 0;
}

int far_cancel(const char *dir, const char *uuid)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rv = 0;
	struct shim_job job;

	if (dirfd == -1)
		return 0;
	if (shim_job_read(dirfd, &job) == 0) {
		if (job.cancel != NULL && uuid != NULL && strcmp(job.uuid, uuid) == 0 && !cancel_succeeds(job.cancel))
			rv = -1;
		if (rv == -1)
			log_warn("%s: the cancel command %s of its launcher failed", dir, job.cancel[0]);
		shim_job_release(&job);
	}
	close(dirfd);
	return rv;
}
