/* SPDX-License-Identifier: MIT */
/* The process that the job names: made here, the only fork of the project. */
#ifndef SHIM_AGENT_H
#define SHIM_AGENT_H

#include <sys/types.h>

#include "record/job.h"

struct agent {
	pid_t pid;	/* leads a session and group of its own */
	int out, err;	/* read ends of its stdout and stderr, not blocking */
	int failure;	/* read end: a struct agent_failure when it could not be executed, else EOF; not blocking */
};

/* Which step of the start failed, and why. */
struct agent_failure {
	int error;	/* errno */
	char what[8];	/* "chdir", "exec", "input", "pipe", "fork" */
};

/* Fork and execute. 0, or -1 with failure when it did not come to a fork. Ownership of the descriptors passes to the caller. */
int agent_start(const struct job *job, int dirfd, struct agent *agent, struct agent_failure *failure);

/* The failure as a sentence that names the place: "exec /no/such: No such file or directory". */
void agent_failure_text(const struct agent_failure *failure, const struct job *job, char *out, size_t room);

#endif
