/* SPDX-License-Identifier: MIT */
/* From a decided attempt to a started one: collect its input, and wait while it may not start. */
#include "slot/attempt_start.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/cause.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "core/tasks.h"
#include "evidence/check_evidence.h"
#include "job/build.h"
#include "model/activity.h"
#include "model/briefing.h"
#include "model/job.h"
#include "model/judge_read.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "model/text_read.h"
#include "model/view.h"
#include "proc/launch.h"
#include "prompt/prompt.h"
#include "proto/memory.h"
#include "sched/check_permits.h"
#include "sched/claims.h"
#include "sched/groups.h"
#include "sched/permits.h"
#include "sched/spending.h"
#include "slot/account_wait.h"
#include "slot/attempt.h"
#include "slot/attempt_report.h"
#include "slot/base_check.h"
#include "slot/baseline.h"
#include "slot/dismissed.h"
#include "slot/disputed.h"
#include "slot/edits.h"
#include "slot/finding_report.h"
#include "slot/left_out.h"
#include "slot/open_question.h"
#include "slot/retry.h"
#include "slot/review_rows.h"
#include "task/task_op.h"
#include "txn/emit.h"
#include "txn/txn.h"

/* A cancelled attempt that was never started. */
static void end_unstarted(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);

	attempt_unstarted(txn, slot);
	txn_commit(txn);
}

#define FLOOR_WAIT_MS 2000

static void build_cb(void *arg, struct job *job);
static struct job *build_new(struct slot *slot, struct briefing *briefing);
static bool passes(struct slot *slot);

/* Too little free space: try again, with the texts in w, and record the reason in the slot. */
static void wait_for_space(struct slot *slot, struct build_job *w)
{
	const char *why = w->floor;
	struct engine *engine = slot->run->engine;
	const struct slot_row *row = slot->row;
	struct txn *txn;

	if (!slot_has_reason(row, REASON(WAIT_SPACE, why))) {
		txn = txn_new(engine);
		slot_set_reason(txn_edit_slot(txn, slot), REASON(WAIT_SPACE, why));
		slot_emit_phase(txn, slot);
		txn_commit(txn);
		log_about(LOG_LEVEL_WARN, row->run, 0, "run %lld slot %lld: %s", (long long)row->run,
		    (long long)row->slot, why);
	}
	engine_job_later(engine, FLOOR_WAIT_MS, build_new(slot, &w->briefing), &build_type, build_cb, engine);
}

/* The slot no longer waits for space. */
static void space_is_back(struct slot *slot)
{
	const struct slot_row *row = slot->row;
	struct txn *txn;

	if (row->wait_kind != WAIT_SPACE)
		return;
	txn = txn_new(slot->run->engine);
	slot_set_reason(txn_edit_slot(txn, slot), NO_REASON);
	slot_emit_phase(txn, slot);
	txn_commit(txn);
}

/* Commit what the attempt is given; then it is started. */
static void commit_given(struct slot *slot, struct build_job *w)
{
	const struct attempt_row *row = run_attempt(slot->run, w->attempt.id);
	bool told = w->left_out == NULL || (row->left_out != NULL && strcmp(row->left_out, w->left_out) == 0);
	struct txn *txn = txn_new(slot->run->engine);
	struct attempt_row *a = txn_edit_attempt(txn, row);

	text_set(&a->prompt_hash, w->prompt_hash);
	text_set(&a->diff_hash, w->diff_hash);
	a->diff = w->diff_hash != NULL ? slot->row->diff : ROW_NONE;
	text_set(&a->task_hash, w->task_hash);
	text_set(&a->judge_hash, role_is_command((enum role)a->role) ? NULL : w->run.judge_hash);
	text_set(&a->given_hash, w->given_hash);
	text_set(&a->program, w->program);
	text_set(&a->program_hash, w->program_hash);
	text_set(&a->program_version, w->version);
	if (w->left_out != NULL) {
		text_set(&a->left_out, w->left_out);
		a->left_out_files = w->left_out_files;
		a->diff_bytes = w->diff_bytes;
		a->diff_shown = w->diff_shown;
	}
	if (!told)
		left_out_warn(txn, slot, a);
	launch_free(slot->launch);
	slot->launch = w->launch;
	w->launch = NULL;
	activity_end(&slot->activity);
	txn_effect(txn, EFFECT_LAUNCH, slot->run, slot, a->id);
	txn_commit(txn);
}

