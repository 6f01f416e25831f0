/* SPDX-License-Identifier: MIT */
/* Rows that are only added, each kind in a hash chain of its run: core/chain.h. Read by way of
 * core/row.h. */
#ifndef CORE_RECORD_ROWS_H
#define CORE_RECORD_ROWS_H

#include <stdint.h>

struct review_row {
	int64_t run;
	int64_t number;			/* 1.. within the run, without gaps */
	char *task_id;
	char *reviewer_agent;
	/* a vote: the reviewer of the panel that it is of; NULL: none. A decision of a panel: JSON
	 * array of the numbers of its votes; NULL: it is none */
	char *reviewer, *votes;
	char *coder_agent;
	/* the round, as in requirement 001; for human decisions the number after it */
	int64_t iteration;
	/* in the profile's words; "violation" or "error" without a verdict */
	char *decision;
	char *feedback;			/* follow-up, or the reason of a violation */
	char *quality_checks;		/* JSON or NULL */
	/* "text", "file", "exit", "human", "panel" or NULL: where the verdict came from */
	char *source;
	int64_t attempt;		/* attempt whose output contains the raw text */
	/* run from which it was taken over, and its number there; ROW_NONE: of this run */
	int64_t from_run, from_review;
	char *tree;			/* tree under review */
	char *findings;			/* JSON array of the finding ids, in order:
					 * part of the hash */
	int64_t timestamp;
	char *previous_hash;		/* NULL for number 1 */
	char *hash;			/* see core/chain.h */
};

struct finding_row {
	int64_t run;
	int64_t review;			/* review number */
	int64_t number;			/* 1.. within the review */
	char *id;			/* stable id, see core/findings.h */
	char *file;
	int64_t line;
	char *severity;
	char *text;
	/* of a decision of a panel: JSON array of the reviewers that have it; NULL: no panel */
	char *reviewers;
	int state;			/* enum finding_state */
};

/* A tree of the run: what it began with, or what was made of that. Judged by evidence. */
struct product_row {
	int64_t run;
	int64_t number;			/* 1.. within the run, without gaps */
	int kind;			/* enum product_kind */
	char *task_id;			/* NULL: of the run */
	char *tree;
	int64_t parent;			/* product that it was made of, ROW_NONE: none */
	int64_t attempt;		/* attempt that made it, ROW_NONE: none */
	/* run from which it was taken over, and its number there; ROW_NONE: of this run */
	int64_t from_run, from_product;
	/* WORK: step that measured it, and the SHA-256 of its diff with what the slot began with;
	 * ROW_NONE, NULL: none, or an earlier version measured it */
	int64_t diff;
	char *diff_hash;
	int64_t created_at;
	char *previous_hash;		/* NULL for number 1 */
	char *hash;			/* see core/chain.h */
};

/* A judgement about a product. */
struct evidence_row {
	int64_t run;
	int64_t number;			/* 1.. within the run, without gaps */
	/* what was judged; ROW_NONE: the run has no git, a human decided before there was work, or
	 * a check ran in the work tree before it was measured */
	int64_t product;
	char *task_id;
	int kind;			/* enum evidence_kind */
	/* what judged it: command of the check, name of the reviewer, "human:<user>" */
	char *subject;
	char *tree;			/* of the product */
	/* enum judged_in: where it was judged; JUDGED_UNSAID: by a human, nowhere, or by an earlier
	 * version */
	int room;
	/* SHA-256 of what prepared the place of a check, NULL: nothing */
	char *setup_hash;
	char *env_hash;			/* SHA-256 of the environment of a check, NULL: unknown */
	int64_t attempt;		/* attempt that judged, ROW_NONE: a human */
	int64_t review;			/* number of its review, ROW_NONE: a check */
	int64_t exit_code;		/* ROW_NONE unless it exited */
	char *output_hash;		/* SHA-256 of its standard output, NULL: none */
	int result;			/* enum evidence_result */
	/* run and number of the attempt that was green on the same tree, so that this check was not
	 * run; ROW_NONE: it was */
	int64_t from_run, from_attempt;
	char *policy_hash;		/* SHA-256 of the plan it was judged by */
	int64_t submitter;		/* uid that submitted the run */
	char *daemon;			/* version of rld */
	/* process that gave a human's judgement, and the attempt it belongs to; ROW_NONE */
	int64_t by_uid, by_pid, by_attempt;
	int64_t created_at;
	char *previous_hash;		/* NULL for number 1 */
	char *hash;			/* see core/chain.h */
};

/* A row of the run in its last form. */
struct entry_row {
	int64_t run;
	int64_t number;			/* 1.. within the run, without gaps */
	char *kind;			/* table of the row: run, task, attempt or hold */
	char *key;			/* its id */
	char *row_hash;			/* record_hash() of it, see core/chain.h */
	int64_t created_at;
	char *previous_hash;		/* NULL for number 1 */
	char *hash;			/* see core/chain.h */
};

/* What prune has removed of a run. Enters the record of the run, but for done. */
struct pruned_row {
	int64_t run;
	int64_t pruned_at;
	int why;			/* enum retention_limit */
	int64_t by_uid;			/* who asked for it, ROW_NONE: the daemon, by [keep] */
	int64_t bytes;			/* that were kept of it, ROW_NONE: not known */
	int64_t done;			/* 1: nothing is left to be removed */
};

#endif
