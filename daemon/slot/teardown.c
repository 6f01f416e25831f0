/* SPDX-License-Identifier: MIT */
/* Teardown of an ended slot, one operation after the other: close or release the task at its
 * source; compare HEAD of a shared work tree; compare the refs of the run; save and remove the
 * slot's own work tree; delete what is left of a large one, while another task has its place. What
 * fails becomes a warning, and the rest follows nevertheless. */
#include "slot/teardown.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "git/git_op.h"
#include "job/recorded_refs.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "sched/claims.h"
#include "slot/git_request.h"
#include "slot/head.h"
#include "slot/judged.h"
#include "slot/machine.h"
#include "slot/operation.h"
#include "slot/ref_names.h"
#include "slot/review_rows.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* Whether the source is told about the task of this slot. Passed stories are marked, others stay
 * unchanged. */
static bool tells_source(const struct slot *slot)
{
	enum source_kind source = run_source(slot->run);

	if (slot->row->task == NULL || slot->row->slot == 0)
		return false;
	return source == SOURCE_BEADS || (source == SOURCE_STORIES && slot->row->stage == SLOT_S_PASSED);
}

/* Whether this slot may be the last one to compare the refs of the run: one that was pinned has
 * just compared them. */
static bool compares_refs(const struct slot *slot)
{
	bool ended = slot->row->stage == SLOT_S_PASSED || slot->row->stage == SLOT_S_FAILED;
	bool pinned = slot->row->stage == SLOT_S_PASSED && (slot_task(slot) != NULL ?
	    slot_task(slot)->locked_ref != NULL : slot->row->slot == 0 && slot_passed(slot));

	/* the slots that still work compare them later */
	for (size_t i = 0; i < slot->run->nslots; i++)
		if (slot->run->slots[i] != slot && !slot_is_beside(slot->run->slots[i]) &&
		    !slot_stage_is_end(slot_stage(slot->run->slots[i])))
			return false;
	return ended && !pinned && recorded_refs_count(slot->run->rows) > 0;
}

/* What was pinned has just been compared, unless a source was told since then. */
static bool compares_tree(const struct slot *slot)
{
	return judged_tree(slot, GIT_COMPARE_REFS) != NULL && (!slot_passed(slot) || tells_source(slot));
}

static enum slot_leaving after(const struct slot *slot, enum slot_leaving leaving)
{
	/* it has changed nothing */
	if (slot_is_baseline(slot))
		return LEAVING_NOTHING;
	if (leaving == LEAVING_NOTHING && tells_source(slot))
		return LEAVING_TASK;
	if (leaving < LEAVING_INSPECT && head_is_open(slot))
		return LEAVING_INSPECT;
	if (leaving < LEAVING_REFS && (compares_refs(slot) || compares_tree(slot)))
		return LEAVING_REFS;
	if (leaving < LEAVING_REMOVE && slot->row->worktree != NULL)
		return LEAVING_REMOVE;
	if (leaving == LEAVING_REMOVE && slot->row->worktree == NULL && git_op_rest(slot->op.git))
		return LEAVING_DELETE;
	return LEAVING_NOTHING;
}

