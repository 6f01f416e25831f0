/* SPDX-License-Identifier: MIT */
#include "core/schedule.h"

#include <stdlib.h>

#include "core/owner_queue.h"
#include "core/order.h"
#include "core/row.h"
#include "proto/memory.h"

struct schedule {
	int64_t slots, used;
	RB_HEAD(id_tree, queue_entry) ids;
	RB_HEAD(after_tree, queue_entry) afters;	/* runs that wait for the same run */
	struct queues queues;
	struct waiters aside;			/* runs that are neither at a gate nor in a queue */
	struct dirty_list dirty;
};

static int by_id(struct queue_entry *a, struct queue_entry *b)
{
	return order(a->id, b->id);
}

static int by_after(struct queue_entry *a, struct queue_entry *b)
{
	return a->after != b->after ? order(a->after, b->after) : by_id(a, b);
}

TREE(id_tree, queue_entry, by_id, by_id)
TREE(after_tree, queue_entry, by_after, by_after)

static struct queue_entry *schedule_find(const struct schedule *s, int64_t id)
{
	struct queue_entry key = { .id = id };

	/* the generated functions change nothing, but require a non-const tree */
	return RB_FIND(id_tree, (struct id_tree *)(uintptr_t)&s->ids, &key);
}

static struct queue_entry *first_after(const struct schedule *s, int64_t id)
{
	struct queue_entry key = { .id = INT64_MIN, .after = id }, *entry;

	entry = RB_NFIND(after_tree, (struct after_tree *)(uintptr_t)&s->afters, &key);
	return entry != NULL && entry->after == id ? entry : NULL;
}

static enum queue_state state_of(const struct schedule *s, const struct queue_entry *entry)
{
	if (entry->want == 0)
		return QUEUE_IDLE;
	if (entry->after != ROW_NONE && schedule_find(s, entry->after) != NULL)
		return QUEUE_BEHIND;
	return entry->inside || entry->gate->workspace->path == NULL ? QUEUE_READY : QUEUE_GATE;
}

/* Its reason may have changed. */
static void schedule_mark(struct schedule *s, struct queue_entry *entry)
{
	bool waits = entry->state == QUEUE_GATE || entry->state == QUEUE_READY;

	waiters_leave(&entry->waiter, &s->dirty);
	waiters_join(waits ? &entry->gate->waiters : &s->aside, &entry->waiter, &s->dirty);
}

/* The run that is inside the workspace of the gate is another one, or does something else, or
 * another run is next there: only that is named. */
static void schedule_mark_next(struct schedule *s, struct gate *gate)
{
	struct queue_entry *next = gate_next(gate);

	if (next != NULL)
		schedule_mark(s, next);
}

/* Something that its state depends on may have changed. */
static void schedule_update(struct schedule *s, struct queue_entry *entry)
{
	enum queue_state state = state_of(s, entry);

	if (state == entry->state)
		return;
	if (entry->state == QUEUE_READY)
		queue_leave(entry);
	if (entry->state == QUEUE_GATE) {
		gate_leave(entry);
		schedule_mark_next(s, entry->gate);
	}
	if (state == QUEUE_READY)
		queue_enter(entry);
	if (state == QUEUE_GATE)
		gate_enter(entry);
	entry->state = state;
	schedule_mark(s, entry);
}

/* The first run inside the workspace is another one. taken: it was empty; empty: it is now. */
static void schedule_overlap(struct schedule *s, const struct workspace *workspace, bool taken, bool empty)
{
	struct workspace *other = NULL;
	struct gate *gate;

	while ((other = workspace_overlap(&s->queues, workspace, other)) != NULL) {
		other->overlaps += taken;
		other->overlaps -= empty;
		LIST_FOREACH(gate, &other->gates, of_workspace) {
			if (taken)
				gate_close(gate);
			if (empty)
				gate_open(gate);
			schedule_mark_next(s, gate);
		}
	}
}

static void schedule_enter(struct schedule *s, struct queue_entry *entry)
{
	struct workspace *workspace = entry->gate->workspace;
	struct gate *gate;

	if (entry->inside || workspace->path == NULL)
		return;
	entry->inside = true;
	TAILQ_INSERT_TAIL(&workspace->inside, entry, in_workspace);
	if (TAILQ_FIRST(&workspace->inside) == entry) {
		LIST_FOREACH(gate, &workspace->gates, of_workspace) {
			gate_close(gate);
			schedule_mark_next(s, gate);
		}
		schedule_overlap(s, workspace, true, false);
	}
	schedule_update(s, entry);
}

