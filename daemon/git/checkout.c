/* SPDX-License-Identifier: MIT */
/* Writes a tree as files, by ls-tree and cat-file. Contents are written unchanged: no attribute,
 * filter or hook applies; and each is hashed again on its way. */
#include "git/checkout.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "git/unpack.h"
#include "git/verified.h"
#include "proto/escape.h"
#include "record/host_fault.h"

#define MODE_REPOSITORY 0160000

static int fail_path(struct git_op *op, const char *path, int rv)
{
	static const struct { int rv; const char *what; } words[] = {
		{ -EEXIST,
		    "the tree contains this name twice, which git never creates; run `git fsck`" },
		{ -ENOTDIR,
		    "the tree contains this name below a file or link, which git never creates; "
		    "run `git fsck`" },
		{ -ENODATA,
		    "git cat-file did not return all of it; run `git fsck` in the repository" },
		{ 0, NULL }
	};
	size_t i = 0;
	char *shown = text_escape(path, strlen(path), false), *error;

	while (words[i].what != NULL && words[i].rv != rv)
		i++;
	error = xasprintf("%s/%s: %s", op->spec.dir != NULL ? op->spec.dir : op->spec.scratch, shown,
	    words[i].what != NULL ? words[i].what : host_words(-rv));
	free(shown);
	return git_fail(op, error);
}

/* ---- what there is ---- */

int checkout_list(struct git_op *op, const char *tree, struct changes *entries)
{
	if (verified_list(op, tree, entries) != 0)
		return -1;
	for (size_t i = 0; i < entries->count; i++) {
		char *shown;

		if (unpack_allows(entries->list[i].path))
			continue;
		shown = text_escape(entries->list[i].path, strlen(entries->list[i].path), false);
		git_fail(op, xasprintf("tree %s in %s contains the name %s, which git does not "
		    "allow; nothing was written", tree, op->spec.workspace, shown));
		free(shown);
		return -1;
	}
	if (entries->count == 0 && !tree_is_empty(tree))
		return git_fail(op, xasprintf("git ls-tree: no output for tree %s in %s, which is "
		    "not empty; retry the run", tree, op->spec.workspace));
	return 0;
}

/* ---- what is in it ---- */

/* Output of cat-file, read in pieces: a blob may be larger than memory. */
struct blobs {
	struct git_op *op;
	const struct changes *entries;
	struct unpack *unpack;
	int fd;
	char chunk[65536];
	size_t size, used;
	struct verified_id sum;	/* of the current one */
	const struct change *failed;	/* the entry that could not be written, NULL: none */
	int rv;			/* ... and why */
};

/* Read at most max available bytes. 0 or -errno, -ENODATA at the end. */
static int read_chunk(struct blobs *s, uint64_t max, const char **data, size_t *size)
{
	if (s->used == s->size) {
		ssize_t n;

		do {
			n = read(s->fd, s->chunk, sizeof(s->chunk));
		} while (n == -1 && errno == EINTR);
		if (n <= 0)
			return n == 0 ? -ENODATA : -errno;
		s->size = (size_t)n;
		s->used = 0;
	}
	*size = s->size - s->used < max ? s->size - s->used : (size_t)max;
	*data = s->chunk + s->used;
	s->used += *size;
	return 0;
}

/* "id type size", and the newline. */
static int read_head(struct blobs *s, const char *id, uint64_t *bytes)
{
	char line[GIT_ID_MAX + 64], of[GIT_ID_MAX];
	size_t length = 0, size;
	const char *c;
	int rv;

	do {
		rv = read_chunk(s, 1, &c, &size);
		if (rv != 0)
			return rv;
		line[length++] = *c;
	} while (*c != '\n' && length < sizeof(line) - 1);
	line[length - 1] = '\0';
	if (sscanf(line, "%64s blob %" SCNu64, of, bytes) != 2 || strcmp(of, id) != 0)
		return -ENODATA;
	return 0;
}

/* Copy the next bytes, a blob, to fd, or if it is -1, to text, which has room for them. */
static int copy_bytes(struct blobs *s, uint64_t bytes, int fd, char *text)
{
	while (bytes > 0) {
		const char *data;
		size_t size;
		int rv = read_chunk(s, bytes, &data, &size);

		if (rv != 0)
			return rv;
		bytes -= size;
		verified_add(&s->sum, data, size);
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

static int write_link(struct unpack *unpack, const struct change *e, struct blobs *s, uint64_t bytes)
{
	char text[PATH_MAX];
	int rv;

	if (bytes >= sizeof(text))
		return -ENAMETOOLONG;
	rv = copy_bytes(s, bytes, -1, text);
	text[bytes] = '\0';
	return rv == 0 ? unpack_link(unpack, e->path, text) : rv;
}

static int write_file(struct unpack *unpack, const struct change *e, struct blobs *s, uint64_t bytes)
{
	int fd, rv = unpack_file(unpack, e->path, (e->mode & S_IXUSR) != 0, &fd);

	if (rv != 0)
		return rv;
	rv = copy_bytes(s, bytes, fd, NULL);
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

static int write_entry(struct unpack *unpack, const struct change *e, struct blobs *s)
{
	char id[GIT_ID_MAX];
	uint64_t bytes;
	const char *end;
	size_t size;
	int rv;

	if (e->mode == MODE_REPOSITORY)
		return unpack_directory(unpack, e->path);
	rv = read_head(s, e->id, &bytes);
	if (rv == 0) {
		verified_begin(&s->sum, "blob", bytes, e->id);
		rv = S_ISLNK(e->mode) ? write_link(unpack, e, s, bytes) : write_file(unpack, e, s, bytes);
	}
	if (rv == 0)
		rv = read_chunk(s, 1, &end, &size);
	if (rv == 0) {
		verified_end(&s->sum, id);
		rv = strcmp(id, e->id) == 0 ? 0 : -EBADMSG;
	}
	return rv;
}

static void write_entries(void *arg, int fd)
{
	struct blobs *s = arg;

	s->fd = fd;
	for (size_t i = 0; s->rv == 0 && i < s->entries->count; i++) {
		s->rv = write_entry(s->unpack, &s->entries->list[i], s);
		if (s->rv != 0)
			s->failed = &s->entries->list[i];
	}
}

int checkout_write(struct git_op *op, const struct changes *entries, struct unpack *unpack)
{
	struct blobs *s = xcalloc(1, sizeof(*s));
	struct buf ids = { 0 };
	int rv = 0;

	*s = (struct blobs){ .op = op, .entries = entries, .unpack = unpack };
	for (size_t i = 0; i < entries->count; i++)
		if (entries->list[i].mode != MODE_REPOSITORY)
			buf_addf(&ids, "%s\n", entries->list[i].id);
	if (ids.size == 0)
		write_entries(s, -1);
	else
		rv = git_run_call(op, &(struct git_call){ .flags = GIT_EVIDENCE | GIT_MAY_FAIL, .input = ids.data,
		    .input_size = ids.size, .reader = write_entries, .arg = s },
		    "cat-file", "--batch", "--buffer", NULL);
	/* it was ended because its output is not read any more */
	if (s->rv != 0 && (rv != 1 || s->rv != -ENODATA))
		rv = s->rv == -EBADMSG ? git_fail(op, verified_error(op, GIT_EVIDENCE, s->failed->id)) :
		    fail_path(op, s->failed->path, s->rv);
	else if (rv == 1)
		rv = git_fail_process(op);
	buf_release(&ids);
	free(s);
	return rv;
}
