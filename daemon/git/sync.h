/* SPDX-License-Identifier: MIT */
/* What git wrote, on the disk. git syncs objects and refs one by one, as it is told to, but neither
 * the directories that name them nor what an agent's own git has written. Blocking: off the loop
 * only. */
#ifndef GIT_SYNC_H
#define GIT_SYNC_H

/* Everything of the file system that path, an existing directory, is on. 0 or -errno. */
int sync_all(const char *path);

#endif
