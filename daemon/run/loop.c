/* SPDX-License-Identifier: MIT */
/* The iterations of the outer loop: starting and finishing one. One that rolls starts further tasks
 * until none is left. */
#include "run/loop.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "core/next_stage.h"
#include "core/plan.h"
#include "core/row.h"
#include "core/run.h"
#include "core/slot.h"
#include "core/state.h"
#include "core/tasks.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "proto/state_names.h"
#include "sched/claims.h"
#include "sched/permits.h"
#include "sched/spending.h"
#include "slot/agent_pick.h"
#include "slot/continue.h"
#include "slot/machine.h"
#include "task/task.h"
#include "task/task_op.h"
#include "txn/txn.h"

/* No slot of this iteration had a task: the next iteration would be the same. */
static bool is_idle(const struct run *run)
{
	size_t slots = 0, tasks = 0;

	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;

		if (row->iteration != run->rows->run.iteration || row->slot == 0 || slot_is_beside(run->slots[i]))
			continue;
		slots++;
		tasks += row->task != NULL;
	}
	return slots > 0 && tasks == 0;
}

size_t run_settled(const struct run *run)
{
	size_t count = 0;

	/* one that has lost its task to another program changes nothing */
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;

		count += row->task != NULL && !slot_is_beside(run->slots[i]) &&
		    (slot_row_is_free(row) || row->stage == SLOT_S_IMPLEMENTED || row->stage == SLOT_S_HELD);
	}
	return count;
}

/* Tasks claimed elsewhere may be released, which a source that is read only once does not tell. */
static bool may_have_more(const struct run *run)
{
	bool more = sources[run_source(run)].reloads;

	for (size_t i = 0; i < run->rows->ntasks; i++)
		more |= run->rows->tasks[i]->state == TASK_S_TAKEN;
	return more && run->asked != run_settled(run);
}

static bool has_failed(const struct run *run)
{
	for (size_t i = 0; i < run->rows->nslots; i++)
		if (run->rows->slots[i]->stage == SLOT_S_FAILED && !slot_row_is_beside(run->rows->slots[i]))
			return true;
	return false;
}

struct loop run_loop(const struct run *run, const struct slot_row ***slots)
{
	const struct run_row *row = &run->rows->run;
	struct loop loop;
	size_t count = 0;

	*slots = xcalloc(run->nslots, sizeof(**slots));
	for (size_t i = 0; i < run->nslots; i++)
		if (!slot_is_beside(run->slots[i]))
			(*slots)[count++] = run->slots[i]->row;
	loop = (struct loop){
		.slots = *slots,
		.nslots = count,
		.tasks = run->rows->tasks,
		.ntasks = run->rows->ntasks,
		.iteration = row->iteration,
		.iterations = run->plan.iterations,
		.on_failure = run->plan.on_failure,
		.more = may_have_more(run),
		.roll = run->plan.rolls ? run->plan.parallel : 0,
		.one_tree = run->plan.isolation != ISOLATION_WORKTREE,
		.stopped = row->stopped == 1 || run_gave_up(run) || run_base_failed(run),
		.idle = row->stopped == 2 || (!run->plan.rolls && is_idle(run)),
		.failed = has_failed(run),
	};
	run_spent(run, loop.spent);
	return loop;
}

size_t run_room(const struct run *run)
{
	const struct slot_row **slots;
	struct loop loop = run_loop(run, &slots);
	size_t room = run_free_slots(&loop, run->plan.parallel);

	free(slots);
	return run->plan.rolls ? room : (size_t)run->plan.parallel;
}

/* Ended slots of earlier iterations are only history. */
static void drop_slots(struct run *run)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->nslots; i++) {
		struct slot *slot = run->slots[i];

		if (!slot_stage_is_end((enum slot_stage)slot->row->stage) || slot->row->leaving != LEAVING_NOTHING) {
			run->slots[kept++] = slot;
			continue;
		}
		slot_release(slot);
		free(slot);
	}
	run->nslots = kept;
}

