/* SPDX-License-Identifier: MIT */
/* Committed events for subscribers. A subscription is a cursor: the newest events are a ring of
 * shared texts, older ones are pages of the store, so a slow client costs the same as a quick
 * one. */
#ifndef RPC_FEED_H
#define RPC_FEED_H

#include "rpc/request.h"
#include "store/store.h"

#define FEED_EVENTS 4096	/* in the ring */
#define FEED_BYTES (4 * 1024 * 1024)

struct feed;

/* Source of older events. */
struct feed_source {
	/* At most limit event rows above since, in order. Calls cb exactly once, on the loop, not
	 * from within the call. */
	void (*page)(void *arg, int64_t since, int64_t limit, store_rows_cb *cb, void *cb_arg);
	void *arg;
};

/* last: seq of the newest event on disk. */
struct feed *feed_new(const struct feed_source *source, int64_t last);
/* All links must be closed and no page outstanding. */
void feed_free(struct feed *feed);

/* Add a committed event; they come in order, without gaps. */
void feed_add(struct feed *feed, const struct event_row *row);

/* seq of the newest committed event. */
int64_t feed_last(const struct feed *feed);
size_t feed_followers(const struct feed *feed);

/* What a subscription wants. */
struct feed_filter {
	const char *name;		/* copied; sent with its notifications; NULL: none */
	int64_t since;			/* events above this number */
	int64_t run;			/* ROW_NONE: any */
	char *const *types;		/* NULL-terminated, copied; NULL: any */
};

/* Send link these events, starting with the next iteration of the loop. Replaces a subscription of
 * the link with the same name. */
void feed_follow(struct feed *feed, struct link *link, const struct feed_filter *filter);
/* End the subscription of that name; NULL: all of the link. */
void feed_unfollow(struct link *link, const char *name);
/* Number of the subscriptions of a link with other names. */
size_t feed_others(const struct link *link, const char *name);

/* {seq, time, type, run, ...} */
json_t *event_json(const struct event_row *row);

#endif
