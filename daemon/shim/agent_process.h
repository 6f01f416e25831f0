/* SPDX-License-Identifier: MIT */
/* The process of the job. */
#ifndef SHIM_AGENT_PROCESS_H
#define SHIM_AGENT_PROCESS_H

#include <sys/types.h>

#include "record/exit_record.h"
#include "record/shim_job.h"

struct agent {
	pid_t pid;	/* leader of a session and group of its own */
	int out, err;	/* read ends of its stdout and stderr, non-blocking */
	int report;	/* read end: struct agent_report, then EOF; non-blocking */
};

/* How the start went. The child writes one when it has confined itself, and another one when the
 * exec fails after that. */
struct agent_report {
	int sandbox;	/* Landlock ABI that confines the process, 0: none */
	int error;	/* errno of the failed step, 0: none so far */
	enum exit_step step;	/* the failed step */
};

/* Fork and exec. 0, or -1 with report when there was no fork. The caller owns the descriptors, and
 * has one thread. */
int agent_start(const struct shim_job *job, int dirfd, struct agent *agent, struct agent_report *report);

/* The failure as a sentence that names the place: "exec /no/such: No such file or directory". */
void agent_failure_text(const struct agent_report *report, const struct shim_job *job, char *out, size_t room);

#endif
