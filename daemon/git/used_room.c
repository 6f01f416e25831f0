/* SPDX-License-Identifier: MIT */
#include "git/used_room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "child/child.h"
#include "git/evidence_repo.h"
#include "git/remove_dir.h"
#include "git/room_dirs.h"
#include "git/stat_cache.h"

#define KEPT "rld/rooms"	/* of an evidence repository */
#define KEPT_MAX 4
#define KEPT_SECONDS (14L * 24 * 60 * 60)
/* of a directory with a used room */
#define ROOM "room"
#define FILES "files"		/* its stat cache */

struct used_room {
	char *dir;			/* its directory */
	bool own;			/* it was the room of the operation */
	struct unpack *from;
	struct stat_cache *files;
};

/* A used room with its stat cache as dir, which is replaced. False: it is worth nothing. */
static bool pack_up(const char *room, const char *objects, const char *dir)
{
	char *name = stat_cache_name(room), *cache = xasprintf("%s/rld/%s", objects, name),
	    *files = xasprintf("%s/" FILES, dir), *its = xasprintf("%s/" ROOM, dir);
	bool done = access(room, F_OK) == 0 && access(cache, F_OK) == 0 && file_mkdir_anew(dir, 0700) == 0 &&
	    rename(cache, files) == 0 && rename(room, its) == 0;

	free(its);
	free(files);
	free(cache);
	free(name);
	return done;
}

/* ---- those that are kept ---- */

struct kept {
	DIR *dir;
	int count;
	char *oldest, *newest;		/* names, NULL: none */
	time_t oldest_at, newest_at;	/* when they were kept */
};

