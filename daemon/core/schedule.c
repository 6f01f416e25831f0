/* SPDX-License-Identifier: MIT */
#include "core/schedule.h"

#include <stdlib.h>

#include "core/line.h"
#include "core/order.h"
#include "core/row.h"
#include "proto/memory.h"

struct schedule {
	int64_t slots, used;
	RB_HEAD(id_tree, item) ids;
	RB_HEAD(after_tree, item) afters;	/* runs that come after one */
	struct lines lines;
	struct crowd aside;			/* runs that are neither at a door nor in a line */
	struct news news;
};

static int by_id(struct item *a, struct item *b)
{
	return order(a->id, b->id);
}

static int by_after(struct item *a, struct item *b)
{
	return a->after != b->after ? order(a->after, b->after) : by_id(a, b);
}

TREE(id_tree, item, by_id, by_id)
TREE(after_tree, item, by_after, by_after)

static struct item *find(const struct schedule *s, int64_t id)
{
	struct item key = { .id = id };

	/* the generated functions change nothing, but ask for a tree that they might */
	return RB_FIND(id_tree, (struct id_tree *)(uintptr_t)&s->ids, &key);
}

static struct item *first_after(const struct schedule *s, int64_t id)
{
	struct item key = { .id = INT64_MIN, .after = id }, *item;

	item = RB_NFIND(after_tree, (struct after_tree *)(uintptr_t)&s->afters, &key);
	return item != NULL && item->after == id ? item : NULL;
}

static enum spot spot_of(const struct schedule *s, const struct item *item)
{
	if (item->want == 0)
		return SPOT_IDLE;
	if (item->after != ROW_NONE && find(s, item->after) != NULL)
		return SPOT_BEHIND;
	return item->inside || item->door->workspace->path == NULL ? SPOT_LINE : SPOT_DOOR;
}

/* What holds it back is to be told. */
static void tell(struct schedule *s, struct item *item)
{
	bool waits = item->spot == SPOT_DOOR || item->spot == SPOT_LINE;

	crowd_leave(&item->listener, &s->news);
	crowd_join(waits ? &item->door->crowd : &s->aside, &item->listener, &s->news);
}

/* What its spot depends on may have changed. */
static void settle(struct schedule *s, struct item *item)
{
	enum spot spot = spot_of(s, item);

	if (spot == item->spot)
		return;
	if (item->spot == SPOT_LINE)
		line_leave(&s->lines, item);
	if (item->spot == SPOT_DOOR)
		door_leave(&s->lines, item);
	if (spot == SPOT_LINE)
		line_enter(&s->lines, item);
	if (spot == SPOT_DOOR)
		door_enter(&s->lines, item);
	item->spot = spot;
	tell(s, item);
}

static void enter(struct schedule *s, struct item *item)
{
	struct workspace *workspace = item->door->workspace;
	struct door *door;

	if (item->inside || workspace->path == NULL)
		return;
	item->inside = true;
	TAILQ_INSERT_TAIL(&workspace->inside, item, in_workspace);
	if (TAILQ_FIRST(&workspace->inside) == item)
		LIST_FOREACH(door, &workspace->doors, of_workspace) {
			door_close(&s->lines, door);
			crowd_tell(&door->crowd, &s->news);
		}
	settle(s, item);
}

static void leave(struct schedule *s, struct item *item)
{
	struct workspace *workspace = item->door->workspace;
	bool first = TAILQ_FIRST(&workspace->inside) == item;
	struct door *door;

	if (!item->inside)
		return;
	item->inside = false;
	TAILQ_REMOVE(&workspace->inside, item, in_workspace);
	if (first)
		LIST_FOREACH(door, &workspace->doors, of_workspace) {
			door_open(&s->lines, door);
			crowd_tell(&door->crowd, &s->news);
		}
}

static void seats(struct schedule *s, struct item *item, int64_t more)
{
	s->used += more;
	line_seats(&s->lines, item, more);
}

struct schedule *schedule_new(int64_t slots)
{
	struct schedule *s = xcalloc(1, sizeof(*s));

	s->slots = slots;
	RB_INIT(&s->ids);
	RB_INIT(&s->afters);
	lines_init(&s->lines);
	crowd_init(&s->aside);
	TAILQ_INIT(&s->news);
	return s;
}

void schedule_free(struct schedule *s)
{
	struct item *item;
	struct group *group;

	if (s == NULL)
		return;
	while ((item = RB_ROOT(&s->ids)) != NULL)
		schedule_remove(s, item->id);
	while ((group = RB_ROOT(&s->lines.groups)) != NULL) {
		group->set = false;
		group_put(&s->lines, group);
	}
	free(s);
}

void schedule_set_slots(struct schedule *s, int64_t slots)
{
	s->slots = slots;
}

