/* SPDX-License-Identifier: MIT */
/* The patch from one tree to another, on stdout. All of it is text: attributes, drivers and sizes
 * that the repository is configured with have no effect. Left out are files that are binary before
 * the change, by their bytes, and what is too large for a patch. Each is named in a line of its own
 * before the patch, which `git apply` skips. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/patch_note.h"
#include "git/operations.h"

/* As git does, a file is binary if a NUL is among its first bytes. */
#define BINARY_LOOK 8000

/* Bytes of both sides of all files: the patch of that much fits into GIT_PATCH_KEEP, even if every
 * line is empty. */
#define CONTENT_MAX ((uint64_t)24 * 1024 * 1024)

struct side {
	char *path;
	unsigned mode;			/* 0: there is none */
	char id[GIT_ID_MAX];
	bool read;			/* its content is asked for */
	uint64_t size;
};

struct patch_file {
	struct side was, now;
	bool binary, large;
};

struct patch_files {
	struct patch_file *list;
	size_t count, room;
	unsigned where;			/* GIT_EVIDENCE, or 0: the user's repository */
};

static void patch_files_release(struct patch_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->list[i].was.path);
		free(files->list[i].now.path);
	}
	free(files->list);
}

/* ---- what differs ---- */

/* Records of ":mode mode id id letter" and a path, or for a rename two. */
static bool patch_read(struct patch_files *files, const char *data, size_t size)
{
	const char *end = data + size;

	if (size > 0 && end[-1] != '\0')
		return false;
	for (const char *p = data; p < end; ) {
		const char *path = p + strlen(p) + 1, *to = path;
		struct patch_file f = { 0 };
		char letter;

		if (path >= end || sscanf(p, ":%o %o %64s %64s %c", &f.was.mode, &f.now.mode, f.was.id,
		    f.now.id, &letter) != 5)
			return false;
		if (letter == 'R' || letter == 'C')
			to = path + strlen(path) + 1;
		if (to >= end)
			return false;
		p = to + strlen(to) + 1;
		f.was.path = xstrdup(path);
		f.now.path = xstrdup(to);
		/* only the name or the mode differs: the patch has no content */
		f.was.read = S_ISREG(f.was.mode) && strcmp(f.was.id, f.now.id) != 0;
		f.now.read = S_ISREG(f.now.mode) && strcmp(f.was.id, f.now.id) != 0;
		if (files->count == files->room) {
			files->room = files->room ? files->room * 2 : 64;
			files->list = xreallocarray(files->list, files->room, sizeof(*files->list));
		}
		files->list[files->count++] = f;
	}
	return true;
}

/* ---- what they contain ---- */

/* The next blob of `cat-file --batch`. False: the output is over. */
static bool read_blob(FILE *from, struct side *side, bool *binary)
{
	char chunk[BINARY_LOOK], head[GIT_ID_MAX + 32];
	uint64_t left;

	if (fgets(head, sizeof(head), from) == NULL)
		return false;
	/* missing: the diff will say so */
	if (sscanf(head, "%*s blob %" SCNu64, &side->size) != 1)
		return true;
	for (left = side->size + 1; left > 0; ) {	/* and a newline */
		size_t n = fread(chunk, 1, left < sizeof(chunk) ? (size_t)left : sizeof(chunk), from);

		if (n == 0)
			return false;
		if (left == side->size + 1)
			*binary = memchr(chunk, '\0', n) != NULL;
		left -= n;
	}
	return true;
}

static void read_blobs(void *arg, int fd)
{
	struct patch_files *files = arg;
	int own = dup(fd);
	FILE *from = own != -1 ? fdopen(own, "r") : NULL;
	bool more = from != NULL, now;

	for (size_t i = 0; more && i < files->count; i++) {
		struct patch_file *f = &files->list[i];

		more = !f->was.read || read_blob(from, &f->was, &f->binary);
		more = more && (!f->now.read || read_blob(from, &f->now, &now));
	}
	if (from != NULL)
		fclose(from);
	else if (own != -1)
		close(own);
}

static int look(struct git_op *op, struct patch_files *files)
{
	struct buf ids = { 0 };
	int rv = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (files->list[i].was.read)
			buf_addf(&ids, "%s\n", files->list[i].was.id);
		if (files->list[i].now.read)
			buf_addf(&ids, "%s\n", files->list[i].now.id);
	}
	if (ids.size > 0)
		rv = git_run_call(op, &(struct git_call){ .flags = files->where, .input = ids.data,
		    .input_size = ids.size, .reader = read_blobs, .arg = files },
		    "cat-file", "--batch", "--buffer", NULL);
	buf_release(&ids);
	return rv;
}

