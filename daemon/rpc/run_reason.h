/* SPDX-License-Identifier: MIT */
/* What the rows of a run do not contain: how long its slots wait for a service, and why the run
 * waits if all of them do. */
#ifndef RPC_RUN_REASON_H
#define RPC_RUN_REASON_H

#include <jansson.h>

#include "model/view.h"

struct rpc;

/* The rows of a run with the reason why it is queued at this moment. Borrowed from rows and from
 * *copy, which the caller frees; NULL: it is not queued. */
struct run_rows run_reason_now(struct rpc *rpc, const struct run_rows *rows, struct run_row **copy);

/* Adds to the document of an unfinished run, or its entry of a list: "reason" and "next_at" if
 * every active slot waits, and "next_at" of each slot whose next try has a known time. rows: with
 * the slots; NULL: unknown, nothing is changed. */
void run_reason_add(struct rpc *rpc, const struct run_rows *rows, json_t *run);

#endif
