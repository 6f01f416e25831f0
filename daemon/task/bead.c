/* SPDX-License-Identifier: MIT */
#include "task/bead.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/row.h"
#include "proto/memory.h"
#include "proto/units.h"
#include "task/list.h"
#include "task/value.h"

/* maximum number of open beads that one bead waits for; beyond it the bead waits until its source
 * reports it ready */
#define HOLDS_MAX 64

/* Statuses that block nothing; done: there is nothing left to do. */
static const struct {
	const char *name;
	bool done;
} settled[] = {
	{ "closed", true }, { "tombstone", true }, { "pinned", false },
};

/* Internal issue types that bd never offers. */
static const char *const kept_types[] = { "merge-request", "gate", "molecule", "message", "agent",
    "role", "rig", NULL };

/* Dependency types that block nothing. */
static const struct {
	const char *name;
	enum edge_kind kind;
} edge_types[] = {
	{ "blocks", EDGE_WAITS }, { "conditional-blocks", EDGE_WAITS }, { "waits-for", EDGE_WAITS },
	{ "parent-child", EDGE_PARENT },
};

static bool is_settled(const char *status, bool *done)
{
	for (size_t i = 0; i < sizeof(settled) / sizeof(settled[0]); i++) {
		if (strcmp(status, settled[i].name) == 0) {
			*done = settled[i].done;
			return true;
		}
	}
	return false;
}

static bool is_kept_type(const json_t *object)
{
	const char *type = json_string_value(json_object_get(object, "issue_type"));

	for (size_t i = 0; type != NULL && kept_types[i] != NULL; i++)
		if (strcmp(type, kept_types[i]) == 0)
			return true;
	return false;
}

/* Deferred until a time in the future, or an unreadable one. */
static bool is_deferred(const json_t *object, int64_t now)
{
	const json_t *until = json_object_get(object, "defer_until");
	int64_t when;

	if (until == NULL || json_is_null(until))
		return false;
	return !json_is_string(until) || time_parse(json_string_value(until), &when) != 0 || when > now;
}

static bool is_free(const json_t *object, const struct task_item *item, int64_t now)
{
	const char *assignee = json_string_value(json_object_get(object, "assignee"));

	return strcmp(item->status, "open") == 0 && (assignee == NULL || assignee[0] == '\0') &&
	    !is_kept_type(object) && !json_is_true(json_object_get(object, "pinned")) &&
	    !json_is_true(json_object_get(object, "ephemeral")) &&
	    !json_is_true(json_object_get(object, "is_template")) && !is_deferred(object, now);
}

/* ---- dependencies ---- */

static void add_edge(struct bead *bead, const char *on, enum edge_kind kind)
{
	bead->edges[bead->nedges++] = (struct edge){ xstrdup(on), kind };
}

/* A record {issue_id, depends_on_id, type}, or the other issue itself with a dependency_type, as in
 * `bd show`. */
static bool take_record(struct bead *bead, const json_t *record)
{
	const char *on = json_string_value(json_object_get(record, "depends_on_id")),
	    *whose = json_string_value(json_object_get(record, "issue_id"));
	const char *type = json_string_value(json_object_get(record, "type"));

	if (on == NULL)
		on = json_string_value(json_object_get(record, "id"));
	if (type == NULL)
		type = json_string_value(json_object_get(record, "dependency_type"));
	if (on == NULL)
		return false;
	if (whose != NULL && strcmp(whose, bead->item.id) != 0)
		return true;	/* the reverse direction: not what this one waits for */
	if (type == NULL)
		type = edge_types[0].name;
	for (size_t i = 0; i < sizeof(edge_types) / sizeof(edge_types[0]); i++)
		if (strcmp(type, edge_types[i].name) == 0)
			add_edge(bead, on, edge_types[i].kind);
	return true;
}