static uint64_t both(const struct patch_file *f)
{
	return f->was.size + f->now.size;
}

static int by_size(const void *a, const void *b)
{
	uint64_t left = both(*(struct patch_file *const *)a), right = both(*(struct patch_file *const *)b);

	return (left > right) - (left < right);
}

/* The largest files are left out, as many as it takes. */
static void leave_out_large(struct patch_files *files)
{
	struct patch_file **order = xcalloc(files->count + 1, sizeof(*order));
	uint64_t sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		if (!files->list[i].binary)
			order[count++] = &files->list[i];
	if (count > 1)
		qsort(order, count, sizeof(struct patch_file *), by_size);
	for (size_t i = 0; i < count; i++) {
		sum += both(order[i]);
		order[i]->large = sum > CONTENT_MAX;
	}
	free(order);
}

/* ---- the patch ---- */

/* tree without the files that are left out; *rest is malloc'd. */
static int tree_of_rest(struct git_op *op, const char *tree, const struct patch_files *files, bool was, char **rest)
{
	struct buf lines = { 0 };
	int rv;

	*rest = NULL;
	git_fresh_index(op);
	for (size_t i = 0; i < files->count; i++) {
		const struct patch_file *f = &files->list[i];
		const struct side *side = was ? &f->was : &f->now;

		if ((!f->binary && !f->large) || side->mode == 0)
			continue;
		buf_addf(&lines, "0 %s\t%s", side->id, side->path);
		buf_add(&lines, "", 1);
	}
	rv = git_run(op, files->where | GIT_INDEX, "read-tree", tree);
	if (rv == 0)
		rv = git_update_index(op, files->where | GIT_INDEX, &lines);
	if (rv == 0)
		rv = disk_tree_write(op, files->where, rest);
	buf_release(&lines);
	return rv;
}

static int write_notes(struct git_op *op, const struct patch_files *files)
{
	struct buf notes = { 0 };
	int rv = 0;

	for (size_t i = 0; i < files->count; i++) {
		const struct patch_file *f = &files->list[i];

		if (f->binary || f->large)
			patch_note_add(&notes, &(struct patch_note){ f->now.path, f->binary,
			    f->was.size, f->now.size });
	}
	for (size_t at = 0; rv == 0 && at < notes.size; ) {
		ssize_t n = write(STDOUT_FILENO, notes.data + at, notes.size - at);

		if (n <= 0)
			rv = git_fail(op, xstrdup("the diff cannot be written"));
		else
			at += (size_t)n;
	}
	buf_release(&notes);
	return rv;
}

static int diff(struct git_op *op, unsigned where, const char *from, const char *to)
{
	return git_run(op, where | GIT_INDEX | GIT_PATCH, "diff-tree", "-p", "-r", "-M", "-l1000", "--text",
	    "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
	    "--ignore-submodules=none", from, to);
}

static int write_rest(struct git_op *op, const char *from, const char *to, const struct patch_files *files)
{
	char *was = NULL, *now = NULL;
	int rv = write_notes(op, files);

	if (rv == 0)
		rv = tree_of_rest(op, from, files, true, &was);
	if (rv == 0)
		rv = tree_of_rest(op, to, files, false, &now);
	if (rv == 0)
		rv = diff(op, files->where, was, now);
	free(was);
	free(now);
	return rv;
}

int patch_write(struct git_op *op, unsigned where, const char *from, const char *to)
{
	struct patch_files files = { .where = where };
	bool all = true;
	int rv;

	if (strcmp(from, to) == 0)
		return 0;
	rv = git_run(op, where | GIT_INDEX, "diff-tree", "-r", "-M", "-l1000", "-z", "--raw",
	    "--ignore-submodules=none", from, to);
	if (rv == 0 && !patch_read(&files, git_out(op), git_out_size(op)))
		rv = git_fail_output(op);
	if (rv == 0)
		rv = look(op, &files);
	if (rv == 0)
		leave_out_large(&files);
	for (size_t i = 0; i < files.count; i++)
		all = all && !files.list[i].binary && !files.list[i].large;
	if (rv == 0)
		rv = all ? diff(op, where, from, to) : write_rest(op, from, to, &files);
	patch_files_release(&files);
	return rv;
}
