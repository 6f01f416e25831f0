/* SPDX-License-Identifier: MIT */
/* The merge train of a run, see core/train.h: who is in it, and who may act. Its slots are those
 * whose merge was held back, in CHECKOUT, or in CHECKING once they are suspected. They wait in
 * ACTIVITY_TRAIN. Their order is in their rows: the base commit of each is the commit of the one
 * before it.
 *
 * What one check says must hold for all before it. So these form no train, and each is judged by
 * itself: slots whose task has settings of its own, whose merged trees are reviewed, which check
 * in their work tree, or of which only new failures count: what a check says of the base would be
 * said of a tree that nobody has judged. Nor do slots with a check that names its task. */
#ifndef SLOT_TRAIN_ORDER_H
#define SLOT_TRAIN_ORDER_H

#include <stdbool.h>

#include "core/train.h"

struct run;
struct slot;
struct txn;

/* Whether a merge of the slot that is held back waits in a train. */
bool train_is_formed(const struct slot *slot);
/* The slot is in the train, or was, before what it stands on was taken out. */
bool train_has(const struct slot *slot);
/* What a slot that train_has() may do. */
enum train_step train_step_of(const struct slot *slot);
/* Let those that wait in the train and may act now do so. */
void train_pass(struct txn *txn, struct run *run);

/* Whether a slot that is to be merged, and was not held back, may join the train. */
bool train_admits(const struct slot *slot);
/* Commit that such a slot is merged onto; NULL: what the branch has. */
const char *train_last(const struct slot *slot);
/* The commit of the slot stands on others of the train. */
bool train_stands(const struct slot *slot);
/* What the commit of a slot that train_has() stands on is not being merged any more. */
bool train_is_left(const struct slot *slot);
/* Those, from the tip of the branch on; NULL-terminated. The caller frees the array. */
struct slot **train_before(const struct slot *slot);

#endif
