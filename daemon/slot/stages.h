/* SPDX-License-Identifier: MIT */
/* What a slot does in each of its stages. What a stage has come to is told by the callbacks of its attempt,
 * operation or file work, which ask core/next_stage.h and move the slot. */
#ifndef SLOT_STAGES_H
#define SLOT_STAGES_H

#include "git/op.h"
#include "slot/machine.h"

extern const struct stage slot_stages[SLOT_STAGES];

/* The git operation of the slot's stage; only for a stage that has one. After a commit agent that of COMMITTING
 * is another. */
enum git_op_kind slot_stage_operation(const struct slot *slot);

#endif
