/* SPDX-License-Identifier: MIT */
/* Puts files of a tree into the private index, converted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "git/checkout.h"
#include "git/conversions.h"
#include "git/evidence_repo.h"
#include "git/remove_dir.h"
#include "git/unpack.h"
#include "record/host_fault.h"

#define MODE_REPOSITORY 0160000

static int fail_file(struct git_op *op, const char *file, int rv)
{
	return git_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
}

static bool is_attributes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash != NULL ? slash + 1 : path, ".gitattributes") == 0;
}

/* What is staged of all; files that are attributes apart. */
static void list_wanted(const struct changes *all, const struct changes *wanted, struct changes *files,
    struct changes *own)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct change *c = &all->list[i];

		if (c->mode != MODE_REPOSITORY && changes_find(wanted, c->path) != NULL)
			changes_add(is_attributes(c->path) ? own : files, c->path, c->mode, c->id);
	}
	changes_order(files);
}

/* Whether one of them is at path, above or below it. */
static bool is_taken(const struct changes *files, const char *path)
{
	size_t size = strlen(path), low = 0, high = files->count;
	bool taken = changes_find(files, path) != NULL;

	for (const char *p = path; !taken && (p = strchr(p, '/')) != NULL; p++) {
		char *above = xmemdup0(path, (size_t)(p - path));

		taken = changes_find(files, above) != NULL;
		free(above);
	}
	while (!taken && low < high) {
		const char *other = files->list[(low + high) / 2].path;
		int order = strncmp(other, path, size);

		taken = order == 0 && other[size] == '/';
		if (order < 0 || (order == 0 && (unsigned char)other[size] < '/'))
			low = (low + high) / 2 + 1;
		else
			high = (low + high) / 2;
	}
	return taken;
}

/* The files of all that say how to convert, beside files, which win. */
static void list_rules(const struct changes *all, const struct changes *files, struct changes *rules)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct change *c = &all->list[i];

		if (c->mode != MODE_REPOSITORY && is_attributes(c->path) && !is_taken(files, c->path))
			changes_add(rules, c->path, c->mode, c->id);
	}
	changes_order(rules);
}

static bool are_equal(const struct changes *a, const struct changes *b)
{
	bool equal = a->count == b->count;

	for (size_t i = 0; equal && i < a->count; i++)
		equal = a->list[i].mode == b->list[i].mode && strcmp(a->list[i].path, b->list[i].path) == 0 &&
		    strcmp(a->list[i].id, b->list[i].id) == 0;
	return equal;
}

static int write_files(struct git_op *op, const char *dir, const struct changes *files, const struct changes *rules)
{
	struct unpack *unpack;
	int rv = unpack_new(dir, &unpack);

	if (rv != 0)
		return fail_file(op, dir, rv);
	rv = checkout_write(op, files, unpack);
	if (rv == 0 && rules != NULL)
		rv = checkout_write(op, rules, unpack);
	unpack_free(unpack);
	return rv;
}

/* Where it is done: a git directory with the conversions; files with the attributes that count, the
 * attributes that are staged, and the tree whose programs may be filters. */
struct conversion {
	char *git, *dir, *own_dir, *top;
	struct changes files, rules, own;
	struct changes tree, of;	/* the tree, and the one whose attributes count */
};

/* git with these settings, and with the files of dir. */
#define convert(op, c, at, in, ...) \
	((op)->place = (at), text_set(&(op)->git_dir, (c)->git), \
	    git_run_input(op, GIT_INDEX | GIT_FILTERED | GIT_ALONE, in, __VA_ARGS__))

static int convert_files(struct git_op *op, const struct conversion *c)
{
	struct buf names = { 0 };
	int rv = 0;

	changes_paths(&c->files, false, &names);
	if (names.size > 0)
		rv = convert(op, c, c->dir, &names, "update-index", "--add", "--replace", "-z", "--stdin");
	buf_release(&names);
	return rv;
}

