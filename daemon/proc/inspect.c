/* SPDX-License-Identifier: MIT */
#include "proc/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "proc/far_cancel.h"
#include "proc/process.h"
#include "proc/starter.h"
#include "proc/strays.h"
#include "record/identity.h"
#include "record/layout.h"
#include "record/lock_file.h"
#include "record/shim_job.h"

static void inspect_conclude(struct inspection *l, enum inspection_result result, const char *text)
{
	l->result = result;
	snprintf(l->detail, sizeof(l->detail), "%s", text);
}

/* Temporary errors, which say nothing about the attempt. */
static bool is_passing(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EINTR || error == -EAGAIN;
}

static void inspect_fail(struct inspection *l, const char *what, int error)
{
	/* A bad disk may recover, but do not wait for it for ever: the recovery of all attempts
	 * would. */
	l->result = is_passing(error) ? INSPECTION_BUSY : error == -EIO ? INSPECTION_AGAIN : INSPECTION_UNREADABLE;
	snprintf(l->detail, sizeof(l->detail), "%s: %s", what, strerror(-error));
}

static bool this_boot(const struct inspection *l)
{
	char now[BOOT_ID];

	return boot_id_read(now) == 0 && l->boot_id != NULL && strcmp(now, l->boot_id) == 0;
}

/* Lock free, no record, no identity. */
static void inspect_absent(struct inspection *l)
{
	if (this_boot(l))
		inspect_conclude(l, INSPECTION_NEVER_STARTED, "");
	else
		inspect_conclude(l, INSPECTION_LOST,
		    "the machine was restarted before the attempt was known to have started");
}

/* Whether the directory belongs to another attempt, or was planted: then its content says nothing
 * about this one. A directory made by rld contains a job with the uuid, unless a power cut removed
 * it. */
static bool is_of_another(struct inspection *l, int dirfd)
{
	struct shim_job job;
	int rv = shim_job_read(dirfd, &job);
	bool other = rv == 0 && l->uuid != NULL && strcmp(job.uuid, l->uuid) != 0;

	if (rv == 0) {
		l->wall_ms = job.wall_ms;
		l->grace_ms = job.grace_ms;
		shim_job_release(&job);
	}
	return other || ((rv == -ENOENT || rv == -EBADMSG) && this_boot(l));
}

static int inspect_open(struct inspection *l)
{
	struct stat st;
	int dirfd = open(l->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dirfd == -1 && errno == ENOENT) {
		/* rld creates the directory before it spawns: without it nothing was spawned */
		inspect_absent(l);
		return -1;
	}
	if (dirfd == -1) {
		inspect_fail(l, "attempt directory", -errno);
		return -1;
	}
	if (fstat(dirfd, &st) == -1 || st.st_uid != geteuid()) {
		inspect_conclude(l, INSPECTION_UNREADABLE, "attempt directory belongs to another user");
		close(dirfd);
		return -1;
	}
	if (is_of_another(l, dirfd)) {
		inspect_absent(l);
		close(dirfd);
		return -1;
	}
	return dirfd;
}

/* The lock is free: nothing more will be written. */
static void inspect_ended(struct inspection *l, int dirfd)
{
	struct identity id;
	char now[BOOT_ID];
	int rv = exit_record_read(dirfd, &l->record);

	if (rv == 0) {
		inspect_conclude(l, INSPECTION_ENDED, "");
		return;
	}
	if (rv == -EBADMSG) {
		renameat(dirfd, RECORD_EXIT, dirfd, RECORD_EXIT ".bad");
		inspect_conclude(l, INSPECTION_UNREADABLE,
		    "the exit record is damaged; renamed to exit.bad");
		return;
	}
	if (rv != -ENOENT) {
		inspect_fail(l, "exit record", rv);
		return;
	}
	/* read it only now: it could still appear while the lock was held */
	rv = identity_read(dirfd, &id);
	if (rv == -ENOENT) {
		inspect_absent(l);
	} else if (rv == -EBADMSG && !this_boot(l)) {
		/* the identity is not synced */
		inspect_conclude(l, INSPECTION_LOST,
		    "the machine went down before the identity of the rl-shim was on the disk");
	} else if (rv == -EBADMSG) {
		renameat(dirfd, RECORD_SHIM, dirfd, RECORD_SHIM ".bad");
		inspect_conclude(l, INSPECTION_UNREADABLE,
		    "the identity of the shim is damaged; renamed to shim.bad");
	} else if (rv != 0) {
		inspect_fail(l, "identity of the shim", rv);
	} else if (boot_id_read(now) == 0 && strcmp(id.boot_id, now) == 0) {
		/* a running shim holds the lock of its directory, and this lock is free, so it
		 * belongs to another one: continuing here would kill or repeat what another
		 * rld has paid for */
		if (l->uuid != NULL && strays_is_shim((pid_t)id.pid, l->uuid))
			log_fatal("%s: its rl-shim, process %lld, belongs to another state "
			    "directory, so this one is a copy; start rld with the original "
			    "(--state-dir), or use the copy when that process has ended", l->dir,
			    (long long)id.pid);
		inspect_conclude(l, INSPECTION_LOST,
		    "rl-shim was killed; the exit status of its process is unknown");
	} else {
		inspect_conclude(l, INSPECTION_LOST,
		    "the machine was restarted while the attempt ran");
	}
}

