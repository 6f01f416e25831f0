/* SPDX-License-Identifier: MIT */
#include "core/owner_queue.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"
#include "core/row.h"
#include "proto/memory.h"

static int by_turn(struct queue_entry *a, struct queue_entry *b)
{
	return a->priority != b->priority ? order(b->priority, a->priority) : order(a->id, b->id);
}

static int workspace_by_path(struct workspace *a, struct workspace *b)
{
	return strcmp(a->path, b->path);
}

TREE(gate_tree, queue_entry, at_gate, by_turn)
TREE(queue_tree, queue_entry, in_queue, by_turn)
TREE(path_tree, workspace, entry, workspace_by_path)

void queues_init(struct queues *queues)
{
	*queues = (struct queues){ .shared.path = NULL };
	LIST_INIT(&queues->owners);
	LIST_INIT(&queues->groups);
	RB_INIT(&queues->workspaces);
	TAILQ_INIT(&queues->shared.inside);
	LIST_INIT(&queues->shared.gates);
}

void queue_enter(struct queue_entry *entry)
{
	RB_INSERT(queue_tree, &entry->gate->queue->entries, entry);
}

void queue_leave(struct queue_entry *entry)
{
	RB_REMOVE(queue_tree, &entry->gate->queue->entries, entry);
}

void gate_close(struct gate *gate)
{
	if (gate->first != NULL)
		queue_leave(gate->first);
	gate->first = NULL;
}

void gate_open(struct gate *gate)
{
	if (!TAILQ_EMPTY(&gate->workspace->inside) || gate->workspace->overlaps > 0 || RB_EMPTY(&gate->waiting))
		return;
	gate->first = RB_MIN(gate_tree, &gate->waiting);
	queue_enter(gate->first);
}

struct queue_entry *gate_next(struct gate *gate)
{
	return RB_MIN(gate_tree, &gate->waiting);
}

void gate_enter(struct queue_entry *entry)
{
	gate_close(entry->gate);
	RB_INSERT(gate_tree, &entry->gate->waiting, entry);
	gate_open(entry->gate);
}

void gate_leave(struct queue_entry *entry)
{
	gate_close(entry->gate);
	RB_REMOVE(gate_tree, &entry->gate->waiting, entry);
	gate_open(entry->gate);
}

bool group_is_full(const struct group *group)
{
	return group->slots != ROW_NONE && group->used >= group->slots;
}

/* Highest priority, then the owner with the fewest permits, then the oldest run. */
static bool is_before(struct queue_entry *a, struct queue_entry *b)
{
	int64_t permits_a = a->gate->queue->owner->permits, permits_b = b->gate->queue->owner->permits;

	if (a->priority == b->priority && permits_a != permits_b)
		return permits_a < permits_b;
	return by_turn(a, b) < 0;
}

struct queue_entry *queues_next(const struct queues *queues)
{
	struct queue_entry *best = NULL, *entry;
	struct owner_queue *queue;
	struct group *group;

	LIST_FOREACH(group, &queues->groups, entry) {
		if (group->paused || group_is_full(group))
			continue;
		LIST_FOREACH(queue, &group->queues, of_group) {
			entry = RB_MIN(queue_tree, &queue->entries);
			if (entry != NULL && (best == NULL || is_before(entry, best)))
				best = entry;
		}
	}
	return best;
}

struct group *group_find(const struct queues *queues, const char *name)
{
	struct group *group;

	LIST_FOREACH(group, &queues->groups, entry)
		if (strcmp(group->name, name) == 0)
			break;
	return group;
}

struct group *group_get(struct queues *queues, const char *name)
{
	struct group *group = group_find(queues, name);

	if (group != NULL)
		return group;
	group = xcalloc(1, sizeof(*group));
	group->name = xstrdup(name);
	group->slots = ROW_NONE;
	LIST_INIT(&group->queues);
	LIST_INSERT_HEAD(&queues->groups, group, entry);
	return group;
}

void group_put(struct group *group)
{
	if (group->set || !LIST_EMPTY(&group->queues))
		return;
	LIST_REMOVE(group, entry);
	free(group->name);
	free(group);
}

static struct owner *owner_get(struct queues *queues, int64_t id)
{
	struct owner *owner;

	LIST_FOREACH(owner, &queues->owners, entry)
		if (owner->id == id)
			return owner;
	owner = xcalloc(1, sizeof(*owner));
	owner->id = id;
	LIST_INSERT_HEAD(&queues->owners, owner, entry);
	return owner;
}

