/* SPDX-License-Identifier: MIT */
/* The answer to a change of a run: the run. */
#ifndef RPC_RUN_ANSWER_H
#define RPC_RUN_ANSWER_H

#include <jansson.h>

#include "model/reply.h"
#include "model/view.h"

struct call;
struct rpc;

/* A call that waits for its answer. */
struct pending {
	struct rpc *rpc;
	struct call *call;
};

struct pending *pending_new(struct rpc *rpc, struct call *call);

/* The run as run.get has it, with why it waits. */
json_t *run_answer(struct rpc *rpc, const struct run_rows *rows);
/* An engine_reply_cb for a struct pending, which it frees. */
void run_answer_cb(void *arg, const struct engine_reply *reply);

#endif
