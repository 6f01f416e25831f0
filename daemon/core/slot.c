/* SPDX-License-Identifier: MIT */
#include "core/slot.h"

#include <string.h>

#define TO(stage) (1u << SLOT_S_##stage)
#define ATTEMPT (TO(SETTING_UP) | TO(IMPLEMENTING) | TO(CHECKING) | TO(REVIEWING) | TO(FIXING) | TO(COMMIT_AGENT))
/* Every working stage can fail or be cancelled. */
#define MERGE (TO(MERGING) | TO(CHECKOUT) | TO(PREPARING) | TO(SETTING_UP) | TO(CHECKING) | TO(MEASURING))
#define BREAK_OFF (TO(FAILED) | TO(ENDING))

const unsigned slot_followers[SLOT_STAGES] = {
	[SLOT_S_WAITING] = TO(CLAIMING) | TO(CHECKOUT) | TO(CREATING_WORKTREE) | TO(IMPLEMENTING) | TO(CHECKING) |
	    TO(MEASURING) | TO(REVIEWING) | TO(IMPLEMENTED) | TO(PASSED) | TO(CANCELLED),
	[SLOT_S_CLAIMING] = TO(CLAIMING) | TO(CREATING_WORKTREE) | TO(CHECKOUT) | TO(CHECKING) | TO(IMPLEMENTING) |
	    TO(MEASURING) | TO(IMPLEMENTED) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_CREATING_WORKTREE] = TO(PREPARING) | TO(IMPLEMENTING) | TO(CHECKOUT) | TO(CHECKING) | TO(MEASURING) |
	    BREAK_OFF,
	[SLOT_S_PREPARING] = TO(SETTING_UP) | TO(IMPLEMENTING) | TO(CHECKOUT) | TO(CHECKING) | TO(MEASURING) |
	    TO(REVIEWING) | BREAK_OFF,
	[SLOT_S_SETTING_UP] = TO(SETTING_UP) | TO(PREPARING) | TO(CHECKOUT) | TO(HELD) | BREAK_OFF,
	[SLOT_S_IMPLEMENTING] = TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) | TO(REVIEWING) | TO(IMPLEMENTED) |
	    TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_CHECKING] = TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) | TO(CHECKOUT) | TO(REVIEWING) |
	    TO(PANEL) | TO(MERGING) | TO(FIXING) | TO(COMMIT_AGENT) | TO(COMMITTING) | TO(HELD) | TO(PASSED) |
	    BREAK_OFF,
	[SLOT_S_MEASURING] = TO(IMPLEMENTING) | TO(CHECKOUT) | TO(REVIEWING) | TO(PANEL) | TO(FIXING) |
	    TO(COMMIT_AGENT) | TO(COMMITTING) | TO(MERGING) | TO(PINNING) | TO(IMPLEMENTED) | TO(HELD) |
	    TO(PASSED) | BREAK_OFF,
	[SLOT_S_CHECKOUT] = TO(PREPARING) | TO(CHECKING) | TO(REVIEWING) | TO(PANEL) | TO(MERGING) | BREAK_OFF,
	[SLOT_S_REVIEWING] = TO(CHECKOUT) | TO(REVIEWING) | TO(VERIFYING) | TO(MEASURING) | TO(HELD) | TO(PASSED) |
	    BREAK_OFF,
	[SLOT_S_VERIFYING] = TO(MEASURING) | TO(CHECKOUT) | TO(REVIEWING) | TO(FIXING) | TO(COMMIT_AGENT) |
	    TO(COMMITTING) | TO(MERGING) | TO(PINNING) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_PANEL] = TO(MEASURING) | TO(FIXING) | TO(COMMIT_AGENT) | TO(COMMITTING) | TO(MERGING) | TO(PINNING) |
	    TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_FIXING] = TO(CHECKING) | TO(MEASURING) | TO(REVIEWING) | TO(FIXING) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_PINNING] = TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_COMMIT_AGENT] = TO(COMMIT_AGENT) | TO(COMMITTING) | TO(HELD) | BREAK_OFF,
	[SLOT_S_COMMITTING] = TO(CHECKING) | TO(MEASURING) | TO(FIXING) | TO(MERGING) | TO(PINNING) | TO(HELD) |
	    TO(PASSED) | BREAK_OFF,
	[SLOT_S_MERGING] = TO(MERGING) | TO(MEASURING) | TO(CHECKOUT) | TO(CHECKING) | TO(FIXING) |
	    TO(PINNING) | TO(IMPLEMENTED) | TO(HELD) | TO(PASSED) | BREAK_OFF,
	[SLOT_S_HELD] = TO(PREPARING) | TO(SETTING_UP) | TO(IMPLEMENTING) | TO(CHECKING) | TO(MEASURING) |
	    TO(CHECKOUT) | TO(REVIEWING) | TO(PANEL) | TO(FIXING) | TO(COMMIT_AGENT) | TO(COMMITTING) |
	    TO(PINNING) | TO(PASSED) | TO(FAILED) | TO(CANCELLED),
	[SLOT_S_IMPLEMENTED] = TO(PASSED) | TO(FAILED) | TO(CANCELLED),
	[SLOT_S_ENDING] = TO(CANCELLED),
	[SLOT_S_PASSED] = 0,
	[SLOT_S_FAILED] = 0,
	[SLOT_S_CANCELLED] = 0,
};

