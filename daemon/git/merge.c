/* SPDX-License-Identifier: MIT */
/* MERGE: what is there already, and how ref is moved.
 *
 * A note, a commit with the new tip and with what was asked for as its parents, is made before ref is moved. Who begins again and
 * finds in ref what the note has knows that it is done: replayed once more, the same commits need not agree with what they have
 * made of it. */
#include "git/merge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TRIES 5			/* at most, while somebody else moves ref */

static char *line_of(const char *data, size_t size)
{
	return size > 1 ? xmemdup0(data, size - 1) : NULL;
}

/* ---- what there is ---- */

enum stage merge_start(struct git_op *op)
{
	char *ref = xasprintf("%s^{commit}", op->ref);

	if (op->merge == NULL)
		op->merge = xcalloc(1, sizeof(*op->merge));
	strings_append(&op->words, ref);
	free(ref);
	return STAGE_MERGE_TIP;
}

static enum stage list(struct git_op *op)
{
	char *before = xasprintf("^%s", op->base_commit);

	strings_append(&op->words, op->given_commit);
	strings_append(&op->words, before);
	free(before);
	return STAGE_MERGE_LIST;
}

enum stage merge_tip_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;

	free(m->old);
	free(m->start);
	m->old = ok ? line_of(data, size) : NULL;
	if (m->old == NULL && op->known != NULL) {
		buf_addf(&op->input, "create %s %s\n", op->ref, op->known);
		return STAGE_MERGE_BACK;
	}
	m->start = xstrdup(m->old != NULL ? m->old : op->base_commit);
	if (strcmp(m->start, op->base_commit) == 0)
		return list(op);
	strings_append(&op->words, op->note_ref);
	return STAGE_MERGE_NOTED;
}

/* Who has removed ref took nothing from what the others have done. */
enum stage merge_back_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	return merge_start(op);
}

/* "note tip commit", when there is one: is that tip, or else the commit itself, in ref? */
enum stage merge_noted_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *text = ok ? line_of(data, size) : NULL, *rest = text, *words[3];

	for (size_t i = 0; i < 3; i++)
		words[i] = strsep(&rest, " ");
	strings_append(&op->words, words[2] != NULL && strcmp(words[2], op->given_commit) == 0 ? words[1] : op->given_commit);
	strings_append(&op->words, op->merge->old);
	free(text);
	return STAGE_MERGE_HELD;
}

/* All is in ref: what it has by now, for those who want to see it. */
static enum stage whole(struct git_op *op, const char *tip)
{
	op->commit = xstrdup(tip);
	return op->base != NULL ? STAGE_MERGE_WHOLE : STAGE_NONE;
}

enum stage merge_held_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)data, (void)size;
	return ok ? whole(op, op->merge->old) : list(op);
}

/* ---- ref ---- */

/* note: NULL: none is needed, for ref gets the very commit that was asked for, or one that was there before. */
static enum stage move(struct git_op *op, const char *tip, const char *note)
{
	struct merge *m = op->merge;
	char *copy = xstrdup(tip);

	free(m->tip);
	free(m->note);
	m->tip = copy;
	m->note = xstrdup(note);
	strings_append(&op->words, op->ref);
	return STAGE_MERGE_TAKEN;
}

/* Is that a work tree of ours, such as one of the whole run that could not be removed? Those of a run stand side by side. */
static bool is_ours(const struct git_op *op, const char *place)
{
	const char *name = strrchr(op->dir, '/'), *other = strrchr(place, '/');
	char *of_dir, *of_place;
	struct stat a, b;
	bool yes;

	if (name == NULL || other == NULL)
		return false;
	of_dir = xmemdup0(op->dir, (size_t)(name - op->dir) + 1);
	of_place = xmemdup0(place, (size_t)(other - place) + 1);
	yes = stat(of_dir, &a) == 0 && stat(of_place, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	free(of_place);
	free(of_dir);
	return yes;
}

/* "ref path of the work tree that has it checked out": the files there would stay behind, and the next commit there would undo
 * what was integrated. */
enum stage merge_taken_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	size_t ref = strlen(op->ref);
	char *place = size > ref + 2 && data[ref] == ' ' ? xmemdup0(data + ref + 1, size - ref - 2) : NULL;

	(void)ok;
	if (place != NULL && !is_ours(op, place)) {
		op->taken = place;
		return STAGE_NONE;
	}
	free(place);
	if (m->note != NULL)
		buf_addf(&op->input, "start\nupdate %s %s\ncommit\n", op->note_ref, m->note);
	if (m->old != NULL)
		buf_addf(&op->input, "start\nupdate %s %s %s\ncommit\n", op->ref, m->tip, m->old);
	else
		buf_addf(&op->input, "start\ncreate %s %s\ncommit\n", op->ref, m->tip);
	return STAGE_MERGE_MOVE;
}

enum stage merge_list_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	struct merge *m = op->merge;
	struct series series;
	bool nothing, ahead;

	(void)ok;
	series_read(&series, data, size, op->base_commit);
	nothing = series.ids == NULL;
	m->linear = series.linear;
	ahead = m->linear && strcmp(m->start, op->base_commit) == 0;
	buf_addf(&op->input, "%s\n%s\n", op->base_commit, m->start);
	for (size_t i = 0; m->linear && !nothing && series.ids[i] != NULL; i++)
		buf_addf(&op->input, "%s\n", series.ids[i]);
	if (!m->linear)
		buf_addf(&op->input, "%s\n", op->given_commit);
	strings_free(series.ids);
	if (!nothing && !ahead)
		return STAGE_MERGE_READ;
	buf_release(&op->input);
	if (!nothing || m->old == NULL)
		return move(op, nothing ? m->start : op->given_commit, NULL);
	return whole(op, m->old);
}

enum stage merge_finish(struct git_op *op)
{
	struct merge *m = op->merge;
	const char *parents[] = { m->tip, op->given_commit, NULL };

	if (strcmp(m->tip, m->start) == 0)
		return whole(op, m->tip);	/* all of it was there already */
	m->files = 0;
	return replay_object(op, m->tip_tree, parents, NULL, 0) ? STAGE_MERGE_NOTE : STAGE_NONE;
}

enum stage merge_note_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *note = line_of(data, size);
	enum stage next;

	(void)ok;
	if (note == NULL)
		return op_fail(op, xasprintf("git hash-object: no commit in %s", op->workspace));
	next = move(op, op->merge->tip, note);
	free(note);
	return next;
}

/* When somebody else has moved ref, this begins again. */
enum stage merge_move_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	static const char *const signs[] = { "but expected", "reference already exists", "unable to resolve reference" };
	struct merge *m = op->merge;
	char *said;
	bool moved = false;

	(void)data, (void)size;
	if (ok)
		return whole(op, m->tip);
	said = op_said(op);
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		moved = moved || strstr(said, signs[i]) != NULL;
	free(said);
	return moved && ++m->tries < TRIES ? merge_start(op) : op_process_failed(op);
}

void merge_release(struct git_op *op)
{
	if (op->merge == NULL)
		return;
	replay_release(op);
	free(op->merge->old);
	free(op->merge->start);
	free(op->merge->tip);
	free(op->merge->note);
	free(op->merge);
}
