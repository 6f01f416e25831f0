/* SPDX-License-Identifier: MIT */
/* PINNING: work that passed gets a ref, and is locked from then on. */
#include <stdlib.h>

#include "core/row.h"
#include "evidence/product.h"
#include "git/git_op.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/memory.h"
#include "slot/git_request.h"
#include "slot/judged.h"
#include "slot/obstacle.h"
#include "slot/ref_names.h"
#include "slot/stages.h"
#include "txn/txn.h"

static void enter(struct txn *txn, struct slot *slot, enum slot_stage from, const struct move_why *why)
{
	(void)from, (void)why;
	txn_effect(txn, EFFECT_STAGE, slot->run, slot, ROW_NONE);
}

static void result(struct txn *txn, struct slot *slot, const struct stage_result *done)
{
	struct run_row *run;
	char *ref;

	(void)done;
	if (obstacle_ref_moved(txn, slot))
		return;
	judged_warn(txn, slot);
	product_add(txn, slot, PRODUCT_RESULT, slot->row->tree);
	run = txn_edit_run(txn, slot->run);
	ref = git_ref(slot, GIT_PIN);
	/* the result of tasks that are merged is what is merged last */
	if (slot_plan(slot)->integrate != INTEGRATE_MERGE)
		text_set(&run->result_ref, ref);
	if (slot_plan(slot)->integrate != INTEGRATE_MERGE || slot->row->slot == 0)
		text_set(&run->result_tree, slot->row->tree);
	if (slot_task(slot) != NULL) {
		struct task_row *task = txn_edit_task(txn, slot_task(slot));

		text_set(&task->locked_ref, ref);
		text_set(&task->locked_tree, slot->row->tree);
	}
	free(ref);
	slot_move(txn, slot, SLOT_S_PINNING, SLOT_S_PASSED, NULL);
}

static void recover(struct slot *slot)
{
	git_begin(slot, GIT_PIN);
}

const struct stage stage_pinning = {
	.git = GIT_PIN,
	.enter = enter,
	.result = result,
	.recover = recover,
};
