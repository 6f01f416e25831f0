/* SPDX-License-Identifier: MIT */
/* Before the first iteration: the task's text from the store, the run's directory,
 * then the base. */
#include "run/preparation.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/chain.h"
#include "core/continuation.h"
#include "core/row.h"
#include "core/run.h"
#include "core/state.h"
#include "evidence/product.h"
#include "git/git_op.h"
#include "job/prepare_run_dir.h"
#include "job/review_basis.h"
#include "model/activity.h"
#include "model/job.h"
#include "model/judge_read.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "model/text_read.h"
#include "proto/memory.h"
#include "run/lifecycle.h"
#include "slot/git_request.h"
#include "slot/wait.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* The operation that records what the work is compared with, and what work trees are
 * created from. */
static enum git_op_kind base_op(const struct run *run)
{
	/* a shared tree must be as the run before has left it */
	bool named = run->plan.base != NULL && run->rows->run.start == NULL;

	return run->plan.isolation == ISOLATION_WORKTREE || named ? GIT_BASE : GIT_SNAPSHOT;
}

/* The files that are compared with the last commit. */
static void take_basis(struct run *run, const struct judge_row *judge)
{
	json_t *list = judge->files != NULL ? json_loads(judge->files, 0, NULL) : NULL, *line;
	size_t i;

	strings_free(run->basis);
	run->basis = NULL;
	json_array_foreach(list, i, line)
		strings_append(&run->basis, json_string_value(line));
	json_decref(list);
}

static void open_cb(void *arg, struct job *job)
{
	struct prepare_run_dir_job *w = (struct prepare_run_dir_job *)job;
	struct slot *slot = slot_at_job(arg, w->key);
	struct run *run;
	struct txn *txn;
	char hex[DIGEST_HEX];
	bool go_on, blocked = job->fault != 0 && (w->error != NULL || w->warnings != NULL);

	if (slot == NULL) {
		job_free(job);
		return;
	}
	run = slot->run;
	activity_end(&slot->activity);
	if (w->judge != NULL)
		take_basis(run, w->judge);
	go_on = !run_cancelling(run) && w->error == NULL && run->rows->run.has_git == 1;
	if (go_on && w->warnings == NULL && w->judge == NULL) {
		git_begin(slot, base_op(run));
		job_free(job);
		return;
	}
	txn = txn_new(run->engine);
	if (blocked && !run_cancelling(run)) {
		slot_wait(txn, slot, WAIT_HOST, job->fault, w->error != NULL ? w->error : w->warnings[0]);
		txn_commit(txn);
		job_free(job);
		return;
	}
	if (w->judge != NULL && w->error == NULL) {
		txn_put(txn, ROW_JUDGE, w->judge);
		record_hash(ROW_JUDGE, w->judge, hex);
		text_set(&txn_edit_run(txn, run)->judge_hash, hex);
	}
	for (char **warning = w->warnings; warning != NULL && *warning != NULL; warning++)
		run_warn(txn, run, *warning);
	if (go_on) {
		txn_effect(txn, EFFECT_GIT, run, slot, (int64_t)base_op(run));
		txn_commit(txn);
		job_free(job);
		return;
	}
	if (run->rows->run.wait == WAIT_HOST)
		slot_wait_over(txn, slot);
	if (run_cancelling(run))
		run_event(txn, run, RUN_E_CANCELLED, NO_CAUSE);
	else if (w->error != NULL)
		run_event(txn, run, RUN_E_FAILED, CAUSE(END_ERROR, w->error));
	else
		run_event(txn, run, RUN_E_PREPARED, NO_CAUSE);
	txn_commit(txn);
	job_free(job);
}

