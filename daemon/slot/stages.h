/* SPDX-License-Identifier: MIT */
/* The stages of a slot: a file of its own for each, stage_*.c. What happens in a stage, and
 * what follows from what came of it, is there and nowhere else; which stage comes next is
 * decided in core/next_stage.c.
 *
 *   WAITING           result: it has a permit
 *   CLAIMING          an operation of the task source
 *   CREATING_WORKTREE PREPARING MEASURING CHECKOUT VERIFYING PINNING COMMITTING MERGING
 *                     an operation of git; after that of VERIFYING the verdict is read
 *   SETTING_UP IMPLEMENTING CHECKING REVIEWING FIXING COMMIT_AGENT
 *                     an attempt
 *   PANEL             separate slots: slot/panel.h
 *   HELD IMPLEMENTED  nothing: a human or the run moves the slot on
 *   ENDING            what was under way when the slot was cancelled
 *   PASSED FAILED CANCELLED
 *                     operations, one after the other, that release what the slot
 *                     holds: slot/teardown.c */
#ifndef SLOT_STAGES_H
#define SLOT_STAGES_H

#include "slot/machine.h"

extern const struct stage *const slot_stages[SLOT_STAGES];

extern const struct stage stage_waiting;
extern const struct stage stage_claiming;
extern const struct stage stage_creating_worktree;
extern const struct stage stage_preparing;
extern const struct stage stage_setting_up;
extern const struct stage stage_implementing;
extern const struct stage stage_checking;
extern const struct stage stage_measuring;
extern const struct stage stage_checkout;
extern const struct stage stage_reviewing;
extern const struct stage stage_verifying;
extern const struct stage stage_panel;
extern const struct stage stage_fixing;
extern const struct stage stage_pinning;
extern const struct stage stage_commit_agent;
extern const struct stage stage_committing;
extern const struct stage stage_merging;
extern const struct stage stage_implemented;
extern const struct stage stage_ending;
extern const struct stage stage_held;
extern const struct stage stage_passed;
extern const struct stage stage_failed;
extern const struct stage stage_cancelled;

#endif
