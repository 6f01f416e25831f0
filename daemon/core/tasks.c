/* SPDX-License-Identifier: MIT */
#include "core/tasks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "proto/memory.h"

/* What delays a task. */
struct hold {
	enum task_wait wait;
	/* its first dependency that has not passed, preferably one that never will; NULL: none */
	const struct task_row *by;
	/* 1 + index of the first edge to a task that depends on it, 0: none */
	size_t edges;
};

/* A dependency between two open tasks. */
struct edge {
	size_t to;
	size_t next;			/* next edge of the same task, as in hold.edges */
};

struct graph {
	const struct task_row *const *tasks;
	size_t count;
	struct hold *holds;		/* by index of the task */
	size_t *by_id;			/* indexes, ordered by id */
	struct edge *edges;
	size_t nedges, room;
};

static bool never_passes(const struct task_row *task)
{
	return task->state == TASK_S_FAILED || task->state == TASK_S_CANCELLED ||
	    task->state == TASK_S_TAKEN || task->state == TASK_S_RELEASED;
}

static bool has_passed(const struct task_row *task)
{
	return task->state == TASK_S_PASSED || task->state == TASK_S_IMPLEMENTED || task->state == TASK_S_DONE;
}

static int compare_ids(const void *a, const void *b, void *arg)
{
	const struct task_row *const *tasks = arg;

	return strcmp(tasks[*(const size_t *)a]->id, tasks[*(const size_t *)b]->id);
}

/* Tasks usually come in order of their ids. */
static void index_ids(struct graph *g)
{
	bool ordered = true;

	g->by_id = xcalloc(g->count + 1, sizeof(*g->by_id));
	for (size_t i = 0; i < g->count; i++) {
		g->by_id[i] = i;
		ordered &= i == 0 || strcmp(g->tasks[i - 1]->id, g->tasks[i]->id) < 0;
	}
	if (!ordered)
		qsort_r(g->by_id, g->count, sizeof(*g->by_id), compare_ids, (void *)(uintptr_t)g->tasks);
}

