/* SPDX-License-Identifier: MIT */
/* The status file of an agent that a launcher placed, perhaps on another machine that sees the same
 * directory. rld creates it empty; the script around the agent fills it, appending one line each:
 *
 *	started UUID NODE	before the agent: a script that finds it starts none
 *	ended UUID STATUS	after it: its exit status, as a shell gives it; and behind it
 *				"signalled" when both of them were told to end
 *
 * A file that ends in any other way proves nothing. Where there is an rl-shim, it does what the
 * script does, see shim/far_shim.h. Before it begins anything, either takes the claim, see
 * record/far_claim.h.
 *
 * Used by rl-shim too: nothing but libc. */
#ifndef RECORD_FAR_STATUS_H
#define RECORD_FAR_STATUS_H

#include <stdbool.h>

#define FAR_NODE_MAX 65		/* including NUL */

enum far_found {
	FAR_EMPTY,		/* nothing has been started */
	FAR_STARTED,		/* it has begun, nothing else is known */
	FAR_ENDED,		/* it has ended with that status */
	FAR_SIGNALLED,		/* likewise, after a signal to end it */
	FAR_DAMAGED		/* missing, or not what the script writes */
};

struct far_status {
	enum far_found found;
	int status;			/* FAR_ENDED, FAR_SIGNALLED: 0 to 255 */
	char node[FAR_NODE_MAX];	/* name of the machine; "" if unknown */
};

/* The script, for sh -c: its arguments are the absolute path of the file, the uuid, and the agent's
 * argv. */
extern const char far_script[];

/* Whether nothing of the agent is left where it was placed, provided that nothing is placed any
 * more: it has never begun, or was seen to end. */
bool far_status_is_over(const struct far_status *far);

/* Append a line to dirfd/name, as the script does: "started", or "ended" with what is known after
 * it. 0 or -errno. Both block on the disk. */
int far_tell_started(int dirfd, const char *name, const char *uuid);
int far_tell_ended(int dirfd, const char *name, const char *uuid, int status, bool signalled);

/* Read dirfd/name of the attempt with that uuid. Blocks on the disk. */
void far_status_read(int dirfd, const char *name, const char *uuid, struct far_status *out);

#endif
