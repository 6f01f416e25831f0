/* SPDX-License-Identifier: MIT */
/* The documents of ended runs that were asked for last: such a run does not change any more, and
 * those that just ended are asked for again and again. */
#ifndef RPC_ENDED_CACHE_H
#define RPC_ENDED_CACHE_H

#include <jansson.h>
#include <stdint.h>

#define ENDED_KEPT 16
/* tasks and iterations of one that is kept: with ten thousand tasks it has tens of megabytes */
#define ENDED_ROWS 256

struct ended_cache;

struct ended_cache *ended_cache_new(void);
void ended_cache_free(struct ended_cache *ended);

/* Takes a reference of its own; the oldest one makes room. */
void ended_cache_keep(struct ended_cache *ended, int64_t run, json_t *document);
/* Borrowed; NULL: it is not here. */
json_t *ended_cache_find(const struct ended_cache *ended, int64_t run);
/* The run has changed all the same. */
void ended_cache_drop(struct ended_cache *ended, int64_t run);

#endif
