/* SPDX-License-Identifier: MIT */
#include "run/retry_submit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/cause.h"
#include "core/chain.h"
#include "core/continuation.h"
#include "core/plan_json.h"
#include "core/review.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "core/tasks.h"
#include "model/model.h"
#include "model/ports.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "proto/units.h"
#include "run/retry_reviews.h"
#include "run/submission.h"
#include "sched/claims.h"
#include "slot/left_out.h"
#include "task/task_op.h"

/* ---- the work of the old run ---- */

/* The last slot that worked on the task; NULL task: that reviewed the run. */
static const struct slot_row *last_slot(const struct run_rows *rows, const char *task)
{
	const struct slot_row *last = NULL;

	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];

		if (slot_row_is_beside(slot))
			continue;
		if (task == NULL ? slot->slot == 0 : slot->slot != 0 && text_equal(slot->task, task))
			last = slot;
	}
	return last;
}

static bool is_shared(const struct pending_submit *p)
{
	return p->plan.isolation != ISOLATION_WORKTREE;
}

/* NULL: none. Of work whose merge was being judged, the last that was its own. */
static const struct product_row *last_product(const struct run_rows *rows, const struct slot_row *slot)
{
	const struct product_row *product = slot->product != ROW_NONE ? run_rows_product(rows, slot->product) : NULL;

	while (product != NULL && product->kind == PRODUCT_MERGED && slot_row_has_own(slot))
		product = run_rows_product(rows, product->parent);
	return product;
}

/* What the prompt of the last review of the work left out, malloc'd; NULL: nothing. earlier: of the
 * work that the slot has continued. */
static char *cut_of(const struct run_rows *rows, const struct slot_row *slot, const char *earlier)
{
	const char *task = slot->task != NULL ? slot->task : SLOT_WHOLE_RUN;
	const struct attempt_row *attempt;
	const struct review_row *last = NULL;

	for (size_t i = 0; i < rows->nreviews; i++)
		if (rows->reviews[i]->attempt != ROW_NONE && strcmp(rows->reviews[i]->task_id, task) == 0)
			last = rows->reviews[i];
	if (last == NULL || last->from_run != ROW_NONE)
		return xstrdup(earlier);
	attempt = run_rows_attempt(rows, last->attempt);
	return attempt != NULL ? left_out_text(attempt) : NULL;
}

/* What the slot has left; false: nothing. Runs of earlier versions have no products, but trees. */
static bool slot_work(const struct pending_submit *p, const struct run_rows *rows, const struct slot_row *slot,
    const char *earlier_cut, struct continuation *c)
{
	const struct product_row *product = slot != NULL ? last_product(rows, slot) : NULL;

	*c = (struct continuation){ .answer = ROW_NONE, .product = ROW_NONE };
	if (slot == NULL || (product == NULL && rows->run.product_count != ROW_NONE))
		return false;
	if (!continuation_of(slot, product, is_shared(p), c))
		return false;
	c->cut = cut_of(rows, slot, earlier_cut);
	return true;
}

/* A review was asked for once more, and the run has not come to one. */
static bool still_again(const struct run_rows *rows, const char *task, const struct continuation *before)
{
	for (size_t i = 0; i < rows->nreviews; i++) {
		const struct review_row *row = rows->reviews[i];

		if (row->from_run == ROW_NONE && strcmp(row->task_id, task) == 0 &&
		    (review_is_verdict(row) || text_equal(row->source, "human")))
			return false;
	}
	return before->again;
}

/* No earlier verdict counts. Votes of two judges make no quorum. */
static bool is_again(const struct pending_submit *p, const struct retry *retry)
{
	return retry->again || (retry->new_judge && plan_has_panel(&p->plan));
}

