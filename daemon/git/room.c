/* SPDX-License-Identifier: MIT */
/* CHECKOUT: makes a room; and what VERIFY asks about it. */
#include "git/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "git/checkout.h"
#include "git/evidence_repo.h"
#include "git/ignored.h"
#include "git/path_pattern.h"
#include "git/room_dirs.h"
#include "git/room_git.h"
#include "git/room_judges.h"
#include "git/room_note.h"
#include "git/stat_cache.h"
#include "git/used_room.h"
#include "git/verified.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define MODE_REPOSITORY 0160000

static int fail_room(struct git_op *op, int rv)
{
	return git_fail(op, xasprintf("%s: %s; remove it and retry the run", op->spec.dir, host_words(-rv)));
}

/* ---- making it ---- */

/* The ids of its files, known as long as they are not touched. Empty without an evidence
 * repository. */
static struct stat_cache *known_files(const struct git_op *op)
{
	char *name = stat_cache_name(op->spec.dir),
	    *file = op->objects != NULL ? evidence_file(op, name) : xstrdup("");
	struct stat_cache *cache = stat_cache_load(file);

	free(file);
	free(name);
	return cache;
}

/* VERIFY reads only what is touched from now on. No other process works there yet. */
static void keep_files(struct git_op *op, const struct changes *entries, struct unpack *unpack,
    struct timespec written)
{
	struct stat_cache *cache = known_files(op);

	stat_cache_settle(cache, written);
	for (size_t i = 0; i < entries->count; i++) {
		const struct change *e = &entries->list[i];
		struct stat_key key;
		const char *name;
		struct stat st;
		int at;

		if (e->mode == MODE_REPOSITORY || unpack_find(unpack, e->path, &at, &name) != 0 ||
		    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			continue;
		key = stat_key_of(&st);
		stat_cache_add(cache, e->path, &key, e->id);
	}
	room_dirs_keep(cache, entries, unpack);
	stat_cache_save(cache);
	stat_cache_free(cache);
}

/* Rooms of tasks that have ended. One that was made since this was asked for is no such: of the
 * same iteration it has a greater number, or 0 for the run as a whole. */
static void keep_earlier(const struct git_op *op)
{
	const char *room = op->spec.dir, *name = strrchr(room, '/') + 1;
	char *parent = xmemdup0(room, (size_t)(name - room)), rest;
	long long iteration, slot, earlier, its_slot;
	DIR *dir = sscanf(name, "tree-%lld-%lld%c", &iteration, &slot, &rest) == 2 ? opendir(parent) : NULL;
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char *path = xasprintf("%s%s", parent, e->d_name);

		if (sscanf(e->d_name, "tree-%lld-%lld%c", &earlier, &its_slot, &rest) == 2 &&
		    (earlier < iteration ||
		        (op->spec.displaces && earlier == iteration && its_slot > 0 && its_slot < slot)) &&
		    !strings_contain(op->spec.rooms, e->d_name))
			used_room_keep(path, op->objects);
		free(path);
	}
	if (dir != NULL)
		closedir(dir);
	free(parent);
}

/* What was made in the room beside the files of the tree before; without it, no set-up is ready
 * there. */
static int keep_rest(struct git_op *op, const char *before, const struct changes *entries, struct used_room *used,
    struct unpack *unpack)
{
	struct changes its = { 0 };
	int rv = 0, error;

	if (before == NULL || !used_room_is_own(used)) {
		room_note_remove(op, ROOM_SETUP);
		return 0;
	}
	rv = verified_list(op, before, &its);
	error = rv == 0 ? used_room_move_rest(used, &its, unpack) : 0;
	if (error != 0)
		rv = fail_room(op, error);
	changes_release(&its);
	return rv == 0 ? room_judges_remove(op, entries) : -1;
}

static int room_fill(struct git_op *op, const struct changes *entries)
{
	struct used_room *used;
	struct unpack *unpack = NULL;
	struct changes rest = { 0 };
	struct timespec written;
	char *before = op->spec.reuses ? room_note_read(op, ROOM_TREE) : NULL;
	int rv = 0, error;

	room_note_remove(op, ROOM_TREE);
	keep_earlier(op);
	used = used_room_open(op);
	error = unpack_new(op->spec.dir, &unpack);
	if (error == 0)
		error = used_room_move(used, entries, unpack, &rest);
	if (error != 0)
		rv = fail_room(op, error);
	if (rv == 0)
		rv = checkout_write(op, &rest, unpack);
	clock_gettime(CLOCK_REALTIME, &written);
	if (rv == 0)
		rv = keep_rest(op, before, entries, used, unpack);
	if (rv == 0)
		rv = room_git_make(op);
	if (rv == 0 && op->objects != NULL)
		keep_files(op, entries, unpack, written);
	if (rv == 0 && op->spec.reuses)
		room_note_write(op, ROOM_TREE, op->spec.tree);
	free(before);
	used_room_free(used);
	unpack_free(unpack);
	free(rest.list);
	return rv;
}

