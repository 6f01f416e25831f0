/* SPDX-License-Identifier: MIT */
/* The claim of an agent that a launcher placed: the link RECORD_CLAIM in the attempt's directory.
 * Only one can make a link, also where several machines share a directory and locks are not to be
 * relied on. The process that has made it starts the agent, or says that none will:
 *
 *	PID.BOOT.MACHINE	far_script; ids of the boot and the machine, "" if unknown
 *	shim-PID.BOOT.MACHINE	an rl-shim, which outlives the connection that started it
 *	copied			job/copy_script.h, of a machine that has a directory of its own: the
 *				claim there counts, of which this one becomes a copy
 *	revoked			nothing has been started, and nothing will be
 *
 * Used by rl-shim too: nothing but libc. */
#ifndef RECORD_FAR_CLAIM_H
#define RECORD_FAR_CLAIM_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/identity.h"

#define FAR_SHIM "shim-"
#define FAR_IS_COPIED "copied"
#define MACHINE_ID 65		/* including NUL */

enum far_claimant {
	FAR_NOBODY,		/* or unreadable */
	FAR_REVOKED,
	FAR_SCRIPT,
	FAR_COPIED,
	FAR_BY_SHIM
};

struct far_claim {
	enum far_claimant by;
	/* FAR_SCRIPT, FAR_BY_SHIM: the process; 0: unreadable */
	pid_t pid;
	char boot[BOOT_ID], machine[MACHINE_ID];
};

/* Claim the agent for the calling rl-shim. 0; -EEXIST: it is claimed; or -errno. Blocks on the
 * disk, as all of these. */
int far_claim_take(int dirfd);

void far_claim_read(int dirfd, struct far_claim *out);

/* Whether the agent needs nothing here any more: an rl-shim has it where it was placed, or may get
 * it there. */
bool far_claim_is_away(const struct far_claim *claim);

/* The id of this machine; "" if unknown. */
void machine_id_read(char out[MACHINE_ID]);

/* Whether nobody has claimed the agent of the attempt with that directory, and from now on nobody
 * can. False also for the directory of an earlier version. */
bool far_revoke(int dirfd);

#endif