/* text NULL: not a prompt; the text of each task is written when its first attempt starts. */
static void open_run_dir(struct run *run, const char *text, size_t size)
{
	struct prepare_run_dir_job *w = xcalloc(1, sizeof(*w));

	w->key = slot_key(&run->own);
	w->run = run->rows->run.id;
	w->workspace = xstrdup(run->rows->run.workspace);
	w->workdir = xstrdup(run->rows->run.workdir);
	w->has_git = run->rows->run.has_git == 1;
	w->plan = &run->plan;
	w->review_plan = review_basis_plan(&run->plan, run->rows->tasks, run->rows->ntasks, &w->task_plan);
	w->reads_judge = run->unjudged;
	w->subdir = xstrdup(run->rows->run.subdir);
	w->retry_of = run->rows->run.retry_of;
	w->artifacts = run_artifacts(run);
	w->text = text != NULL ? xmemdup0(text, size) : NULL;
	w->text_size = size;
	engine_job(run->engine, &w->job, &prepare_run_dir_type, open_cb, run->engine);
}

static void take_prompt(struct slot *slot, const char *text, size_t size)
{
	struct run *run = slot->run;

	if (text == NULL)
		log_bug("run %lld has no task text", (long long)run->rows->run.id);
	open_run_dir(run, text != NULL ? text : "", size);
}

static void take_judge(struct slot *slot, struct judge_row *judge)
{
	struct run *run = slot->run;

	/* one that was removed is not read again: no agent starts without it */
	run->unjudged = judge == NULL && run->rows->run.judge_hash == NULL;
	if (judge != NULL)
		take_basis(run, judge);
	row_free(ROW_JUDGE, judge);
	if (run_source(run) == SOURCE_PROMPT)
		text_read(slot, run->rows->tasks[0]->id, take_prompt);
	else
		open_run_dir(run, NULL, 0);
}

void run_prepare(struct run *run)
{
	activity_start_job(&run->own.activity);
	judge_read(&run->own, take_judge);
}

static void warn_of_modified_basis(struct txn *txn, const struct slot *slot)
{
	const char *names = git_op_modified_basis(slot->op.git);
	char *text;

	if (names == NULL)
		return;
	text = xasprintf("the criteria for reviews of this run differ from the last commit: %s; "
	    "check these changes, and commit those you want to keep", names);
	run_warn(txn, slot->run, text);
	free(text);
}

/* From here on agents of the run may change the settings of the repository: runs that wait go by
 * the copies made for this one. */
static void keep_settings(struct txn *txn, struct run *run)
{
	struct run *other;

	LIST_FOREACH(other, &run->engine->runs, entry) {
		const struct run_row *row = &other->rows->run;

		if (other != run && object_is(row->evidence, run->rows->run.evidence) && row->settings_kept != 1 &&
		    !run_is_prepared(other) && !run_state_is_end((enum run_state)row->state))
			txn_edit_run(txn, other)->settings_kept = 1;
	}
}

/* Whether all that differs is the project file. */
static bool is_project_file(const struct run *run, const char *names)
{
	const char *subdir = run->rows->run.subdir;
	char *file = subdir == NULL || subdir[0] == '\0' ? xstrdup(PROJECT_FILE) :
	    xasprintf("%s/" PROJECT_FILE, subdir);
	bool is = text_equal(names, file);

	free(file);
	return is;
}

/* The directory is not what the run before has left: what is in it has no verdict, and who changed
 * it is unknown. */
static bool is_refused(struct txn *txn, struct run *run)
{
	const struct git_op *git = run->own.op.git;
	struct run_continuation from;
	const char *names;
	bool differs;
	char *cause;

	if (run->own.op.git_kind != GIT_SNAPSHOT || run_continuation_from_json(run->rows->run.start, &from) == -1)
		return false;
	names = git_op_differing(git);
	differs = from.expected != NULL && !object_is(from.expected, git_op_tree(git)) &&
	    (from.settings == NULL || names != NULL);
	if (differs) {
		bool new_setup = is_project_file(run, names);

		cause = xasprintf("%s is no longer as run %lld left it%s%s: restore it and retry the run, or "
		    "%s with `rlctl retry %s %lld`", run->rows->run.workspace, (long long)from.run,
		    names != NULL ? " in " : "", names != NULL ? names : "",
		    new_setup ? "continue by its new set-up" : "start over",
		    new_setup ? "--new-setup" : "--from-scratch", (long long)from.run);
		run_event(txn, run, RUN_E_FAILED, CAUSE(END_DIFFERS, cause));
		free(cause);
	}
	run_continuation_release(&from);
	return differs;
}

