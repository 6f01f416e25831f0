/* SPDX-License-Identifier: MIT */
/* The table of review profiles: how the verdict is carried, what reviewer and fixer are given, how
 * often is fixed, and what each bad end comes to. A new profile is a row here, a new carrier one
 * file in verdict/. */
#ifndef CORE_PROFILE_H
#define CORE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/state.h"

enum carrier {
	CARRIER_VERDICT,	/* JSON object with "verdict" in the final text */
	CARRIER_DECISION,	/* JSON object with "decision" in the final text */
	CARRIER_FILE,		/* a review file in the working directory: absent or
				 * blank is a pass */
	CARRIER_EXIT,		/* exit status of a program that gets the answer on stdin;
				 * stdout is the feedback */
	CARRIER_COMMENTS,	/* a JSON file of comments in the working directory */
	CARRIERS
};

/* Sections of a prompt, in the order of a prompt. A mask of them says what a role of a profile is
 * given; the templates' placeholders of the others stay empty. */
enum part {
	PART_PROJECT = 1 << 0,		/* its name, and what its tasks are about as a whole */
	PART_STORIES = 1 << 1,		/* all tasks of the run, whole */
	PART_TASK = 1 << 2,
	PART_ROUND = 1 << 3,		/* round n of m, and how strict to be in it */
	PART_FOLLOW_UP = 1 << 4,	/* feedback of the previous review */
	PART_GUIDELINES = 1 << 5,
	PART_CONVENTIONS = 1 << 6,
	PART_HISTORY = 1 << 7,		/* all earlier reviews of the task */
	PART_ANSWER = 1 << 8,
	PART_DIFF = 1 << 9
};

#define PARTS 10

/* The int64_t fields hold values of the enums of core/state.h and are knobs: defaults
 * of [review] keys. */
struct profile {
	const char *name;
	enum carrier carrier;
	const char *pass_word;		/* decision recorded for a pass, "pass" */
	const char *findings_word;	/* "drift" */
	const char *carrier_file;	/* FILE, COMMENTS: default name of the file; NULL: none */
	const char *review_log;		/* default of review.review_log, NULL: none */
	unsigned review_sees, fix_sees;	/* masks of enum part */
	bool change_warns;		/* a reviewer that changed the tree is warned of; otherwise
					 * its verdict is void */
	bool no_task;			/* neither reviewer nor fixer get the task in prompt,
					 * environment or names */
	int64_t max_fixes;
	int64_t stall_limit;
	int64_t review_timeout_ms;
	int64_t on_malformed, on_reviewer_error, on_exhausted;	/* enum bad_end */
	int64_t fixer;			/* enum fixer */
	int64_t scope;			/* enum scope */
	int64_t commit;			/* enum commit_mode */
	int64_t read_only;		/* bool */
	int64_t strictness;		/* enum strictness */
	const char *help;
};

extern const struct profile profiles[];
extern const int profiles_count;

/* NULL when there is none of that name. */
const struct profile *profile_find(const char *name);

#endif
