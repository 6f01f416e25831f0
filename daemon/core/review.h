/* SPDX-License-Identifier: MIT */
/* The meaning of an ended attempt, a measured tree and a verdict: facts in, meaning out.
 * core/next_stage.h decides where they lead. Pure. */
#ifndef CORE_REVIEW_H
#define CORE_REVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/row.h"

/* Decisions in the review log beside those in the words of the profile. */
#define REVIEW_ACCEPTED "accepted"
#define REVIEW_REJECTED "rejected"
/* no verdict */
#define REVIEW_VIOLATION "violation"
#define REVIEW_ERROR "error"

/* A verdict of a reviewer or a panel, which says what is open: no vote, no word of a human. */
bool review_is_verdict(const struct review_row *review);

/* An ended attempt, by its exit record and its reader. */
struct attempt_facts {
	enum role role;
	enum process_result process;	/* how the process ended */
	int64_t status;			/* exit code or signal */
	bool is_error;			/* the program itself reports a failure */
	enum provider_result provider;
	bool transient;			/* PROVIDER_ERROR: passes by itself */
	/* LIMIT, THROTTLED: TIME when the service is available again; ROW_NONE: unknown */
	int64_t now, reset_at;
	bool account;			/* an account pays for it; false: a check */
	/* consecutive tries after temporary failures before this one, and their limit */
	int64_t retries, retries_max;
	/* a fault of the host prevented its start, or the saving of a check's output */
	bool host;
	/* ... or of the end of an agent's output: its work exists, its answer does not */
	bool cut;
	/* nothing of it was started on the machine of its launcher's list: it may on another */
	bool unreached;
	bool resumed;			/* it resumed an interrupted conversation */
	bool denied;			/* it was denied a permission */
	bool has_git;			/* so the tree shows whether it did something */
	bool review;			/* a review is wanted */
	bool later;			/* ... of the whole run, after all tasks are implemented */
	/* IMPLEMENT: it declared that there is nothing to do, or it picked nothing */
	bool stop;
	bool asks;			/* IMPLEMENT, FIX: it asks a human something */
	bool by_status;			/* REVIEW: exit status 1 is a verdict, too */
	bool checkout;			/* reviewers work in a room */
	bool checks_room;		/* by plan_checks_room() */
	bool merged;			/* CHECK: after the last one, the merge continues */
	/* number of checks, and which one this was, or the last of those behind it that need not
	 * run; 0: none */
	int64_t checks, check;
	/* CHECK: its failure counts: it has failed before on this work, or the run began with a
	 * version that ran each check once */
	bool second;
	int64_t setups, setup;		/* likewise, of the set-up commands */
	bool base_room;			/* SETUP: the room is one of the base, to be cloned later */
	int64_t items_left;		/* FIX: findings that wait for their own fixer */
	enum on_lost on_lost;
	/* consecutive lost attempts in this place, this one included */
	int64_t losses;
};

/* on_lost = "retry" holds the run after so many losses: what kills three in a row will kill the
 * fourth, and each is paid. */
#define LOSSES_MAX 3

