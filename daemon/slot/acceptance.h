/* SPDX-License-Identifier: MIT */
/* The acceptance of work whose findings users dismissed. */
#ifndef SLOT_ACCEPTANCE_H
#define SLOT_ACCEPTANCE_H

struct slot;
struct txn;

/* The users who dismissed findings of the last review, "ann, bob"; malloc'd. */
char *acceptance_users(const struct slot *slot);
/* The last review has no finding that must be fixed, because users dismissed them: append their
 * acceptance to the log. Returns the cause, malloc'd. */
char *acceptance_append(struct txn *txn, struct slot *slot);

#endif
