/* SPDX-License-Identifier: MIT */
/* The ids of rl-shim where agents have another user than rld (starter/main.c has all of them):
 *
 *	            uid: real  effective  saved   of files   gid: real  effective  saved
 *	at exec          rld   rld        rld     rld             rld   rld        rld
 *	then             rld   agents     rld     rld             agents  rld      rld
 *
 * A process may be signalled by those that have its real or its saved user, and may signal those
 * that have its effective one: so rld ends the shim, the shim ends agents, and agents end neither.
 *
 * With NO_NEW_PRIVS, Linux 6.1 and 6.12 make effective ids real ones at exec where they differ: so
 * at each exec all three are the same, and the program gets the capabilities to take them apart,
 * which it gives up then. In a user's own daemon nothing here does anything. */
#ifndef SHIM_IDS_H
#define SHIM_IDS_H

/* First of all: become as in the second row, with these ids of the agents, in decimal; NULL: there
 * is no other user. 0 or -errno; -EHOSTDOWN: an rl-start of an earlier version has started us, with
 * ids that mean something else. */
int ids_take_apart(const char *uid, const char *gid);

/* In the child that becomes the agent: be its user alone. If keeps_group is 1, it has the group of
 * rld instead of that of the agents, and may set its groups, as rl-git. 0 or -errno. */
int ids_become_agents(int keeps_group);
/* In the parent, when there will be no other child. */
void ids_settle(void);

/* Open files as the agents' user, until ids_open_as_own(). */
void ids_open_as_agents(void);
void ids_open_as_own(void);

#endif