/* How to repeat an attempt that its service or the host did not serve. */
enum again {
	AGAIN_NOT,			/* nothing special: it has succeeded or failed */
	/* its account is exhausted: retry it when the account is available; not counted as a try */
	AGAIN_COOL,
	AGAIN_RETRY,			/* retry it after a back-off, a limited number of times */
	/* retry it when the fault of the host is over; not counted as a try */
	AGAIN_HOST,
	/* retry it on another machine; not counted as a try */
	AGAIN_NODE,
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
/* What the run that a retry continues has said about the same tree. */
enum earlier_verdict { EARLIER_NONE, EARLIER_PASS, EARLIER_FINDINGS };

/* A measured tree, compared with the work before it. */
struct measure_facts {
	bool accepted;			/* by policy or a human: no further review */
	bool later;			/* the run is reviewed as a whole */
	bool unchanged;			/* the tree is unchanged */
	bool implement;			/* it is the implementer's work, not a fixer's */
	bool denied;			/* the attempt was refused a permission */
	bool says_no_change;		/* ... or declared that no change is needed */
	bool checked;			/* the checks of this tree have passed */
	/* of an earlier run, about the same tree */
	enum earlier_verdict earlier;
	bool committed, merged;		/* in an earlier run: the same tree */
	bool whole;			/* of slot 0 */
};

/* TASK_R_DENIED, TASK_R_NO_CHANGE or TASK_R_DONE: what the successful attempt has really done. */
enum task_result measured_outcome(const struct measure_facts *facts);

/* Whether the implementer changed nothing without declaring it: run.on_no_change decides. */
bool measured_no_change(const struct measure_facts *facts);

/* The time limit that ended an attempt. */
struct attempt_limit {
	int64_t ms;
	bool progress;		/* IDLE: it required progress, not just any output */
	const char *setting;	/* its origin: "limits.timeout in rld.toml or --timeout" */
};

/* Cause of a failed attempt: "reviewer process exited with status 3", "implementer process timed
 * out after 2h". limit: for TIMEOUT, IDLE and LINGERED. error: the program's message or the reason
 * of the failed start, may be NULL. malloc'd. */
char *attempt_cause(const struct attempt_facts *facts, const struct attempt_limit *limit, const char *error);
/* What limits of its cgroup have done to it, as in the exit record: malloc'd; NULL: nothing. */
char *attempt_felt(int64_t memory_kills, int64_t memory_max, int64_t refused_forks);
/* The kind of that cause. */
enum end_kind attempt_end_kind(const struct attempt_facts *facts);

/* Outcome of a review round. */
enum round_end {
	ROUND_PASS, ROUND_FINDINGS, ROUND_EXHAUSTED, ROUND_STALLED, ROUND_VIOLATION, ROUND_REVIEWER_ERROR,
	ROUND_ASK,			/* not over: the reviewer is asked about its answer */
	/* no fix round left for a conflict with another task, or its branch cannot be moved */
	ROUND_CONFLICT,
	ROUND_REFUSED,			/* ... for what a hook of the repository objects to */
	ROUND_REVIEWER_CHANGED,		/* EXIT: its program is not that of the submit */
	ROUND_CUT,			/* passed, and on_cut holds it */
	ROUND_PROTECTED,		/* passed, and the work touches a protected path */
	ROUND_REF_MOVED,		/* a ref is no longer as rld set it */
	ROUND_DISMISSED,		/* findings, but users dismissed all that must be fixed */
	/* likewise, but the work touches a protected path, or on_cut holds it */
	ROUND_DISMISSED_HELD,
	ROUND_ENDS
};

/* A round whose review has been read. */
struct review_facts {
	bool verdict;			/* there is a valid verdict ... */
	bool pass;			/* ... and it is a pass */
	/* ... or users dismissed all of its findings that must be fixed, and there are some */
	bool dismissed;
	/* the prompt left out a part of the diff, and a pass of that is held */
	bool cut;
	bool touched;			/* the work touches a protected path */
	/* the reviewer changed or removed a file: no verdict counts, and nothing is to be asked */
	bool tree_changed;
	/* a reviewer without a valid verdict is asked, and was not asked yet in this round */
	bool asks;
	int64_t fix, fixes;		/* fix rounds used and allowed */
	/* fixes in a row without progress, and how many end the loop; limit 0: none */
	int64_t stalled, stall_limit;
};

enum round_end review_classify(const struct review_facts *facts);

/* For findings that need no reviewer: those of a failed check. */
enum round_end check_classify(int64_t fix, int64_t fixes);

/* The policy that decides about the round; BAD_ENDS for pass, findings and dismissed ones, which
 * are not bad.
 * touched: the work touches a protected path, or may do so: no policy accepts that. */
enum bad_end round_policy(const struct plan *plan, enum round_end end, bool touched);
/* Whether the policy accepts work without a pass. */
bool bad_end_accepts(enum bad_end policy);
enum hold_kind round_hold(enum round_end end);

/* "drift unresolved after 5 fix attempt(s)": why an exhausted or stalled loop ended, in the
 * profile's words. repeats: why its last round stalls, NULL: it does not. malloc'd. */
char *round_cause(const struct plan *plan, enum round_end end, const struct slot_row *slot, const char *repeats);
/* Whether the profile's words for an exhausted loop have room for that. */
bool round_names_repetition(const struct plan *plan);
/* The kind of the cause of a round that ended badly, or with findings that users dismissed. */
enum end_kind round_end_kind(enum round_end end);

/* Whether so many fixes without progress end the loop. limit 0: never. */
bool round_is_stalled(int64_t stalled, int64_t limit);

/* The rule of older versions: a round stalls when tree and answer equal those of the previous
 * round, or when it has findings and all of them repeat. */
bool round_stalls(const struct slot_row *slot, int64_t findings, int64_t repeated);

#endif
