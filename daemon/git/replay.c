/* SPDX-License-Identifier: MIT */
/* MERGE: commits one by one on top of a tip.
 *
 * Each is a merge of three trees: the one before it, its own, and that of the tip. git 2.39 takes no base for merge-tree, so commits
 * of ours are made that have nothing but those trees and that history. merge-tree runs in a git directory of ours which knows the
 * objects of the repository and nothing of anybody's configuration: there no merge driver has a name, while attributes such as
 * merge=union count. When one of the commits is in conflict, or they are no line, all of them together become one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "git/lay.h"
#include "git/merge.h"
#include "record/host_fault.h"

/* ---- new objects ---- */

static char *object_file(const struct git_op *op, size_t i)
{
	return xasprintf("%s/commit.%zu", op->scratch, i);
}

bool replay_object(struct git_op *op, const char *tree, const char *const *parents, const struct commit_object *like, int64_t committed)
{
	struct merge *m = op->merge;
	char *file = object_file(op, m->files);
	struct buf text = { 0 };
	int rv;

	commit_object_write(&text, tree, parents, like, committed);
	rv = file_write(AT_FDCWD, file, text.data, text.size, 0600, false);
	if (rv == 0)
		buf_addf(&op->input, "%s\n", file);
	else
		op_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
	if (++m->files > m->most)
		m->most = m->files;
	buf_release(&text);
	free(file);
	return rv == 0;
}

/* The next id that hash-object printed. */
static bool next_id(char id[GIT_ID_MAX], const char **data, const char *end)
{
	const char *stop = memchr(*data, '\n', (size_t)(end - *data));

	if (stop == NULL || stop - *data >= GIT_ID_MAX)
		return false;
	memcpy(id, *data, (size_t)(stop - *data));
	id[stop - *data] = '\0';
	*data = stop + 1;
	return true;
}

static enum stage unexpected(struct git_op *op)
{
	return op_fail(op, xasprintf("git %s: unexpected output in %s; is git 2.39 or newer?", stages[op->stage].name, op->workspace));
}

static char *own_dir(const struct git_op *op)
{
	return xasprintf("%s/merge", op->scratch);
}

static void picks_release(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		commit_object_release(&m->picks[i].commit);
	free(m->picks);
	m->picks = NULL;
	m->count = m->at = 0;
}

void replay_release(struct git_op *op)
{
	char *path;

	for (size_t i = 0; i < op->merge->most; i++) {
		path = object_file(op, i);
		unlink(path);
		free(path);
	}
	path = own_dir(op);
	lay_remove(path);
	free(path);
	picks_release(op->merge);
}

/* ---- what is to be replayed ---- */

/* The commits of ours that stand for the trees before. */
static enum stage roots(struct git_op *op)
{
	struct merge *m = op->merge;
	static const char *const none[] = { NULL };

	m->at = m->files = 0;
	m->time = m->start_time;
	free(m->tip);
	m->tip = xstrdup(m->start);
	memcpy(m->tip_tree, m->start_tree, sizeof(m->tip_tree));
	for (size_t i = 0; i < m->count; i++) {
		if (!replay_object(op, m->picks[i].before, none, NULL, 0))
			return STAGE_NONE;
	}
	return STAGE_MERGE_ROOTS;
}

/* All of it as one commit, with the message of the operation. */
static void join(struct git_op *op)
{
	struct merge *m = op->merge;
	struct commit_object last = m->picks[m->count - 1].commit;

	m->picks[m->count - 1].commit = (struct commit_object){ 0 };
	picks_release(m);
	free(last.encoding);
	free(last.message);
	last.encoding = NULL;
	last.message = xstrdup(op->message);
	last.message_size = strlen(last.message);
	m->picks = xcalloc(1, sizeof(*m->picks));
	m->picks[0].commit = last;
	memcpy(m->picks[0].before, m->base_tree, sizeof(m->base_tree));
	m->count = 1;
	m->linear = false;
}

/* The base, the start, and the commits. */
enum stage merge_read_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	const char *end = data + size;
	struct commit_object base, start, commit;
	size_t room = 0;
	bool read;

	(void)ok;
	picks_release(m);
	read = commit_object_read(&base, &data, end);
	memcpy(m->base_tree, base.tree, sizeof(m->base_tree));
	commit_object_release(&base);
	read = read && commit_object_read(&start, &data, end);
	if (!read)
		return unexpected(op);
	memcpy(m->start_tree, start.tree, sizeof(m->start_tree));
	m->start_time = start.committed;
	commit_object_release(&start);
	while (data < end) {
		struct pick *pick;

		read = commit_object_read(&commit, &data, end);
		if (!read) {
			commit_object_release(&commit);
			break;
		}
		if (m->count == room) {
			room = room ? room * 2 : 8;
			m->picks = xreallocarray(m->picks, room, sizeof(*m->picks));
		}
		pick = &m->picks[m->count++];
		*pick = (struct pick){ .commit = commit };
		memcpy(pick->before, m->count > 1 ? pick[-1].commit.tree : m->base_tree, sizeof(pick->before));
	}
	if (!read || m->count == 0)
		return unexpected(op);
	if (!m->linear)
		join(op);
	return roots(op);
}

