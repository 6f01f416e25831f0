/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "continued.h"
#include "core/slot.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "tale.h"
#include "world_int.h"

/* What the story says of the kind of a cause. */
static bool fits_kind(int kind, const char *wanted)
{
	if (wanted == NULL)
		return kind == END_NONE;
	if (strcmp(wanted, "process") == 0)
		return kind == END_ERROR || kind == END_TIMEOUT || kind == END_NOT_STARTED;
	return kind != END_NONE && strcmp(state_name(&end_kind_names, kind), wanted) == 0;
}

static const char *kind_name(int kind)
{
	return kind != END_NONE ? state_name(&end_kind_names, kind) : "none";
}

/* The review log */

static int count_findings(const struct run_rows *rows, int64_t review, enum finding_state state)
{
	int count = 0;

	for (size_t i = 0; i < rows->nfindings; i++)
		count += rows->findings[i]->review == review && rows->findings[i]->state == (int)state;
	return count;
}

static void compare_review(struct world *w, const struct run_rows *rows,
    const struct review_row *row, const struct ref_review *want)
{
	long long run = rows->run.id, number = row->number;
	int new = count_findings(rows, row->number, FINDING_NEW),
	    repeated = count_findings(rows, row->number, FINDING_REPEATED),
	    resolved = count_findings(rows, row->number, FINDING_RESOLVED),
	    dismissed = count_findings(rows, row->number, FINDING_DISMISSED);

	if (strcmp(row->decision, want->decision) != 0 || row->iteration != want->round)
		world_fail(w, "run %lld: review %lld is %s of round %lld, expected %s of round %d", run,
		    number, row->decision, (long long)row->iteration, want->decision, want->round);
	if (strcmp(row->reviewer_agent, want->human ? "human:ann" : "critic") != 0 &&
	    (want->human || (strcmp(row->reviewer_agent, "spare") != 0 && row->votes == NULL)))
		world_fail(w, "run %lld: review %lld is by %s", run, number, row->reviewer_agent);
	if (new != want->new || repeated != want->repeated || resolved != want->resolved ||
	    dismissed != want->dismissed)
		world_fail(w, "run %lld: review %lld has %d new, %d repeated, %d resolved, %d dismissed findings, "
		    "expected %d, %d, %d, %d", run, number, new, repeated, resolved, dismissed,
		    want->new, want->repeated, want->resolved, want->dismissed);
}

/* The rows of one task against what its slots say, one slot after the other. exact:
 * nothing cut them short. */
static void compare_reviews(struct world *w, const struct run_rows *rows, const char *task,
    struct tale *const *tales, size_t count, bool exact)
{
	const struct review_row *last = NULL;
	struct ref_review want;
	size_t at = 0;
	int n = 0;

	for (size_t i = 0; i < rows->nreviews; i++) {
		/* the votes of a panel are compared with what its reviewers say: law_votes() */
		if (strcmp(rows->reviews[i]->task_id, task) != 0 || rows->reviews[i]->reviewer != NULL)
			continue;
		/* of the run that it continues */
		if (rows->reviews[i]->from_run != ROW_NONE) {
			last = rows->reviews[i];
			continue;
		}
		while (at < count && n == tales[at]->end.nreviews) {
			at++;
			n = 0;
		}
		if (at == count) {
			world_fail(w, "run %lld: review %lld of task %s was one too many",
			    (long long)rows->run.id, (long long)rows->reviews[i]->number, task);
			return;
		}
		want = tales[at]->end.reviews[n++];
		/* slots without a task share one log, and a human's decision has a number
		 * of its own in it */
		if (want.human && last != NULL && last->iteration >= want.round)
			want.round = (int)last->iteration + 1;
		compare_review(w, rows, rows->reviews[i], &want);
		last = rows->reviews[i];
	}
	while (at < count && n == tales[at]->end.nreviews) {
		at++;
		n = 0;
	}
	if (exact && at < count)
		world_fail(w, "run %lld: a review of task %s is missing", (long long)rows->run.id, task);
}

