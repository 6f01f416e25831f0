/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/engine_int.h"

struct run *run_new(struct engine *engine, struct run_rows *rows)
{
	struct run *run = xcalloc(1, sizeof(*run));

	if (plan_from_json(rows->run.plan, &run->plan) == -1) {
		free(run);
		return NULL;
	}
	run->engine = engine;
	run->rows = rows;
	lane_init(&run->own, run, NULL);
	LIST_INSERT_HEAD(&engine->runs, run, entry);
	return run;
}

void run_free(struct run *run)
{
	for (size_t i = 0; i < run->nlanes; i++) {
		lane_release(run->lanes[i]);
		free(run->lanes[i]);
	}
	free(run->lanes);
	lane_release(&run->own);
	plan_release(&run->plan);
	run_rows_free(run->rows);
	free(run);
}

struct run *run_find(struct engine *engine, int64_t id)
{
	struct run *run;

	LIST_FOREACH(run, &engine->runs, entry)
		if (run->rows->run.id == id)
			return run;
	return NULL;
}

struct lane *run_lane(struct run *run, int64_t slot)
{
	if (slot == ROW_NONE)
		return &run->own;
	for (size_t i = 0; i < run->nlanes; i++)
		if (run->lanes[i]->row->slot == slot)
			return run->lanes[i];
	return NULL;
}

static void add_lane(struct run *run, struct slot_row *slot)
{
	run->lanes = xreallocarray(run->lanes, run->nlanes + 1, sizeof(*run->lanes));
	run->lanes[run->nlanes] = xcalloc(1, sizeof(struct lane));
	lane_init(run->lanes[run->nlanes++], run, slot);
}

void run_make_lanes(struct run *run)
{
	struct run_rows *rows = run->rows;

	for (size_t i = 0; i < rows->nslots; i++) {
		if (rows->slots[i]->iteration == rows->run.iteration)
			add_lane(run, rows->slots[i]);
	}
}

/* The cause is recorded with the cancel, the state when nothing is under way any more. */
bool run_cancelling(const struct run *run)
{
	return run->rows->run.cause != NULL && !run_state_is_end((enum run_state)run->rows->run.state);
}

bool run_has_checkout(const struct run *run)
{
	return run->plan.workspace == PLACE_SNAPSHOT && run->rows->run.has_git == 1;
}

static void set_text(char **at, const char *text)
{
	char *copy = xstrdup(text);

	free(*at);
	*at = copy;
}

void run_tell_state(struct turn *turn, const struct run *run)
{
	const struct run_row *row = &run->rows->run;

	turn_tell(turn, "run.state", row->id, json_pack("{s:s, s:s*, s:s*}", "state", state_name(&run_state_names, row->state),
	    "reason", row->reason, "cause", row->cause));
}

/* Append texts to a JSON array of strings. */
static void list_add(char **list, const char *const *texts)
{
	json_t *array = *list != NULL ? json_loads(*list, 0, NULL) : NULL;

	if (array == NULL)
		array = json_array();
	for (; *texts != NULL; texts++)
		json_array_append_new(array, json_string(*texts));
	free(*list);
	*list = json_dumps(array, JSON_COMPACT);
	json_decref(array);
}

void run_warn(struct turn *turn, struct run *run, const char *text)
{
	const char *const texts[] = { text, NULL };
	struct run_row *row = &run->rows->run;

	list_add(&row->warnings, texts);
	turn_put(turn, ROW_RUN, row);
	log_warn("run %lld: %s", (long long)row->id, text);
}

void run_known_issues(struct turn *turn, struct run *run, char *const *texts)
{
	struct run_row *row = &run->rows->run;

	list_add(&row->known_issues, (const char *const *)texts);
	turn_put(turn, ROW_RUN, row);
}

static struct slot_row *slot_new(const struct run *run, int64_t number, const char *task)
{
	struct slot_row *slot = row_new(ROW_SLOT);

	slot->run = run->rows->run.id;
	slot->iteration = run->rows->run.iteration;
	slot->slot = number;
	slot->stage = SLOT_S_WAITING;
	slot->task = xstrdup(task);
	slot->round = slot->fix = slot->stalled = slot->interrupted = slot->check = slot->item = 0;
	slot->fixes = run->plan.max_fixes;
	return slot;
}

