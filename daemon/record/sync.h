/* SPDX-License-Identifier: MIT */
/* Syncs what other programs wrote: the work of an agent, and the directories of git, which syncs
 * its objects and refs one by one, as configured. Blocking: off the loop only. */
#ifndef RECORD_SYNC_H
#define RECORD_SYNC_H

#include <stdbool.h>

/* Sync the whole file system of path, an existing directory. 0 or -errno. */
int sync_all(const char *path);

/* Whether both paths are on the same file system. */
bool sync_is_same(const char *path, const char *other);

#endif
