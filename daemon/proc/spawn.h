/* SPDX-License-Identifier: MIT */
/* Starts rl-shim, and programs that only print something. No other file of rld starts processes. */
#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include <sys/resource.h>

#include "proc/starter.h"

/* Start shim_path for the attempt in dir. lock becomes its descriptor 3, and stays open here. envp
 * is the whole environment, also of the agent; uuid is added as RL_ATTEMPT_UUID if missing. core:
 * its soft RLIMIT_CORE. 0; -ETIMEDOUT: rl-start did not answer in time, so it may run; or
 * -errno. */
int spawn_shim(const char *shim_path, const char *dir, int lock, char *const *envp, const char *uuid, rlim_t core,
    const struct start_limits *limits, struct spawned *out);

/* Start the program at path in its own session, as the user of the agents: no stdin, stdout is
 * output, no stderr. envp is the whole environment, NULL: that of rld. 0 or -errno. */
int spawn_teller(const char *path, char *const *argv, char *const *envp, int output, struct spawned *out);

/* End a teller with its process group, and release it. Returns its status, as from waitpid(); -1:
 * unknown. */
int spawn_teller_end(struct spawned *teller);

#endif
