/* SPDX-License-Identifier: MIT */
#include "core/profile.h"

#include <stddef.h>
#include <string.h>

#define HOUR_MS (60 * 60 * 1000)

const struct profile profiles[] = {
	{
		.name = "verdict",
		.carrier = CARRIER_VERDICT,
		.pass_word = "pass",
		.findings_word = "drift",
		.max_fixes = 5,
		.stall_limit = 2,
		.review_timeout_ms = HOUR_MS,
		.help = "a JSON verdict, pass or drift with a follow-up; a fresh fixer; fails when drift stays",
	},
};

const int profiles_count = sizeof(profiles) / sizeof(profiles[0]);

const struct profile *profile_find(const char *name)
{
	for (int i = 0; i < profiles_count; i++) {
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	}
	return NULL;
}
