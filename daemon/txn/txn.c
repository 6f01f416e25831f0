/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/log.h"
#include "engine/engine_int.h"
#include "proto/error.h"
#include "proto/memory.h"

struct effect {
	enum effect_kind kind;
	int64_t run, iteration, slot;	/* by key: the run may be gone by then */
	int64_t id;
};

struct txn_answer {
	engine_reply_cb *cb;
	void *arg;
	int64_t run;
};

struct txn {
	struct engine *engine;
	struct decision decision;
	struct effect *effects;
	size_t neffects;
	struct txn_answer *answers;
	size_t nanswers;
	struct pending_submit *submit;
};

struct txn *txn_new(struct engine *engine)
{
	struct txn *txn = xcalloc(1, sizeof(*txn));

	txn->engine = engine;
	return txn;
}

void txn_put(struct txn *txn, enum row_kind kind, const void *row)
{
	decision_put(&txn->decision, kind, row);
}

void txn_drop(struct txn *txn, enum row_kind kind, const void *row)
{
	decision_drop(&txn->decision, kind, row);
}

void txn_emit(struct txn *txn, const char *type, int64_t run, json_t *body)
{
	char *text;

	if (body == NULL) {
		log_bug("event %s has no body", type);
		body = json_object();
	}
	text = json_dumps(body, JSON_COMPACT);
	if (text == NULL)
		abort();
	decision_tell(&txn->decision, engine_now(txn->engine), type, run, text);
	free(text);
	json_decref(body);
}

static void add_effect(struct txn *txn, struct effect effect)
{
	txn->effects = xreallocarray(txn->effects, txn->neffects + 1, sizeof(*txn->effects));
	txn->effects[txn->neffects++] = effect;
}

void txn_effect(struct txn *txn, enum effect_kind kind, struct run *run, struct slot *slot, int64_t id)
{
	const struct slot_row *row = slot != NULL ? slot->row : NULL;

	add_effect(txn, (struct effect){
		.kind = kind,
		.run = run->rows->run.id,
		.iteration = row != NULL ? row->iteration : ROW_NONE,
		.slot = row != NULL ? row->slot : ROW_NONE,
		.id = id,
	});
	if (slot != NULL && kind != EFFECT_END && kind != EFFECT_LOG)
		slot->pending = PENDING_ACT;
}

/* Of no run. */
static void effect_of_engine(struct txn *txn, enum effect_kind kind, int64_t id)
{
	add_effect(txn, (struct effect){ .kind = kind, .run = ROW_NONE, .iteration = ROW_NONE, .slot = ROW_NONE, .id = id });
}

void txn_effect_hook(struct txn *txn, int64_t id)
{
	effect_of_engine(txn, EFFECT_HOOK, id);
}

void txn_effect_schedule(struct txn *txn)
{
	effect_of_engine(txn, EFFECT_SCHEDULE, ROW_NONE);
}

void txn_effect_cooling(struct txn *txn)
{
	effect_of_engine(txn, EFFECT_COOLING, ROW_NONE);
}

void txn_reply(struct txn *txn, engine_reply_cb *cb, void *arg, int64_t run)
{
	txn->answers = xreallocarray(txn->answers, txn->nanswers + 1, sizeof(*txn->answers));
	txn->answers[txn->nanswers++] = (struct txn_answer){ cb, arg, run };
}

static void effect_run(struct engine *engine, const struct effect *effect)
{
	struct run *run = run_find(engine, effect->run);
	struct slot *slot = run != NULL ? run_slot(run, effect->iteration, effect->slot) : NULL;

	if (effect->kind == EFFECT_HOOK)
		hook_start(engine, effect->id);
	if (slot == NULL)
		return;
	switch (effect->kind) {
	case EFFECT_PREPARE:
		run_prepare(run);
		break;
	case EFFECT_COMPOSE:
		attempt_compose(slot);
		break;
	case EFFECT_GIT:
		git_begin(slot, (enum git_op_kind)effect->id);
		break;
	case EFFECT_SOURCE:
		source_begin(slot, (enum task_op_kind)effect->id);
		break;
	case EFFECT_LOAD:
		run_load(run);
		break;
	case EFFECT_LEAVE:
		leave_act(slot);
		break;
	case EFFECT_PERMIT:
		queue_want(slot);
		break;
	case EFFECT_STEP:
		step_launch(slot);
		break;
	case EFFECT_JUDGE:
		review_judge(slot, NULL, NULL);
		break;
	case EFFECT_LOG:
		review_write_log(run, slot);
		break;
	case EFFECT_REPORT:
		run_write_report(run);
		break;
	case EFFECT_END:
		if (slot->pending == PENDING_PROC && slot->id == effect->id)
			engine->ports.end(engine->ports.proc_ctx, slot->id);
		break;
	case EFFECT_HOOK:
	case EFFECT_FORGET:
	case EFFECT_COOLING:
	case EFFECT_SCHEDULE:
		break;	/* after the telling */
	}
}

