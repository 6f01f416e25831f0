/* SPDX-License-Identifier: MIT */
/* Processes that outlived their shim, known by the mark in their environment. */
#ifndef PROC_STRAYS_H
#define PROC_STRAYS_H

#define STRAYS_MARK "RL_ATTEMPT_UUID"

/* SIGKILL to every process of ours that carries the mark, until none is found. Blocks, at most a few seconds: off the loop.
 * The number that were seen and killed; 0 when uuid is NULL or empty; -1 when some were still there at the end,
 * or nobody could look. */
int strays_kill(const char *uuid);

#endif
