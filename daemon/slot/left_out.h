/* SPDX-License-Identifier: MIT */
/* What the prompt of a reviewer left out of the diff, as sentences for people. */
#ifndef SLOT_LEFT_OUT_H
#define SLOT_LEFT_OUT_H

#include "core/row.h"

struct slot;
struct txn;

/* Warn of it, unless an earlier attempt at the same review did. */
void left_out_warn(struct txn *txn, const struct slot *slot, const struct attempt_row *attempt);

/* "the reviewer's prompt left out 347 911 of 397 911 bytes of the diff: a.txt (348 kB)", malloc'd;
 * NULL: it left out nothing. */
char *left_out_text(const struct attempt_row *attempt);

#endif