/* The settings that a retry has read are a user's, and no part of the work. */
static void take_settings(struct txn *txn, struct run *run)
{
	const char *beside = git_op_appeared_tree(run->own.op.git);
	struct run_continuation from;
	char *text;

	if (beside == NULL || run_continuation_from_json(run->rows->run.start, &from) == -1)
		return;
	text = xasprintf("%s was changed since run %lld, and is no part of its work", from.settings,
	    (long long)from.run);
	run_warn(txn, run, text);
	free(text);
	text_set(&from.beside, beside);
	text = run_continuation_to_json(&from);
	text_set(&txn_edit_run(txn, run)->start, text);
	free(text);
	run_continuation_release(&from);
}

/* The base of the run before: what work trees start from, and the results so far. */
static void take_start(struct run *run, struct run_row *row)
{
	struct run_continuation from;

	if (run_continuation_from_json(row->start, &from) == -1)
		return;
	if (from.base_tree != NULL)
		text_set(&row->base_tree, from.base_tree);
	if (run->plan.isolation == ISOLATION_WORKTREE && row->result_branch != NULL && from.tip != NULL) {
		text_set(&row->result_commit, from.tip);
		row->result_ref = xasprintf("refs/heads/%s", row->result_branch);
	}
	run_continuation_release(&from);
}

/* Their files are read by no snapshot. */
static void warn_of_modules(struct txn *txn, struct slot *slot)
{
	const char *names = git_op_modules(slot->op.git);
	char *text;

	if (names == NULL)
		return;
	text = xasprintf("submodules are checked out: %s; the work has only their commits: a file that an agent "
	    "changes inside is neither reviewed nor part of the result until it is committed there", names);
	run_warn(txn, slot->run, text);
	free(text);
}

void run_git_done(struct txn *txn, struct run *run)
{
	struct slot *slot = &run->own;
	const struct git_op *git = slot->op.git;
	struct run_row *row;

	if (run_is_prepared(run)) {
		text_set(&run->iteration_tree, git_op_tree(git));
		text_set(&run->iteration_head, git_op_commit(git));
		text_set(&run->iteration_head_at, git_op_head_at(git));
		txn_effect(txn, EFFECT_LOAD, run, slot, ROW_NONE);
		return;
	}
	if (is_refused(txn, run))
		return;
	keep_settings(txn, run);
	row = txn_edit_run(txn, run);
	if (slot->op.git_kind == GIT_SNAPSHOT) {
		text_set(&row->base_tree, git_op_tree(git));
		text_set(&row->head, git_op_commit(git));
		text_set(&row->head_at, git_op_head_at(git));
		take_start(run, row);
		take_settings(txn, run);
		product_base(txn, run);
		warn_of_modified_basis(txn, slot);
		warn_of_modules(txn, slot);
		/* a commit agent's commits are compared with this */
		if (run->plan.commit == COMMIT_MODE_AGENT) {
			txn_effect(txn, EFFECT_GIT, run, slot, GIT_PIN);
			return;
		}
	} else if (slot->op.git_kind == GIT_BASE) {
		warn_of_modified_basis(txn, slot);
		text_set(&row->base_commit, git_op_commit(git));
		text_set(&row->result_branch, git_op_branch(git));
		take_start(run, row);
		/* a work tree has its own base, with file contents as on its disk */
		if (run->plan.isolation != ISOLATION_WORKTREE) {
			text_set(&row->base_tree, git_op_tree(git));
			text_set(&row->head, git_op_head(git));
			text_set(&row->head_at, git_op_head_at(git));
			product_base(txn, run);
		}
	} else {
		text_set(&row->base_commit, git_op_commit(git));
	}
	run_event(txn, run, RUN_E_PREPARED, NO_CAUSE);
}
