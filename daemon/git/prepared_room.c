/* SPDX-License-Identifier: MIT */
#include "git/prepared_room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "git/place_path.h"
#include "git/remove_dir.h"
#include "git/tree_copy.h"
#include "record/host_fault.h"
#include "record/sync.h"

#define STORE "rld/prepared"
#define FILES "files"
#define PLACE "place"
#define UNUSED_SECONDS (14L * 24 * 60 * 60)
#define KEPT_MAX 8
#define PLACE_MAX ((size_t)PATH_MAX)
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

/* ---- names ---- */

char *prepared_key(const struct git_op *op, const char *copied)
{
	char *text = xasprintf("%s\n%s\n%s", op->spec.setup, op->spec.base, copied != NULL ? copied : ""),
	    hex[DIGEST_HEX];

	digest_hex(text, strlen(text), hex);
	free(text);
	return xasprintf("%.40s", hex);
}

/* The name of one that can be used only in the place of the operation. */
static char *bound_name(const struct git_op *op, const char *key)
{
	char hex[DIGEST_HEX];

	digest_hex(op->spec.dir, strlen(op->spec.dir), hex);
	return xasprintf("%s-%.16s", key, hex);
}

/* ---- use ---- */

/* Open and locked, and it still has that name; -1: there is none. */
static int hold(const char *store, const char *name)
{
	char *path = xasprintf("%s/%s", store, name);
	int fd = open(path, OPEN_DIR);
	struct stat own, now;

	if (fd != -1 && (flock(fd, LOCK_SH) == -1 || fstat(fd, &own) == -1 || lstat(path, &now) == -1 ||
	    own.st_ino != now.st_ino || own.st_dev != now.st_dev)) {
		close(fd);
		fd = -1;
	}
	free(path);
	return fd;
}

/* That of the operation, for any place or for its own; -1: none. */
static int find(const struct git_op *op, const char *copied)
{
	char *store = xasprintf("%s/" STORE, op->objects), *key = prepared_key(op, copied),
	    *bound = bound_name(op, key);
	int fd = hold(store, key);

	if (fd == -1)
		fd = hold(store, bound);
	free(bound);
	free(key);
	free(store);
	return fd;
}

int prepared_clone(struct git_op *op, const char *copied, const struct changes *tracked)
{
	struct tree_copy copy = { .tracked = tracked, .left_out = op->artifacts };
	int kept = find(op, copied), from, to, rv;

	if (kept == -1)
		return 1;
	futimens(kept, NULL);
	from = openat(kept, FILES, OPEN_DIR);
	to = open(op->spec.dir, OPEN_DIR);
	rv = from == -1 || to == -1 ? -errno : tree_copy(&copy, from, to);
	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	close(kept);
	if (rv != 0)
		rv = place_fail(op, op->spec.dir, copy.path != NULL ? copy.path : "", host_words(-rv));
	free(copy.path);
	return rv;
}

/* ---- removal ---- */

/* Unless it is in use. Under another name first, so that none is found half removed. */
static bool remove_one(const char *store, const char *name)
{
	char *path = xasprintf("%s/%s", store, name),
	    *gone = xasprintf("%s/%.40s.gone.%ld", store, name, (long)getpid());
	int fd = open(path, OPEN_DIR);
	bool done = false;

	if (fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		remove_dir(gone);
		done = rename(path, gone) == 0 && remove_dir(gone) == 0;
	}
	if (fd != -1)
		close(fd);
	free(gone);
	free(path);
	return done;
}

struct kept {
	char *name;
	time_t used;
};

static int newest_first(const void *a, const void *b)
{
	const struct kept *one = a, *other = b;

	return (one->used < other->used) - (one->used > other->used);
}

/* It names a directory that no longer exists. */
static bool has_lost_place(int store, const char *name)
{
	char *file = xasprintf("%s/" PLACE, name), *place = NULL;
	size_t size;
	bool lost = file_read(store, file, PLACE_MAX, &place, &size) == 0 && access(place, F_OK) == -1 &&
	    errno == ENOENT;

	free(place);
	free(file);
	return lost;
}

static bool is_left(int store, const char *name, time_t used)
{
	return strchr(name, '.') != NULL || used + UNUSED_SECONDS < time(NULL) || has_lost_place(store, name);
}

