/* SPDX-License-Identifier: MIT */
/* The table of review profiles (SPEC 7.1): how the verdict is carried, and what happens at each bad end. */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include <stdint.h>

enum carrier { CARRIER_VERDICT };
enum bad_end { BAD_END_FAIL };

struct profile {
	const char *name;
	enum carrier carrier;
	const char *pass_word;		/* decision recorded for a pass, "pass" */
	const char *findings_word;	/* "drift" */
	int64_t max_fixes;
	int64_t stall_limit;
	int64_t review_timeout_ms;
	enum bad_end on_malformed, on_reviewer_error, on_exhausted;
	const char *help;
};

extern const struct profile profiles[];
extern const int profiles_count;

/* NULL when there is none of that name. */
const struct profile *profile_find(const char *name);

#endif
