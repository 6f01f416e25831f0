/* SPDX-License-Identifier: MIT */
/* A panel: several reviewers judge the same work, each for itself. What their votes come to.
 * Pure. */
#ifndef CORE_QUORUM_H
#define CORE_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"

enum vote {
	VOTE_AWAITED,		/* its reviewer is at work */
	VOTE_PASS,
	VOTE_FINDINGS,
	VOTE_VIOLATION,		/* an answer that is none, or a changed tree */
	VOTE_ERROR,		/* the reviewer failed */
	/* there is no vote: its attempt was lost, or could not be made; a human is asked, or the
	 * task fails */
	VOTE_HELD,
	VOTE_FAILED,
	VOTES
};

/* What the reviewers of a plan may be: a panel has at most so many. */
enum { PANEL_MAX = 9 };

/* How many of them must pass: "all", "majority", more than half of them, or that number. -1: the
 * text is none of these. A panel of fewer than quorum reviewers never passes. */
int64_t panel_quorum(const char *quorum, size_t reviewers);

/* What the votes come to: VOTE_PASS if quorum of all of them pass, otherwise VOTE_FINDINGS.
 * VOTE_AWAITED until all are in. One that is no verdict is never outvoted: the strictest of them
 * decides, see vote_policy(). But if it is accepted, and with what is accepted the quorum is not
 * reached, the findings of the others count. */
enum vote panel_decide(const enum vote *votes, size_t count, int64_t quorum, const struct plan *plan);

/* What follows from a vote that is no verdict. touched: see round_policy(). */
enum bad_end vote_policy(const struct plan *plan, enum vote vote, bool touched);

/* A verdict, which counts as long as the work stays the same. */
bool vote_is_verdict(enum vote vote);

#endif
