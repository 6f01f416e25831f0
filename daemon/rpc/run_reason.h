/* SPDX-License-Identifier: MIT */
/* What the rows of a run do not say: how long its slots wait for a service, and why the run waits
 * when all of them do. */
#ifndef RPC_RUN_REASON_H
#define RPC_RUN_REASON_H

#include <jansson.h>

#include "model/view.h"

struct rpc;

/* Into the document of an unfinished run, or its line of a list: "reason" and "next_at" when every
 * slot that goes on waits, and "next_at" of each of its slots. rows: with the slots; NULL: not
 * known, and nothing is changed. */
void run_reason_add(struct rpc *rpc, const struct run_rows *rows, json_t *run);

#endif
