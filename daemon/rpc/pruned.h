/* SPDX-License-Identifier: MIT */
/* What is said of runs whose outputs prune has removed. */
#ifndef RPC_PRUNED_H
#define RPC_PRUNED_H

#include <jansson.h>
#include <stdbool.h>

#include "model/view.h"

struct call;
struct rpc;

/* "run 12 was pruned on 2026-11-28", malloc'd; NULL: it was not. */
char *pruned_text(const struct run_row *run);

/* Answer that what the call asks for is gone. hint: NULL: what remains. False: the run was not
 * pruned, and the call is not answered. */
bool call_pruned(struct call *call, const char *field, const struct run_row *run, const char *what, const char *hint);

/* What prune has removed of the run; null: nothing. */
json_t *pruned_json(const struct run_rows *rows);

/* Answer that there is no record of an attempt: because its run was pruned, or for another
 * reason. */
void call_no_record(struct rpc *rpc, struct call *call, int64_t run, int64_t attempt);

#endif