/* One slot */

/* A check cannot be started there. */
static bool base_fails(const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->slot == SLOT_BASELINE && rows->slots[i]->stage == SLOT_S_FAILED)
			return rows->slots[i]->end_kind == END_BASE;
	return false;
}

/* How a slot that stands so is told. */
static bool fits(const struct tale *t, const struct run_rows *rows)
{
	const char *state = t->end.state;
	enum run_state run = (enum run_state)rows->run.state;
	bool over = run_state_is_end(run);

	bool passed = false;	/* reviewed by a slot 0 since */

	for (size_t i = 0; i < rows->nslots; i++)
		passed |= rows->slots[i]->slot == 0 && rows->slots[i]->iteration >= t->row->iteration &&
		    rows->slots[i]->stage == SLOT_S_PASSED;
	for (size_t i = 0; i < rows->ntasks; i++)
		over |= rows->tasks[i]->state == TASK_S_FAILED &&
		    (t->row->task == NULL || strcmp(rows->tasks[i]->id, t->row->task) != 0);
	if (t->row->stage == SLOT_S_PASSED)
		return strcmp(state, "passed") == 0 || strcmp(state, "released") == 0 ||
		    strcmp(state, "untasked") == 0 || (passed && strcmp(state, "implemented") == 0);
	if (t->row->stage == SLOT_S_FAILED)
		return strcmp(state, "failed") == 0 || (over && !passed && strcmp(state, "implemented") == 0);
	/* at the end of the run the base is of no interest, and without it the run ends */
	if (t->row->stage == SLOT_S_CANCELLED)
		return run == RUN_S_CANCELLED || t->slot.baseline || base_fails(rows);
	if (t->row->stage == SLOT_S_HELD)
		return strcmp(state, "held") == 0 || strcmp(state, "rework") == 0;
	return strcmp(state, t->row->stage == SLOT_S_IMPLEMENTED ? "implemented" : "working") == 0;
}

/* It had not begun when the run was to go no further. */
static bool is_let_go(const struct world *w, const struct run_rows *rows, const struct tale *t)
{
	bool stop = rows->run.stopped == 1 || world_is_spent(w, rows);

	for (size_t i = 0; i < rows->ntasks; i++)
		stop |= rows->tasks[i]->state == TASK_S_FAILED &&
		    world_plan(w, rows->run.id)->on_failure == ON_FAILURE_STOP;
	for (size_t i = 0; i < rows->nslots; i++)
		stop |= rows->slots[i]->stage == SLOT_S_FAILED &&
		    world_plan(w, rows->run.id)->on_failure == ON_FAILURE_STOP;
	return stop && t->row->task == NULL && t->row->slot != 0 && t->slot.count == 0 && t->slot.nanswers == 0;
}

