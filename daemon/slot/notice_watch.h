/* SPDX-License-Identifier: MIT */
/* Whether a running attempt waits for a service that refuses it. */
#ifndef SLOT_NOTICE_WATCH_H
#define SLOT_NOTICE_WATCH_H

struct slot;

/* The slot's attempt runs: end it if its program reports that its service refuses it for long. */
void notice_watch(struct slot *slot);

#endif
