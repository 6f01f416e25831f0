/* SPDX-License-Identifier: MIT */
/* Objects in answers about what is kept of runs: rows of result_types. */
#ifndef RPC_PRUNE_TYPES_H
#define RPC_PRUNE_TYPES_H

#include "rpc/result.h"

extern const struct result_field pruned_fields[], pruned_run_fields[], kept_run_fields[], kept_total_fields[];

#endif
