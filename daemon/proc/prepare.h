/* SPDX-License-Identifier: MIT */
/* An attempt's directory, made ready for its shim. */
#ifndef PROC_PREPARE_H
#define PROC_PREPARE_H

#include "proc/launch.h"

struct prepare {
	const char *attempts_dir, *dir;
	const struct launch *launch;
	int lock;		/* out: descriptor of the held lock, the caller's; -1: failed */
	bool made;		/* out: the directory was made for this launch. False at first */
	int64_t vacant;		/* out: the directory was there before: the next number that has
				 * none; 0: it was not */
	int status;		/* out: errno of what failed, 0: nothing did, or it
				 * is no such error */
	char error[256];	/* out: what failed, where and why */
};

/* Directory, files, job, lock. Blocks: off the loop. The directory is made, never found: whoever
 * made one beforehand could have put anything into it. */
void prepare(struct prepare *p);

/* Nothing will be started there: take the directory away again, if it was made for this launch, so
 * that the number can be used later. */
void prepare_undo(struct prepare *p);

#endif
