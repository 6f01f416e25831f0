/* SPDX-License-Identifier: MIT */
/* Time limits of an attempt by role, and the settings they come from. */
#ifndef CORE_CLOCKS_H
#define CORE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

enum clock {
	CLOCK_WALL,		/* from its start */
	CLOCK_IDLE,		/* without output; 0: no limit */
	CLOCK_POST_RESULT,	/* without output, after its final result was read; 0: no limit */
	CLOCKS
};

struct clocks {
	int64_t ms[CLOCKS];
	bool own[CLOCKS];	/* set in [limits.ROLE], not for all roles */
};

/* "limits.fix.timeout", static. Checks give no result, so they have no post_result. */
const char *clocks_own_setting(enum role role, enum clock clock);
/* The setting that applies otherwise: "limits.timeout", or "review.timeout" for a review. */
const char *clocks_common_setting(enum role role, enum clock clock);
/* Origin of the limit, for people, static: "limits.fix.timeout in rld.toml", "limits.timeout in
 * rld.toml or --timeout". */
const char *clocks_origin(const struct clocks *clocks, enum role role, enum clock clock);

#endif
