/* SPDX-License-Identifier: MIT */
/* rl-start, seen from rld: it starts processes as another user, see starter/main.c. Without
 * starter_use() it is not there, and rld starts its processes itself. */
#ifndef PROC_STARTER_H
#define PROC_STARTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A process that was started, by us or by rl-start. */
struct spawned {
	pid_t pid;
	int pidfd;		/* owned; -1: none could be had */
	/* to rl-start, which says how it ended; owned; -1: it is our child */
	int conn;
};

/* From now on use rl-start at this socket, and ask who its agents are. path stays valid. 0 or
 * -errno; -EHOSTDOWN, as of all functions here: it does not answer. Blocking. Before there are
 * threads. */
int starter_use(const char *path, uid_t *uid, gid_t *gid);
bool starter_used(void);

/* Limits of what one shim starts: bytes, processes; 0: none. */
struct start_limits {
	int64_t memory, processes;
};

/* Start rl-shim for the attempt in dir. envp: as marked, see spawn_shim(). 0; -ETIMEDOUT: it may
 * have been started, so look; or -errno. Blocking, a moment. */
int starter_shim(const char *dir, const char *uuid, int lock, char *const *envp, rlim_t core,
    const struct start_limits *limits, struct spawned *out);

/* Why attempts will not have these limits, a new string; NULL: they will. *remedy: what to do,
 * static. Blocking. */
char *starter_limits_unmet(const struct start_limits *limits, const char **remedy);

/* See spawn_teller(). */
int starter_tell(const char *path, char *const *argv, char *const *envp, int output, struct spawned *out);

/* The status of a process that has ended, as from waitpid(); -1: it is not known; -EAGAIN: not
 * said yet. wait_ms 0: do not block. */
int starter_status(int conn, int wait_ms);

/* Kill the processes that an attempt has left. As strays_kill(). Blocking. */
int starter_kill(const char *uuid);

/* Remove what agents made, and only they can remove; without rl-start, file_remove_tree(). 0 or
 * -errno. Blocking, as long as it takes. */
int starter_remove(const char *path);

#endif