/* Set what the new row of the task continues. Returns whether there is anything. */
static bool take_work(const struct pending_submit *p, const struct run_rows *rows, struct task_row *row,
    const struct retry *retry)
{
	struct continuation c, before = { .run = ROW_NONE };
	bool found;

	(void)continuation_from_json(row->start, &before);
	found = slot_work(p, rows, last_slot(rows, row->id), before.cut, &c);

	/* a retry that has not come so far leaves what it was to continue */
	if (!found && !retry->from_scratch)
		found = continuation_from_json(row->start, &c) == 0;
	c.again = is_again(p, retry) || still_again(rows, row->id, &before);
	continuation_release(&before);
	text_set(&row->start, NULL);
	row->continues = ROW_NONE;
	if (found && !retry->from_scratch) {
		row->continues = c.run;
		row->start = continuation_to_json(&c);
	}
	continuation_release(&c);
	return row->start != NULL;
}

/* Sets *tree to what a shared work tree must have, but for *beside: the newest product. */
static void expect(const struct run_rows *rows, struct run_continuation *c)
{
	const struct run_continuation none = { .run = ROW_NONE };
	struct run_continuation before = none;
	const struct slot_row *last = NULL;

	for (size_t i = 0; i < rows->nproducts; i++)
		if (rows->products[i]->kind != PRODUCT_BASE)
			text_set(&c->expected, rows->products[i]->tree);
	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];

		if (!slot_row_is_beside(slot) && slot->tree != NULL &&
		    (c->expected == NULL || text_equal(slot->tree, c->expected)))
			last = slot;
	}
	if (last != NULL) {
		text_set(&c->expected, last->tree);
		text_set(&c->beside, last->beside);
	} else if (c->expected == NULL && run_continuation_from_json(rows->run.start, &before) == 0) {
		text_set(&c->expected, before.expected);
		text_set(&c->beside, before.beside);
	}
	run_continuation_release(&before);
}

/* What the new run takes over of the old one. works: some task continues. */
static void take_run(struct pending_submit *p, const struct run_rows *rows, const struct retry *retry, bool works)
{
	const struct run_row *old = &rows->run;
	const struct slot_row *review = last_slot(rows, NULL);
	bool reviewed = review != NULL && review->stage == SLOT_S_PASSED && old->result_commit != NULL;
	struct run_continuation c = { .run = old->id }, before = { .run = ROW_NONE };
	struct continuation whole;
	bool earlier = run_continuation_from_json(old->start, &before) == 0;

	if (retry->from_scratch || old->has_git != 1 || (!works && old->result_commit == NULL)) {
		run_continuation_release(&before);
		return;
	}
	/* a later review need not cover what one has passed */
	if (reviewed && !retry->again && !is_shared(p)) {
		c.base_commit = xstrdup(old->result_commit);
		c.base_tree = xstrdup(old->result_tree);
	} else {
		c.base_commit = xstrdup(old->base_commit != NULL ? old->base_commit : before.base_commit);
		c.base_tree = xstrdup(old->base_tree != NULL ? old->base_tree : before.base_tree);
	}
	c.tip = xstrdup(old->result_commit != NULL ? old->result_commit : before.tip);
	if (is_shared(p))
		expect(rows, &c);
	if (is_shared(p) && retry->new_setup)
		c.settings = old->subdir == NULL || old->subdir[0] == '\0' ? xstrdup(PROJECT_FILE) :
		    xasprintf("%s/" PROJECT_FILE, old->subdir);
	else if (is_shared(p))
		c.settings = xstrdup(before.settings);
	if ((review == NULL || review->stage != SLOT_S_PASSED || retry->again) &&
	    slot_work(p, rows, review, before.whole != NULL ? before.whole->cut : NULL, &whole)) {
		whole.again = is_again(p, retry) ||
		    (before.whole != NULL && still_again(rows, SLOT_WHOLE_RUN, before.whole));
		c.whole = xcalloc(1, sizeof(*c.whole));
		*c.whole = whole;
	} else if (review == NULL && earlier && before.whole != NULL) {
		c.whole = before.whole;
		c.whole->again |= is_again(p, retry);
		before.whole = NULL;
	}
	p->start = run_continuation_to_json(&c);
	run_continuation_release(&c);
	run_continuation_release(&before);
}

/* ---- its tasks ---- */

