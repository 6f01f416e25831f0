/* SPDX-License-Identifier: MIT */
/* Groups of runs: limits from rld.toml, overridden by rows set at run time. */
#include "sched/groups.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "core/order.h"
#include "core/row.h"
#include "core/schedule.h"
#include "core/state.h"
#include "model/model.h"
#include "model/reply.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/error.h"
#include "proto/memory.h"
#include "sched/permits.h"
#include "txn/txn.h"

struct group {
	RB_ENTRY(group) entry;
	char *name;
	int64_t configured;	/* ROW_NONE: not in rld.toml */
	int64_t live;		/* ROW_NONE: as configured */
	bool paused;
};

static int compare(struct group *a, struct group *b)
{
	return strcmp(a->name, b->name);
}

RB_HEAD(group_tree, group);
TREE(group_tree, group, entry, compare)

struct groups {
	struct group_tree tree;
};

struct groups *groups_new(void)
{
	struct groups *groups = xcalloc(1, sizeof(*groups));

	RB_INIT(&groups->tree);
	return groups;
}

void groups_free(struct groups *groups)
{
	struct group *group;

	while ((group = RB_MIN(group_tree, &groups->tree)) != NULL) {
		RB_REMOVE(group_tree, &groups->tree, group);
		free(group->name);
		free(group);
	}
	free(groups);
}

static struct group *find(const struct groups *groups, const char *name)
{
	struct group key = { .name = (char *)name };

	return RB_FIND(group_tree, (struct group_tree *)&groups->tree, &key);
}

static struct group *find_or_make(struct groups *groups, const char *name)
{
	struct group *group = find(groups, name);

	if (group != NULL)
		return group;
	group = xcalloc(1, sizeof(*group));
	group->name = xstrdup(name);
	group->configured = group->live = ROW_NONE;
	RB_INSERT(group_tree, &groups->tree, group);
	return group;
}

static int64_t slots_of(const struct group *group)
{
	return group->live != ROW_NONE ? group->live : group->configured;
}

static void apply(struct engine *engine, const struct group *group)
{
	schedule_set_group(engine->schedule, group->name, slots_of(group), group->paused);
}

void groups_load(struct engine *engine, struct group_row *row)
{
	struct group *group = find_or_make(engine->groups, row->name);

	group->live = row->slots;
	group->paused = row->paused == 1;
	apply(engine, group);
	row_free(ROW_GROUP, row);
}

int64_t groups_check_slots(const struct engine *engine)
{
	const struct group *group = find(engine->groups, CHECKS_GROUP);

	return group != NULL && slots_of(group) != ROW_NONE ? slots_of(group) : CHECKS_SLOTS;
}

int64_t groups_check_used(const struct engine *engine)
{
	const struct run *run;
	int64_t used = 0;

	LIST_FOREACH(run, &engine->begun, begun)
		for (size_t i = 0; i < run->nslots; i++)
			used += run->slots[i]->has_check_permit;
	return used;
}

bool group_is_paused(const struct engine *engine, const char *name)
{
	const struct group *group = name != NULL ? find(engine->groups, name) : NULL;

	return group != NULL && group->paused;
}

void engine_configure_groups(struct engine *engine, const char *const *names, const int64_t *slots)
{
	struct group *group;

	RB_FOREACH(group, group_tree, &engine->groups->tree)
		group->configured = ROW_NONE;
	for (size_t i = 0; names[i] != NULL; i++)
		find_or_make(engine->groups, names[i])->configured = slots[i];
	RB_FOREACH(group, group_tree, &engine->groups->tree)
		apply(engine, group);
	effect_cooling_now(engine);
	effect_schedule_now(engine);
}

void engine_group_set(struct engine *engine, const char *name, int64_t slots, int paused,
    bool check, engine_reply_cb *cb, void *arg)
{
	struct engine_reply reply = { .id = 0 };
	struct group *group;
	struct group_row *row;
	struct txn *txn;

	if (engine->full) {
		reply.code = RPC_NO_SPACE;
		reply.message = "no space left for the database";
		reply.hint = "make room on the disk of the state directory";
	}
	if (reply.code != RPC_OK || check) {
		cb(arg, &reply);
		return;
	}
	group = find_or_make(engine->groups, name);
	if (slots != -1)
		group->live = slots;
	if (paused != -1)
		group->paused = paused == 1;
	row = row_new(ROW_GROUP);
	row->name = xstrdup(name);
	row->slots = group->live;
	row->paused = group->paused;
	txn = txn_new(engine);
	txn_put(txn, ROW_GROUP, row);
	txn_emit(txn, "group", ROW_NONE, json_pack("{s:s, s:b}", "group", name, "paused", group->paused));
	txn_reply(txn, cb, arg, 0);
	apply(engine, group);
	txn_effect_schedule(txn);
	txn_effect_cooling(txn);
	txn_commit(txn);
	row_free(ROW_GROUP, row);
}

/* Number of queued runs of the group. */
static int64_t count_queued(const struct engine *engine, const char *name)
{
	const struct run *run;
	int64_t count = 0;

	LIST_FOREACH(run, &engine->runs, entry)
		count += run->rows->run.state == RUN_S_QUEUED && run->rows->run.group != NULL &&
		    strcmp(run->rows->run.group, name) == 0;
	return count;
}

void engine_groups(struct engine *engine, void (*each)(void *arg, const struct group_info *group), void *arg)
{
	const struct run *run;
	struct group *group;

	LIST_FOREACH(run, &engine->runs, entry)
		if (run->rows->run.group != NULL)
			find_or_make(engine->groups, run->rows->run.group);
	if (groups_check_used(engine) > 0)
		find_or_make(engine->groups, CHECKS_GROUP);
	RB_FOREACH(group, group_tree, &engine->groups->tree) {
		bool checks = strcmp(group->name, CHECKS_GROUP) == 0;
		struct group_info info = {
			.name = group->name,
			.slots = checks ? groups_check_slots(engine) : slots_of(group),
			.live = group->live != ROW_NONE,
			.used = checks ? groups_check_used(engine) : schedule_group_used(engine->schedule, group->name),
			.queued = count_queued(engine, group->name),
			.paused = group->paused,
		};

		each(arg, &info);
	}
}
