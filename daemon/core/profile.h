/* SPDX-License-Identifier: MIT */
/* The table of review profiles: how the verdict is carried, and how often is fixed. Every bad end of "verdict" fails the slot. */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include <stdint.h>

enum carrier { CARRIER_VERDICT };

struct profile {
	const char *name;
	enum carrier carrier;
	const char *pass_word;		/* decision recorded for a pass, "pass" */
	const char *findings_word;	/* "drift" */
	int64_t max_fixes;
	int64_t stall_limit;
	int64_t review_timeout_ms;
	const char *help;
};

extern const struct profile profiles[];
extern const int profiles_count;

/* NULL when there is none of that name. */
const struct profile *profile_find(const char *name);

#endif
