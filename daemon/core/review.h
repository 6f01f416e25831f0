/* SPDX-License-Identifier: MIT */
/* What an ended attempt and a read verdict mean: facts in, one event of the slot machine out. Pure. */
#ifndef CORE_REVIEW_H
#define CORE_REVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"
#include "core/slot.h"

/* An attempt that has ended, as the exit record and its reader tell. */
struct attempt_facts {
	enum role role;
	enum process_result process;	/* how the process ended */
	int64_t status;			/* exit code or signal */
	bool is_error;			/* the program itself says that it failed */
	enum provider_result provider;
	bool denied;			/* it was refused a permission */
	bool has_git;			/* so the tree can tell whether it did something all the same */
	bool review;			/* a review is wanted */
	enum on_lost on_lost;
	int64_t losses;			/* attempts lost in a row in this place, this one included */
};

/* on_lost = "retry" gives up here and holds the run: what kills three in a row will kill the fourth, and each was paid. */
#define LOSSES_MAX 3

/* Positive evidence only: exit 0, no error of its own, provider ok. */
bool attempt_succeeded(const struct attempt_facts *facts);
enum task_result attempt_outcome(const struct attempt_facts *facts);
enum slot_event attempt_classify(const struct attempt_facts *facts);

/* "reviewer process exited with status 3", "implementer process timed out after 2h": the cause of a failed attempt.
 * limit_ms: the wall or idle limit that ended it. error: the program's own words or the failed start, may be NULL.
 * malloc'd. */
char *attempt_cause(const struct attempt_facts *facts, int64_t limit_ms, const char *error);

/* A round whose review has been read. */
struct review_facts {
	bool verdict;			/* there is a valid one ... */
	bool pass;			/* ... and it says so */
	bool tree_changed;		/* the reviewer changed or removed a file: then no verdict counts */
	int64_t fix, max_fixes;		/* fix rounds used and allowed */
	int64_t stalled, stall_limit;	/* stalled rounds in a row, this one included; 0 = never */
};

enum slot_event review_classify(const struct review_facts *facts);

/* A round stalls when tree and answer are both as in the round before, or when it has findings and all repeat. */
bool round_stalls(const struct slot_row *slot, int64_t findings, int64_t repeated);

#endif
