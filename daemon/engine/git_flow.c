/* SPDX-License-Identifier: MIT */
/* What git is asked for, and what its answer means for the slot. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"
#include "proto/escape.h"

/* An id as a part of a ref or of a branch: what git or a file system would not have is percent-encoded. */
static char *ref_part(const char *id)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	struct buf b = { 0 };

	for (const char *p = id; *p != '\0'; p++) {
		bool dot = *p == '.' && p > id && p[1] != '\0' && p[1] != '.' && strcmp(p, ".lock") != 0;

		if (dot || (strchr(plain, *p) != NULL && !(*p == '-' && p == id)))
			buf_add(&b, p, 1);
		else
			buf_addf(&b, "%%%02X", (unsigned char)*p);
	}
	return b.data;
}

/* "refs/rl/passed/42/t1" */
static char *ref_name(const struct lane *lane, const char *kind)
{
	char *part = ref_part(lane_task_id(lane)), *ref = xasprintf("refs/rl/%s/%lld/%s", kind, (long long)lane->row->run, part);

	free(part);
	return ref;
}

/* The branch of a slot's work tree. Slot 0 has that of the whole run. Profile "comments" must not know the task. */
static char *branch_name(const struct lane *lane)
{
	const struct plan *plan = lane_plan(lane);
	char *part, *name;

	if (lane->row->slot == 0)
		return xstrdup(lane->run->rows->run.result_branch);
	if (plan->review && plan->profile->no_task)
		return xasprintf("rl/%lld/%lld-%lld", (long long)lane->row->run, (long long)lane->row->iteration, (long long)lane->row->slot);
	part = ref_part(lane_task_id(lane));
	name = xasprintf("rl/%lld/%s", (long long)lane->row->run, part);
	free(part);
	return name;
}

/* path, as seen from the workdir, relative to the workspace; NULL: it is outside. */
static char *in_workspace(const struct run_row *run, const char *path)
{
	size_t n = strlen(run->workspace);

	if (path[0] != '/')
		return run->subdir != NULL && run->subdir[0] != '\0' ? xasprintf("%s/%s", run->subdir, path) : xstrdup(path);
	return strncmp(path, run->workspace, n) == 0 && path[n] == '/' ? xstrdup(path + n + 1) : NULL;
}

static void add_artifacts(char ***list, const struct run_row *run, const struct plan *plan)
{
	const char *const paths[] = { plan->review ? plan->review_file : NULL, plan->review ? plan->review_log : NULL };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *path = paths[i] != NULL ? in_workspace(run, paths[i]) : NULL;

		if (path != NULL && !strings_contain(*list, path))
			strings_append(list, path);
		free(path);
	}
}

