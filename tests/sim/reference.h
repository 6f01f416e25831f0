/* SPDX-License-Identifier: MIT */
/* The reference model: what a run must come to, written as a plain story with none of the daemon's tables. */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include <stdbool.h>

struct ref_attempt {
	const char *role;	/* "implement", "review", "fix", as recorded */
	bool ended;		/* its end is recorded */
	bool lost, failed;
	bool changed;		/* implement, fix: the tree differs afterwards; review: the reviewer broke the tree */
	bool denied;
	char verdict;		/* review: 'p'ass, 'n'ew finding, 's'ame finding, 'm'alformed */
};

struct ref_run {
	bool review, has_git;
	int max_fixes, stall_limit;
	char on_lost;		/* 'h'old, 'r'etry, 'f'ail */
	const struct ref_attempt *attempts;
	int count;
};

struct ref_end {
	const char *state;		/* "succeeded", "failed", "held", or "working": the attempts do not reach an end */
	int used;			/* attempts that the story needs; more on record were one too many */
	const char *decisions[64];	/* of the review log, in order */
	int ndecisions;
	char wrong[128];		/* the record has an attempt that the story does not ask for; "" otherwise */
};

void reference(const struct ref_run *run, struct ref_end *end);

#endif
