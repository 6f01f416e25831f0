/* SPDX-License-Identifier: MIT */
#include "git/stat_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "proto/memory.h"

#define PREFIX "stat-"
#define UNUSED_SECONDS (14L * 24 * 60 * 60)
#define CACHE_MAX ((size_t)1 << 30)
#define BOOT_FILE "/proc/sys/kernel/random/boot_id"
#define BOOT_MAX 64
/* of file systems that keep whole seconds, or every other one */
#define COARSE_SECONDS 2

struct cached {
	const char *path, *id;	/* borrowed from the file's data, or owned */
	struct stat_key key;
};

struct cached_list {
	struct cached *list;
	size_t count, room;
};

struct stat_cache {
	char *file, *data;
	char boot[BOOT_MAX];
	struct timespec clock;	/* before any lstat() */
	struct cached_list old, added;
};

/* At most what a file is stamped with. It may be behind by two ticks. */
static struct timespec clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now;
}

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

static bool is_racy(const struct stat_cache *cache, struct timespec time)
{
	return time.tv_nsec == 0 ? time.tv_sec + COARSE_SECONDS >= cache->clock.tv_sec :
	    !is_before(time, cache->clock);
}

struct stat_key stat_key_of(const struct stat *st)
{
	return (struct stat_key){ st->st_dev, st->st_ino, st->st_mode, st->st_size, st->st_mtim, st->st_ctim };
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const struct stat_key *a, const struct stat_key *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->mode == b->mode && a->size == b->size &&
	    is_same_time(a->mtime, b->mtime) && is_same_time(a->ctime, b->ctime);
}

static struct cached *list_add(struct cached_list *list)
{
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 256;
		list->list = xreallocarray(list->list, list->room, sizeof(*list->list));
	}
	return &list->list[list->count++];
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct cached *)a)->path, ((const struct cached *)b)->path);
}

/* ---- the file: a digest, the boot, then for each a key, its id and its path, with NULs ---- */

/* As it is in memory: another build of another shape has another FORMAT. */
#define FORMAT " 2"

static bool read_records(struct stat_cache *cache, const char *p, const char *end)
{
	while (p < end) {
		struct cached *c = list_add(&cache->old);
		const char *id = p + sizeof(c->key), *path;

		if ((size_t)(end - p) < sizeof(c->key) + 4 || (path = memchr(id, '\0', (size_t)(end - id - 1))) == NULL)
			return false;
		memcpy(&c->key, p, sizeof(c->key));
		c->id = id;
		c->path = ++path;
		p = path + strlen(path) + 1;
	}
	return true;
}

static bool is_sorted(const struct cached_list *list)
{
	for (size_t i = 1; i < list->count; i++)
		if (by_path(&list->list[i - 1], &list->list[i]) > 0)
			return false;
	return true;
}

/* False: it is another boot's, or damaged. */
static bool read_data(struct stat_cache *cache, char *data, size_t size)
{
	char hex[DIGEST_HEX];
	size_t head = DIGEST_HEX, boot = strlen(cache->boot) + 1;

	if (size < head + boot || data[size - 1] != '\0' || strcmp(data + head, cache->boot) != 0)
		return false;
	digest_hex(data + head, size - head, hex);
	return memcmp(data, hex, head) == 0 && read_records(cache, data + head + boot, data + size);
}

static void read_boot(char boot[BOOT_MAX])
{
	int fd = open(BOOT_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd != -1 ? read(fd, boot, BOOT_MAX - 1) : 0;

	boot[n > 0 ? n : 0] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	if (boot[0] != '\0')
		strlcat(boot, FORMAT, BOOT_MAX);
	if (fd != -1)
		close(fd);
}

struct stat_cache *stat_cache_load(const char *file)
{
	struct stat_cache *cache = xcalloc(1, sizeof(*cache));
	size_t size = 0;

	cache->file = xstrdup(file);
	cache->clock = clock_now();
	read_boot(cache->boot);
	if (file_read(AT_FDCWD, file, CACHE_MAX, &cache->data, &size) != 0)
		cache->data = NULL;
	else if (cache->boot[0] == '\0' || !read_data(cache, cache->data, size) ||
	    utimensat(AT_FDCWD, file, NULL, AT_SYMLINK_NOFOLLOW) == -1)
		cache->old.count = 0;
	if (!is_sorted(&cache->old))
		qsort(cache->old.list, cache->old.count, sizeof(struct cached), by_path);
	return cache;
}

void stat_cache_free(struct stat_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < cache->added.count; i++) {
		free((char *)cache->added.list[i].path);
		free((char *)cache->added.list[i].id);
	}
	free(cache->added.list);
	free(cache->old.list);
	free(cache->data);
	free(cache->file);
	free(cache);
}

/* ---- what it knows ---- */

static const struct cached *find(const struct stat_cache *cache, const char *path)
{
	struct cached key = { .path = path };

	return cache->old.count == 0 ? NULL :
	    bsearch(&key, cache->old.list, cache->old.count, sizeof(key), by_path);
}

const char *stat_cache_find(const struct stat_cache *cache, const char *path, const struct stat_key *key)
{
	const struct cached *c = find(cache, path);

	return c != NULL && is_same(&c->key, key) ? c->id : NULL;
}

void stat_cache_add(struct stat_cache *cache, const char *path, const struct stat_key *key, const char *id)
{
	if (is_racy(cache, key->ctime) || is_racy(cache, key->mtime))
		return;
	*list_add(&cache->added) = (struct cached){ xstrdup(path), xstrdup(id), *key };
}

static bool is_unchanged(const struct stat_cache *cache)
{
	for (size_t i = 0; i < cache->added.count; i++) {
		const struct cached *c = &cache->added.list[i], *old = find(cache, c->path);

		if (old == NULL || !is_same(&old->key, &c->key) || strcmp(old->id, c->id) != 0)
			return false;
	}
	return cache->added.count == cache->old.count;
}

void stat_cache_save(const struct stat_cache *cache)
{
	struct buf text = { 0 };
	char hex[DIGEST_HEX], zeros[DIGEST_HEX] = "";

	if (cache->boot[0] == '\0' || is_unchanged(cache))
		return;
	buf_add(&text, zeros, sizeof(zeros));
	buf_add(&text, cache->boot, strlen(cache->boot) + 1);
	for (size_t i = 0; i < cache->added.count; i++) {
		const struct cached *c = &cache->added.list[i];

		buf_add(&text, (const char *)&c->key, sizeof(c->key));
		buf_add(&text, c->id, strlen(c->id) + 1);
		buf_add(&text, c->path, strlen(c->path) + 1);
	}
	digest_hex(text.data + DIGEST_HEX, text.size - DIGEST_HEX, hex);
	memcpy(text.data, hex, sizeof(hex));
	file_write(AT_FDCWD, cache->file, text.data, text.size, 0600, false);
	buf_release(&text);
}

void stat_cache_settle(struct stat_cache *cache, struct timespec written)
{
	while (cache->clock = clock_now(), !is_before(written, cache->clock))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

char *stat_cache_name(const char *dir)
{
	char hex[DIGEST_HEX];

	digest_hex(dir, strlen(dir), hex);
	return xasprintf(PREFIX "%.16s", hex);
}

void stat_cache_prune(const char *dir)
{
	DIR *files = opendir(dir);
	time_t now = time(NULL);
	struct dirent *e;
	struct stat st;

	while (files != NULL && (e = readdir(files)) != NULL)
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    fstatat(dirfd(files), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_mtim.tv_sec + UNUSED_SECONDS < now)
			unlinkat(dirfd(files), e->d_name, 0);
	if (files != NULL)
		closedir(files);
}
