/* SPDX-License-Identifier: MIT */
#include "slot/activity_check.h"

#include "base/log.h"
#include "core/row.h"
#include "core/state.h"
#include "model/activity.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/state_names.h"
#include "slot/turn.h"

#define IS(kind) (1u << ACTIVITY_##kind)
#define GOES_ON (IS(COMMIT) | IS(JOB))
/* An unfinished attempt: it waits to start, is being built, runs, or its output is being read. */
#define ATTEMPT (IS(PERMIT) | IS(ACCOUNT) | IS(CHECKS) | GOES_ON | IS(ATTEMPT))
#define OPERATION (IS(RETRY) | GOES_ON | IS(OPERATION))

/* Activities allowed in a stage. During the teardown of an ended slot, allowed_now() decides. */
static const unsigned allowed[SLOT_STAGES] = {
	[SLOT_S_WAITING] = IS(PERMIT) | IS(PICK) | IS(COMMIT),
	[SLOT_S_CLAIMING] = OPERATION,
	[SLOT_S_CREATING_WORKTREE] = OPERATION | IS(TURN),
	[SLOT_S_PREPARING] = OPERATION,
	[SLOT_S_SETTING_UP] = ATTEMPT,
	[SLOT_S_IMPLEMENTING] = ATTEMPT | OPERATION,
	[SLOT_S_CHECKING] = ATTEMPT | IS(BASELINE) | IS(TRAIN),
	[SLOT_S_MEASURING] = OPERATION,
	[SLOT_S_CHECKOUT] = OPERATION | IS(TRAIN),
	[SLOT_S_REVIEWING] = ATTEMPT,
	[SLOT_S_VERIFYING] = OPERATION,
	[SLOT_S_PANEL] = IS(PANEL) | GOES_ON,
	[SLOT_S_FIXING] = ATTEMPT | OPERATION,
	[SLOT_S_PINNING] = OPERATION,
	[SLOT_S_COMMIT_AGENT] = ATTEMPT,
	[SLOT_S_COMMITTING] = OPERATION,
	[SLOT_S_MERGING] = OPERATION | IS(TURN),
	[SLOT_S_HELD] = IS(NONE),
	[SLOT_S_IMPLEMENTED] = IS(NONE),
	[SLOT_S_ENDING] = GOES_ON | IS(ATTEMPT) | IS(OPERATION),
	[SLOT_S_PASSED] = IS(NONE),
	[SLOT_S_FAILED] = IS(NONE),
	[SLOT_S_CANCELLED] = IS(NONE),
};

static unsigned allowed_now(const struct slot *slot)
{
	if (slot->row == NULL)
		return IS(NONE) | OPERATION;
	if (slot->row->leaving != LEAVING_NOTHING)
		return OPERATION | (slot->row->leaving >= LEAVING_REMOVE ? IS(TURN) : 0);
	return allowed[slot->row->stage];
}

/* The attempt of a stage exists, is unfinished and has its role. */
static bool fits_attempt(const struct slot *slot)
{
	const struct attempt_row *a;

	/* its attempt is over */
	if (slot->row != NULL && slot->row->stage == SLOT_S_CHECKING && slot->row->base == BASE_AWAITED)
		return slot->activity.kind == ACTIVITY_BASELINE || slot->activity.kind == ACTIVITY_COMMIT;
	if (slot->row != NULL && slot->row->stage == SLOT_S_CHECKING && slot->row->merge == MERGE_SUSPECTED)
		return slot->activity.kind == ACTIVITY_TRAIN || slot->activity.kind == ACTIVITY_COMMIT;
	if (slot->row == NULL || (allowed[slot->row->stage] & ATTEMPT) != ATTEMPT)
		return slot->activity.kind != ACTIVITY_ATTEMPT || slot_ending(slot);
	a = run_rows_attempt(slot->run->rows, slot->row->attempt);
	if (a == NULL || a->role != (int)slot_stage_role((enum slot_stage)slot->row->stage))
		return false;
	if ((slot->op.step != NULL || slot->activity.kind == ACTIVITY_OPERATION) && !slot_starts_writing(slot))
		return false;
	if (slot->activity.kind == ACTIVITY_ATTEMPT && slot->activity.id != a->id)
		return false;
	return a->state == ATTEMPT_S_STARTING || a->state == ATTEMPT_S_RUNNING;
}

static bool fits_operation(const struct slot *slot)
{
	const struct operation *op = &slot->op;

	if (slot->activity.kind == ACTIVITY_OPERATION && (op->step == NULL || op->step->id != slot->activity.id))
		return false;
	return !op->has_turn || (!op->of_source && turn_is_needed(op->git_kind) && activity_is_busy(&slot->activity));
}

void activity_check(const struct slot *slot)
{
	const struct slot_row *row = slot->row;

	/* until recovery is complete there are no activities */
	if (slot->run->engine->recovering)
		return;
	if ((allowed_now(slot) & 1u << slot->activity.kind) != 0 && fits_attempt(slot) && fits_operation(slot))
		return;
	log_bug("run %lld slot %lld: activity %s does not fit stage %s%s", (long long)slot->run->rows->run.id,
	    row != NULL ? (long long)row->slot : -1, activity_name(slot->activity.kind),
	    row != NULL ? state_name(&slot_stage_names, row->stage) : "of the run",
	    row != NULL && row->leaving != LEAVING_NOTHING ? " during teardown" : "");
}

void activity_check_run(const struct run *run)
{
	activity_check(&run->own);
	for (size_t i = 0; i < run->nslots; i++)
		activity_check(run->slots[i]);
}
