/* SPDX-License-Identifier: MIT */
/* What became of an attempt, from its directory and the kernel: the same question at an adoption
 * and when a watched shim has ended. */
#ifndef PROC_INSPECT_H
#define PROC_INSPECT_H

#include <stdbool.h>

#include "record/exit_record.h"

enum inspection_result {
	INSPECTION_RUNNING,		/* pidfd is the shim's */
	INSPECTION_AGAIN,		/* the lock is held, and nobody says by whom: a shim is
					 * coming up or just going; or an I/O error */
	INSPECTION_BUSY,		/* could not look now: no descriptors, no memory */
	INSPECTION_ENDED,		/* record is valid */
	INSPECTION_NEVER_STARTED,	/* in this boot, and no shim came so far as to fork */
	INSPECTION_LOST,		/* shim gone without a record; its tree has been killed */
	INSPECTION_UNREADABLE		/* record or directory damaged: set aside; its
					 * tree has been killed */
};

struct inspection {
	const char *dir;		/* in: of the attempt */
	const char *uuid;		/* in: what its tree carries */
	const char *boot_id;		/* in: of the boot that it was to start in */
	bool last;			/* in: INSPECTION_AGAIN is no answer any more, who carries
					 * the uuid is killed */
	enum inspection_result result;
	int pidfd;			/* INSPECTION_RUNNING: the caller's, else -1 */
	struct exit_record record;	/* INSPECTION_ENDED */
	char detail[256];		/* a sentence for the cause; "" when there is none */
};

/* Blocks: off the loop. */
void inspect(struct inspection *l);

#endif