/* The one iteration of a prompt run: its counter is stored before it runs. */
static void begin_iteration(struct turn *turn, struct run *run)
{
	struct run_rows *rows = run->rows;
	int64_t now = engine_now(run->engine);
	struct iteration_row *iteration = row_new(ROW_ITERATION);

	rows->run.iteration++;
	iteration->run = rows->run.id;
	iteration->number = rows->run.iteration;
	iteration->state = ITERATION_S_RUNNING;
	iteration->started_at = now;
	turn_put(turn, ROW_ITERATION, iteration);
	run_rows_put(rows, ROW_ITERATION, iteration);
	turn_tell(turn, "iteration.started", rows->run.id, json_pack("{s:I}", "iteration", (json_int_t)rows->run.iteration));

	for (size_t i = 0; i < rows->ntasks; i++) {
		run_rows_put(rows, ROW_SLOT, slot_new(run, (int64_t)i + 1, rows->tasks[i]->id));
		rows->tasks[i]->state = TASK_S_CLAIMED;
		turn_put(turn, ROW_TASK, rows->tasks[i]);
	}
	run_make_lanes(run);
	for (size_t i = 0; i < run->nlanes; i++)
		lane_event(turn, run->lanes[i], SLOT_E_START, NULL);
}

/* Scope "run": everything is implemented, slot 0 reviews it. */
static void begin_review(struct turn *turn, struct run *run)
{
	struct run_rows *rows = run->rows;
	const struct slot_row *last = run->lanes[run->nlanes - 1]->row;
	struct slot_row *slot = slot_new(run, 0, last->task);
	enum slot_event event = work_done((int64_t)strings_count(run->plan.checks), rows->run.has_git == 1);

	slot->answer = last->answer;
	run_rows_put(rows, ROW_SLOT, slot);
	add_lane(run, slot);
	lane_event(turn, run->lanes[run->nlanes - 1], event == SLOT_E_DONE ? SLOT_E_START_REVIEW : event, NULL);
}

static void end_lanes(struct turn *turn, struct run *run)
{
	struct lane *own = &run->own;

	if (own->pending == PENDING_PROC)
		turn_act(turn, ACT_END, run, own, own->id);
	/* only when all have been told is it clear whether one still works */
	run->settling = true;
	for (size_t i = 0; i < run->nlanes; i++)
		if (!slot_stage_is_end((enum slot_stage)run->lanes[i]->row->stage))
			lane_event(turn, run->lanes[i], SLOT_E_CANCEL, "cancelled");
	run->settling = false;
	if (run->nlanes > 0)
		run_settled(turn, run);
}

static void finish_iteration(struct turn *turn, struct run *run)
{
	static const enum iteration_state states[RUN_STATES] = {
		[RUN_S_SUCCEEDED] = ITERATION_S_PASSED,
		[RUN_S_FAILED] = ITERATION_S_FAILED,
		[RUN_S_CANCELLED] = ITERATION_S_CANCELLED,
	};
	struct run_rows *rows = run->rows;
	struct iteration_row *last = rows->niterations > 0 ? rows->iterations[rows->niterations - 1] : NULL;

	if (last == NULL || last->state != ITERATION_S_RUNNING)
		return;
	last->state = states[rows->run.state];
	last->ended_at = engine_now(run->engine);
	turn_put(turn, ROW_ITERATION, last);
	turn_tell(turn, "iteration.ended", rows->run.id, json_pack("{s:I, s:s}", "iteration", (json_int_t)last->number,
	    "state", state_name(&iteration_state_names, last->state)));
}

static void finish_tasks(struct turn *turn, struct run *run)
{
	for (size_t i = 0; i < run->rows->ntasks; i++) {
		struct task_row *task = run->rows->tasks[i];

		if (task->state != TASK_S_OPEN)
			continue;
		task->state = TASK_S_CANCELLED;
		turn_put(turn, ROW_TASK, task);
	}
}