/* Review what only --skip-review left out of a task's own settings. */
static void unskip(struct task_row *row)
{
	struct plan plan = { 0 };

	if (row->plan == NULL || plan_from_json(row->plan, &plan) == -1)
		return;
	if (plan_unskip(&plan)) {
		free(row->plan);
		row->plan = plan_to_json(&plan);
	}
	plan_release(&plan);
}

/* Whether the task passed in another run after the old one had read its source. */
static bool has_passed_since(const struct pending_submit *p, const struct run_row *old, const char *task)
{
	char *source = claim_source(p->source, p->source_path);
	const struct claim_row *claim = source != NULL ? claims_find(p->engine->claims, source, task) : NULL;

	free(source);
	return claim != NULL && claim->state == CLAIM_S_DONE && claim->at >= old->created_at;
}

static bool is_wanted(const struct pending_submit *p, const struct run_rows *rows, const struct task_row *task,
    const struct retry *retry)
{
	if (retry->again)
		return retry->task == NULL || strcmp(retry->task, task->id) == 0;
	return task->state != TASK_S_PASSED && task->state != TASK_S_DONE && !has_passed_since(p, &rows->run, task->id);
}

/* Passed tasks are left out, and with them the dependencies on them. Beads are read again: of them
 * only those that continue have rows before. Returns whether some task continues. */
static bool take_tasks(struct pending_submit *p, const struct run_rows *rows, const struct retry *retry)
{
	bool any = false, only = p->source == SOURCE_BEADS || retry->again;

	for (size_t i = 0; i < rows->ntasks; i++) {
		struct task_row *row;

		if (!is_wanted(p, rows, rows->tasks[i], retry))
			continue;
		row = row_copy(ROW_TASK, rows->tasks[i]);
		if (!take_work(p, rows, row, retry) && only) {
			row_free(ROW_TASK, row);
			continue;
		}
		any |= row->start != NULL;
		row->state = TASK_S_OPEN;
		task_set_cause(row, NO_CAUSE);
		free(row->locked_ref);
		free(row->locked_tree);
		row->locked_ref = row->locked_tree = NULL;
		row->disk_bytes = ROW_NONE;
		unskip(row);
		row->position = (int64_t)p->ntasks + 1;
		p->tasks = xreallocarray(p->tasks, p->ntasks + 1, sizeof(struct task_row *));
		p->tasks[p->ntasks++] = row;
	}
	return any;
}

/* The texts are read one after the other. */

static void retry_text_cb(void *arg, const char *text, size_t size);
static void retry_judge_cb(void *arg, struct judge_row *judge);

static void retry_next(struct pending_submit *p)
{
	struct task_row *row;

	while (p->read < p->ntasks && p->tasks[p->read]->text != NULL)
		p->read++;
	if (p->read < p->ntasks) {
		row = p->tasks[p->read];
		p->engine->ports.task_text(p->engine->ports.store_ctx, p->retry_of, row->id, retry_text_cb, p);
		return;
	}
	if (!p->new_judge && !p->kept_is_read) {
		p->engine->ports.judge(p->engine->ports.store_ctx, p->retry_of, retry_judge_cb, p);
		return;
	}
	TAILQ_REMOVE(&p->engine->reading, p, entry);
	/* a prompt is validated like a new one */
	if (p->source == SOURCE_PROMPT) {
		p->task = xstrdup(p->tasks[0]->text);
		p->task_size = strlen(p->task);
	}
	pending_submit_enqueue(p);
}

/* Frees p. */
static void retry_refused(struct pending_submit *p, int code, const char *message)
{
	TAILQ_REMOVE(&p->engine->reading, p, entry);
	pending_submit_refuse(p->cb, p->arg, code, message, NULL);
	pending_submit_free(p);
}

/* False: it is another than the run was given. An earlier version has recorded no hash. */
static bool take_text(struct task_row *task, const char *text, size_t size)
{
	char *was = xstrdup(task->text_hash);
	bool same;

	task_set_text(task, xmemdup0(text, size), size);
	same = was == NULL || text_equal(was, task->text_hash);
	free(was);
	return same;
}

