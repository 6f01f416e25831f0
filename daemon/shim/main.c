/* SPDX-License-Identifier: MIT */
/* rl-shim: supervises one attempt and outlives the daemon that started it.
 *
 *	rl-shim [DIRECTORY [UID GID]]
 *	rl-shim --version
 *	rl-shim --far ...	where a launcher places an agent, see far_shim.h
 *
 * DIRECTORY (default: the working directory) holds the job. UID and GID are those of the agents, if
 * they have another user: then we have the capabilities to become it. Descriptor 3 is the lock
 * file, locked by the caller. Started by rld, with SIGTERM, SIGUSR1 and SIGUSR2 blocked from the
 * first moment on. If an rl-shim has the agent where it was placed, we take the place of one that
 * was killed here, and follow it (shim/follow.h). The truth is in the files that we write: our own
 * exit status is 0 when an exit record was left, the errno of what kept it from that when none
 * could be, 2 for a wrong start, which touches nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/handed_environment.h"
#include "record/exit_record.h"
#include "record/far_claim.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/shim_job.h"
#include "shim/far_agent.h"
#include "shim/far_shim.h"
#include "shim/ids.h"
#include "shim/job_run.h"
#include "shim/supervisor.h"

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

/* An rl-shim has the agent where it was placed: this one takes the place of one that was killed. */
static bool is_another(int dirfd)
{
	struct far_claim claim;

	far_claim_read(dirfd, &claim);
	return far_claim_is_away(&claim);
}

/* The job of an earlier version does not tell since when. */
static void count_limits(struct shim_job *job, bool another)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (!another || job->follows == NULL)
		job->began_ms = 0;
	else if (job->began_ms == 0)
		job->began_ms = (int64_t)ts.tv_sec * 1000;
}

static void run(int dirfd, int sigfd, bool another, struct shim_job *job, struct exit_record *record)
{
	int rv = shim_job_read(dirfd, job);

	if (rv == 0)
		count_limits(job, another);
	if (rv != 0)
		job_not_started(record, RECORD_JOB, -rv);
	else if (job_begin(dirfd, record))
		supervise(job, dirfd, sigfd, record);
}

int main(int argc, char **argv)
{
	struct exit_record record;
	struct shim_job job = { 0 };
	int dirfd, sigfd, rv;
	bool another;

	if (argc >= 2 && strcmp(argv[1], FAR_SHIM_OPTION) == 0)
		return far_shim(argc - 2, argv + 2);
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
	if (job_used(dirfd))
		return shim_refuse("attempt directory", "it was used already");
	sigfd = job_take_signals();
	if (sigfd == -1)
		return refuse_errno("signalfd", errno);
	another = is_another(dirfd);
	run(dirfd, sigfd, another, &job, &record);
	/* nothing was started here, but there: a record would say that nothing was, so that another
	 * agent is. rld starts one more of us. */
	if (another && record.how == EXIT_NOT_STARTED && record.far == EXIT_FAR_NONE)
		return record.status;
	rv = job_leave_record(dirfd, sigfd, &record, &job);
	if (rv == 0)
		far_agent_remove_output(&job, dirfd, &record);
	shim_job_release(&job);
	return -rv;
}
