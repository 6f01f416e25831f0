/* SPDX-License-Identifier: MIT */
/* In a shared work tree people edit what they like, also after the last review: while a commit is
 * made, a hold is open, or a source is told. What they do is theirs, but the run says that the disk
 * no longer has what was judged: when the work is pinned, when an acceptance takes it as it is, and
 * at the end. */
#include "slot/judged.h"

#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/row.h"
#include "core/state.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "slot/review_rows.h"
#include "txn/emit.h"

/* With more slots it may be the work of another one. */
static bool is_alone(const struct slot *slot)
{
	return slot->row != NULL && slot->row->worktree == NULL && slot->run->plan.parallel == 1 &&
	    slot->run->rows->run.evidence != NULL;
}

const char *judged_tree(const struct slot *slot, enum git_op_kind kind)
{
	bool accepted = is_alone(slot) && slot->row->accepted != ACCEPTED_BY_NONE;

	if (!is_alone(slot))
		return NULL;
	if (kind == GIT_PIN || (kind == GIT_MEASURE && accepted))
		return slot->row->tree;
	if (kind == GIT_COMPARE_REFS && slot->row->stage == SLOT_S_PASSED && (accepted || slot_passed(slot)))
		return slot->row->tree;
	return NULL;
}

void judged_warn(struct txn *txn, struct slot *slot)
{
	const char *names = git_op_differing(slot->op.git);
	char *safe;

	if (names == NULL)
		return;
	safe = text_escape(names, strlen(names), false);
	/* at the end this may say again what was found at the pin */
	slot_warn(txn, slot, "the work tree is no longer what was judged: %s", safe);
	free(safe);
}
