/* SPDX-License-Identifier: MIT */
/* PREPARE: a new work tree or room gets files that git ignores in the user's directory; then its
 * tracked files are as in its tree, whatever a set-up has done to them. No link is followed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "git/artifact.h"
#include "git/checkout.h"
#include "git/gitdir.h"
#include "git/verified.h"
#include "proto/escape.h"
#include "record/host_fault.h"

#define MODE_REPOSITORY 0160000

static int fail_path(struct git_op *op, const char *top, const char *path, const char *what)
{
	char *shown = text_escape(path, strlen(path), false);

	git_fail(op, xasprintf("%s/%s: %s", top, shown, what));
	free(shown);
	return -1;
}

/* ---- descriptors ---- */

/* The directory of top/path, open; missing ones are created. -errno. */
static int open_parent(const char *top, const char *path)
{
	const char *last = strrchr(path, '/');
	char *dir = last != NULL ? xmemdup0(path, (size_t)(last - path)) : NULL;
	int fd = dir != NULL ? file_open_below(top, dir, 0755) : open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir == NULL && fd == -1)
		fd = -errno;
	free(dir);
	return fd;
}

/* The same in the user's directory, where nothing is created. */
static int open_existing_parent(const char *top, const char *path)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (const char *p = path, *end; fd != -1 && (end = strchr(p, '/')) != NULL; p = end + 1) {
		char *name = xmemdup0(p, (size_t)(end - p));
		int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = errno;

		close(fd);
		fd = next;
		errno = error;
		free(name);
	}
	return fd != -1 ? fd : -errno;
}

static const char *name_in(const char *path)
{
	const char *last = strrchr(path, '/');

	return last != NULL ? last + 1 : path;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n == -1 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A new file in the place of one or of a link. */
static int create(int dir, const char *name, mode_t mode, int *fd)
{
	if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		return -errno;
	*fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return *fd != -1 ? 0 : -errno;
}

static int create_link(int dir, const char *name, const char *text)
{
	if (unlinkat(dir, name, 0) == -1 && errno != ENOENT)
		return -errno;
	return symlinkat(text, dir, name) == 0 ? 0 : -errno;
}

/* ---- copy ---- */

static int copy_bytes(int from, int to)
{
	char chunk[65536];
	ssize_t n;
	int rv = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while (rv == 0 && (n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n == -1 && errno != EINTR)
			return -errno;
		rv = n > 0 ? write_all(to, chunk, (size_t)n) : 0;
	}
	return rv;
}

static int copy_file(int from_dir, int to_dir, const char *name, mode_t mode)
{
	int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to, rv;

	if (from == -1)
		return -errno;
	rv = create(to_dir, name, 0600, &to);
	if (rv == 0) {
		rv = copy_bytes(from, to);
		if (rv == 0 && fchmod(to, mode & 0777) == -1)
			rv = -errno;
		if (close(to) == -1 && rv == 0)
			rv = -errno;
	}
	close(from);
	return rv;
}

static int copy_link(int from_dir, int to_dir, const char *name)
{
	char text[4096];
	ssize_t n = readlinkat(from_dir, name, text, sizeof(text) - 1);

	if (n == -1)
		return -errno;
	text[n] = '\0';
	return create_link(to_dir, name, text);
}

/* A file or a link; anything else, or what is gone by now, is left out. */
static int copy_one(struct git_op *op, const char *source, const char *path)
{
	const char *name = name_in(path);
	int from = open_existing_parent(source, path), to, rv = 0;
	struct stat st;

	if (from < 0)
		return from == -ENOENT || from == -ENOTDIR || from == -ELOOP ? 0 :
		    fail_path(op, source, path, host_words(-from));
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == -1 || (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))) {
		close(from);
		return 0;
	}
	to = open_parent(op->spec.dir, path);
	if (to < 0)
		rv = to;
	else
		rv = S_ISLNK(st.st_mode) ? copy_link(from, to, name) : copy_file(from, to, name, st.st_mode);
	close(from);
	if (to >= 0)
		close(to);
	return rv == 0 ? 0 : fail_path(op, op->spec.dir, path, host_words(-rv));
}

/* Ignored files that a pattern names. */
static int list_ignored(struct git_op *op, const char *source)
{
	char **patterns = NULL;
	int rv;

	for (size_t i = 0; op->spec.copy[i] != NULL; i++) {
		char *pattern = xasprintf(":(glob)%s", op->spec.copy[i]);

		strings_append(&patterns, pattern);
		free(pattern);
	}
	rv = git_run_call(op, &(struct git_call){ .place = source, .more = patterns },
	    "ls-files", "-o", "-i", "--exclude-standard", "-z", "--", NULL);
	strings_free(patterns);
	return rv;
}