static void put_iteration(struct txn *txn, struct run *run)
{
	const struct run_rows *rows = run->rows;
	struct iteration_row *iteration = row_new(ROW_ITERATION);

	iteration->run = rows->run.id;
	iteration->number = rows->run.iteration;
	iteration->state = ITERATION_S_RUNNING;
	iteration->started_at = engine_now(run->engine);
	txn_add(txn, run, ROW_ITERATION, iteration);
	txn_emit(txn, "iteration.started", rows->run.id,
	    json_pack("{s:I}", "iteration", (json_int_t)rows->run.iteration));
}

/* A slot with a task, or with NULL because its agent will pick one. */
static void add_slot(struct txn *txn, struct run *run, int64_t number, const struct task_row *task)
{
	struct slot_row *row = row_new(ROW_SLOT);
	struct slot *slot;

	slot_row_init(row, run, number, task != NULL ? task->id : NULL);

	if (task != NULL) {
		struct task_row *edit = txn_edit_task(txn, task);

		edit->state = TASK_S_CLAIMED;
		task_set_cause(edit, NO_CAUSE);
		run_claim(txn, run, task->id, CLAIM_S_HELD);
	}
	row->base_tree = xstrdup(run->iteration_tree);
	row->head = xstrdup(run->iteration_head);
	row->head_at = xstrdup(run->iteration_head_at);
	txn_add(txn, run, ROW_SLOT, row);
	run_add_slot(run, row);
	slot = run->slots[run->nslots - 1];
	row->fixes = slot_plan(slot)->max_fixes;
	if (task == NULL && number > 1) {
		slot_set_reason(row, REASON(WAIT_PICK, REASON_STAGED));
		activity_wait(&slot->activity, ACTIVITY_PICK);
	}
}

static const struct iteration_row *last_iteration(const struct run *run)
{
	return run->rows->niterations > 0 ? run->rows->iterations[run->rows->niterations - 1] : NULL;
}

static void begin_iteration(struct txn *txn, struct run *run)
{
	drop_slots(run);
	txn_edit_run(txn, run)->iteration++;
	put_iteration(txn, run);
	run->asked = run->plan.rolls ? run_settled(run) : SIZE_MAX;
}

/* Each task of an iteration has a slot of its own, with the next number. */
static int64_t next_number(struct run *run)
{
	int64_t last = 0;

	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;

		if (row->iteration == run->rows->run.iteration && row->slot > last && !slot_row_is_beside(row))
			last = row->slot;
	}
	/* those beside them have the highest ones */
	while (run_slot(run, run->rows->run.iteration, ++last) != NULL)
		;
	return last;
}

/* The first one has the permit that the run kept. */
static void start_slots(struct txn *txn, struct run *run, size_t first)
{
	bool keeps = run->own.has_permit;

	if (keeps) {
		run->own.has_permit = false;
		run->slots[first]->has_permit = true;
		slot_on_permit(txn, run->slots[first]);
	}
	for (size_t i = keeps ? first + 1 : first; i < run->nslots; i++)
		if (run->slots[i]->activity.kind == ACTIVITY_NONE)
			queue_want(run->slots[i]);
	queue_update(run);
	txn_effect_schedule(txn);
}

void run_begin_tasks(struct txn *txn, struct run *run)
{
	const struct iteration_row *last = last_iteration(run);
	const struct task_row **ready;
	size_t count, first;

	if (last == NULL || last->state != ITERATION_S_RUNNING)
		begin_iteration(txn, run);
	/* claiming a task makes no other task ready */
	ready = task_ready(run->rows->tasks, run->rows->ntasks, run_room(run), &count);
	first = run->nslots;
	for (size_t i = 0; i < count; i++)
		add_slot(txn, run, next_number(run), run->plan.assign == ASSIGN_DAEMON || ready[i]->start != NULL ?
		    ready[i] : NULL);
	free(ready);
	start_slots(txn, run, first);
	text_set(&run->iteration_tree, NULL);
}