static void compare_slot(struct world *w, const struct run_rows *rows, const struct tale *t)
{
	const struct slot_row *row = t->row;
	const struct ref_end *end = &t->end;
	long long run = rows->run.id, iteration = row->iteration, slot = row->slot;

	if (end->wrong[0] != '\0')
		world_fail(w, "run %lld slot %lld/%lld: %s", run, iteration, slot, end->wrong);
	if (row->stage != SLOT_S_CANCELLED && (end->used < t->slot.count || end->heard < t->slot.nanswers))
		world_fail(w, "run %lld slot %lld/%lld: %d attempts and %d answers on record, "
		    "%d and %d were needed", run, iteration, slot, t->slot.count,
		    t->slot.nanswers, end->used, end->heard);
	if (!fits(t, rows) && !(row->stage == SLOT_S_PASSED && is_let_go(w, rows, t)))
		world_fail(w, "run %lld (%s) slot %lld/%lld is %s (%s), expected %s (%s)", run,
		    state_name(&run_state_names, rows->run.state), iteration, slot,
		    state_name(&slot_stage_names, row->stage), row->cause != NULL ? row->cause :
		    "no cause", end->state, end->kind != NULL ? end->kind : "no cause");
	if (t->slot.nholds > end->nholds)
		world_fail(w, "run %lld slot %lld/%lld: %d holds, expected %d", run, iteration,
		    slot, t->slot.nholds, end->nholds);
	for (int i = 0; i < t->slot.nholds && i < end->nholds; i++)
		if (strcmp(t->holds[i].kind, end->holds[i]) != 0)
			world_fail(w, "run %lld slot %lld/%lld: hold %d is for %s, expected %s",
			    run, iteration, slot, i + 1, t->holds[i].kind, end->holds[i]);
	if (row->stage == SLOT_S_CANCELLED || strcmp(end->state, "working") == 0)
		return;
	if ((int)row->fix != end->fixes)
		world_fail(w, "run %lld slot %lld/%lld used %lld fix rounds, expected %d", run,
		    iteration, slot, (long long)row->fix, end->fixes);
	if (strcmp(end->state, "implemented") != 0 && strcmp(end->state, "held") != 0 &&
	    strcmp(end->state, "rework") != 0 && !fits_kind(row->end_kind, end->kind))
		world_fail(w, "run %lld slot %lld/%lld: the cause \"%s\" is of kind %s, expected %s",
		    run, iteration, slot, row->cause ? row->cause : "none",
		    kind_name(row->end_kind), end->kind != NULL ? end->kind : "none");
}

static void compare_task(struct world *w, const struct run_rows *rows, const struct tale *t)
{
	static const struct {
		enum slot_stage stage;
		enum task_state task;
	} ends[] = {
		{ SLOT_S_PASSED, TASK_S_PASSED }, { SLOT_S_FAILED, TASK_S_FAILED },
		{ SLOT_S_CANCELLED, TASK_S_CANCELLED }, { SLOT_S_HELD, TASK_S_CLAIMED }
	};
	const char *id = t->row->task;

	for (size_t i = 0; i < rows->ntasks && id != NULL && t->row->slot != 0; i++) {
		const struct task_row *task = rows->tasks[i];

		if (strcmp(task->id, id) != 0)
			continue;
		for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]); e++)
			if (t->row->stage == (int)ends[e].stage &&
			    strcmp(t->end.state, "released") != 0 && task->state != (int)ends[e].task)
				world_fail(w, "run %lld: task %s is %s, its slot %s",
				    (long long)rows->run.id, id, state_name(&task_state_names, task->state),
				    state_name(&slot_stage_names, t->row->stage));
		/* the only task of a run is that of slot 0 as well */
		if (t->row->stage == SLOT_S_IMPLEMENTED && task->state != TASK_S_IMPLEMENTED &&
		    (task->state != TASK_S_CLAIMED || rows->ntasks > 1))
			world_fail(w, "run %lld: task %s is %s, its slot implemented",
			    (long long)rows->run.id, id, state_name(&task_state_names, task->state));
		if (strcmp(t->end.state, "released") == 0 && t->row->stage == SLOT_S_PASSED &&
		    task->state != TASK_S_RELEASED)
			world_fail(w, "run %lld: task %s was given back, and is %s",
			    (long long)rows->run.id, id, state_name(&task_state_names, task->state));
	}
}

/* What a verdict passed is locked, and nothing else. */
static void compare_lock(struct world *w, const struct task_row *task, struct tale *const *tales, size_t count)
{
	bool pinned = false;

	for (size_t i = 0; i < count; i++)
		pinned |= tales[i]->end.pinned && tales[i]->row->stage != SLOT_S_CANCELLED;
	if ((task->locked_tree != NULL) != pinned)
		world_fail(w, "run %lld: task %s is locked at %s", (long long)task->run, task->id,
		    task->locked_tree != NULL ? task->locked_tree : "nothing");
}

/* The run */

static int count_strings(const char *json)
{
	json_t *list = json != NULL ? json_loads(json, 0, NULL) : NULL;
	int count = (int)json_array_size(list);

	json_decref(list);
	return count;
}

