/* SPDX-License-Identifier: MIT */
/* The rows of a run: unfinished ones from the view, ended ones from the store. */
#ifndef RPC_RUN_LOAD_H
#define RPC_RUN_LOAD_H

#include "rpc/context.h"

enum { LOAD_TASKS = 1, LOAD_SLOTS = 2, LOAD_ATTEMPTS = 4, LOAD_REVIEWS = 8, LOAD_FINDINGS = 16,
    LOAD_HOLDS = 32, LOAD_ITERATIONS = 64, LOAD_PRODUCTS = 128, LOAD_EVIDENCE = 256,
    /* what run_rows_verify() needs */
    LOAD_ENTRIES = 512, LOAD_PRUNED = 1024,
    LOAD_CHAINS = LOAD_REVIEWS | LOAD_FINDINGS | LOAD_PRODUCTS | LOAD_EVIDENCE | LOAD_ENTRIES | LOAD_TASKS |
    LOAD_ATTEMPTS | LOAD_HOLDS | LOAD_PRUNED, LOAD_ALL = 2047,
    LOAD_OVERVIEW = LOAD_TASKS | LOAD_SLOTS | LOAD_ATTEMPTS | LOAD_HOLDS };

/* rows: NULL if there is no such run; valid during the callback. */
typedef void load_cb(void *arg, const struct run_rows *rows);

/* Calls cb exactly once, possibly before it returns. what: the rows needed at least. */
void load_run(struct rpc *rpc, int64_t id, unsigned what, load_cb *cb, void *arg);

/* Calls go() once the run of parameter "run" is known to exist, or immediately if there is no such
 * parameter; otherwise answers with an error. Possibly before it returns. */
void call_of_run(struct rpc *rpc, struct call *call, void (*go)(struct rpc *rpc, struct call *call));

/* Answer with a refusal by the engine. subject: the parameter that names the object, to blame if it
 * does not exist or has another state. */
void call_refused(struct call *call, const struct engine_reply *reply, const char *subject);

/* Answer that there is no run with that id. field: of the request. */
void call_no_run(struct call *call, const char *field, int64_t id);

/* Answer that the run that field names has ended, or that there is none (rows NULL). */
void call_ended(struct call *call, const char *field, const struct run_rows *rows, const char *hint);
/* The same with a hint to retry the run, which is impossible for one that succeeded. */
void call_ended_retry(struct call *call, const char *field, const struct run_rows *rows, const char *hint);

#endif
