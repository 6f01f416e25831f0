/* SPDX-License-Identifier: MIT */
#include "rpc/refusals.h"

#include <string.h>

static bool refusals_add(struct refusals *refusals, bool agent, int64_t who, const char *method)
{
	for (size_t i = 0; i < REFUSALS_KEPT; i++)
		if (refusals->list[i].method != NULL && refusals->list[i].agent == agent &&
		    refusals->list[i].who == who && strcmp(refusals->list[i].method, method) == 0)
			return false;
	refusals->list[refusals->next].agent = agent;
	refusals->list[refusals->next].who = who;
	refusals->list[refusals->next].method = method;
	refusals->next = (refusals->next + 1) % REFUSALS_KEPT;
	return true;
}

bool refusals_of_agent(struct refusals *refusals, int64_t attempt, const char *method)
{
	return refusals_add(refusals, true, attempt, method);
}

bool refusals_of_user(struct refusals *refusals, uid_t uid, const char *method)
{
	return refusals_add(refusals, false, (int64_t)uid, method);
}
