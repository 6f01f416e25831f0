/* SPDX-License-Identifier: MIT */
#include "core/waiters.h"

void waiters_init(struct waiters *waiters)
{
	TAILQ_INIT(&waiters->list);
	waiters->count = waiters->untold = 0;
	waiters->epoch = 1;
}

void waiters_join(struct waiters *waiters, struct waiter *waiter, struct dirty_list *dirty)
{
	waiter->waiters = waiters;
	waiter->told = waiters->epoch - 1;
	TAILQ_INSERT_HEAD(&waiters->list, waiter, entry);
	waiters->count++;
	if (waiters->untold++ == 0)
		TAILQ_INSERT_TAIL(dirty, waiters, entry);
}

void waiters_leave(struct waiter *waiter, struct dirty_list *dirty)
{
	struct waiters *waiters = waiter->waiters;

	if (waiter->told != waiters->epoch && --waiters->untold == 0)
		TAILQ_REMOVE(dirty, waiters, entry);
	TAILQ_REMOVE(&waiters->list, waiter, entry);
	waiters->count--;
}

void waiters_mark(struct waiters *waiters, struct dirty_list *dirty)
{
	if (waiters->count == 0)
		return;
	if (waiters->untold == 0)
		TAILQ_INSERT_TAIL(dirty, waiters, entry);
	waiters->untold = waiters->count;
	waiters->epoch++;
}

int64_t dirty_next(struct dirty_list *dirty)
{
	struct waiters *waiters = TAILQ_FIRST(dirty);
	struct waiter *waiter;

	if (waiters == NULL)
		return 0;
	waiter = TAILQ_FIRST(&waiters->list);
	TAILQ_REMOVE(&waiters->list, waiter, entry);
	TAILQ_INSERT_TAIL(&waiters->list, waiter, entry);
	waiter->told = waiters->epoch;
	if (--waiters->untold == 0)
		TAILQ_REMOVE(dirty, waiters, entry);
	return waiter->id;
}
