/* SPDX-License-Identifier: MIT */
#include "core/line.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "core/row.h"
#include "proto/memory.h"

static int by_turn(struct item *a, struct item *b)
{
	return a->priority != b->priority ? order(b->priority, a->priority) : order(a->id, b->id);
}

static int line_by_best(struct line *a, struct line *b)
{
	return by_turn(a->best, b->best);
}

static int owner_by_id(struct owner *a, struct owner *b)
{
	return order(a->id, b->id);
}

static int owner_by_turn(struct owner *a, struct owner *b)
{
	if (a->best->priority == b->best->priority && a->seats != b->seats)
		return order(a->seats, b->seats);
	return by_turn(a->best, b->best);
}

static int group_by_name(struct group *a, struct group *b)
{
	return strcmp(a->name, b->name);
}

static int workspace_by_path(struct workspace *a, struct workspace *b)
{
	return strcmp(a->path, b->path);
}

TREE(door_tree, item, at_door, by_turn)
TREE(line_tree, item, in_line, by_turn)
TREE(owner_tree, line, of_owner, line_by_best)
TREE(turn_tree, owner, by_turn, owner_by_turn)
TREE(uid_tree, owner, by_id, owner_by_id)
TREE(name_tree, group, entry, group_by_name)
TREE(path_tree, workspace, entry, workspace_by_path)

void lines_init(struct lines *lines)
{
	RB_INIT(&lines->turns);
	RB_INIT(&lines->owners);
	RB_INIT(&lines->groups);
	RB_INIT(&lines->workspaces);
	lines->shared.path = NULL;
	TAILQ_INIT(&lines->shared.inside);
	LIST_INIT(&lines->shared.doors);
}

/* What a tree is ordered by changes only while it is out of the tree. */
static void turn_out(struct lines *lines, struct owner *owner)
{
	if (owner->best != NULL)
		RB_REMOVE(turn_tree, &lines->turns, owner);
	owner->best = NULL;
}

static void turn_in(struct lines *lines, struct owner *owner)
{
	struct line *line = RB_MIN(owner_tree, &owner->open);

	if (line == NULL)
		return;
	owner->best = line->best;
	RB_INSERT(turn_tree, &lines->turns, owner);
}

static void line_out(struct lines *lines, struct line *line)
{
	if (line->best == NULL)
		return;
	turn_out(lines, line->owner);
	RB_REMOVE(owner_tree, &line->owner->open, line);
	line->best = NULL;
	turn_in(lines, line->owner);
}

static void line_in(struct lines *lines, struct line *line)
{
	if (line->group->paused || group_is_full(line->group) || RB_EMPTY(&line->items))
		return;
	turn_out(lines, line->owner);
	line->best = RB_MIN(line_tree, &line->items);
	RB_INSERT(owner_tree, &line->owner->open, line);
	turn_in(lines, line->owner);
}

void line_enter(struct lines *lines, struct item *item)
{
	struct line *line = item->door->line;

	line_out(lines, line);
	RB_INSERT(line_tree, &line->items, item);
	line_in(lines, line);
}

void line_leave(struct lines *lines, struct item *item)
{
	struct line *line = item->door->line;

	line_out(lines, line);
	RB_REMOVE(line_tree, &line->items, item);
	line_in(lines, line);
}

void door_close(struct lines *lines, struct door *door)
{
	if (door->first != NULL)
		line_leave(lines, door->first);
	door->first = NULL;
}

void door_open(struct lines *lines, struct door *door)
{
	if (!TAILQ_EMPTY(&door->workspace->inside) || RB_EMPTY(&door->waiting))
		return;
	door->first = RB_MIN(door_tree, &door->waiting);
	line_enter(lines, door->first);
}

void door_enter(struct lines *lines, struct item *item)
{
	door_close(lines, item->door);
	RB_INSERT(door_tree, &item->door->waiting, item);
	door_open(lines, item->door);
}

void door_leave(struct lines *lines, struct item *item)
{
	door_close(lines, item->door);
	RB_REMOVE(door_tree, &item->door->waiting, item);
	door_open(lines, item->door);
}

bool group_is_full(const struct group *group)
{
	return group->slots != ROW_NONE && group->used >= group->slots;
}

void group_refresh(struct lines *lines, struct group *group)
{
	struct line *line;

	LIST_FOREACH(line, &group->lines, of_group) {
		line_out(lines, line);
		line_in(lines, line);
	}
}

