/* SPDX-License-Identifier: MIT */
/* Which of an attempt's three results kept it from being a success. Pure. */
#ifndef CORE_FAULT_H
#define CORE_FAULT_H

#include "core/row.h"

enum fault { FAULT_NONE, FAULT_PROCESS, FAULT_PROVIDER, FAULT_TASK, FAULTS };

extern const struct state_names fault_names;

/* NONE: it succeeded, or has not ended, or a limit of its run kept it from being begun. A service
 * that did not serve goes before what the process made of that: its exit code, or that it went on
 * in silence until its time was up. */
enum fault attempt_fault(const struct attempt_row *attempt);

#endif
