/* SPDX-License-Identifier: MIT */
/* Directories of a room. One with the times that it had when it was laid out has the same names,
 * mode and attributes: if what is below it is as it was, too, it can be moved as a whole. */
#ifndef GIT_ROOM_DIRS_H
#define GIT_ROOM_DIRS_H

#include "git/change.h"
#include "git/stat_cache.h"
#include "git/unpack.h"

/* Add the directories of entries, which lie in unpack and have just been laid out. */
void room_dirs_keep(struct stat_cache *cache, const struct changes *entries, struct unpack *unpack);

/* For each of entries, malloc'd: 0, or how many bytes of its path name, with the slash, the
 * outermost directory that begins with it and can be moved. has: whether an entry is as it was. */
size_t *room_dirs_whole(const struct stat_cache *cache, const struct changes *entries, const bool *has,
    struct unpack *unpack);

/* The first entry from i on that is not below the directory of so many bytes. */
size_t room_dirs_end(const struct changes *entries, size_t i, size_t bytes);

#endif
