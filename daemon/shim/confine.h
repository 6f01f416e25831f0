/* SPDX-License-Identifier: MIT */
/* Confinement by Landlock: a process, and all that it ever starts, may change files beneath some
 * paths only. Reading and executing stay free.
 *
 * What it keeps from changing, outside of those paths: the content of files (open for writing;
 * truncate(2) from ABI 3 on), and names (make, remove, rename, link). From ABI 5 on also ioctl(2)
 * on devices, from ABI 6 on signals to processes that are not confined with it. The devices that
 * shells and terminals need stay usable. What was open before stays open.
 *
 * What Landlock does not know, and the kernel still allows: chmod, chown, utimes, extended
 * attributes, and to ask somebody else by a socket. mount(2) and user namespaces fail, so a sandbox
 * that the agent makes itself may not work; set-user-id programs run without their rights. It holds
 * careless agents, it is no wall against hostile ones. */
#ifndef SHIM_CONFINE_H
#define SHIM_CONFINE_H

#define CONFINE_LEVEL 6		/* the newest Landlock ABI that is made use of */

/* Confine the calling process for ever. writable: NULL-terminated absolute paths, may be NULL; a
 * folder stands for all that is in it, now or later; what is not there is passed over. The Landlock
 * ABI reached, 1 to CONFINE_LEVEL, or -errno with the process as it was, but for no_new_privs,
 * which may be set. A filter of system calls may end the process here. */
int confine(char *const *writable);

#endif