void attempt_launch(struct slot *slot)
{
	struct engine *engine = slot->run->engine;
	struct launch *launch = slot->launch;

	slot->launch = NULL;
	if (launch == NULL || slot->row->attempt != launch->id || !passes(slot)) {
		/* as in build_cb() */
		launch_free(launch);
		return;
	}
	activity_start_attempt(&slot->activity, launch->id);
	engine->ports.start(engine->ports.proc_ctx, launch);
}

static void build_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct build_job *w = (struct build_job *)job;
	struct slot *slot = slot_at_job(engine, w->key);

	if (slot == NULL || slot->row->attempt != w->attempt.id || !passes(slot)) {
		/* it was cancelled or paused, or its account is exhausted: it will be built
		 * again */
		job_free(job);
		return;
	}
	if (w->floor != NULL) {
		wait_for_space(slot, w);
	} else if (w->reviewer_changed != NULL) {
		attempt_reviewer_changed(slot, w->reviewer_changed);
	} else if (w->launch == NULL) {
		attempt_refused(slot, job->fault, w->error);
	} else {
		space_is_back(slot);
		commit_given(slot, w);
	}
	job_free(job);
}

#define MERGED_TREE \
	"The work tree now has this work, as uncommitted changes, merged with that of other tasks. " \
	    "Change it so that all of them work."

/* Instructions other than the task: the newest feedback counts; a human's precedes a check's, a
 * check's a reviewer's. */
static void set_follow_up(struct build_job *w, const struct slot *slot)
{
	const struct slot_row *row = slot->row;
	const struct review_row *last = review_last(slot);
	const struct finding_row *item = row->item > 0 ? review_finding(slot, row->item) : NULL;
	bool fix = w->attempt.role == ROLE_FIX;

	w->follow_up_output = ROW_NONE;
	if (row->message != NULL) {
		w->follow_up = xstrdup(row->message);
		w->follow_up_from = "human";
	} else if (fix && row->failed_check != ROW_NONE) {
		const struct attempt_row *check = run_attempt(slot->run, row->failed_check);

		const struct evidence_row *base = check_on_base(slot, check->agent);
		bool red = slot_plan(slot)->check_on_base != CHECK_ON_BASE_SKIP && base != NULL &&
		    base->result == EVIDENCE_RED;

		w->follow_up = xasprintf("`%s`: %s%s%s", check->agent, check->cause, red ?
		    "\nThis check fails on the base as well, without the work on this task." : "",
		    row->merge == MERGE_SENT_BACK ? "\n" MERGED_TREE : "");
		w->follow_up_from = "check";
		w->follow_up_output = check->id;
	} else if (fix && row->obstacle != NULL) {
		w->follow_up = xstrdup(row->obstacle);
		w->follow_up_from = "git";
	} else if (last != NULL && strcmp(last->decision, slot_plan(slot)->profile->findings_word) == 0) {
		w->follow_up = fix && item != NULL ? review_issue(item) : xstrdup(last->feedback);
		w->follow_up_from = "review";
	} else if (w->attempt.role == ROLE_IMPLEMENT) {
		w->follow_up = base_red(slot, &w->follow_up_output);
		w->follow_up_from = "base";
	}
}

/* The newest work of the slot before that review. ROW_NONE: the answer under review, which has its
 * own section, or none. */
static int64_t answer_before(const struct slot *slot, const struct review_row *review)
{
	const struct run_rows *rows = slot->run->rows;
	const struct attempt_row *reviewing = run_rows_reviewing(rows, review);
	int64_t found = ROW_NONE;

	for (size_t i = 0; reviewing != NULL && i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];

		if ((a->role == ROLE_IMPLEMENT || a->role == ROLE_FIX) &&
		    slot_has_attempt(slot, a) && a->id < reviewing->id && a->answer_hash != NULL &&
		    (found == ROW_NONE || a->id > found))
			found = a->id;
	}
	return found != slot->row->answer ? found : ROW_NONE;
}

