/* SPDX-License-Identifier: MIT */
/* The job file: what rl-shim is to run. A small versioned text file in the attempt's directory;
 * never JSON, and without the environment, which is the shim's own envp. */
#ifndef RECORD_SHIM_JOB_H
#define RECORD_SHIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum shim_job_sandbox {
	JOB_OPEN,		/* not confined */
	JOB_TRY,		/* may write only to `writable`, if the kernel can enforce it */
	JOB_REQUIRE		/* likewise, or it is not started */
};

struct shim_job {
	char **argv;		/* NULL-terminated; argv[0] is looked up on PATH of the
				 * job's environment */
	char *cwd;		/* absolute */
	char *input;		/* file in the attempt's directory used as stdin; NULL: /dev/null */
	/* RL_ATTEMPT_UUID: an environment mark of all processes of the tree */
	char *uuid;
	int64_t wall_ms;	/* 0: no limit */
	int64_t idle_ms;	/* limit for no output on the streams that count; 0: no limit */
	int64_t grace_ms;	/* between TERM and KILL */
	int64_t output_bytes;	/* kept of each of stdout and stderr, beginning and end; 0: all */
	/* soft RLIMIT_NOFILE of the process; 0: unchanged. Filled in by proc/ */
	int64_t nofile;
	int umask;		/* of the process. Filled in by proc/ */
	bool durable;		/* fsync the exit record */
	int sandbox;		/* enum shim_job_sandbox */
	int idle_stdout;	/* 1: only stdout counts for idle limits; 0: stderr, too */
	/* 1: write signalled_ms and related fields to the exit record. A daemon that does not ask
	 * for them cannot read such a record */
	int marks_signal;
	int names_step;		/* 1: write step to the exit record; as for marks_signal */
	int tells_limits;	/* 1: write memory_kills and related fields; as for marks_signal */
	int syncs_work;		/* 1: sync the file system of cwd before the exit record */
	/* 1: rl-git, which keeps the group of the daemon where agents have another user */
	int keeps_group;
	int post_result_ms;	/* after SIGUSR1: limit for no output; 0: ignore the signal */
	/* argv is that of a launcher, and its exit is confirmed by this file of the attempt's
	 * directory, see record/far_status.h; NULL: argv is the program itself */
	char *far;
	/* absolute path of that directory: an rl-shim may supervise the agent where it is placed,
	 * so argv is executed again while it works, see shim/follow.h; NULL: it is executed once */
	char *follows;
	int copied;		/* 1: with follows: argv waits for news, and brings them */
	/* wall clock, with follows: when the first shim was started. One that takes its place
	 * counts the limit of time from there; in the first one it is 0. Filled in by proc/ */
	int64_t began_ms;
	/* NULL-terminated argv that ends what the launcher placed; empty or NULL: none */
	char **cancel;
	/* NULL-terminated absolute paths that it may write to when confined; files or whole
	 * folders. Missing ones are skipped */
	char **writable;
};

/* 0; -EINVAL: no argv, cwd not absolute, no uuid or a negative limit; or -errno. With fsync only
 * where a launcher places an agent that is durable: it may work on after a power cut here. Others
 * are written again if no shim is running. */
int shim_job_write(int dirfd, const struct shim_job *job);

/* 0 or -errno; -EBADMSG for a file that is not a job of this version. shim_job_release()
 * frees what it filled. */
int shim_job_read(int dirfd, struct shim_job *job);
void shim_job_release(struct shim_job *job);

#endif
