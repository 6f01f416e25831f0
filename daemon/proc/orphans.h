/* SPDX-License-Identifier: MIT */
/* Processes whose shim was killed, and that have come to us: rld is the subreaper behind its shims. They need not carry anything. */
#ifndef PROC_ORPHANS_H
#define PROC_ORPHANS_H

#include <stddef.h>

#include "proc/proc.h"

/* SIGKILL to all children of this thread, which is the loop's, but for the shims of proc, and reap them. Theirs come up when they are
 * dead: to be repeated until it returns 0, that nobody was there. A shim that an earlier rld has started has left its own to others. */
size_t orphans_end(const struct proc *proc);

#endif
