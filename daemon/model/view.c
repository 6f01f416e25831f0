/* SPDX-License-Identifier: MIT */
#include "model/view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/chain.h"
#include "core/entries.h"
#include "core/order.h"
#include "core/run.h"
#include "proto/memory.h"

/* Where the rows of a kind are in struct run_rows, and their key columns. Kinds without a place are
 * not part of a run's view: a hook outlives its run, claims and groups belong to all runs. */
static const struct place {
	size_t list, count;
	size_t run;		/* offset of the run id in the row */
	size_t keys[3];		/* offsets of FIELD_INT keys in the row, (size_t)-1: none */
	size_t text_key;	/* offset of a FIELD_TEXT key, (size_t)-1: none */
} places[ROW_KINDS] = {
#define NONE ((size_t)-1)
#define LIST(kind) \
	offsetof(struct run_rows, kind##s), offsetof(struct run_rows, n##kind##s), offsetof(struct kind##_row, run)
	[ROW_TASK] = { LIST(task), { NONE, NONE, NONE }, offsetof(struct task_row, id) },
	[ROW_ITERATION] = { LIST(iteration), { offsetof(struct iteration_row, number), NONE, NONE }, NONE },
	[ROW_SLOT] = { LIST(slot),
	    { offsetof(struct slot_row, iteration), offsetof(struct slot_row, slot), NONE }, NONE },
	[ROW_ATTEMPT] = { LIST(attempt), { offsetof(struct attempt_row, id), NONE, NONE }, NONE },
	[ROW_STEP] = { LIST(step), { offsetof(struct step_row, id), NONE, NONE }, NONE },
	[ROW_REVIEW] = { LIST(review), { offsetof(struct review_row, number), NONE, NONE }, NONE },
	[ROW_PRODUCT] = { LIST(product), { offsetof(struct product_row, number), NONE, NONE }, NONE },
	[ROW_EVIDENCE] = { offsetof(struct run_rows, evidence), offsetof(struct run_rows, nevidence),
	    offsetof(struct evidence_row, run), { offsetof(struct evidence_row, number), NONE, NONE }, NONE },
	[ROW_ENTRY] = { offsetof(struct run_rows, entries), offsetof(struct run_rows, nentries),
	    offsetof(struct entry_row, run), { offsetof(struct entry_row, number), NONE, NONE }, NONE },
	[ROW_PRUNED] = { offsetof(struct run_rows, pruned), offsetof(struct run_rows, npruned),
	    offsetof(struct pruned_row, run), { NONE, NONE, NONE }, NONE },
	[ROW_HOLD] = { LIST(hold), { offsetof(struct hold_row, id), NONE, NONE }, NONE },
	[ROW_FINDING] = { LIST(finding),
	    { offsetof(struct finding_row, review), offsetof(struct finding_row, number), NONE }, NONE },
};

struct view {
	struct run_rows **runs;	/* in order of id */
	size_t count, room;
	size_t running;		/* number of RUNNING attempts, needed at every commit */
	size_t states[RUN_STATES];	/* number of runs */
};

static int64_t int_at(const void *row, size_t offset)
{
	return *(const int64_t *)(const void *)((const char *)row + offset);
}

static const char *text_at(const void *row, size_t offset)
{
	return *(char *const *)(const void *)((const char *)row + offset);
}

static int row_compare(const struct place *place, const void *a, const void *b)
{
	for (size_t i = 0; i < 3 && place->keys[i] != NONE; i++) {
		int64_t x = int_at(a, place->keys[i]), y = int_at(b, place->keys[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return place->text_key == NONE ? 0 : strcmp(text_at(a, place->text_key), text_at(b, place->text_key));
}

struct run_rows *run_rows_new(void)
{
	struct run_rows *rows = xcalloc(1, sizeof(*rows));

	row_init(ROW_RUN, &rows->run);
	return rows;
}

/* Position of the row in the list of its kind, or where it would be. */
static size_t row_find(struct run_rows *rows, const struct place *place, const void *row, void ****list, size_t **count)
{
	size_t at = 0, end;

	*list = (void ***)(void *)((char *)rows + place->list);
	*count = (size_t *)(void *)((char *)rows + place->count);
	end = **count;
	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (row_compare(place, (**list)[middle], row) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

void run_rows_put(struct run_rows *rows, enum row_kind kind, void *row)
{
	const struct place *place = &places[kind];
	void ***list;
	size_t *count, at;

	if (kind == ROW_RUN) {
		row_assign(ROW_RUN, &rows->run, row);
		row_free(ROW_RUN, row);
		return;
	}
	at = row_find(rows, place, row, &list, &count);
	if (at < *count && row_compare(place, (*list)[at], row) == 0) {
		row_free(kind, (*list)[at]);
		(*list)[at] = row;
		return;
	}
	*list = xreallocarray(*list, *count + 1, sizeof(**list));
	memmove(*list + at + 1, *list + at, (*count - at) * sizeof(**list));
	(*list)[at] = row;
	++*count;
}

void run_rows_drop(struct run_rows *rows, enum row_kind kind, const void *row)
{
	const struct place *place = &places[kind];
	void ***list;
	size_t *count, at = row_find(rows, place, row, &list, &count);

	if (at == *count || row_compare(place, (*list)[at], row) != 0)
		return;
	row_free(kind, (*list)[at]);
	memmove(*list + at, *list + at + 1, (*count - at - 1) * sizeof(**list));
	--*count;
}

struct run_rows *run_rows_copy(const struct run_rows *from)
{
	struct run_rows *to = run_rows_new();

	row_assign(ROW_RUN, &to->run, &from->run);
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		void *const *list;
		size_t count;

		if (places[kind].count == 0 || kind == ROW_STEP)
			continue;
		list = *(void *const *const *)(const void *)((const char *)from + places[kind].list);
		count = *(const size_t *)(const void *)((const char *)from + places[kind].count);
		for (size_t i = 0; i < count; i++)
			run_rows_put(to, (enum row_kind)kind, row_copy((enum row_kind)kind, list[i]));
	}
	return to;
}

static int compare_task(const void *key, const void *member)
{
	return strcmp(key, (*(const struct task_row *const *)member)->id);
}

const struct task_row *run_rows_task(const struct run_rows *rows, const char *id)
{
	const struct task_row **found = rows->ntasks > 0 ?
	    bsearch(id, rows->tasks, rows->ntasks, sizeof(*rows->tasks), compare_task) : NULL;

	return found != NULL ? *found : NULL;
}

static int compare_attempt(const void *key, const void *member)
{
	return order(*(const int64_t *)key, (*(const struct attempt_row *const *)member)->id);
}

size_t run_rows_attempt_at(const struct run_rows *rows, int64_t id)
{
	const struct attempt_row **found = rows->nattempts > 0 ?
	    bsearch(&id, rows->attempts, rows->nattempts, sizeof(*rows->attempts), compare_attempt) : NULL;

	return found != NULL ? (size_t)(found - rows->attempts) : rows->nattempts;
}

const struct attempt_row *run_rows_attempt(const struct run_rows *rows, int64_t id)
{
	size_t at = run_rows_attempt_at(rows, id);

	return at < rows->nattempts ? rows->attempts[at] : NULL;
}

const struct review_row *run_rows_review(const struct run_rows *rows, int64_t number)
{
	for (size_t i = rows->nreviews; i > 0; i--)
		if (rows->reviews[i - 1]->number == number)
			return rows->reviews[i - 1];
	return NULL;
}

const struct attempt_row *run_rows_reviewing(const struct run_rows *rows, const struct review_row *review)
{
	json_t *votes = review->votes != NULL ? json_loads(review->votes, 0, NULL) : NULL, *vote;
	const struct attempt_row *a = review->attempt != ROW_NONE ? run_rows_attempt(rows, review->attempt) : NULL;
	size_t i;

	json_array_foreach(votes, i, vote) {
		const struct review_row *row = run_rows_review(rows, json_integer_value(vote));

		if (a == NULL && row != NULL && row->attempt != ROW_NONE)
			a = run_rows_attempt(rows, row->attempt);
	}
	json_decref(votes);
	return a;
}

const struct product_row *run_rows_product(const struct run_rows *rows, int64_t number)
{
	for (size_t i = 0; i < rows->nproducts; i++)
		if (rows->products[i]->number == number)
			return rows->products[i];
	return NULL;
}

/* Runs of earlier versions have no entries; one that has lost them has evidence of this one. */
static char *verify_missing(const struct run_rows *rows)
{
	bool newer = rows->nentries > 0;

	for (size_t i = 0; i < rows->nevidence; i++)
		newer |= rows->evidence[i]->daemon != NULL;
	return newer ? xstrdup("the entries of the record were removed from the run") : NULL;
}

static char *verify_entries(const struct run_rows *rows)
{
	const struct run_row *run = &rows->run;
	const void *const self[] = { run };
	const struct { enum row_kind kind; const void *const *rows; size_t count; } lists[] = {
		{ ROW_TASK, (const void *const *)rows->tasks, rows->ntasks },
		{ ROW_ATTEMPT, (const void *const *)rows->attempts, rows->nattempts },
		{ ROW_HOLD, (const void *const *)rows->holds, rows->nholds },
		{ ROW_PRUNED, (const void *const *)rows->pruned, rows->npruned },
		{ ROW_RUN, self, 1 },
	};
	char *fault;

	if (run->entry_count == ROW_NONE)
		return verify_missing(rows);
	fault = record_verify(ROW_ENTRY, (const void *const *)rows->entries, rows->nentries, run->entry_count,
	    run->entry_head);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && fault == NULL; i++)
		fault = entries_compare(rows->entries, rows->nentries, lists[i].kind, lists[i].rows, lists[i].count,
		    run_state_is_end((enum run_state)run->state));
	return fault;
}

/* What hides files that are missing is in the record. */
static char *verify_pruned(const struct run_rows *rows)
{
	int64_t at = rows->npruned > 0 ? rows->pruned[0]->pruned_at : ROW_NONE;

	return rows->run.pruned_at == at ? NULL :
	    xstrdup("the row of the run and that of what was pruned of it do not say the same");
}

/* What attempts were given, by their rows, is what other rows have of it. */
static char *verify_given(const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *a = rows->attempts[i];
		const struct task_row *task = a->task != NULL && a->slot != 0 ? run_rows_task(rows, a->task) : NULL;

		if (a->judge_hash != NULL && !text_equal(a->judge_hash, rows->run.judge_hash))
			return xasprintf("attempt %lld had another judge than the run has: the hash in its row is "
			    "%.12s, in that of the run %.12s", (long long)a->number, a->judge_hash,
			    rows->run.judge_hash != NULL ? rows->run.judge_hash : "none");
		if (a->task_hash != NULL && task != NULL && task->text_hash != NULL &&
		    strcmp(a->task_hash, task->text_hash) != 0)
			return xasprintf("attempt %lld was given another text of task %s than the run has: its hash "
			    "is %.12s, not %.12s", (long long)a->number, task->id, a->task_hash, task->text_hash);
		for (size_t j = 0; a->diff != ROW_NONE && j < rows->nproducts; j++) {
			const struct product_row *p = rows->products[j];

			if (p->diff == a->diff && p->diff_hash != NULL && a->diff_hash != NULL &&
			    strcmp(p->diff_hash, a->diff_hash) != 0)
				return xasprintf("attempt %lld was given another diff than that of product %lld: "
				    "its hash is %.12s, not %.12s", (long long)a->number, (long long)p->number,
				    a->diff_hash, p->diff_hash);
		}
	}
	return NULL;
}

char *run_rows_verify(const struct run_rows *rows)
{
	const struct run_row *run = &rows->run;
	char *fault = chain_verify(rows->reviews, rows->nreviews, rows->findings, rows->nfindings,
	    run->review_count, run->review_head);

	if (fault == NULL)
		fault = record_verify(ROW_PRODUCT, (const void *const *)rows->products, rows->nproducts,
		    run->product_count, run->product_head);
	if (fault == NULL)
		fault = record_verify(ROW_EVIDENCE, (const void *const *)rows->evidence, rows->nevidence,
		    run->evidence_count, run->evidence_head);
	if (fault == NULL)
		fault = verify_entries(rows);
	if (fault == NULL)
		fault = verify_pruned(rows);
	return fault != NULL ? fault : verify_given(rows);
}

const struct finding_row **run_rows_findings(const struct run_rows *rows, int64_t review, size_t *count)
{
	size_t first = 0, end = rows->nfindings;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (rows->findings[middle]->review < review)
			first = middle + 1;
		else
			end = middle;
	}
	for (*count = 0; first + *count < rows->nfindings && rows->findings[first + *count]->review == review; ++*count)
		;
	return rows->nfindings > 0 ? rows->findings + first : NULL;
}

void run_rows_free(struct run_rows *rows)
{
	if (rows == NULL)
		return;
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		void **list;
		size_t count;

		if (places[kind].count == 0)
			continue;
		list = *(void ***)(void *)((char *)rows + places[kind].list);
		count = *(size_t *)(void *)((char *)rows + places[kind].count);
		for (size_t i = 0; i < count; i++)
			row_free((enum row_kind)kind, list[i]);
		free(list);
	}
	row_release(ROW_RUN, &rows->run);
	free(rows);
}

struct view *view_new(void)
{
	return xcalloc(1, sizeof(struct view));
}

void view_free(struct view *view)
{
	if (view == NULL)
		return;
	for (size_t i = 0; i < view->count; i++)
		run_rows_free(view->runs[i]);
	free(view->runs);
	free(view);
}

/* Index of the first run with an id >= id. */
static size_t view_search(const struct view *view, int64_t id)
{
	size_t low = 0, high = view->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (view->runs[mid]->run.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct run_rows *view_find(const struct view *view, int64_t id)
{
	size_t at = view_search(view, id);

	return at < view->count && view->runs[at]->run.id == id ? view->runs[at] : NULL;
}

const struct run_rows *view_run(const struct view *view, int64_t id)
{
	return view_find(view, id);
}

static bool is_running(const struct attempt_row *a)
{
	return a->state == ATTEMPT_S_RUNNING;
}

void view_load(struct view *view, enum row_kind kind, void *row)
{
	int64_t id = kind == ROW_RUN ? ((struct run_row *)row)->id : int_at(row, places[kind].run);
	struct run_rows *rows = view_find(view, id);

	if (rows == NULL) {
		size_t at = view_search(view, id);

		if (view->count == view->room) {
			view->room = view->room ? view->room * 2 : 16;
			view->runs = xreallocarray(view->runs, view->room, sizeof(*view->runs));
		}
		memmove(view->runs + at + 1, view->runs + at, (view->count - at) * sizeof(*view->runs));
		rows = view->runs[at] = run_rows_new();
		rows->run.id = id;
		view->count++;
		view->states[rows->run.state]++;
	}
	if (kind == ROW_RUN) {
		view->states[rows->run.state]--;
		view->states[((struct run_row *)row)->state]++;
	}
	if (kind == ROW_ATTEMPT) {
		const struct attempt_row *before = run_rows_attempt(rows, ((struct attempt_row *)row)->id);

		view->running -= before != NULL && is_running(before);
		view->running += is_running(row);
	}
	run_rows_put(rows, kind, row);
}

static void drop_row(struct view *view, enum row_kind kind, const void *row)
{
	struct run_rows *rows = view_find(view, int_at(row, places[kind].run));

	if (rows != NULL)
		run_rows_drop(rows, kind, row);
}

/* An ended step is of no use to readers of unfinished runs. */
static bool step_is_over(const struct step_row *step)
{
	return step->state == ATTEMPT_S_EXITED || step->state == ATTEMPT_S_LOST;
}

void view_install(struct view *view, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct change *change = &d->changes[i];
		struct task_row *task;

		if (change->kind != ROW_RUN && places[change->kind].count == 0)
			continue;
		if (change->drop || (change->kind == ROW_STEP && step_is_over(change->row))) {
			drop_row(view, change->kind, change->row);
			continue;
		}
		if (change->kind == ROW_TASK) {
			/* only the store has the text, because it may be 16 MiB */
			task = row_copy(ROW_TASK, change->row);
			text_set(&task->text, NULL);
			view_load(view, ROW_TASK, task);
			continue;
		}
		view_load(view, change->kind, row_copy(change->kind, change->row));
	}
}

const struct run_rows *view_run_of_hold(const struct view *view, int64_t hold)
{
	for (size_t i = 0; i < view->count; i++)
		for (size_t h = 0; h < view->runs[i]->nholds; h++)
			if (view->runs[i]->holds[h]->id == hold)
				return view->runs[i];
	return NULL;
}

const struct run_rows *view_run_of_attempt(const struct view *view, int64_t attempt)
{
	for (size_t i = 0; i < view->count; i++)
		if (run_rows_attempt(view->runs[i], attempt) != NULL)
			return view->runs[i];
	return NULL;
}

void view_remove(struct view *view, int64_t id)
{
	size_t at = view_search(view, id);

	if (at == view->count || view->runs[at]->run.id != id)
		return;
	for (size_t i = 0; i < view->runs[at]->nattempts; i++)
		view->running -= is_running(view->runs[at]->attempts[i]);
	view->states[view->runs[at]->run.state]--;
	run_rows_free(view->runs[at]);
	memmove(view->runs + at, view->runs + at + 1, (view->count - at - 1) * sizeof(*view->runs));
	view->count--;
}

const struct run_rows *view_next(const struct view *view, int64_t after)
{
	size_t at = view_search(view, after + 1);

	return at < view->count ? view->runs[at] : NULL;
}

size_t view_count(const struct view *view)
{
	return view->count;
}

size_t view_in_state(const struct view *view, enum run_state state)
{
	return view->states[state];
}

size_t view_running(const struct view *view)
{
	return view->running;
}
