/* SPDX-License-Identifier: MIT */
/* Ids of files that have not changed since they were hashed, by what lstat() says: a file whose
 * times, size, inode or mode differ is hashed again. A file may change after it was read without
 * other times if its change time is not older than the clock was before: such files are left out.
 *
 * A store into a mapping that was dirty before is not seen: no process that writes may be alive.
 * The cache of another boot is not used: the objects of its ids may be lost. */
#ifndef GIT_STAT_CACHE_H
#define GIT_STAT_CACHE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "git/change.h"

struct stat_cache;

struct stat_key {
	dev_t dev;
	ino_t ino;
	mode_t mode;
	off_t size;
	struct timespec mtime, ctime;
};

struct stat_key stat_key_of(const struct stat *st);

/* What file has, and the clock. A missing or damaged file is an empty cache. */
struct stat_cache *stat_cache_load(const char *file);
void stat_cache_free(struct stat_cache *cache);

/* The id of path, if it is unchanged; NULL. Borrowed. */
const char *stat_cache_find(const struct stat_cache *cache, const char *path, const struct stat_key *key);

/* For the next time: in place of what was there. key: from after stat_cache_load(). */
void stat_cache_add(struct stat_cache *cache, const char *path, const struct stat_key *key, const char *id);
/* Replace the file by what was added, if that differs from what it has. A failure is no error: then
 * more is hashed. */
void stat_cache_save(const struct stat_cache *cache);

/* Wait until the clock that files are stamped with is ahead of written, a time of CLOCK_REALTIME:
 * what was written before that can be added. */
void stat_cache_settle(struct stat_cache *cache, struct timespec written);

/* The name of the file for a directory, malloc'd. */
char *stat_cache_name(const char *dir);
/* Remove files of such names that nothing has used for two weeks: their directories are gone. */
void stat_cache_prune(const char *dir);

#endif
