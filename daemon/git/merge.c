/* SPDX-License-Identifier: MIT */
/* MERGE: finds what is merged already, and moves ref, which must be where rld left it.
 *
 * Before ref is moved, a note is made: a commit whose parents are the new tip, the requested
 * commit, and what that is a copy of. If the operation is repeated and ref contains the noted tip,
 * it is done: replaying again might give other commits. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "git/own_moves.h"
#include "git/replay.h"
#include "record/host_fault.h"

#define TRIES 5			/* limit while another process moves ref */

enum { DONE, AGAIN = 1 };	/* or -1 */

/* ---- what there is ---- */

/* What ref has; a removed ref is restored, because others' results depend on it. */
static int read_ref(struct git_op *op, struct merge *m)
{
	char *name = xasprintf("%s^{commit}", op->spec.ref);
	struct buf input = { 0 };
	int rv;

	free(m->old);
	rv = git_resolve(op, name, &m->old);
	if (rv == 0 && m->old == NULL && op->spec.known != NULL) {
		buf_addf(&input, "create %s %s\n", op->spec.ref, op->spec.known);
		rv = git_run_input(op, 0, &input, "update-ref", "--no-deref", "--stdin");
		buf_release(&input);
		if (rv == 0)
			rv = git_resolve(op, name, &m->old);
	}
	free(name);
	text_set(&m->start, m->old != NULL ? m->old : op->spec.base_commit);
	if (rv == 0 && op->spec.known != NULL && m->old != NULL && strcmp(m->old, op->spec.known) != 0 &&
	    !own_moves_have(op->spec.moves, op->spec.known, m->old))
		compare_refs_tell(op, op->spec.ref, op->spec.known, m->old);
	return rv;
}

/* 1: everything is in ref already; 0; -1. */
static int is_held(struct git_op *op, const struct merge *m)
{
	char *text, *rest, *words[3];
	int rv;

	if (strcmp(m->start, op->spec.base_commit) == 0)
		return 0;
	/* "note tip commit", if there is one: check whether that tip, or else the commit itself, is
	 * in ref */
	rv = git_run(op, GIT_MAY_FAIL, "rev-list", "--no-walk", "--parents", op->spec.note_ref);
	if (rv == -1)
		return -1;
	text = rest = rv == 0 ? git_out_line(op) : NULL;
	for (size_t i = 0; i < 3; i++)
		words[i] = strsep(&rest, " ");
	rv = git_run(op, GIT_MAY_FAIL, "merge-base", "--is-ancestor",
	    words[2] != NULL && strcmp(words[2], op->spec.commit) == 0 ? words[1] : op->spec.commit, m->old);
	free(text);
	return rv == -1 ? -1 : rv == 0;
}

/* Work that was held back and is in ref now: nothing of it is uncommitted any more. */
static int catch_up(struct git_op *op)
{
	char *head = NULL;
	int rv;

	op->place = op->spec.dir;
	rv = git_run(op, GIT_MAY_FAIL, "rev-parse", "-q", "--verify", "HEAD^{commit}");
	head = rv == 0 ? git_out_line(op) : NULL;
	if (head != NULL && strcmp(head, op->spec.base_commit) == 0)
		rv = git_run(op, 0, "reset", "-q", "--mixed", op->spec.commit);
	op->place = op->spec.workspace;
	free(head);
	return rv == -1 ? -1 : 0;
}

/* Everything is in ref: report tip, its tree, and its content as a patch. */
static int whole(struct git_op *op, const char *tip)
{
	char *tree = xasprintf("%s^{tree}", tip), *own = xasprintf("%s^{tree}", op->spec.commit), *given = NULL;
	int rv;

	text_set(&op->result.commit, tip);
	rv = git_resolve(op, tree, &op->result.tree);
	if (rv == 0)
		rv = git_resolve(op, own, &given);
	op->result.new_tree = rv == 0 && given != NULL && op->result.tree != NULL &&
	    strcmp(given, op->result.tree) != 0;
	free(given);
	free(own);
	free(tree);
	if (rv == 0 && op->spec.holds_back && strcmp(op->spec.commit, op->spec.base_commit) != 0)
		rv = catch_up(op);
	if (rv == -1)
		return -1;
	if (op->spec.base != NULL)
		rv = patch_write(op, 0, op->spec.base, tip, NULL);
	/* the merge is done, and its patch is only shown to people */
	return rv == -1 && op->result.fault != 0 ? -1 : 0;
}

/* ---- ref ---- */

/* Whether place is a work tree of ours, such as one of the whole run that could not be removed.
 * Those of a run have the same parent directory. */
