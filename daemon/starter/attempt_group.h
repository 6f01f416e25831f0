/* SPDX-License-Identifier: MIT */
/* One cgroup for each attempt, where the service has its part of the hierarchy to itself
 * (Delegate=yes): what an attempt leaves behind can be ended in one step, whatever it has done to
 * its environment, rld can tell of which attempt a process is, and an attempt can have limits of
 * its own. Agents cannot leave it, since the hierarchy belongs to the user of rld.
 *
 *	rld-start.service	groups_at; with controllers turned on it may hold no process
 *	    starter		where systemd starts rl-start, with DelegateSubgroup=starter
 *	    main		where rl-start goes without that
 *	    attempt-UUID	rl-shim and its agent
 *	    .control		where systemd runs ExecStopPost=
 *
 * Without DelegateSubgroup= systemd puts each new rl-start into groups_at itself, which the kernel
 * refuses while controllers are on: status 219/CGROUP, for as long as an agent lives. So the
 * controllers are turned off when the service stops, however it stops, and on again when it has
 * started; each group notes its limits for that, since its files come and go with the controllers.
 * What an attempt had allocated before is no longer counted then. */
#ifndef STARTER_ATTEMPT_GROUP_H
#define STARTER_ATTEMPT_GROUP_H

#include <stdbool.h>

#include "proc/starter.h"

/* The directory in which they are made, new string; NULL: none can be made here. */
char *attempt_groups_find(void);

/* Turn the controllers on that are there, and set the limits of the groups again. A mask of
 * START_CAN_.... groups_at NULL: 0. */
unsigned attempt_groups_limit(const char *groups_at);

/* Turn them off, if that is needed for the next start. From ExecStopPost=. */
void attempt_groups_release(void);
void attempt_groups_release_at(const char *groups_at);

/* Put the calling process into the group of the attempt, which is made. can: as of
 * attempt_groups_limit(). Best effort. groups_at NULL: nothing is done. */
void attempt_group_enter(const char *groups_at, const char *uuid, const struct start_limits *limits, unsigned can);

/* Kill all in it, and wait for their end, at most a few seconds. 1: there were some; 0: there is
 * no such group, or it is empty; -1: some are left. */
int attempt_group_kill(const char *groups_at, const char *uuid);

/* Remove those that are empty. */
void attempt_groups_tidy(const char *groups_at);

#endif