static void retry_text_cb(void *arg, const char *text, size_t size)
{
	struct pending_submit *p = arg;
	char *refusal;

	if (text == NULL || p->engine->stopped) {
		retry_refused(p, text == NULL ? RPC_INTERNAL : RPC_UNAVAILABLE,
		    text == NULL ? "the run's task is gone" : "the daemon is stopping");
		return;
	}
	if (take_text(p->tasks[p->read], text, size)) {
		retry_next(p);
		return;
	}
	refusal = xasprintf("the text of task %s is not what was recorded at its submit: submit the task again",
	    p->tasks[p->read]->id);
	retry_refused(p, RPC_WRONG_STATE, refusal);
	free(refusal);
}

static void retry_judge_cb(void *arg, struct judge_row *judge)
{
	struct pending_submit *p = arg;

	p->kept = judge;
	p->kept_is_read = true;
	if (p->engine->stopped)
		retry_refused(p, RPC_UNAVAILABLE, "the daemon is stopping");
	else if (!judge_is_recorded(judge, p->kept_hash))
		retry_refused(p, RPC_WRONG_STATE, "what judged the run is not what was recorded at its submit: "
		    "retry it with --new-judge");
	else
		retry_next(p);
}

/* Read it again from the program's file. */
static void forget_reviewer(struct pending_submit *p)
{
	text_set(&p->plan.reviewer_sha256, NULL);
	for (size_t i = 0; i < p->ntasks; i++) {
		struct plan plan = { 0 };

		if (p->tasks[i]->plan == NULL || plan_from_json(p->tasks[i]->plan, &plan) == -1)
			continue;
		text_set(&plan.reviewer_sha256, NULL);
		free(p->tasks[i]->plan);
		p->tasks[i]->plan = plan_to_json(&plan);
		plan_release(&plan);
	}
}

/* ---- whether it is possible ---- */

static void warn(struct pending_submit *p, const char *text)
{
	json_t *list = p->warnings != NULL ? json_loads(p->warnings, 0, NULL) : json_array();

	json_array_append_new(list, json_string(text));
	free(p->warnings);
	p->warnings = json_dumps(list, JSON_COMPACT);
	json_decref(list);
}

/* The work trees of a retry from scratch start from what is checked out, without the old run's
 * results on a branch. */
static void warn_of_result(struct pending_submit *p, const struct run_row *old)
{
	char *text;

	if (old->result_branch == NULL || old->result_commit == NULL || p->start != NULL)
		return;
	text = xasprintf("the results of run %lld are on %s, and this run starts without them "
	    "unless they are checked out: \"git merge %s\" first if the remaining tasks build on "
	    "them", (long long)old->id,
	    old->result_branch, old->result_branch);
	warn(p, text);
	free(text);
}

/* Without git nothing says what an earlier run has made of it. */
static void warn_of_no_work(struct pending_submit *p, const struct run_rows *rows, const struct retry *retry)
{
	char *text;

	if (p->warnings != NULL || rows->run.has_git == 1 || retry->from_scratch || rows->run.iteration == 0)
		return;
	text = xasprintf("run %lld starts over: without git its work is not recorded", (long long)rows->run.id);
	warn(p, text);
	free(text);
}

/* The new run belongs to the owner of the old one. */
static void warn_of_other(struct pending_submit *p, const struct run_row *old, const struct retry *retry)
{
	char *text;

	if (retry->by == old->owner)
		return;
	text = xasprintf("uid %lld has retried run %lld of uid %lld", (long long)retry->by, (long long)old->id,
	    (long long)old->owner);
	warn(p, text);
	free(text);
}