static const char *const reason_names[MOVE_REASONS] = {
	[MOVE_DONE] = "done",
	[MOVE_RETRY] = "retry",
	[MOVE_RERUN] = "rerun",
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
	[SLOT_S_PREPARING] = PHASE_SETTING_UP,
	[SLOT_S_SETTING_UP] = PHASE_SETTING_UP,
	[SLOT_S_IMPLEMENTING] = PHASE_IMPLEMENTING,
	[SLOT_S_CHECKING] = PHASE_CHECKING,
	[SLOT_S_MEASURING] = PHASE_REVIEWING,
	[SLOT_S_CHECKOUT] = PHASE_REVIEWING,
	[SLOT_S_REVIEWING] = PHASE_REVIEWING,
	[SLOT_S_VERIFYING] = PHASE_REVIEWING,
	[SLOT_S_PANEL] = PHASE_REVIEWING,
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
	    (row->cooling != NULL || row->retry_at != ROW_NONE || row->wait_kind == WAIT_BUDGET ||
	    row->wait_kind == WAIT_LAUNCHER);
}

/* Its work is measured, or laid out for the first time: no check or review has begun. */
static bool slot_prepares(const struct slot_row *row)
{
	bool again = row->check > 0 || row->interrupted > 0 || row->retries > 0 || row->cooling != NULL ||
	    row->retry_at != ROW_NONE;

	return (row->stage == SLOT_S_MEASURING && row->accepted == ACCEPTED_BY_NONE) ||
	    (row->stage == SLOT_S_CHECKOUT && !again);
}

enum slot_phase slot_row_phase(const struct slot_row *row)
{
	if (slot_cools(row))
		return PHASE_COOLING;
	if (row->stage == SLOT_S_CHECKOUT && (row->base == BASE_CHECKING || row->merge == MERGE_JUDGING))
		return PHASE_CHECKING;
	if (!slot_prepares(row))
		return slot_phase((enum slot_stage)row->stage);
	if (row->fix > 0)
		return PHASE_FIXING;
	return row->slot == 0 ? PHASE_WAITING : PHASE_IMPLEMENTING;
}

enum slot_stage slot_role_stage(enum role role)
{
	static const enum slot_stage stages[ROLES] = {
		[ROLE_IMPLEMENT] = SLOT_S_IMPLEMENTING,
		[ROLE_CHECK] = SLOT_S_CHECKING,
		[ROLE_REVIEW] = SLOT_S_REVIEWING,
		[ROLE_FIX] = SLOT_S_FIXING,
		[ROLE_COMMIT] = SLOT_S_COMMIT_AGENT,
		[ROLE_SETUP] = SLOT_S_SETTING_UP,
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

bool role_is_command(enum role role)
{
	return role == ROLE_CHECK || role == ROLE_SETUP;
}

bool slot_merge_is_open(enum slot_merge merge)
{
	return merge == MERGE_JUDGING || merge == MERGE_SUSPECTED || merge == MERGE_AGAIN;
}

bool slot_row_has_own(const struct slot_row *row)
{
	return row->own_commit != NULL && slot_merge_is_open((enum slot_merge)row->merge);
}

int64_t slot_row_work(const struct slot_row *row)
{
	return row->voter_of != ROW_NONE ? row->voter_of : row->slot;
}

bool slot_row_is_beside(const struct slot_row *row)
{
	return row->slot == SLOT_BASELINE || row->voter_of != ROW_NONE;
}

bool slot_merge_waits(enum slot_merge merge)
{
	return slot_merge_is_open(merge) || merge == MERGE_SENT_BACK;
}

bool slot_row_is_merging(const struct slot_row *row)
{
	return slot_merge_is_open((enum slot_merge)row->merge) && (MERGE & 1u << row->stage) != 0;
}

bool slot_row_is_free(const struct slot_row *row)
{
	return slot_stage_is_end((enum slot_stage)row->stage) &&
	    (row->leaving == LEAVING_NOTHING || row->leaving == LEAVING_DELETE);
}

bool slot_stage_is_end(enum slot_stage stage)
{
	return stage == SLOT_S_PASSED || stage == SLOT_S_FAILED || stage == SLOT_S_CANCELLED;
}
