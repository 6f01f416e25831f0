/* SPDX-License-Identifier: MIT */
/* Processes that outlived their shim, known by the mark in their environment. */
#ifndef PROC_STRAYS_H
#define PROC_STRAYS_H

#include <stdbool.h>
#include <sys/types.h>

#define STRAYS_MARK "RL_ATTEMPT_UUID"

/* SIGKILL to every process of ours that carries the mark, until none is found. Blocks, at most a
 * few seconds: off the loop. The number that were seen and killed; 0 when uuid is NULL or empty; -1
 * when some were still there at the end, or nobody could look. */
int strays_kill(const char *uuid);

/* Whether the process lives, is an rl-shim and carries the mark of that attempt.
 * Blocks on /proc. */
bool strays_is_shim(pid_t pid, const char *uuid);

/* A process that was looked at; name valid during the call. */
typedef void strays_cb(void *arg, pid_t pid, const char *name);

/* Every process of ours that carries the mark of some attempt and has no shim above it: nobody will
 * end it. Blocks on /proc. */
void strays_each(strays_cb *each, void *arg);

#endif
