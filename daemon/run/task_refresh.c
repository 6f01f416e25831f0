/* SPDX-License-Identifier: MIT */
/* Turns the offers of a task source into tasks of the run: which are new, which may start, and why
 * others may not. */
#include "run/task_refresh.h"

#include <stdlib.h>
#include <string.h>

#include "agent/member.h"
#include "core/cause.h"
#include "core/row.h"
#include "core/state.h"
#include "core/tasks.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/view.h"
#include "proto/memory.h"
#include "run/task_rows.h"
#include "sched/claims.h"
#include "task/task.h"
#include "txn/txn.h"

/* The source's answer, sorted by id, because it may be long. */
struct offer {
	const struct task_item **items;
	size_t count;
	bool has_bd;
};

static int compare_items(const void *a, const void *b)
{
	return strcmp((*(const struct task_item *const *)a)->id, (*(const struct task_item *const *)b)->id);
}

static int compare_id(const void *key, const void *member)
{
	return strcmp(key, (*(const struct task_item *const *)member)->id);
}

static const struct task_item *find_item(const struct offer *offer, const char *id)
{
	const struct task_item *const *found = bsearch(id, offer->items, offer->count,
	    sizeof(*offer->items), compare_id);

	return found != NULL ? *found : NULL;
}

/* Whether the task has not started yet, so that the source's answer applies. */
static bool follows_source(const struct task_row *task)
{
	return task->state == TASK_S_OPEN || task->state == TASK_S_TAKEN || task->state == TASK_S_DONE;
}

/* Whether the item has passed in some run and was not changed since. bd, if available, knows which
 * ones were closed. */
static bool has_passed(const struct run *run, const char *source, const struct task_item *item, bool has_bd)
{
	const struct claim_row *claim = source != NULL && !has_bd ?
	    claims_find(run->engine->claims, source, item->id) : NULL;

	return claim != NULL && claim->state == CLAIM_S_DONE && !item_is_newer(item, claim->at);
}

/* Why the task is not free (the other run that has it), malloc'd; NULL: it is free. *passed: there
 * is nothing left to do. */
static char *taken_by(const struct run *run, const struct task_item *item, bool has_bd, bool *passed)
{
	char *source = run_claim_source(run), *by = NULL;
	const struct claim_row *claim = source != NULL ? claims_find(run->engine->claims, source, item->id) : NULL;

	if (claim != NULL && claim->state == CLAIM_S_HELD && claim->run != run->rows->run.id)
		by = xasprintf("run %lld works on it", (long long)claim->run);
	if (has_passed(run, source, item, has_bd)) {
		*passed = true;
		by = xasprintf("it passed in run %lld", (long long)claim->run);
	}
	free(source);
	return by;
}

/* A blocking bead that no longer blocks, whatever the source says: it is done in this run, which
 * must be reviewed as a whole before the source is told; or it has passed without bd, so that the
 * source is never told. */
static bool is_settled(const struct run *run, const struct offer *offer, const char *source, const char *id)
{
	const struct task_row *task = run_rows_task(run->rows, id);
	const struct task_item *on = find_item(offer, id);

	return (task != NULL && task->state == TASK_S_IMPLEMENTED) ||
	    (on != NULL && has_passed(run, source, on, offer->has_bd));
}

static bool is_ready(const struct run *run, const struct offer *offer, const struct task_item *item)
{
	char *source = item->held_by != NULL ? run_claim_source(run) : NULL;
	bool ready = item->ready || source != NULL;

	for (size_t i = 0; ready && source != NULL && item->held_by[i] != NULL; i++)
		ready = is_settled(run, offer, source, item->held_by[i]);
	free(source);
	return ready;
}

static bool is_over(const struct task_row *task)
{
	return task->state == TASK_S_PASSED || task->state == TASK_S_DONE || task->state == TASK_S_IMPLEMENTED;
}

/* The first bead that still blocks it; *ours: one of them is still to be done in this run, or has
 * failed. */
static const char *waits_for(const struct run *run, const struct offer *offer, const struct task_item *item, bool *ours)
{
	const char *first = NULL;

	*ours = false;
	for (size_t i = 0; item->held_by != NULL && item->held_by[i] != NULL && !*ours; i++) {
		const struct task_row *task = run_rows_task(run->rows, item->held_by[i]);
		const struct task_item *on = find_item(offer, item->held_by[i]);

		*ours = task != NULL ? !is_over(task) : on != NULL && !on->done && (on->ready || on->held_by != NULL);
		if (first == NULL && (task == NULL || !is_over(task)))
			first = item->held_by[i];
	}
	return first != NULL || item->held_by == NULL ? first : item->held_by[0];
}

/* *last: the position of the previous task. Done tasks leave a gap, so that the others keep their
 * positions. */
