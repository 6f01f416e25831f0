/* SPDX-License-Identifier: MIT */
#include "core/slot.h"

#include <string.h>

#define IN(stage) (1u << SLOT_S_##stage)
#define ATTEMPT (IN(IMPLEMENTING) | IN(CHECKING) | IN(REVIEWING) | IN(FIXING) | IN(COMMIT_AGENT))
#define STEPS (IN(CLAIMING) | IN(LAYING) | IN(MEASURING) | IN(CHECKOUT) | IN(VERIFYING) | IN(PINNING) | IN(COMMITTING) | IN(MERGING))
#define WORKING (ATTEMPT | STEPS)
#define WORK (IN(IMPLEMENTING) | IN(FIXING))
#define REVIEWED (IN(CHECKING) | IN(REVIEWING) | IN(VERIFYING))
#define JUDGED (REVIEWED | IN(MEASURING) | IN(COMMITTING) | IN(MERGING))
#define REVIEW_BEGINS (IN(WAITING) | IN(LAYING))

const struct slot_edge slot_edges[] = {
	/* in                event                        action             next */
	{ IN(WAITING),      SLOT_E_START,               SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ IN(WAITING),      SLOT_E_START_CLAIM,         SLOT_A_CLAIM,     SLOT_S_CLAIMING },
	{ IN(WAITING),      SLOT_E_START_LAY,           SLOT_A_LAY,       SLOT_S_LAYING },
	{ IN(WAITING),      SLOT_E_START_REVIEW,        SLOT_A_MEASURE,   SLOT_S_MEASURING },
	{ IN(CLAIMING),     SLOT_E_CLAIMED,             SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ IN(CLAIMING),     SLOT_E_CLAIMED_LAY,         SLOT_A_LAY,       SLOT_S_LAYING },
	{ IN(CLAIMING),     SLOT_E_TAKEN_NEXT,          SLOT_A_CLAIM,     SLOT_S_CLAIMING },
	{ IN(CLAIMING),     SLOT_E_TAKEN,               SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(WAITING),      SLOT_E_LET_GO,              SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(LAYING),       SLOT_E_LAID,                SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ IN(LAYING),       SLOT_E_LAID_REVIEW,         SLOT_A_MEASURE,   SLOT_S_MEASURING },
	{ WORK,             SLOT_E_RELEASED,            SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ WORK | IN(CHECKING), SLOT_E_DONE,             SLOT_A_MEASURE,   SLOT_S_MEASURING },
	{ WORK | REVIEW_BEGINS, SLOT_E_DONE_CHECKS,      SLOT_A_CHECK,     SLOT_S_CHECKING },
	{ WORK | IN(CHECKING) | IN(WAITING), SLOT_E_DONE_NO_TREE, SLOT_A_REVIEW, SLOT_S_REVIEWING },
	{ IN(COMMIT_AGENT), SLOT_E_DONE,                SLOT_A_COMMIT,    SLOT_S_COMMITTING },
	{ IN(IMPLEMENTING), SLOT_E_DONE_UNREVIEWED,     SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(IMPLEMENTING), SLOT_E_DONE_LATER,          SLOT_A_SETTLE,    SLOT_S_IMPLEMENTED },
	{ IN(FIXING),       SLOT_E_NEXT_FINDING,        SLOT_A_FIX,       SLOT_S_FIXING },
	{ IN(CHECKING),     SLOT_E_NEXT_CHECK,          SLOT_A_CHECK,     SLOT_S_CHECKING },
	{ IN(MEASURING),    SLOT_E_MEASURED,            SLOT_A_REVIEW,    SLOT_S_REVIEWING },
	{ IN(MEASURING),    SLOT_E_MEASURED_CHECKOUT,   SLOT_A_CHECKOUT,  SLOT_S_CHECKOUT },
	{ IN(MEASURING),    SLOT_E_MEASURED_UNREVIEWED, SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(MEASURING),    SLOT_E_MEASURED_LATER,      SLOT_A_SETTLE,    SLOT_S_IMPLEMENTED },
	{ IN(MEASURING),    SLOT_E_MEASURED_COMMIT,     SLOT_A_COMMIT,    SLOT_S_COMMITTING },
	{ IN(MEASURING),    SLOT_E_MEASURED_ASK,        SLOT_A_ASK,       SLOT_S_COMMIT_AGENT },
	{ IN(CHECKOUT),     SLOT_E_CHECKED_OUT,         SLOT_A_REVIEW,    SLOT_S_REVIEWING },
	{ IN(REVIEWING),    SLOT_E_ANSWERED,            SLOT_A_VERIFY,    SLOT_S_VERIFYING },
	{ IN(REVIEWING),    SLOT_E_ANSWERED_NO_TREE,    SLOT_A_JUDGE,     SLOT_S_VERIFYING },
	{ IN(VERIFYING),    SLOT_E_PASS,                SLOT_A_PIN,       SLOT_S_PINNING },
	{ IN(VERIFYING),    SLOT_E_PASS_COMMIT,         SLOT_A_COMMIT,    SLOT_S_COMMITTING },
	{ IN(VERIFYING),    SLOT_E_PASS_ASK,            SLOT_A_ASK,       SLOT_S_COMMIT_AGENT },
	{ IN(VERIFYING),    SLOT_E_PASS_NO_TREE,        SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(CHECKING) | IN(MEASURING) | IN(VERIFYING) | IN(COMMITTING) | IN(MERGING), SLOT_E_FINDINGS, SLOT_A_FIX, SLOT_S_FIXING },
	{ REVIEWED | IN(HELD), SLOT_E_ACCEPTED,         SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ REVIEWED | IN(HELD), SLOT_E_ACCEPTED_COMMIT,  SLOT_A_MEASURE,   SLOT_S_MEASURING },
	{ JUDGED,           SLOT_E_HOLD,                SLOT_A_HOLD,      SLOT_S_HELD },
	{ IN(PINNING),      SLOT_E_PINNED,              SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(COMMITTING),   SLOT_E_COMMITTED,           SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(COMMITTING),   SLOT_E_COMMITTED_PIN,       SLOT_A_PIN,       SLOT_S_PINNING },
	{ IN(COMMITTING),   SLOT_E_COMMITTED_MERGE,     SLOT_A_MERGE,     SLOT_S_MERGING },
	{ IN(MERGING),      SLOT_E_MERGED,              SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ IN(MERGING),      SLOT_E_MERGED_PIN,          SLOT_A_PIN,       SLOT_S_PINNING },
	{ IN(MERGING),      SLOT_E_MERGED_LATER,        SLOT_A_SETTLE,    SLOT_S_IMPLEMENTED },
	{ IN(IMPLEMENTED),  SLOT_E_RUN_PASSED,          SLOT_A_SETTLE,    SLOT_S_PASSED },
	{ WORKING | IN(HELD) | IN(IMPLEMENTED), SLOT_E_FAILED, SLOT_A_SETTLE, SLOT_S_FAILED },
	{ ATTEMPT,          SLOT_E_LOST_HOLD,           SLOT_A_HOLD,      SLOT_S_HELD },
	{ ATTEMPT,          SLOT_E_LOST_FAIL,           SLOT_A_SETTLE,    SLOT_S_FAILED },
	{ IN(IMPLEMENTING), SLOT_E_LOST_RETRY,          SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ IN(CHECKING),     SLOT_E_LOST_RETRY,          SLOT_A_CHECK,     SLOT_S_CHECKING },
	{ IN(REVIEWING),    SLOT_E_LOST_RETRY,          SLOT_A_REVIEW,    SLOT_S_REVIEWING },
	{ IN(FIXING),       SLOT_E_LOST_RETRY,          SLOT_A_FIX,       SLOT_S_FIXING },
	{ IN(COMMIT_AGENT), SLOT_E_LOST_RETRY,          SLOT_A_ASK,       SLOT_S_COMMIT_AGENT },
	{ IN(REVIEWING),    SLOT_E_LOST_CHECKOUT,       SLOT_A_CHECKOUT,  SLOT_S_CHECKOUT },
	{ IN(IMPLEMENTING), SLOT_E_AGAIN,               SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ IN(CHECKING),     SLOT_E_AGAIN,               SLOT_A_CHECK,     SLOT_S_CHECKING },
	{ IN(REVIEWING),    SLOT_E_AGAIN,               SLOT_A_REVIEW,    SLOT_S_REVIEWING },
	{ IN(FIXING),       SLOT_E_AGAIN,               SLOT_A_FIX,       SLOT_S_FIXING },
	{ IN(COMMIT_AGENT), SLOT_E_AGAIN,               SLOT_A_ASK,       SLOT_S_COMMIT_AGENT },
	{ IN(REVIEWING),    SLOT_E_AGAIN_CHECKOUT,       SLOT_A_CHECKOUT,  SLOT_S_CHECKOUT },
	{ IN(HELD),         SLOT_E_REWORK_IMPLEMENT,    SLOT_A_IMPLEMENT, SLOT_S_IMPLEMENTING },
	{ IN(HELD),         SLOT_E_REWORK_CHECK,        SLOT_A_CHECK,     SLOT_S_CHECKING },
	{ IN(HELD),         SLOT_E_REWORK_REVIEW,       SLOT_A_REVIEW,    SLOT_S_REVIEWING },
	{ IN(HELD),         SLOT_E_REWORK_CHECKOUT,     SLOT_A_CHECKOUT,  SLOT_S_CHECKOUT },
	{ IN(HELD),         SLOT_E_REWORK_FIX,          SLOT_A_FIX,       SLOT_S_FIXING },
	{ IN(HELD),         SLOT_E_REWORK_COMMIT,       SLOT_A_ASK,       SLOT_S_COMMIT_AGENT },
	{ IN(WAITING) | IN(HELD) | IN(IMPLEMENTED), SLOT_E_CANCEL, SLOT_A_SETTLE, SLOT_S_CANCELLED },
	{ WORKING,          SLOT_E_CANCEL,              SLOT_A_END,       SLOT_S_ENDING },
	{ IN(ENDING),       SLOT_E_ENDED,               SLOT_A_SETTLE,    SLOT_S_CANCELLED },
};
const size_t slot_edges_count = sizeof(slot_edges) / sizeof(slot_edges[0]);

