/* SPDX-License-Identifier: MIT */
/* Processes whose shim was killed and whose parent is now rld, the subreaper behind its shims. They
 * need no mark. */
#ifndef PROC_ORPHANS_H
#define PROC_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>

#include "proc/proc.h"

/* rld has children that no shim of its own has started: as process 1 of a container it gets all
 * orphans, and a script that became rld may have left some. Call before the first shim is
 * started. */
bool orphans_mixed(void);

/* Kill and reap all children of the calling thread, the loop's, except the shims of proc. Repeat
 * until it returns 0, no child found: children of the dead come up afterwards. Orphans of a shim of
 * an earlier rld have other parents. Among strangers, which cannot be told apart, it only reaps,
 * and returns 0. */
size_t orphans_end(const struct proc *proc);

/* Only reap those that are dead. */
void orphans_reap(const struct proc *proc);

#endif
