/* SPDX-License-Identifier: MIT */
#include "git/room_dirs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the cache has in place of an id: how many names are in the directory. */
#define COUNT_MAX 24

struct walk {
	const struct changes *entries;
	struct unpack *unpack;
	struct stat_cache *kept;		/* to add to; NULL: only look */
	const struct stat_cache *known;
	const bool *has;
	size_t *whole;
};

size_t room_dirs_end(const struct changes *entries, size_t i, size_t bytes)
{
	const char *dir = entries->list[i].path;

	while (i < entries->count && strncmp(entries->list[i].path, dir, bytes) == 0)
		i++;
	return i;
}

/* "d/" with so many names: add it, or see whether it is as it was. */
static bool dir_same(struct walk *w, const char *path, size_t bytes, size_t names)
{
	char *dir = xmemdup0(path, bytes), *bare = xmemdup0(path, bytes - 1), count[COUNT_MAX];
	const char *name, *known;
	struct stat_key key;
	struct stat st;
	bool same = false;
	int at;

	snprintf(count, sizeof(count), "%zu", names);
	if (unpack_find(w->unpack, bare, &at, &name) == 0 && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode)) {
		key = stat_key_of(&st);
		if (w->kept != NULL)
			stat_cache_add(w->kept, dir, &key, count);
		known = w->kept == NULL ? stat_cache_find(w->known, dir, &key) : NULL;
		same = known != NULL && strcmp(known, count) == 0;
	}
	free(bare);
	free(dir);
	return same;
}

/* The directory of so many bytes that begins with entry *i; *i: then the first one behind it. */
static bool walk_dir(struct walk *w, size_t *i, size_t bytes)
{
	size_t first = *i, end = room_dirs_end(w->entries, first, bytes), names = 0;
	bool whole = true;

	for (; *i < end; names++) {
		const char *path = w->entries->list[*i].path, *slash = strchr(path + bytes, '/');

		if (slash != NULL) {
			whole &= walk_dir(w, i, (size_t)(slash - path) + 1);
			continue;
		}
		whole &= w->has != NULL && w->has[*i];
		++*i;
	}
	if (bytes == 0 || (w->kept == NULL && !whole))
		return false;
	whole = dir_same(w, w->entries->list[first].path, bytes, names);
	if (whole)
		w->whole[first] = bytes;
	return whole;
}

void room_dirs_keep(struct stat_cache *cache, const struct changes *entries, struct unpack *unpack)
{
	struct walk w = { .entries = entries, .unpack = unpack, .kept = cache };
	size_t i = 0;

	if (entries->count > 0)
		walk_dir(&w, &i, 0);
}

size_t *room_dirs_whole(const struct stat_cache *cache, const struct changes *entries, const bool *has,
    struct unpack *unpack)
{
	size_t *whole = xcalloc(entries->count + 1, sizeof(*whole)), i = 0;
	struct walk w = { .entries = entries, .unpack = unpack, .known = cache, .has = has, .whole = whole };

	if (entries->count > 0)
		walk_dir(&w, &i, 0);
	return whole;
}
