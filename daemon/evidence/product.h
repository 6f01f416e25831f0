/* SPDX-License-Identifier: MIT */
/* The products of a run: the trees that were judged, each made of the one before it. A run that is
 * not recorded has none, and nothing here changes that; see run_is_recorded(). */
#ifndef EVIDENCE_PRODUCT_H
#define EVIDENCE_PRODUCT_H

#include <stdint.h>

#include "core/row.h"
#include "core/state.h"

struct continuation;
struct run;
struct slot;
struct txn;

/* Number of the run's base product, which is added when it is missing; ROW_NONE: no base tree is
 * known. */
int64_t product_base(struct txn *txn, struct run *run);

/* The slot's work is now tree, made by attempt (ROW_NONE: none), with the diff of the slot. Nothing
 * is added when the tree is that of the slot's newest product. */
void product_work(struct txn *txn, struct slot *slot, const char *tree, int64_t attempt);

/* Add a product that was made of the slot's newest one, which it becomes; MERGED or RESULT. */
void product_add(struct txn *txn, struct slot *slot, enum product_kind kind, const char *tree);

/* The slot begins with work of an earlier run: its product there is taken over. */
void product_continue(struct txn *txn, struct slot *slot, const struct continuation *c);

/* The slot's newest product, NULL: none. */
const struct product_row *slot_product(const struct slot *slot);

#endif
