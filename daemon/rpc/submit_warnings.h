/* SPDX-License-Identifier: MIT */
#ifndef RPC_SUBMIT_WARNINGS_H
#define RPC_SUBMIT_WARNINGS_H

#include "core/plan.h"

/* What a submit may not have meant, as in struct submission: malloc'd JSON, NULL: nothing.
 * task_plans: settings of tasks that have their own, JSON; NULL: none. */
char *submit_warnings(const struct plan *plan, char *const *task_plans);

#endif
