/* SPDX-License-Identifier: MIT */
#include "run/run_change.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/plan_change.h"
#include "core/plan_json.h"
#include "core/row.h"
#include "core/schedule.h"
#include "core/slot.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "run/run_refusal.h"
#include "run/task_rows.h"
#include "sched/permits.h"
#include "sched/spending.h"
#include "task/task.h"
#include "txn/txn.h"

static bool changes(const struct run_change *change, const char *name)
{
	for (size_t i = 0; plan_changes[i].name != NULL; i++)
		if (strcmp(plan_changes[i].name, name) == 0)
			return (change->changes & 1u << i) != 0;
	return false;
}

static int refusal(const struct engine *engine, const struct run *run, const struct run_change *change,
    struct engine_reply *reply)
{
	int code = run_refuse_ending(engine, run, "rlctl retry starts a new one", reply);

	if (code != RPC_OK)
		return code;
	/* what may be done in a tree depends on how many work there */
	if (changes(change, "parallel") && run->plan.isolation != ISOLATION_WORKTREE) {
		reply->message = "the slots of this run share a directory: their number is fixed";
		reply->hint = "cancel it, and submit it again with --isolation worktree";
		reply->field = "parallel";
		return RPC_INVALID_PARAMS;
	}
	if (change->stories != NULL && run_source(run) != SOURCE_STORIES) {
		reply->message = "the tasks of this run are no stories";
		reply->hint = run_source(run) == SOURCE_BEADS ? "create a bead: its next iteration has it" :
		    "submit the task as another run, with --after";
		reply->field = "stories";
		return RPC_INVALID_PARAMS;
	}
	return RPC_OK;
}

/* What is known already stays as it was submitted. */
static void add_stories(struct txn *txn, struct run *run, const struct task_list *stories)
{
	int64_t last = 0;

	for (size_t i = 0; i < run->rows->ntasks; i++)
		last = run->rows->tasks[i]->position > last ? run->rows->tasks[i]->position : last;
	for (size_t i = 0; i < stories->count; i++) {
		struct task_row *task;

		if (run_rows_task(run->rows, stories->items[i].id) != NULL)
			continue;
		task = task_row_new(run->rows->run.id, &stories->items[i]);
		task->position = ++last;
		txn_add(txn, run, ROW_TASK, task);
	}
}

/* For a task that has its own settings. */
static void change_task(struct txn *txn, const struct task_row *task, const struct run_change *change)
{
	struct plan plan = { 0 };

	if (task->plan == NULL || plan_from_json(task->plan, &plan) == -1)
		return;
	plan_change(&plan, change->plan, change->changes);
	free(txn_edit_task(txn, task)->plan);
	txn_edit_task(txn, task)->plan = plan_to_json(&plan);
	plan_release(&plan);
}

/* The limit of fixes is counted from where the slot began. */
static void change_slot(struct txn *txn, struct slot *slot, const struct run_change *change)
{
	int64_t more, before = slot_plan(slot)->max_fixes;
	struct slot_row *row;

	if (slot->plan != NULL)
		plan_change(slot->plan, change->plan, change->changes);
	more = change->plan->max_fixes - before;
	if (!changes(change, "max_fixes") || more == 0 || slot_stage_is_end((enum slot_stage)slot->row->stage))
		return;
	row = txn_edit_slot(txn, slot);
	row->fixes = row->fixes + more > row->fix ? row->fixes + more : row->fix;
}

static json_t *names_of(const struct run_change *change)
{
	json_t *names = json_array();

	for (size_t i = 0; plan_changes[i].name != NULL; i++)
		if ((change->changes & 1u << i) != 0)
			json_array_append_new(names, json_string(plan_changes[i].name));
	if (change->priority != ROW_NONE)
		json_array_append_new(names, json_string("priority"));
	if (change->stories != NULL)
		json_array_append_new(names, json_string("stories"));
	return names;
}

static void apply(struct txn *txn, struct run *run, const struct run_change *change)
{
	struct run_row *row = txn_edit_run(txn, run);

	for (size_t i = 0; i < run->nslots; i++)
		change_slot(txn, run->slots[i], change);
	for (size_t i = 0; i < run->rows->ntasks; i++)
		change_task(txn, run->rows->tasks[i], change);
	plan_change(&run->plan, change->plan, change->changes);
	free(row->plan);
	row->plan = plan_to_json(&run->plan);
	if (change->priority != ROW_NONE) {
		row->priority = change->priority;
		schedule_set_priority(run->engine->schedule, row->id, change->priority);
	}
	if (change->stories != NULL)
		add_stories(txn, run, change->stories);
	if (changes(change, "max_wall"))
		budget_watch(run);
	/* a slot may be free for them */
	if (run->plan.rolls && run->nslots > 0)
		txn_touch(txn, run);
	txn_emit(txn, "run.changed", row->id, json_pack("{s:s, s:o}", "by", change->by, "changes", names_of(change)));
	log_about(LOG_LEVEL_INFO, row->id, 0, "run %lld: settings changed by %s", (long long)row->id, change->by);
}

void engine_change(struct engine *engine, const struct run_change *change, engine_reply_cb *cb, void *arg)
{
	struct run *run = run_find(engine, change->run);
	struct engine_reply reply = { .id = change->run, .rows = view_run(engine->view, change->run) };
	struct txn *txn;

	reply.code = refusal(engine, run, change, &reply);
	if (reply.code != RPC_OK || change->check) {
		cb(arg, &reply);
		return;
	}
	txn = txn_new(engine);
	apply(txn, run, change);
	txn_effect_schedule(txn);
	txn_effect_cooling(txn);
	txn_reply(txn, cb, arg, change->run);
	txn_commit(txn);
}
