/* SPDX-License-Identifier: MIT */
/* The meaning of an ended attempt, a measured tree and a verdict: facts in, meaning out.
 * core/next_stage.h decides where they lead. Pure. */
#ifndef CORE_REVIEW_H
#define CORE_REVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"

/* An ended attempt, by its exit record and its reader. */
struct attempt_facts {
	enum role role;
	enum process_result process;	/* how the process ended */
	int64_t status;			/* exit code or signal */
	bool is_error;			/* the program itself says that it failed */
	enum provider_result provider;
	bool transient;			/* PROVIDER_ERROR: passes by itself */
	int64_t now, reset_at;		/* LIMIT, THROTTLED: TIME when it serves again;
					 * ROW_NONE: it does not say */
	bool account;			/* an account pays for it; false: a check */
	int64_t retries, retries_max;	/* tries in a row after failures that pass by themselves,
					 * this one not included, and how many there may be */
	bool host;			/* a fault of the host kept it from starting, or the output
					 * of a check from being kept */
	bool cut;			/* ... or the end of what an agent said: its work is there,
					 * and its answer is not */
	bool resumed;			/* it resumed an interrupted conversation */
	bool denied;			/* it was refused a permission */
	bool has_git;			/* so the tree shows whether it did something */
	bool review;			/* a review is wanted */
	bool later;			/* ... of the whole run, when all is implemented */
	bool stop;			/* IMPLEMENT: it said that there is nothing to do; or
					 * it picked nothing */
	bool by_status;			/* REVIEW: exit status 1 is an answer as well */
	bool checkout;			/* REVIEW: it works in its own checkout */
	int64_t checks, check;		/* how many there are, and which one this was; 0: none */
	int64_t items_left;		/* FIX: findings that wait for their own fixer */
	enum on_lost on_lost;
	int64_t losses;			/* attempts lost in a row in this place, this
					 * one included */
};

/* on_lost = "retry" holds the run after so many losses: what kills three in a row will kill the
 * fourth, and each is paid. */
#define LOSSES_MAX 3

/* How to repeat an attempt that its service or the host did not serve. */
enum again {
	AGAIN_NOT,			/* nothing special: it has succeeded or failed */
	AGAIN_COOL,			/* its account is exhausted: it begins again when it is not,
					 * and that uses nothing */
	AGAIN_RETRY,			/* it begins again after a back-off, as often as it may */
	AGAIN_HOST,			/* it begins again when the fault of the host is over, and
					 * that uses nothing */
	AGAIN_ANEW			/* perhaps its conversation could not be resumed: it
					 * begins again without */
};

enum again attempt_again(const struct attempt_facts *facts);

/* Positive evidence only: exit status 0, no error of the program's own, provider ok. Also status 1
 * of a reviewer whose status is the verdict. A lingering attempt had given its result, so the way
 * it was ended does not count. */
bool attempt_succeeded(const struct attempt_facts *facts);
/* It ended well, but the end of its output could not be kept. Its answer is unknown, so it counts
 * as lost, never as failed. */
bool attempt_is_cut(const struct attempt_facts *facts);
enum task_result attempt_outcome(const struct attempt_facts *facts);
/* A measured tree, compared with the work before it. */
struct measure_facts {
	bool accepted;			/* by policy or a human: no further review */
	bool later;			/* the run is reviewed as a whole */
	bool unchanged;			/* the tree is as it was before */
	bool implement;			/* it is the implementer's own work, not yet a fixer's */
	bool denied;			/* the attempt was refused a permission */
	bool says_no_change;		/* ... or has said that nothing is to be changed */
};

/* TASK_R_DENIED, TASK_R_NO_CHANGE or TASK_R_DONE: what the successful attempt has really done. */
enum task_result measured_outcome(const struct measure_facts *facts);

/* The implementer changed nothing and did not say so: run.on_no_change decides. */
bool measured_no_change(const struct measure_facts *facts);

/* The clock that ended an attempt. */
struct attempt_limit {
	int64_t ms;
	bool progress;		/* IDLE: progress was wanted, and not any output */
	const char *setting;	/* its origin: "limits.timeout in rld.toml or --timeout" */
};

/* "reviewer process exited with status 3", "implementer process timed out after 2h": the cause of a
 * failed attempt. limit: of TIMEOUT, IDLE and LINGERED. error: the program's own words or the
 * failed start, may be NULL. malloc'd. */
char *attempt_cause(const struct attempt_facts *facts, const struct attempt_limit *limit, const char *error);
/* The kind of that cause. */
enum end_kind attempt_end_kind(const struct attempt_facts *facts);

/* What a round of review came to. */
enum round_end {
	ROUND_PASS, ROUND_FINDINGS, ROUND_EXHAUSTED, ROUND_STALLED, ROUND_VIOLATION, ROUND_REVIEWER_ERROR,
	ROUND_CONFLICT,			/* no fix round is left for a conflict with another task, or
					 * its branch cannot be moved */
	ROUND_REFUSED,			/* ... for what a hook of the repository has
					 * against the commit */
	ROUND_ENDS
};

/* A round whose review has been read. */
struct review_facts {
	bool verdict;			/* there is a valid one ... */
	bool pass;			/* ... and it says so */
	bool tree_changed;		/* the reviewer changed or removed a file: then
					 * no verdict counts */
	int64_t fix, fixes;		/* fix rounds used and allowed */
	int64_t stalled, stall_limit;	/* stalled rounds in a row, this one included; 0 = never */
};

enum round_end review_classify(const struct review_facts *facts);

/* Findings that wait for no reviewer: of a failed check. */
enum round_end check_classify(int64_t fix, int64_t fixes);

/* The policy that decides about it; BAD_ENDS for pass and findings, which are not bad. */
enum bad_end round_policy(const struct plan *plan, enum round_end end);
enum hold_kind round_hold(enum round_end end);

/* "drift unresolved after 5 fix attempt(s)": why an exhausted or stalled loop ended, in the
 * profile's words. malloc'd. */
char *round_cause(const struct plan *plan, enum round_end end, const struct slot_row *slot);
/* The kind of the cause of a round that ended badly. */
enum end_kind round_end_kind(enum round_end end);

/* So many stalled rounds in a row end the loop. limit: 0 = never. */
bool round_is_stalled(int64_t stalled, int64_t limit);

/* A round stalls when tree and answer are both as in the round before, or when it has
 * findings and all repeat. */
bool round_stalls(const struct slot_row *slot, int64_t findings, int64_t repeated);

#endif
