/* SPDX-License-Identifier: MIT */
#include "job/task_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/slot.h"
#include "core/state.h"
#include "core/tasks.h"
#include "model/row_json.h"
#include "proto/memory.h"

static int by_position(const void *a, const void *b)
{
	const struct task_row *x = *(const struct task_row *const *)a, *y = *(const struct task_row *const *)b;

	return x->position == y->position ? strcmp(x->id, y->id) : x->position < y->position ? -1 : 1;
}

/* Why the tasks of a held run that wait for no other do not start, malloc'd; NULL: it is not
 * held. */
static char *held_back(const struct run_rows *rows, enum wait_kind *kind)
{
	const struct run_row *run = &rows->run;

	*kind = WAIT_NOTHING;
	if (run->state != RUN_S_HELD)
		return NULL;
	*kind = WAIT_LIMIT;
	if (run->iterations != ROW_NONE && run->iteration >= run->iterations)
		return xasprintf("the run has completed its %lld iteration(s)", (long long)run->iterations);
	*kind = WAIT_DECISION;
	for (size_t i = 0; i < rows->nholds; i++)
		if (rows->holds[i]->state == HOLD_S_OPEN)
			return xasprintf("waits for the decision on hold %lld (%s)",
			    (long long)rows->holds[i]->id, rows->holds[i]->task);
	return NULL;
}

/* The row of a task with dependencies does not say what it waits for, because that changes with
 * them. */
static void add_reasons(json_t *list, const struct run_rows *rows, const struct task_row *const *order, size_t count)
{
	enum wait_kind kind;
	char **reasons = task_reasons(order, count), *held = held_back(rows, &kind);

	for (size_t i = 0; i < count; i++) {
		json_t *json = json_array_get(list, i);
		const char *text = reasons[i] != NULL ? reasons[i] : order[i]->state == TASK_S_OPEN ? held : NULL;

		json_object_set_new(json, "wait_kind", json_null());
		if (text != NULL) {
			json_object_set_new(json, "reason", json_text(text));
			json_object_set_new(json, "wait_kind", json_text(state_name(&wait_kind_names,
			    (int)(reasons[i] != NULL ? WAIT_TASK : kind))));
		}
		free(reasons[i]);
	}
	free(reasons);
	free(held);
}

/* What was done for a task. */
struct work {
	int64_t attempts, rounds, wall_ms;
	int64_t panel_round;	/* the last one of a panel, whose votes are one review */
	double cost;		/* NaN: nothing was reported */
};

static void work_add(struct work *work, const struct attempt_row *a)
{
	work->attempts++;
	work->rounds += a->role == ROLE_REVIEW && a->process != PROCESS_NOT_STARTED &&
	    (a->reviewer == NULL || a->round != work->panel_round);
	if (a->role == ROLE_REVIEW && a->reviewer != NULL)
		work->panel_round = a->round;
	if (a->started_at != ROW_NONE && a->ended_at != ROW_NONE)
		work->wall_ms += a->ended_at - a->started_at;
	if (!isnan(a->cost_usd))
		work->cost = (isnan(work->cost) ? 0 : work->cost) + a->cost_usd;
}

static void set_work(json_t *json, const struct work *work)
{
	json_object_set_new(json, "rounds", json_integer((json_int_t)work->rounds));
	json_object_set_new(json, "attempts", json_integer((json_int_t)work->attempts));
	json_object_set_new(json, "wall_ms", json_integer((json_int_t)work->wall_ms));
	json_object_set_new(json, "cost_usd", isnan(work->cost) ? json_null() : json_real(work->cost));
}

/* places: index in list by the id of the task. */
static void add_works(json_t *list, const json_t *places, const struct run_rows *rows)
{
	struct work *works = xcalloc(rows->ntasks + 1, sizeof(*works));

	for (size_t i = 0; i < rows->ntasks; i++)
		works[i].cost = NAN;
	for (size_t i = 0; i < rows->nattempts; i++) {
		const char *task = rows->attempts[i]->task;
		const json_t *place = task == NULL ? NULL : json_object_get(places, task);

		if (place != NULL)
			work_add(&works[json_integer_value(place)], rows->attempts[i]);
	}
	for (size_t i = 0; i < rows->ntasks; i++)
		set_work(json_array_get(list, i), &works[i]);
	free(works);
}

/* NULL: no such task. */
static json_t *at(const json_t *list, const json_t *places, const char *task)
{
	const json_t *place = task == NULL ? NULL : json_object_get(places, task);

	return place == NULL ? NULL : json_array_get(list, (size_t)json_integer_value(place));
}

static void set_wait(json_t *json, const char *reason, int kind)
{
	json_object_set_new(json, "reason", json_text(reason));
	json_object_set_new(json, "wait_kind", json_text(state_name(&wait_kind_names, kind)));
}

/* Branch and commit of the slot, and what it waits for. */
static void add_slot(json_t *json, const struct slot_row *slot)
{
	json_object_set_new(json, "branch", json_text(slot->branch));
	json_object_set_new(json, "commit", json_text(slot->commit_id));
	json_object_set_new(json, "merge", json_text(state_name(&slot_merge_names, slot->merge)));
	if (slot_stage_is_end((enum slot_stage)slot->stage))
		return;
	if (slot->wait != WAIT_NOTHING)
		set_wait(json, slot->wait_reason, slot->wait);
	else if (slot_row_phase(slot) == PHASE_COOLING)
		set_wait(json, slot->reason, slot->wait_kind);
}

static void add_hold(json_t *json, const struct hold_row *hold)
{
	char *text = xasprintf("hold %lld: %s", (long long)hold->id, hold->reason);

	set_wait(json, text, WAIT_DECISION);
	free(text);
}

json_t *task_list_make(const struct run_rows *rows)
{
	json_t *list = json_array(), *places = json_object(), *json;
	const struct task_row **order = rows->ntasks == 0 ? NULL :
	    (void *)xmemdup0(rows->tasks, rows->ntasks * sizeof(*order));

	if (order != NULL)
		qsort(order, rows->ntasks, sizeof(*order), by_position);
	for (size_t i = 0; i < rows->ntasks; i++) {
		json = json_row(ROW_TASK, order[i]);
		json_object_set_new(json, "branch", json_null());
		json_object_set_new(json, "commit", json_null());
		json_object_set_new(json, "merge", json_null());
		json_array_append_new(list, json);
		json_object_set_new_nocheck(places, order[i]->id, json_integer((json_int_t)i));
	}
	if (order != NULL)
		add_reasons(list, rows, order, rows->ntasks);
	for (size_t i = 0; i < rows->nslots; i++) {
		json = at(list, places, rows->slots[i]->task);
		if (json != NULL && !slot_row_is_beside(rows->slots[i]))
			add_slot(json, rows->slots[i]);
	}
	for (size_t i = 0; i < rows->nholds; i++) {
		json = rows->holds[i]->state == HOLD_S_OPEN ? at(list, places, rows->holds[i]->task) : NULL;
		if (json != NULL)
			add_hold(json, rows->holds[i]);
	}
	add_works(list, places, rows);
	json_decref(places);
	free(order);
	return list;
}