/* Kinds by which the slot goes on with its own work. */
static bool goes_on(enum effect_kind kind)
{
	return kind == EFFECT_PREPARE || kind == EFFECT_COMPOSE || kind == EFFECT_GIT || kind == EFFECT_STEP || kind == EFFECT_JUDGE ||
	    kind == EFFECT_SOURCE || kind == EFFECT_LOAD || kind == EFFECT_LEAVE;
}

/* Nothing of the work goes on before everything that was left running is found. */
static void effect_or_defer(struct engine *engine, const struct effect *effect)
{
	if (!engine->recovering || !goes_on(effect->kind)) {
		effect_run(engine, effect);
		return;
	}
	engine->deferred = xreallocarray(engine->deferred, engine->ndeferred + 1, sizeof(*engine->deferred));
	engine->deferred[engine->ndeferred++] = *effect;
}

void txn_resume(struct engine *engine)
{
	for (size_t i = 0; i < engine->ndeferred; i++)
		effect_run(engine, &engine->deferred[i]);
	free(engine->deferred);
	engine->deferred = NULL;
	engine->ndeferred = 0;
}

/* The reviewer's file in the user's own tree, malloc'd; NULL: the run has put none there, and one of that name is the user's. */
static char *leftover_of(const struct run *run)
{
	bool reviewed = false;

	for (size_t i = 0; i < run->rows->nattempts; i++)
		reviewed |= run->rows->attempts[i]->role == ROLE_REVIEW;
	if (!reviewed || run->plan.isolation == ISOLATION_WORKTREE || !run->plan.review || run->plan.profile->carrier != CARRIER_COMMENTS)
		return NULL;
	return xasprintf("%s/%s", run->rows->run.workdir, run->plan.review_file);
}

static void forget(struct engine *engine, int64_t id)
{
	struct run *run = run_find(engine, id);
	char *environment, *leftover;

	if (run == NULL)
		return;
	view_forget(engine->view, id);
	environment = xstrdup(run->rows->run.environment);
	leftover = leftover_of(run);
	schedule_remove(engine->schedule, id);
	run_free(run);
	file_queue_cleanup(engine, id, environment, NULL, leftover, false);
}

/* install → act → answer → tell */
static void txn_cb(void *arg, enum commit_result result, struct decision *d)
{
	struct txn *txn = arg;
	struct engine *engine = txn->engine;
	bool schedule = txn->submit != NULL, cooling = false;

	engine->commits--;
	if (result == COMMIT_NO_SPACE && txn->submit->row->cause != NULL) {
		/* another decision has written of it already */
		engine->commits++;
		engine->ports.commit(engine->ports.store_ctx, d, false, txn_cb, txn);
		return;
	}
	if (result == COMMIT_NO_SPACE) {
		submit_refused(txn->submit, RPC_NO_SPACE, "no space left for the database", "make room on the disk of the state directory, then submit again", NULL);
		goto out;
	}
	view_install(engine->view, d);
	if (txn->submit != NULL)
		submit_committed(txn->submit, view_run(engine->view, txn->submit->id));
	for (size_t i = 0; i < txn->neffects && !engine->stopped; i++)
		effect_or_defer(engine, &txn->effects[i]);
	for (size_t i = 0; i < txn->nanswers; i++) {
		struct engine_reply reply = {
			.id = txn->answers[i].run,
			.rows = view_run(engine->view, txn->answers[i].run),
		};

		if (reply.rows == NULL && txn->answers[i].run != 0) {
			reply.code = RPC_NOT_FOUND;
			reply.message = "the run has just ended";
		}
		txn->answers[i].cb(txn->answers[i].arg, &reply);
	}
	engine->committed(engine->arg, d);
	for (size_t i = 0; i < txn->neffects; i++) {
		if (txn->effects[i].kind == EFFECT_FORGET)
			forget(engine, txn->effects[i].run);
		cooling |= txn->effects[i].kind == EFFECT_COOLING;
		schedule |= txn->effects[i].kind == EFFECT_SCHEDULE || txn->effects[i].kind == EFFECT_PERMIT;
	}
	if (cooling && !engine->stopped && !engine->recovering)
		cooling_look(engine);
	if (schedule && !engine->stopped)
		engine_schedule(engine);
out:
	decision_release(d);
	free(d);
	free(txn->effects);
	free(txn->answers);
	free(txn);
}

static void hand_over(struct txn *txn, bool refusable)
{
	struct engine *engine = txn->engine;
	struct decision *d = xcalloc(1, sizeof(*d));

	*d = txn->decision;
	engine->commits++;
	engine->ports.commit(engine->ports.store_ctx, d, refusable, txn_cb, txn);
}

void txn_commit(struct txn *txn)
{
	hand_over(txn, false);
}

void txn_commit_or_drop(struct txn *txn)
{
	if (txn->decision.count > 0 || txn->neffects > 0 || txn->nanswers > 0) {
		txn_commit(txn);
		return;
	}
	decision_release(&txn->decision);
	free(txn);
}

int64_t txn_now(const struct txn *txn)
{
	return engine_now(txn->engine);
}

void txn_commit_submit(struct txn *txn, struct pending_submit *p)
{
	txn->submit = p;
	/* a retry has already moved the held run's working rows: that cannot be taken back */
	hand_over(txn, p->retry_of == ROW_NONE);
}
