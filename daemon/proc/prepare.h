/* SPDX-License-Identifier: MIT */
/* An attempt's directory, made ready for its shim. */
#ifndef PROC_PREPARE_H
#define PROC_PREPARE_H

#include "proc/launch.h"

struct prepare {
	const char *attempts_dir, *dir;
	const struct launch *launch;
	int lock;		/* out: descriptor of the held lock, the caller's; -1: failed */
	bool full;		/* out: it failed for want of space; nothing is wrong, ask again */
	char error[256];	/* out: what failed, where and why */
};

/* Directory, files, job, lock. Blocks: off the loop. A directory that a shim was in before is refused; one that was only
 * made ready is made ready again. */
void prepare(struct prepare *p);

#endif
