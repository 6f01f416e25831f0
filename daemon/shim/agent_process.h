/* SPDX-License-Identifier: MIT */
/* The process that the job names: made here, the only fork of the project. */
#ifndef SHIM_AGENT_PROCESS_H
#define SHIM_AGENT_PROCESS_H

#include <sys/types.h>

#include "record/shim_job.h"

struct agent {
	pid_t pid;	/* leads a session and group of its own */
	int out, err;	/* read ends of its stdout and stderr, not blocking */
	int report;	/* read end: struct agent_report, then EOF; not blocking */
};

/* How the start went. The child tells it when it has confined itself, and again when it could not
 * be executed after that. */
struct agent_report {
	int sandbox;	/* Landlock ABI that confines it, 0: it is not confined */
	int error;	/* errno of the step that failed, 0: none so far */
	char what[8];	/* that step: "chdir", "exec", "input", "pipe", "fork", "sandbox" */
};

/* Fork and execute. 0, or -1 with report when it did not come to a fork. Ownership of the
 * descriptors passes to the caller. The caller has one thread. */
int agent_start(const struct shim_job *job, int dirfd, struct agent *agent, struct agent_report *report);

/* The failure as a sentence that names the place: "exec /no/such: No such file or directory". */
void agent_failure_text(const struct agent_report *report, const struct shim_job *job, char *out, size_t room);

#endif
