/* SPDX-License-Identifier: MIT */
/* The directory of an attempt, prepared for its shim. */
#ifndef PROC_PREPARE_H
#define PROC_PREPARE_H

#include "proc/launch.h"

struct prepare {
	const char *attempts_dir, *dir;
	const struct launch *launch;
	/* out: descriptor of the held lock, owned by the caller; -1: failed */
	int lock;
	bool made;		/* out: the directory was made for this launch; false at first */
	int64_t vacant;		/* out: the directory existed: the next free number; else 0 */
	int status;		/* out: errno of the failure, 0: none */
	char error[256];	/* out: what failed, where and why */
};

/* Make directory, files, job and lock. Blocks: off the loop. An existing directory is never used,
 * because its contents could be anything. */
void prepare(struct prepare *p);

/* For another shim of an agent that a launcher placed, and that an rl-shim has there: the shim here
 * was killed. Take the lock, which proves that it is gone, and remove what it has left: its output,
 * since all of it is there, then its identity. The job stays. Fails if it has an exit record. Where
 * this is cut short, it begins again. Blocks. */
void prepare_another(struct prepare *p);

/* Nothing will be started: remove the directory, if it was made for this launch, so that the number
 * can be used later. */
void prepare_undo(struct prepare *p);

#endif