static void copy_history(struct build_job *w, const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;
	int64_t answer;

	w->history = xcalloc(rows->nreviews, sizeof(*w->history));
	w->answers = xcalloc(rows->nreviews, sizeof(*w->answers));
	w->answer_hashes = xcalloc(rows->nreviews, sizeof(*w->answer_hashes));
	for (size_t i = 0; i < rows->nreviews; i++) {
		/* of a panel its decisions */
		if (strcmp(rows->reviews[i]->task_id, slot_task_id(slot)) != 0 || rows->reviews[i]->reviewer != NULL)
			continue;
		w->answers[w->nhistory] = answer = answer_before(slot, rows->reviews[i]);
		if (answer != ROW_NONE)
			w->answer_hashes[w->nhistory] = xstrdup(run_attempt(slot->run, answer)->answer_hash);
		row_init(ROW_REVIEW, &w->history[w->nhistory]);
		row_assign(ROW_REVIEW, &w->history[w->nhistory++], rows->reviews[i]);
	}
}

/* The conversation to resume, NULL: a new one. */
static char *session_of(const struct slot *slot)
{
	const struct attempt_row *a = run_attempt(slot->run, slot->row->attempt);

	return a->resumes != ROW_NONE ? xstrdup(run_attempt(slot->run, a->resumes)->session) : NULL;
}

static void set_interruption(struct build_job *w, const struct slot *slot)
{
	const struct attempt_row *before = attempt_interrupted(slot, &w->attempt);

	w->interrupted = before != NULL;
	if (before != NULL && before->state != ATTEMPT_S_LOST)
		w->interruption = xstrdup(before->cause);
}

/* Tasks that an agent may pick. NULL: it has its task. */
static char *offer_of(const struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;
	enum task_wait *waits;
	struct buf b = { 0 };

	if (slot->row->task != NULL || slot_is_whole(slot) || slot_is_beside(slot))
		return NULL;
	waits = task_waits(rows->tasks, rows->ntasks);
	buf_adds(&b,
	    "Choose exactly one of these tasks. Claim it with `bd update ID --claim` if bd is "
	    "available, name it on a separate line, `Updated task: ID`, and do it. If there is "
	    "nothing to do, write `no_beads_available` on a separate line.\n\n");
	for (size_t i = 0; i < rows->ntasks; i++) {
		const struct task_row *task = rows->tasks[i];

		if (waits[i] != TASK_W_NOTHING || run_is_claimed_elsewhere(slot->run, task->id))
			continue;
		buf_addf(&b, "- %s", task->id);
		if (task->priority != ROW_NONE)
			buf_addf(&b, " (priority %lld)", (long long)task->priority);
		buf_addf(&b, ": %s\n", task->title != NULL ? task->title : "");
	}
	free(waits);
	return b.data;
}

static bool shares_tree(const struct slot *slot)
{
	size_t working = 0;

	for (size_t i = 0; i < slot->run->nslots; i++)
		working += !slot_is_beside(slot->run->slots[i]) &&
		    activity_has_begun(&slot->run->slots[i]->activity);
	return working > 1 && slot_plan(slot)->isolation != ISOLATION_WORKTREE;
}

static int64_t says_no_change(const struct slot *slot)
{
	const struct attempt_row *answer = slot->row->answer != ROW_NONE ?
	    run_attempt(slot->run, slot->row->answer) : NULL;

	if (answer == NULL || answer->role != ROLE_IMPLEMENT)
		return ROW_NONE;
	return answer->says_no_change == 1;
}

/* Takes ownership of the content of briefing. */
static struct job *build_new(struct slot *slot, struct briefing *briefing)
{
	struct run *run = slot->run;
	const struct task_row *task = slot_task(slot);
	struct build_job *w = xcalloc(1, sizeof(*w));

