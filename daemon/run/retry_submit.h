/* SPDX-License-Identifier: MIT */
/* A retry: a submit made of a run that did not pass. */
#ifndef RUN_RETRY_SUBMIT_H
#define RUN_RETRY_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/reply.h"
#include "model/view.h"

struct engine;

/* A new run of the tasks that did not pass, with the plan of the old one. rows: the old run, from
 * the view or the store; copied. A held run is cancelled in the same decision, because the new one
 * needs its workdir. environment: sent again by the client, because the file of an ended run was
 * deleted. new_judge: read again what judges; otherwise it is that
 * of the old run. */
void engine_retry(struct engine *engine, const struct run_rows *rows, int64_t owner,
    char *const *environment, bool new_judge, bool check, engine_reply_cb *cb, void *arg);

#endif
