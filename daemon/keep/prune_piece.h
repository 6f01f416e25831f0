/* SPDX-License-Identifier: MIT */
/* Some runs that prune removes at once: one transaction marks them, a worker removes what they
 * leave, one transaction says that it is done. */
#ifndef KEEP_PRUNE_PIECE_H
#define KEEP_PRUNE_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/row.h"

struct keeper;

#define PIECE_RUNS 16

struct piece_run {
	int64_t run;
	int why;			/* enum retention_limit */
	const struct pruned_row *marked;	/* by an earlier daemon; NULL: to be marked */
};

struct piece_result {
	bool marked;			/* false: no space to mark them, nothing happened */
	int64_t bytes;			/* that were removed */
	char *const *left;		/* sentences about what could not be removed; NULL: none */
	const int64_t *stayed;		/* runs that another one needs now */
	size_t nstayed;
};

/* The result is valid during the callback. */
typedef void piece_cb(void *arg, const struct piece_result *result);

/* by_uid: ROW_NONE: the daemon. At most PIECE_RUNS, newer ones first: a run stays if one that
 * continues it does. */
void piece_remove(struct keeper *keeper, const struct piece_run *runs, size_t count, int64_t by_uid, piece_cb *cb,
    void *arg);

#endif
