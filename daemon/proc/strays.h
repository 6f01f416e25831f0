/* SPDX-License-Identifier: MIT */
/* Processes that outlived their shim, known by the mark in their environment. */
#ifndef PROC_STRAYS_H
#define PROC_STRAYS_H

#include <stdbool.h>
#include <sys/types.h>

#define STRAYS_MARK "RL_ATTEMPT_UUID"

/* Kill every process of this user that carries the mark, until none is found. Blocks, at most a few
 * seconds: off the loop. Returns how many were killed, 0 also when uuid is NULL or empty; -1: some
 * are left, or /proc could not be read. */
int strays_kill(const char *uuid);

/* Whether the process exists, is an rl-shim and has the mark of that attempt. Blocks on /proc. */
bool strays_is_shim(pid_t pid, const char *uuid);

/* Called for a process; name is valid during the call. */
typedef void strays_cb(void *arg, pid_t pid, const char *name);

/* Call each for every process of this user that carries the mark of an attempt and has no shim
 * above it. No shim will end it. Blocks on /proc. */
void strays_each(strays_cb *each, void *arg);

#endif
