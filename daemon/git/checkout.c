/* SPDX-License-Identifier: MIT */
/* CHECKOUT: a tree as files, by ls-tree and cat-file. What they printed is written as it is: no attribute, filter or
 * hook has a say. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/lay.h"
#include "git/op_int.h"
#include "proto/escape.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"

#define MODE_REPOSITORY 0160000

/* Recorded output, read in stretches: a blob may be larger than our memory. */
struct stream {
	int dirfd;
	uint64_t offset;	/* of what comes behind chunk */
	char chunk[65536];
	size_t size, used;
};

void checkout_release(struct git_op *op)
{
	for (size_t i = 0; i < op->nentries; i++)
		free(op->entries[i].path);
	free(op->entries);
}

static void trouble(struct git_op *op, const char *path, int rv)
{
	static const struct { int rv; const char *what; } words[] = {
		{ -EEXIST, "the tree has this name twice; nothing that git made itself has, see `git fsck`" },
		{ -ENOTDIR, "the tree has this name below a file or link; nothing that git made itself has, see `git fsck`" },
		{ -ENOSPC, "no space left on device; free some space and retry the run" },
		{ -EDQUOT, "disk quota exceeded; free some space and retry the run" },
		{ -ENODATA, "git cat-file did not give all of it; run `git fsck` in the repository" },
		{ 0, NULL }
	};
	size_t i = 0;
	char *shown = text_escape(path, strlen(path), false), *error;

	while (words[i].what != NULL && words[i].rv != rv)
		i++;
	error = xasprintf("%s/%s: %s", op->dir, shown, words[i].what != NULL ? words[i].what : host_words(-rv));
	free(shown);
	op_fail(op, error);
}

/* ---- what there is ---- */

/* "mode type id<TAB>path". False: it is no such line. */
static bool read_entry(struct tree_entry *e, const char *line)
{
	const char *tab = strchr(line, '\t');

	if (tab == NULL || sscanf(line, "%o %*s %64s", &e->mode, e->id) != 2)
		return false;
	e->path = xstrdup(tab + 1);
	return true;
}

enum stage entries_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	size_t room = 0;

	if (size > 0 && data[size - 1] != '\0')
		return op_fail(op, xasprintf("git ls-tree: its output ends in the middle of a name in %s", op->workspace));
	for (const char *p = data, *end = data + size; p < end; p += strlen(p) + 1) {
		struct tree_entry e;

		if (!read_entry(&e, p))
			return op_fail(op, xasprintf("git ls-tree: unexpected output in %s; is git 2.39 or newer?", op->workspace));
		if (op->nentries == room) {
			room = room ? room * 2 : 64;
			op->entries = xreallocarray(op->entries, room, sizeof(e));
		}
		op->entries[op->nentries++] = e;
		if (!lay_allows(e.path)) {
			char *shown = text_escape(e.path, strlen(e.path), false);
			char *error = xasprintf("tree %s in %s has the name %s, which git would not take; nothing was written", op->tree, op->workspace, shown);

			free(shown);
			return op_fail(op, error);
		}
		if (e.mode != MODE_REPOSITORY)
			buf_addf(&op->input, "%s\n", e.id);
	}
	if (op->nentries == 0 && !tree_is_empty(op->tree))
		return op_fail(op, xasprintf("git ls-tree: nothing is listed of tree %s in %s, which is not empty; retry the run", op->tree, op->workspace));
	if (op->kind == GIT_VERIFY)
		return verify_checkout(op);
	return op->input.size > 0 ? STAGE_BLOBS : blobs_done(op, ok, "", 0);
}

/* ---- what is in it ---- */

/* What is there to be read, at most max bytes. 0 or -errno, -ENODATA at the end and where something was dropped. */
static int take(struct stream *s, uint64_t max, const char **data, size_t *size)
{
	if (s->used == s->size) {
		struct output_chunk got;
		int rv = output_read(s->dirfd, RECORD_STDOUT, s->offset, s->chunk, sizeof(s->chunk), &got);

		if (rv != 0)
			return rv;
		if (got.size == 0 || got.dropped > 0)
			return -ENODATA;
		s->offset += got.size;
		s->size = got.size;
		s->used = 0;
	}
	*size = s->size - s->used < max ? s->size - s->used : (size_t)max;
	*data = s->chunk + s->used;
	s->used += *size;
	return 0;
}

/* "id type size", and the line's end. */
static int read_head(struct stream *s, const char *id, uint64_t *bytes)
{
	char line[GIT_ID_MAX + 64], of[GIT_ID_MAX];
	size_t length = 0, size;
	const char *c;
	int rv;

	do {
		rv = take(s, 1, &c, &size);
		if (rv != 0)
			return rv;
		line[length++] = *c;
	} while (*c != '\n' && length < sizeof(line) - 1);
	line[length - 1] = '\0';
	if (sscanf(line, "%64s blob %" SCNu64, of, bytes) != 2 || strcmp(of, id) != 0)
		return -ENODATA;
	return 0;
}

/* The next bytes go to fd, or when it is -1, to text, which has room for them. */
static int copy(struct stream *s, uint64_t bytes, int fd, char *text)
{
	while (bytes > 0) {
		const char *data;
		size_t size;
		int rv = take(s, bytes, &data, &size);

		if (rv != 0)
			return rv;
		bytes -= size;
		if (fd == -1) {
			memcpy(text, data, size);
			text += size;
		}
		while (fd != -1 && size > 0) {
			ssize_t n = write(fd, data, size);

			if (n == -1 && errno != EINTR)
				return -errno;
			data += n > 0 ? n : 0;
			size -= n > 0 ? (size_t)n : 0;
		}
	}
	return 0;
}

static int write_link(struct lay *lay, const struct tree_entry *e, struct stream *s, uint64_t bytes)
{
	char text[PATH_MAX];
	int rv;

	if (bytes >= sizeof(text))
		return -ENAMETOOLONG;
	rv = copy(s, bytes, -1, text);
	text[bytes] = '\0';
	return rv == 0 ? lay_link(lay, e->path, text) : rv;
}

static int write_file(struct lay *lay, const struct tree_entry *e, struct stream *s, uint64_t bytes)
{
	int fd, rv = lay_file(lay, e->path, (e->mode & S_IXUSR) != 0, &fd);

	if (rv != 0)
		return rv;
	rv = copy(s, bytes, fd, NULL);
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

static int write_entry(struct lay *lay, const struct tree_entry *e, struct stream *s)
{
	uint64_t bytes;
	const char *end;
	size_t size;
	int rv;

	if (e->mode == MODE_REPOSITORY)
		return lay_directory(lay, e->path);
	rv = read_head(s, e->id, &bytes);
	if (rv == 0)
		rv = S_ISLNK(e->mode) ? write_link(lay, e, s, bytes) : write_file(lay, e, s, bytes);
	return rv == 0 ? take(s, 1, &end, &size) : rv;
}

enum stage blobs_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct stream *s;
	struct lay *lay;
	int rv = lay_new(op->dir, &lay);

	(void)ok, (void)data, (void)size;
	if (rv != 0)
		return op_fail(op, xasprintf("%s: %s; remove it and retry the run", op->dir, host_words(-rv)));
	s = xcalloc(1, sizeof(*s));
	s->dirfd = op->dirfd;
	for (size_t i = 0; rv == 0 && i < op->nentries; i++) {
		rv = write_entry(lay, &op->entries[i], s);
		if (rv != 0)
			trouble(op, op->entries[i].path, rv);
	}
	free(s);
	lay_free(lay);
	return STAGE_NONE;
}
