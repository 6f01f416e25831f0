/* SPDX-License-Identifier: MIT */
/* What a round of review has come to, by one reviewer or by a panel: recorded, and what follows. */
#ifndef SLOT_RULING_H
#define SLOT_RULING_H

#include <stdbool.h>

#include "core/findings.h"

struct attempt_row;
struct slot;
struct txn;

struct ruling {
	bool verdict, pass, silent;
	bool tree_changed;		/* the reviewer did that: then there is no verdict */
	const char *violation;		/* why there is no verdict; NULL: there is one */
	const char *feedback;
	/* a pass whose prompt left out a part of the diff; NULL: none did */
	const struct attempt_row *cut;
	/* appends the review row: of decision, in the profile's words, and what was said */
	struct finding_counts (*append)(struct txn *txn, struct slot *slot, const char *decision,
	    const char *feedback, const void *said);
	const void *said;
};

void ruling_decide(struct txn *txn, struct slot *slot, const struct ruling *ruling);

/* A reviewer has passed the work by saying nothing. */
void ruling_warn_of_silence(struct txn *txn, struct slot *slot);

#endif
