/* SPDX-License-Identifier: MIT */
/* The rows of a run, wherever it is: unfinished ones from the view, ended ones from the store. */
#ifndef RPC_RUN_LOAD_H
#define RPC_RUN_LOAD_H

#include "rpc/context.h"

enum { LOAD_TASKS = 1, LOAD_SLOTS = 2, LOAD_ATTEMPTS = 4, LOAD_REVIEWS = 8, LOAD_FINDINGS = 16,
    LOAD_HOLDS = 32, LOAD_ITERATIONS = 64, LOAD_ALL = 127 };

/* rows: NULL when there is no such run; valid during the callback. */
typedef void load_cb(void *arg, const struct run_rows *rows);

/* Exactly one cb, possibly before the return. what: at least these rows. */
void load_run(struct rpc *rpc, int64_t id, unsigned what, load_cb *cb, void *arg);

/* go() once it is known that the run of parameter "run" is there, or at once when none is given;
 * else answers that there is no such run. Possibly before the return. */
void call_of_run(struct rpc *rpc, struct call *call, void (*go)(struct rpc *rpc, struct call *call));

/* Answers what the engine has refused. subject: the parameter that names what the call is about,
 * which is at fault when that is not there or in another state. */
void call_refused(struct call *call, const struct engine_reply *reply, const char *subject);

/* Answers that there is none with that id. field: of the request. */
void call_no_run(struct call *call, const char *field, int64_t id);

#endif
