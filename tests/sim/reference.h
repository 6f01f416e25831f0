/* SPDX-License-Identifier: MIT */
/* The reference model: what a slot and a run must come to, written as a plain story with none of
 * the daemon's tables. */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#define REF_MAX 64
#define REF_VOTERS 3

struct ref_attempt {
	int64_t id;
	const char *role;	/* "implement", "check", "review", "fix", "commit", as recorded */
	int round;		/* as recorded */
	int check;		/* from 1; 0: no check */
	bool ended;		/* its end is recorded */
	bool lost, failed, not_started;
	bool astray;		/* lost: perhaps it works on, elsewhere */
	bool forgone;		/* its run was at a limit, so it has not begun */
	bool out_of_time;	/* failed: its run has ended it */
	char unserved;		/* its service did not serve it: 'c' its account is exhausted,
				 * 't' it may be tried again; 'h' the host kept it from
				 * starting; 0: it did */
	bool anew;		/* it failed, and it went on with a conversation:
				 * perhaps for that */
	bool changed;		/* review: the reviewer broke the tree */
	bool cut;		/* review: its prompt left out a part of the diff */
	bool denied;
	bool stop;		/* implement, fix: it said that there is nothing to do */
	bool says_no_change;	/* implement: it said that nothing is to be changed */
	const char *told;	/* fix: whose word it was given, "review", "check", "human", "git";
				 * NULL: it came to nothing */
	int answer;		/* two answers, or outputs of a check, with the same number
				 * are the same */
	char verdict;		/* review: 'p'ass, 'f'indings, 'm'alformed, 'u'nreadable */
	bool same;		/* findings: the one that every such review has is among them */
	int fresh;		/* findings that nobody had before */
	bool suggestion;	/* a remark, the same each time, that nobody has to settle */
	/* review: a user has dismissed the one that is the same, before the verdict */
	bool same_dismissed;
	/* of its findings, how many users dismissed before the next verdict: fresh ones, and all
	 * that were open */
	int fresh_gone, gone;
	bool asks;		/* implement, fix: it asks a human something */
	bool disputes;		/* fix: it disputes the one that is the same */
	/* of a panel that passes: only those have it who do not */
	bool outvoted_same, outvoted_suggestion;
};

/* What git or the task's source answered: 'K' the task is ours, 'k' somebody else has it; 'W' a
 * work tree with the content value is laid; 'T' the content is value; 'O' it is laid out in a
 * room; 'A' a work tree or room has its ignored files, and with value 1 all that a set-up makes, 2:
 * no room was prepared to be cloned; 'C' committed, 'N' there was nothing to
 * commit, 'R' a hook refused it; 'M' merged, 'X' a conflict, and value lies there now; 'Y' it is
 * not resolved; 'G' merged, as part of what others have merged onto it; 'B' merged it is a new
 * tree, which lies there now: that in the upper 32 bits, what it lies on in the lower; 'P' pinned;
 * 'F' it went wrong, 'f' so did looking at what a reviewer has left. */
struct ref_answer {
	char what;
	int64_t value;
};

struct ref_reused {
	int64_t tree;		/* content */
	int check;		/* from 1 */
	bool green, red;
};

struct ref_hold {
	const char *kind;	/* "lost", "exhausted", "stalled", "violation", "reviewer-error",
				 * "conflict", "refused", as recorded */
	const char *state;	/* "open", "approved", "rejected", "rework", "reworked",
				 * "cancelled", as recorded */
	bool silent;			/* decided without a message */
	bool answered;			/* a question */
};

/* A reviewer of a panel. */
struct ref_voter {
	const struct ref_attempt *attempts;
	int count;
	const struct ref_answer *answers;
	int nanswers;
	bool killed;			/* the answer that it waits for does not come: three
					 * processes were killed */
};

