/* SPDX-License-Identifier: MIT */
/* What a launcher has placed for an attempt whose rl-shim is gone. */
#ifndef PROC_FAR_CANCEL_H
#define PROC_FAR_CANCEL_H

#include <stdbool.h>

#include "record/exit_record.h"

/* Run the cancel command of the job in dir, if it is that of uuid and has a launcher: for at most
 * half a minute, as the user of the agents, in the environment of rld. EXIT_CANCEL_NONE: no
 * launcher is known, and nothing was run. Blocks. */
enum exit_cancel far_cancel(const char *dir, const char *uuid);

/* Whether an rl-shim has, or had, the agent where it was placed, so that another one here can
 * follow it. revoke: if nobody has it, nobody can from now on. Blocks. */
bool far_is_followed(const char *dir, const char *uuid, bool revoke);

#endif