void schedule_set_group(struct schedule *s, const char *name, int64_t slots, bool paused)
{
	struct group *group = group_get(&s->lines, name);
	struct line *line;
	struct door *door;

	group->set = true;
	if (group->slots == slots && group->paused == paused)
		return;
	group->slots = slots;
	group->paused = paused;
	group_refresh(&s->lines, group);
	LIST_FOREACH(line, &group->lines, of_group)
		LIST_FOREACH(door, &line->doors, of_line)
			crowd_tell(&door->crowd, &s->news);
}

void schedule_add(struct schedule *s, const struct schedule_run *run)
{
	struct item *item, *next;

	if (find(s, run->id) != NULL)
		return;
	item = xcalloc(1, sizeof(*item));
	item->id = run->id;
	item->priority = run->priority;
	item->after = run->after;
	item->door = door_get(&s->lines, run->workspace, run->group, run->owner);
	item->listener.id = run->id;
	RB_INSERT(id_tree, &s->ids, item);
	if (item->after != ROW_NONE)
		RB_INSERT(after_tree, &s->afters, item);
	crowd_join(&s->aside, &item->listener, &s->news);
	for (next = first_after(s, item->id); next != NULL && next->after == item->id; next = RB_NEXT(after_tree, &s->afters, next))
		settle(s, next);
}

void schedule_remove(struct schedule *s, int64_t id)
{
	struct item *item = find(s, id), *next;

	if (item == NULL)
		return;
	schedule_want(s, id, 0);
	seats(s, item, -item->seats);
	leave(s, item);
	crowd_leave(&item->listener, &s->news);
	RB_REMOVE(id_tree, &s->ids, item);
	if (item->after != ROW_NONE)
		RB_REMOVE(after_tree, &s->afters, item);
	while ((next = first_after(s, id)) != NULL) {
		RB_REMOVE(after_tree, &s->afters, next);
		next->after = ROW_NONE;
		settle(s, next);
	}
	door_put(&s->lines, item->door);
	free(item);
}

void schedule_want(struct schedule *s, int64_t id, int64_t wanted)
{
	struct item *item = find(s, id);
	bool more;

	if (item == NULL)
		return;
	more = wanted > item->want;
	item->want = wanted;
	settle(s, item);
	if (more)
		tell(s, item);	/* nobody has been told what the further ones wait for */
}

void schedule_take(struct schedule *s, int64_t id)
{
	struct item *item = find(s, id);

	if (item == NULL)
		return;
	enter(s, item);
	if (item->want > 0)
		item->want--;
	settle(s, item);
	tell(s, item);	/* what it lacks now is a further one */
	seats(s, item, 1);
}

void schedule_give(struct schedule *s, int64_t id)
{
	struct item *item = find(s, id);

	if (item != NULL && item->seats > 0)
		seats(s, item, -1);
}

void schedule_occupy(struct schedule *s, int64_t id)
{
	struct item *item = find(s, id);

	if (item != NULL)
		enter(s, item);
}

int64_t schedule_next(struct schedule *s)
{
	struct item *item = s->used < s->slots ? lines_first(&s->lines) : NULL;

	return item != NULL ? item->id : 0;
}

int64_t schedule_seats(const struct schedule *s, int64_t id)
{
	struct item *item = find(s, id);

	return item != NULL ? item->seats : 0;
}

int64_t schedule_used(const struct schedule *s)
{
	return s->used;
}

int64_t schedule_group_used(const struct schedule *s, const char *name)
{
	const struct group *group = group_find(&s->lines, name);

	return group != NULL ? group->used : 0;
}

char *schedule_reason(struct schedule *s, int64_t id)
{
	const struct item *item = find(s, id);
	const struct group *group;

	if (item == NULL || item->spot == SPOT_IDLE)
		return NULL;
	group = item->door->line->group;
	if (item->spot == SPOT_BEHIND)
		return xasprintf("waits for run %lld", (long long)item->after);
	if (item->spot == SPOT_DOOR && !TAILQ_EMPTY(&item->door->workspace->inside))
		return xasprintf("workdir busy: run %lld", (long long)TAILQ_FIRST(&item->door->workspace->inside)->id);
	if (group->paused)
		return xasprintf("group %s is paused", group->name);
	if (s->used >= s->slots)
		return xstrdup("all slots of the daemon are in use");
	if (group_is_full(group) && group->slots == 1)
		return xasprintf("group %s: its only slot is in use", group->name);
	if (group_is_full(group))
		return xasprintf("group %s: all %lld slots are in use", group->name, (long long)group->slots);
	return NULL;
}

int64_t schedule_changed(struct schedule *s)
{
	return news_next(&s->news);
}
