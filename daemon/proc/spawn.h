/* SPDX-License-Identifier: MIT */
/* Starts rl-shim, and programs that only print something. No other file of rld starts processes. */
#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include <sys/types.h>

/* Start shim_path for the attempt in dir. lock becomes its descriptor 3, and stays open here. envp
 * is the whole environment, also of the agent; uuid is added as RL_ATTEMPT_UUID if missing. 0 or
 * -errno. */
int spawn_shim(const char *shim_path, const char *dir, int lock, char *const *envp, const char *uuid, pid_t *pid);

/* Start the program at path in its own session: no stdin, stdout is output, no stderr. envp is the
 * whole environment, NULL: that of rld. 0 or -errno. */
int spawn_teller(const char *path, char *const *argv, char *const *envp, int output, pid_t *pid);

#endif
