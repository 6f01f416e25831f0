/* SPDX-License-Identifier: MIT */
/* A retry: a new run of tasks of an earlier one, which continues their work where it stands. */
#ifndef RUN_RETRY_SUBMIT_H
#define RUN_RETRY_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/reply.h"
#include "model/view.h"

struct engine;

struct retry {
	int64_t by;			/* uid: the owner of the old run, or an administrator */
	/* sent again by the client, because the file of an ended run was deleted; NULL: none */
	char *const *environment;
	bool check;			/* validate only */
	bool from_scratch;		/* take over no work */
	/* read again what judges; otherwise it is that of the old run */
	bool new_judge;
	bool new_setup;			/* the plans have that of the project file as it is now */
	/* judge once more what there is, passed or not */
	bool again;
	const char *task;		/* again: only this one; NULL: all */
};

/* A new run of the tasks that did not pass, with the plan of the old one. rows: the old run, from
 * the view or the store, with tasks, slots, products, reviews and findings; copied. A held run is
 * cancelled in the same decision, because the new one needs its workdir. */
void engine_retry(struct engine *engine, const struct run_rows *rows, const struct retry *retry,
    engine_reply_cb *cb, void *arg);

#endif
