/* SPDX-License-Identifier: MIT */
/* The reference model: what a run must come to, written as a plain story with none of the daemon's tables. */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include <stdbool.h>

#define REF_MAX 64

struct ref_attempt {
	const char *role;	/* "implement", "check", "review", "fix", as recorded */
	int slot, round;	/* as recorded */
	bool ended;		/* its end is recorded */
	bool lost, failed, not_started;
	bool changed;		/* implement, fix: the tree differs afterwards; review: the reviewer broke the tree */
	bool denied;
	const char *told;	/* fix: whose word it was given, "review", "check", "human"; NULL: it came to nothing */
	int answer;		/* two answers with the same number are the same */
	char verdict;		/* review: 'p'ass, 'f'indings, 'm'alformed, 'u'nreadable */
	bool same;		/* findings: the one that every such review has is among them */
	int news;		/* findings that nobody had before */
	bool suggestion;	/* a remark, the same each time, that nobody has to settle */
};

struct ref_hold {
	const char *kind;	/* "lost", "exhausted", "stalled", "violation", "reviewer-error", as recorded */
	const char *state;	/* "open", "approved", "rejected", "rework", "reworked", "cancelled", as recorded */
};

struct ref_run {
	const char *profile;	/* "verdict", "decision", "file", "exit", "comments" */
	bool review, has_git, whole_run, commit, one_fixer_each;
	int checks, max_fixes, stall_limit;
	char on_lost;		/* 'h'old, 'r'etry, 'f'ail */
	char on_malformed, on_reviewer_error, on_exhausted;	/* 'f'ail, 'h'old, 'a'ccept, 'k'nown issues */
	const char *review_file;
	const struct ref_attempt *attempts;
	int count;
	const struct ref_hold *holds;
	int nholds;
};

/* A row of the review log. */
struct ref_review {
	const char *decision;
	bool human;
	int round, new, repeated, resolved;
};

struct ref_end {
	const char *state;		/* "succeeded", "failed", "held", "queued"; "cancelled": a held one was; "working": the attempts do not
					 * reach an end */
	char cause[160];		/* how the recorded cause begins; "": there is none */
	int used;			/* attempts that the story needs; more on record were one too many */
	struct ref_review reviews[REF_MAX];
	int nreviews;
	const char *holds[REF_MAX];	/* kinds, in order */
	int nholds;
	int fixes;			/* fix rounds used */
	int known;			/* known issues that the run ends with */
	bool passed;			/* a verdict passed it */
	bool pinned;			/* ... and git holds what it passed */
	bool committed;
	char wrong[128];		/* the record has an attempt that the story does not ask for; "" otherwise */
};

void reference(const struct ref_run *run, struct ref_end *end);

#endif
