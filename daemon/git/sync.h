/* SPDX-License-Identifier: MIT */
/* Syncs what git wrote. git syncs objects and refs one by one, as configured, but neither their
 * directories nor what an agent's git has written. Blocking: off the loop only. */
#ifndef GIT_SYNC_H
#define GIT_SYNC_H

/* Sync the whole file system of path, an existing directory. 0 or -errno. */
int sync_all(const char *path);

#endif
