/* SPDX-License-Identifier: MIT */
#include "core/slot.h"

#include <string.h>

#define TO(stage) (1u << SLOT_S_##stage)
#define ATTEMPT (TO(IMPLEMENTING) | TO(CHECKING) | TO(REVIEWING) | TO(FIXING) | TO(COMMIT_AGENT))
/* Every working stage can fail or be cancelled. */
#define BREAK_OFF (TO(FAILED) | TO(ENDING))

const unsigned slot_followers[SLOT_STAGES] = {
	[SLOT_S_WAITING] = TO(CLAIMING) | TO(CREATING_WORKTREE) | TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) |
	    TO(REVIEWING) | TO(PASSED) | TO(CANCELLED),
	[SLOT_S_CLAIMING] = TO(CLAIMING) | TO(CREATING_WORKTREE) | TO(IMPLEMENTING) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_CREATING_WORKTREE] = TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) | BREAK_OFF,
	[SLOT_S_IMPLEMENTING] = TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) | TO(REVIEWING) | TO(IMPLEMENTED) |
	    TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_CHECKING] = TO(CHECKING) | TO(MEASURING) | TO(REVIEWING) | TO(FIXING) | TO(HELD) |
	    TO(PASSED) | BREAK_OFF,
	[SLOT_S_MEASURING] = TO(CHECKOUT) | TO(REVIEWING) | TO(FIXING) | TO(COMMIT_AGENT) | TO(COMMITTING) |
	    TO(IMPLEMENTED) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_CHECKOUT] = TO(REVIEWING) | BREAK_OFF,
	[SLOT_S_REVIEWING] = TO(CHECKOUT) | TO(REVIEWING) | TO(VERIFYING) | TO(MEASURING) | TO(HELD) | TO(PASSED) |
	    BREAK_OFF,
	[SLOT_S_VERIFYING] = TO(MEASURING) | TO(FIXING) | TO(COMMIT_AGENT) | TO(COMMITTING) | TO(PINNING) | TO(HELD) |
	    TO(PASSED) | BREAK_OFF,
	[SLOT_S_FIXING] = TO(CHECKING) | TO(MEASURING) | TO(REVIEWING) | TO(FIXING) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_PINNING] = TO(PASSED) | BREAK_OFF,
	[SLOT_S_COMMIT_AGENT] = TO(COMMIT_AGENT) | TO(COMMITTING) | TO(HELD) | BREAK_OFF,
	[SLOT_S_COMMITTING] = TO(FIXING) | TO(MERGING) | TO(PINNING) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_MERGING] = TO(FIXING) | TO(PINNING) | TO(IMPLEMENTED) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_HELD] = TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) | TO(CHECKOUT) | TO(REVIEWING) | TO(FIXING) |
	    TO(COMMIT_AGENT) | TO(PASSED) | TO(FAILED) | TO(CANCELLED),
	[SLOT_S_IMPLEMENTED] = TO(PASSED) | TO(FAILED) | TO(CANCELLED),
	[SLOT_S_ENDING] = TO(CANCELLED),
	[SLOT_S_PASSED] = 0,
	[SLOT_S_FAILED] = 0,
	[SLOT_S_CANCELLED] = 0,
};

static const char *const reason_names[MOVE_REASONS] = {
	[MOVE_DONE] = "done",
	[MOVE_RETRY] = "retry",
	[MOVE_RELEASED] = "released",
	[MOVE_ACCEPTED] = "accepted",
};

bool slot_row_move(struct slot_row *row, enum slot_stage from, enum slot_stage to)
{
	if (row->stage != (int)from || (slot_followers[from] & 1u << to) == 0)
		return false;
	row->stage = (int)to;
	return true;
}

const char *move_reason_name(enum move_reason reason)
{
	return reason_names[reason];
}

static const enum slot_phase phases[SLOT_STAGES] = {
	[SLOT_S_WAITING] = PHASE_WAITING,
	[SLOT_S_CLAIMING] = PHASE_WAITING,
	[SLOT_S_CREATING_WORKTREE] = PHASE_WAITING,
	[SLOT_S_IMPLEMENTING] = PHASE_IMPLEMENTING,
	[SLOT_S_CHECKING] = PHASE_CHECKING,
	[SLOT_S_MEASURING] = PHASE_REVIEWING,
	[SLOT_S_CHECKOUT] = PHASE_REVIEWING,
	[SLOT_S_REVIEWING] = PHASE_REVIEWING,
	[SLOT_S_VERIFYING] = PHASE_REVIEWING,
	[SLOT_S_FIXING] = PHASE_FIXING,
	[SLOT_S_PINNING] = PHASE_COMMITTING,
	[SLOT_S_COMMIT_AGENT] = PHASE_COMMITTING,
	[SLOT_S_COMMITTING] = PHASE_COMMITTING,
	[SLOT_S_MERGING] = PHASE_COMMITTING,
	[SLOT_S_IMPLEMENTED] = PHASE_WAITING,
	[SLOT_S_ENDING] = PHASE_CANCELLED,
	[SLOT_S_HELD] = PHASE_HELD,
	[SLOT_S_PASSED] = PHASE_PASSED,
	[SLOT_S_FAILED] = PHASE_FAILED,
	[SLOT_S_CANCELLED] = PHASE_CANCELLED,
};

enum slot_phase slot_phase(enum slot_stage stage)
{
	return phases[stage];
}

bool slot_cools(const struct slot_row *row)
{
	return (ATTEMPT & 1u << row->stage) != 0 &&
	    (row->cooling != NULL || row->retry_at != ROW_NONE || row->wait_kind == WAIT_BUDGET);
}

enum slot_phase slot_row_phase(const struct slot_row *row)
{
	if (slot_cools(row))
		return PHASE_COOLING;
	/* the implementer's work is measured, and no review has begun */
	if (row->stage == SLOT_S_MEASURING && row->round == 0)
		return PHASE_IMPLEMENTING;
	return slot_phase((enum slot_stage)row->stage);
}

enum slot_stage slot_role_stage(enum role role)
{
	static const enum slot_stage stages[ROLES] = {
		[ROLE_IMPLEMENT] = SLOT_S_IMPLEMENTING,
		[ROLE_CHECK] = SLOT_S_CHECKING,
		[ROLE_REVIEW] = SLOT_S_REVIEWING,
		[ROLE_FIX] = SLOT_S_FIXING,
		[ROLE_COMMIT] = SLOT_S_COMMIT_AGENT,
	};

	return stages[role];
}

enum role slot_stage_role(enum slot_stage stage)
{
	int role = 0;

	while (role < ROLES && slot_role_stage((enum role)role) != stage)
		role++;
	return (enum role)role;
}

bool slot_stage_is_end(enum slot_stage stage)
{
	return stage == SLOT_S_PASSED || stage == SLOT_S_FAILED || stage == SLOT_S_CANCELLED;
}
