/* SPDX-License-Identifier: MIT */
/* The times that an attempt of a role may take, and the settings that say so. */
#ifndef CORE_CLOCKS_H
#define CORE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

enum clock {
	CLOCK_WALL,		/* from its start */
	CLOCK_IDLE,		/* without output; 0: no limit */
	CLOCK_POST_RESULT,	/* without output, once its final result has been
				 * read; 0: no limit */
	CLOCKS
};

struct clocks {
	int64_t ms[CLOCKS];
	bool own[CLOCKS];	/* [limits.ROLE] says so, and not what holds for all roles */
};

/* "limits.fix.timeout", static. A check gives no result, and has no such setting for it. */
const char *clocks_own_setting(enum role role, enum clock clock);
/* What counts where that says nothing: "limits.timeout", and "review.timeout" for a review. */
const char *clocks_common_setting(enum role role, enum clock clock);
/* Where the time was said, for people, static: "limits.fix.timeout in rld.toml", "limits.timeout in
 * rld.toml or --timeout". */
const char *clocks_origin(const struct clocks *clocks, enum role role, enum clock clock);

#endif