	row_init(ROW_RUN, &w->run);
	row_init(ROW_SLOT, &w->slot);
	row_init(ROW_ATTEMPT, &w->attempt);
	row_init(ROW_TASK, &w->task);
	row_assign(ROW_RUN, &w->run, &run->rows->run);
	row_assign(ROW_SLOT, &w->slot, slot->row);
	if (w->slot.answer == ROW_NONE)
		w->slot.answer = slot->row->earlier_answer;
	/* the hash of an earlier run's answer is not known here */
	text_set(&w->slot.answer_hash, slot->row->answer != ROW_NONE ?
	    run_attempt(run, slot->row->answer)->answer_hash : NULL);
	row_assign(ROW_ATTEMPT, &w->attempt, run_attempt(run, slot->row->attempt));
	if (task != NULL)
		row_assign(ROW_TASK, &w->task, task);
	else
		w->task.id = xstrdup(slot_task_id(slot));
	w->key = slot_key(slot);
	w->plan = slot_plan(slot);
	w->limits = w->plan->clocks[w->attempt.role];
	w->disk_floor = w->plan->disk_floor_bytes;
	w->briefing = *briefing;
	*briefing = (struct briefing){ 0 };
	w->offer = offer_of(slot);
	w->shared_tree = shares_tree(slot);
	set_follow_up(w, slot);
	w->findings = review_findings_json(slot);
	w->dismissed = dismissed_text(slot);
	if (w->attempt.role == ROLE_REVIEW)
		w->disputed = disputed_text(slot);
	/* a check, git or a human cannot be argued with */
	else if (w->attempt.role == ROLE_FIX && w->follow_up_from != NULL && strcmp(w->follow_up_from, "review") == 0)
		w->disputed = disputed_offer(slot);
	copy_history(w, slot);
	w->session = session_of(slot);
	if (attempt_is_asked(slot, &w->attempt))
		w->asked = xstrdup(slot->row->asked_why);
	w->goes_on = question_goes_on(slot, &w->attempt);
	set_interruption(w, slot);
	w->says_no_change = says_no_change(slot);
	w->time_left_ms = run_time_left(run);
	return &w->job;
}

/* ---- the texts that it is told ---- */

/* Whether the role of the slot's attempt sees all stories: as in the profile, and in a review of
 * the whole run if it may see tasks. */
static bool needs_stories(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);
	enum role role = (enum role)run_attempt(slot->run, slot->row->attempt)->role;
	bool whole = slot_is_whole(slot) && slot->row->task == NULL;

	if (run_source(slot->run) == SOURCE_PROMPT)
		return false;
	if (whole && (role_is_command(role) || !plan->profile->no_task))
		return true;
	return (role == ROLE_REVIEW || role == ROLE_FIX) && (prompt_sees(plan->profile, role) & PART_STORIES) != 0;
}

static void list_stories(struct slot *slot)
{
	const struct run_rows *rows = slot->run->rows;

	slot->briefing.stories = xcalloc(rows->ntasks, sizeof(*slot->briefing.stories));
	for (size_t i = 0; i < rows->ntasks; i++)
		slot->briefing.stories[slot->briefing.nstories++] = (struct story){
		    .id = xstrdup(rows->tasks[i]->id), .title = xstrdup(rows->tasks[i]->title),
		    .hash = xstrdup(rows->tasks[i]->text_hash) };
}

static void briefing_text(struct slot *slot, const char *text, size_t size);
static void briefing_judge(struct slot *slot, struct judge_row *judge);

/* What judges tells reviewers and, with the guidelines, fixers. */
static bool needs_judge(const struct slot *slot)
{
	return !role_is_command((enum role)run_attempt(slot->run, slot->row->attempt)->role) &&
	    !slot->briefing.judge_is_read;
}

/* The texts are read one after the other; then the attempt is built. */
static void briefing_read(struct slot *slot)
{
	struct run *run = slot->run;
	const char *id = NULL;

	if (slot->briefing_next == 0)
		id = slot->row->task;
	else if (slot->briefing_next <= slot->briefing.nstories)
		id = slot->briefing.stories[slot->briefing_next - 1].id;
	if (id != NULL)
		text_read(slot, id, briefing_text);
	else if (needs_judge(slot))
		judge_read(slot, briefing_judge);
	else
		engine_job(run->engine, build_new(slot, &slot->briefing), &build_type, build_cb, run->engine);
}

static void briefing_text(struct slot *slot, const char *text, size_t size)
{
	struct briefing *briefing = &slot->briefing;
	char *copy = text != NULL ? xmemdup0(text, size) : xstrdup("");

	if (slot->briefing_next == 0) {
		briefing->text = copy;
		briefing->size = size;
	} else {
		briefing->stories[slot->briefing_next - 1].text = copy;
	}
	slot->briefing_next++;
	briefing_read(slot);
}

static void briefing_judge(struct slot *slot, struct judge_row *judge)
{
	slot->briefing.judge = judge;
	slot->briefing.judge_is_read = true;
	briefing_read(slot);
}

