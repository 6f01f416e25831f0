/* SPDX-License-Identifier: MIT */
#include "git/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/artifact.h"
#include "git/stat_cache.h"
#include "proto/escape.h"
#include "record/host_fault.h"

#define MODE_FILE 0100644
#define MODE_PROGRAM 0100755
#define MODE_LINK 0120000
#define MODE_REPOSITORY 0160000

#define ID_MAX 65	/* SHA-256 in hex, NUL */

struct entry {
	char *path;		/* relative to the workspace, owned */
	unsigned mode;		/* as in a tree; 0: not in the tree */
	bool hashed;		/* a file or link: its id comes from hash-object */
	bool kept;		/* the index must keep its entry, whatever the file contains */
	char id[ID_MAX];
	bool known;		/* hashed before, and unchanged since */
	struct stat_key key;	/* hashed: as seen by snapshot_list() */
};

struct snapshot {
	char *workspace, *scratch;
	char *const *artifacts, *const *shared_paths;	/* borrowed */
	const struct changes *left_out;		/* borrowed, NULL: none */
	char *tracked_artifact;	/* the first, NULL: none */
	int dirfd;		/* workspace, -1 until the first listing */
	struct entry *entries;	/* owned */
	size_t count, room;
	size_t nested;		/* entries before this one need no HEAD any more */
	struct changes absent;	/* not checked out, in order */
	struct stat_cache *cache;	/* owned; NULL: all files are hashed */
	char *straight;		/* a directory known to contain no link in its path */
};

struct snapshot *snapshot_new(const char *workspace, const char *scratch, char *const *artifacts)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));

	s->workspace = xstrdup(workspace);
	s->scratch = xstrdup(scratch);
	s->artifacts = artifacts;
	s->dirfd = -1;
	return s;
}

void snapshot_shared_paths(struct snapshot *s, char *const *paths)
{
	s->shared_paths = paths;
}

static char *link_file(const struct snapshot *s, size_t i)
{
	return xasprintf("%s/link.%zu", s->scratch, i);
}

void snapshot_free(struct snapshot *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->count; i++) {
		if (s->entries[i].hashed && s->entries[i].mode == MODE_LINK) {
			char *file = link_file(s, i);

			unlink(file);
			free(file);
		}
		free(s->entries[i].path);
	}
	if (s->dirfd != -1)
		close(s->dirfd);
	changes_release(&s->absent);
	stat_cache_free(s->cache);
	free(s->entries);
	free(s->straight);
	free(s->tracked_artifact);
	free(s->workspace);
	free(s->scratch);
	free(s);
}

static char *path_error(const struct snapshot *s, const char *path, const char *what)
{
	char *shown = text_escape(path, strlen(path), false);
	char *text = xasprintf("%s/%s: %s; make it readable, or add it to .gitignore", s->workspace, shown, what);

	free(shown);
	return text;
}

/* False if a leading component of path is missing or not a directory: git ignores everything behind
 * a symbolic link. Listings are sorted, so the last directory answers for most paths. An unreadable
 * component proves nothing: true, and path itself will fail. */
static bool is_straight(struct snapshot *s, const char *path)
{
	const char *last = strrchr(path, '/');
	size_t known = s->straight != NULL ? strlen(s->straight) : 0;
	char *dir;
	bool straight = true;

	if (last == NULL)
		return true;
	dir = xmemdup0(path, (size_t)(last - path));
	if (known == 0 || strncmp(dir, s->straight, known) != 0 || (dir[known] != '/' && dir[known] != '\0'))
		known = 0;
	for (char *p = dir + known; straight && *p != '\0'; ) {
		struct stat st;
		char *end = strchrnul(p + 1, '/'), was = *end;

		*end = '\0';
		if (fstatat(s->dirfd, dir, &st, AT_SYMLINK_NOFOLLOW) == 0)
			straight = S_ISDIR(st.st_mode);
		else
			straight = errno != ENOENT && errno != ENOTDIR;
		*end = was;
		p = end;
	}
	if (straight) {
		free(s->straight);
		s->straight = dir;
	} else {
		free(dir);
	}
	return straight;
}

static bool has_git(const struct snapshot *s, const char *path)
{
	char *git = xasprintf("%s/.git", path);
	struct stat st;
	bool yes = fstatat(s->dirfd, git, &st, AT_SYMLINK_NOFOLLOW) == 0;

	free(git);
	return yes;
}

static struct entry *entry_add(struct snapshot *s, char *path)
{
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->entries = xreallocarray(s->entries, s->room, sizeof(*s->entries));
	}
	s->entries[s->count] = (struct entry){ .path = path };
	return &s->entries[s->count++];
}

/* The file at e->path on the disk. recorded, id: from the index, 0 for an untracked path. sparse:
 * the index says that the file is not checked out. */