int checkout_run(struct git_op *op)
{
	struct changes entries = { 0 };
	int rv = checkout_list(op, op->spec.tree, &entries);

	text_set(&op->result.tree, op->spec.tree);
	if (rv == 0)
		rv = room_fill(op, &entries);
	if (rv == 0 && op->spec.explains)
		ignored_find(op, &entries);
	changes_release(&entries);
	return rv;
}

/* ---- comparing it ---- */

/* The id of a link. 0 or -errno. */
static int hash_link(int at, const char *name, const struct change *e, char id[GIT_ID_MAX])
{
	char text[PATH_MAX];
	ssize_t size = readlinkat(at, name, text, sizeof(text));
	struct verified_id sum;

	if (size == -1)
		return -errno;
	verified_begin(&sum, "blob", (unsigned long long)size, e->id);
	verified_add(&sum, text, (size_t)size);
	verified_end(&sum, id);
	return 0;
}

/* The id of a file, of which it reads no more than it had at first. 0 or -errno. */
static int hash_file(int at, const char *name, const struct change *e, char id[GIT_ID_MAX])
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), rv = 0;
	char chunk[65536];
	struct verified_id sum;
	struct stat st;
	ssize_t n = 0;

	if (fd == -1)
		return -errno;
	if (fstat(fd, &st) == -1) {
		rv = -errno;
		close(fd);
		return rv;
	}
	verified_begin(&sum, "blob", (unsigned long long)st.st_size, e->id);
	for (off_t left = st.st_size; left > 0; left -= n) {
		n = read(fd, chunk, left < (off_t)sizeof(chunk) ? (size_t)left : sizeof(chunk));
		if (n <= 0)
			break;
		verified_add(&sum, chunk, (size_t)n);
	}
	if (n == -1)
		rv = -errno;
	verified_end(&sum, id);
	close(fd);
	return rv;
}

/* Whether it is as it was; *rv: -errno of a fault of the host. */
static bool is_unchanged(struct unpack *unpack, const struct stat_cache *known, const struct change *e, int *rv)
{
	char id[GIT_ID_MAX] = "";
	const char *name;
	struct stat st;
	int at, error = unpack_find(unpack, e->path, &at, &name);

	if (error == 0 && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		error = -errno;
	/* a submodule that is not checked out: git takes a missing directory for one as well */
	if (e->mode == MODE_REPOSITORY && (error == -ENOENT || (error == 0 && S_ISDIR(st.st_mode))))
		return true;
	if (error == 0 && e->mode != MODE_REPOSITORY && (st.st_mode & S_IFMT) == (e->mode & S_IFMT)) {
		bool program = S_ISREG(st.st_mode) && (st.st_mode & S_IXUSR) != 0;
		struct stat_key key;
		const char *same;

		if (S_ISREG(st.st_mode) && program != ((e->mode & S_IXUSR) != 0))
			return false;
		key = stat_key_of(&st);
		same = stat_cache_find(known, e->path, &key);
		if (same != NULL)
			return strcmp(same, e->id) == 0;
		error = S_ISLNK(st.st_mode) ? hash_link(at, name, e, id) : hash_file(at, name, e, id);
	}
	if (error != 0 && host_fault(-error))
		*rv = error;
	return strcmp(id, e->id) == 0;
}

int room_compare(struct git_op *op, const struct changes *entries, struct names *changed, struct names *permitted)
{
	struct unpack *unpack = NULL;
	struct stat_cache *known = known_files(op);
	int rv = 0, error = unpack_open(op->spec.dir, &unpack);

	if (error == -ENOENT || error == -ENOTDIR)
		names_add(changed, ".");
	else if (error != 0)
		rv = fail_room(op, error);
	for (size_t i = 0; unpack != NULL && rv == 0 && i < entries->count; i++) {
		const struct change *e = &entries->list[i];

		error = 0;
		if (!is_unchanged(unpack, known, e, &error) && error == 0)
			names_add(path_matches(e->path, op->spec.may_change) ? permitted : changed, e->path);
		if (error != 0)
			rv = fail_room(op, error);
	}
	stat_cache_free(known);
	unpack_free(unpack);
	return rv;
}