/* Index of the task, count: not in the run. */
static size_t graph_find(const struct graph *g, const char *id)
{
	size_t low = 0, high = g->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(id, g->tasks[g->by_id[middle]]->id);

		if (order == 0)
			return g->by_id[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return g->count;
}

static void add_edge(struct graph *g, size_t from, size_t to)
{
	if (g->nedges == g->room) {
		g->room = g->room > 0 ? 2 * g->room : 64;
		g->edges = xreallocarray(g->edges, g->room, sizeof(*g->edges));
	}
	g->edges[g->nedges++] = (struct edge){ to, g->holds[from].edges };
	g->holds[from].edges = g->nedges;
}

static void look_at(struct graph *g, size_t number)
{
	struct hold *hold = &g->holds[number];
	json_t *ids = json_loads(g->tasks[number]->depends_on, 0, NULL), *id;
	size_t i;

	json_array_foreach(ids, i, id) {
		size_t on = json_is_string(id) ? graph_find(g, json_string_value(id)) : g->count;

		if (on == g->count || has_passed(g->tasks[on]))
			continue;
		if (g->tasks[on]->state == TASK_S_OPEN)
			add_edge(g, on, number);
		if (hold->by == NULL || (never_passes(g->tasks[on]) && hold->wait != TASK_W_NEVER))
			hold->by = g->tasks[on];
		hold->wait = never_passes(hold->by) ? TASK_W_NEVER : TASK_W_DEPENDENCY;
	}
	json_decref(ids);
}

/* A task that never starts takes along those that depend on it. Without recursion: the chain may be
 * as long as the list of tasks. */
static void spread(struct graph *g)
{
	size_t *queue = xcalloc(g->count, sizeof(*queue)), done = 0, end = 0;

	for (size_t i = 0; i < g->count; i++)
		if (g->holds[i].wait == TASK_W_NEVER)
			queue[end++] = i;
	for (; done < end; done++)
		for (size_t at = g->holds[queue[done]].edges; at > 0; at = g->edges[at - 1].next) {
			size_t to = g->edges[at - 1].to;

			if (g->holds[to].wait == TASK_W_NEVER)
				continue;
			g->holds[to] = (struct hold){ TASK_W_NEVER, g->tasks[queue[done]], g->holds[to].edges };
			queue[end++] = to;
		}
	free(queue);
}

static struct hold *solve(const struct task_row *const *tasks, size_t count)
{
	struct graph g = { .tasks = tasks, .count = count, .holds = xcalloc(count, sizeof(*g.holds)) };
	bool depends = false;

	for (size_t i = 0; i < count; i++) {
		g.holds[i].wait = tasks[i]->state == TASK_S_OPEN ? TASK_W_NOTHING : TASK_W_NOT_OPEN;
		depends |= tasks[i]->state == TASK_S_OPEN && tasks[i]->depends_on != NULL;
	}
	if (!depends)
		return g.holds;
	index_ids(&g);
	for (size_t i = 0; i < count; i++)
		if (tasks[i]->state == TASK_S_OPEN && tasks[i]->depends_on != NULL)
			look_at(&g, i);
	spread(&g);
	free(g.by_id);
	free(g.edges);
	return g.holds;
}

enum task_wait *task_waits(const struct task_row *const *tasks, size_t count)
{
	struct hold *holds = solve(tasks, count);
	enum task_wait *waits = xcalloc(count, sizeof(*waits));

	for (size_t i = 0; i < count; i++)
		waits[i] = holds[i].wait;
	free(holds);
	return waits;
}

enum task_wait task_wait(const struct task_row *task, const struct task_row *const *tasks, size_t count)
{
	enum task_wait wait = task->state == TASK_S_OPEN ? TASK_W_NOTHING : TASK_W_NOT_OPEN;
	struct hold *holds;

	if (wait == TASK_W_NOT_OPEN || task->depends_on == NULL)
		return wait;
	holds = solve(tasks, count);
	for (size_t i = 0; i < count; i++)
		if (tasks[i] == task)
			wait = holds[i].wait;
	free(holds);
	return wait;
}

static int by_position(const void *a, const void *b)
{
	const struct task_row *x = *(const struct task_row *const *)a, *y = *(const struct task_row *const *)b;

	return x->position == y->position ? strcmp(x->id, y->id) : x->position < y->position ? -1 : 1;
}

static bool may_start(const struct graph *g, const struct task_row *task)
{
	json_t *ids = task->depends_on != NULL ? json_loads(task->depends_on, 0, NULL) : NULL, *id;
	bool ready = true;
	size_t i;

	json_array_foreach(ids, i, id) {
		size_t on = json_is_string(id) ? graph_find(g, json_string_value(id)) : g->count;

		ready &= on == g->count || has_passed(g->tasks[on]);
	}
	json_decref(ids);
	return ready;
}

const struct task_row **task_ready(const struct task_row *const *tasks, size_t count, size_t limit, size_t *ready)
{
	struct graph g = { .tasks = tasks, .count = count };
	const struct task_row **list = xcalloc(count + 1, sizeof(struct task_row *));
	size_t open = 0;

	for (size_t i = 0; i < count; i++)
		if (tasks[i]->state == TASK_S_OPEN)
			list[open++] = tasks[i];
	qsort(list, open, sizeof(struct task_row *), by_position);
	index_ids(&g);
	*ready = 0;
	for (size_t i = 0; i < open && *ready < limit; i++)
		if (may_start(&g, list[i]))
			list[(*ready)++] = list[i];
	free(g.by_id);
	return list;
}

char **task_reasons(const struct task_row *const *tasks, size_t count)
{
	static const char *const ends[TASK_STATES] = {
		[TASK_S_OPEN] = "never starts",
		[TASK_S_FAILED] = "failed",
		[TASK_S_CANCELLED] = "was cancelled",
		[TASK_S_TAKEN] = "is left to another run",
		[TASK_S_RELEASED] = "was given back",
	};
	struct hold *holds = solve(tasks, count);
	char **reasons = xcalloc(count, sizeof(*reasons));

	for (size_t i = 0; i < count; i++) {
		const struct task_row *by = holds[i].by;

		if (holds[i].wait == TASK_W_NEVER)
			reasons[i] = xasprintf("depends on %s, which %s", by->id, ends[by->state]);
		else if (holds[i].wait == TASK_W_DEPENDENCY)
			reasons[i] = xasprintf("waits for %s", by->id);
	}
	free(holds);
	return reasons;
}

void task_set_text(struct task_row *task, char *text, size_t size)
{
	char hex[DIGEST_HEX];

	digest_hex(text, size, hex);
	free(task->text);
	task->text = text;
	task->size = (int64_t)size;
	text_set(&task->text_hash, hex);
}

char *task_depends(char *const *ids)
{
	json_t *list;
	char *text;

	if (ids == NULL || ids[0] == NULL)
		return NULL;
	list = json_array();
	for (; *ids != NULL; ids++)
		json_array_append_new(list, json_string(*ids));
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}
