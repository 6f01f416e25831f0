/* SPDX-License-Identifier: MIT */
/* Whether a running attempt waits for a service that refuses it. */
#ifndef SLOT_NOTICE_WATCH_H
#define SLOT_NOTICE_WATCH_H

struct slot;

/* The attempt of the slot runs: when its program says that its service refuses it for
 * long, it is ended. */
void notice_watch(struct slot *slot);

#endif