struct ref_slot {
	/* a panel, and how many must pass; none: one reviewer */
	struct ref_voter voters[REF_VOTERS];
	int nvoters, quorum;
	bool voter;			/* it is one of them */
	const char *profile;	/* "verdict", "decision", "file", "exit", "comments" */
	bool review, has_git, whole_run, one_fixer_each, checkout;
	bool measure_first;	/* what is checked was measured before, and lies in a room */
	bool worktree, merge;
	bool judges_merges;		/* a merge that gives a new tree is judged ... */
	bool review_merged;		/* ... by a reviewer in any case */
	bool train;			/* ... or with those that are merged onto it */
	bool suspected;			/* it was red, and may be so by what it was merged onto */
	char commit;		/* 'n'one, 'a'uto, a'g'ent */
	bool claims;		/* its task is one that others may have */
	bool markers;		/* agents may say that there is nothing to do */
	bool has_task;		/* in the end */
	bool reviewer;		/* it is slot 0, which reviews the whole run */
	bool partial;			/* ... of which a task failed, and it commits all or none */
	bool baseline;		/* it only runs the checks on the base */
	int setups;		/* commands that set up a work tree or room */
	bool prepares;		/* there are some, or files are copied there */
	/* the checks run on the base, before anything else or when one has failed on the work */
	bool base_first, base_later;
	/* what only runs checks there has failed: that of the run, run_base, is not asked again */
	bool base_unsaid;
	int64_t run_base;
	bool only_new;		/* a check that fails there does not count */
	int checks, max_fixes, stall_limit;
	bool any_round;		/* what comes back may be older than the round before */
	int retries;		/* tries in a row after what may be tried again */
	char on_lost;		/* 'h'old, 'r'etry, 'f'ail */
	bool questions;		/* an agent that asks is answered */
	bool on_cut;		/* a pass of a cut diff is held */
	bool protects;		/* no pass and no policy accepts the trees that touched() names */
	char on_no_change;	/* 'r'eview, 'f'ail, 'p'ass */
	/* 'f'ail, 'h'old, 'a'ccept, 'k'nown issues; on_malformed also '?': he is asked once, and
	 * then it is malformed_again that counts */
	char on_malformed, malformed_again, on_reviewer_error, on_exhausted;
	const char *review_file;
	int64_t base;		/* content of the tree that the work is compared with; work trees:
				 * as they are laid */
	int answer;		/* reviewer: the answer that it begins with ... */
	bool denied;		/* ... and whether that one was denied something */
	/* a retry: 'i': its work was not judged, 'm': it has passed its only review, 'q': it asks a
	 * human, 'a': ... who has answered; 0: there is none */
	char begins;
	int begin_round;
	int64_t begin_base;		/* what that work is compared with */
	int begin_answer;
	bool begin_committed;		/* an agent has committed it, and is not paid again */
	const struct ref_attempt *attempts;
	int count;
	const struct ref_answer *answers;
	int nanswers;
	const struct ref_hold *holds;
	int nholds;
	const struct ref_reused *reused;	/* checks that were not run again */
	int nreused;
};

/* A row of the review log. */
struct ref_review {
	const char *decision;
	bool human;
	int round, new, repeated, resolved, dismissed;
};

struct ref_end {
	const char *state;		/* "passed", "failed", "released", "untasked",
					 * "implemented", "held", "rework" (a human sent it back,
					 * and it has not begun again); "cancelled": a held one was;
					 * "working": the record does not reach an end */
	const char *kind;		/* of the recorded cause, by name; "process": "error",
					 * "timeout" or "not-started"; NULL: there is none */
	char waits;			/* working: the answer that it waits for, 0: an attempt */
	int used, heard;		/* attempts and answers that the story needs; more on
					 * record were too many */
	struct ref_review reviews[REF_MAX];
	int nreviews;
	const char *holds[REF_MAX];	/* kinds, in order */
	int nholds;
	int fixes;			/* fix rounds used */
	int known;			/* known issues that it ends with ... */
	int known_less;			/* ... unless users dismissed some meanwhile */
	bool passed;			/* a verdict passed it */
	bool pinned;			/* ... and git holds what it passed */
	bool committed;
	bool merged;
	bool stopped;			/* by a stop marker */
	char wrong[128];		/* the record has what the story does not ask
					 * for; "" otherwise */
};

void reference_slot(const struct ref_slot *slot, struct ref_end *end);

struct ref_task {
	char state;			/* 'p'assed, 'd'one before, 'f'ailed, 'r'eleased, 't'aken,
					 * 'i'mplemented, 'c'ancelled, 'w'orking, 'o'pen */
	bool ready;			/* all that it depends on have passed */
};

struct ref_run {
	const struct ref_task *tasks;
	int ntasks;
	int iteration, iterations;	/* -1: without limit */
	bool held, rework;		/* a slot is */
	bool working;			/* something of it is under way, or would be if it had a
					 * slot of the daemon */
	bool stopped, idle;		/* a stop marker; an iteration in which nobody had a task */
	bool failed;			/* a slot has */
	bool spent;			/* its money, tokens or time are */
};

struct ref_run_end {
	const char *state;		/* "succeeded", "failed", "held"; NULL: not over */
	const char *kind;		/* of the recorded cause; NULL: that of its slots */
};

void reference_run(const struct ref_run *run, struct ref_run_end *end);

#endif
