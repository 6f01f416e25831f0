/* SPDX-License-Identifier: MIT */
/* Runs whose waiting reason changes at the same time, and the list of those that are to be told of
 * it. No call costs more when there are more of them. Pure. */
#ifndef CORE_WAITERS_H
#define CORE_WAITERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct waiter {
	int64_t id;			/* what dirty_next() gives */
	struct waiters *waiters;
	uint64_t told;			/* their epoch in which it was last told */
	TAILQ_ENTRY(waiter) entry;
};

/* Those that are yet to be told are in front. A new epoch makes all of them so. */
struct waiters {
	TAILQ_HEAD(, waiter) list;
	size_t count, untold;
	uint64_t epoch;
	TAILQ_ENTRY(waiters) entry;	/* in the dirty list, while one of them is untold */
};
TAILQ_HEAD(dirty_list, waiters);

void waiters_init(struct waiters *waiters);

/* The waiter comes in, and is to be told; it was in none, or has left. Its id is set. */
void waiters_join(struct waiters *waiters, struct waiter *waiter, struct dirty_list *dirty);
void waiters_leave(struct waiter *waiter, struct dirty_list *dirty);

/* All of them are to be told. Those that were to be told before stay in front. */
void waiters_mark(struct waiters *waiters, struct dirty_list *dirty);

/* One that is to be told, and now has been; 0: none is left. */
int64_t dirty_next(struct dirty_list *dirty);

#endif