static char *inspect_entry(struct snapshot *s, struct entry *e, unsigned recorded, const char *id, bool sparse)
{
	struct stat st;
	const char *known;
	bool there = is_straight(s, e->path);

	if (there && fstatat(s->dirfd, e->path, &st, AT_SYMLINK_NOFOLLOW) == -1) {
		if (errno != ENOENT && errno != ENOTDIR)
			return path_error(s, e->path, host_words(errno));
		there = false;
	}
	snprintf(e->id, sizeof(e->id), "%s", id);
	e->kept = sparse;
	if (!there) {
		e->mode = sparse ? recorded : 0;
	} else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) {
		e->mode = S_ISLNK(st.st_mode) ? MODE_LINK : st.st_mode & S_IXUSR ? MODE_PROGRAM : MODE_FILE;
		e->hashed = true;
		e->key = stat_key_of(&st);
		known = s->cache != NULL ? stat_cache_find(s->cache, e->path, &e->key) : NULL;
		e->known = known != NULL;
		if (known != NULL)
			snprintf(e->id, sizeof(e->id), "%s", known);
	} else if (S_ISDIR(st.st_mode) && (recorded == 0 || recorded == MODE_REPOSITORY || has_git(s, e->path))) {
		e->mode = MODE_REPOSITORY;
		if (recorded != MODE_REPOSITORY)
			e->id[0] = '\0';
	}
	return NULL;
}

/* file_write() creates "x.tmp123", then renames it. */
static bool is_shared(const struct snapshot *s, const char *path)
{
	for (size_t i = 0; s->shared_paths != NULL && s->shared_paths[i] != NULL; i++) {
		size_t size = strlen(s->shared_paths[i]);
		const char *number = strncmp(path, s->shared_paths[i],
		    size) == 0 && strncmp(path + size, ".tmp", 4) == 0 ? path + size + 4 : "";

		if (number[0] != '\0' && number[strspn(number, "0123456789")] == '\0')
			return true;
	}
	return artifact_has(s->shared_paths, path);
}

/* One record: "? path" is untracked, "H mode id stage<TAB>path" tracked, with S instead of H for a
 * sparse entry. An unmerged path appears once per stage, with M: the same entry again, and the
 * index keeps one. */
static char *take_record(struct snapshot *s, const char *inside, const char *record)
{
	const char *path = record + 2;
	unsigned mode = 0;
	char id[ID_MAX] = "", *full;
	struct entry *e;
	size_t size;

	if (record[0] == '\0' || record[1] != ' ')
		return xasprintf("git ls-files: unexpected output in %s; is git 2.39 or newer?", s->workspace);
	if (record[0] != '?') {
		const char *tab = strchr(record, '\t');

		if (tab == NULL || sscanf(path, "%o %64s", &mode, id) != 2)
			return xasprintf("git ls-files: unexpected output in %s; is git 2.39 or newer?", s->workspace);
		path = tab + 1;
	}
	full = inside != NULL ? xasprintf("%s/%s", inside, path) : xstrdup(path);
	size = strlen(full);
	if (size > 0 && full[size - 1] == '/')
		full[size - 1] = '\0';		/* an untracked repository */
	if (is_shared(s, full)) {
		free(full);
		return NULL;
	}
	if (artifact_has(s->artifacts, full)) {
		if (record[0] != '?' && inside == NULL && s->tracked_artifact == NULL)
			s->tracked_artifact = xstrdup(full);
		free(full);
		return NULL;
	}
	e = entry_add(s, full);
	return inspect_entry(s, e, mode, id, record[0] == 'S' ||
	    (record[0] != '?' && changes_find(&s->absent, e->path) != NULL));
}

void snapshot_set_absent(struct snapshot *s, const char *data, size_t size)
{
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1)
		changes_add(&s->absent, p, 0, "");
	changes_order(&s->absent);
}

void snapshot_absent(const struct snapshot *s, struct buf *names, struct buf *ids)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];

		if (!e->kept || e->mode == 0 || e->hashed || e->mode == MODE_REPOSITORY)
			continue;
		buf_add(names, e->path, strlen(e->path) + 1);
		buf_addf(ids, "%s\n", e->id);
	}
}

