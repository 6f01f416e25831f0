/* SPDX-License-Identifier: MIT */
/* What is kept of runs that have ended: measured at their end, removed by the policy of [keep]. */
#ifndef KEEP_KEEPER_H
#define KEEP_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "config/config.h"
#include "core/decision.h"
#include "core/retention.h"
#include "engine/engine.h"
#include "store/store.h"

struct keeper;

/* All pointers must stay valid until keeper_close() has reported. */
struct keeper_options {
	uv_loop_t *loop;
	struct store *store;
	struct engine *engine;
	const struct config *const *config;	/* the current settings: a reload replaces them */
	const char *state_dir;
	/* called after each decision of the keeper is on disk */
	engine_committed_cb *committed;
	void *arg;
};

/* Reads what is known of earlier runs: call it before the first commit. */
struct keeper *keeper_new(const struct keeper_options *options);
/* Completes what an earlier daemon has not removed to the end, and measures what it has not. */
void keeper_start(struct keeper *keeper);
/* There are new settings. */
void keeper_reloaded(struct keeper *keeper);
/* A decision of the engine is on disk. */
void keeper_committed(struct keeper *keeper, const struct decision *d);
/* Begins nothing more; calls closed once when nothing is under way. Then free. */
void keeper_close(struct keeper *keeper, void (*closed)(void *arg), void *arg);
void keeper_free(struct keeper *keeper);

/* Number of runs of which something is kept, and its bytes, as far as they are measured. */
void keeper_total(const struct keeper *keeper, int64_t *runs, int64_t *bytes);

/* [keep] automatic waits until a user prunes: the clock says that the last prune was over a week
 * ago. */
bool keeper_waits(const struct keeper *keeper);

struct prune_request {
	struct retention_policy policy;
	bool check;			/* decide only */
	bool unasked;			/* check: do not ask whether results are merged */
	bool unmerged;			/* results that are on no branch of the user go as well */
	int64_t by_uid;			/* ROW_NONE: the daemon */
};

/* A run as decided about. */
struct prune_run {
	const struct run_row *row;	/* what "prune.runs" reads */
	/* UNMERGED: name of the branch, or the commit; UNREADABLE: why */
	const char *detail;
};

struct prune_result {
	int code;			/* RPC_OK, or why not all of it was done: see fault */
	const char *fault;		/* a sentence */
	const struct retention_run *runs;	/* all that had not been pruned, in order of id */
	const struct prune_run *of;	/* of each of them */
	size_t count;
	/* the runs that went, or would: their number and bytes. What went of the prepared rooms */
	size_t gone;
	int64_t bytes, prepared;
	char *const *left;		/* sentences about what could not be removed; NULL: none */
};

/* Valid during the callback, which is called once, on the loop. */
typedef void prune_cb(void *arg, const struct prune_result *result);

/* Waits until an earlier one has ended, and what has ended is measured; unasked does not. */
void keeper_prune(struct keeper *keeper, const struct prune_request *request, prune_cb *cb, void *arg);

#endif
