/* SPDX-License-Identifier: MIT */
/* Where a process comes from: whether it is below a shim of this daemon, or was. A process that
 * has been moved elsewhere on purpose, by a service manager for example, and has cleared its
 * environment, cannot be told from others. */
#ifndef PROC_ORIGIN_H
#define PROC_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ORIGIN_MARK_MAX 64

struct origin {
	/* it has ended, another PID namespace hides it, a shim above it has a lock file that was
	 * moved or removed, or it is below this daemon and its shim was killed: nothing can be
	 * said */
	bool unknown;
	/* ... because /proc is mounted so that it hides the processes of other users, and this is
	 * one: it lives */
	bool hidden;
	/* attempt, step or hook of the shim above it; 0: none */
	int64_t id;
	/* of the shim above it whose directory is elsewhere, if the mark is known; without such a
	 * shim: its own STRAYS_MARK; "": none */
	char mark[ORIGIN_MARK_MAX];
};

struct origin_marks {
	/* the mark is that of an attempt or step of this daemon that may be alive */
	bool (*known)(void *arg, const char *mark);
	void *arg;
};

/* The mark of the attempt of a process that has the user of the agents, where that is another one
 * than ours: by its cgroup. False: it is in none of an attempt, or cannot be looked at. */
bool origin_by_group(pid_t pid, char mark[ORIGIN_MARK_MAX]);

/* pid: 0 if it is not visible. state_dir: absolute. Reads a few files of /proc. */
void origin_look(pid_t pid, const char *state_dir, const struct origin_marks *marks, struct origin *origin);

#endif