static void kept_look(struct kept *k, const char *dir)
{
	struct dirent *e;
	struct stat st;

	*k = (struct kept){ .dir = opendir(dir) };
	while (k->dir != NULL && (e = readdir(k->dir)) != NULL) {
		if (e->d_name[0] == '.' || fstatat(dirfd(k->dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			continue;
		if (k->count == 0 || st.st_mtim.tv_sec < k->oldest_at) {
			text_set(&k->oldest, e->d_name);
			k->oldest_at = st.st_mtim.tv_sec;
		}
		if (k->count++ == 0 || st.st_mtim.tv_sec >= k->newest_at) {
			text_set(&k->newest, e->d_name);
			k->newest_at = st.st_mtim.tv_sec;
		}
	}
}

static void kept_release(struct kept *k)
{
	if (k->dir != NULL)
		closedir(k->dir);
	free(k->oldest);
	free(k->newest);
}

static void kept_prune(const char *dir)
{
	bool more = true;

	while (more) {
		struct kept k;

		kept_look(&k, dir);
		more = k.count > KEPT_MAX || (k.count > 0 && k.oldest_at + KEPT_SECONDS < time(NULL));
		if (more) {
			char *path = xasprintf("%s/%s", dir, k.oldest);

			more = remove_dir(path) == 0;
			free(path);
		}
		kept_release(&k);
	}
}

/* Remove what is no file of its tree as it was laid out: nobody needs it, and it may hold what was
 * masked in the records. False: not all of it could be seen. */
static bool strip(const char *dir)
{
	char *room = xasprintf("%s/" ROOM, dir), *file = xasprintf("%s/" FILES, dir), *paths[] = { room, NULL };
	struct stat_cache *files = stat_cache_load(file);
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	size_t skip = strlen(room) + 1;
	bool all = tree != NULL;
	FTSENT *e;

	while (all && (errno = 0, e = fts_read(tree)) != NULL) {
		struct stat_key key;

		if (e->fts_info == FTS_D || e->fts_info == FTS_DP)
			continue;
		all = e->fts_info != FTS_DNR && e->fts_info != FTS_ERR && e->fts_info != FTS_NS;
		if (!all)
			break;
		key = stat_key_of(e->fts_statp);
		if (stat_cache_find(files, e->fts_path + skip, &key) == NULL)
			all = unlink(e->fts_accpath) == 0;
	}
	all = all && errno == 0;
	if (tree != NULL)
		fts_close(tree);
	stat_cache_free(files);
	free(file);
	free(room);
	return all;
}

/* "runs/17/tree-1-2" is kept as "17-tree-1-2". */
static char *kept_name(const char *room)
{
	const char *name = strrchr(room, '/'), *run = name;

	while (run > room && run[-1] != '/')
		run--;
	return xasprintf("%.*s-%s", (int)(name - run), run, name + 1);
}

void used_room_keep(const char *room, const char *objects)
{
	char *name = kept_name(room), *kept = xasprintf("%s/" KEPT, objects != NULL ? objects : ""),
	    *dir = xasprintf("%s/%s", kept, name);

	/* an agent may be in it, and from there in what is around its new place */
	if (objects != NULL && !child_has_agents() && file_mkdirs(kept, 0700) == 0 && pack_up(room, objects, dir)) {
		if (!strip(dir))
			remove_dir(dir);
		kept_prune(kept);
	}
	remove_dir(room);
	free(dir);
	free(kept);
	free(name);
}

bool used_rooms_remove(const char *state_dir)
{
	char *path = xasprintf("%s/evidence", state_dir);
	DIR *dir = opendir(path);
	struct dirent *e;
	bool any = false;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		char *kept = xasprintf("%s/%s/" KEPT, path, e->d_name);
		struct kept k;

		kept_look(&k, kept);
		if (k.count > 0)
			any |= remove_dir(kept) == 0;
		kept_release(&k);
		free(kept);
	}
	if (dir != NULL)
		closedir(dir);
	free(path);
	return any;
}

/* Move the newest to dir: a race of two is lost by one. */
static bool take_kept(const struct git_op *op, const char *dir)
{
	char *path = xasprintf("%s/" KEPT, op->objects);
	struct kept k;
	bool taken = false;

	kept_look(&k, path);
	if (k.newest != NULL)
		taken = renameat(dirfd(k.dir), k.newest, AT_FDCWD, dir) == 0;
	kept_release(&k);
	free(path);
	return taken;
}

/* ---- the one that is used ---- */

struct used_room *used_room_open(struct git_op *op)
{
	struct used_room *used = xcalloc(1, sizeof(*used));
	char *room, *files;

	used->dir = xasprintf("%s.used", op->spec.dir);
	room = xasprintf("%s/" ROOM, used->dir);
	files = xasprintf("%s/" FILES, used->dir);
	/* of an operation that was killed */
	remove_dir(used->dir);
	used->own = op->objects != NULL && pack_up(op->spec.dir, op->objects, used->dir);
	if (op->objects != NULL && (used->own || take_kept(op, used->dir)) && unpack_open(room, &used->from) == 0) {
		used->files = stat_cache_load(files);
	} else {
		used_room_free(used);
		used = NULL;
	}
	free(files);
	free(room);
	return used;
}

void used_room_free(struct used_room *used)
{
	if (used == NULL)
		return;
	remove_dir(used->dir);
	unpack_free(used->from);
	stat_cache_free(used->files);
	free(used->dir);
	free(used);
}

/* Whether it has e, as it was laid out. */
static bool has(struct used_room *used, const struct change *e)
{
	struct stat_key key;
	const char *id, *name;
	struct stat st;
	int at;

	if (unpack_find(used->from, e->path, &at, &name) != 0 || fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return false;
	key = stat_key_of(&st);
	id = stat_cache_find(used->files, e->path, &key);
	return id != NULL && strcmp(id, e->id) == 0 && (st.st_mode & S_IFMT) == (e->mode & S_IFMT) &&
	    (S_ISLNK(st.st_mode) || ((st.st_mode ^ e->mode) & S_IXUSR) == 0);
}

/* A file, or the directory of so many bytes. 0 or -errno. */
static int move(struct used_room *used, const char *path, size_t bytes, struct unpack *to)
{
	char *its = bytes > 0 ? xmemdup0(path, bytes - 1) : xstrdup(path);
	const char *name;
	int at, rv = unpack_find(used->from, its, &at, &name);

	if (rv == 0)
		rv = unpack_move(to, its, at, name);
	free(its);
	return rv;
}

static int move_all(struct used_room *used, const struct changes *entries, struct unpack *to, struct changes *rest)
{
	bool *there = xcalloc(entries->count + 1, sizeof(*there));
	size_t *whole, i;
	int rv = 0;

	for (i = 0; i < entries->count; i++)
		there[i] = has(used, &entries->list[i]);
	whole = room_dirs_whole(used->files, entries, there, used->from);
	for (i = 0; rv == 0 && i < entries->count; ) {
		const struct change *e = &entries->list[i];

		if (there[i])
			rv = move(used, e->path, whole[i], to);
		else
			rest->list[rest->count++] = *e;
		i = whole[i] > 0 ? room_dirs_end(entries, i, whole[i]) : i + 1;
	}
	free(whole);
	free(there);
	return rv;
}

int used_room_move(struct used_room *used, const struct changes *entries, struct unpack *to, struct changes *rest)
{
	*rest = (struct changes){ .list = xcalloc(entries->count + 1, sizeof(*rest->list)) };
	if (used != NULL)
		return move_all(used, entries, to, rest);
	if (entries->count > 0)
		memcpy(rest->list, entries->list, entries->count * sizeof(*rest->list));
	rest->count = entries->count;
	return 0;
}

/* ---- what else it has ---- */

bool used_room_is_own(const struct used_room *used)
{
	return used != NULL && used->own;
}

/* What is in the way, or was moved already, is left behind. */
static bool stays_behind(int rv)
{
	return rv == -EEXIST || rv == -ENOTDIR || rv == -ENOENT;
}

static bool is_dir(struct unpack *unpack, const char *path)
{
	const char *name;
	struct stat st;
	int at;

	return unpack_find(unpack, path, &at, &name) == 0 && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode);
}

/* A directory goes as a whole unless the tree, or the one before, has something in it. */
static int move_one(struct used_room *used, const struct changes *its, FTS *tree, FTSENT *e, struct unpack *to,
    const char *path)
{
	bool dir = e->fts_info == FTS_D;
	int rv;

	if (changes_find(its, path) != NULL || (dir && (changes_has_below(its, path) || is_dir(to, path))))
		return 0;
	rv = move(used, path, 0, to);
	if (dir)
		fts_set(tree, e, FTS_SKIP);
	return stays_behind(rv) ? 0 : rv;
}

int used_room_move_rest(struct used_room *used, const struct changes *its, struct unpack *to)
{
	char *room = xasprintf("%s/" ROOM, used->dir), *paths[] = { room, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT | FTS_XDEV, NULL);
	size_t skip = strlen(room) + 1;
	int rv = tree != NULL ? 0 : -errno;
	FTSENT *e;

	while (rv == 0 && (errno = 0, e = fts_read(tree)) != NULL) {
		const char *path = e->fts_path + skip;

		if (e->fts_level == FTS_ROOTLEVEL || e->fts_info == FTS_DP)
			continue;
		if (strcmp(path, ".git") == 0)
			fts_set(tree, e, FTS_SKIP);
		else
			rv = move_one(used, its, tree, e, to, path);
	}
	if (tree != NULL)
		fts_close(tree);
	free(room);
	return rv;
}