static void leave(struct txn *txn, struct slot *slot, enum slot_leaving leaving)
{
	txn_edit_slot(txn, slot)->leaving = (int)leaving;
	if (leaving != LEAVING_NOTHING)
		txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* Set the claim after the source was told, or if there is no need. */
static void release_claim(struct txn *txn, struct slot *slot)
{
	bool passed = slot->row->stage == SLOT_S_PASSED && slot_task(slot) != NULL &&
	    slot_task(slot)->state == TASK_S_PASSED;

	if (slot->row->task != NULL && slot->row->slot != 0)
		run_claim(txn, slot->run, slot->row->task, passed ? CLAIM_S_DONE : CLAIM_S_FREE);
}

void leave_begin(struct txn *txn, struct slot *slot)
{
	if (!tells_source(slot))
		release_claim(txn, slot);
	leave(txn, slot, after(slot, LEAVING_NOTHING));
}

void leave_act(struct slot *slot)
{
	switch ((enum slot_leaving)slot->row->leaving) {
	case LEAVING_TASK:
		source_begin(slot, slot_task(slot)->state == TASK_S_PASSED ? TASK_OP_CLOSE : TASK_OP_RELEASE);
		break;
	case LEAVING_INSPECT:
		git_begin(slot, GIT_INSPECT_HEAD);
		break;
	case LEAVING_REFS:
		git_begin(slot, GIT_COMPARE_REFS);
		break;
	case LEAVING_REMOVE:
		git_begin(slot, GIT_WORKTREE_REMOVE);
		break;
	case LEAVING_DELETE:
		git_begin(slot, GIT_WORKTREE_DELETE);
		break;
	case LEAVING_NOTHING:
	case SLOT_LEAVINGS:
		break;
	}
}

static void warn(struct txn *txn, struct slot *slot, const char *what)
{
	char *text = xasprintf("task %s: %s", slot_task_id(slot), what);

	run_warn(txn, slot->run, text);
	free(text);
}

/* The salvage of a work tree: a ref to what was not committed. */
static void add_salvage(struct txn *txn, struct slot *slot, const char *commit)
{
	struct run *run = slot->run;
	struct salvage_row *s = row_new(ROW_SALVAGE);

	s->id = ++run->engine->last_attempt;
	s->run = run->rows->run.id;
	s->task = xstrdup(slot_task_id(slot));
	s->workspace = xstrdup(run->rows->run.workspace);
	s->ref = git_ref(slot, GIT_WORKTREE_REMOVE);
	s->commit_id = xstrdup(commit);
	s->path = xstrdup(slot->row->worktree);
	s->created_at = engine_now(run->engine);
	txn_put(txn, ROW_SALVAGE, s);
	txn_emit(txn, "salvaged", s->run,
	    json_pack("{s:I, s:s, s:s}", "salvage", (json_int_t)s->id, "task", s->task, "ref", s->ref));
	row_free(ROW_SALVAGE, s);
}

/* The work tree was removed, and its unsaved content was saved. */
static void worktree_removed(struct txn *txn, struct slot *slot)
{
	const struct git_op *git = slot->op.git;
	const struct task_row *task = slot_task(slot);
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (git_op_commit(git) != NULL)
		add_salvage(txn, slot, git_op_commit(git));
	text_set(&row->branch, git_op_branch_left(git) ? git_op_branch(git) : NULL);
	text_set(&row->worktree, NULL);
	if (task != NULL && task->disk_bytes != ROW_NONE)
		txn_edit_task(txn, task)->disk_bytes = 0;
}

/* Warn about a task from bd if bd is no longer on PATH. */
static void told(struct txn *txn, struct slot *slot)
{
	static const char *const gone[TASK_OPS] = {
		[TASK_OP_CLOSE] =
		    "bd is no longer on PATH; the task passed, so close it manually (bd close)",
		[TASK_OP_RELEASE] =
		    "bd is no longer on PATH; reopen the task manually (bd update --status=open "
		    "--assignee=)",
	};

	if (slot->bd_claimed && !task_op_has_bd(slot->op.task))
		warn(txn, slot, gone[slot->op.task_kind]);
}

/* The run cannot succeed while the refs of its results are not what passed. */
static void refs_compared(struct txn *txn, struct slot *slot)
{
	const char *moved = git_op_moved(slot->op.git);

	judged_warn(txn, slot);
	if (moved == NULL)
		return;
	free(slot->run->failure);
	slot->run->failure = text_escape(moved, strlen(moved), false);
	slot->run->failure_kind = END_REF_MOVED;
}

void leave_result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	enum slot_leaving was = (enum slot_leaving)slot->row->leaving;
	bool failed = done->failure.kind != END_NONE;

	if (failed)
		warn(txn, slot, done->failure.text);
	else if (was == LEAVING_TASK)
		told(txn, slot);
	else if (was == LEAVING_INSPECT)
		head_inspected(txn, slot);
	else if (was == LEAVING_REFS)
		refs_compared(txn, slot);
	else if (was == LEAVING_REMOVE)
		worktree_removed(txn, slot);
	if (was == LEAVING_TASK)
		release_claim(txn, slot);
	leave(txn, slot, after(slot, was));
	if (!slot_row_is_free(slot->row))
		return;
	slot_release_permit(txn, slot);
	txn_touch(txn, slot->run);
}
