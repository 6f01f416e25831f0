/* SPDX-License-Identifier: MIT */
/* The exit record: written by rl-shim after an attempt or step has ended and its process tree is
 * empty. */
#ifndef RECORD_EXIT_RECORD_H
#define RECORD_EXIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

enum exit_how {
	EXIT_BY_CODE,		/* status = exit code */
	EXIT_BY_SIGNAL,		/* status = signal number */
	EXIT_NOT_STARTED	/* status = errno of the failed start; error says what failed */
};

/* What ended the process. */
enum exit_by {
	EXIT_OWN,		/* it exited by itself */
	EXIT_WALL,		/* wall clock limit */
	EXIT_IDLE,		/* idle limit */
	EXIT_TERM,		/* the shim received SIGTERM, from sender_pid and sender_uid */
	/* the shim received SIGUSR1 because the result had been given, and the process did not exit
	 * in time */
	EXIT_RESULT
};

/* The step of the start that failed. */
enum exit_step {
	EXIT_STEP_NONE,		/* none, or it is not named */
	EXIT_STEP_MEMORY,
	EXIT_STEP_INPUT,
	EXIT_STEP_PIPE,
	EXIT_STEP_FORK,
	EXIT_STEP_DUP2,
	EXIT_STEP_CHDIR,
	EXIT_STEP_SANDBOX,
	EXIT_STEP_EXEC,
	EXIT_STEP_IDS,
	EXIT_STEPS
};

/* What is known of an agent that a launcher placed. The exit code of the launcher proves nothing: a
 * cancelled srun has returned 0. */
enum exit_far {
	EXIT_FAR_NONE,		/* no launcher, or something else than its exit ended it */
	EXIT_FAR_ENDED,		/* how and status are the agent's, confirmed where it ran */
	EXIT_FAR_NOT_STARTED,	/* the launcher ended without having started it */
	/* it may have done anything, and may still run; error says what is known */
	EXIT_FAR_UNKNOWN,
	EXIT_FARS
};

/* The cancel command of its launcher. */
enum exit_cancel {
	EXIT_CANCEL_NONE,	/* not needed, or there is none */
	EXIT_CANCEL_DONE,
	EXIT_CANCEL_FAILED,	/* for as long as it was tried: something may still run */
	/* it succeeded, but the agent was started, and nothing says that it has ended: its node may
	 * have gone */
	EXIT_CANCEL_UNSEEN,
	EXIT_CANCELS
};

/* "exec"; not of EXIT_STEP_NONE. */
const char *exit_step_name(enum exit_step step);

struct exit_record {
	enum exit_how how;
	int status;
	enum exit_by by;
	int64_t sender_pid, sender_uid;		/* EXIT_TERM only, otherwise 0 */
	int64_t started_ms, ended_ms;		/* wall clock */
	uint64_t stdout_bytes, stderr_bytes;	/* as written by the program */
	uint64_t dropped;			/* of these, bytes not saved */
	bool tree_empty;			/* waitpid returned ECHILD */
	/* wall clock: just before the shim sent its first signal to the tree; 0: none */
	int64_t signalled_ms;
	uint64_t stdout_signalled, stderr_signalled;	/* of the bytes above, those written before
							 * that; 0 without signalled_ms */
	int sandbox;				/* Landlock ABI that confined it; 0: not confined */
	char error[256];			/* EXIT_NOT_STARTED: "exec /no/such: No such
						 * file or directory"; EXIT_FAR_UNKNOWN:
						 * what is known */
	enum exit_step step;			/* EXIT_NOT_STARTED: the step in error */
	/* processes of its cgroup that the kernel has killed for lack of memory; memory_max: the
	 * limit of the cgroup, in bytes, if that was the cause, otherwise 0 */
	int64_t memory_kills, memory_max;
	int64_t refused_forks;			/* by the limit of processes */
	enum exit_far far;			/* only if the job has one, like cancelled */
	enum exit_cancel cancelled;
};

/* Write atomically and durably to <dirfd>/exit, in space reserved by exit_record_reserve(): tmp,
 * fsync, rename, fsync(dir). durable = false omits both fsyncs (for operations, which are
 * repeated). 0 or -errno. */
int exit_record_reserve(int dirfd);
int exit_record_write(int dirfd, const struct exit_record *record, bool durable);

/* 0; -ENOENT: missing; -EBADMSG: unreadable. */
int exit_record_read(int dirfd, struct exit_record *record);

#endif
