/* SPDX-License-Identifier: MIT */
/* The flock of a living shim. rld takes it, passes the open file to the shim, and closes its own
 * descriptor: so a started attempt is never unlocked, not for a moment. */
#ifndef RECORD_LOCK_FILE_H
#define RECORD_LOCK_FILE_H

/* Create and lock dirfd/lock. A descriptor (CLOEXEC), -EWOULDBLOCK: held, or -errno. */
int lock_take(int dirfd);

/* 1: held; 0: free, or no lock file; -errno. */
int lock_held(int dirfd);

#endif