static bool has_passed(const struct run_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->ntasks; i++)
		if (strcmp(rows->tasks[i]->id, id) == 0)
			return rows->tasks[i]->state == TASK_S_PASSED ||
			    rows->tasks[i]->state == TASK_S_DONE ||
			    rows->tasks[i]->state == TASK_S_IMPLEMENTED;
	return true;
}

static struct ref_task describe_task(const struct run_rows *rows, const struct task_row *task)
{
	static const char states[TASK_STATES] = {
		[TASK_S_OPEN] = 'o', [TASK_S_CLAIMED] = 'w', [TASK_S_PASSED] = 'p',
		[TASK_S_FAILED] = 'f', [TASK_S_CANCELLED] = 'c', [TASK_S_DONE] = 'd',
		[TASK_S_TAKEN] = 't', [TASK_S_RELEASED] = 'r', [TASK_S_IMPLEMENTED] = 'i',
	};
	struct ref_task t = { .state = states[task->state], .ready = true };
	json_t *ids = task->depends_on != NULL ? json_loads(task->depends_on, 0, NULL) : NULL, *id;
	size_t i;

	json_array_foreach(ids, i, id)
		t.ready &= has_passed(rows, json_string_value(id));
	json_decref(ids);
	return t;
}

/* All slots of an iteration have no task. */
static bool is_idle(const struct run_rows *rows, int64_t iteration)
{
	size_t slots = 0, tasks = 0;

	for (size_t i = 0; i < rows->nslots; i++) {
		slots += rows->slots[i]->iteration == iteration && rows->slots[i]->slot != 0 &&
		    rows->slots[i]->voter_of == ROW_NONE;
		tasks += rows->slots[i]->iteration == iteration && rows->slots[i]->slot != 0 &&
		    rows->slots[i]->task != NULL;
	}
	return slots > 0 && tasks == 0;
}

/* The cause of a run whose slots have the word is that of one of them. */
static bool is_of_a_slot(const struct tale *tales, size_t count, enum slot_stage stage, int kind)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (tales[i].row == NULL || tales[i].row->stage != (int)stage || tales[i].row->end_kind == END_NONE)
			continue;
		any = true;
		if (tales[i].row->end_kind == kind)
			return true;
	}
	return !any && kind == END_NONE;
}