/* NULL: it may be. */
static char *wrong_state(const struct engine *engine, const struct run_row *old, const struct retry *retry,
    const char **hint)
{
	bool stands = old->state == RUN_S_FAILED || old->state == RUN_S_CANCELLED || old->state == RUN_S_HELD,
	    now = old->pruned_at == ROW_NONE && engine_is_pruned(engine, old->id);
	char at[32];

	if ((old->pruned_at != ROW_NONE || now) && !retry->from_scratch) {
		*hint = retry->again || !stands ? "submit the task again" : "begin again, with --from-scratch";
		if (now)
			return xasprintf("run %lld is being pruned: what it has made is gone", (long long)old->id);
		time_format(old->pruned_at, at, sizeof(at));
		return xasprintf("run %lld was pruned on %.10s: what it has made is gone", (long long)old->id, at);
	}
	if (stands || (retry->again && old->state == RUN_S_SUCCEEDED))
		return NULL;
	*hint = old->state == RUN_S_SUCCEEDED ? "submit the task again" : "cancel it first, or wait for it";
	return retry->again ? xasprintf("run %lld has the state %s: only what an ended or held run has made can be "
	    "reviewed again", (long long)old->id, state_name(&run_state_names, old->state)) :
	    xasprintf("run %lld has the state %s: only a failed, cancelled or held run can be retried",
	    (long long)old->id, state_name(&run_state_names, old->state));
}

static const char *nothing(const struct run_rows *rows, const struct retry *retry, const char **hint)
{
	if (!retry->again) {
		*hint = "submit it again to repeat all of it";
		return "all tasks of the run have passed: there is nothing to retry";
	}
	*hint = "see `rlctl show`; `rlctl retry` implements what was not implemented";
	if (retry->task != NULL && run_rows_task(rows, retry->task) == NULL)
		return "the run has no such task";
	return retry->task != NULL ? "there is no work on this task that could be reviewed" :
	    "the run has no work that could be reviewed";
}

static bool refuse(struct pending_submit *p, const struct run_rows *rows, const struct retry *retry)
{
	const char *hint = NULL, *message;

	if (p->ntasks > 0 || (p->source == SOURCE_BEADS && !retry->again))
		return false;
	message = nothing(rows, retry, &hint);
	pending_submit_refuse(p->cb, p->arg, RPC_WRONG_STATE, message, hint);
	pending_submit_free(p);
	return true;
}

void engine_retry(struct engine *engine, const struct run_rows *rows, const struct retry *retry,
    engine_reply_cb *cb, void *arg)
{
	const struct run_row *old = &rows->run;
	struct pending_submit *p;
	const char *hint = NULL;
	char *message;

	if (pending_submit_refuse_state(engine, cb, arg))
		return;
	message = wrong_state(engine, old, retry, &hint);
	if (message != NULL) {
		pending_submit_refuse(cb, arg, RPC_WRONG_STATE, message, hint);
		free(message);
		return;
	}
	/* also if an administrator retries it */
	p = pending_submit_new(engine, old->owner, retry->check, cb, arg);
	p->workdir = xstrdup(old->workdir);
	p->body_hash = xstrdup("");
	p->environment = strings_copy(retry->environment);
	/* a held run's file still exists */
	p->environment_hash = retry->environment == NULL && old->state == RUN_S_HELD ? xstrdup(old->environment) : NULL;
	p->priority = old->priority;
	p->source = (enum source_kind)source_find(old->source);
	p->source_path = xstrdup(old->source_path);
	p->project = xstrdup(old->project);
	p->feature = xstrdup(old->feature);
	p->group = xstrdup(old->group != NULL ? old->group : "default");
	p->retry_of = old->id;
	if (plan_from_json(old->plan, &p->plan) == -1) {
		pending_submit_refuse(cb, arg, RPC_INTERNAL, "cannot read the run's settings",
		    "submit the task again");
		pending_submit_free(p);
		return;
	}
	plan_unskip(&p->plan);
	p->new_judge = retry->new_judge;
	p->kept_hash = xstrdup(old->judge_hash);
	p->dismissed = xstrdup(old->dismissed);
	take_run(p, rows, retry, take_tasks(p, rows, retry));
	retry_reviews_take(p, rows);
	warn_of_result(p, old);
	warn_of_no_work(p, rows, retry);
	warn_of_other(p, old, retry);
	if (refuse(p, rows, retry))
		return;
	if (p->new_judge)
		forget_reviewer(p);
	TAILQ_INSERT_TAIL(&engine->reading, p, entry);
	retry_next(p);
}
