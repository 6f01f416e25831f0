/* SPDX-License-Identifier: MIT */
/* The user as whom agents work. In a user's own daemon that is the daemon's user. In the system
 * service it may be another one: then agents reach only what is given to their group.
 *
 *	                       owner, group     agents
 *	<state>, attempts/     rld              pass through
 *	attempts/<id>/         rld              pass through; files of theirs: group of the agents
 *	attempts/<id>/ (step)  rld, group too   nothing: rl-git has the agents' uid and rld's group
 *	evidence/, worktrees/  rld, group too   worktrees: pass through
 *	runs/<id>/             rld, group too   pass through
 *	runs/<id>/scratch      rld, agents      all but remove what is not theirs
 *
 * Set once at the start of the daemon, before there are threads. */
#ifndef BASE_AGENT_USER_H
#define BASE_AGENT_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/credentials.h"

struct agent_user {
	bool apart;		/* another user than that of this process */
	struct peer is;		/* uid and groups; pid 0 */
	char *name, *home, *shell;	/* NULL: that user is in no user database */
};

/* Never NULL. */
const struct agent_user *agent_user(void);

/* From now on agents are that user, if it is another than ours. Reads the user database: blocking.
 * Returns 0, or -errno: its groups are not known. */
int agent_user_set(uid_t uid, gid_t gid);

/* Give the file or directory dirfd/name (AT_FDCWD allowed) to the group of the agents, with mode;
 * links are not followed. Without another user nothing is done. 0 or -errno. */
int agent_user_give(int dirfd, const char *name, mode_t mode);

/* Give them a directory that we made in one of theirs, and those above it that we made as well,
 * but none outside of the first directory below base. 0 or -errno. */
int agent_user_give_dirs(const char *base, const char *path);

/* Likewise to our own group: for what rl-git writes to, or agents pass through. */
int agent_user_pass(int dirfd, const char *name, mode_t mode);

/* Whether agents may read, write or search (R_OK, W_OK, X_OK) what is open: a link in their work
 * tree leads where they want. Without another user they may. */
bool agent_user_may(int fd, int mode);

#endif
