/* SPDX-License-Identifier: MIT */
#include "shim/job_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "record/host_fault.h"
#include "record/identity.h"
#include "record/layout.h"
#include "record/output.h"
#include "record/sync.h"
#include "shim/ids.h"

#define FULL_RETRY_S 1

bool job_used(int dirfd)
{
	return faccessat(dirfd, RECORD_SHIM, F_OK, 0) == 0 || faccessat(dirfd, RECORD_EXIT, F_OK, 0) == 0;
}

/* A hang-up or a key press must not end paid work; SIGTERM, SIGUSR1, SIGUSR2 and SIGCHLD are read
 * from a descriptor. */
int job_take_signals(void)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM };
	sigset_t set;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void job_not_started(struct exit_record *record, const char *what, int error)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	*record = (struct exit_record){ .how = EXIT_NOT_STARTED, .status = error, .tree_empty = true };
	record->started_ms = record->ended_ms = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
	snprintf(record->error, sizeof(record->error), "%s: %s", what, strerror(error));
}

static bool is_full(int rv)
{
	return rv == -ENOSPC || rv == -EDQUOT;
}

/* Only the agent's user may be able to open its directory. */
static int sync_work(const struct shim_job *job)
{
	int rv;

	ids_open_as_agents();
	rv = sync_all(job->cwd);
	ids_open_as_own();
	return rv;
}

/* The record vouches for the output and for the work, so they are synced first. If the disk fails,
 * the known exit status is still recorded. */
static int write_record(int dirfd, const struct exit_record *record, const struct shim_job *job)
{
	static const char *const streams[] = { RECORD_STDOUT, RECORD_STDERR };
	int rv = job->syncs_work == 1 && record->how != EXIT_NOT_STARTED ? sync_work(job) : 0;

	for (size_t i = 0; job->durable && !is_full(rv) && i < sizeof(streams) / sizeof(streams[0]); i++)
		rv = output_sync(dirfd, streams[i]);
	return is_full(rv) ? rv : exit_record_write(dirfd, record, job->durable);
}

int job_leave_record(int dirfd, int sigfd, const struct exit_record *record, const struct shim_job *job)
{
	struct signalfd_siginfo info;
	int rv;

	while (host_fault(-(rv = write_record(dirfd, record, job)))) {
		if (!job_used(dirfd))
			/* without an identity nothing was started, so there is no need for a
			 * record */
			return rv;
		sleep(FULL_RETRY_S);
		while (read(sigfd, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo == SIGTERM)
				return rv;
	}
	return rv;
}

bool job_begin(int dirfd, struct exit_record *record)
{
	int rv = exit_record_reserve(dirfd);

	if (rv != 0) {
		job_not_started(record, "space for the exit record", -rv);
		return false;
	}
	rv = identity_write(dirfd);
	if (rv != 0) {
		job_not_started(record, RECORD_SHIM, -rv);
		return false;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1) {
		job_not_started(record, "subreaper", errno);
		return false;
	}
	return true;
}
