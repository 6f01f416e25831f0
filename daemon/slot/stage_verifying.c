/* SPDX-License-Identifier: MIT */
/* VERIFYING: git checks that the tree is still the one under review, then the verdict is read, and
 * both decide the round. Without git there is only the verdict. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/findings.h"
#include "core/nonce.h"
#include "core/quorum.h"
#include "core/plan.h"
#include "core/profile.h"
#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "evidence/evidence.h"
#include "git/git_op.h"
#include "job/read_verdict.h"
#include "job/secrets.h"
#include "model/activity.h"
#include "model/dirs.h"
#include "model/job.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slot_key.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/panel.h"
#include "slot/review_rows.h"
#include "slot/reviewer_failure.h"
#include "slot/round.h"
#include "slot/ruling.h"
#include "slot/shared_paths.h"
#include "slot/stages.h"
#include "slot/wait.h"
#include "txn/emit.h"
#include "txn/txn.h"
#include "verdict/verdict.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

/* ---- the verdict ---- */

/* Result of git, kept while the verdict is read. */
struct judgement {
	struct read_verdict_job job;
	char *changed, *appeared, *edited;
};

/* The round is not over: the same reviewer is asked about its answer. */
static void ask(struct txn *txn, struct slot *slot, const char *why)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	const struct attempt_row *review = run_attempt(slot->run, row->attempt);

	row->asked = review->id;
	text_set(&row->asked_why, why);
	evidence_asked(txn, slot, review);
	txn_emit(txn, "review.asked", row->run, json_pack("{s:I, s:s, s:I, s:I, s:s, s:s}",
	    "slot", (json_int_t)slot_row_work(row), "task", slot_task_id(slot), "round", (json_int_t)row->round,
	    "attempt", (json_int_t)review->id, "by", review->agent, "reason", why));
	slot_warn(txn, slot, "review %lld has no valid answer, and the reviewer is asked once more: %s",
	    (long long)row->round, why);
	round_over(txn, slot, ROUND_ASK, NO_CAUSE);
}

static struct finding_counts append(struct txn *txn, struct slot *slot, const char *decision, const char *feedback,
    const void *said)
{
	return review_append(txn, slot, decision, feedback, said);
}

static void decide(struct txn *txn, struct slot *slot, const struct judgement *j)
{
	const struct plan *plan = slot_plan(slot);
	const struct verdict *v = &j->job.verdict;
	const struct attempt_row *review = run_attempt(slot->run, slot->row->attempt);
	const struct review_facts facts = {
		.verdict = v->kind != VERDICT_NONE,
		.pass = v->kind == VERDICT_PASS,
		.tree_changed = j->changed != NULL && !plan->profile->change_warns,
		.asks = plan->on_malformed == BAD_END_ASK && slot->row->asked == ROW_NONE,
	};
	static const struct verdict none;
	struct ruling ruling = {
		.verdict = facts.verdict,
		.pass = facts.pass,
		.tree_changed = facts.tree_changed,
		.silent = v->silent,
		.feedback = v->feedback,
		.cut = review->left_out != NULL ? review : NULL,
		.append = append,
		.said = v,
	};
	char *violation = NULL;

	if (review_classify(&facts) == ROUND_ASK) {
		ask(txn, slot, v->reason);
		return;
	}
	if (facts.tree_changed)
		violation = xasprintf("reviewer changed the tree: %s", j->changed);
	else if (!facts.verdict)
		violation = xstrdup(v->reason);
	ruling.violation = violation;
	ruling.said = violation != NULL ? &none : v;
	if (slot_is_voter(slot) && facts.pass && violation == NULL && v->silent)
		ruling_warn_of_silence(txn, slot);
	if (slot_is_voter(slot))
		panel_vote(txn, slot, violation != NULL ? VOTE_VIOLATION : ruling.pass ? VOTE_PASS : VOTE_FINDINGS,
		    violation != NULL ? violation : v->feedback, ruling.said);
	else
		ruling_decide(txn, slot, &ruling);
	free(violation);
}

/* What else happened during the review. */
static void warn_of_changes(struct txn *txn, const struct slot *slot, const struct judgement *j)
{
	struct run *run = slot->run;
	char *text;

	if (j->appeared != NULL) {
		text = xasprintf("task %s: these files appeared in %s during the review and are "
		    "not part of the work: %s", slot_task_id(slot), slot_workspace(slot), j->appeared);
		run_warn(txn, run, text);
		free(text);
	}
	if (j->edited != NULL) {
		text = xasprintf("task %s: these files were changed in %s during the review, not by the "
		    "reviewer, and the changes are not part of the work: %s", slot_task_id(slot),
		    slot_workspace(slot), j->edited);
		run_warn(txn, run, text);
		free(text);
	}
	if (j->changed != NULL && slot_plan(slot)->profile->change_warns)
		slot_warn(txn, slot, "reviewer changed the tree: %s", j->changed);
}

/* Without what git has found. */
static struct judgement *judgement_new(struct slot *slot)
{
	struct run *run = slot->run;
	const struct run_row *row = &run->rows->run;
	const char *state_dir = run->engine->state_dir;
	const struct attempt_row *attempt = run_attempt(run, slot->row->attempt);
	struct judgement *j = xcalloc(1, sizeof(*j));
	char nonce[NONCE_SIZE];