/* What is reviewed as a whole is one iteration. */
bool run_iteration_is_over(const struct run *run)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (run->slots[i]->row->slot == 0 && run->slots[i]->row->iteration == run->rows->run.iteration)
			return true;
	return !run->plan.rolls;
}

/* Failed if one of its slots is; idle if none had a task, which ends the loop. */
bool run_finish_iteration(struct txn *txn, struct run *run)
{
	const struct run_rows *rows = run->rows;
	const struct iteration_row *last = last_iteration(run);
	struct iteration_row *edit;
	bool failed = false, idle = true;

	if (last == NULL || last->state != ITERATION_S_RUNNING)
		return false;
	for (size_t i = 0; i < run->nslots; i++) {
		const struct slot_row *row = run->slots[i]->row;

		if (row->iteration != last->number || slot_is_beside(run->slots[i]))
			continue;
		failed |= row->stage == SLOT_S_FAILED;
		idle &= row->task == NULL;
	}
	edit = txn_edit_iteration(txn, last);
	edit->state = run_cancelling(run) || rows->run.state == RUN_S_CANCELLED ?
	    ITERATION_S_CANCELLED : failed ? ITERATION_S_FAILED : ITERATION_S_PASSED;
	edit->ended_at = engine_now(run->engine);
	txn_emit(txn, "iteration.ended", rows->run.id, json_pack("{s:I, s:s}", "iteration", (json_int_t)last->number,
	    "state", state_name(&iteration_state_names, last->state)));
	if (idle) {
		run->asked = run_settled(run);
		txn_edit_run(txn, run)->stopped = rows->run.stopped == 1 ? 1 : 2;
	}
	return true;
}

void run_begin_review(struct txn *txn, struct run *run)
{
	const struct run_rows *rows = run->rows;
	struct slot_row *row = row_new(ROW_SLOT);
	struct slot *slot;

	slot_row_init(row, run, 0, rows->ntasks == 1 ? rows->tasks[0]->id : NULL);

	for (size_t i = 0; i < run->nslots; i++)
		if (run->slots[i]->row->stage == SLOT_S_IMPLEMENTED)
			row->answer = run->slots[i]->row->answer;
	for (size_t i = 0; i < run->nslots && row->answer == ROW_NONE; i++)
		if (run->slots[i]->row->stage == SLOT_S_IMPLEMENTED)
			row->earlier_answer = run->slots[i]->row->earlier_answer;
	row->fixes = run->plan.max_fixes;
	txn_add(txn, run, ROW_SLOT, row);
	run_add_slot(run, row);
	slot = run->slots[run->nslots - 1];
	run->own.has_permit = false;
	slot->has_permit = true;
	slot_move(txn, slot, SLOT_S_WAITING,
	    continue_before_work(txn, slot, first_review_stage(&run->plan, rows->run.has_git == 1)), NULL);
}

void run_finish_tasks(struct txn *txn, struct run *run)
{
	const struct run_rows *rows = run->rows;
	/* compute all reasons first: a task cancelled here must not become the reason of another */
	char **reasons = task_reasons(rows->tasks, rows->ntasks);

	for (size_t i = 0; i < rows->ntasks; i++) {
		if (rows->tasks[i]->state == TASK_S_OPEN) {
			struct task_row *task = txn_edit_task(txn, rows->tasks[i]);
			char *text;

			task->state = TASK_S_CANCELLED;
			text = xasprintf("not started: %s",
			    rows->run.cause != NULL ? rows->run.cause : "the run ended");
			task_set_cause(task, reasons[i] != NULL ?
			    CAUSE(END_DEPENDENCY, reasons[i]) : CAUSE(END_NOT_BEGUN, text));
			free(text);
		}
		free(reasons[i]);
	}
	free(reasons);
}
