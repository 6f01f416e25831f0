/* SPDX-License-Identifier: MIT */
#include "git/room_git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "git/evidence_repo.h"
#include "git/exclude.h"
#include "git/remove_dir.h"
#include "git/room_copy.h"
#include "record/host_fault.h"

#define FILE_MAX ((size_t)16 << 20)
#define PACK "pack-"
#define TREE "tree"		/* that of the commit */
#define TAGS "packed-refs"
#define SHALLOW "shallow"

/* What is put in is the bytes of the product, whatever a .gitattributes says. */
static const char attributes[] = "* -text -ident -filter -working-tree-encoding -eol !diff\n";

static const char settings[] =
    "[core]\n"
    "\tfilemode = true\n"
    "\tsymlinks = true\n"
    "\tignorecase = false\n"
    "\tbare = false\n"
    "\tlogallrefupdates = true\n"
    "[gc]\n"
    "\tauto = 0\n"
    "[maintenance]\n"
    "\tauto = false\n";

static int fail_file(struct git_op *op, const char *dir, const char *name, int rv)
{
	return git_fail(op, xasprintf("%s/%s: %s; make the state directory writable for the daemon's user",
	    dir, name, host_words(-rv)));
}

/* Agents of another user reach a room that is made: no link in it is followed. */
static int put(struct git_op *op, const char *dir, const char *name, const char *data, size_t size)
{
	char *path = xasprintf("%s/%s", dir, name), *base = xmemdup0(dir, (size_t)(strrchr(dir, '/') - dir)),
	    *last = strrchr(path, '/'), *below = xmemdup0(path + strlen(base), (size_t)(last - path) - strlen(base));
	int at = file_open_below(base, below, 0), rv = at < 0 ? at : file_write(at, last + 1, data, size, 0644, false);

	if (at >= 0)
		close(at);
	free(below);
	free(base);
	free(path);
	return rv == 0 ? 0 : fail_file(op, dir, name, rv);
}

/* A file of dir, malloc'd; a missing one is empty. NULL: the operation has failed. */
static char *get(struct git_op *op, const char *dir, const char *name, size_t *size)
{
	char *path = xasprintf("%s/%s", dir, name), *data = NULL;
	int rv = file_read(AT_FDCWD, path, FILE_MAX, &data, size);

	if (rv == -ENOENT) {
		data = xstrdup("");
		*size = 0;
	} else if (rv != 0) {
		fail_file(op, dir, name, rv);
	}
	free(path);
	return data;
}

/* ---- the history of a commit, kept in the evidence repository for all its rooms ---- */

/* The tags within the history, as in packed-refs; and ids gets their objects. */
static int keep_tags(struct git_op *op, const char *dir, const char *commit, struct buf *ids)
{
	char *merged = xasprintf("--merged=%s", commit), *text, *rest, *line;
	int rv = git_run(op, GIT_EVIDENCE, "for-each-ref", merged, "--format=%(objectname) %(refname)", "refs/tags");

	free(merged);
	if (rv != 0)
		return rv;
	rv = put(op, dir, TAGS, git_out(op), git_out_size(op));
	text = rest = xmemdup0(git_out(op), git_out_size(op));
	while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0')
		buf_addf(ids, "%.*s\n", (int)strcspn(line, " "), line);
	free(text);
	return rv;
}

static int keep_shallow(struct git_op *op, const char *dir)
{
	size_t size;
	char *data = get(op, op->objects, SHALLOW, &size);
	int rv = data == NULL ? -1 : size > 0 ? put(op, dir, SHALLOW, data, size) : 0;

	free(data);
	return rv;
}

static int keep_tree(struct git_op *op, const char *dir, const char *commit)
{
	char *name = xasprintf("%s^{tree}", commit), *tree;
	int rv = git_run(op, GIT_EVIDENCE, "rev-parse", "--verify", "-q", name);

	free(name);
	if (rv != 0)
		return rv;
	tree = git_line(op, "no tree of a commit");
	rv = tree != NULL ? put(op, dir, TREE, tree, strlen(tree)) : -1;
	free(tree);
	return rv;
}

/* Pack the objects that ids reach, as dir/pack-*. */
static int make_pack(struct git_op *op, const struct buf *ids, const char *dir)
{
	char *base = xasprintf("%s/pack", dir);
	int rv = git_run_input(op, GIT_EVIDENCE, ids, "-c", "core.fsync=none", "pack-objects", "-q", "--revs",
	    "--window=0", base);

	free(base);
	return rv;
}

