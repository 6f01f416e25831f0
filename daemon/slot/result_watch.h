/* SPDX-License-Identifier: MIT */
/* Whether a running attempt has given its result, and whether it makes progress. */
#ifndef SLOT_RESULT_WATCH_H
#define SLOT_RESULT_WATCH_H

struct slot;

/* The slot's attempt runs: once it has given its final result, it has limits.post_result to exit;
 * without progress for its idle limit it is ended. */
void result_watch(struct slot *slot);

#endif
