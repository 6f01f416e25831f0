/* SPDX-License-Identifier: MIT */
/* Takes a JSON-RPC 2.0 document and starts its calls. */
#ifndef RPC_DISPATCH_H
#define RPC_DISPATCH_H

#include <stddef.h>

#include "rpc/method.h"

#define BATCH_CALLS 64		/* requests per batch */

/* Answers are sent to the link, now or later. */
void dispatch(method_tables tables, struct rpc *rpc, struct link *link, const char *data, size_t size);

#endif