char **run_artifacts(const struct run *run)
{
	char **list = NULL;

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

/* Its trailers tell a commit of ours from another's, should the operation begin again. */
static char *commit_message(const struct lane *lane)
{
	const struct task_row *task = lane_task(lane);
	const struct plan *plan = lane_plan(lane);
	const char *id = lane_task_id(lane);

	if (task == NULL)
		return xasprintf("Review of the run\n\nRld-Run: %lld\nRld-Task: %s\n", (long long)lane->row->run, id);
	/* a review that must not know the task comes after this commit */
	if (plan->review && plan->profile->no_task && plan->integrate == INTEGRATE_MERGE)
		return xasprintf("Task %lld\n\nRld-Run: %lld\nRld-Task: %lld\n", (long long)task->position, (long long)lane->row->run, (long long)task->position);
	return xasprintf("%s\n\nRld-Run: %lld\nRld-Task: %s\n", task->title != NULL ? task->title : id, (long long)lane->row->run, id);
}

static char *message_of(const struct lane *lane, enum git_op_kind kind)
{
	switch (kind) {
	case GIT_BASE:
		return xasprintf("rld: uncommitted work at the start of run %lld", (long long)lane->run->rows->run.id);
	case GIT_COMMIT:
	case GIT_COMMITTED:
	case GIT_MERGE:
		return commit_message(lane);
	case GIT_CLEAR:
		return xasprintf("rld: what the work tree of %s had in run %lld\n", lane_task_id(lane), (long long)lane->row->run);
	case GIT_SNAPSHOT:
	case GIT_MEASURE:
	case GIT_VERIFY:
	case GIT_PIN:
	case GIT_CHECKOUT:
	case GIT_WORKTREE:
	case GIT_OPS:
		break;
	}
	return NULL;
}

static char *ref_of(const struct lane *lane, enum git_op_kind kind)
{
	const struct run_row *run = &lane->run->rows->run;

	switch (kind) {
	case GIT_PIN:
		return lane->row == NULL ? xasprintf("refs/rl/base/%lld", (long long)run->id) : ref_name(lane, "passed");
	case GIT_SNAPSHOT:
		return run_is_prepared(lane->run) ? NULL : xasprintf("refs/rl/base/%lld", (long long)run->id);
	case GIT_BASE:
		return xasprintf("refs/rl/base/%lld", (long long)run->id);
	case GIT_MERGE:
		return xasprintf("refs/heads/%s", run->result_branch);
	case GIT_CLEAR:
		return ref_name(lane, "salvage");
	case GIT_MEASURE:
	case GIT_VERIFY:
	case GIT_CHECKOUT:
	case GIT_COMMIT:
	case GIT_WORKTREE:
	case GIT_COMMITTED:
	case GIT_OPS:
		break;
	}
	return NULL;
}

/* MEASURE compares with the base; the others are about the tree under review. */
static const char *tree_of(const struct lane *lane, enum git_op_kind kind)
{
	if (kind == GIT_MEASURE)
		return lane_base_tree(lane);
	return lane->row != NULL ? lane->row->tree : lane->run->rows->run.base_tree;
}

/* What the branch of a work tree is made at: what the others have done so far, where everything is put together. Slot 0 has
 * the branch that they were put on. */
static const char *commit_of(const struct lane *lane, enum git_op_kind kind)
{
	const struct run_row *run = &lane->run->rows->run;

	if (lane->row == NULL)
		return NULL;
	if (kind == GIT_WORKTREE && lane->row->slot == 0)
		return NULL;
	if (kind == GIT_WORKTREE && lane->row->base_commit == NULL)
		return lane_plan(lane)->integrate == INTEGRATE_MERGE && run->result_commit != NULL ? run->result_commit : run->base_commit;
	/* what has been put on the branch of the run needs none of its own any more */
	if (kind == GIT_MERGE || (kind == GIT_CLEAR && lane_is_merged(lane)))
		return lane->row->commit_id;
	return lane->row->base_commit != NULL ? lane->row->base_commit : run->base_commit;
}

/* Merges of a run go one at a time, for each stands on the one before. So does making and removing work trees of a repository: git
 * trips over registrations that another git is just writing. */
static bool excludes(const struct lane *a, const struct lane *b)
{
	bool tree_a = a->git_kind == GIT_WORKTREE || a->git_kind == GIT_CLEAR, tree_b = b->git_kind == GIT_WORKTREE || b->git_kind == GIT_CLEAR;

	if (a->git_kind == GIT_MERGE)
		return b->git_kind == GIT_MERGE && a->run == b->run;
	return tree_a && tree_b && strcmp(a->run->rows->run.workspace, b->run->rows->run.workspace) == 0;
}

static bool waits_for_turn(const struct lane *lane)
{
	struct run *run;

	LIST_FOREACH(run, &lane->run->engine->runs, entry)
		for (size_t i = 0; i < run->nlanes; i++)
			if (run->lanes[i] != lane && run->lanes[i]->has_turn && excludes(lane, run->lanes[i]))
				return true;
	return false;
}

void git_turn_over(struct turn *turn, struct lane *lane)
{
	struct run *run;

	if (!lane->has_turn)
		return;
	lane->has_turn = false;
	LIST_FOREACH(run, &lane->run->engine->runs, entry)
		for (size_t i = 0; i < run->nlanes; i++)
			if (run->lanes[i]->pending == PENDING_TURN && !waits_for_turn(run->lanes[i]))
				turn_act(turn, ACT_GIT, run, run->lanes[i], (int64_t)run->lanes[i]->git_kind);
}

/* The work tree of the task: where git works, and for the others what it is made of. */
static char *dir_of(const struct lane *lane, enum git_op_kind kind)
{
	const struct run *run = lane->run;

	if (kind == GIT_CHECKOUT || (kind == GIT_VERIFY && lane_has_checkout(lane)))
		return work_checkout_dir(run->engine->state_dir, lane->row);
	if (kind == GIT_WORKTREE)
		return work_worktree_dir(run->engine->state_dir, lane->row);
	return kind == GIT_MERGE || kind == GIT_CLEAR ? xstrdup(lane->row->worktree) : NULL;
}

void git_begin(struct lane *lane, enum git_op_kind kind)
{
	struct run *run = lane->run;
	const struct run_row *row = &run->rows->run;
	const char *state_dir = run->engine->state_dir;
	bool in_repository = kind == GIT_WORKTREE || kind == GIT_MERGE || kind == GIT_CLEAR || lane->row == NULL;
	char **artifacts = run_artifacts(run);
	char *attempt = lane->row != NULL && lane->row->attempt != ROW_NONE ? work_attempt_dir(state_dir, lane->row->attempt) : NULL;
	char *scratch = work_scratch_dir(state_dir, row->id, lane->row), *aside = attempt != NULL ? xasprintf("%s/aside", attempt) : NULL;
	char *ref = ref_of(lane, kind), *message = message_of(lane, kind), *dir = dir_of(lane, kind);
	char *branch = kind == GIT_WORKTREE ? branch_name(lane) : lane->row != NULL ? xstrdup(lane->row->branch) : NULL;
	char *keep = kind == GIT_MERGE ? ref_name(lane, "before-merge") : NULL;
	struct git_op_spec spec = {
		.kind = kind,
		.workspace = in_repository ? row->workspace : lane_workspace(lane),
		.scratch = scratch,
		.tree = tree_of(lane, kind),
		.base = lane_base_tree(lane),
		.ref = ref,
		.aside = aside,
		.dir = dir,
		.name = kind == GIT_BASE ? run->plan.base : kind == GIT_PIN && lane->row == NULL ? "HEAD" : NULL,
		.branch = branch,
		.commit = commit_of(lane, kind),
		.base_commit = lane->row != NULL ? lane->row->base_commit : NULL,
		.keep_ref = keep,
		.message = message,
		.artifacts = artifacts,
	};

	lane->git_kind = kind;
	lane->asks_source = false;
	if (lane->row != NULL && waits_for_turn(lane)) {
		lane->pending = PENDING_TURN;
	} else {
		lane->has_turn = kind == GIT_MERGE || kind == GIT_WORKTREE || kind == GIT_CLEAR;
		operation_free(&lane->op);
		lane->op.git = git_op_new(&spec);
		step_first(lane);
	}
	free(keep);
	free(branch);
	free(dir);
	free(message);
	free(ref);
	free(aside);
	free(scratch);
	free(attempt);
	strings_free(artifacts);
}

void git_failed(struct turn *turn, struct lane *lane, const char *why)
{
	char *safe = text_escape(why, strlen(why), false);
	char *cause = xasprintf("git %s failed: %s", git_op_names[lane->git_kind], safe);

	git_turn_over(turn, lane);
	if (lane->row == NULL)
		run_event(turn, lane->run, RUN_E_FAILED, cause);
	else if (lane->row->leaving != LEAVING_NOTHING)
		leave_next(turn, lane, cause);
	else
		lane_event(turn, lane, SLOT_E_FAILED, cause);
	free(cause);
	free(safe);
}

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The tree tells what the attempt really did: nothing after a refused permission is a failure, nothing at all is told. */
static enum slot_event weigh(struct turn *turn, struct lane *lane, const char *tree)
{
	const struct slot_row *row = lane->row;
	struct attempt_row *a = run_attempt(lane->run, row->answer);
	bool unchanged = same(tree, row->tree != NULL ? row->tree : lane_base_tree(lane));
	bool denied = a->outcome == TASK_R_DENIED;

	if (denied && unchanged) {
		free(a->cause);
		a->cause = xasprintf("%s process was denied permissions and changed nothing", a->role == ROLE_FIX ? "fixer" : "implementer");
	} else {
		a->outcome = unchanged ? TASK_R_NO_CHANGE : TASK_R_DONE;
	}
	turn_put(turn, ROW_ATTEMPT, a);
	if (denied && unchanged)
		return SLOT_E_FAILED;
	return measured_event(lane_plan(lane), false, lane_plan(lane)->review && lane_plan(lane)->scope == SCOPE_RUN && lane->row->slot != 0);
}

static void measured(struct turn *turn, struct lane *lane, int64_t last_step)
{
	struct slot_row *row = lane->row;
	bool accepted = row->cause != NULL;
	const char *tree = git_op_tree(lane->op.git);
	enum slot_event event = accepted ? measured_event(lane_plan(lane), true, false) : weigh(turn, lane, tree);

	if (event != SLOT_E_FAILED) {
		free(row->previous_tree);
		row->previous_tree = row->tree;
		row->tree = xstrdup(tree);
		row->diff = last_step;
	}
	if (!lane_plan(lane)->review && !accepted && event != SLOT_E_FAILED)
		review_skip(turn, lane, lane_plan(lane)->skip_reason);
	lane_event(turn, lane, event, event == SLOT_E_FAILED ? run_attempt(lane->run, row->answer)->cause : NULL);
}

/* A verdict passed it: from now on the artifact is locked. */
static void pinned(struct turn *turn, struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;
	struct task_row *task = lane_task(lane);

	free(run->result_ref);
	run->result_ref = ref_name(lane, "passed");
	free(run->result_tree);
	run->result_tree = xstrdup(lane->row->tree);
	turn_put(turn, ROW_RUN, run);
	if (task != NULL) {
		free(task->locked_ref);
		task->locked_ref = ref_name(lane, "passed");
		free(task->locked_tree);
		task->locked_tree = xstrdup(lane->row->tree);
		turn_put(turn, ROW_TASK, task);
	}
	lane_event(turn, lane, SLOT_E_PINNED, NULL);
}

static void set_text(char **at, const char *text)
{
	char *copy = xstrdup(text);

	free(*at);
	*at = copy;
}

/* What git has against the result goes to a fixer, while there is a fix round left. Takes why. */
static void send_back(struct turn *turn, struct lane *lane, enum round_end end, char *why)
{
	struct slot_row *row = lane->row;
	bool left = check_classify(row->fix, row->fixes) == ROUND_FINDINGS;

	set_text(&row->obstacle, why);
	/* what was accepted by leave is not accepted as it is now */
	set_text(&row->cause, NULL);
	review_over(turn, lane, left ? ROUND_FINDINGS : end, left ? NULL : why);
	free(why);
}

static void committed(struct turn *turn, struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;
	struct slot_row *row = lane->row;
	const char *refused = git_op_refused(lane->op.git), *commit = git_op_commit(lane->op.git);

	if (refused != NULL) {
		char *safe = text_escape(refused, strlen(refused), true);

		send_back(turn, lane, ROUND_REFUSED, xasprintf("the commit was refused by a hook of the repository:\n\n%s", safe));
		free(safe);
		return;
	}
	/* nothing to commit leaves the branch where it was made */
	set_text(&row->commit_id, commit != NULL ? commit : row->base_commit);
	set_text(&row->obstacle, NULL);
	if (commit == NULL)
		run_warn(turn, lane->run, "nothing was committed: the tree is as it was before");
	else if (lane_plan(lane)->integrate != INTEGRATE_MERGE || row->slot == 0)
		set_text(&run->result_commit, commit);
	turn_put(turn, ROW_RUN, run);
	lane_event(turn, lane, committed_event(lane_plan(lane), lane_passed(lane), row->slot == 0), NULL);
}

/* It stands on what the others have done, or the work tree does, with what does not fit marked in it. */
static void merged(struct turn *turn, struct lane *lane)
{
	struct run *run = lane->run;
	struct slot_row *row = lane->row;
	const char *conflicts = git_op_conflicts(lane->op.git);

	if (conflicts != NULL) {
		char *safe = text_escape(conflicts, strlen(conflicts), false);

		set_text(&row->base_commit, git_op_commit(lane->op.git));
		set_text(&row->base_tree, git_op_base(lane->op.git));
		set_text(&row->tree, git_op_tree(lane->op.git));
		send_back(turn, lane, ROUND_CONFLICT, xasprintf("this work conflicts with that of another task, which has been put on the same branch "
		    "meanwhile: %s. The work tree stands on that branch now, and has this work as changes that are not committed; "
		    "where both changed the same lines there are conflict markers. Resolve them so that both tasks hold.", safe));
		free(safe);
	} else {
		set_text(&run->rows->run.result_commit, git_op_commit(lane->op.git));
		turn_put(turn, ROW_RUN, &run->rows->run);
		turn_tell(turn, "slot.merged", row->run, json_pack("{s:I, s:s, s:s*}", "slot", (json_int_t)row->slot, "task", lane_task_id(lane),
		    "commit", git_op_commit(lane->op.git)));
		lane_event(turn, lane, merged_event(lane_plan(lane), lane_passed(lane)), NULL);
	}
}

void git_lay(struct lane *lane)
{
	struct slot_row *row = lane->row;
	char *dir = dir_of(lane, GIT_WORKTREE);
	char *branch = branch_name(lane);

	set_text(&row->worktree, dir);
	set_text(&row->branch, branch);
	set_text(&row->base_commit, commit_of(lane, GIT_WORKTREE));
	free(branch);
	free(dir);
}

static void laid(struct turn *turn, struct lane *lane)
{
	struct run_row *run = &lane->run->rows->run;
	struct slot_row *row = lane->row;
	enum slot_event event = SLOT_E_LAID;

	if (row->slot == 0) {
		/* the review of the run is about everything since its base */
		set_text(&row->base_commit, run->base_commit);
		set_text(&row->base_tree, run->base_tree);
		event = work_done((int64_t)strings_count(lane_plan(lane)->checks), true);
		event = event == SLOT_E_DONE ? SLOT_E_LAID_REVIEW : event;
	} else {
		set_text(&row->base_commit, git_op_commit(lane->op.git));
		set_text(&row->base_tree, git_op_tree(lane->op.git));
		if (run->base_tree == NULL && same(row->base_commit, run->base_commit)) {
			set_text(&run->base_tree, row->base_tree);
			turn_put(turn, ROW_RUN, run);
		}
	}
	lane_event(turn, lane, event, NULL);
}

/* The work tree is gone, and what only it had is kept. */
static void cleared(struct turn *turn, struct lane *lane)
{
	struct run *run = lane->run;
	const char *commit = git_op_commit(lane->op.git);

	if (commit != NULL) {
		struct salvage_row *s = row_new(ROW_SALVAGE);

		s->id = ++run->engine->last_attempt;
		s->run = run->rows->run.id;
		s->task = xstrdup(lane_task_id(lane));
		s->workspace = xstrdup(run->rows->run.workspace);
		s->ref = ref_name(lane, "salvage");
		s->commit_id = xstrdup(commit);
		s->path = xstrdup(lane->row->worktree);
		s->created_at = engine_now(run->engine);
		turn_put(turn, ROW_SALVAGE, s);
		turn_tell(turn, "salvaged", s->run, json_pack("{s:I, s:s, s:s}", "salvage", (json_int_t)s->id, "task", s->task, "ref", s->ref));
		row_free(ROW_SALVAGE, s);
	}
	leave_next(turn, lane, NULL);
}

void git_done(struct turn *turn, struct lane *lane, int64_t last_step)
{
	struct run_row *run = &lane->run->rows->run;

	git_turn_over(turn, lane);
	switch (lane->git_kind) {
	case GIT_SNAPSHOT:
		if (run_is_prepared(lane->run)) {
			set_text(&lane->run->iteration_tree, git_op_tree(lane->op.git));
			turn_act(turn, ACT_LOAD, lane->run, lane, ROW_NONE);
			break;
		}
		set_text(&run->base_tree, git_op_tree(lane->op.git));
		turn_put(turn, ROW_RUN, run);
		/* an agent that commits is judged by what it puts on top of this */
		if (lane->run->plan.commit == COMMIT_MODE_AGENT)
			turn_act(turn, ACT_GIT, lane->run, lane, GIT_PIN);
		else
			run_event(turn, lane->run, RUN_E_PREPARED, NULL);
		break;
	case GIT_BASE:
		set_text(&run->base_commit, git_op_commit(lane->op.git));
		/* a work tree's own is as its disk has it */
		if (lane->run->plan.isolation != ISOLATION_WORKTREE)
			set_text(&run->base_tree, git_op_tree(lane->op.git));
		run_event(turn, lane->run, RUN_E_PREPARED, NULL);
		break;
	case GIT_WORKTREE:
		laid(turn, lane);
		break;
	case GIT_MEASURE:
		measured(turn, lane, last_step);
		break;
	case GIT_VERIFY:
		review_judge(lane, git_op_changed(lane->op.git), git_op_moved(lane->op.git));
		break;
	case GIT_PIN:
		if (lane->row != NULL) {
			pinned(turn, lane);
			break;
		}
		set_text(&run->base_commit, git_op_commit(lane->op.git));
		run_event(turn, lane->run, RUN_E_PREPARED, NULL);
		break;
	case GIT_CHECKOUT:
		lane_event(turn, lane, SLOT_E_CHECKED_OUT, NULL);
		break;
	case GIT_COMMIT:
	case GIT_COMMITTED:
		committed(turn, lane);
		break;
	case GIT_MERGE:
		merged(turn, lane);
		break;
	case GIT_CLEAR:
		cleared(turn, lane);
		break;
	case GIT_OPS:
		break;
	}
}