static bool is_ours(const struct git_op *op, const char *place)
{
	const char *name = strrchr(op->spec.dir, '/'), *other = strrchr(place, '/');
	char *of_dir, *of_place;
	struct stat a, b;
	bool yes;

	if (name == NULL || other == NULL)
		return false;
	of_dir = xmemdup0(op->spec.dir, (size_t)(name - op->spec.dir) + 1);
	of_place = xmemdup0(place, (size_t)(other - place) + 1);
	yes = stat(of_dir, &a) == 0 && stat(of_place, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	free(of_place);
	free(of_dir);
	return yes;
}

/* A work tree with ref checked out would fall behind, and a commit there would undo the merge. */
static int find_taker(struct git_op *op)
{
	size_t ref = strlen(op->spec.ref), size;
	const char *data;
	char *place;

	if (git_run(op, 0, "for-each-ref", "--format=%(refname) %(worktreepath)", op->spec.ref) != 0)
		return -1;
	data = git_out(op);
	size = git_out_size(op);
	place = size > ref + 2 && data[ref] == ' ' ? xmemdup0(data + ref + 1, size - ref - 2) : NULL;
	if (place != NULL && !is_ours(op, place))
		op->result.taken = place;
	else
		free(place);
	return 0;
}

/* note: NULL: not needed, because ref gets the requested commit itself, or an older one. AGAIN:
 * another process has moved ref. */
static int move_ref(struct git_op *op, const struct merge *m, const char *tip, const char *note)
{
	static const char *const signs[] = { "but expected", "reference already exists",
	    "unable to resolve reference" };
	struct buf input = { 0 };
	bool moved = false;
	int rv;

	if (find_taker(op) != 0)
		return -1;
	if (op->result.taken != NULL)
		return DONE;
	rv = own_moves_add(op->spec.moves, tip);
	if (rv != 0)
		return git_fail(op, xasprintf("%s: %s", op->spec.moves, host_words(-rv)));
	if (note != NULL)
		buf_addf(&input, "start\nupdate %s %s\ncommit\n", op->spec.note_ref, note);
	if (m->old != NULL)
		buf_addf(&input, "start\nupdate %s %s %s\ncommit\n", op->spec.ref, tip, m->old);
	else
		buf_addf(&input, "start\ncreate %s %s\ncommit\n", op->spec.ref, tip);
	rv = git_run_input(op, GIT_MAY_FAIL, &input, "update-ref", "--no-deref", "--stdin");
	buf_release(&input);
	if (rv != 1)
		return rv == 0 ? whole(op, tip) : -1;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && op->end.err.data != NULL; i++)
		moved = moved || strstr(op->end.err.data, signs[i]) != NULL;
	return moved ? AGAIN : git_fail_process(op);
}

/* ---- all of it ---- */

static int merge_commits(struct git_op *op, struct merge *m, char *const *ids)
{
	const char *parents[4] = { NULL };
	char note[GIT_ID_MAX];
	int rv = replay(op, m, ids);

	if (rv == -1)
		return -1;
	if (op->spec.onto != NULL && (rv == 1 || strcmp(m->tip, m->start) == 0)) {
		op->result.put_off = true;
		return DONE;
	}
	if (rv == 1)
		return conflict_check_out(op, m);
	if (strcmp(m->tip, m->start) == 0)
		return whole(op, m->tip);	/* everything was there already */
	parents[0] = m->tip;
	parents[1] = op->spec.commit;
	parents[2] = op->spec.origin;
	if (replay_note(op, m->tip_tree, parents, note) != 0)
		return -1;
	if (op->spec.onto == NULL && (!op->spec.holds_back || strcmp(m->tip_tree, m->commit_tree) == 0))
		return move_ref(op, m, m->tip, note);
	/* the note keeps the tip */
	if (git_run(op, 0, "update-ref", "--no-deref", op->spec.note_ref, note) != 0)
		return -1;
	return merged_check_out(op, m);
}

/* The commit stands on others that were held back, and they on ref. 1: move ref up to it; 0; -1. */
static int stands_on_ref(struct git_op *op, const struct merge *m)
{
	int rv = op->spec.stands && m->old != NULL ?
	    git_run(op, GIT_MAY_FAIL, "merge-base", "--is-ancestor", m->old, op->spec.base_commit) : 1;

	return rv == -1 ? -1 : rv == 0;
}

/* DONE, AGAIN or -1. */
static int merge_once(struct git_op *op, struct merge *m)
{
	char *const last[] = { (char *)op->spec.commit, NULL };
	struct series series;
	int rv = read_ref(op, m);

	if (op->result.moved != NULL)
		return rv;
	if (rv == 0)
		rv = is_held(op, m);
	if (rv != 0)
		return rv == 1 ? whole(op, m->old) : -1;
	rv = stands_on_ref(op, m);
	if (rv != 0)
		return rv == 1 ? move_ref(op, m, op->spec.commit, NULL) : -1;
	if (op->spec.onto != NULL)
		text_set(&m->start, op->spec.onto);
	if (series_read(op, op->spec.commit, op->spec.base_commit, &series) != 0)
		return -1;
	m->linear = series.linear;
	if (series.ids == NULL && op->spec.onto != NULL)
		op->result.put_off = true;
	else if (series.ids == NULL)
		rv = m->old == NULL ? move_ref(op, m, m->start, NULL) : whole(op, m->old);
	else if (m->linear && op->spec.onto == NULL && strcmp(m->start, op->spec.base_commit) == 0)
		rv = move_ref(op, m, op->spec.commit, NULL);
	else
		rv = merge_commits(op, m, m->linear ? series.ids : last);
	strings_free(series.ids);
	return rv;
}

int merge_run(struct git_op *op)
{
	struct merge m = { 0 };
	int rv = git_find_common(op);

	op->steady = true;
	if (rv == 0) {
		int tries = 0;

		do {
			rv = merge_once(op, &m);
		} while (rv == AGAIN && ++tries < TRIES);
		if (rv == AGAIN)
			rv = git_fail_process(op);
	}
	replay_release(&m);
	return rv;
}