static int copy_ignored(struct git_op *op)
{
	const char *source = op->spec.repository != NULL ? op->spec.repository : op->spec.workspace;
	char *listed;
	size_t size;
	int rv = 0;

	if (op->spec.copy == NULL || op->spec.copy[0] == NULL || op->bare)
		return 0;
	if (list_ignored(op, source) != 0)
		return -1;
	size = git_out_size(op);
	listed = xmemdup0(git_out(op), size);
	/* "nested/" is a repository, which is not copied */
	for (const char *p = listed; rv == 0 && p < listed + size; p += strlen(p) + 1)
		if (p[0] != '\0' && p[strlen(p) - 1] != '/' && !artifact_has(op->artifacts, p))
			rv = copy_one(op, source, p);
	free(listed);
	return rv;
}

/* ---- restore ---- */

static int write_blob(struct git_op *op, int dir, const struct change *e)
{
	struct verified_id sum;
	char *text, id[GIT_ID_MAX];
	int fd, rv;

	if (git_run(op, GIT_EVIDENCE, "cat-file", "blob", e->id) != 0)
		return -EIO;
	verified_begin(&sum, "blob", git_out_size(op), e->id);
	verified_add(&sum, git_out(op), git_out_size(op));
	verified_end(&sum, id);
	if (strcmp(id, e->id) != 0) {
		git_fail(op, verified_error(op, GIT_EVIDENCE, e->id));
		return -EIO;
	}
	if (S_ISLNK(e->mode)) {
		text = xmemdup0(git_out(op), git_out_size(op));
		rv = create_link(dir, name_in(e->path), text);
		free(text);
		return rv;
	}
	rv = create(dir, name_in(e->path), (e->mode & S_IXUSR) != 0 ? 0777 : 0666, &fd);
	if (rv != 0)
		return rv;
	rv = write_all(fd, git_out(op), git_out_size(op));
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

static int restore_one(struct git_op *op, const struct change *e)
{
	int dir = open_parent(op->spec.dir, e->path), rv = dir;

	if (dir >= 0) {
		rv = write_blob(op, dir, e);
		close(dir);
	}
	if (rv == 0 || op->result.error != NULL)
		return rv == 0 ? 0 : -1;
	return fail_path(op, op->spec.dir, e->path, rv == -ENOTDIR || rv == -EISDIR || rv == -ENOTEMPTY ?
	    "setup has replaced a tracked file or directory by another kind of file; change run.setup" :
	    host_words(-rv));
}

/* The tree of the tracked files as they are. */
static int tree_now(struct git_op *op, const struct changes *entries)
{
	struct snapshot *s = snapshot_new(op->spec.dir, op->spec.scratch, NULL);
	char *own = git_dir_own(op->spec.workspace);
	int rv = disk_tree_add(op, s, entries, op->spec.dir);

	if (rv == 0)
		rv = disk_tree_stage(op, s, own != NULL ? own : op->spec.workspace, op->spec.dir);
	if (rv == 0)
		rv = disk_tree_write(op, GIT_EVIDENCE, &op->result.tree);
	snapshot_free(s);
	free(own);
	return rv;
}

static int restore_tracked(struct git_op *op, const char *tree)
{
	struct changes entries = { 0 }, changes = { 0 };
	struct names names = { 0 };
	int rv = checkout_list(op, tree, &entries);

	if (rv == 0)
		rv = tree_now(op, &entries);
	if (rv == 0 && strcmp(op->result.tree, tree) != 0)
		rv = git_diff(op, GIT_EVIDENCE | GIT_INDEX, tree, op->result.tree, NULL, &changes);
	for (size_t i = 0; rv == 0 && i < changes.count; i++) {
		const struct change *e = changes_find(&entries, changes.list[i].path);

		if (e == NULL || e->mode == MODE_REPOSITORY)
			continue;
		rv = restore_one(op, e);
		names_add(&names, e->path);
	}
	op->result.changed = names_take(&names);
	changes_release(&changes);
	changes_release(&entries);
	return rv;
}

int prepare_run(struct git_op *op)
{
	char *tree = xstrdup(op->spec.tree);
	int rv = git_find_common(op);

	if (rv == 0 && tree == NULL) {
		op->place = op->spec.dir;
		rv = git_resolve(op, WORKTREE_TREE "^{tree}", &tree);
		op->place = op->spec.workspace;
		if (rv == 0 && tree == NULL)
			rv = git_fail(op, xasprintf("%s: no note of its tree; remove it, then retry the run",
			    op->spec.dir));
	}
	if (rv == 0)
		rv = copy_ignored(op);
	if (rv == 0)
		rv = restore_tracked(op, tree);
	free(tree);
	return rv;
}