/* Under a temporary name, so that it is complete once it has its own. */
static int make_history(struct git_op *op, const char *commit, const char *history)
{
	char *dir = xasprintf("%s.%ld", history, (long)getpid());
	struct buf ids = { 0 };
	int rv = evidence_fetch(op, commit), error;

	buf_addf(&ids, "%s\n", commit);
	error = rv == 0 ? file_mkdir_anew(dir, 0700) : 0;
	if (error != 0)
		rv = fail_file(op, op->objects, "rld", error);
	if (rv == 0)
		rv = keep_tags(op, dir, commit, &ids);
	if (rv == 0)
		rv = keep_shallow(op, dir);
	if (rv == 0)
		rv = keep_tree(op, dir, commit);
	if (rv == 0)
		rv = make_pack(op, &ids, dir);
	/* another run may have been faster */
	if (rv == 0 && rename(dir, history) == -1 && errno != ENOTEMPTY && errno != EEXIST)
		rv = fail_file(op, op->objects, "rld", -errno);
	remove_dir(dir);
	free(dir);
	buf_release(&ids);
	return rv;
}

/* Copy it to git_dir. tree: that of commit, malloc'd. */
static int copy_history(struct git_op *op, const char *history, const char *git_dir, char **tree)
{
	char *packs = xasprintf("%s/objects/pack", git_dir);
	int from = open(history, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    to = open(git_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    pack = open(packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC), own = from != -1 ? dup(from) : -1, rv = 0;
	DIR *dir = own != -1 ? fdopendir(own) : NULL;
	struct dirent *e;
	size_t size;

	if (dir == NULL || to == -1 || pack == -1)
		rv = fail_file(op, history, "", -errno);
	while (rv == 0 && (e = readdir(dir)) != NULL) {
		bool packed = strncmp(e->d_name, PACK, strlen(PACK)) == 0;
		int error = 0;

		if (packed || strcmp(e->d_name, TAGS) == 0 || strcmp(e->d_name, SHALLOW) == 0)
			error = room_copy_file(from, e->d_name, packed ? pack : to, e->d_name, packed ? 0444 : 0644);
		if (error != 0)
			rv = fail_file(op, git_dir, e->d_name, error);
	}
	if (rv == 0 && (*tree = get(op, history, TREE, &size)) == NULL)
		rv = -1;
	if (dir != NULL)
		closedir(dir);
	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	if (pack != -1)
		close(pack);
	free(packs);
	return rv;
}

/* The commit, with what belongs to it; *tree: its own, malloc'd. */
static int add_history(struct git_op *op, const char *commit, const char *git_dir, char **tree)
{
	char *name = xasprintf("history-%s", commit), *history = evidence_file(op, name);
	int rv = access(history, F_OK) == 0 ? 0 : make_history(op, commit, history);

	if (rv == 0)
		rv = copy_history(op, history, git_dir, tree);
	free(history);
	free(name);
	return rv;
}

/* ---- the repository ---- */

static int make_dirs(struct git_op *op, const char *git_dir)
{
	static const char *const dirs[] = { "info", "objects/info", "objects/pack", "refs/heads", "refs/tags" };
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char *path = xasprintf("%s/%s", git_dir, dirs[i]);

		rv = file_mkdirs(path, 0755);
		free(path);
	}
	return rv == 0 ? 0 : fail_file(op, git_dir, "", rv);
}

static int put_settings(struct git_op *op, const char *git_dir)
{
	bool sha256 = strlen(op->spec.tree) == GIT_ID_MAX - 1;
	char *text = xasprintf("%s[core]\n\trepositoryformatversion = %d\n%s", settings, sha256 ? 1 : 0,
	    sha256 ? "[extensions]\n\tobjectformat = sha256\n" : "");
	int rv = put(op, git_dir, "config", text, strlen(text));

	free(text);
	if (rv == 0)
		rv = put(op, git_dir, "info/attributes", attributes, strlen(attributes));
	return rv;
}

/* What the submitter had git ignore, and the files of the review. */
static int put_excludes(struct git_op *op, const char *git_dir)
{
	size_t global_size, own_size;
	char *global = get(op, op->objects, GIT_EXCLUDES, &global_size),
	    *own = global != NULL ? get(op, op->objects, "info/exclude", &own_size) : NULL, *error;
	struct buf text = { 0 };
	int rv = -1;

	if (own != NULL) {
		buf_add(&text, global, global_size);
		buf_addf(&text, "\n");
		buf_add(&text, own, own_size);
		rv = put(op, git_dir, "info/exclude", text.data, text.size);
	}
	if (rv == 0 && op->spec.artifacts != NULL && git_exclude(op->spec.dir, op->spec.artifacts, NULL, &error) != 0)
		rv = git_fail(op, error);
	buf_release(&text);
	free(own);
	free(global);
	return rv;
}

/* What the work started from, NULL: nothing. */
static const char *start_tree(const struct git_op *op)
{
	return op->spec.room_base != NULL ? op->spec.room_base : op->spec.base;
}

/* The work started from more than commit (NULL: there was none): a commit of that, malloc'd. */
static char *start_commit(struct git_op *op, const char *commit, const char *git_dir)
{
	char *parent = commit != NULL ? xasprintf("parent %s\n", commit) : xstrdup("");
	long long now = (long long)time(NULL);
	char *text = xasprintf("tree %s\n%sauthor rld <rld@localhost> %lld +0000\n"
	    "committer rld <rld@localhost> %lld +0000\n\n%s\n", start_tree(op), parent, now, now,
	    commit != NULL ? "uncommitted work at the start of the run" : "the start of the run");
	int rv = git_run_call(op, &(struct git_call){ .flags = GIT_ALONE, .git_dir = git_dir, .input = text,
	    .input_size = strlen(text) }, "hash-object", "-t", "commit", "-w", "--stdin", NULL);

	free(text);
	free(parent);
	return rv == 0 ? git_line(op, "no commit id") : NULL;
}

/* The objects of the work that the history has not. */
static int add_work(struct git_op *op, const char *commit, const char *tree, const char *git_dir)
{
	char *packs = xasprintf("%s/objects/pack", git_dir);
	struct buf ids = { 0 };
	int rv = 0;

	buf_addf(&ids, "%s\n", op->spec.tree);
	if (start_tree(op) != NULL)
		buf_addf(&ids, "%s\n", start_tree(op));
	if (commit != NULL)
		buf_addf(&ids, "^%s\n", commit);
	if (tree == NULL || strcmp(tree, op->spec.tree) != 0)
		rv = make_pack(op, &ids, packs);
	buf_release(&ids);
	free(packs);
	return rv;
}

static int set_head(struct git_op *op, const char *commit, const char *tree, const char *git_dir)
{
	bool starts = start_tree(op) != NULL && (tree == NULL || strcmp(tree, start_tree(op)) != 0);
	char *made = starts ? start_commit(op, commit, git_dir) : NULL, *line;
	int rv;

	if (starts && made == NULL)
		return -1;
	line = made != NULL || commit != NULL ? xasprintf("%s\n", made != NULL ? made : commit) :
	    xstrdup("ref: refs/heads/main\n");
	rv = put(op, git_dir, "HEAD", line, strlen(line));
	free(line);
	free(made);
	return rv;
}

int room_git_make(struct git_op *op)
{
	const char *commit = op->spec.commit;
	char *git_dir = xasprintf("%s/.git", op->spec.dir), *tree = NULL;
	int rv;

	if (op->objects == NULL) {
		free(git_dir);
		return 0;
	}
	rv = make_dirs(op, git_dir);
	if (rv == 0)
		rv = put_settings(op, git_dir);
	if (rv == 0)
		rv = put(op, git_dir, "HEAD", "ref: refs/heads/main\n", 21);
	if (rv == 0 && commit != NULL)
		rv = add_history(op, commit, git_dir, &tree);
	if (rv == 0)
		rv = add_work(op, commit, tree, git_dir);
	if (rv == 0)
		rv = set_head(op, commit, tree, git_dir);
	if (rv == 0)
		rv = put_excludes(op, git_dir);
	if (rv == 0)
		rv = git_run_call(op, &(struct git_call){ .flags = GIT_ALONE, .git_dir = git_dir },
		    "-c", "core.fsync=none", "read-tree", op->spec.tree, NULL);
	free(tree);
	free(git_dir);
	return rv;
}

int room_git_make_again(struct git_op *op)
{
	char *git_dir = xasprintf("%s/.git", op->spec.dir);
	int rv = op->objects != NULL ? remove_dir(git_dir) : 0;

	if (rv != 0)
		git_fail(op, xasprintf("%s: %s; remove it and retry the run", git_dir, host_words(-rv)));
	free(git_dir);
	return rv == 0 ? room_git_make(op) : -1;
}