static char *open_workspace(struct snapshot *s)
{
	if (s->dirfd == -1)
		s->dirfd = open(s->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->dirfd == -1 ? xasprintf("%s: %s", s->workspace, host_words(errno)) : NULL;
}

char *snapshot_list(struct snapshot *s, const char *inside, const char *data, size_t size)
{
	char *error = open_workspace(s);

	if (error != NULL)
		return error;
	if (size > 0 && data[size - 1] != '\0')
		return xasprintf("git ls-files: its output ends in the middle of a name in %s", s->workspace);
	for (const char *p = data, *end = data + size; p < end && error == NULL; p += strlen(p) + 1)
		error = take_record(s, inside, p);
	return error;
}

char *snapshot_add(struct snapshot *s, const struct changes *files)
{
	char *error = open_workspace(s);

	for (size_t i = 0; i < files->count && error == NULL; i++) {
		const struct change *file = &files->list[i];

		if (file->mode != 0)
			error = inspect_entry(s, entry_add(s, xstrdup(file->path)), file->mode, file->id, false);
	}
	return error;
}

const char *snapshot_tracked_artifact(const struct snapshot *s)
{
	return s->tracked_artifact;
}

/* hash-object unquotes lines that start with a quote, and removes a trailing CR from others. */
static void add_line(struct buf *out, const char *path)
{
	const unsigned char *p = (const unsigned char *)path;
	bool plain = true;

	for (const unsigned char *c = p; *c != '\0'; c++)
		plain = plain && *c >= 0x20 && *c != 0x7f && *c != '"' && *c != '\\';
	if (plain) {
		buf_adds(out, path);
	} else {
		buf_adds(out, "\"");
		for (; *p != '\0'; p++) {
			if (*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\')
				buf_addf(out, "\\%03o", *p);
			else
				buf_add(out, p, 1);
		}
		buf_adds(out, "\"");
	}
	buf_adds(out, "\n");
}

/* hash-object would follow the link: write its target to a separate file. */
static char *save_link(const struct snapshot *s, const struct entry *e, const char *file)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(s->dirfd, e->path, text, sizeof(text));
	int rv;

	if (n == -1)
		return path_error(s, e->path, host_words(errno));
	rv = file_write(AT_FDCWD, file, text, (size_t)n, 0600, false);
	return rv == 0 ? NULL : xasprintf("%s: %s", file, host_words(-rv));
}

char *snapshot_paths(struct snapshot *s, struct buf *out)
{
	char *error = NULL;

	for (size_t i = 0; i < s->count && error == NULL; i++) {
		struct entry *e = &s->entries[i];

		if (e->hashed && !e->known && e->mode == MODE_LINK) {
			char *file = link_file(s, i);

			error = save_link(s, e, file);
			add_line(out, file);
			free(file);
		} else if (e->hashed && !e->known) {
			add_line(out, e->path);
		}
	}
	return error;
}

char *snapshot_ids(struct snapshot *s, const char *data, size_t size)
{
	const char *p = data, *end = data + size;

	for (size_t i = 0; i < s->count; i++) {
		struct entry *e = &s->entries[i];
		const char *line = p;

		if (!e->hashed || e->known)
			continue;
		p = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
		if (p == NULL || p - line >= ID_MAX)
			return xasprintf("git hash-object: fewer ids than files in %s", s->workspace);
		memcpy(e->id, line, (size_t)(p - line));
		e->id[p - line] = '\0';
		p++;
	}
	return p == end ? NULL : xasprintf("git hash-object: more ids than files in %s", s->workspace);
}

char *snapshot_check(const struct snapshot *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];
		struct stat st;
		char *shown, *text;

		if (!e->hashed || e->known)
			continue;
		if (fstatat(s->dirfd, e->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_ino == e->key.ino && st.st_size == e->key.size &&
		    st.st_mtim.tv_sec == e->key.mtime.tv_sec && st.st_mtim.tv_nsec == e->key.mtime.tv_nsec)
			continue;
		shown = text_escape(e->path, strlen(e->path), false);
		text = xasprintf("%s/%s changes while git reads it; end the program that writes "
		    "it, or add it to .gitignore", s->workspace, shown);
		free(shown);
		return text;
	}
	return NULL;
}

void snapshot_use_cache(struct snapshot *s, const char *file)
{
	s->cache = stat_cache_load(file);
}

void snapshot_save_cache(struct snapshot *s)
{
	if (s->cache == NULL)
		return;
	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].hashed)
			stat_cache_add(s->cache, s->entries[i].path, &s->entries[i].key, s->entries[i].id);
	stat_cache_save(s->cache);
}

void snapshot_leave_out(struct snapshot *s, const struct changes *files)
{
	s->left_out = files;
}

/* The file among files that e is, unchanged; NULL. */
static const struct change *find_same(const struct changes *files, const struct entry *e)
{
	const struct change *file = changes_find(files, e->path);

	return file != NULL && file->mode == e->mode && strcmp(file->id, e->id) == 0 ? file : NULL;
}

static bool is_left_out(const struct snapshot *s, const struct entry *e)
{
	return s->left_out != NULL && find_same(s->left_out, e) != NULL;
}