static void compare_end(struct world *w, const struct run_rows *rows, const struct tale *tales, size_t count)
{
	const struct run_row *run = &rows->run;
	const char *state = state_name(&run_state_names, run->state);
	struct ref_task *tasks = xcalloc(rows->ntasks, sizeof(*tasks));
	struct ref_run r = {
		.tasks = tasks, .ntasks = (int)rows->ntasks, .iteration = (int)run->iteration,
		.iterations = run->iterations == ROW_NONE ? -1 : (int)run->iterations,
		.working = count == 0 && !run_state_is_end((enum run_state)run->state),
		.spent = world_is_spent(w, rows),
	};
	struct ref_run_end end;
	bool pinned = false, may_be_pinned = continued_has_result(rows), committed = false;
	int known = 0, less = 0;

	for (size_t i = 0; i < rows->ntasks; i++)
		tasks[i] = describe_task(rows, rows->tasks[i]);
	for (int64_t n = 1; n <= run->iteration; n++)
		r.idle |= !world_plan(w, run->id)->rolls && is_idle(rows, n);
	for (size_t i = 0; i < count; i++) {
		const struct tale *t = &tales[i];

		if (t->row == NULL || (t->slot.baseline && !base_fails(rows)))
			continue;
		r.held |= t->row->stage == SLOT_S_HELD;
		r.rework |= strcmp(t->end.state, "rework") == 0;
		r.working |= strcmp(t->end.state, "working") == 0 &&
		    t->row->stage != SLOT_S_PASSED && !run_state_is_end((enum run_state)run->state);
		r.stopped |= t->end.stopped;
		r.failed |= t->row->stage == SLOT_S_FAILED;
		if (t->row->stage == SLOT_S_CANCELLED)
			/* the base is red: what git did meanwhile is looked at no more */
			may_be_pinned |= t->end.pinned || t->end.merged;
		else
			pinned |= t->end.pinned || t->end.merged;
		committed |= t->end.committed && t->row->stage != SLOT_S_CANCELLED;
		known += t->end.known;
		less += t->end.known_less;
	}
	reference_run(&r, &end);
	free(tasks);
	if (run_state_is_end((enum run_state)run->state) && (end.state == NULL || strcmp(end.state, state) != 0))
		world_fail(w, "run %lld is %s (%s), expected %s (%s)", (long long)run->id, state,
		    run->cause ? run->cause : "no cause",
		    end.state != NULL ? end.state : "something to do",
		    end.kind != NULL ? end.kind : "the cause of a slot");
	if (run->state == RUN_S_HELD && (end.state == NULL || strcmp(end.state, "held") != 0))
		world_fail(w, "run %lld is held, and something else can go on", (long long)run->id);
	if (!run_state_is_end((enum run_state)run->state))
		return;
	if (end.kind != NULL ? !fits_kind(run->end_kind, end.kind) :
	    !is_of_a_slot(tales, count, run->state == RUN_S_FAILED ? SLOT_S_FAILED : SLOT_S_PASSED, run->end_kind))
		world_fail(w, "run %lld is %s: the cause \"%s\" is of kind %s, expected %s",
		    (long long)run->id, state, run->cause ? run->cause : "none",
		    kind_name(run->end_kind), end.kind != NULL ? end.kind : "that of a slot");
	if (count_strings(run->known_issues) > known || count_strings(run->known_issues) < known - less)
		world_fail(w, "run %lld has %d known issues, expected %d", (long long)run->id,
		    count_strings(run->known_issues), known);
	/* the branch of a retry begins with what the run before has merged */
	if ((run->result_ref == NULL ? pinned || continued_has_result(rows) : !pinned && !may_be_pinned) ||
	    (run->result_tree == NULL ? pinned : !pinned && !may_be_pinned))
		world_fail(w, "run %lld is %s: pinned %s", (long long)run->id, state,
		    run->result_ref != NULL ? run->result_ref : "nothing");
	if (committed && run->result_commit == NULL)
		world_fail(w, "run %lld is %s, and its commit is forgotten", (long long)run->id, state);
}

static bool comes_to_nothing(const struct world *w, int64_t id)
{
	const struct run_rows *rows = view_run(world_disk(w), id);

	return rows != NULL && (rows->run.state == RUN_S_FAILED || rows->run.state == RUN_S_CANCELLED);
}

/* A cancel that was asked for, or a run before it that came to nothing. */
static bool may_be_cancelled(const struct world *w, const struct run_row *run)
{
	return world_cancel_asked(w, run->id) || (run->after_run != ROW_NONE && comes_to_nothing(w, run->after_run));
}

static void compare_cancel(struct world *w, const struct run_rows *rows)
{
	long long id = rows->run.id;
	bool cancelled = rows->run.state == RUN_S_CANCELLED;

	if (cancelled && !may_be_cancelled(w, &rows->run))
		world_fail(w, "run %lld is cancelled, but nobody asked", id);
	if (world_cancel_acked(w, rows->run.id) && !cancelled)
		world_fail(w, "run %lld: the cancel was acknowledged, but it is %s", id,
		    state_name(&run_state_names, rows->run.state));
	for (size_t i = 0; i < rows->nslots && run_state_is_end((enum run_state)rows->run.state); i++)
		if (!slot_stage_is_end((enum slot_stage)rows->slots[i]->stage) ||
		    rows->slots[i]->leaving != LEAVING_NOTHING)
			world_fail(w, "run %lld is %s, its slot %lld/%lld %s", id,
			    state_name(&run_state_names, rows->run.state),
			    (long long)rows->slots[i]->iteration, (long long)rows->slots[i]->slot,
			    state_name(&slot_stage_names, rows->slots[i]->stage));
}