static const char *const event_names[SLOT_EVENTS] = {
	[SLOT_E_START] = "start",
	[SLOT_E_START_CLAIM] = "start-claim",
	[SLOT_E_START_LAY] = "start-lay",
	[SLOT_E_START_REVIEW] = "start-review",
	[SLOT_E_CLAIMED] = "claimed",
	[SLOT_E_CLAIMED_LAY] = "claimed-lay",
	[SLOT_E_TAKEN_NEXT] = "taken-next",
	[SLOT_E_TAKEN] = "taken",
	[SLOT_E_LET_GO] = "let-go",
	[SLOT_E_LAID] = "laid",
	[SLOT_E_LAID_REVIEW] = "laid-review",
	[SLOT_E_RELEASED] = "released",
	[SLOT_E_DONE] = "done",
	[SLOT_E_DONE_CHECKS] = "done-checks",
	[SLOT_E_DONE_NO_TREE] = "done-no-tree",
	[SLOT_E_DONE_UNREVIEWED] = "done-unreviewed",
	[SLOT_E_DONE_LATER] = "done-later",
	[SLOT_E_NEXT_FINDING] = "next-finding",
	[SLOT_E_NEXT_CHECK] = "next-check",
	[SLOT_E_MEASURED] = "measured",
	[SLOT_E_MEASURED_CHECKOUT] = "measured-checkout",
	[SLOT_E_MEASURED_UNREVIEWED] = "measured-unreviewed",
	[SLOT_E_MEASURED_LATER] = "measured-later",
	[SLOT_E_MEASURED_COMMIT] = "measured-commit",
	[SLOT_E_MEASURED_ASK] = "measured-ask",
	[SLOT_E_CHECKED_OUT] = "checked-out",
	[SLOT_E_ANSWERED] = "answered",
	[SLOT_E_ANSWERED_NO_TREE] = "answered-no-tree",
	[SLOT_E_PASS] = "pass",
	[SLOT_E_PASS_COMMIT] = "pass-commit",
	[SLOT_E_PASS_ASK] = "pass-ask",
	[SLOT_E_PASS_NO_TREE] = "pass-no-tree",
	[SLOT_E_FINDINGS] = "findings",
	[SLOT_E_ACCEPTED] = "accepted",
	[SLOT_E_ACCEPTED_COMMIT] = "accepted-commit",
	[SLOT_E_HOLD] = "hold",
	[SLOT_E_PINNED] = "pinned",
	[SLOT_E_COMMITTED] = "committed",
	[SLOT_E_COMMITTED_PIN] = "committed-pin",
	[SLOT_E_COMMITTED_MERGE] = "committed-merge",
	[SLOT_E_MERGED] = "merged",
	[SLOT_E_MERGED_PIN] = "merged-pin",
	[SLOT_E_MERGED_LATER] = "merged-later",
	[SLOT_E_RUN_PASSED] = "run-passed",
	[SLOT_E_FAILED] = "failed",
	[SLOT_E_LOST_HOLD] = "lost-hold",
	[SLOT_E_LOST_RETRY] = "lost-retry",
	[SLOT_E_LOST_CHECKOUT] = "lost-checkout",
	[SLOT_E_LOST_FAIL] = "lost-fail",
	[SLOT_E_AGAIN] = "again",
	[SLOT_E_AGAIN_CHECKOUT] = "again-checkout",
	[SLOT_E_REWORK_IMPLEMENT] = "rework-implement",
	[SLOT_E_REWORK_CHECK] = "rework-check",
	[SLOT_E_REWORK_REVIEW] = "rework-review",
	[SLOT_E_REWORK_CHECKOUT] = "rework-checkout",
	[SLOT_E_REWORK_FIX] = "rework-fix",
	[SLOT_E_REWORK_COMMIT] = "rework-commit",
	[SLOT_E_CANCEL] = "cancel",
	[SLOT_E_ENDED] = "ended",
};