static void schedule_leave(struct schedule *s, struct queue_entry *entry)
{
	struct workspace *workspace = entry->gate->workspace;
	bool first = TAILQ_FIRST(&workspace->inside) == entry;
	struct gate *gate;

	if (!entry->inside)
		return;
	entry->inside = false;
	TAILQ_REMOVE(&workspace->inside, entry, in_workspace);
	if (first) {
		LIST_FOREACH(gate, &workspace->gates, of_workspace) {
			gate_open(gate);
			schedule_mark_next(s, gate);
		}
		schedule_overlap(s, workspace, false, TAILQ_EMPTY(&workspace->inside));
	}
}

static void schedule_permit(struct schedule *s, struct queue_entry *entry, int64_t more)
{
	s->used += more;
	entry->permits += more;
	entry->gate->queue->owner->permits += more;
	entry->gate->queue->group->used += more;
}

struct schedule *schedule_new(int64_t slots)
{
	struct schedule *s = xcalloc(1, sizeof(*s));

	s->slots = slots;
	RB_INIT(&s->ids);
	RB_INIT(&s->afters);
	queues_init(&s->queues);
	waiters_init(&s->aside);
	TAILQ_INIT(&s->dirty);
	return s;
}

void schedule_free(struct schedule *s)
{
	struct queue_entry *entry;
	struct group *group;

	if (s == NULL)
		return;
	while ((entry = RB_ROOT(&s->ids)) != NULL)
		schedule_remove(s, entry->id);
	while ((group = LIST_FIRST(&s->queues.groups)) != NULL) {
		group->set = false;
		group_put(group);
	}
	free(s);
}

void schedule_set_slots(struct schedule *s, int64_t slots)
{
	s->slots = slots;
}

void schedule_set_group(struct schedule *s, const char *name, int64_t slots, bool paused)
{
	struct group *group = group_get(&s->queues, name);
	struct owner_queue *queue;
	struct gate *gate;

	group->set = true;
	if (group->slots == slots && group->paused == paused)
		return;
	group->slots = slots;
	group->paused = paused;
	LIST_FOREACH(queue, &group->queues, of_group)
		LIST_FOREACH(gate, &queue->gates, of_queue)
			waiters_mark(&gate->waiters, &s->dirty);
}

void schedule_add(struct schedule *s, const struct schedule_run *run)
{
	struct queue_entry *entry, *next;

	if (schedule_find(s, run->id) != NULL)
		return;
	entry = xcalloc(1, sizeof(*entry));
	entry->id = run->id;
	entry->priority = run->priority;
	entry->after = run->after;
	entry->gate = gate_get(&s->queues, run->workspace, run->group, run->owner);
	entry->waiter.id = run->id;
	RB_INSERT(id_tree, &s->ids, entry);
	if (entry->after != ROW_NONE)
		RB_INSERT(after_tree, &s->afters, entry);
	waiters_join(&s->aside, &entry->waiter, &s->dirty);
	for (next = first_after(s, entry->id); next != NULL && next->after == entry->id;
	    next = RB_NEXT(after_tree, &s->afters, next))
		schedule_update(s, next);
}

void schedule_remove(struct schedule *s, int64_t id)
{
	struct queue_entry *entry = schedule_find(s, id), *next;

	if (entry == NULL)
		return;
	schedule_want(s, id, 0);
	schedule_permit(s, entry, -entry->permits);
	schedule_leave(s, entry);
	waiters_leave(&entry->waiter, &s->dirty);
	RB_REMOVE(id_tree, &s->ids, entry);
	if (entry->after != ROW_NONE)
		RB_REMOVE(after_tree, &s->afters, entry);
	while ((next = first_after(s, id)) != NULL) {
		RB_REMOVE(after_tree, &s->afters, next);
		next->after = ROW_NONE;
		schedule_update(s, next);
	}
	gate_put(&s->queues, entry->gate);
	free(entry);
}

void schedule_want(struct schedule *s, int64_t id, int64_t wanted)
{
	struct queue_entry *entry = schedule_find(s, id);
	bool more;

	if (entry == NULL)
		return;
	more = wanted > entry->want;
	entry->want = wanted;
	schedule_update(s, entry);
	if (more)
		/* the runs behind it have not been told why they wait */
		schedule_mark(s, entry);
}

void schedule_tell(struct schedule *s, int64_t id)
{
	struct queue_entry *entry = schedule_find(s, id);

	if (entry != NULL)
		schedule_mark(s, entry);
}

void schedule_take(struct schedule *s, int64_t id)
{
	struct queue_entry *entry = schedule_find(s, id);

	if (entry == NULL)
		return;
	schedule_enter(s, entry);
	if (entry->want > 0)
		entry->want--;
	schedule_update(s, entry);
	schedule_mark(s, entry);	/* its reason is now a different one */
	schedule_permit(s, entry, 1);
}

