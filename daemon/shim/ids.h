/* SPDX-License-Identifier: MIT */
/* The ids of rl-shim where agents have another user than rld (starter/main.c has all of them):
 *
 *	                   real    effective  saved   of files
 *	at exec            agents  rld        rld     rld
 *	from then on       rld     agents     rld     rld
 *
 * A process may be signalled by those that have its real or its saved user, and may signal those
 * that have its effective one: so rld ends the shim, the shim ends agents, and agents end neither.
 * The exec makes the saved user the effective one; hence the first row. Everywhere else all are
 * the same, and nothing here does anything. */
#ifndef SHIM_IDS_H
#define SHIM_IDS_H

/* First of all, in the parent: become as in the second row. 0 or -errno. */
int ids_close(void);

/* In the child that becomes the agent: be its user alone. It keeps the group of rld if keeps_group
 * is 1, as rl-git. 0 or -errno. */
int ids_become_agents(int keeps_group);

/* Open files as the agents' user, until ids_open_as_own(). */
void ids_open_as_agents(void);
void ids_open_as_own(void);

#endif