static const enum slot_phase phases[SLOT_STAGES] = {
	[SLOT_S_WAITING] = PHASE_WAITING,
	[SLOT_S_CLAIMING] = PHASE_WAITING,
	[SLOT_S_LAYING] = PHASE_WAITING,
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

const struct slot_edge *slot_step(enum slot_stage stage, enum slot_event event)
{
	for (size_t i = 0; i < slot_edges_count; i++)
		if ((slot_edges[i].when & 1u << stage) != 0 && slot_edges[i].event == event)
			return &slot_edges[i];
	return NULL;
}

const char *slot_event_name(enum slot_event event)
{
	return event_names[event];
}

enum slot_phase slot_phase(enum slot_stage stage)
{
	return phases[stage];
}

bool slot_cools(const struct slot_row *row)
{
	bool waits = row->reason != NULL && strncmp(row->reason, SLOT_BUDGET_REASON, strlen(SLOT_BUDGET_REASON)) == 0;

	return (ATTEMPT & 1u << row->stage) != 0 && (row->cooling != NULL || row->retry_at != ROW_NONE || waits);
}

enum slot_phase slot_row_phase(const struct slot_row *row)
{
	if (slot_cools(row))
		return PHASE_COOLING;
	/* what the implementer has done is looked at, and no review has begun */
	if (row->stage == SLOT_S_MEASURING && row->round == 0)
		return PHASE_IMPLEMENTING;
	return slot_phase((enum slot_stage)row->stage);
}

bool slot_stage_is_end(enum slot_stage stage)
{
	return stage == SLOT_S_PASSED || stage == SLOT_S_FAILED || stage == SLOT_S_CANCELLED;
}
