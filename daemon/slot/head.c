/* SPDX-License-Identifier: MIT */
/* Commits made by agents in a shared work tree, whatever they were told: HEAD at the beginning of a
 * slot's work is compared with HEAD at its end. For passed work the commits are part of the result;
 * otherwise a warning tells how to undo them. A change of branch always causes a warning. */
#include "slot/head.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Whether the whole run is reviewed, with one end for all. */
static bool of_the_run(const struct slot *slot)
{
	return slot_plan(slot)->review && slot_plan(slot)->scope == SCOPE_RUN;
}

const char *slot_head(const struct slot *slot)
{
	const char *of_run = slot->run->rows->run.head;

	if (slot->row == NULL || slot->row->worktree != NULL)
		return NULL;
	return slot->row->head != NULL && !of_the_run(slot) ? slot->row->head : of_run;
}

/* Content of the HEAD file at the beginning of the work; NULL: as slot_head(). */
static const char *slot_head_at(const struct slot *slot)
{
	const char *of_run = slot->run->rows->run.head_at;

	if (slot->row == NULL || slot->row->worktree != NULL)
		return NULL;
	return slot->row->head_at != NULL && !of_the_run(slot) ? slot->row->head_at : of_run;
}

/* Whether there was no commit yet at the beginning of the work. */
static bool is_unborn(const struct slot *slot)
{
	return slot_head(slot) == NULL && slot_head_at(slot) != NULL;
}

bool head_is_open(const struct slot *slot)
{
	const struct slot_row *row = slot->row;
	bool committed = row->commit_id != NULL || (of_the_run(slot) && slot->run->rows->run.result_commit != NULL);

	/* COMMIT cannot tell what existed before the first commit */
	if (is_unborn(slot) && slot_plan(slot)->commit == COMMIT_MODE_AUTO)
		committed = false;
	/* other slots pass with slot 0, and check for themselves */
	return (slot_head(slot) != NULL || is_unborn(slot)) && row->attempt != ROW_NONE &&
	    !(row->stage == SLOT_S_PASSED && (committed || row->slot == 0));
}

/* Whether other slots of the run have worked in the same tree at the same time. */
static bool has_siblings(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;
	size_t count = 0;

	/* one after the other, all in one iteration */
	if (slot->run->plan.rolls && slot->run->plan.parallel == 1)
		return false;
	for (size_t i = 0; i < rows->nslots; i++)
		count += rows->slots[i]->iteration == slot->row->iteration && rows->slots[i]->slot != 0 &&
		    !slot_row_is_beside(rows->slots[i]);
	return count > 1 && !of_the_run(slot);
}

/* Whether other tasks may still commit on top of these commits. */
static bool has_followers(const struct slot *slot)
{
	return slot->run->plan.on_failure == ON_FAILURE_CONTINUE && !of_the_run(slot);
}

#define REF_BEGIN "ref: "
#define BRANCH_BEGIN REF_BEGIN "refs/heads/"

/* Name of the branch in a line of the HEAD file; NULL: a commit, or something unknown. */
static const char *branch_in(const char *line)
{
	return line != NULL && strncmp(line, BRANCH_BEGIN, strlen(BRANCH_BEGIN)) == 0 ?
	    line + strlen(BRANCH_BEGIN) : NULL;
}

/* Whether HEAD is on another branch than at the beginning, or on none any more. A detached HEAD
 * moves with its commits. */
static bool is_switched(const struct slot *slot)
{
	const char *was = slot_head_at(slot), *is = git_op_head_at(slot->op.git);
	bool known = branch_in(was) != NULL || slot_head(slot) != NULL,
	    on_ref = was != NULL && strncmp(was, REF_BEGIN, strlen(REF_BEGIN)) == 0;

	return known && was != NULL && is != NULL && strcmp(was, is) != 0 &&
	    (on_ref || strncmp(is, REF_BEGIN, strlen(REF_BEGIN)) == 0);
}

/* The command that returns to the previous HEAD. */
static char *switch_back(const struct slot *slot)
{
	const char *branch = branch_in(slot_head_at(slot)), *workspace = slot->run->rows->run.workspace;

	if (branch != NULL && !is_unborn(slot))
		return xasprintf("`git switch %s` in %s switches back", branch, workspace);
	if (branch != NULL)
		return xasprintf("`git symbolic-ref HEAD refs/heads/%s` in %s switches back to "
		    "that branch, which has no commit yet", branch, workspace);
	return xasprintf("`git switch --detach %.12s` in %s switches back", slot_head(slot), workspace);
}

