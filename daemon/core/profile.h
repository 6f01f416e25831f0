/* SPDX-License-Identifier: MIT */
/* The table of review profiles: how the verdict is carried, what reviewer and fixer see, how many
 * fix rounds there are, and what each bad end leads to. A new profile is a row here, a new carrier
 * a file in verdict/. */
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
	/* exit status of a program that gets the answer on stdin; its stdout is the feedback */
	CARRIER_EXIT,
	CARRIER_COMMENTS,	/* a JSON file of comments in the working directory */
	CARRIERS
};

/* Sections of a prompt, in their order. A mask selects what a role of a profile sees; placeholders
 * of the other sections stay empty. */
enum part {
	PART_PROJECT = 1 << 0,		/* name and description of the project */
	PART_STORIES = 1 << 1,		/* all tasks of the run, in full */
	PART_TASK = 1 << 2,
	PART_ROUND = 1 << 3,		/* round n of m, and how strict it is */
	PART_FOLLOW_UP = 1 << 4,	/* feedback of the previous review */
	PART_GUIDELINES = 1 << 5,
	PART_CONVENTIONS = 1 << 6,
	PART_HISTORY = 1 << 7,		/* all earlier reviews of the task */
	PART_ANSWER = 1 << 8,
	PART_DIFF = 1 << 9
};

#define PARTS 10

/* The int64_t fields hold enums of core/state.h and are the defaults of [review] keys. */
struct profile {
	const char *name;
	enum carrier carrier;
	const char *pass_word;		/* decision recorded for a pass, "pass" */
	const char *findings_word;	/* decision recorded for findings, "drift" */
	const char *carrier_file;	/* FILE, COMMENTS: default name of the file; NULL: none */
	const char *review_log;		/* default of review.review_log, NULL: none */
	unsigned review_sees, fix_sees;	/* masks of enum part */
	/* a reviewer that changed the tree causes a warning; otherwise its verdict is void */
	bool change_warns;
	/* reviewer and fixer get the task neither in the prompt nor in the environment nor in
	 * names */
	bool no_task;
	int64_t max_fixes;
	int64_t stall_limit;
	int64_t review_timeout_ms;
	int64_t on_malformed, on_reviewer_error, on_exhausted;	/* enum bad_end */
	int64_t fixer;			/* enum fixer */
	int64_t scope;			/* enum scope */
	int64_t commit;			/* enum commit_mode */
	int64_t read_only;		/* bool */
	int64_t strictness;		/* enum strictness */
	int64_t workspace;		/* enum review_place */
	const char *help;
};

extern const struct profile profiles[];
extern const int profiles_count;

/* NULL: no such statement. */
const struct profile *profile_find(const char *name);
/* Its reviewers may hand over their answer in a file. */
bool profile_has_file(const struct profile *profile);

#endif
