/* SPDX-License-Identifier: MIT */
#include "core/quorum.h"

#include <stdlib.h>
#include <string.h>

#include "core/review.h"

int64_t panel_quorum(const char *quorum, size_t reviewers)
{
	char *end;
	long number;

	if (quorum == NULL || strcmp(quorum, "all") == 0)
		return (int64_t)reviewers;
	if (strcmp(quorum, "majority") == 0)
		return (int64_t)reviewers / 2 + 1;
	if (quorum[0] < '1' || quorum[0] > '9')
		return -1;
	number = strtol(quorum, &end, 10);
	return *end == '\0' && number <= INT32_MAX ? number : -1;
}

bool vote_is_verdict(enum vote vote)
{
	return vote == VOTE_PASS || vote == VOTE_FINDINGS;
}

enum bad_end vote_policy(const struct plan *plan, enum vote vote, bool touched)
{
	switch (vote) {
	case VOTE_VIOLATION:
		return round_policy(plan, ROUND_VIOLATION, touched);
	case VOTE_ERROR:
		return round_policy(plan, ROUND_REVIEWER_ERROR, touched);
	case VOTE_HELD:
		return BAD_END_HOLD;
	case VOTE_FAILED:
		return BAD_END_FAIL;
	case VOTE_AWAITED:
	case VOTE_PASS:
	case VOTE_FINDINGS:
	case VOTES:
		break;
	}
	return BAD_ENDS;
}

#define WAIVED 1

/* How strict it is; 0: it decides nothing. */
static int strictness(const struct plan *plan, enum vote vote)
{
	static const int ranks[BAD_ENDS + 1] = {
		[BAD_END_FAIL] = 3, [BAD_END_HOLD] = 2, [BAD_END_ACCEPT] = WAIVED, [BAD_END_KNOWN_ISSUES] = WAIVED,
	};

	return ranks[vote_policy(plan, vote, false)];
}

enum vote panel_decide(const enum vote *votes, size_t count, int64_t quorum, const struct plan *plan)
{
	enum vote strictest = VOTE_AWAITED;
	int64_t passes = 0, waived = 0;

	for (size_t i = 0; i < count; i++) {
		if (votes[i] == VOTE_AWAITED)
			return VOTE_AWAITED;
		passes += votes[i] == VOTE_PASS;
		waived += strictness(plan, votes[i]) == WAIVED;
		if (!vote_is_verdict(votes[i]) && strictness(plan, votes[i]) > strictness(plan, strictest))
			strictest = votes[i];
	}
	/* what a policy accepts is no reason to forget what the others have found */
	if (strictest != VOTE_AWAITED && (strictness(plan, strictest) > WAIVED || passes + waived >= quorum))
		return strictest;
	return passes >= quorum && quorum > 0 ? VOTE_PASS : VOTE_FINDINGS;
}
