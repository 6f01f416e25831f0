/* SPDX-License-Identifier: MIT */
/* An agent that a launcher placed: what its end was, and that it has ended. */
#ifndef SHIM_FAR_AGENT_H
#define SHIM_FAR_AGENT_H

#include "record/exit_record.h"
#include "record/shim_job.h"

/* The agent is to end: begin the cancel command, so that it gets its signals where it runs. Returns
 * a descriptor that is readable when the command has ended, or -1: there is none. What it prints
 * is not read. */
int far_agent_cancel(const struct shim_job *job, int dirfd);

/* The launcher has ended as in record: confirm by the status file that its agent did, or else run
 * the cancel command, for at most a minute. Nothing is done for a job without a launcher, or for a
 * launcher that could not be executed. The caller is a subreaper whose tree has
 * ended. */
void far_agent_settle(const struct shim_job *job, int dirfd, struct exit_record *record);

/* The exit record is on the disk: remove what the rl-shim where the agent was has kept of its
 * output, if that record vouches for all of it here. Until then it is needed to follow again. */
void far_agent_remove_output(const struct shim_job *job, int dirfd, const struct exit_record *record);

#endif