/* Attributes are converted by the attributes that count, and not by themselves. */
static int convert_own(struct git_op *op, const struct conversion *c, struct buf *lines)
{
	struct buf links = { 0 }, none = { 0 };
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < c->own.count; i++) {
		const struct change *file = &c->own.list[i];
		char *path, *at, *id;

		if (S_ISLNK(file->mode)) {
			buf_add(&links, file->path, strlen(file->path) + 1);
			continue;
		}
		path = xasprintf("--path=%s", file->path);
		at = xasprintf("%s/%s", c->own_dir, file->path);
		rv = convert(op, c, c->dir, &none, "hash-object", "-w", path, "--", at);
		id = rv == 0 ? git_line(op, "no id") : NULL;
		if (id != NULL) {
			buf_addf(lines, "%o %s\t%s", file->mode, id, file->path);
			buf_add(lines, "", 1);
		}
		rv = id != NULL ? 0 : -1;
		free(id);
		free(at);
		free(path);
	}
	if (rv == 0 && links.size > 0)
		rv = convert(op, c, c->own_dir, &links, "update-index", "--add", "--replace", "-z", "--stdin");
	buf_release(&links);
	return rv;
}

/* Remove attributes from the private index, since git looks there, too. lines: those that stay as
 * they were. */
static int take_out_attributes(struct git_op *op, const struct changes *wanted, struct buf *lines)
{
	struct buf names = { 0 };
	int rv = git_run(op, GIT_INDEX, "ls-files", "-s", "-z");

	for (const char *p = git_out(op), *end = p + git_out_size(op); rv == 0 && p < end; p += strlen(p) + 1) {
		const char *path = strchr(p, '\t');

		if (path == NULL || !is_attributes(path + 1))
			continue;
		buf_add(&names, path + 1, strlen(path + 1) + 1);
		if (!is_taken(wanted, path + 1))
			buf_add(lines, p, strlen(p) + 1);
	}
	if (rv == 0 && names.size > 0)
		rv = git_run_input(op, GIT_INDEX, &names, "update-index", "--force-remove", "-z", "--stdin");
	buf_release(&names);
	return rv;
}

/* Which of the files would be other ones by the attributes of the tree: result.unconverted. */
static int find_unconverted(struct git_op *op, const struct conversion *c)
{
	struct changes rules = { 0 };
	struct names names = { 0 };
	struct buf paths = { 0 }, ids = { 0 };
	size_t size;
	int rv = 0;

	list_rules(&c->tree, &c->files, &rules);
	if (op->spec.kind == GIT_MEASURE || are_equal(&rules, &c->rules)) {
		changes_release(&rules);
		return 0;
	}
	for (size_t i = 0; i < c->files.count; i++)
		if (S_ISREG(c->files.list[i].mode) && strchr(c->files.list[i].path, '\n') == NULL)
			buf_addf(&paths, "%s\n", c->files.list[i].path);
	if (paths.size > 0)
		rv = convert(op, c, c->dir, &paths, "hash-object", "--stdin-paths");
	if (rv == 0 && paths.size > 0) {
		buf_add(&ids, git_out(op), git_out_size(op));
		rv = write_files(op, c->dir, &c->files, &rules);
	}
	if (rv == 0 && paths.size > 0)
		rv = convert(op, c, c->dir, &paths, "hash-object", "--stdin-paths");
	if (rv == 0 && git_out_size(op) != ids.size)
		rv = paths.size > 0 ? git_fail_output(op) : 0;
	size = strcspn(ids.data != NULL ? ids.data : "", "\n") + 1;
	for (size_t at = 0, id = 0; rv == 0 && at < paths.size; id += size) {
		char *path = xmemdup0(paths.data + at, strcspn(paths.data + at, "\n"));

		if (memcmp(ids.data + id, git_out(op) + id, size) != 0)
			names_add(&names, path);
		at += strlen(path) + 1;
		free(path);
	}
	free(op->result.unconverted);
	op->result.unconverted = names_take(&names);
	buf_release(&ids);
	buf_release(&paths);
	changes_release(&rules);
	return rv;
}

