/* SPDX-License-Identifier: MIT */
/* A cache of the documents of ended runs: they no longer change, and those that just ended are
 * requested often. */
#ifndef RPC_ENDED_CACHE_H
#define RPC_ENDED_CACHE_H

#include <jansson.h>
#include <stdint.h>

#define ENDED_KEPT 16
/* limit on tasks and iterations of a cached run: the document of ten thousand tasks takes tens of
 * megabytes */
#define ENDED_ROWS 256

struct ended_cache;

struct ended_cache *ended_cache_new(void);
void ended_cache_free(struct ended_cache *ended);

/* Adds a reference; the oldest entry is removed. */
void ended_cache_keep(struct ended_cache *ended, int64_t run, json_t *document);
/* Borrowed; NULL: not cached. */
json_t *ended_cache_find(const struct ended_cache *ended, int64_t run);
/* Remove the entry of a run that has changed after all. */
void ended_cache_drop(struct ended_cache *ended, int64_t run);

#endif
