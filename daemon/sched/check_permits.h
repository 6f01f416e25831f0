/* SPDX-License-Identifier: MIT */
/* Checks of merges need no permit of the daemon, whose slots are for agents, but one of the group
 * "checks". Runs cannot be in it. */
#ifndef SCHED_CHECK_PERMITS_H
#define SCHED_CHECK_PERMITS_H

#include <stdbool.h>

struct slot;
struct txn;

/* The slot has one, or gets one. Otherwise it waits in ACTIVITY_CHECKS, and its reason is set; when
 * another slot gives one back, its attempt is built again. */
bool check_permit_take(struct slot *slot);
/* The slot was found at work after a start: it has one. */
void check_permit_sit(struct slot *slot);
void check_permit_give(struct txn *txn, struct slot *slot);	/* if it has one */

#endif