void line_seats(struct lines *lines, struct item *item, int64_t more)
{
	struct owner *owner = item->door->line->owner;
	struct group *group = item->door->line->group;
	bool full = group_is_full(group);

	item->seats += more;
	group->used += more;
	turn_out(lines, owner);
	owner->seats += more;
	turn_in(lines, owner);
	if (group_is_full(group) != full)
		group_refresh(lines, group);
}

struct item *lines_first(struct lines *lines)
{
	struct owner *owner = RB_MIN(turn_tree, &lines->turns);

	return owner != NULL ? owner->best : NULL;
}

const struct group *group_find(const struct lines *lines, const char *name)
{
	struct group key = { .name = (char *)(uintptr_t)name };

	/* the generated function changes nothing, but asks for a tree that it might */
	return RB_FIND(name_tree, (struct name_tree *)(uintptr_t)&lines->groups, &key);
}

struct group *group_get(struct lines *lines, const char *name)
{
	struct group key = { .name = (char *)(uintptr_t)name }, *group = RB_FIND(name_tree, &lines->groups, &key);

	if (group != NULL)
		return group;
	group = xcalloc(1, sizeof(*group));
	group->name = xstrdup(name);
	group->slots = ROW_NONE;
	LIST_INIT(&group->lines);
	RB_INSERT(name_tree, &lines->groups, group);
	return group;
}

void group_put(struct lines *lines, struct group *group)
{
	if (group->set || !LIST_EMPTY(&group->lines))
		return;
	RB_REMOVE(name_tree, &lines->groups, group);
	free(group->name);
	free(group);
}

static struct owner *owner_get(struct lines *lines, int64_t id)
{
	struct owner key = { .id = id }, *owner = RB_FIND(uid_tree, &lines->owners, &key);

	if (owner != NULL)
		return owner;
	owner = xcalloc(1, sizeof(*owner));
	owner->id = id;
	RB_INIT(&owner->open);
	RB_INSERT(uid_tree, &lines->owners, owner);
	return owner;
}

static struct workspace *workspace_get(struct lines *lines, const char *path)
{
	struct workspace key = { .path = (char *)(uintptr_t)path }, *workspace;

	if (path == NULL)
		return &lines->shared;
	workspace = RB_FIND(path_tree, &lines->workspaces, &key);
	if (workspace != NULL)
		return workspace;
	workspace = xcalloc(1, sizeof(*workspace));
	workspace->path = xstrdup(path);
	TAILQ_INIT(&workspace->inside);
	LIST_INIT(&workspace->doors);
	RB_INSERT(path_tree, &lines->workspaces, workspace);
	return workspace;
}

static struct line *line_get(struct group *group, struct owner *owner)
{
	struct line *line;

	LIST_FOREACH(line, &group->lines, of_group)
		if (line->owner == owner)
			return line;
	line = xcalloc(1, sizeof(*line));
	line->group = group;
	line->owner = owner;
	owner->lines++;
	RB_INIT(&line->items);
	LIST_INIT(&line->doors);
	LIST_INSERT_HEAD(&group->lines, line, of_group);
	return line;
}

struct door *door_get(struct lines *lines, const char *path, const char *group, int64_t owner)
{
	struct workspace *workspace = workspace_get(lines, path);
	struct line *line = line_get(group_get(lines, group), owner_get(lines, owner));
	struct door *door;

	LIST_FOREACH(door, &workspace->doors, of_workspace)
		if (door->line == line)
			break;
	if (door == NULL) {
		door = xcalloc(1, sizeof(*door));
		door->workspace = workspace;
		door->line = line;
		RB_INIT(&door->waiting);
		crowd_init(&door->crowd);
		LIST_INSERT_HEAD(&workspace->doors, door, of_workspace);
		LIST_INSERT_HEAD(&line->doors, door, of_line);
	}
	door->runs++;
	return door;
}

static void line_put(struct lines *lines, struct line *line)
{
	if (!LIST_EMPTY(&line->doors))
		return;
	LIST_REMOVE(line, of_group);
	if (--line->owner->lines == 0) {
		RB_REMOVE(uid_tree, &lines->owners, line->owner);
		free(line->owner);
	}
	group_put(lines, line->group);
	free(line);
}

void door_put(struct lines *lines, struct door *door)
{
	struct workspace *workspace = door->workspace;

	if (--door->runs > 0)
		return;
	LIST_REMOVE(door, of_workspace);
	LIST_REMOVE(door, of_line);
	if (workspace->path != NULL && LIST_EMPTY(&workspace->doors)) {
		RB_REMOVE(path_tree, &lines->workspaces, workspace);
		free(workspace->path);
		free(workspace);
	}
	line_put(lines, door->line);
	free(door);
}
