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

/* The same as text. A limit of a single role can only be set in rld.toml. */
#define IN_FILE(role) \
	{ "limits." role ".timeout in rld.toml", "limits." role ".idle_timeout in rld.toml", \
	    "limits." role ".post_result in rld.toml" }

static const char *const own_origins[ROLES][CLOCKS] = {
	[ROLE_IMPLEMENT] = IN_FILE("implement"),
	[ROLE_CHECK] = IN_FILE("check"),
	[ROLE_REVIEW] = IN_FILE("review"),
	[ROLE_FIX] = IN_FILE("fix"),
	[ROLE_COMMIT] = IN_FILE("commit"),
};

static const char *const common_origins[CLOCKS] = {
	[CLOCK_WALL] = "limits.timeout in rld.toml or --timeout",
	[CLOCK_IDLE] = "limits.idle_timeout in rld.toml or --idle-timeout",
	[CLOCK_POST_RESULT] = "limits.post_result in rld.toml",
};

const char *clocks_own_setting(enum role role, enum clock clock)
{
	return own[role][clock];
}

const char *clocks_common_setting(enum role role, enum clock clock)
{
	return role == ROLE_REVIEW && clock == CLOCK_WALL ? "review.timeout" : common[clock];
}

const char *clocks_origin(const struct clocks *clocks, enum role role, enum clock clock)
{
	if (clocks->own[clock])
		return own_origins[role][clock];
	return role == ROLE_REVIEW && clock == CLOCK_WALL ?
	    "review.timeout of the settings or the profile, or --timeout" : common_origins[clock];
}