/* Its preparation, or that of an iteration, came to nothing: no slot has such a cause. */
static bool is_unprepared(const struct run_rows *rows)
{
	int kind = rows->run.end_kind;

	for (size_t i = 0; i < rows->nslots; i++)
		if (rows->slots[i]->stage == SLOT_S_FAILED && rows->slots[i]->end_kind == kind)
			return false;
	return kind == END_GIT || kind == END_SOURCE || kind == END_ERROR;
}

static void compare_run(struct world *w, const struct run_rows *rows)
{
	struct tale *tales = xcalloc(rows->nslots, sizeof(*tales)), **of_task = xcalloc(rows->nslots, sizeof(*of_task));
	bool cancelled = rows->run.state == RUN_S_CANCELLED;
	size_t count = 0;

	compare_cancel(w, rows);
	for (size_t i = 0; i < rows->nslots; i++)
		tales[i].end.state = "";
	/* slot 0 comes last */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < rows->nslots; i++)
			if ((rows->slots[i]->slot == 0) == (pass == 1) && rows->slots[i]->voter_of == ROW_NONE)
				tale_tell(&tales[i], w, rows, rows->slots[i], tales);
	for (size_t i = 0; i < rows->nslots; i++) {
		/* what happens in a voter is told by the slot that it judges */
		if (rows->slots[i]->voter_of != ROW_NONE)
			continue;
		compare_slot(w, rows, &tales[i]);
		compare_task(w, rows, &tales[i]);
	}
	for (size_t t = 0; t <= rows->ntasks; t++) {
		const char *task = t < rows->ntasks ? rows->tasks[t]->id : "run";

		count = 0;
		/* slot 0 comes last */
		for (int pass = 0; pass < 2; pass++)
			for (size_t i = 0; i < rows->nslots; i++)
				if (strcmp(rows->slots[i]->task != NULL ? rows->slots[i]->task : "run",
				    task) == 0 && (rows->slots[i]->slot == 0) == (pass == 1) &&
				    rows->slots[i]->voter_of == ROW_NONE)
					of_task[count++] = &tales[i];
		compare_reviews(w, rows, task, of_task, count, !cancelled && !base_fails(rows));
		if (t < rows->ntasks)
			compare_lock(w, rows->tasks[t], of_task, count);
	}
	if (!cancelled && !is_unprepared(rows) && rows->run.started_at != ROW_NONE)
		compare_end(w, rows, tales, rows->nslots);
	free(of_task);
	free(tales);
}

void compare_ended(struct world *w, const struct run_rows *rows)
{
	compare_run(w, rows);
}

/* Whoever waits at rest waits for a human, or for one who does. */
static bool has_to_wait(struct world *w, const struct run_rows *rows)
{
	const struct run_rows *other = NULL;

	if (rows->run.paused == 1)
		return true;
	while ((other = view_next(world_disk(w), other != NULL ? other->run.id : 0)) != NULL) {
		if (other == rows || run_state_is_end((enum run_state)other->run.state))
			continue;
		if (other->run.id == rows->run.after_run || other->run.id == rows->run.retry_of ||
		    strcmp(other->run.workspace, rows->run.workspace) == 0)
			return true;
	}
	return false;
}

void compare_runs(struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		compare_run(w, rows);
		if (rows->run.state == RUN_S_RUNNING)
			world_fail(w, "run %lld is still running, but nothing moves", (long long)rows->run.id);
		if (!run_state_is_end((enum run_state)rows->run.state) && rows->run.end_kind == END_NONE &&
		    rows->run.after_run != ROW_NONE && comes_to_nothing(w, rows->run.after_run))
			world_fail(w, "run %lld is %s, and run %lld, which must succeed first, came to nothing",
			    (long long)rows->run.id,
			    state_name(&run_state_names, rows->run.state), (long long)rows->run.after_run);
		if (rows->run.state == RUN_S_QUEUED && !has_to_wait(w, rows))
			world_fail(w, "run %lld stays queued, and nothing holds it back", (long long)rows->run.id);
	}
}
