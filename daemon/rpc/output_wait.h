/* SPDX-License-Identifier: MIT */
/* A call of attempt.output that waits until there is more output, the attempt has ended, or its
 * time has passed. */
#ifndef RPC_OUTPUT_WAIT_H
#define RPC_OUTPUT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct call;
struct output_wait;
struct rpc;

/* Looks at the output: must lead to output_wait_looked() once, possibly before it returns. */
typedef void output_look_fn(struct rpc *rpc, struct call *call, struct output_wait *wait);

/* Begin to watch the attempt that the call names by "id", for "wait_ms". */
struct output_wait *output_wait_new(struct rpc *rpc, struct call *call, output_look_fn *look);

/* A look is done. empty: there is nothing yet, and more may come. Returns whether to leave the call
 * unanswered: it waits, or its client has gone. Otherwise frees the wait. */
bool output_wait_looked(void *wait, bool empty);

/* Whether the client has gone: then the look is over, and the wait is freed. */
bool output_wait_is_over(struct output_wait *wait);

/* At the start of rpc: takes the file descriptor for watching, so that it is there later. */
void outputs_init(struct rpc *rpc);

/* An attempt has changed. */
void outputs_changed(struct rpc *rpc, int64_t attempt);

#endif
