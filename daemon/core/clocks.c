/* SPDX-License-Identifier: MIT */
#include "core/clocks.h"

#define OF_ROLE(role) { "limits." role ".timeout", "limits." role ".idle_timeout", "limits." role ".post_result" }

static const char *const own[ROLES][CLOCKS] = {
	[ROLE_IMPLEMENT] = OF_ROLE("implement"),
	[ROLE_CHECK] = OF_ROLE("check"),
	[ROLE_REVIEW] = OF_ROLE("review"),
	[ROLE_FIX] = OF_ROLE("fix"),
	[ROLE_COMMIT] = OF_ROLE("commit"),
};

static const char *const common[CLOCKS] = {
	[CLOCK_WALL] = "limits.timeout",
	[CLOCK_IDLE] = "limits.idle_timeout",
	[CLOCK_POST_RESULT] = "limits.post_result",
};

const char *clocks_own_setting(enum role role, enum clock clock)
{
	return own[role][clock];
}

const char *clocks_common_setting(enum role role, enum clock clock)
{
	return role == ROLE_REVIEW && clock == CLOCK_WALL ? "review.timeout" : common[clock];
}

const char *clocks_setting(const struct clocks *clocks, enum role role, enum clock clock)
{
	return clocks->own[clock] ? clocks_own_setting(role, clock) : clocks_common_setting(role, clock);
}