	j->job.key = slot_key(slot);
	j->job.attempt = slot->row->attempt;
	j->job.secrets = secrets_new(row->environment, &run->plan);
	j->job.carrier = slot_plan(slot)->profile->carrier;
	j->job.status = attempt->exit_code;
	if (slot_plan(slot)->nonce) {
		nonce_of(attempt->uuid, nonce);
		j->job.nonce = xstrdup(nonce);
	}
	j->job.silence = slot_plan(slot)->silence == SILENCE_PASS;
	j->job.workspace = xstrdup(row->workspace);
	j->job.answer_hash = xstrdup(attempt->answer_hash);
	j->job.carrier_hash = xstrdup(attempt->carrier_hash);
	j->job.carrier_fault = xstrdup(attempt->carrier_fault);
	j->job.prompt_hash = xstrdup(attempt->prompt_hash);
	j->job.diff_hash = xstrdup(attempt->diff_hash);
	j->job.given_hash = xstrdup(attempt->given_hash);
	j->job.review_file = dirs_review_file(state_dir, row, slot_plan(slot), slot->row);
	if (slot_plan(slot)->profile->carrier == CARRIER_FILE) {
		j->job.top = dirs_review_top(state_dir, row, slot_plan(slot), slot->row);
		j->job.misnamed = dirs_misnamed_file(state_dir, row, slot->row);
	}
	/* what the votes of a panel come to is not known yet */
	if (slot_plan(slot)->review_file != NULL && slot_has_checkout(slot) && !slot_is_voter(slot)) {
		char *dir = slot_workdir(slot);

		j->job.copy_to = xasprintf("%s/%s", dir, slot_plan(slot)->review_file);
		free(dir);
	}
	return j;
}

static void read_verdict_cb(void *arg, struct job *job)
{
	struct engine *engine = arg;
	struct judgement *j = (struct judgement *)job;
	struct slot *slot = slot_at_job(engine, j->job.key);
	struct judgement *again;
	struct txn *txn;

	if (slot != NULL && job->fault != 0 && j->job.error != NULL && !slot_ending(slot)) {
		txn = txn_new(engine);
		slot_waits(txn, slot, WAIT_HOST, job->fault, j->job.error);
		slot->edits_known = false;
		txn_commit(txn);
		again = judgement_new(slot);
		again->changed = j->changed;
		again->appeared = j->appeared;
		again->edited = j->edited;
		engine_job_later(engine, HOST_LOOK_MS, &again->job.job, &read_verdict_type, read_verdict_cb, engine);
		job_free(job);
		return;
	}
	if (slot != NULL) {
		txn = txn_new(engine);
		slot_wait_over(txn, slot);
		activity_end(&slot->activity);
		warn_of_changes(txn, slot, j);
		if (slot_ending(slot)) {
			slot_ended(txn, slot);
		} else if (j->job.error != NULL) {
			reviewer_failed(txn, slot, j->job.error, CAUSE(END_ERROR, j->job.error));
		} else {
			decide(txn, slot, j);
		}
		txn_commit(txn);
	}
	free(j->changed);
	free(j->appeared);
	free(j->edited);
	job_free(job);
}

/* NULL: none. */
static char *escaped(const char *names)
{
	return names != NULL ? text_escape(names, strlen(names), false) : NULL;
}

/* git: the result of VERIFY; NULL: without git. */
static void judge(struct slot *slot, const struct git_op *git)
{
	struct judgement *j = judgement_new(slot);

	if (git != NULL) {
		j->changed = escaped(git_op_changed(git));
		j->appeared = escaped(git_op_appeared(git));
		j->edited = escaped(git_op_edited(git));
	}

	activity_start_job(&slot->activity);
	engine_job(slot->run->engine, &j->job.job, &read_verdict_type, read_verdict_cb, slot->run->engine);
}

/* ---- the tree ---- */

static void warn_of_permitted(struct txn *txn, const struct slot *slot)
{
	const char *names = git_op_permitted(slot->op.git);
	char *safe, *text;

	if (names == NULL)
		return;
	safe = text_escape(names, strlen(names), false);
	text = xasprintf("task %s: the reviewer changed files that review.reviewer_may_change permits: %s",
	    slot_task_id(slot), safe);
	run_warn(txn, slot->run, text);
	free(text);
	free(safe);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	const struct git_op *git = slot->op.git;

	(void)done;
	/* a run that joined the same tree meanwhile may have changed it */
	if (git_op_changed(git) != NULL && slot->op.shared_count < slot_count_shared_paths(slot)) {
		txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
		return;
	}
	warn_of_permitted(txn, slot);
	if (!slot_is_voter(slot))
		text_set(&txn_edit_slot(txn, slot)->beside, git_op_appeared_tree(git));
	slot->edits_known = true;
	judge(slot, git);
}

static void recover(struct slot *slot)
{
	if (slot->run->rows->run.has_git == 1)
		git_begin(slot, GIT_VERIFY);
	else
		judge(slot, NULL);
}

const struct stage stage_verifying = {
	.git = GIT_VERIFY,
	.enter = enter,
	.result = result,
	.recover = recover,
};
