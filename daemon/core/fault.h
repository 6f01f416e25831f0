/* SPDX-License-Identifier: MIT */
/* Which of an attempt's three results prevented its success. Pure. */
#ifndef CORE_FAULT_H
#define CORE_FAULT_H

#include "core/row.h"

enum fault { FAULT_NONE, FAULT_PROCESS, FAULT_PROVIDER, FAULT_TASK, FAULTS };

extern const struct state_names fault_names;

/* NONE: it succeeded, has not ended, or never started because of a limit of its run. A failure of
 * the service takes precedence over what the process made of it, such as an exit code or a
 * timeout. */
enum fault attempt_fault(const struct attempt_row *attempt);

#endif
