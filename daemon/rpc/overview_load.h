/* SPDX-License-Identifier: MIT */
/* Runs as entries of a list. The rows of ended runs are counted by the store, in four queries for
 * the whole page, not read. */
#ifndef RPC_OVERVIEW_LOAD_H
#define RPC_OVERVIEW_LOAD_H

#include <jansson.h>

#include "store/store.h"

struct rpc;

/* runs: an array of RunSummary, a new reference. */
typedef void overview_cb(void *arg, json_t *runs);

/* Calls cb, before it returns or later, with the entries of these rows of runs, whose content is
 * taken. */
void overview_load(struct rpc *rpc, struct rowset *runs, overview_cb *cb, void *arg);

#endif
