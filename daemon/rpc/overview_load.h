/* SPDX-License-Identifier: MIT */
/* A run as an entry of a list. The rows of an ended run are counted by the store, not read. */
#ifndef RPC_OVERVIEW_LOAD_H
#define RPC_OVERVIEW_LOAD_H

#include <jansson.h>
#include <stddef.h>

#include "core/row.h"

struct rpc;

/* summary: the object RunSummary, a new reference. */
typedef void overview_cb(void *arg, size_t index, json_t *summary);

/* Calls cb with index, before it returns or later. run is copied where needed. */
void overview_load(struct rpc *rpc, const struct run_row *run, size_t index, overview_cb *cb, void *arg);

#endif
