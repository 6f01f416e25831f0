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
#include "git/verified.h"

/* Bytes of both sides of all files: the patch of that much fits into GIT_PATCH_KEEP, even if every
 * line is empty. */
#define CONTENT_MAX ((uint64_t)24 * 1024 * 1024)

struct side {
	char *path;
	unsigned mode;			/* 0: there is none */
	char id[GIT_ID_MAX];
	bool read;			/* the patch has its content */
	uint64_t size;
};

struct patch_file {
	struct side was, now;
	bool binary, large;
};

struct patch_files {
	struct patch_file *list;
	size_t count, room;
	struct buf trees;		/* ids of the directories that git read, one a line */
	unsigned where;			/* GIT_EVIDENCE, or 0: the user's repository */
};

static void patch_files_release(struct patch_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->list[i].was.path);
		free(files->list[i].now.path);
	}
	free(files->list);
	buf_release(&files->trees);
}

/* ---- what differs ---- */

static void add_tree(struct patch_files *files, unsigned mode, const char *id)
{
	if (S_ISDIR(mode))
		buf_addf(&files->trees, "%s\n", id);
}

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
		add_tree(files, f.was.mode, f.was.id);
		add_tree(files, f.now.mode, f.now.id);
		if ((S_ISDIR(f.was.mode) || f.was.mode == 0) && (S_ISDIR(f.now.mode) || f.now.mode == 0))
			continue;
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

/* A renamed file differs at both of its paths. */
static void tell(const struct patch_files *files, struct changes *differs)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct side *was = &files->list[i].was, *now = &files->list[i].now;
		bool same = strcmp(was->path, now->path) == 0;

		changes_add(differs, now->path, now->mode, now->id);
		differs->list[differs->count - 1].was = same ? was->mode : 0;
		if (same)
			continue;
		changes_add(differs, was->path, 0, now->id);
		differs->list[differs->count - 1].was = was->mode;
	}
	changes_order(differs);
}

/* ---- what they contain ---- */

/* The sides that have an object, in order. */
static struct side *next_side(struct patch_files *files, size_t *at)
{
	for (; *at < 2 * files->count; ++*at) {
		struct patch_file *f = &files->list[*at / 2];
		struct side *side = *at % 2 == 0 ? &f->was : &f->now;

		if (S_ISREG(side->mode) || S_ISLNK(side->mode)) {
			++*at;
			return side;
		}
	}
	return NULL;
}

/* All objects that git reads for the patch are what their ids say. */
static int look(struct git_op *op, struct patch_files *files, const char *from, const char *to)
{
	/* a line takes more bytes than one */
	struct verified_look *looks = xcalloc(2 * files->count + 2 + files->trees.size, sizeof(*looks)), *next = looks;
	struct buf ids = { 0 };
	struct side *side;
	int rv;

	for (size_t at = 0; (side = next_side(files, &at)) != NULL; )
		buf_addf(&ids, "%s\n", side->id);
	buf_addf(&ids, "%s\n%s\n", from, to);
	if (files->trees.size > 0)
		buf_add(&ids, files->trees.data, files->trees.size);
	rv = verified_all(op, files->where, &ids, looks);
	for (size_t at = 0; rv == 0 && (side = next_side(files, &at)) != NULL; next++) {
		struct patch_file *f = &files->list[(at - 1) / 2];

		if (!side->read)
			continue;
		side->size = next->size;
		f->binary = f->binary || (side == &f->was && next->binary);
	}
	buf_release(&ids);
	free(looks);
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

int patch_write(struct git_op *op, unsigned where, const char *from, const char *to, struct changes *differs)
{
	struct patch_files files = { .where = where };
	bool all = true;
	int rv;

	if (strcmp(from, to) == 0)
		return 0;
	rv = git_run(op, where | GIT_INDEX | GIT_MAY_FAIL, "diff-tree", "-r", "-t", "-M", "-l1000", "-z", "--raw",
	    "--ignore-submodules=none", from, to);
	if (rv == 1)
		rv = where == GIT_EVIDENCE ? verified_fail_tree(op, to) : git_fail_process(op);
	if (rv == 0 && (git_out_size(op) == 0 || !patch_read(&files, git_out(op), git_out_size(op))))
		rv = git_fail_output(op);
	if (rv == 0 && differs != NULL)
		tell(&files, differs);
	if (rv == 0)
		rv = look(op, &files, from, to);
	if (rv == 0)
		leave_out_large(&files);
	for (size_t i = 0; i < files.count; i++)
		all = all && !files.list[i].binary && !files.list[i].large;
	if (rv == 0)
		rv = all ? diff(op, where, from, to) : write_rest(op, from, to, &files);
	patch_files_release(&files);
	return rv;
}