/* Which answer, tree and ref the run came to: those of its last passed slot. */
static void take_result(struct run *run)
{
	struct run_row *row = &run->rows->run;

	for (size_t i = 0; i < run->nlanes; i++) {
		const struct slot_row *slot = run->lanes[i]->row;

		if (slot->stage != SLOT_S_PASSED)
			continue;
		row->result_attempt = slot->answer;
		if (slot->slot == 0)
			return;
	}
}

void run_event(struct turn *turn, struct run *run, enum run_event event, const char *cause)
{
	struct run_row *row = &run->rows->run;
	const struct run_edge *edge = run_step((enum run_state)row->state, event);

	if (edge == NULL) {
		log_bug("run %lld: event %s is not expected in state %s", (long long)row->id, run_event_name(event),
		    state_name(&run_state_names, row->state));
		return;
	}
	log_debug("run %lld: %s in %s leads to %s", (long long)row->id, run_event_name(event),
	    state_name(&run_state_names, row->state), state_name(&run_state_names, (int)edge->next));
	row->state = (int)edge->next;
	set_text(&row->reason, NULL);
	switch (edge->action) {
	case RUN_A_PREPARE:
		row->started_at = engine_now(run->engine);
		set_text(&row->reason, "preparing");
		turn_act(turn, ACT_PREPARE, run, &run->own, ROW_NONE);
		break;
	case RUN_A_BEGIN:
		begin_iteration(turn, run);
		break;
	case RUN_A_END:
		set_text(&row->reason, "cancelling");
		set_text(&row->cause, cause);
		break;
	case RUN_A_HOLD:
		set_text(&row->reason, cause);
		turn_act(turn, ACT_SCHEDULE, run, NULL, ROW_NONE);
		turn_act(turn, ACT_REPORT, run, NULL, ROW_NONE);
		log_warn("run %lld held: %s", (long long)row->id, cause != NULL ? cause : "");
		break;
	case RUN_A_REWORK:
		turn_act(turn, ACT_SCHEDULE, run, NULL, ROW_NONE);
		break;
	case RUN_A_LOAD:
	case RUN_A_REVIEW:
	case RUN_A_RESUME:
	case RUN_A_NONE:
		break;
	case RUN_A_FINISH:
		if (row->cause == NULL)
			set_text(&row->cause, cause);
		row->ended_at = engine_now(run->engine);
		take_result(run);
		finish_tasks(turn, run);
		finish_iteration(turn, run);
		hook_add(turn, run, "on_end", run->plan.on_end, NULL);
		turn_act(turn, ACT_REPORT, run, NULL, ROW_NONE);
		turn_act(turn, ACT_FORGET, run, NULL, ROW_NONE);
		turn_act(turn, ACT_SCHEDULE, run, NULL, ROW_NONE);
		log_info("run %lld %s%s%s", (long long)row->id, state_name(&run_state_names, row->state),
		    row->cause != NULL ? ": " : "", row->cause != NULL ? row->cause : "");
		break;
	}
	turn_put(turn, ROW_RUN, row);
	run_tell_state(turn, run);
	if (edge->action == RUN_A_END)
		end_lanes(turn, run);
	if (edge->action == RUN_A_REVIEW)
		begin_review(turn, run);
	if (edge->action == RUN_A_RESUME)
		hold_resume(turn, run);
	if (event == RUN_E_CANCEL && edge->action == RUN_A_END && run->nlanes == 0 && run->own.pending == PENDING_NOTHING)
		run_event(turn, run, RUN_E_CANCELLED, NULL);
}

void run_cancel(struct turn *turn, struct run *run, const char *cause)
{
	bool begun = run->rows->run.state == RUN_S_QUEUED && run->nlanes > 0;

	run_event(turn, run, begun ? RUN_E_CANCEL_BEGUN : RUN_E_CANCEL, cause);
}

