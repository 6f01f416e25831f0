/* SPDX-License-Identifier: MIT */
/* MERGE: replays commits one by one on top of a tip.
 *
 * Each is a three-way merge: the tree before it, its own, and that of the tip. merge-tree of git
 * 2.39 takes no base, so auxiliary commits are made that have only those trees and that history.
 * merge-tree runs in an auxiliary git directory which knows the objects of the repository but no
 * configuration: so no merge driver runs, while attributes such as merge=union apply. If one of the
 * commits conflicts, or they are not linear, all of them are merged as one. */
#include "git/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "git/remove_dir.h"
#include "git/unpack.h"
#include "record/host_fault.h"

/* ---- new objects ---- */

/* Files in scratch that are hashed together. */
struct objects {
	struct buf names;
	size_t count;
	const char *next, *end;		/* ids not consumed yet, in git_out() */
};

static char *object_file(const struct git_op *op, size_t i)
{
	return xasprintf("%s/commit.%zu", op->spec.scratch, i);
}

static int object_add(struct git_op *op, struct objects *o, const char *tree,
    const char *const *parents, const struct commit_object *like, int64_t committed)
{
	char *file = object_file(op, o->count++);
	struct buf text = { 0 };
	int rv;

	commit_object_write(&text, tree, parents, like, committed);
	rv = file_write(AT_FDCWD, file, text.data, text.size, 0600, false);
	if (rv == 0)
		buf_addf(&o->names, "%s\n", file);
	else
		git_fail(op, xasprintf("%s: %s", file, host_words(-rv)));
	buf_release(&text);
	free(file);
	return rv == 0 ? 0 : -1;
}

/* next_id() returns their ids, until git runs again. */
static int objects_hash(struct git_op *op, struct objects *o)
{
	int rv = git_run_input(op, 0, &o->names, "hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths");

	o->next = git_out(op);
	o->end = o->next + git_out_size(op);
	return rv;
}

static void objects_release(const struct git_op *op, struct objects *o)
{
	for (size_t i = 0; i < o->count; i++) {
		char *path = object_file(op, i);

		unlink(path);
		free(path);
	}
	buf_release(&o->names);
	o->count = 0;
}

static int next_id(struct git_op *op, struct objects *o, char id[GIT_ID_MAX])
{
	const char *stop = memchr(o->next, '\n', (size_t)(o->end - o->next));

	if (stop == NULL || stop - o->next >= GIT_ID_MAX)
		return git_fail_output(op);
	memcpy(id, o->next, (size_t)(stop - o->next));
	id[stop - o->next] = '\0';
	o->next = stop + 1;
	return 0;
}

int replay_note(struct git_op *op, const char *tree, const char *const *parents, char id[GIT_ID_MAX])
{
	struct objects o = { 0 };
	int rv = object_add(op, &o, tree, parents, NULL, 0);

	if (rv == 0)
		rv = objects_hash(op, &o);
	if (rv == 0)
		rv = next_id(op, &o, id);
	objects_release(op, &o);
	return rv;
}

/* ---- what is to be replayed ---- */

static void picks_release(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		commit_object_release(&m->picks[i].commit);
	free(m->picks);
	m->picks = NULL;
	m->count = 0;
}

void replay_release(struct merge *m)
{
	picks_release(m);
	free(m->old);
	free(m->start);
	free(m->tip);
	*m = (struct merge){ 0 };
}

/* Everything as one commit, with the message of the operation. */
static void join(struct git_op *op, struct merge *m)
{
	struct commit_object last = m->picks[m->count - 1].commit;

	m->picks[m->count - 1].commit = (struct commit_object){ 0 };
	picks_release(m);
	free(last.encoding);
	free(last.message);
	last.encoding = NULL;
	last.message = xstrdup(op->spec.message);
	last.message_size = strlen(last.message);
	m->picks = xcalloc(1, sizeof(*m->picks));
	m->picks[0].commit = last;
	memcpy(m->picks[0].before, m->base_tree, sizeof(m->base_tree));
	m->count = 1;
	m->linear = false;
}

