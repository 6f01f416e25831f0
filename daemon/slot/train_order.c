/* SPDX-License-Identifier: MIT */
#include "slot/train_order.h"

#include <stdlib.h>

#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "txn/txn.h"

bool train_is_formed(const struct slot *slot)
{
	const struct plan *plan = slot_plan(slot);

	if (slot->plan != NULL || plan->review_merged == REVIEW_MERGED_ALWAYS || plan->checks_mode != CHECKS_ALL ||
	    !slot_checks_room(slot) || !slot_holds_merge_back(slot))
		return false;
	for (size_t i = 0; i < strings_count(plan->checks); i++)
		if (check_is_of_task(plan->checks[i]))
			return false;
	return true;
}

bool train_has(const struct slot *slot)
{
	enum slot_stage stage = (enum slot_stage)slot->row->stage;

	return slot_judges_merge(slot) && train_is_formed(slot) && stage != SLOT_S_HELD && !slot_stage_is_end(stage);
}

static bool waits(const struct slot *slot)
{
	return slot->activity.kind == ACTIVITY_TRAIN;
}

static bool is_suspected(const struct slot *slot)
{
	return slot->row->merge == MERGE_SUSPECTED;
}

/* ---- the order ---- */

struct train {
	struct slot **slots;		/* from the tip of the branch on; owned array */
	size_t count;
	size_t all;			/* that train_has(); more: some stand on what is gone */
};

static struct slot *next_on(const struct run *run, const char *commit)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (train_has(run->slots[i]) && object_is(run->slots[i]->row->base_commit, commit))
			return run->slots[i];
	return NULL;
}

static struct train train_of(const struct run *run)
{
	const struct run_row *row = &run->rows->run;
	struct train train = { xcalloc(run->nslots + 1, sizeof(struct slot *)), 0, 0 };
	struct slot *slot = next_on(run, row->result_commit != NULL ? row->result_commit : row->base_commit);

	while (slot != NULL && train.count < run->nslots) {
		train.slots[train.count++] = slot;
		slot = next_on(run, slot->row->commit_id);
	}
	for (size_t i = 0; i < run->nslots; i++)
		train.all += train_has(run->slots[i]);
	return train;
}

/* train->count: it is not in it. */
static size_t position(const struct train *train, const struct slot *slot)
{
	size_t i = 0;

	while (i < train->count && train->slots[i] != slot)
		i++;
	return i;
}

bool train_stands(const struct slot *slot)
{
	struct train train = train_of(slot->run);
	size_t at = position(&train, slot);

	free(train.slots);
	return at > 0 && at < train.count;
}

bool train_is_left(const struct slot *slot)
{
	struct train train = train_of(slot->run);
	size_t at = position(&train, slot);

	free(train.slots);
	return at == train.count;
}

struct slot **train_before(const struct slot *slot)
{
	struct train train = train_of(slot->run);
	size_t at = position(&train, slot);

	train.slots[at < train.count ? at : 0] = NULL;
	return train.slots;
}

/* ---- who joins ---- */

/* All of it waits, and none is suspected. */
static bool is_open(const struct train *train)
{
	for (size_t i = 0; i < train->count; i++)
		if (!waits(train->slots[i]) || is_suspected(train->slots[i]))
			return false;
	return train->count == train->all;
}

static bool is_to_be_merged(const struct slot *slot)
{
	return slot->row->stage == SLOT_S_MERGING && !slot_judges_merge(slot) && slot->row->merge != MERGE_TOGETHER &&
	    !slot->op.put_off && train_is_formed(slot);
}

bool train_admits(const struct slot *slot)
{
	struct train train = train_of(slot->run);
	bool admits = is_to_be_merged(slot) && is_open(&train);

	free(train.slots);
	return admits;
}

const char *train_last(const struct slot *slot)
{
	struct train train = train_of(slot->run);
	const char *last = train.count > 0 && is_to_be_merged(slot) ?
	    train.slots[train.count - 1]->row->commit_id : NULL;

	free(train.slots);
	return last;
}

/* ---- who acts ---- */

static bool is_busy(const struct train *train, const struct slot *slot)
{
	for (size_t i = 0; i < train->count; i++)
		if (train->slots[i] != slot && !waits(train->slots[i]))
			return true;
	return false;
}

static bool is_joined(const struct run *run, const struct train *train)
{
	for (size_t i = 0; i < run->nslots; i++)
		if (is_to_be_merged(run->slots[i]))
			return is_open(train);
	return false;
}

static enum train_step step_of(const struct train *train, const struct slot *slot)
{
	struct train_facts facts = {
		.count = train->count,
		.at = position(train, slot),
		.busy = is_busy(train, slot),
		.joined = is_joined(slot->run, train),
	};

	while (facts.red < train->count && !is_suspected(train->slots[facts.red]))
		facts.red++;
	return train_step(&facts);
}

enum train_step train_step_of(const struct slot *slot)
{
	struct train train = train_of(slot->run);
	enum train_step step = step_of(&train, slot);

	free(train.slots);
	return step;
}

void train_pass(struct txn *txn, struct run *run)
{
	struct train train = train_of(run);

	for (size_t i = 0; i < run->nslots; i++)
		if (waits(run->slots[i]) && step_of(&train, run->slots[i]) != TRAIN_WAIT)
			txn_effect(txn, EFFECT_STAGE, run, run->slots[i], ROW_NONE);
	free(train.slots);
}
