/* SPDX-License-Identifier: MIT */
/* Input of a git operation: what to do, and where. */
#include "slot/git_request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/continuation.h"
#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "evidence/setup_key.h"
#include "git/git_op.h"
#include "job/recorded_refs.h"
#include "job/review_basis.h"
#include "model/activity.h"
#include "model/dirs.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "slot/head.h"
#include "slot/judged.h"
#include "slot/operation.h"
#include "slot/ref_names.h"
#include "slot/shared_paths.h"
#include "slot/train_order.h"
#include "slot/turn.h"
#include "txn/txn.h"

static void add_artifact(char ***list, const struct run_row *run, const char *where)
{
	char *path = where != NULL ? dirs_in_workspace(run->workspace, run->subdir, where) : NULL;

	if (path != NULL && !strings_contain(*list, path))
		strings_append(list, path);
	free(path);
}

static void add_artifacts(char ***list, const struct run_row *run, const struct plan *plan)
{
	add_artifact(list, run, plan->review ? plan->review_file : NULL);
	add_artifact(list, run, plan->review ? plan->review_log : NULL);
}

char **run_artifacts(const struct run *run)
{
	char **list = NULL;

	/* a home directory under git contains our state, including environments of other runs'
	 * agents */
	add_artifact(&list, &run->rows->run, run->engine->state_dir);
	add_artifacts(&list, &run->rows->run, &run->plan);
	for (size_t i = 0; i < run->rows->ntasks; i++) {
		struct plan plan = { 0 };

		if (run->rows->tasks[i]->plan == NULL || plan_from_json(run->rows->tasks[i]->plan, &plan) == -1)
			continue;
		add_artifacts(&list, &run->rows->run, &plan);
		plan_release(&plan);
	}
	return list;
}

/* Patterns of the files to copy, relative to the workspace. */
static char **copy_patterns(const struct slot *slot)
{
	char **list = NULL;

	for (char **p = slot_plan(slot)->copy; p != NULL && *p != NULL; p++)
		add_artifact(&list, &slot->run->rows->run, *p);
	return list;
}

/* PREPARE copies them; before checks, MEASURE says what they are, and FIND_EDITS what they were
 * before an agent worked there. */
static bool brings_copies(const struct slot *slot, enum git_op_kind kind)
{
	return (kind == GIT_PREPARE && slot->row->setup == 0) || kind == GIT_FIND_EDITS ||
	    (kind == GIT_MEASURE && slot_begins_review(slot) && slot_checks_room(slot));
}

/* The message of a commit, whose trailers identify it if the operation is repeated. */
static char *commit_message(const struct slot *slot)
{
	const struct task_row *task = slot_task(slot);
	const struct plan *plan = slot_plan(slot);
	const char *id = slot_task_id(slot);

	if (task == NULL)
		return xasprintf("Review of the run\n\nRld-Run: %lld\nRld-Task: %s\n", (long long)slot->row->run, id);
	/* a review that must not know the task follows this commit */
	if (plan->review && plan->profile->no_task && plan->integrate == INTEGRATE_MERGE)
		return xasprintf("Task %lld\n\nRld-Run: %lld\nRld-Task: %lld\n",
		    (long long)task->position, (long long)slot->row->run, (long long)task->position);
	return xasprintf("%s\n\nRld-Run: %lld\nRld-Task: %s\n",
	    task->title != NULL ? task->title : id, (long long)slot->row->run, id);
}

static char *message_of(const struct slot *slot, enum git_op_kind kind)
{
	switch (kind) {
	case GIT_BASE:
		return xasprintf("rld: uncommitted work at the start of run %lld", (long long)slot->run->rows->run.id);
	case GIT_COMMIT:
	case GIT_ADOPT_COMMITS:
	case GIT_MERGE:
		return commit_message(slot);
	case GIT_MEASURE:
		/* run the hooks before a reviewer is paid */
		return slot_begins_review(slot) && slot_plan(slot)->commit == COMMIT_MODE_AUTO ?
		    commit_message(slot) : NULL;
	case GIT_WORKTREE_REMOVE:
		return xasprintf("rld: content of the work tree of %s in run %lld\n",
		    slot_task_id(slot), (long long)slot->row->run);
	case GIT_WORKTREE_DELETE:
	case GIT_SNAPSHOT:
	case GIT_VERIFY:
	case GIT_PIN:
	case GIT_CHECKOUT:
	case GIT_PREPARE:
	case GIT_WORKTREE_ADD:
	case GIT_INSPECT_HEAD:
	case GIT_COMPARE_REFS:
	case GIT_FIND_EDITS:
	case GIT_OPS:
		break;
	}
	return NULL;
}

/* MEASURE compares with the base; others use the tree under review. */
static const char *tree_of(const struct slot *slot, enum git_op_kind kind)
{
	if (kind == GIT_MEASURE)
		return slot_base_tree(slot);
	if (kind == GIT_CHECKOUT)
		return slot_room_tree(slot);
	/* that of a new work tree is noted there */
	if (kind == GIT_PREPARE)
		return slot_prepares_room(slot) ? slot_room_tree(slot) : slot->row->tree;
	/* the first attempt starts from the base */
	if (kind == GIT_FIND_EDITS && slot->row->tree == NULL)
		return slot_base_tree(slot);
	return slot->row != NULL ? slot->row->tree : slot->run->rows->run.base_tree;
}

