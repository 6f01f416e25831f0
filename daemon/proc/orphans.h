/* SPDX-License-Identifier: MIT */
/* Processes whose shim was killed, and that have come to us: rld is the subreaper behind its shims.
 * They need not carry anything. */
#ifndef PROC_ORPHANS_H
#define PROC_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>

#include "proc/proc.h"

/* Are there processes with us that no shim of ours has started? As process 1 of a container we are
 * given everybody's orphans, and a script that became rld may have left its own. To be asked before
 * the first shim is started. */
bool orphans_mixed(void);

/* SIGKILL to all children of this thread, which is the loop's, but for the shims of proc, and
 * reap them. Theirs come up when they are dead: to be repeated until it returns 0, that nobody
 * was there. A shim that an earlier rld has started has left its own to others. Where they are
 * mixed with strangers, who cannot be told from them, the dead are reaped, nobody is killed,
 * and 0 is returned. */
size_t orphans_end(const struct proc *proc);

#endif