/* The base, the start, and the commits. */
static int read_commits(struct git_op *op, struct merge *m, char *const *ids)
{
	struct commit_object base = { 0 }, start = { 0 };
	struct buf input = { 0 };
	const char *data, *end;
	bool read;
	int rv;

	buf_addf(&input, "%s\n%s\n", op->spec.base_commit, m->start);
	for (size_t i = 0; ids[i] != NULL; i++)
		buf_addf(&input, "%s\n", ids[i]);
	rv = git_run_input(op, 0, &input, "cat-file", "--batch");
	buf_release(&input);
	if (rv != 0)
		return -1;
	data = git_out(op);
	end = data + git_out_size(op);
	picks_release(m);
	m->picks = xcalloc(strings_count(ids) + 1, sizeof(*m->picks));
	read = commit_object_read(&base, &data, end) && commit_object_read(&start, &data, end);
	memcpy(m->base_tree, base.tree, sizeof(m->base_tree));
	memcpy(m->start_tree, start.tree, sizeof(m->start_tree));
	m->start_time = start.committed;
	commit_object_release(&base);
	commit_object_release(&start);
	while (read && data < end && m->count < strings_count(ids)) {
		struct pick *pick = &m->picks[m->count++];

		read = commit_object_read(&pick->commit, &data, end);
		memcpy(pick->before, m->count > 1 ? pick[-1].commit.tree : m->base_tree, sizeof(pick->before));
	}
	if (!read || m->count == 0 || data < end)
		return git_fail_output(op);
	memcpy(m->commit_tree, m->picks[m->count - 1].commit.tree, sizeof(m->commit_tree));
	return 0;
}

/* Auxiliary commits for the trees before, for those of the commits, and for the tip. */
static int make_sides(struct git_op *op, struct merge *m)
{
	static const char *const none[] = { NULL };
	const char *parents[] = { NULL, NULL };
	struct objects o = { 0 };
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < m->count; i++)
		rv = object_add(op, &o, m->picks[i].before, none, NULL, 0);
	if (rv == 0)
		rv = objects_hash(op, &o);
	objects_release(op, &o);
	for (size_t i = 0; rv == 0 && i < m->count; i++)
		rv = next_id(op, &o, m->picks[i].root);
	for (size_t i = 0; rv == 0 && i < m->count; i++) {
		parents[0] = m->picks[i].root;
		rv = object_add(op, &o, m->picks[i].commit.tree, parents, NULL, 0);
	}
	parents[0] = m->picks[0].root;
	if (rv == 0)
		rv = object_add(op, &o, m->tip_tree, parents, NULL, 0);
	if (rv == 0)
		rv = objects_hash(op, &o);
	objects_release(op, &o);
	for (size_t i = 0; rv == 0 && i < m->count; i++)
		rv = next_id(op, &o, m->picks[i].side);
	return rv == 0 ? next_id(op, &o, m->ours) : rv;
}

/* ---- one after the other ---- */

static int write_git_file(struct unpack *unpack, const char *path, const char *text)
{
	int fd, rv = unpack_file(unpack, path, false, &fd);

	if (rv != 0)
		return rv;
	if (dprintf(fd, "%s\n", text) < 0)
		rv = -EIO;
	if (close(fd) == -1 && rv == 0)
		rv = -errno;
	return rv;
}