/* Commit where the branch of a work tree starts: with integration, the merged work so far. Slot 0
 * uses the merged branch. */
const char *git_commit_of(const struct slot *slot, enum git_op_kind kind)
{
	const struct run_row *run = &slot->run->rows->run;

	if (slot->row == NULL)
		return NULL;
	if (kind == GIT_CHECKOUT && slot->row->base_commit == NULL && run->base_commit == NULL)
		return slot_head(slot);
	if (kind == GIT_INSPECT_HEAD || (kind == GIT_COMMIT && slot->row->worktree == NULL))
		return slot_head(slot);
	/* the branch is that of the result: made before, and to stay */
	if ((kind == GIT_WORKTREE_ADD || kind == GIT_WORKTREE_REMOVE) && slot->row->slot == 0)
		return NULL;
	if (kind == GIT_WORKTREE_ADD && slot->row->base_commit == NULL)
		return slot_plan(slot)->integrate == INTEGRATE_MERGE && run->result_commit != NULL ?
		    run->result_commit : run->base_commit;
	/* merged work needs no branch of its own any more */
	if (kind == GIT_MERGE || (kind == GIT_WORKTREE_REMOVE && slot_is_merged(slot)))
		return slot->row->commit_id;
	return slot->row->base_commit != NULL ? slot->row->base_commit : run->base_commit;
}

/* The work tree of the task: where git works, and what others are created from. */
char *git_dir(const struct slot *slot, enum git_op_kind kind)
{
	const struct run *run = slot->run;

	if (kind == GIT_CHECKOUT || (kind == GIT_PREPARE && slot_prepares_room(slot)) ||
	    (kind == GIT_VERIFY && slot_has_checkout(slot)))
		return dirs_checkout(run->engine->state_dir, slot->row);
	if (kind == GIT_WORKTREE_ADD || kind == GIT_WORKTREE_DELETE)
		return dirs_worktree(run->engine->state_dir, slot->row);
	return kind == GIT_MERGE || kind == GIT_WORKTREE_REMOVE || kind == GIT_PREPARE ?
	    xstrdup(slot->row->worktree) : NULL;
}

/* The files that judge the work of the slot. */
static char **judging_files(const struct slot *slot)
{
	const struct run_row *run = &slot->run->rows->run;
	const struct plan *plan = slot_plan(slot);

	return review_basis_files(&(struct review_basis){ .plan = plan->review ? plan : NULL,
	    .workspace = run->workspace, .subdir = run->subdir, .retry_of = ROW_NONE });
}

static bool asks_for_judging(const struct slot *slot, enum git_op_kind kind)
{
	return kind == GIT_MEASURE || kind == GIT_CHECKOUT || (kind == GIT_PREPARE && slot_prepares_room(slot));
}

/* Names of the rooms whose tasks have not ended. */
static char **rooms_in_use(const struct run *run)
{
	char **names = NULL;

	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;
		char *dir;

		if (slot_row_is_free(row))
			continue;
		dir = dirs_checkout(run->engine->state_dir, row);
		strings_append(&names, strrchr(dir, '/') + 1);
		free(dir);
	}
	return names;
}

static bool reuses_room(const struct slot *slot, enum git_op_kind kind)
{
	return (kind == GIT_CHECKOUT || (kind == GIT_PREPARE && slot_prepares_room(slot))) &&
	    slot_reuses_room(slot);
}

