/* SPDX-License-Identifier: MIT */
/* Ends what a launcher has placed for an attempt whose rl-shim is gone. */
#ifndef PROC_FAR_CANCEL_H
#define PROC_FAR_CANCEL_H

#include "record/exit_record.h"

/* Run the cancel command of the job in dir, if it is that of uuid and has a launcher: for at most
 * half a minute, as the user of the agents, in the environment of rld. EXIT_CANCEL_NONE: no
 * launcher is known, and nothing was run. Blocks. */
enum exit_cancel far_cancel(const char *dir, const char *uuid);

#endif
