/* SPDX-License-Identifier: MIT */
/* The keeper as its parts see it: reads, commits and file work that its end waits for. */
#ifndef KEEP_KEEPER_WORK_H
#define KEEP_KEEPER_WORK_H

#include <sys/queue.h>

#include "keep/keeper.h"

struct keeper_wish {
	STAILQ_ENTRY(keeper_wish) next;
	struct prune_request request;
	/* what was not removed before was tried again for it; sentences about what could not be
	 * removed again, NULL: none; owned */
	bool retried;
	char **left;
	prune_cb *cb;
	void *arg;
};

struct keeper {
	struct keeper_options options;
	void (*next)(struct keeper *keeper);
	uv_timer_t timer;
	size_t pending;			/* reads, commits and file work under way */
	bool closing;
	void (*closed)(void *arg);
	void *closed_arg;
	int64_t runs, bytes;		/* totals */
	int64_t *ended;			/* runs to be measured */
	size_t nended;
	bool more;			/* the database has more of them */
	bool stalled;			/* the engine still works for some of them */
	bool measuring, pruning;
	/* runs that newer ones continue, whose rows were committed since the current prune began */
	int64_t *continued;
	size_t ncontinued;
	/* prunes that wait until nothing else is under way */
	STAILQ_HEAD(, keeper_wish) wishes;
	struct rowset undone;		/* pruned rows: not removed yet */
	bool faults;			/* something could not be removed */
	int64_t last_prune;		/* TIME of the last one, 0: never */
	bool held_back;			/* it was logged that the clock must be confirmed */
	bool confirmed;			/* a user has pruned now, and so trusts it */
};

/* All rows of a statement that pages by :after, of :run (ROW_NONE: none); the callee owns and
 * releases set. */
typedef void keeper_rows_cb(void *arg, struct rowset *set);
void keeper_read(struct keeper *keeper, const char *statement, enum row_kind kind, int64_t run, keeper_rows_cb *cb,
    void *arg);

/* Takes d. done: false: refused for lack of space. */
void keeper_commit(struct keeper *keeper, struct decision *d, bool refusable, void (*done)(void *arg, bool ok),
    void *arg);

void keeper_offload(struct keeper *keeper, void (*run)(void *arg), void (*done)(void *arg), void *arg);

/* Something is under way that consists of several of these. */
void keeper_hold(struct keeper *keeper);
void keeper_release(struct keeper *keeper);

/* Whether something needs the run since the prune has read all runs. */
bool keeper_needs(const struct keeper *keeper, int64_t run);

/* A run is to be measured. */
void keeper_ended(struct keeper *keeper, int64_t run);

/* Something has ended: begin what waits for it. */
void keeper_next(struct keeper *keeper);

#endif
