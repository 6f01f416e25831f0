/* SPDX-License-Identifier: MIT */
/* rl-shim: supervises one attempt and outlives the daemon that started it.
 *
 *	rl-shim [DIRECTORY [UID GID]]
 *	rl-shim --version
 *
 * DIRECTORY (default: the working directory) holds the job. UID and GID are those of the agents, if
 * they have another user: then we have the capabilities to become it. Descriptor 3 is the lock
 * file, locked by the caller. Started by rld, with SIGTERM, SIGUSR1 and SIGUSR2 blocked from the
 * first moment on. The truth is in the files that it writes: its own exit status is 0 when an exit
 * record was left, the errno of what kept it from that when none could be, 2 for a wrong start,
 * which touches nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/handed_environment.h"
#include "record/exit_record.h"
#include "record/host_fault.h"
#include "record/identity.h"
#include "record/layout.h"
#include "record/output.h"
#include "record/shim_job.h"
#include "record/sync.h"
#include "shim/ids.h"
#include "shim/supervisor.h"

#define FULL_RETRY_S 1

#ifdef __SANITIZE_ADDRESS__
/* No search for leaks, whatever ASAN_OPTIONS says: at the exit of a shim it has once not come to an
 * end. */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return 1;
}
#endif

static int shim_refuse(const char *what, const char *why)
{
	fprintf(stderr, "rl-shim: %s: %s; only rld starts it\n", what, why);
	return 2;
}

/* A refusal by the host is not a wrong start. */
static int refuse_errno(const char *what, int error)
{
	int status = shim_refuse(what, strerror(error));

	return host_fault(error) ? error : status;
}

/* Make sure that 0 to 2 are open, and close everything of the caller's but the lock and the
 * environment. */
static void tidy_descriptors(void)
{
	for (int fd = 0; fd < RECORD_LOCK_FD; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			/* the lowest free number, so this one */
			open("/dev/null", O_RDWR);
	fcntl(RECORD_LOCK_FD, F_SETFD, FD_CLOEXEC);
	/* rl-git needs the environment's, too */
	close_range(RECORD_LOCK_FD + (ids_are_split() ? 2 : 1), ~0U, 0);
}

/* Descriptor 3 must be this directory's lock. Locking it again through the same open file changes
 * nothing; it fails if another shim has the directory. */
static int check_lock(int dirfd)
{
	struct stat mine, there;

	if (fstat(RECORD_LOCK_FD, &mine) == -1 || fstatat(dirfd, RECORD_LOCK, &there, AT_SYMLINK_NOFOLLOW) == -1)
		return -errno;
	if (mine.st_dev != there.st_dev || mine.st_ino != there.st_ino)
		return -ESTALE;
	if (flock(RECORD_LOCK_FD, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;	/* the former is no fault of the host */
}

/* A directory is used only once. */
static bool used(int dirfd)
{
	return faccessat(dirfd, RECORD_SHIM, F_OK, 0) == 0 || faccessat(dirfd, RECORD_EXIT, F_OK, 0) == 0;
}

/* A hang-up or a key press must not end paid work; SIGTERM, SIGUSR1, SIGUSR2 and SIGCHLD are read
 * from a descriptor. */
static int take_signals(void)
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

/* The job was not started. */
static void not_started(struct exit_record *record, const char *what, int error)
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

/* The last step that may fail. The exit of a started agent waits until a host fault is over, or
 * SIGTERM arrives. */
static int leave_record(int dirfd, int sigfd, const struct exit_record *record, const struct shim_job *job)
{
	struct signalfd_siginfo info;
	int rv;

	while (host_fault(-(rv = write_record(dirfd, record, job)))) {
		if (!used(dirfd))
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

static void run(int dirfd, int sigfd, struct shim_job *job, struct exit_record *record)
{
	int rv = shim_job_read(dirfd, job);

	if (rv != 0) {
		not_started(record, RECORD_JOB, -rv);
		return;
	}
	rv = exit_record_reserve(dirfd);
	if (rv != 0) {
		not_started(record, "space for the exit record", -rv);
		return;
	}
	/* From here on the attempt counts as started. */
	rv = identity_write(dirfd);
	if (rv != 0) {
		not_started(record, RECORD_SHIM, -rv);
		return;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1) {
		not_started(record, "subreaper", errno);
		return;
	}
	supervise(job, dirfd, sigfd, record);
}

int main(int argc, char **argv)
{
	struct exit_record record;
	struct shim_job job = { 0 };
	int dirfd, sigfd, rv;

	if (argc > 4 || argc == 3)
		return shim_refuse("arguments", "one, or three, are required");
	rv = argc == 4 ? ids_take_apart(argv[2], argv[3]) : ids_take_apart(NULL, NULL);
	if (rv != 0)
		return refuse_errno("user of the agents", -rv);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return puts("rl-shim " RLD_VERSION) == EOF || fflush(stdout) == EOF;
	tidy_descriptors();
	if ((rv = environment_take()) != 0)
		return refuse_errno("environment on descriptor 4", -rv);
	if (argc >= 2 && chdir(argv[1]) == -1)
		return refuse_errno(argv[1], errno);
	dirfd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd == -1)
		return refuse_errno("attempt directory", errno);
	rv = check_lock(dirfd);
	if (rv != 0)
		return refuse_errno("lock on descriptor 3", -rv);
	if (used(dirfd))
		return shim_refuse("attempt directory", "it was used already");
	sigfd = take_signals();
	if (sigfd == -1)
		return refuse_errno("signalfd", errno);
	run(dirfd, sigfd, &job, &record);
	rv = leave_record(dirfd, sigfd, &record, &job);
	shim_job_release(&job);
	return -rv;
}
