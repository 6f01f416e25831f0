/* SPDX-License-Identifier: MIT */
#include "core/crowd.h"

void crowd_init(struct crowd *crowd)
{
	TAILQ_INIT(&crowd->listeners);
	crowd->count = crowd->untold = 0;
	crowd->epoch = 1;
}

void crowd_join(struct crowd *crowd, struct listener *listener, struct news *news)
{
	listener->crowd = crowd;
	listener->told = crowd->epoch - 1;
	TAILQ_INSERT_HEAD(&crowd->listeners, listener, entry);
	crowd->count++;
	if (crowd->untold++ == 0)
		TAILQ_INSERT_TAIL(news, crowd, entry);
}

void crowd_leave(struct listener *listener, struct news *news)
{
	struct crowd *crowd = listener->crowd;

	if (listener->told != crowd->epoch && --crowd->untold == 0)
		TAILQ_REMOVE(news, crowd, entry);
	TAILQ_REMOVE(&crowd->listeners, listener, entry);
	crowd->count--;
}

void crowd_tell(struct crowd *crowd, struct news *news)
{
	if (crowd->count == 0)
		return;
	if (crowd->untold == 0)
		TAILQ_INSERT_TAIL(news, crowd, entry);
	crowd->untold = crowd->count;
	crowd->epoch++;
}

int64_t news_next(struct news *news)
{
	struct crowd *crowd = TAILQ_FIRST(news);
	struct listener *listener;

	if (crowd == NULL)
		return 0;
	listener = TAILQ_FIRST(&crowd->listeners);
	TAILQ_REMOVE(&crowd->listeners, listener, entry);
	TAILQ_INSERT_TAIL(&crowd->listeners, listener, entry);
	listener->told = crowd->epoch;
	if (--crowd->untold == 0)
		TAILQ_REMOVE(news, crowd, entry);
	return listener->id;
}