static int make_place(struct git_op *op, const struct conversion *c, bool sha256, const char *from)
{
	int rv = write_files(op, c->dir, &c->files, &c->rules);

	if (rv == 0 && c->own.count > 0)
		rv = write_files(op, c->own_dir, &c->own, NULL);
	if (rv == 0 && conversions_have_own_filter(from)) {
		rv = write_files(op, c->top, &c->of, NULL);
		setenv(CONVERSIONS_TOP, c->top, 1);
	}
	return rv == 0 ? conversions_git_dir(op, c->git, from, sha256) : -1;
}

static int convert_all(struct git_op *op, const struct conversion *c, const struct changes *wanted)
{
	struct buf lines = { 0 };
	const char *place = op->place;
	int rv = take_out_attributes(op, wanted, &lines);

	if (rv == 0)
		rv = convert_files(op, c);
	if (rv == 0)
		rv = convert_own(op, c, &lines);
	if (rv == 0)
		rv = find_unconverted(op, c);
	op->place = place;
	text_set(&op->git_dir, NULL);
	unsetenv(CONVERSIONS_TOP);
	return git_update_index(op, GIT_INDEX, &lines) == 0 ? rv : -1;
}

/* Nested repositories as they are in the tree. */
static int stage_repositories(struct git_op *op, const struct changes *wanted)
{
	struct buf lines = { 0 };

	for (size_t i = 0; i < wanted->count; i++) {
		struct changes one = { .list = &wanted->list[i], .count = 1 };

		if (wanted->list[i].mode == MODE_REPOSITORY)
			changes_index(&one, false, &lines);
	}
	return git_update_index(op, GIT_INDEX, &lines);
}

/* from: the directory with the copies. */
static int stage(struct git_op *op, const char *tree, const struct changes *wanted, const char *from)
{
	const char *of = op->objects != NULL && op->spec.attributes_tree != NULL ? op->spec.attributes_tree : tree;
	struct conversion c = { .git = xasprintf("%s/convert", op->spec.scratch),
	    .dir = xasprintf("%s/files", op->spec.scratch), .own_dir = xasprintf("%s/own", op->spec.scratch),
	    .top = xasprintf("%s/top", op->spec.scratch) };
	int rv = stage_repositories(op, wanted);

	if (rv == 0)
		rv = checkout_list(op, tree, &c.tree);
	list_wanted(&c.tree, wanted, &c.files, &c.own);
	if (rv == 0 && c.files.count + c.own.count > 0) {
		rv = checkout_list(op, of, &c.of);
		list_rules(&c.of, &c.files, &c.rules);
		if (rv == 0)
			rv = make_place(op, &c, strlen(tree) != 40, from);
		if (rv == 0)
			rv = convert_all(op, &c, wanted);
	}
	remove_dir(c.git);
	remove_dir(c.dir);
	remove_dir(c.own_dir);
	remove_dir(c.top);
	changes_release(&c.files);
	changes_release(&c.rules);
	changes_release(&c.own);
	changes_release(&c.tree);
	changes_release(&c.of);
	free(c.git);
	free(c.dir);
	free(c.own_dir);
	free(c.top);
	return rv;
}

int conversions_stage(struct git_op *op, const char *tree, const struct changes *wanted)
{
	char *own = op->objects == NULL ? xasprintf("%s/copies", op->spec.scratch) : NULL,
	    *from = own != NULL ? own : evidence_file(op, ".");
	int rv = op->common == NULL ? git_find_common(op) : 0, error;

	if (rv == 0 && own != NULL) {
		error = file_mkdirs(own, 0700);
		rv = error != 0 ? fail_file(op, own, error) : conversions_copy(op, own);
	}
	if (rv == 0)
		rv = stage(op, tree, wanted, from);
	if (own != NULL)
		remove_dir(own);
	free(from);
	return rv;
}
