/* SPDX-License-Identifier: MIT */
/* Where the result of an operation goes: to the run that asked for it between its slots, or to the slot. */
#ifndef RUN_OPERATION_RESULT_H
#define RUN_OPERATION_RESULT_H

#include "slot/operation.h"

extern const struct operation_calls operation_results;

#endif