/* The auxiliary git directory. The names of its branches appear in conflict markers. */
static int make_git_dir(const struct git_op *op, const struct merge *m, const struct pick *pick, const char *dir)
{
	const char *config = strlen(m->ours) == 40 ? "[core]\n\trepositoryformatversion = 0\n\tbare = false" :
	    "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = sha256";
	const struct { const char *path, *text; } files[] = {
		{ "HEAD", "ref: refs/heads/none" },
		{ "config", config },
		{ "refs/heads/" MERGE_INTEGRATED, m->ours },
		{ "refs/heads/" MERGE_TASK, pick->side },
	};
	char *objects = xasprintf("%s/objects", op->common);
	struct unpack *unpack;
	int rv = unpack_new(dir, &unpack);

	if (rv == 0) {
		rv = unpack_link(unpack, "objects", objects);
		for (size_t i = 0; rv == 0 && i < sizeof(files) / sizeof(files[0]); i++)
			rv = write_git_file(unpack, files[i].path, files[i].text);
		unpack_free(unpack);
	}
	free(objects);
	return rv;
}

/* m->tree: the merge of the pick and the tip. 1: conflict. */
static int merge_pick(struct git_op *op, struct merge *m, const struct pick *pick)
{
	char *dir = xasprintf("%s/merge", op->spec.scratch);
	int rv = make_git_dir(op, m, pick, dir);
	size_t id;

	if (rv != 0) {
		git_fail(op, xasprintf("%s: %s", dir, host_words(-rv)));
		free(dir);
		return -1;
	}
	text_set(&op->git_dir, dir);
	op->place = op->spec.dir;
	rv = git_run(op, GIT_MAY_FAIL | GIT_ALONE, "-c", "core.attributesFile=/dev/null",
	    "merge-tree", "--write-tree", "--messages", "-z", MERGE_INTEGRATED, MERGE_TASK);
	text_set(&op->git_dir, NULL);
	op->place = op->spec.workspace;
	remove_dir(dir);
	free(dir);
	id = strnlen(git_out(op), git_out_size(op));
	if (rv != -1 && id != strlen(m->ours))
		return rv == 1 ? git_fail_process(op) : git_fail_output(op);
	if (rv != -1)
		memcpy(m->tree, git_out(op), id + 1);
	return rv;
}

/* The commit, unless it no longer changes anything, and the base of the next merge. */
static int take_pick(struct git_op *op, struct merge *m, size_t at)
{
	const struct pick *pick = &m->picks[at];
	const char *parents[] = { m->tip, NULL };
	bool changed = strcmp(m->tree, m->tip_tree) != 0, last = at + 1 == m->count;
	struct objects o = { 0 };
	char id[GIT_ID_MAX];
	int rv = 0;

	if (changed) {
		m->time = pick->commit.committed > m->time ? pick->commit.committed : m->time;
		rv = object_add(op, &o, m->tree, parents, &pick->commit, m->time);
	}
	if (rv == 0 && !last) {
		parents[0] = pick[1].root;
		rv = object_add(op, &o, m->tree, parents, NULL, 0);
	}
	if (rv == 0 && o.count > 0)
		rv = objects_hash(op, &o);
	if (rv == 0 && changed)
		rv = next_id(op, &o, id);
	if (rv == 0 && changed) {
		text_set(&m->tip, id);
		memcpy(m->tip_tree, m->tree, sizeof(m->tip_tree));
	}
	if (rv == 0 && !last)
		rv = next_id(op, &o, m->ours);
	objects_release(op, &o);
	return rv;
}

static int replay_picks(struct git_op *op, struct merge *m)
{
	int rv;

	m->time = m->start_time;
	text_set(&m->tip, m->start);
	memcpy(m->tip_tree, m->start_tree, sizeof(m->tip_tree));
	rv = make_sides(op, m);
	for (size_t i = 0; rv == 0 && i < m->count; i++) {
		rv = merge_pick(op, m, &m->picks[i]);
		if (rv == 0)
			rv = take_pick(op, m, i);
	}
	return rv;
}

int replay(struct git_op *op, struct merge *m, char *const *ids)
{
	int rv = read_commits(op, m, ids);

	if (rv == 0 && !m->linear)
		join(op, m);
	if (rv == 0)
		rv = replay_picks(op, m);
	if (rv == 1 && m->count > 1) {
		join(op, m);
		rv = replay_picks(op, m);
	}
	return rv;
}
