/* SPDX-License-Identifier: MIT */
/* Ends what a launcher has placed for an attempt whose rl-shim is gone. */
#ifndef PROC_FAR_CANCEL_H
#define PROC_FAR_CANCEL_H

/* Run the cancel command of the job in dir, if it is that of uuid and has one: for at most half a
 * minute, as the user of the agents, in the environment of rld. 0: done, or none; -1: it failed, so
 * something may still run. Blocks. */
int far_cancel(const char *dir, const char *uuid);

#endif