/* Whether path is directory, or lies in it. */
static bool lies_in(const char *path, const char *directory)
{
	size_t size = strlen(directory);

	if (strcmp(directory, "/") == 0)
		return path[0] == '/';
	return strncmp(path, directory, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static struct workspace *workspace_find(const struct queues *queues, const char *path)
{
	struct workspace key = { .path = (char *)(uintptr_t)path };

	return RB_FIND(path_tree, (struct path_tree *)(uintptr_t)&queues->workspaces, &key);
}

/* The nearest that contains path; NULL: none. */
static struct workspace *containing(const struct queues *queues, const char *path)
{
	char *parent = xstrdup(path), *slash;
	struct workspace *found = NULL;

	while (found == NULL && (slash = strrchr(parent, '/')) != NULL && parent[1] != '\0') {
		slash[slash == parent] = '\0';
		found = workspace_find(queues, parent);
	}
	free(parent);
	return found;
}

/* The first from key on that lies in directory: in the order of the paths they follow each other,
 * once the directory itself is behind. */
static struct workspace *contained(const struct queues *queues, const char *directory, const char *key)
{
	struct workspace from = { .path = (char *)(uintptr_t)key }, *found;

	found = RB_NFIND(path_tree, (struct path_tree *)(uintptr_t)&queues->workspaces, &from);
	return found != NULL && lies_in(found->path, directory) ? found : NULL;
}

struct workspace *workspace_overlap(const struct queues *queues, const struct workspace *workspace,
    const struct workspace *before)
{
	const char *path = workspace->path;
	struct workspace *found;
	char *key;

	/* outwards, then those inside */
	if (before == NULL || !lies_in(before->path, path)) {
		found = containing(queues, before != NULL ? before->path : path);
		if (found != NULL)
			return found;
		before = workspace;
	}
	/* the next path in order, and the first one below a directory other than the root */
	key = xasprintf("%s%s", before->path, before == workspace && strcmp(path, "/") != 0 ? "/" : "\001");
	found = contained(queues, path, key);
	free(key);
	return found;
}

static struct workspace *workspace_get(struct queues *queues, const char *path)
{
	struct workspace *workspace, *other = NULL;

	if (path == NULL)
		return &queues->shared;
	workspace = workspace_find(queues, path);
	if (workspace != NULL)
		return workspace;
	workspace = xcalloc(1, sizeof(*workspace));
	workspace->path = xstrdup(path);
	TAILQ_INIT(&workspace->inside);
	LIST_INIT(&workspace->gates);
	while ((other = workspace_overlap(queues, workspace, other)) != NULL)
		workspace->overlaps += !TAILQ_EMPTY(&other->inside);
	RB_INSERT(path_tree, &queues->workspaces, workspace);
	return workspace;
}

static struct owner_queue *queue_get(struct group *group, struct owner *owner)
{
	struct owner_queue *queue;

	LIST_FOREACH(queue, &group->queues, of_group)
		if (queue->owner == owner)
			return queue;
	queue = xcalloc(1, sizeof(*queue));
	queue->group = group;
	queue->owner = owner;
	owner->queues++;
	RB_INIT(&queue->entries);
	LIST_INIT(&queue->gates);
	LIST_INSERT_HEAD(&group->queues, queue, of_group);
	return queue;
}

struct gate *gate_get(struct queues *queues, const char *path, const char *group, int64_t owner)
{
	struct workspace *workspace = workspace_get(queues, path);
	struct owner_queue *queue = queue_get(group_get(queues, group), owner_get(queues, owner));
	struct gate *gate;

	LIST_FOREACH(gate, &workspace->gates, of_workspace)
		if (gate->queue == queue)
			break;
	if (gate == NULL) {
		gate = xcalloc(1, sizeof(*gate));
		gate->workspace = workspace;
		gate->queue = queue;
		RB_INIT(&gate->waiting);
		waiters_init(&gate->waiters);
		LIST_INSERT_HEAD(&workspace->gates, gate, of_workspace);
		LIST_INSERT_HEAD(&queue->gates, gate, of_queue);
	}
	gate->runs++;
	return gate;
}

static void queue_put(struct owner_queue *queue)
{
	if (!LIST_EMPTY(&queue->gates))
		return;
	LIST_REMOVE(queue, of_group);
	if (--queue->owner->queues == 0) {
		LIST_REMOVE(queue->owner, entry);
		free(queue->owner);
	}
	group_put(queue->group);
	free(queue);
}

void gate_put(struct queues *queues, struct gate *gate)
{
	struct workspace *workspace = gate->workspace;

	if (--gate->runs > 0)
		return;
	LIST_REMOVE(gate, of_workspace);
	LIST_REMOVE(gate, of_queue);
	if (workspace->path != NULL && LIST_EMPTY(&workspace->gates)) {
		RB_REMOVE(path_tree, &queues->workspaces, workspace);
		free(workspace->path);
		free(workspace);
	}
	queue_put(gate->queue);
	free(gate);
}