/* What slot 0 decided, and any failure, is the end of the tasks that wait for the review of the run. */
static void settle_implemented(struct turn *turn, struct run *run)
{
	const struct slot_row *decided = NULL;

	for (size_t i = 0; i < run->nlanes; i++) {
		const struct slot_row *slot = run->lanes[i]->row;

		if (slot->stage == SLOT_S_FAILED || (slot->slot == 0 && slot->stage == SLOT_S_PASSED))
			decided = slot;
	}
	for (size_t i = 0; decided != NULL && i < run->nlanes; i++)
		if (run->lanes[i]->row->stage == SLOT_S_IMPLEMENTED)
			lane_event(turn, run->lanes[i], decided->stage == SLOT_S_PASSED ? SLOT_E_RUN_PASSED : SLOT_E_FAILED, decided->cause);
}

void run_settled(struct turn *turn, struct run *run)
{
	struct slot_row *slots[64];
	enum run_event event;
	const char *cause = NULL;

	if (run->nlanes > sizeof(slots) / sizeof(slots[0]))
		log_fatal("run %lld: too many slots", (long long)run->rows->run.id);
	if (run->settling)
		return;
	run->settling = true;
	settle_implemented(turn, run);
	run->settling = false;
	for (size_t i = 0; i < run->nlanes; i++)
		slots[i] = run->lanes[i]->row;
	struct loop loop = { .slots = slots, .nslots = run->nlanes, .tasks = run->rows->tasks, .ntasks = run->rows->ntasks, .iterations = ROW_NONE };
	event = run_settle(&loop);
	if (event == RUN_EVENTS)
		return;
	/* reworked and in the queue: only what ends it counts */
	if (event == RUN_E_HELD && run->rows->run.state != RUN_S_RUNNING)
		return;
	for (size_t i = 0; i < run->nlanes && cause == NULL; i++)
		if ((event == RUN_E_PASSED && slots[i]->stage == SLOT_S_PASSED) || (event == RUN_E_FAILED && slots[i]->stage == SLOT_S_FAILED) || (event == RUN_E_HELD && slots[i]->stage == SLOT_S_HELD))
			cause = slots[i]->cause;
	run_event(turn, run, event, cause);
}

/* Preparation: the task's text from the store, the run's directory, then the base snapshot. */

static void open_cb(void *arg, struct work *work)
{
	struct lane *lane = arg;
	struct run *run = lane->run;
	struct open_work *w = (struct open_work *)work;
	struct turn *turn;
	bool go_on;

	if (run->engine->stopped) {
		work_free(work);
		return;
	}
	lane->pending = PENDING_NOTHING;
	go_on = !run_cancelling(run) && w->error == NULL && run->rows->run.has_git == 1;
	if (go_on && w->warning == NULL) {
		git_begin(lane, GIT_SNAPSHOT);
		work_free(work);
		return;
	}
	turn = turn_new(run->engine);
	if (w->warning != NULL)
		run_warn(turn, run, w->warning);
	if (go_on) {
		turn_act(turn, ACT_GIT, run, lane, GIT_SNAPSHOT);
		turn_commit(turn);
		work_free(work);
		return;
	}
	if (run_cancelling(run))
		run_event(turn, run, RUN_E_CANCELLED, NULL);
	else if (w->error != NULL)
		run_event(turn, run, RUN_E_FAILED, w->error);
	else
		run_event(turn, run, RUN_E_PREPARED, NULL);
	turn_commit(turn);
	work_free(work);
}

static void task_text_cb(void *arg, const char *text, size_t size)
{
	struct lane *lane = arg;
	struct run *run = lane->run;
	struct open_work *w = xcalloc(1, sizeof(*w));

	if (run->engine->stopped) {
		free(w);
		return;
	}
	w->run = run->rows->run.id;
	w->workspace = run->rows->run.workspace;
	w->workdir = run->rows->run.workdir;
	w->has_git = run->rows->run.has_git == 1;
	w->plan = &run->plan;
	w->artifacts = run_artifacts(run);
	w->text = xmemdup0(text != NULL ? text : "", size);
	w->text_size = size;
	if (text == NULL)
		log_bug("run %lld has no task text", (long long)w->run);
	engine_work(run->engine, &w->work, WORK_OPEN, open_cb, lane);
}

void run_prepare(struct run *run)
{
	struct engine *engine = run->engine;

	run->own.pending = PENDING_WORK;
	engine->ports.task_text(engine->ports.store_ctx, run->rows->run.id, run->rows->tasks[0]->id, task_text_cb, &run->own);
}
