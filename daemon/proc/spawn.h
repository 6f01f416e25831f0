/* SPDX-License-Identifier: MIT */
/* Makes rl-shim, and programs that tell something at once: the one place in rld where a
 * process comes from. */
#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include <sys/types.h>

/* Start shim_path for the attempt in dir. lock becomes its descriptor 3 and stays the caller's
 * here. envp is the whole environment, for the agent too; uuid is added as RL_ATTEMPT_UUID when it
 * is not in it. 0 or -errno. */
int spawn_shim(const char *shim_path, const char *dir, int lock, char *const *envp, const char *uuid, pid_t *pid);

/* Start the program at path, which is to tell something and end: it reads nothing, stdout is
 * output, stderr goes nowhere. In a session of its own; envp is the whole environment, NULL:
 * ours. 0 or -errno. */
int spawn_teller(const char *path, char *const *argv, char *const *envp, int output, pid_t *pid);

#endif
