/* SPDX-License-Identifier: MIT */
#include "rpc/context.h"

#include <stdlib.h>

#include "proto/memory.h"

struct counted_read {
	struct rpc *rpc;
	store_rows_cb *cb;
	void *arg;
};

static void counted_read_cb(void *arg, struct rowset *set)
{
	struct counted_read *read = arg;
	struct rpc *rpc = read->rpc;

	read->cb(read->arg, set);
	free(read);
	tally_drop(&rpc->tally);
}

void rpc_read(struct rpc *rpc, const char *statement, enum row_kind kind,
    const struct query_bind *binds, store_rows_cb *cb, void *arg)
{
	struct counted_read *read = xcalloc(1, sizeof(*read));

	*read = (struct counted_read){ rpc, cb, arg };
	tally_add(&rpc->tally);
	store_read(rpc->options.store, statement, kind, binds, counted_read_cb, read);
}

const struct config *rpc_config(const struct rpc *rpc)
{
	return *rpc->options.config;
}
