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

/* marked: false: there is no space to mark them, nothing happened. bytes: that were removed. left:
 * sentences about what could not be removed, NULL-terminated, NULL: none. Both valid during the
 * callback. */
typedef void piece_cb(void *arg, bool marked, int64_t bytes, char *const *left);

/* by_uid: ROW_NONE: the daemon. At most PIECE_RUNS. */
void piece_remove(struct keeper *keeper, const struct piece_run *runs, size_t count, int64_t by_uid, piece_cb *cb,
    void *arg);

#endif
