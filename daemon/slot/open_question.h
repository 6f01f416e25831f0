/* SPDX-License-Identifier: MIT */
/* A question of the slot's implementer or fixer: its work is measured, and the slot is held until a
 * human answers. */
#ifndef SLOT_OPEN_QUESTION_H
#define SLOT_OPEN_QUESTION_H

#include <stdbool.h>

#include "core/row.h"

struct slot;
struct txn;

/* The slot's attempt has ended with that. */
void question_take(struct txn *txn, struct slot *slot, const char *text);
/* It was dealt with: an attempt has ended without one, or a human has accepted the work. */
void question_over(struct txn *txn, struct slot *slot);
/* Hold the slot for it. */
void question_hold(struct txn *txn, struct slot *slot);
/* Its work is measured: the same, unless it was answered in the run that this one continues. */
void question_measured(struct txn *txn, struct slot *slot);
/* Whose it is. */
enum role question_role(const struct slot_row *row);

/* Whether the attempt continues the conversation that has asked, so that its prompt is the
 * answer. */
bool question_goes_on(const struct slot *slot, const struct attempt_row *a);

#endif