void git_begin(struct slot *slot, enum git_op_kind kind)
{
	struct run *run = slot->run;
	const struct run_row *row = &run->rows->run;
	const char *state_dir = run->engine->state_dir;
	bool in_repository = kind == GIT_WORKTREE_ADD || kind == GIT_MERGE ||
	    kind == GIT_WORKTREE_REMOVE || slot->row == NULL;
	char *setup = kind == GIT_PREPARE ? setup_key(slot) : NULL;
	char **rooms = kind == GIT_CHECKOUT ? rooms_in_use(run) : NULL;
	char **judging = asks_for_judging(slot, kind) ? judging_files(slot) : NULL;
	char **copy = brings_copies(slot, kind) ? copy_patterns(slot) : NULL;
	char **artifacts = run_artifacts(run), **shared = kind == GIT_COMPARE_REFS || kind == GIT_FIND_EDITS ?
	    slot_written_paths(slot) : slot_shared_paths(slot);
	char *scratch = dirs_scratch(state_dir, row->id, slot->row), *moves = dirs_moves(state_dir, row->id);
	char *evidence = row->evidence != NULL ? dirs_evidence(state_dir, row->evidence) : NULL;
	char *ref = git_ref(slot, kind), *message = message_of(slot, kind), *dir = git_dir(slot, kind);
	char *branch = kind == GIT_WORKTREE_ADD ? git_branch(slot) :
	    xstrdup(slot->row != NULL ? slot->row->branch : row->result_branch);
	char *keep = kind == GIT_MERGE ? git_keep_ref(slot) : NULL,
	    *note = kind == GIT_MERGE ? git_note_ref(slot) : NULL;
	/* a retry begins with what the run before it had */
	bool begins = slot->row == NULL && !run_is_prepared(run) && (kind == GIT_SNAPSHOT || kind == GIT_BASE);
	struct run_continuation from = { .run = ROW_NONE };
	char **refs = kind == GIT_PIN || kind == GIT_COMPARE_REFS ? recorded_refs(run->rows) : NULL;
	int continues = begins ? run_continuation_from_json(row->start, &from) : -1;
	struct git_op_spec spec = {
		.basis = begins ? run->basis : NULL,
		.kind = kind,
		.workspace = in_repository ? row->workspace : slot_workspace(slot),
		.repository = in_repository || slot->row->worktree == NULL ? NULL : row->workspace,
		/* the work tree is the slot's, not the voter's */
		.room_only = kind == GIT_VERIFY && slot_is_voter(slot),
		.scratch = scratch,
		.evidence = evidence,
		.explains = kind == GIT_CHECKOUT && slot->row->base == BASE_CHECKING,
		.reuses = reuses_room(slot, kind),
		.rooms = rooms,
		.displaces = kind == GIT_CHECKOUT && !slot_row_is_beside(slot->row),
		.settings_kept = row->settings_kept == 1 || run_is_prepared(run),
		.tree = tree_of(slot, kind),
		.base = kind == GIT_MERGE ? row->base_commit : kind == GIT_PREPARE ? slot_prepared_tree(slot) :
		    slot_base_tree(slot),
		.judged = begins && from.expected != NULL ? from.expected : judged_tree(slot, kind),
		.settings = kind == GIT_SNAPSHOT && begins ? from.settings : NULL,
		.ref = ref,
		.attributes_tree = row->base_tree,
		.appeared_tree = slot->row != NULL ? slot->row->beside : begins ? from.beside : NULL,
		.dir = dir,
		.name = kind == GIT_BASE ? continues == 0 ? NULL : run->plan.base :
		    slot->row == NULL && (kind == GIT_PIN || kind == GIT_SNAPSHOT) ? "HEAD" : NULL,
		.branch = branch,
		.shared = (kind == GIT_COMMIT && slot->row->worktree == NULL) ||
		    (kind == GIT_VERIFY && run->plan.parallel == 1) || kind == GIT_FIND_EDITS,
		.instance = row->instance,
		.commit = kind == GIT_BASE ? from.base_commit : git_commit_of(slot, kind),
		.base_commit = slot->row != NULL ? slot->row->base_commit : NULL,
		.keep_ref = keep,
		.note_ref = note,
		.known = kind == GIT_BASE ? from.tip : row->result_commit != NULL ? row->result_commit :
		    row->instance != NULL ? row->base_commit : NULL,
		.moves = moves,
		.origin = kind == GIT_MERGE && slot_row_has_own(slot->row) ? slot->row->own_commit : NULL,
		.holds_back = kind == GIT_MERGE && slot_holds_merge_back(slot),
		.onto = kind == GIT_MERGE ? train_last(slot) : NULL,
		.stands = kind == GIT_MERGE && train_stands(slot),
		.refs = refs,
		.message = message,
		.copy = copy,
		.setup = setup,
		.room_base = kind == GIT_PREPARE && slot_prepares_room(slot) ? slot_base_tree(slot) : NULL,
		.keep = setup != NULL && slot->row->setup > 0,
		.copied = setup != NULL ? slot->row->copied_hash : NULL,
		.setup_inputs = setup != NULL ? slot_plan(slot)->setup_inputs : NULL,
		.disk_floor = setup != NULL ? slot_plan(slot)->disk_floor_bytes : 0,
		.artifacts = artifacts,
		.may_change = kind == GIT_VERIFY ? slot_plan(slot)->may_change : NULL,
		.protect = kind == GIT_MEASURE && slot_plan(slot)->review ? slot_plan(slot)->protect : NULL,
		.judging = judging,
		.shared_paths = shared,
		/* work done before they joined stays part of it */
		.shared_paths_tree = slot->row != NULL && slot->row->tree != NULL ?
		    slot->row->tree : slot_base_tree(slot),
	};

	slot->op.git_kind = kind;
	slot->op.shared_count = strings_count(shared);
	slot->op.of_source = false;
	if (slot->row != NULL && turn_is_taken(slot)) {
		activity_wait(&slot->activity, ACTIVITY_TURN);
	} else {
		slot->op.has_turn = turn_is_needed(kind);
		slot->op.put_off = false;
		operation_free(&slot->op);
		slot->op.git = git_op_new(&spec);
		step_first(slot);
	}
	run_continuation_release(&from);
	free(moves);
	free(setup);
	free(note);
	free(keep);
	free(branch);
	free(dir);
	free(message);
	free(ref);
	free(evidence);
	free(scratch);
	strings_free(refs);
	strings_free(judging);
	strings_free(copy);
	strings_free(rooms);
	strings_free(shared);
	strings_free(artifacts);
}