/* It holds the lock, and pid is the shim's. */
static void inspect_held(struct inspection *l, int dirfd, pid_t pid)
{
	l->recorded = exit_record_read(dirfd, &l->record) == 0;
	l->at_work = process_has_children(pid);
	if (!l->killed)
		inspect_conclude(l, INSPECTION_RUNNING, "");
	else if (l->recorded)
		inspect_conclude(l, INSPECTION_ENDED, "");
	else
		inspect_conclude(l, INSPECTION_LOST, "rl-shim was killed, but the kernel does not end it");
}

static void inspect_dir(struct inspection *l, int dirfd)
{
	struct identity id;
	int held, pidfd = -1, rv = identity_read(dirfd, &id);

	/* Open the pidfd first, check the lock second: if it is still held, the pid is the
	 * shim's. */
	if (rv == 0) {
		pidfd = pidfd_open((pid_t)id.pid, 0);
		if (pidfd == -1 && is_passing(-errno)) {
			inspect_fail(l, "pidfd", -errno);
			return;
		}
	}
	held = lock_held(dirfd);
	if (held == 1 && pidfd != -1) {
		inspect_held(l, dirfd, (pid_t)id.pid);
		if (l->result == INSPECTION_RUNNING)
			l->pidfd = pidfd;
		else
			close(pidfd);
		return;
	}
	if (pidfd != -1)
		close(pidfd);
	l->free = held == 0;
	if (held == 1)
		inspect_conclude(l, INSPECTION_AGAIN, "the lock is held by an unknown process");
	else if (l->free)
		inspect_ended(l, dirfd);
	else
		inspect_fail(l, "lock", held);
}

/* What a launcher has placed is ended, and what is known of that becomes its record. */
static void inspect_placed(struct inspection *l)
{
	static const char *const words[EXIT_CANCELS] = {
		[EXIT_CANCEL_DONE] = "",
		[EXIT_CANCEL_FAILED] = "; the cancel command of its launcher failed: it may still run there",
		[EXIT_CANCEL_UNSEEN] = "; its launcher has cancelled it, but nothing says that the agent has ended",
	};
	enum exit_cancel did = far_cancel(l->dir, l->uuid);

	if (did == EXIT_CANCEL_NONE)
		return;
	l->placed = true;
	snprintf(l->detail + strlen(l->detail), sizeof(l->detail) - strlen(l->detail), "%s", words[did]);
	l->record = (struct exit_record){ .how = EXIT_BY_CODE, .far = EXIT_FAR_UNKNOWN, .cancelled = did,
	    .tree_empty = did == EXIT_CANCEL_DONE };
	snprintf(l->record.error, sizeof(l->record.error), "%.*s", (int)sizeof(l->record.error) - 1, l->detail);
}

void inspect(struct inspection *l)
{
	int dirfd, strays;

	l->pidfd = -1;
	l->detail[0] = '\0';
	l->placed = l->free = false;
	dirfd = inspect_open(l);
	if (dirfd != -1) {
		inspect_dir(l, dirfd);
		close(dirfd);
	}
	if (l->last && l->result == INSPECTION_AGAIN)
		l->result = INSPECTION_LOST;
	if (l->result != INSPECTION_LOST && l->result != INSPECTION_UNREADABLE && l->result != INSPECTION_NEVER_STARTED)
		return;
	/* also without an identity: another shim was about to begin when rld was killed */
	if (l->free && !l->over && l->result != INSPECTION_UNREADABLE &&
	    far_is_followed(l->dir, l->uuid, l->result == INSPECTION_LOST)) {
		l->result = INSPECTION_FOLLOWED;
		return;
	}
	if (l->result != INSPECTION_NEVER_STARTED)
		inspect_placed(l);
	/* ours also with rl-start: what an earlier version of the service has started */
	strays = strays_kill(l->uuid);
	if (strays >= 0 && starter_used()) {
		int theirs = starter_kill(l->uuid);

		strays = theirs < 0 ? -1 : strays + theirs;
	}
	if (strays == 0)
		return;
	/* something ran after all: with the directory gone, or with an inherited mark */
	if (l->result == INSPECTION_NEVER_STARTED)
		inspect_conclude(l, INSPECTION_LOST,
		    "processes of the attempt were found, but not its records");
	if (strays < 0)
		snprintf(l->detail + strlen(l->detail), sizeof(l->detail) - strlen(l->detail), "%s",
		    "; some of its processes could not be killed");
}