enum stage merge_roots_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	const char *parents[] = { NULL, NULL }, *end = data + size;

	(void)ok;
	m->files = 0;
	for (size_t i = 0; i < m->count; i++) {
		struct pick *pick = &m->picks[i];

		if (!next_id(pick->root, &data, end))
			return unexpected(op);
		parents[0] = pick->root;
		if (!replay_object(op, pick->commit.tree, parents, NULL, 0))
			return STAGE_NONE;
	}
	parents[0] = m->picks[0].root;
	return replay_object(op, m->tip_tree, parents, NULL, 0) ? STAGE_MERGE_SIDES : STAGE_NONE;
}

/* ---- one after the other ---- */

static int write_own(struct lay *lay, const char *path, const char *text)
{
	int fd, rv = lay_file(lay, path, false, &fd);

	if (rv != 0)
		return rv;
	if (dprintf(fd, "%s\n", text) < 0)
		rv = -EIO;
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

/* The git directory of ours. The names of its branches come between the conflict markers. */
static int lay_own(const struct git_op *op, const char *dir)
{
	const struct merge *m = op->merge;
	const char *config = strlen(m->ours) == 40 ? "[core]\n\trepositoryformatversion = 0\n\tbare = false" :
	    "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256";
	const struct { const char *path, *text; } files[] = {
		{ "HEAD", "ref: refs/heads/none" },
		{ "config", config },
		{ "refs/heads/" MERGE_INTEGRATED, m->ours },
		{ "refs/heads/" MERGE_TASK, m->picks[m->at].side },
	};
	char *objects = xasprintf("%s/objects", op->common);
	struct lay *lay;
	int rv = lay_new(dir, &lay);

	if (rv == 0) {
		rv = lay_link(lay, "objects", objects);
		for (size_t i = 0; rv == 0 && i < sizeof(files) / sizeof(files[0]); i++)
			rv = write_own(lay, files[i].path, files[i].text);
		lay_free(lay);
	}
	free(objects);
	return rv;
}

static enum stage pick(struct git_op *op)
{
	struct merge *m = op->merge;
	char *dir;
	int rv;

	if (m->at == m->count)
		return merge_finish(op);
	dir = own_dir(op);
	rv = lay_own(op, dir);
	if (rv != 0) {
		op_fail(op, xasprintf("%s: %s", dir, host_words(-rv)));
		free(dir);
		return STAGE_NONE;
	}
	op->git_dir = dir;
	op->place = op->dir;
	return STAGE_MERGE_PICK;
}

enum stage merge_sides_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	const char *end = data + size;

	(void)ok;
	for (size_t i = 0; i < m->count; i++) {
		if (!next_id(m->picks[i].side, &data, end))
			return unexpected(op);
	}
	return next_id(m->ours, &data, end) ? pick(op) : unexpected(op);
}

/* The commit, unless it changes nothing any more, and what the next one is merged into. */
static enum stage picked(struct git_op *op)
{
	struct merge *m = op->merge;
	const struct pick *now = &m->picks[m->at];
	const char *parents[] = { m->tip, NULL };
	bool changed = strcmp(m->tree, m->tip_tree) != 0, written = true;

	m->files = 0;
	if (changed) {
		m->time = now->commit.committed > m->time ? now->commit.committed : m->time;
		written = replay_object(op, m->tree, parents, &now->commit, m->time);
	}
	if (written && m->at + 1 < m->count) {
		parents[0] = now[1].root;
		written = replay_object(op, m->tree, parents, NULL, 0);
	}
	if (!written)
		return STAGE_NONE;
	return m->files > 0 ? STAGE_MERGE_PICKED : merge_picked_done(op, true, "", 0);
}

enum stage merge_pick_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	size_t id = strnlen(data, size);

	free(op->git_dir);
	op->git_dir = NULL;
	op->place = op->workspace;
	if (!ok && id != strlen(m->ours))
		return op_process_failed(op);
	if (id != strlen(m->ours))
		return unexpected(op);
	memcpy(m->tree, data, id);
	m->tree[id] = '\0';
	if (ok)
		return picked(op);
	if (m->count == 1)
		return conflict_start(op, data, size);
	join(op);
	return roots(op);
}

enum stage merge_picked_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	const char *end = data + size;
	char id[GIT_ID_MAX];

	(void)ok;
	if (strcmp(m->tree, m->tip_tree) != 0) {
		if (!next_id(id, &data, end))
			return unexpected(op);
		free(m->tip);
		m->tip = xstrdup(id);
		memcpy(m->tip_tree, m->tree, sizeof(m->tip_tree));
	}
	m->at++;
	if (m->at < m->count && !next_id(m->ours, &data, end))
		return unexpected(op);
	return pick(op);
}
