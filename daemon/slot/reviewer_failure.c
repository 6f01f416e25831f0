/* SPDX-License-Identifier: MIT */
#include "slot/reviewer_failure.h"

#include "core/quorum.h"
#include "core/review.h"
#include "model/slots.h"
#include "slot/panel.h"
#include "slot/review_rows.h"
#include "slot/round.h"
#include "verdict/verdict.h"

void reviewer_failed(struct txn *txn, struct slot *slot, const char *text, struct cause cause)
{
	static const struct verdict none;

	if (slot_is_voter(slot)) {
		panel_vote(txn, slot, VOTE_ERROR, text, &none);
		return;
	}
	review_error(txn, slot, text);
	round_judged(txn, slot);
	round_over(txn, slot, ROUND_REVIEWER_ERROR, cause);
}
