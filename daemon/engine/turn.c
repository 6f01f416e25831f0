/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"
#include "proto/error.h"

struct act {
	enum act_kind kind;
	int64_t run, iteration, slot;	/* by key: the run may be gone by then */
	int64_t id;
};

struct turn_answer {
	engine_reply_cb *cb;
	void *arg;
	int64_t run;
};

struct turn {
	struct engine *engine;
	struct decision decision;
	struct act *acts;
	size_t nacts;
	struct turn_answer *answers;
	size_t nanswers;
	struct pending_submit *submit;
};

struct turn *turn_new(struct engine *engine)
{
	struct turn *turn = xcalloc(1, sizeof(*turn));

	turn->engine = engine;
	return turn;
}

void turn_put(struct turn *turn, enum row_kind kind, const void *row)
{
	decision_put(&turn->decision, kind, row);
}

void turn_drop(struct turn *turn, enum row_kind kind, const void *row)
{
	decision_drop(&turn->decision, kind, row);
}

void turn_tell(struct turn *turn, const char *type, int64_t run, json_t *body)
{
	char *text;

	if (body == NULL) {
		log_bug("event %s has no body", type);
		body = json_object();
	}
	text = json_dumps(body, JSON_COMPACT);
	if (text == NULL)
		abort();
	decision_tell(&turn->decision, engine_now(turn->engine), type, run, text);
	free(text);
	json_decref(body);
}

static void add_act(struct turn *turn, struct act act)
{
	turn->acts = xreallocarray(turn->acts, turn->nacts + 1, sizeof(*turn->acts));
	turn->acts[turn->nacts++] = act;
}

void turn_act(struct turn *turn, enum act_kind kind, struct run *run, struct slot *slot, int64_t id)
{
	const struct slot_row *row = slot != NULL ? slot->row : NULL;

	add_act(turn, (struct act){
		.kind = kind,
		.run = run->rows->run.id,
		.iteration = row != NULL ? row->iteration : ROW_NONE,
		.slot = row != NULL ? row->slot : ROW_NONE,
		.id = id,
	});
	if (slot != NULL && kind != ACT_END && kind != ACT_LOG)
		slot->pending = PENDING_ACT;
}

/* Of no run. */
static void act_of_engine(struct turn *turn, enum act_kind kind, int64_t id)
{
	add_act(turn, (struct act){ .kind = kind, .run = ROW_NONE, .iteration = ROW_NONE, .slot = ROW_NONE, .id = id });
}

void turn_act_hook(struct turn *turn, int64_t id)
{
	act_of_engine(turn, ACT_HOOK, id);
}

void turn_act_schedule(struct turn *turn)
{
	act_of_engine(turn, ACT_SCHEDULE, ROW_NONE);
}

void turn_act_cooling(struct turn *turn)
{
	act_of_engine(turn, ACT_COOLING, ROW_NONE);
}

void turn_reply(struct turn *turn, engine_reply_cb *cb, void *arg, int64_t run)
{
	turn->answers = xreallocarray(turn->answers, turn->nanswers + 1, sizeof(*turn->answers));
	turn->answers[turn->nanswers++] = (struct turn_answer){ cb, arg, run };
}

static void act_run(struct engine *engine, const struct act *act)
{
	struct run *run = run_find(engine, act->run);
	struct slot *slot = run != NULL ? run_slot(run, act->iteration, act->slot) : NULL;

	if (act->kind == ACT_HOOK)
		hook_start(engine, act->id);
	if (slot == NULL)
		return;
	switch (act->kind) {
	case ACT_PREPARE:
		run_prepare(run);
		break;
	case ACT_COMPOSE:
		attempt_compose(slot);
		break;
	case ACT_GIT:
		git_begin(slot, (enum git_op_kind)act->id);
		break;
	case ACT_SOURCE:
		source_begin(slot, (enum task_op_kind)act->id);
		break;
	case ACT_LOAD:
		run_load(run);
		break;
	case ACT_LEAVE:
		leave_act(slot);
		break;
	case ACT_SEAT:
		queue_want(slot);
		break;
	case ACT_STEP:
		step_launch(slot);
		break;
	case ACT_JUDGE:
		review_judge(slot, NULL, NULL);
		break;
	case ACT_LOG:
		review_write_log(run, slot);
		break;
	case ACT_REPORT:
		run_write_report(run);
		break;
	case ACT_END:
		if (slot->pending == PENDING_PROC && slot->id == act->id)
			engine->ports.end(engine->ports.proc_ctx, slot->id);
		break;
	case ACT_HOOK:
	case ACT_FORGET:
	case ACT_COOLING:
	case ACT_SCHEDULE:
		break;	/* after the telling */
	}
}

