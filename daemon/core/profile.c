/* SPDX-License-Identifier: MIT */
#include "core/profile.h"

#include <stddef.h>
#include <string.h>

#define HOUR_MS (60 * 60 * 1000)
#define SECOND_MS 1000

const struct profile profiles[] = {
	{
		.name = "verdict",
		.carrier = CARRIER_VERDICT,
		.pass_word = "pass",
		.findings_word = "drift",
		.review_sees = PART_TASK | PART_FOLLOW_UP | PART_GUIDELINES | PART_ANSWER | PART_DIFF,
		.fix_sees = PART_TASK | PART_FOLLOW_UP,
		.max_fixes = 5,
		.stall_limit = 2,
		.review_timeout_ms = HOUR_MS,
		.on_malformed = BAD_END_FAIL,
		.on_reviewer_error = BAD_END_FAIL,
		.on_exhausted = BAD_END_FAIL,
		.fixer = FIXER_FRESH,
		.workspace = REVIEW_IN_ROOM,
		.help =
		    "a JSON verdict, pass or drift with a follow-up; a new agent fixes; unresolved "
		    "drift fails the task",
	},
	{
		.name = "decision",
		.carrier = CARRIER_DECISION,
		.pass_word = "GO",
		.findings_word = "NO_GO",
		.review_log = ".ai-sdd/state/review-logs",
		.review_sees = PART_TASK | PART_GUIDELINES | PART_HISTORY | PART_ANSWER | PART_DIFF,
		.fix_sees = PART_PROJECT | PART_TASK | PART_FOLLOW_UP | PART_GUIDELINES | PART_HISTORY,
		.max_fixes = 2,
		.stall_limit = 2,
		.review_timeout_ms = HOUR_MS,
		.on_malformed = BAD_END_FAIL,
		.on_reviewer_error = BAD_END_FAIL,
		.on_exhausted = BAD_END_HOLD,
		.fixer = FIXER_IMPLEMENTER,
		.workspace = REVIEW_IN_ROOM,
		.help =
		    "a JSON decision, GO or NO_GO with feedback; the implementer fixes; unresolved "
		    "NO_GO is held for a decision",
	},
	{
		.name = "file",
		.carrier = CARRIER_FILE,
		.pass_word = "pass",
		.findings_word = "issues",
		.carrier_file = "autom8_review.md",
		.review_sees = PART_PROJECT | PART_STORIES | PART_ROUND | PART_GUIDELINES | PART_DIFF,
		.fix_sees = PART_PROJECT | PART_STORIES | PART_ROUND,
		.max_fixes = 2,
		.stall_limit = 2,
		.review_timeout_ms = HOUR_MS,
		.on_malformed = BAD_END_FAIL,
		.on_reviewer_error = BAD_END_FAIL,
		.on_exhausted = BAD_END_FAIL,
		.fixer = FIXER_CORRECTOR,
		.scope = SCOPE_RUN,
		.commit = COMMIT_MODE_AUTO,
		.strictness = STRICTNESS_BY_ROUND,
		.workspace = REVIEW_IN_ROOM,
		.help =
		    "a review file, absent if there are no issues; a corrector works through it; "
		    "each round is less strict; a pass commits",
	},
	{
		.name = "exit",
		.carrier = CARRIER_EXIT,
		.pass_word = "accept",
		.findings_word = "retry",
		.fix_sees = PART_TASK | PART_FOLLOW_UP | PART_HISTORY | PART_ANSWER,
		.change_warns = true,
		.max_fixes = 4,
		.stall_limit = 0,
		.review_timeout_ms = 120 * SECOND_MS,
		.on_malformed = BAD_END_ACCEPT,
		.on_reviewer_error = BAD_END_ACCEPT,
		.on_exhausted = BAD_END_ACCEPT,
		.fixer = FIXER_RESUME,
		.help =
		    "a program decides by its exit status; the implementer continues its "
		    "conversation; a failing program never discards the answer",
	},
	{
		.name = "comments",
		.carrier = CARRIER_COMMENTS,
		.pass_word = "pass",
		.findings_word = "must-fix",
		.carrier_file = "review-comments.json",
		.review_sees = PART_CONVENTIONS | PART_DIFF,
		.no_task = true,
		.fix_sees = PART_FOLLOW_UP,
		.max_fixes = 2,
		.stall_limit = 2,
		.review_timeout_ms = HOUR_MS,
		.on_malformed = BAD_END_FAIL,
		.on_reviewer_error = BAD_END_FAIL,
		.on_exhausted = BAD_END_KNOWN_ISSUES,
		.fixer = FIXER_PER_FINDING,
		.scope = SCOPE_RUN,
		.read_only = true,
		.workspace = REVIEW_IN_ROOM,
		.help =
		    "a JSON file of comments on the diff; the reviewer never sees the task; a new "
		    "agent fixes each must-fix",
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

bool profile_has_file(const struct profile *profile)
{
	return profile->carrier != CARRIER_EXIT;
}
