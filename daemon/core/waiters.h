/* SPDX-License-Identifier: MIT */
/* Runs whose waiting reason changes at the same time, and the list of those still to be reported.
 * The cost of a call does not grow with their number. Pure. */
#ifndef CORE_WAITERS_H
#define CORE_WAITERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct waiter {
	int64_t id;			/* returned by dirty_next() */
	struct waiters *waiters;
	uint64_t told;			/* epoch of its last report */
	TAILQ_ENTRY(waiter) entry;
};

/* Waiters to be reported come first. A new epoch makes all of them so. */
struct waiters {
	TAILQ_HEAD(, waiter) list;
	size_t count, untold;
	uint64_t epoch;
	TAILQ_ENTRY(waiters) entry;	/* in the dirty list while one of them is to be reported */
};
TAILQ_HEAD(dirty_list, waiters);

void waiters_init(struct waiters *waiters);

/* Add a waiter, which is to be reported. It is in no other list; its id is set. */
void waiters_join(struct waiters *waiters, struct waiter *waiter, struct dirty_list *dirty);
void waiters_leave(struct waiter *waiter, struct dirty_list *dirty);

/* All waiters are to be reported. Those that were already stay in front. */
void waiters_mark(struct waiters *waiters, struct dirty_list *dirty);

/* The next waiter to be reported, which counts as reported then; 0: none. */
int64_t dirty_next(struct dirty_list *dirty);

#endif