static void refresh(struct txn *txn, struct run *run, const struct offer *offer,
    const struct task_item *item, int64_t *last)
{
	const struct task_row *known = run_rows_task(run->rows, item->id);
	bool ready = is_ready(run, offer, item), passed = false, ours, held_back;
	enum end_kind kind;
	const char *on = waits_for(run, offer, item, &ours);
	struct task_row *task;
	char *by;

	if (known == NULL ? item->done || (!ready && on == NULL) : !follows_source(known))
		return;
	by = taken_by(run, item, offer->has_bd, &passed);
	held_back = by == NULL && !ready && !item->done && !ours;
	if (held_back)
		by = on != NULL ? xasprintf("waits for %s, which is not in this run", on) :
		    xstrdup("its source holds it back");
	kind = passed ? END_DONE : held_back ? on != NULL ? END_DEPENDENCY : END_SOURCE : END_TAKEN;
	task = known == NULL ? task_row_new(run->rows->run.id, item) : row_copy(ROW_TASK, known);
	if (known == NULL || task->position <= *last)
		task->position = *last + 1;
	*last = task->position;
	task->priority = item->priority;
	text_set(&task->status, item->status);
	free(task->depends_on);
	task->depends_on = task_depends(ready ? item->depends_on : item->held_by);
	task->state = item->done || passed ? TASK_S_DONE : by != NULL ? TASK_S_TAKEN : TASK_S_OPEN;
	task_set_cause(task, by != NULL ? CAUSE(kind, by) : NO_CAUSE);
	free(by);
	if (known == NULL) {
		txn_add(txn, run, ROW_TASK, task);
		return;
	}
	/* a source may offer thousands, of which few have changed since the last iteration */
	if (!row_equal(ROW_TASK, task, known))
		row_assign(ROW_TASK, txn_edit_task(txn, known), task);
	row_free(ROW_TASK, task);
}

/* State of a task according to claims of other runs, with the reason, malloc'd; OPEN: no claim.
 * Released tasks have no claim after a restart. */
static enum task_state claimed_elsewhere(const struct run *run, const char *source,
    const char *task, char **reason, enum end_kind *kind)
{
	const struct claim_row *claim = source != NULL ? claims_find(run->engine->claims, source, task) : NULL;

	*kind = END_NONE;
	if (claim != NULL && claim->state == CLAIM_S_HELD) {
		*kind = END_TAKEN;
		*reason = xasprintf("run %lld works on it", (long long)claim->run);
		return TASK_S_TAKEN;
	}
	if (claim != NULL && claim->state == CLAIM_S_DONE && claim->at >= run->rows->run.created_at) {
		*kind = END_DONE;
		*reason = xasprintf("it passed in run %lld", (long long)claim->run);
		return TASK_S_DONE;
	}
	return TASK_S_OPEN;
}

/* The source offered the task before, and no longer does. */
static void withdraw(struct txn *txn, const struct run *run, const char *source, const struct task_row *known)
{
	char *reason = NULL;
	enum end_kind kind;
	enum task_state state = claimed_elsewhere(run, source, known->id, &reason, &kind);
	struct task_row *task = txn_edit_task(txn, known);

	task->state = (int)(state != TASK_S_OPEN ? state : TASK_S_TAKEN);
	task_set_cause(task, reason != NULL ? CAUSE(kind, reason) :
	    CAUSE(END_SOURCE,
	        "its source no longer offers it: it was closed, claimed or held back there"));
	free(reason);
}

void offer_take(struct txn *txn, struct run *run, const struct task_list *list, bool has_bd)
{
	struct offer offer = { xcalloc(list->count + 1, sizeof(*offer.items)), list->count, has_bd };
	char *source = run_claim_source(run);
	int64_t last = 0;

	for (size_t i = 0; i < list->count; i++)
		offer.items[i] = &list->items[i];
	qsort(offer.items, offer.count, sizeof(*offer.items), compare_items);
	for (size_t i = 0; i < list->count; i++)
		refresh(txn, run, &offer, &list->items[i], &last);
	for (size_t i = 0; i < run->rows->ntasks; i++) {
		const struct task_row *task = run->rows->tasks[i];

		if (task->state == TASK_S_OPEN && find_item(&offer, task->id) == NULL)
			withdraw(txn, run, source, task);
	}
	free(source);
	free(offer.items);
}

void offer_follow_claims(struct txn *txn, struct run *run)
{
	char *source = run_claim_source(run);

	for (size_t i = 0; source != NULL && i < run->rows->ntasks; i++) {
		const struct task_row *task = run->rows->tasks[i];
		const struct claim_row *claim = claims_find(run->engine->claims, source, task->id);
		enum task_state state;
		enum end_kind kind;
		char *reason = NULL;

		if ((task->state != TASK_S_OPEN && task->state != TASK_S_TAKEN) ||
		    (claim != NULL && claim->run == run->rows->run.id))
			continue;
		state = claimed_elsewhere(run, source, task->id, &reason, &kind);
		if (task->state != (int)state) {
			struct task_row *edit = txn_edit_task(txn, task);

			edit->state = (int)state;
			task_set_cause(edit, CAUSE(kind, reason));
		}
		free(reason);
	}
	free(source);
}