/* The run's budget is spent, so the slot's attempt ends before it starts. */
static bool overspends(struct slot *slot)
{
	char spent[RUN_SPENT_MAX], *cause;
	struct txn *txn;

	attempt_spent(slot, run_attempt(slot->run, slot->row->attempt), spent);
	if (spent[0] == '\0')
		return false;
	txn = txn_new(slot->run->engine);
	cause = xasprintf(RUN_LIMIT "%s", spent);
	log_about(LOG_LEVEL_WARN, slot->row->run, 0, "run %lld slot %lld: %s", (long long)slot->row->run,
	    (long long)slot->row->slot, cause);
	attempt_forgone(txn, slot, CAUSE(END_LIMIT, cause));
	txn_commit(txn);
	free(cause);
	return true;
}

/* The run or its group. */
static bool is_paused(const struct run *run)
{
	const struct run_row *row = &run->rows->run;

	return row->state != RUN_S_RUNNING || view_run(run->engine->view, row->id)->run.state == RUN_S_PAUSED ||
	    group_is_paused(run->engine, row->group);
}

/* Another slot may have its permit, or what the run keeps for it. */
static void lend_permit(struct slot *slot)
{
	struct run *run = slot->run;

	if (!slot->has_permit && (!run->own.has_permit || run->own.activity.kind != ACTIVITY_NONE))
		return;
	queue_give(slot->has_permit ? slot : &run->own);
	effect_schedule_now(run->engine);
}

/* Nothing starts while the run or its group is paused, nor without a permit. A set-up and a check
 * of a merge or of the base are no agent's work. */
static bool waits_for_permit(struct slot *slot)
{
	struct run *run = slot->run;

	if (slot_spares_permit(slot) && !is_paused(run)) {
		/* what the run keeps is for those that work beside the baseline */
		if (slot->has_permit || !slot_is_baseline(slot))
			lend_permit(slot);
		return false;
	}
	if (!slot->has_permit && run->own.has_permit && run->own.activity.kind == ACTIVITY_NONE) {
		run->own.has_permit = false;
		slot->has_permit = true;
		queue_update(run);
	}
	if (slot->has_permit && !is_paused(run))
		return false;
	queue_give(slot);
	queue_want(slot);
	return true;
}

/* The checks before a start. An attempt that does not pass is checked again when something has
 * changed. */
static bool passes(struct slot *slot)
{
	bool cooled = slot->activity.kind == ACTIVITY_ACCOUNT;

	if (slot_ending(slot)) {
		end_unstarted(slot);
		return false;
	}
	if (overspends(slot) || attempt_waits(slot))
		return false;
	if (waits_for_permit(slot)) {
		attempt_queues(slot, cooled);
		effect_schedule_now(slot->run->engine);
		return false;
	}
	if (slot_spares_permit(slot) && slot_checks_merge(slot) && !check_permit_take(slot))
		return false;
	return !attempt_settles(slot);
}

static void briefing_begin(struct slot *slot)
{
	briefing_release(&slot->briefing);
	if (needs_stories(slot))
		list_stories(slot);
	slot->briefing_next = slot->row->task == NULL;
	briefing_read(slot);
}

/* What is known of the base is known; the rest is found out meanwhile. */
static void base_asked(struct slot *slot)
{
	if (!slot_ending(slot))
		baseline_begin(slot);
	briefing_begin(slot);
}

/* Commit what other runs know of the base, before the implementer is told. */
static void base_known(struct slot *slot)
{
	struct txn *txn = txn_new(slot->run->engine);
	bool found = !slot_ending(slot) && base_take(txn, slot);

	if (found) {
		activity_end(&slot->activity);
		txn_effect(txn, EFFECT_BUILD, slot->run, slot, slot->row->attempt);
	}
	txn_commit_or_drop(txn);
	if (!found)
		base_asked(slot);
}

void attempt_build(struct slot *slot)
{
	bool known = slot->edits_known;

	slot->edits_known = false;
	if (!passes(slot))
		return;
	if (!known && edits_can_be_told(slot)) {
		edits_find(slot);
		return;
	}
	activity_start_job(&slot->activity);
	if (!base_ask(slot, base_known))
		base_asked(slot);
}
