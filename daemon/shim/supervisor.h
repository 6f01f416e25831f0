/* SPDX-License-Identifier: MIT */
/* One attempt from its start to the empty process tree: output, limits, endings. */
#ifndef SHIM_SUPERVISOR_H
#define SHIM_SUPERVISOR_H

#include "record/exit_record.h"
#include "record/shim_job.h"

/* Start the job, supervise it until its tree is empty, and fill the record. sigfd: a
 * non-blocking signalfd of SIGTERM, SIGUSR1, SIGUSR2 and SIGCHLD, which are blocked. The caller
 * is a subreaper. */
void supervise(const struct shim_job *job, int dirfd, int sigfd, struct exit_record *record);

#endif