/* Those of a store beyond the newest max, and others that are of no use. */
static bool prune(const char *store, size_t max)
{
	DIR *dir = opendir(store);
	struct kept *list = NULL;
	bool any = false;
	size_t count = 0;
	struct dirent *e;
	struct stat st;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			continue;
		list = xreallocarray(list, count + 1, sizeof(*list));
		list[count++] = (struct kept){ xstrdup(e->d_name),
		    is_left(dirfd(dir), e->d_name, st.st_mtime) ? 0 : st.st_mtime };
	}
	if (count > 1)
		qsort(list, count, sizeof(*list), newest_first);
	for (size_t i = 0; i < count; i++) {
		if (i >= max || list[i].used == 0)
			any |= remove_one(store, list[i].name);
		free(list[i].name);
	}
	free(list);
	if (dir != NULL)
		closedir(dir);
	return any;
}

void prepared_prune(const char *objects)
{
	char *store = xasprintf("%s/" STORE, objects);

	prune(store, KEPT_MAX);
	free(store);
}

/* In all evidence repositories below a state directory. */
static bool prune_all(const char *state_dir, size_t max)
{
	char *evidence = xasprintf("%s/evidence", state_dir);
	DIR *dir = opendir(evidence);
	struct dirent *e;
	bool any = false;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char *store = xasprintf("%s/%s/" STORE, evidence, e->d_name);

		if (e->d_name[0] != '.')
			any |= prune(store, max);
		free(store);
	}
	if (dir != NULL)
		closedir(dir);
	free(evidence);
	return any;
}

bool prepared_drop(const char *state_dir)
{
	return prune_all(state_dir, 0);
}

void prepared_prune_all(const char *state_dir)
{
	prune_all(state_dir, KEPT_MAX);
}

/* ---- making one ---- */

static bool has_space(const struct git_op *op, const char *store)
{
	struct statvfs fs;

	return op->spec.disk_floor == 0 || statvfs(store, &fs) == -1 ||
	    (uint64_t)fs.f_bavail * fs.f_frsize >= (uint64_t)op->spec.disk_floor;
}

/* The content of spec.dir goes to the open directory half; *bound: it names its place. 0 or
 * -errno. */
static int fill(const struct git_op *op, const struct changes *tracked, int half, bool *bound)
{
	char *real = realpath(op->spec.dir, NULL), *const texts[] = { (char *)op->spec.dir, real, NULL };
	struct tree_copy copy = { .tracked = tracked, .left_out = op->artifacts, .sought = texts };
	int from = open(op->spec.dir, OPEN_DIR), to = -1, rv;

	rv = from == -1 || mkdirat(half, FILES, 0700) == -1 || (to = openat(half, FILES, OPEN_DIR)) == -1 ? -errno : 0;
	if (rv == 0)
		rv = tree_copy(&copy, from, to);
	if (rv == 0 && copy.found)
		rv = file_write(half, PLACE, op->spec.dir, strlen(op->spec.dir), 0600, false);
	*bound = copy.found;
	if (to != -1)
		close(to);
	if (from != -1)
		close(from);
	free(copy.path);
	free(real);
	return rv;
}

/* Under a temporary name, so that it is complete, and on the disk, once it has its own. */
static void make(const struct git_op *op, const struct changes *tracked, const char *store, const char *key)
{
	char *half = xasprintf("%s/%s.%ld", store, key, (long)getpid()), *bound = bound_name(op, key), *path;
	int fd = file_mkdir_anew(half, 0700) == 0 ? open(half, OPEN_DIR) : -1;
	bool is_bound = false, done;

	done = fd != -1 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fill(op, tracked, fd, &is_bound) == 0 &&
	    has_space(op, store) && sync_all(half) == 0;
	path = xasprintf("%s/%s", store, is_bound ? bound : key);
	/* another slot may have been faster */
	if (!done || rename(half, path) == -1)
		remove_dir(half);
	else
		sync_all(store);
	if (fd != -1)
		close(fd);
	free(path);
	free(bound);
	free(half);
}

void prepared_keep(struct git_op *op, const char *copied, const struct changes *tracked)
{
	char *store = xasprintf("%s/" STORE, op->objects), *key = prepared_key(op, copied);
	int found = find(op, copied);

	if (found != -1)
		close(found);
	else if (file_mkdirs(store, 0700) == 0 && has_space(op, store))
		make(op, tracked, store, key);
	prune(store, KEPT_MAX);
	free(key);
	free(store);
}