static bool take_dependencies(struct bead *bead, const json_t *object)
{
	const json_t *list = json_object_get(object, "dependencies"), *one;
	size_t i;

	if (list == NULL || json_is_null(list))
		return true;
	if (!json_is_array(list))
		return false;
	bead->edges = xcalloc(json_array_size(list) + 1, sizeof(*bead->edges));
	json_array_foreach(list, i, one) {
		if (json_is_string(one))
			add_edge(bead, json_string_value(one), EDGE_WAITS);
		else if (!json_is_object(one) || !take_record(bead, one))
			return false;
	}
	return true;
}

/* The ids it depends on directly, without its parent: a parent is done after its children. */
static char **depends_on(const struct bead *bead)
{
	char **ids = xcalloc(bead->nedges + 1, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < bead->nedges; i++)
		if (bead->edges[i].kind == EDGE_WAITS)
			ids[n++] = xstrdup(bead->edges[i].on);
	if (n > 0)
		return ids;
	free(ids);
	return NULL;
}

/* ---- an issue ---- */

static bool take_id(struct bead *bead, const json_t *object)
{
	static const char *const names[] = { "id", "issue_id", "key" };

	for (size_t i = 0; bead->item.id == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		bead->item.id = value_id(json_object_get(object, names[i]));
	return bead->item.id != NULL;
}

static bool wrong(char **words, const json_t *object, const char *name)
{
	*words = xasprintf("\"%s\" is %s", name, value_kind(json_object_get(object, name)));
	return false;
}

bool bead_read(struct bead *bead, const json_t *object, int64_t now, char **words)
{
	struct task_item *item = &bead->item;

	*bead = (struct bead){ .item = { .priority = ROW_NONE, .max_reviews = ROW_NONE } };
	if (!json_is_object(object)) {
		*words = xasprintf("it is %s, but an issue is an object", value_kind(object));
		return false;
	}
	if (!take_id(bead, object)) {
		*words = xstrdup("it has no \"id\"");
		return false;
	}
	if (list_id_fault(item->id) != NULL) {
		*words = xstrdup(list_id_fault(item->id));
		return false;
	}
	if (!value_take_text(object, "title", &item->title))
		return wrong(words, object, "title");
	if (!value_take_text(object, "description", &item->description))
		return wrong(words, object, "description");
	if (!value_take_criteria(object, "acceptance_criteria", &item->acceptance))
		return wrong(words, object, "acceptance_criteria");
	if (!value_take_text(object, "status", &item->status))
		return wrong(words, object, "status");
	if (!value_take_priority(object, "priority", &item->priority))
		return wrong(words, object, "priority");
	if (!value_take_text(object, "updated_at", &item->updated_at))
		return wrong(words, object, "updated_at");
	if (!take_dependencies(bead, object))
		return wrong(words, object, "dependencies");
	if (item->status == NULL)
		item->status = xstrdup("open");
	for (char *c = item->status; *c != '\0'; c++)
		*c = (char)tolower((unsigned char)*c);
	item->depends_on = depends_on(bead);
	bead->settled = is_settled(item->status, &item->done);
	bead->idle = is_free(object, item, now);
	return true;
}

void bead_release(struct bead *bead)
{
	for (size_t i = 0; i < bead->nedges; i++)
		free(bead->edges[i].on);
	free(bead->edges);
	task_item_release(&bead->item);
	*bead = (struct bead){ 0 };
}

/* ---- what is ready ---- */

static int compare_id(const void *key, const void *member)
{
	return strcmp(key, ((const struct bead *)member)->item.id);
}

/* What blocks a bead: other open beads, or something that no bead's end changes. */
struct hold {
	char **by;		/* `count` unique ids, owned by their beads */
	size_t count;
	bool for_good;
};

static void hold_add(struct hold *hold, char *id)
{
	for (size_t i = 0; i < hold->count; i++)
		if (strcmp(hold->by[i], id) == 0)
			return;
	/* a family may inherit many dependencies */
	if (hold->count == HOLDS_MAX) {
		hold->for_good = true;
		return;
	}
	if (hold->by == NULL)
		hold->by = xcalloc(HOLDS_MAX, sizeof(char *));
	hold->by[hold->count++] = id;
}

/* By its own dependencies. One on an unknown bead blocks for ever. */
static void hold_own(struct hold *hold, const struct bead *bead, const struct bead *beads, size_t count)
{
	hold->for_good = strcmp(bead->item.status, "deferred") == 0;
	for (size_t i = 0; i < bead->nedges; i++) {
		const struct edge *edge = &bead->edges[i];
		struct bead *on = bsearch(edge->on, beads, count, sizeof(*beads), compare_id);

		if (on == NULL)
			hold->for_good = true;
		else if (edge->kind == EDGE_WAITS && !on->settled)
			hold_add(hold, on->item.id);
	}
}

static void hold_inherit(struct hold *hold, const struct hold *parent)
{
	hold->for_good |= parent->for_good;
	for (size_t i = 0; i < parent->count; i++)
		hold_add(hold, parent->by[i]);
}

/* Its hold is complete. */
static void set_ready(struct bead *bead, const struct hold *hold)
{
	struct task_item *item = &bead->item;
	bool may = bead->idle && item->id[0] != '-' && !hold->for_good;

	item->ready = may && hold->count == 0;
	if (!may || hold->count == 0)
		return;
	item->held_by = xcalloc(hold->count + 1, sizeof(char *));
	for (size_t i = 0; i < hold->count; i++)
		item->held_by[i] = xstrdup(hold->by[i]);
}

/* Inheritance: the children of each bead, in one array. */
struct family {
	size_t *parents;	/* for each bead: number of parents not processed yet */
	/* for each bead: index of its first child in children; count + 1 entries */
	size_t *first;
	size_t *children;
};

static size_t parent_of(const struct edge *edge, const struct bead *beads, size_t count)
{
	const struct bead *on = edge->kind == EDGE_PARENT ?
	    bsearch(edge->on, beads, count, sizeof(*beads), compare_id) : NULL;

	return on != NULL ? (size_t)(on - beads) : SIZE_MAX;
}

static void find_family(struct family *f, const struct bead *beads, size_t count)
{
	size_t *next;

	f->parents = xcalloc(count + 1, sizeof(size_t));
	f->first = xcalloc(count + 2, sizeof(size_t));
	for (size_t i = 0; i < count; i++) {
		for (size_t e = 0; e < beads[i].nedges; e++) {
			size_t parent = parent_of(&beads[i].edges[e], beads, count);

			if (parent == SIZE_MAX)
				continue;
			f->parents[i]++;
			f->first[parent + 1]++;
		}
	}
	for (size_t i = 0; i < count; i++)
		f->first[i + 1] += f->first[i];
	f->children = xcalloc(f->first[count] + 1, sizeof(size_t));
	next = xcalloc(count + 1, sizeof(size_t));
	for (size_t i = 0; i < count; i++) {
		for (size_t e = 0; e < beads[i].nedges; e++) {
			size_t parent = parent_of(&beads[i].edges[e], beads, count);

			if (parent != SIZE_MAX)
				f->children[f->first[parent] + next[parent]++] = i;
		}
	}
	free(next);
}

void beads_work_out(struct bead *beads, size_t count)
{
	struct family f;
	struct hold *holds = xcalloc(count + 1, sizeof(*holds));
	size_t *queue = xcalloc(count + 1, sizeof(size_t)), end = 0;

	find_family(&f, beads, count);
	for (size_t i = 0; i < count; i++) {
		hold_own(&holds[i], &beads[i], beads, count);
		if (f.parents[i] == 0)
			queue[end++] = i;
	}
	/* Parents first. A bead that is its own ancestor is never reached, and so never ready. */
	for (size_t at = 0; at < end; at++) {
		size_t parent = queue[at];

		set_ready(&beads[parent], &holds[parent]);
		for (size_t c = f.first[parent]; c < f.first[parent + 1]; c++) {
			size_t child = f.children[c];

			if (!beads[parent].settled)
				hold_inherit(&holds[child], &holds[parent]);
			if (--f.parents[child] == 0)
				queue[end++] = child;
		}
	}
	for (size_t i = 0; i < count; i++)
		free(holds[i].by);
	free(holds);
	free(f.parents);
	free(f.first);
	free(f.children);
	free(queue);
}