/* Kinds by which the slot goes on with its own work. */
static bool goes_on(enum act_kind kind)
{
	return kind == ACT_PREPARE || kind == ACT_COMPOSE || kind == ACT_GIT || kind == ACT_STEP || kind == ACT_JUDGE ||
	    kind == ACT_SOURCE || kind == ACT_LOAD || kind == ACT_LEAVE;
}

/* Nothing of the work goes on before everything that was left running is found. */
static void act_or_defer(struct engine *engine, const struct act *act)
{
	if (!engine->recovering || !goes_on(act->kind)) {
		act_run(engine, act);
		return;
	}
	engine->deferred = xreallocarray(engine->deferred, engine->ndeferred + 1, sizeof(*engine->deferred));
	engine->deferred[engine->ndeferred++] = *act;
}

void turn_resume(struct engine *engine)
{
	for (size_t i = 0; i < engine->ndeferred; i++)
		act_run(engine, &engine->deferred[i]);
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
	desk_forget(engine, id, environment, NULL, leftover, false);
}

/* install → act → answer → tell */
static void turn_cb(void *arg, enum commit_result result, struct decision *d)
{
	struct turn *turn = arg;
	struct engine *engine = turn->engine;
	bool schedule = turn->submit != NULL, cooling = false;

	engine->commits--;
	if (result == COMMIT_NO_SPACE && turn->submit->row->cause != NULL) {
		/* another decision has written of it already */
		engine->commits++;
		engine->ports.commit(engine->ports.store_ctx, d, false, turn_cb, turn);
		return;
	}
	if (result == COMMIT_NO_SPACE) {
		submit_refused(turn->submit, RPC_NO_SPACE, "no space left for the database", "make room on the disk of the state directory, then submit again", NULL);
		goto out;
	}
	view_install(engine->view, d);
	if (turn->submit != NULL)
		submit_committed(turn->submit, view_run(engine->view, turn->submit->id));
	for (size_t i = 0; i < turn->nacts && !engine->stopped; i++)
		act_or_defer(engine, &turn->acts[i]);
	for (size_t i = 0; i < turn->nanswers; i++) {
		struct engine_reply reply = {
			.id = turn->answers[i].run,
			.rows = view_run(engine->view, turn->answers[i].run),
		};

		if (reply.rows == NULL && turn->answers[i].run != 0) {
			reply.code = RPC_NOT_FOUND;
			reply.message = "the run has just ended";
		}
		turn->answers[i].cb(turn->answers[i].arg, &reply);
	}
	engine->committed(engine->arg, d);
	for (size_t i = 0; i < turn->nacts; i++) {
		if (turn->acts[i].kind == ACT_FORGET)
			forget(engine, turn->acts[i].run);
		cooling |= turn->acts[i].kind == ACT_COOLING;
		schedule |= turn->acts[i].kind == ACT_SCHEDULE || turn->acts[i].kind == ACT_SEAT;
	}
	if (cooling && !engine->stopped && !engine->recovering)
		cooling_look(engine);
	if (schedule && !engine->stopped)
		engine_schedule(engine);
out:
	decision_release(d);
	free(d);
	free(turn->acts);
	free(turn->answers);
	free(turn);
}

static void hand_over(struct turn *turn, bool refusable)
{
	struct engine *engine = turn->engine;
	struct decision *d = xcalloc(1, sizeof(*d));

	*d = turn->decision;
	engine->commits++;
	engine->ports.commit(engine->ports.store_ctx, d, refusable, turn_cb, turn);
}

void turn_commit(struct turn *turn)
{
	hand_over(turn, false);
}

void turn_commit_or_drop(struct turn *turn)
{
	if (turn->decision.count > 0 || turn->nacts > 0 || turn->nanswers > 0) {
		turn_commit(turn);
		return;
	}
	decision_release(&turn->decision);
	free(turn);
}

int64_t turn_now(const struct turn *turn)
{
	return engine_now(turn->engine);
}

void turn_commit_submit(struct turn *turn, struct pending_submit *p)
{
	turn->submit = p;
	/* a retry has already moved the held run's working rows: that cannot be taken back */
	hand_over(turn, p->retry_of == ROW_NONE);
}