void schedule_give(struct schedule *s, int64_t id)
{
	struct queue_entry *entry = schedule_find(s, id);

	if (entry != NULL && entry->permits > 0)
		schedule_permit(s, entry, -1);
}

void schedule_occupy(struct schedule *s, int64_t id)
{
	struct queue_entry *entry = schedule_find(s, id);

	if (entry != NULL)
		schedule_enter(s, entry);
}

void schedule_set_priority(struct schedule *s, int64_t id, int64_t priority)
{
	struct queue_entry *entry = schedule_find(s, id);
	int64_t wanted = entry != NULL ? entry->want : 0;

	/* the trees that it is in go by its priority */
	schedule_want(s, id, 0);
	if (entry != NULL)
		entry->priority = priority;
	schedule_want(s, id, wanted);
}

int64_t schedule_next(struct schedule *s)
{
	struct queue_entry *entry = s->used < s->slots ? queues_next(&s->queues) : NULL;

	return entry != NULL ? entry->id : 0;
}

int64_t schedule_permits(const struct schedule *s, int64_t id)
{
	struct queue_entry *entry = schedule_find(s, id);

	return entry != NULL ? entry->permits : 0;
}

int64_t schedule_used(const struct schedule *s)
{
	return s->used;
}

int64_t schedule_group_used(const struct schedule *s, const char *name)
{
	const struct group *group = group_find(&s->queues, name);

	return group != NULL ? group->used : 0;
}

bool schedule_note(struct schedule *s, int64_t id, int64_t note)
{
	struct queue_entry *entry = schedule_find(s, id), *next;
	struct workspace *workspace;
	struct gate *gate;

	if (entry == NULL || entry->note == note)
		return false;
	entry->note = note;
	for (next = first_after(s, id); next != NULL && next->after == id; next = RB_NEXT(after_tree, &s->afters, next))
		schedule_mark(s, next);
	workspace = entry->gate->workspace;
	if (TAILQ_FIRST(&workspace->inside) != entry)
		return true;
	/* it needs a decision: all that wait for it are told */
	LIST_FOREACH(gate, &workspace->gates, of_workspace)
		waiters_mark(&gate->waiters, &s->dirty);
	schedule_overlap(s, workspace, false, false);
	return true;
}

/* Why it waits at its gate, malloc'd; NULL: it may enter. */
static char *gate_reason(const struct schedule *s, const struct queue_entry *entry, int64_t *blocker)
{
	const struct workspace *workspace = entry->gate->workspace, *other = NULL;

	if (!TAILQ_EMPTY(&workspace->inside)) {
		*blocker = TAILQ_FIRST(&workspace->inside)->id;
		return xasprintf("workdir busy: run %lld", (long long)*blocker);
	}
	while (workspace->overlaps > 0 && (other = workspace_overlap(&s->queues, workspace, other)) != NULL)
		if (!TAILQ_EMPTY(&other->inside)) {
			*blocker = TAILQ_FIRST(&other->inside)->id;
			return xasprintf("workdir busy: run %lld in %s", (long long)*blocker, other->path);
		}
	return NULL;
}

char *schedule_reason(struct schedule *s, int64_t id, enum wait_kind *kind, int64_t *blocker)
{
	const struct queue_entry *entry = schedule_find(s, id);
	const struct group *group;
	char *reason;

	*blocker = 0;
	*kind = WAIT_NOTHING;
	if (entry == NULL || entry->state == QUEUE_IDLE)
		return NULL;
	group = entry->gate->queue->group;
	*kind = WAIT_AFTER;
	if (entry->state == QUEUE_BEHIND) {
		*blocker = entry->after;
		return xasprintf("waits for run %lld", (long long)entry->after);
	}
	*kind = WAIT_WORKSPACE;
	reason = entry->state == QUEUE_GATE ? gate_reason(s, entry, blocker) : NULL;
	if (reason != NULL)
		return reason;
	*kind = WAIT_GROUP_PAUSED;
	if (group->paused)
		return xasprintf("group %s is paused", group->name);
	*kind = WAIT_PERMIT;
	if (s->used >= s->slots)
		return xstrdup("all slots of the daemon are in use");
	*kind = WAIT_GROUP;
	if (group_is_full(group) && group->slots == 1)
		return xasprintf("group %s: its only slot is in use", group->name);
	if (group_is_full(group))
		return xasprintf("group %s: all %lld slots are in use", group->name, (long long)group->slots);
	*kind = WAIT_NOTHING;
	return NULL;
}

int64_t schedule_changed(struct schedule *s)
{
	return dirty_next(&s->dirty);
}
