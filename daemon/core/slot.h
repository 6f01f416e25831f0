/* SPDX-License-Identifier: MIT */
/* The slot machine: one task on its way through implement, check, review and fix. Pure: which stage
 * may follow which. core/next_stage.h decides between them; slot/ does the work of a stage.
 *
 *   WAITING ──▶ CLAIMING ──▶ CREATING_WORKTREE ──▶ IMPLEMENTING    skips what is not needed
 *
 *                      ┌───────────────────── FIXING ◀───────────────────┐  findings, a failed
 *                      ▼                                                 │  check, a conflict,
 *   IMPLEMENTING ──▶ MEASURING ──▶ CHECKOUT ──▶ CHECKING ──▶ REVIEWING ──▶ VERIFYING  or a hook
 *                                                                          │ the verdict is a pass
 *         PASSED ◀── PINNING ◀── MERGING ◀── COMMITTING ◀── COMMIT_AGENT ◀─┘
 *
 *   A merge that gives a new tree leads from MERGING to CHECKOUT or MEASURING, and back when that
 *   is judged.
 *
 *   Each arrow may skip stages that the plan does not ask for, or that need git if there is none.
 *   CHECKING and FIXING follow themselves, one check or finding after the other, and each stage of
 *   an attempt follows itself when that is lost or refused by its service: a reviewer's through
 *   CHECKOUT, which also follows the last check, since a check may have changed the room. What
 *   passed is pinned last: a hook or a conflict may still send it back, and what is pinned is never
 *   changed again. Without a room, checks run in the work tree and come before MEASURING,
 *   since they may change what is measured; so they do in a run of an older version.
 *
 *   PREPARING, SETTING_UP, PREPARING follow CREATING_WORKTREE and CHECKOUT: a new work tree or room
 *   is set up. SETTING_UP follows itself, one command after the other; a command that fails leads
 *   to HELD, and from there to the first PREPARING again.
 *
 *   PANEL         takes the place of REVIEWING and VERIFYING when several reviewers judge the work:
 *                 each is a voter, a separate slot, which goes from WAITING to CHECKOUT and on
 *                 to VERIFYING, and PASSED when it has voted; FAILED or HELD: there is no vote
 *   IMPLEMENTED   waits for the review of the whole run by slot 0, which begins at
 *                 CREATING_WORKTREE, MEASURING or CHECKING; the other slots pass or fail with it
 *   HELD          waits for a decision: after a lost attempt, and where the policy of a bad end
 *                 says so. If approved, it passes, through MEASURING if there is something to
 *                 commit; after rework, the lost attempt is repeated, or a fix begins
 *   PASSED        also without a verdict: there was nothing to review, a policy or a human accepted
 *                 it, or the slot has no task (any more)
 *   FAILED        from every working stage
 *   ENDING        the run is cancelled and something is still running: then CANCELLED
 *
 * In every stage a slot has at most one activity, see model/activity.h. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"
#include "core/state.h"

/* Why a slot moves, where the next stage does not tell. */
enum move_reason {
	MOVE_DONE,		/* the stage is complete, or impossible */
	/* the same attempt again: it was lost, or refused by its service, or a reviewer is asked
	 * about its answer */
	MOVE_RETRY,
	MOVE_RERUN,		/* the same check once more: it has failed */
	MOVE_RELEASED,		/* the agent gave its task back, or picked none */
	MOVE_ACCEPTED,		/* accepted without a verdict, by a policy or a human */
	MOVE_REASONS
};

/* The stages that may follow a stage: a mask of 1u << enum slot_stage. */
extern const unsigned slot_followers[SLOT_STAGES];

/* The only writer of a slot's stage. Returns false and changes nothing if the slot is not in from,
 * or to may not follow. */
bool slot_row_move(struct slot_row *row, enum slot_stage from, enum slot_stage to);

const char *move_reason_name(enum move_reason reason);

/* The phase of a stage, for users. */
enum slot_phase slot_phase(enum slot_stage stage);
/* The phase of a slot, which may be cooling: its attempt waits for an account, for the host, or for
 * a time, and has not been started. What precedes the first check or review of a tree counts as the
 * work before it. */
enum slot_phase slot_row_phase(const struct slot_row *row);
bool slot_cools(const struct slot_row *row);

/* The stage for attempts of a role, and the role of a stage; ROLES: it has no attempts. */
enum slot_stage slot_role_stage(enum role role);
enum role slot_stage_role(enum slot_stage stage);

/* The number of the slot whose work it is about: of a voter, that of the slot that it judges. */
int64_t slot_row_work(const struct slot_row *row);
/* It works on no task: the baseline, or a voter of a panel. */
bool slot_row_is_beside(const struct slot_row *row);

/* Its attempts are shell commands: they have no agent, and cost nothing. */
bool role_is_command(enum role role);

/* The work was merged, and is not in the branch of the run: its tree is being judged, or is to be
 * fixed or merged once more. */
bool slot_merge_waits(enum slot_merge merge);

/* ... and that is being judged, or it is to be merged once more as it is: the slot has what its
 * work was before. */
bool slot_merge_is_open(enum slot_merge merge);
bool slot_row_has_own(const struct slot_row *row);

/* ... and git and commands are at work on that, or it waits for them: no agent. Another task may
 * begin meanwhile. */
bool slot_row_is_merging(const struct slot_row *row);

/* It has ended, and another task may take its place. */
bool slot_row_is_free(const struct slot_row *row);

/* passed, failed, cancelled */
bool slot_stage_is_end(enum slot_stage stage);

#endif
