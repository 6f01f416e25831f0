/* SPDX-License-Identifier: MIT */
/* The fate of an attempt, by its directory and the kernel. The same inspection serves adoption and
 * the end of a watched shim. */
#ifndef PROC_INSPECT_H
#define PROC_INSPECT_H

#include <stdbool.h>

#include "record/exit_record.h"

enum inspection_result {
	INSPECTION_RUNNING,		/* pidfd is the shim's */
	INSPECTION_AGAIN,		/* lock held, holder unknown: a shim starts
					 * or ends; or EIO */
	INSPECTION_BUSY,		/* not possible now: no descriptors, no memory */
	INSPECTION_ENDED,		/* record is valid */
	INSPECTION_NEVER_STARTED,	/* in this boot, no shim has forked */
	/* shim gone without a record, but the agent has one where it was placed: this may be
	 * followed by another shim here. Nothing was killed */
	INSPECTION_FOLLOWED,
	INSPECTION_LOST,		/* shim gone without a record; its tree was killed */
	INSPECTION_UNREADABLE		/* damaged and renamed; its tree has been killed */
};

struct inspection {
	const char *dir;		/* in: directory of the attempt */
	const char *uuid;		/* in: mark of its processes */
	const char *boot_id;		/* in: boot in which it was to start */
	bool last;			/* in: no INSPECTION_AGAIN; kill processes with the uuid */
	bool over;			/* in: no INSPECTION_FOLLOWED: the agent is to be ended */
	bool killed;			/* in: SIGKILL was sent: no INSPECTION_RUNNING */
	enum inspection_result result;
	bool free;			/* the lock was */
	bool placed;			/* lost, and a launcher had placed it: see record */
	int pidfd;			/* INSPECTION_RUNNING: owned by the caller, otherwise -1 */
	int64_t wall_ms, grace_ms;	/* INSPECTION_RUNNING: limits of its job, 0: not known */
	bool recorded;			/* ...: it has written its exit record */
	bool at_work;			/* ...: its tree is not empty */
	struct exit_record record;	/* INSPECTION_ENDED; or placed: what is known */
	char detail[256];		/* a sentence for the cause; "" if none */
};

/* Blocks: call it off the loop. */
void inspect(struct inspection *l);

#endif
