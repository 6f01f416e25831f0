/* SPDX-License-Identifier: MIT */
/* Results of operations: for the run, between its slots, or for the slot that asked. */
#ifndef RUN_OPERATION_RESULT_H
#define RUN_OPERATION_RESULT_H

#include "slot/operation.h"

extern const struct operation_calls operation_results;

#endif
