/* SPDX-License-Identifier: MIT */
#include "evidence/product.h"

#include <string.h>

#include "core/chain.h"
#include "core/continuation.h"
#include "model/model.h"
#include "model/runs.h"
#include "model/slots.h"
#include "model/view.h"
#include "proto/memory.h"
#include "txn/txn.h"

static struct product_row *make(enum product_kind kind, const char *task, const char *tree, int64_t parent)
{
	struct product_row *row = row_new(ROW_PRODUCT);

	row->kind = (int)kind;
	row->task_id = xstrdup(task);
	row->tree = xstrdup(tree);
	row->parent = parent;
	return row;
}

/* Append the product to the run's chain, which takes it. Returns its number. */
static int64_t chain(struct txn *txn, struct run *run, struct product_row *row)
{
	struct run_row *r = txn_edit_run(txn, run);
	char hex[DIGEST_HEX];

	row->run = r->id;
	row->number = r->product_count + 1;
	row->created_at = txn_now(txn);
	row->previous_hash = xstrdup(r->product_head);
	record_hash(ROW_PRODUCT, row, hex);
	row->hash = xstrdup(hex);
	r->product_count = row->number;
	text_set(&r->product_head, hex);
	txn_add(txn, run, ROW_PRODUCT, row);
	return row->number;
}

static int64_t append(struct txn *txn, struct run *run, enum product_kind kind, const char *task,
    const char *tree, int64_t parent, int64_t attempt)
{
	struct product_row *row = make(kind, task, tree, parent);

	row->attempt = attempt;
	return chain(txn, run, row);
}

/* The base product with that tree, ROW_NONE: none. */
static int64_t base_with(const struct run *run, const char *tree)
{
	for (size_t i = 0; i < run->rows->nproducts; i++) {
		const struct product_row *p = run->rows->products[i];

		if (p->kind == PRODUCT_BASE && object_is(p->tree, tree))
			return p->number;
	}
	return ROW_NONE;
}

int64_t product_base(struct txn *txn, struct run *run)
{
	const char *tree = run->rows->run.base_tree;
	int64_t found = base_with(run, tree);

	if (found != ROW_NONE || tree == NULL || !run_is_recorded(run))
		return found;
	return append(txn, run, PRODUCT_BASE, NULL, tree, ROW_NONE, ROW_NONE);
}

/* What the slot began with: the base of the run, or one of its own. */
static int64_t slot_base(struct txn *txn, struct slot *slot)
{
	const char *tree = slot_base_tree(slot);
	int64_t base = product_base(txn, slot->run), own = base_with(slot->run, tree);

	if (own != ROW_NONE || tree == NULL)
		return own;
	return append(txn, slot->run, PRODUCT_BASE, slot_task_id(slot), tree, base, ROW_NONE);
}

const struct product_row *slot_product(const struct slot *slot)
{
	return slot->row->product != ROW_NONE ? run_rows_product(slot->run->rows, slot->row->product) : NULL;
}

void product_work(struct txn *txn, struct slot *slot, const char *tree, int64_t attempt)
{
	struct slot_row *row = txn_edit_slot(txn, slot);
	struct product_row *made;

	if (!run_is_recorded(slot->run))
		return;
	if (row->product == ROW_NONE)
		row->product = slot_base(txn, slot);
	if (row->product != ROW_NONE && object_is(slot_product(slot)->tree, tree))
		return;
	made = make(PRODUCT_WORK, slot_task_id(slot), tree, row->product);
	made->attempt = attempt;
	made->diff = row->diff;
	made->diff_hash = xstrdup(row->diff_hash);
	row->product = chain(txn, slot->run, made);
}

void product_continue(struct txn *txn, struct slot *slot, const struct continuation *c)
{
	struct product_row *row;

	if (!run_is_recorded(slot->run))
		return;
	row = make((enum product_kind)c->kind, slot_task_id(slot), c->product_tree != NULL ? c->product_tree : c->tree,
	    slot_base(txn, slot));
	row->from_run = c->run;
	row->from_product = c->product;
	txn_edit_slot(txn, slot)->product = chain(txn, slot->run, row);
}

void product_add(struct txn *txn, struct slot *slot, enum product_kind kind, const char *tree)
{
	struct slot_row *row = txn_edit_slot(txn, slot);

	if (!run_is_recorded(slot->run))
		return;
	row->product = append(txn, slot->run, kind, slot_task_id(slot), tree, row->product, ROW_NONE);
}
