/* SPDX-License-Identifier: MIT */
/* What comes before and after the supervision of a job: its signals, its directory, its records. */
#ifndef SHIM_JOB_RUN_H
#define SHIM_JOB_RUN_H

#include <stdbool.h>

#include "record/exit_record.h"
#include "record/shim_job.h"

/* A directory is used only once. */
bool job_used(int dirfd);

/* Ignore and block what must not end paid work. Returns a non-blocking signalfd of SIGTERM,
 * SIGUSR1, SIGUSR2 and SIGCHLD, or -1 with errno. */
int job_take_signals(void);

/* Fill the record of a job that was not started: "what: strerror(error)". */
void job_not_started(struct exit_record *record, const char *what, int error);

/* Reserve the space of the exit record, and write the identity: from then on the attempt counts as
 * started. The caller becomes a subreaper. False: the record says why not. */
bool job_begin(int dirfd, struct exit_record *record);

/* Write the exit record, the last step that may fail: after a started agent it waits until a fault
 * of the host is over, or SIGTERM arrives. 0 or -errno. */
int job_leave_record(int dirfd, int sigfd, const struct exit_record *record, const struct shim_job *job);

#endif