/* Not on the disk, as it was when it was recorded as removed. A directory is not that file. */
static bool is_gone(const struct snapshot *s, const struct change *file)
{
	struct stat st;

	return file->mode == 0 && (fstatat(s->dirfd, file->path, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    (S_ISDIR(st.st_mode) && file->was != MODE_REPOSITORY));
}

static void add_before(struct buf *out, const struct change *file)
{
	buf_addf(out, "%06o %s\t%s", file->was, file->was_id, file->path);
	buf_add(out, "", 1);
}

/* What the work has in the place of those that are left out. It precedes what is there: a directory
 * may be in the place of a file. */
static void add_places(const struct snapshot *s, struct buf *out)
{
	for (size_t i = 0; s->left_out != NULL && i < s->left_out->count; i++) {
		const struct change *file = &s->left_out->list[i];

		if (file->was != 0 && is_gone(s, file))
			add_before(out, file);
	}
	for (size_t i = 0; s->left_out != NULL && i < s->count; i++) {
		const struct change *file = is_left_out(s, &s->entries[i]) ?
		    changes_find(s->left_out, s->entries[i].path) : NULL;

		if (file != NULL && file->mode != 0 && file->was != 0)
			add_before(out, file);
	}
}

void snapshot_index(const struct snapshot *s, struct buf *out)
{
	add_places(s, out);
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];

		/* missing, or a nested repository that has gone since */
		if (e->mode == 0 || e->id[0] == '\0' || is_left_out(s, e))
			continue;
		buf_addf(out, "%06o %s\t%s", e->mode, e->id, e->path);
		buf_add(out, "", 1);
	}
}

bool snapshot_has_only(const struct snapshot *s, const struct changes *files)
{
	bool *seen = xcalloc(files->count + 1, sizeof(*seen)), same = true;
	size_t count = 0;

	for (size_t i = 0; same && i < s->count; i++) {
		const struct entry *e = &s->entries[i];
		const struct change *file = find_same(files, e);

		if (e->mode == 0 || e->id[0] == '\0')
			continue;
		same = file != NULL && !seen[file - files->list];
		if (same)
			seen[file - files->list] = true;
		count++;
	}
	free(seen);
	return same && count == files->count;
}

void snapshot_names(const struct snapshot *s, bool gone, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->entries[i];
		bool here = e->hashed || (e->mode == MODE_REPOSITORY && has_git(s, e->path));

		/* update-index would remove it from the index */
		if (gone ? e->mode == 0 : here && !e->kept)
			buf_add(out, e->path, strlen(e->path) + 1);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_missed(const struct snapshot *s, const char *const *held, size_t count, const char *path)
{
	return strcmp(path, ".git") != 0 && !artifact_has(s->artifacts, path) &&
	    (count == 0 || bsearch(&path, held, count, sizeof(*held), by_path) == NULL);
}

/* For a nested repository its name is enough. */
static char *nested_name(const struct snapshot *s, const char *path)
{
	char *name = xstrdup(path);

	for (char *p = strchr(name, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (has_git(s, name))
			break;
		*p = '/';
	}
	return name;
}

char *snapshot_missed(const struct snapshot *s, const char *data, size_t size, char **error)
{
	const char **held = xcalloc(size / 2 + 1, sizeof(*held));	/* no name is empty */
	char *roots[] = { s->workspace, NULL }, *missed = NULL;
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t count = 0;
	FTSENT *e;

	*error = NULL;
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1)
		held[count++] = p;	/* in order */
	while (fts != NULL && missed == NULL && *error == NULL && (errno = 0, e = fts_read(fts)) != NULL) {
		const char *path = e->fts_level > 0 ? e->fts_path + strlen(s->workspace) + 1 : "";

		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			*error = path_error(s, path, host_words(e->fts_errno));
		else if ((e->fts_info == FTS_F || e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE) &&
		    is_missed(s, held, count, path))
			missed = nested_name(s, path);
	}
	if (missed == NULL && *error == NULL && errno != 0)
		*error = path_error(s, "", host_words(errno));
	if (fts != NULL)
		fts_close(fts);
	free(held);
	return missed;
}

/* Submodules that are checked out, and untracked repositories: those must have a .git, otherwise
 * ls-files would have listed their files. */
static bool wants_head(const struct snapshot *s, const struct entry *e)
{
	return e->mode == MODE_REPOSITORY && has_git(s, e->path);
}

const char *snapshot_nested(struct snapshot *s)
{
	while (s->nested < s->count && !wants_head(s, &s->entries[s->nested]))
		s->nested++;
	return s->nested < s->count ? s->entries[s->nested].path : NULL;
}

bool snapshot_nested_tracked(const struct snapshot *s)
{
	return s->entries[s->nested].id[0] != '\0';
}

bool snapshot_nested_head(struct snapshot *s, const char *id)
{
	struct entry *e = &s->entries[s->nested++];
	bool tracked = e->id[0] != '\0';

	if (id != NULL)
		snprintf(e->id, sizeof(e->id), "%s", id);
	else if (!tracked)
		e->mode = 0;
	return id == NULL && !tracked;
}
