/* SPDX-License-Identifier: MIT */
/* One cgroup for each attempt, where the service has its part of the hierarchy to itself
 * (Delegate=yes): what an attempt leaves behind can be ended in one step, whatever it has done to
 * its environment, and rld can tell of which attempt a process is. Agents cannot leave it, since
 * the hierarchy belongs to the user of rld. No controllers are turned on: with them systemd 252
 * could not start this service again while agents run. */
#ifndef STARTER_ATTEMPT_GROUP_H
#define STARTER_ATTEMPT_GROUP_H

#include <stdbool.h>

/* The directory in which they are made, new string; NULL: none can be made here. */
char *attempt_groups_find(void);

/* Put the calling process into the group of the attempt, which is made. Best effort. groups_at
 * NULL: nothing is done. */
void attempt_group_enter(const char *groups_at, const char *uuid);

/* Kill all in it, and wait for their end, at most a few seconds. 1: there were some; 0: there is
 * no such group, or it is empty; -1: some are left. */
int attempt_group_kill(const char *groups_at, const char *uuid);

/* Remove those that are empty. */
void attempt_groups_tidy(const char *groups_at);

#endif
