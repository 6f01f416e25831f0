/* SPDX-License-Identifier: MIT */
/* What a retry takes over of the work of an earlier run, so that it continues with the phase that
 * failed: of each task (task.start), of the review of the whole run, and of the run itself
 * (run.start). Stored as JSON. */
#ifndef CORE_CONTINUATION_H
#define CORE_CONTINUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/row.h"

/* The work on one task, or of the review of the whole run, as its slot left it. Strings are owned;
 * NULL: none. */
struct continuation {
	int64_t run;			/* of the slot */
	char *tree;			/* the work; its product is looked up by this */
	char *base_commit, *base_tree;	/* what it is compared with */
	/* the commit of the work; NULL: none, or in a shared work tree */
	char *commit;
	char *beside;			/* see struct slot_row */
	/* a conflict with another task lies in the tree: what the fixer is told */
	char *conflict;
	char *answer_hash, *previous_tree, *previous_answer_hash, *rounds;
	/* what its agent asked a human, and no attempt has ended without a question since; the
	 * answer, NULL: none */
	char *question, *reply;
	/* what the prompt of its last review left out, as left_out_text() says it; NULL: nothing */
	char *cut;
	int64_t answer;			/* attempt whose final text is the answer, ROW_NONE */
	int64_t round, fix;		/* numbers of the last review and fix */
	/* its product in that run, ROW_NONE: of an earlier version */
	int64_t product;
	int kind;			/* enum product_kind */
	char *product_tree;
	bool merged;			/* it is on the branch of the results */
	bool again;			/* a review is asked for: no earlier verdict counts */
};

/* of the run */
struct run_continuation {
	int64_t run;			/* that it continues */
	char *base_commit, *base_tree;	/* of that run */
	char *tip;			/* the branch of its results; NULL: nothing was merged */
	/* a shared work tree must have this to continue, but for beside; NULL: not shared */
	char *expected, *beside;
	/* the file in it that the retry has read its set-up from, which may differ; NULL: none */
	char *settings;
	struct continuation *whole;	/* the review of the run; NULL: none has begun */
};

/* False: the slot has left no work that could be continued. product: of the slot, NULL: none; if
 * slot_row_has_own(), the last before the merge. Initialises *c. */
bool continuation_of(const struct slot_row *slot, const struct product_row *product, bool shared,
    struct continuation *c);
void continuation_release(struct continuation *c);
char *continuation_to_json(const struct continuation *c);
/* -1: damaged, or NULL. */
int continuation_from_json(const char *text, struct continuation *c);

char *run_continuation_to_json(const struct run_continuation *c);
int run_continuation_from_json(const char *text, struct run_continuation *c);
void run_continuation_release(struct run_continuation *c);

#endif
