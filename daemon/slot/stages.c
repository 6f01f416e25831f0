/* SPDX-License-Identifier: MIT */
#include "slot/stages.h"

#include "core/state.h"

const struct stage *const slot_stages[SLOT_STAGES] = {
	[SLOT_S_WAITING] = &stage_waiting,
	[SLOT_S_CLAIMING] = &stage_claiming,
	[SLOT_S_CREATING_WORKTREE] = &stage_creating_worktree,
	[SLOT_S_PREPARING] = &stage_preparing,
	[SLOT_S_SETTING_UP] = &stage_setting_up,
	[SLOT_S_IMPLEMENTING] = &stage_implementing,
	[SLOT_S_CHECKING] = &stage_checking,
	[SLOT_S_MEASURING] = &stage_measuring,
	[SLOT_S_CHECKOUT] = &stage_checkout,
	[SLOT_S_REVIEWING] = &stage_reviewing,
	[SLOT_S_VERIFYING] = &stage_verifying,
	[SLOT_S_PANEL] = &stage_panel,
	[SLOT_S_FIXING] = &stage_fixing,
	[SLOT_S_PINNING] = &stage_pinning,
	[SLOT_S_COMMIT_AGENT] = &stage_commit_agent,
	[SLOT_S_COMMITTING] = &stage_committing,
	[SLOT_S_MERGING] = &stage_merging,
	[SLOT_S_IMPLEMENTED] = &stage_implemented,
	[SLOT_S_ENDING] = &stage_ending,
	[SLOT_S_HELD] = &stage_held,
	[SLOT_S_PASSED] = &stage_passed,
	[SLOT_S_FAILED] = &stage_failed,
	[SLOT_S_CANCELLED] = &stage_cancelled,
};
