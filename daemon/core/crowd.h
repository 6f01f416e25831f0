/* SPDX-License-Identifier: MIT */
/* Who is to be told that something has changed: runs that hear the same news at the same time. Nothing costs more when there are
 * more of them. Pure. */
#ifndef CORE_CROWD_H
#define CORE_CROWD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct listener {
	int64_t id;			/* what news_next() gives */
	struct crowd *crowd;
	uint64_t told;			/* epoch of the crowd in which it was last told */
	TAILQ_ENTRY(listener) entry;
};

/* Those who are yet to be told are in front. A new epoch makes all of them so. */
struct crowd {
	TAILQ_HEAD(, listener) listeners;
	size_t count, untold;
	uint64_t epoch;
	TAILQ_ENTRY(crowd) entry;	/* in the news, while anyone is untold */
};
TAILQ_HEAD(news, crowd);

void crowd_init(struct crowd *crowd);

/* It comes in, and is to be told; it was in no crowd, or has left it. Its id is set. */
void crowd_join(struct crowd *crowd, struct listener *listener, struct news *news);
void crowd_leave(struct listener *listener, struct news *news);

/* All of it is to be told. Who was so before stays in front. */
void crowd_tell(struct crowd *crowd, struct news *news);

/* One that is to be told, and now has been; 0: nobody is left. */
int64_t news_next(struct news *news);

#endif
