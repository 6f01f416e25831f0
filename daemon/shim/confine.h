/* SPDX-License-Identifier: MIT */
/* Confinement by Landlock: a process and its descendants may change files beneath some paths only.
 * Reading and executing stay free.
 *
 * Prevented outside of those paths: changes of content (open for writing; truncate(2) from ABI 3
 * on) and of names (make, remove, rename, link). From ABI 5 on also ioctl(2) on devices, from ABI 6
 * on signals to processes that are not confined with it. The devices that shells and terminals need
 * stay usable. Files that are open already stay open.
 *
 * Not prevented: chmod, chown, utimes, extended attributes, and requests to other programs by a
 * socket. mount(2) and user namespaces fail, so a sandbox of the agent's own may not work;
 * set-user-id programs run without their rights. This holds careless agents, not hostile ones. */
#ifndef SHIM_CONFINE_H
#define SHIM_CONFINE_H

#define CONFINE_LEVEL 6		/* the newest Landlock ABI in use */

/* Confine the calling process for ever. writable: absolute paths, NULL-terminated, may be NULL; a
 * directory includes everything in it, now or later; missing paths are ignored. Returns the
 * Landlock ABI reached, 1 to CONFINE_LEVEL, or -errno with the process unchanged except for
 * no_new_privs. A filter of system calls may end the process here. */
int confine(char *const *writable);

#endif