static char *undo(const struct slot *slot, const char *since, const char *head)
{
	const char *workspace = slot->run->rows->run.workspace;

	if (is_switched(slot))
		return switch_back(slot);
	if (has_siblings(slot) && since != NULL)
		return xasprintf("other tasks worked in the same tree: see `git log %.12s..%.12s` "
		    "in %s, and `git revert` the commits you do not want", since, head, workspace);
	if (has_siblings(slot) || (has_followers(slot) && since == NULL))
		return xasprintf("see `git log %.12s` in %s, and `git revert` the commits you do "
		    "not want",
		    head, workspace);
	if (has_followers(slot))
		return xasprintf("`git revert --no-edit %.12s..%.12s` in %s undoes them, but no "
		    "commits of later tasks", since, head, workspace);
	if (since == NULL)
		return xasprintf("`git update-ref -d HEAD` in %s undoes them and keeps the files", workspace);
	return xasprintf("`git reset %.12s` in %s undoes them and keeps the changes in the work "
	    "tree",
	    since, workspace);
}

/* Whether id is a commit made by the run. */
static bool is_ours(const struct run_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->commit_id != NULL && strcmp(rows->slots[i]->commit_id, id) == 0)
			return true;
	return false;
}

/* The part of the operation's result that others made, as a sentence; NULL: nothing. */
static char *told(const struct slot *slot, const char *head, bool accepted)
{
	const char *since = slot_head(slot), *workspace = slot->run->rows->run.workspace;
	char *const *ahead = git_op_ahead(slot->op.git);
	char *way, *range, *text;
	size_t count = 0;

	if (git_op_rewritten(slot->op.git) && !is_switched(slot)) {
		way = has_followers(slot) ?
		    xasprintf("see `git log %.12s` in %s for the previous history", since, workspace) :
		    xasprintf("`git reset %.12s` in %s returns there and keeps the changes in the "
		        "work tree",
		    since, workspace);
		text = xasprintf("history was rewritten during the work: HEAD was at %.12s and is "
		    "now at %.12s, which does not descend from it; %s", since, head, way);
		free(way);
		return text;
	}
	for (size_t i = 0; ahead != NULL && ahead[i] != NULL; i++)
		count += !is_ours(slot->run->rows, ahead[i]);
	if (count == 0)
		return NULL;
	way = undo(slot, since, head);
	range = since != NULL ? xasprintf("%.12s..", since) : xstrdup("up to ");
	text = xasprintf("%zu commit%s not made by rld appeared on HEAD during the work (%s%.12s), "
	    "and %s; %s", count, count == 1 ? "" : "s", range, head,
	    accepted ? "the result includes them" : "no review has accepted them", way);
	free(range);
	free(way);
	return text;
}

/* Add to the run's warnings. Takes ownership of what; NULL: nothing. */
static void warn(struct txn *txn, struct slot *slot, char *what)
{
	if (what != NULL && of_the_run(slot))
		run_warn(txn, slot->run, what);
	else if (what != NULL)
		slot_warn(txn, slot, "%s", what);
	free(what);
}

/* What a line of the HEAD file names, as text. */
static char *place_in(const char *line)
{
	const char *branch = branch_in(line);

	return branch != NULL ? text_escape(branch, strlen(branch), false) : xstrdup("no branch");
}

static void emit_switch(struct txn *txn, struct slot *slot)
{
	char *was, *is, *back;

	if (!is_switched(slot))
		return;
	was = place_in(slot_head_at(slot));
	is = place_in(git_op_head_at(slot->op.git));
	back = switch_back(slot);
	warn(txn, slot, xasprintf("another branch was checked out during the work: HEAD was on %s "
	    "and is now on %s; %s", was, is, back));
	free(back);
	free(is);
	free(was);
}

void head_committed(struct txn *txn, struct slot *slot)
{
	const char *commit = git_op_commit(slot->op.git);

	emit_switch(txn, slot);
	/* a commit agent's work was requested */
	if (slot->op.git_kind == GIT_COMMIT && slot_head(slot) != NULL && commit != NULL)
		warn(txn, slot, told(slot, commit, true));
}

void head_inspected(struct txn *txn, struct slot *slot)
{
	const struct run_row *run = &slot->run->rows->run;
	const char *head = git_op_commit(slot->op.git);
	bool passed = slot->row->stage == SLOT_S_PASSED, whole = head != NULL && git_op_whole(slot->op.git);

	emit_switch(txn, slot);
	if (head != NULL)
		warn(txn, slot, told(slot, head, passed));
	/* a commit of a part is no result; nor is an earlier one, if more has passed since */
	if (passed && whole)
		text_set(&txn_edit_run(txn, slot->run)->result_commit, head);
	else if (passed && slot_plan(slot)->commit == COMMIT_MODE_NONE &&
	    (head != NULL || !object_is(slot->row->tree, slot_base_tree(slot))))
		text_set(&txn_edit_run(txn, slot->run)->result_commit, NULL);
	if (head != NULL && passed && !whole)
		warn(txn, slot, xasprintf("%.12s does not contain all of the tree that passed, because some of it is "
		    "uncommitted, so no commit is the result; see `git status` in %s", head, run->workspace));
}
