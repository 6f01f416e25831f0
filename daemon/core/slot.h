/* SPDX-License-Identifier: MIT */
/* The slot machine: one task on its way through implement, check, review and fix. Pure: which stage
 * may follow which. core/next_stage.h decides between them; slot/ does what a stage is for.
 *
 *   WAITING ──▶ CLAIMING ──▶ CREATING_WORKTREE ──▶ IMPLEMENTING      the first stage of
 *                                                                    them that is wanted
 *
 *                      ┌───────────────────── FIXING ◀───────────────────┐   findings, a
 *                                                                            failed check, a
 *                      ▼                                                 │ conflict, a
 *                                                                        hook that refuses
 *   IMPLEMENTING ──▶ CHECKING ──▶ MEASURING ──▶ CHECKOUT ──▶ REVIEWING ──▶ VERIFYING
 *                                                                          │ the verdict passes it
 *         PASSED ◀── PINNING ◀── MERGING ◀── COMMITTING ◀── COMMIT_AGENT ◀─┘
 *
 *   Each arrow may skip stages that the plan does not want, or that need git where there is none.
 *   CHECKING and FIXING follow themselves, one check or finding after the other, and each stage of
 *   an attempt follows itself when that is lost, or was not served: a reviewer's by way of
 *   CHECKOUT. What a verdict passed is pinned last: a hook or a conflict may still send it back,
 *   and what is pinned is never touched again.
 *
 *   IMPLEMENTED   waits for the review of the whole run, which is slot 0: it begins at
 *                 CREATING_WORKTREE or CHECKING; with it the others pass or fail
 *   HELD          waits for a human: after a lost attempt, and where the policy of a bad end says
 *                 so. Approved, it passes, by way of MEASURING when there is something to commit;
 *                 sent back, the lost attempt begins again, or a fix
 *   PASSED        also without a verdict: nothing was to be reviewed, a policy or a human accepts
 *                 it, or the slot has no task (any more)
 *   FAILED        from every stage that works
 *   ENDING        the run is cancelled and something is still under way: then CANCELLED
 *
 * In every stage at most one thing of the slot is under way, see model/activity.h. */
#ifndef CORE_SLOT_H
#define CORE_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/row.h"
#include "core/state.h"

/* Why a slot moves, where the next stage does not tell. */
enum move_reason {
	MOVE_DONE,		/* the stage is complete, or impossible */
	MOVE_RETRY,		/* the same attempt again: it was lost, or refused by its service */
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
 * a time, and has not been started. Before the first review measuring counts as implementing. */
enum slot_phase slot_row_phase(const struct slot_row *row);
bool slot_cools(const struct slot_row *row);

/* The stage for attempts of a role, and the role of a stage; ROLES: it has no attempts. */
enum slot_stage slot_role_stage(enum role role);
enum role slot_stage_role(enum slot_stage stage);

/* passed, failed, cancelled */
bool slot_stage_is_end(enum slot_stage stage);

#endif
