/* SPDX-License-Identifier: MIT */
/* The job file: what rl-shim is to run. A small versioned text file in the attempt's directory;
 * never JSON, never the environment (that is the shim's own envp). */
#ifndef RECORD_SHIM_JOB_H
#define RECORD_SHIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

enum shim_job_sandbox {
	JOB_OPEN,		/* not confined */
	JOB_TRY,		/* may write only `writable`, where the kernel can see to it */
	JOB_REQUIRE		/* the same, or it is not started at all */
};

struct shim_job {
	char **argv;		/* NULL-terminated; argv[0] is looked up on PATH of the
				 * job's environment */
	char *cwd;		/* absolute */
	char *input;		/* file in the attempt's directory that becomes
				 * stdin; NULL: /dev/null */
	char *uuid;		/* RL_ATTEMPT_UUID: marks every process of the tree */
	int64_t wall_ms;	/* 0: no limit */
	int64_t idle_ms;	/* no output for so long on the streams that count; 0: no limit */
	int64_t grace_ms;	/* between TERM and KILL */
	int64_t output_bytes;	/* kept of each of stdout and stderr, head and tail; 0: all */
	int64_t nofile;		/* soft RLIMIT_NOFILE of the process; 0: as it is.
				 * Filled in by proc/ */
	int umask;		/* of the process. Filled in by proc/ */
	bool durable;		/* exit record is fsynced */
	int sandbox;		/* enum shim_job_sandbox */
	int idle_stdout;	/* 1: for the limits of silence stdout counts alone;
				 * 0: stderr as well */
	int marks_signal;	/* 1: the exit record tells signalled_ms and what goes with it. A
				 * daemon that does not ask cannot read such a record */
	int post_result_ms;	/* after SIGUSR1: no output for so long; 0: the
				 * signal means nothing */
	char **writable;	/* NULL-terminated absolute paths that it may write, when confined;
				 * files or whole folders. What is not there is passed over */
};

/* 0; -EINVAL: no argv, cwd not absolute, no uuid or a negative limit; or -errno. Not fsynced:
 * without a running shim the job is written again. */
int shim_job_write(int dirfd, const struct shim_job *job);

/* 0 or -errno; -EBADMSG for a file that is not a job of this version. shim_job_release()
 * frees what it filled. */
int shim_job_read(int dirfd, struct shim_job *job);
void shim_job_release(struct shim_job *job);

#endif
