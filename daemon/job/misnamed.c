/* SPDX-License-Identifier: MIT */
#include "job/misnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "proto/memory.h"
#include "record/host_fault.h"

#define NOTE_MAX ((size_t)4 << 20)

struct walk {
	const char *top, *skip, *review_file;
	char *key;
	/* called for each such file with a line that describes its state, and its path relative to
	 * top; true ends the walk */
	bool (*each)(void *arg, const char *line, const char *path);
	void *arg;
};

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* The letters and digits of a name, in lower case. */
static char *key_of(const char *name)
{
	struct buf key = { 0 };

	for (; *name != '\0'; name++) {
		char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;

		if (is_plain(c))
			buf_add(&key, &c, 1);
	}
	return key.data != NULL ? key.data : xstrdup("");
}

static bool is_review_file(const struct walk *w, const char *path)
{
	struct stat a, b;

	return lstat(path, &a) == 0 && lstat(w->review_file, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_misnamed(const struct walk *w, const FTSENT *e)
{
	char *key;
	bool same;

	if (e->fts_info == FTS_D || e->fts_info == FTS_DP)
		return false;
	key = key_of(e->fts_name);
	same = strcmp(key, w->key) == 0 && !is_review_file(w, e->fts_path);
	free(key);
	return same;
}

static bool tell(const struct walk *w, const FTSENT *e)
{
	const char *path = e->fts_path + strlen(w->top) + 1;
	struct stat st = { 0 };
	char *line;
	bool enough;

	if (lstat(e->fts_path, &st) == -1 && errno == ENOENT)
		return false;
	line = xasprintf("%llu %lld %lld.%09ld %s", (unsigned long long)st.st_ino,
	    (long long)st.st_size, (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec, path);
	enough = w->each(w->arg, line, path);
	free(line);
	return enough;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* The errno why a part of the tree could not be examined; 0: none. A directory without permission
 * counts as empty. */
static int fault_of(const FTSENT *e)
{
	bool failed = e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS;

	return failed && host_fault(e->fts_errno) ? e->fts_errno : 0;
}

static int walk_from(struct walk *w, FTS *fts)
{
	FTSENT *e;

	while ((e = fts_read(fts)) != NULL) {
		if (fault_of(e) != 0)
			return -fault_of(e);
		if (e->fts_info == FTS_D && (strcmp(e->fts_name, ".git") == 0 || strcmp(e->fts_path, w->skip) == 0))
			fts_set(fts, e, FTS_SKIP);
		else if (is_misnamed(w, e) && tell(w, e))
			return 0;
	}
	return -errno;
}

/* 0 or -errno: a tree that was not examined completely proves nothing. */
static int walk(struct walk *w)
{
	char *root = xstrdup(w->top), *roots[] = { root, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	int rv = fts == NULL ? -errno : 0;

	w->key = key_of(strrchr(w->review_file, '/') + 1);
	if (fts != NULL && w->key[0] != '\0')
		rv = walk_from(w, fts);
	if (fts != NULL)
		fts_close(fts);
	free(w->key);
	free(root);
	return rv;
}

static bool note_line(void *arg, const char *line, const char *path)
{
	(void)path;
	buf_add(arg, line, strlen(line) + 1);
	return false;
}

int misnamed_note(const char *top, const char *skip, const char *review_file, const char *note)
{
	struct buf lines = { 0 };
	struct walk w = { .top = top, .skip = skip, .review_file = review_file, .each = note_line, .arg = &lines };
	int rv = walk(&w);

	if (rv == 0 && lines.size > NOTE_MAX)
		rv = -EFBIG;
	if (rv == 0)
		rv = file_write(AT_FDCWD, note, lines.data != NULL ? lines.data : "", lines.size, 0600, false);
	buf_release(&lines);
	return rv;
}

struct noted {
	char *lines;
	size_t size;
	char *found;
};

static bool compare_line(void *arg, const char *line, const char *path)
{
	struct noted *noted = arg;

	for (size_t at = 0; at < noted->size; at += strlen(noted->lines + at) + 1)
		if (strcmp(noted->lines + at, line) == 0)
			return false;
	noted->found = xstrdup(path);
	return true;
}

int misnamed_find(const char *top, const char *skip, const char *review_file, const char *note, char **found)
{
	struct noted noted = { 0 };
	struct walk w = { .top = top, .skip = skip, .review_file = review_file, .each = compare_line, .arg = &noted };
	int rv = file_read(AT_FDCWD, note, NOTE_MAX, &noted.lines, &noted.size);

	*found = NULL;
	if (rv != 0)
		return rv == -ENOENT ? 0 : rv;
	rv = walk(&w);
	free(noted.lines);
	*found = noted.found;
	return rv;
}
