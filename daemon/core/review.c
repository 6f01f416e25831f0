/* SPDX-License-Identifier: MIT */
#include "core/review.h"

#include <stdlib.h>
#include <string.h>

#include "core/backoff.h"
#include "core/profile.h"
#include "proto/memory.h"
#include "proto/units.h"

bool review_is_verdict(const struct review_row *review)
{
	return review->reviewer == NULL && !text_equal(review->source, "human") &&
	    strcmp(review->decision, REVIEW_VIOLATION) != 0 &&
	    strcmp(review->decision, REVIEW_ERROR) != 0;
}

/* It ended like a success, whatever it reported. */
static bool ended_well(const struct attempt_facts *f)
{
	bool said = f->status == 0 || (f->status == 1 && f->role == ROLE_REVIEW && f->by_status);

	return (f->process == PROCESS_EXITED && said) || f->process == PROCESS_LINGERED;
}

bool attempt_succeeded(const struct attempt_facts *f)
{
	return ended_well(f) && !f->is_error && !f->cut && f->provider == PROVIDER_OK;
}

bool attempt_is_cut(const struct attempt_facts *f)
{
	return f->cut && !f->host && ended_well(f);
}

enum task_result attempt_outcome(const struct attempt_facts *f)
{
	if (!attempt_succeeded(f))
		return TASK_R_FAILED;
	return f->denied ? TASK_R_DENIED : TASK_R_DONE;
}

/* A limit whose reset has passed or is near is no reason to stop everything billed to the
 * account. */
static bool is_exhausted(const struct attempt_facts *f)
{
	if (f->provider == PROVIDER_LIMIT)
		return f->reset_at == ROW_NONE || f->reset_at > f->now;
	return f->provider == PROVIDER_THROTTLED && f->reset_at != ROW_NONE && f->reset_at > f->now + BACKOFF_MAX_MS;
}

enum again attempt_again(const struct attempt_facts *f)
{
	bool ended = f->process == PROCESS_EXITED || f->process == PROCESS_SIGNALLED ||
	    f->process == PROCESS_LINGERED || f->process == PROCESS_REFUSED;
	/* some programs wait silently for the reset */
	bool silent = f->process == PROCESS_TIMEOUT || f->process == PROCESS_IDLE;
	bool passes = f->provider == PROVIDER_LIMIT || f->provider == PROVIDER_THROTTLED ||
	    (f->provider == PROVIDER_ERROR && f->transient);

	if (f->host)
		return AGAIN_HOST;
	if (f->unreached)
		return AGAIN_NODE;
	if (!f->account || attempt_succeeded(f))
		return AGAIN_NOT;
	if ((ended || silent) && is_exhausted(f))
		return AGAIN_COOL;
	if (ended && passes)
		return f->retries < f->retries_max ? AGAIN_RETRY : AGAIN_NOT;
	return ended && f->resumed && f->provider != PROVIDER_AUTH ? AGAIN_ANEW : AGAIN_NOT;
}

enum task_result measured_outcome(const struct measure_facts *f)
{
	if (f->denied && f->unchanged)
		return TASK_R_DENIED;
	return f->unchanged && !f->says_no_change ? TASK_R_NO_CHANGE : TASK_R_DONE;
}

bool measured_no_change(const struct measure_facts *f)
{
	return f->implement && !f->accepted && measured_outcome(f) == TASK_R_NO_CHANGE;
}

char *attempt_cause(const struct attempt_facts *f, const struct attempt_limit *limit, const char *error)
{
	static const char *const who[ROLES] = {
		[ROLE_COMMIT] = "commit",
		[ROLE_IMPLEMENT] = "implementer",
		[ROLE_CHECK] = "check",
		[ROLE_REVIEW] = "reviewer",
		[ROLE_FIX] = "fixer",
		[ROLE_SETUP] = "setup",
	};
	const char *name = who[f->role];
	char time[32];

	if (attempt_succeeded(f) && f->denied)
		return xasprintf("%s process was denied permissions and changed nothing", name);
	duration_format(limit->ms, time, sizeof(time));
	switch (f->process) {
	case PROCESS_NONE:
	case PROCESS_LOST:
		return xasprintf("lost: %s process is gone and its exit status is unknown%s%s", name,
		    error ? ": " : "", error ? error : "");
	case PROCESS_NOT_STARTED:
		return xasprintf("%s process could not be started: %s", name, error ? error : "unknown error");
	case PROCESS_TIMEOUT:
		return xasprintf("%s process timed out after %s; %s sets the limit", name, time, limit->setting);
	case PROCESS_IDLE:
		return xasprintf("%s process %s for %s; %s sets the limit", name,
		    limit->progress ? "made no progress" : "printed nothing", time, limit->setting);
	case PROCESS_LINGERED:
		return xasprintf("%s process gave its result and did not exit within %s; %s sets the limit%s%s",
		    name, time, limit->setting, error ? ": " : "", error ? error : "");
	case PROCESS_REFUSED:
		return xasprintf("%s process was killed: its service refused every request%s%s",
		    name, error ? ": " : "", error ? error : "");
	case PROCESS_CANCELLED:
		return xasprintf("cancelled");
	case PROCESS_SIGNALLED:
		return xasprintf("%s process killed by signal %d", name, (int)f->status);
	case PROCESS_EXITED:
	case PROCESS_RESULTS:
		break;
	}
	if (f->status != 0)
		return xasprintf("%s process exited with status %d%s%s", name, (int)f->status,
		    error ? ": " : "", error ? error : "");
	return xasprintf("%s process exited with status 0 but reported an error%s%s", name,
	    error ? ": " : "", error ? error : "");
}

char *attempt_felt(int64_t memory_kills, int64_t memory_max, int64_t refused_forks)
{
	char size[32];

	size_format(memory_max, size, sizeof(size));
	if (memory_max > 0)
		return xasprintf("out of memory: the kernel has killed %lld of its processes at %s; limits.memory sets "
		    "the limit", (long long)memory_kills, size);
	if (memory_kills > 0)
		return xasprintf("out of memory: the kernel has killed %lld of its processes, as this machine, or all "
		    "agents together, had none left", (long long)memory_kills);
	if (refused_forks > 0)
		return xasprintf("the kernel has refused it a process %lld times; limits.processes sets the limit",
		    (long long)refused_forks);
	return NULL;
}

enum end_kind attempt_end_kind(const struct attempt_facts *f)
{
	static const enum end_kind kinds[PROCESS_RESULTS] = {
		[PROCESS_NONE] = END_LOST,
		[PROCESS_EXITED] = END_ERROR,
		[PROCESS_SIGNALLED] = END_ERROR,
		[PROCESS_TIMEOUT] = END_TIMEOUT,
		[PROCESS_IDLE] = END_TIMEOUT,
		[PROCESS_LINGERED] = END_ERROR,
		[PROCESS_REFUSED] = END_ERROR,
		[PROCESS_CANCELLED] = END_CANCELLED,
		[PROCESS_NOT_STARTED] = END_NOT_STARTED,
		[PROCESS_LOST] = END_LOST,
	};

	return attempt_succeeded(f) && f->denied ? END_DENIED : kinds[f->process];
}

/* A verdict, before budget and stalls are considered. */
enum word { WORD_PASS, WORD_DISMISSED, WORD_FINDINGS, WORD_NONE };

static const struct {
	enum word word;
	unsigned spent;		/* mask of the values of "no fix round left" that match */
	unsigned stalled;	/* mask of the values of "too many stalled rounds" that match */
	unsigned touched;	/* mask of the values of "a protected path is touched" that match */
	unsigned cut;		/* mask of the values of "a pass is held" that match */
	unsigned asks;		/* mask of the values of "the reviewer can be asked" that match */
	enum round_end end;
} review_rows[] = {
#define NO 1u
#define YES 2u
#define ANY (NO | YES)
	{ WORD_PASS,     ANY, ANY, NO,  NO,  ANY, ROUND_PASS },
	{ WORD_PASS,     ANY, ANY, NO,  YES, ANY, ROUND_CUT },
	{ WORD_PASS,     ANY, ANY, YES, ANY, ANY, ROUND_PROTECTED },
	{ WORD_DISMISSED, ANY, ANY, NO, NO,  ANY, ROUND_DISMISSED },
	{ WORD_DISMISSED, ANY, ANY, NO, YES, ANY, ROUND_DISMISSED_HELD },
	{ WORD_DISMISSED, ANY, ANY, YES, ANY, ANY, ROUND_DISMISSED_HELD },
	{ WORD_FINDINGS, YES, ANY, ANY, ANY, ANY, ROUND_EXHAUSTED },
	{ WORD_FINDINGS, NO,  YES, ANY, ANY, ANY, ROUND_STALLED },
	{ WORD_FINDINGS, NO,  NO,  ANY, ANY, ANY, ROUND_FINDINGS },
	{ WORD_NONE,     ANY, ANY, ANY, ANY, YES, ROUND_ASK },
	{ WORD_NONE,     ANY, ANY, ANY, ANY, NO,  ROUND_VIOLATION },
};

bool round_is_stalled(int64_t stalled, int64_t limit)
{
	return limit > 0 && stalled >= limit;
}

enum round_end review_classify(const struct review_facts *f)
{
	enum word word = f->tree_changed || !f->verdict ? WORD_NONE : f->pass ? WORD_PASS :
	    f->dismissed ? WORD_DISMISSED : WORD_FINDINGS;
	unsigned spent = f->fix >= f->fixes ? YES : NO;
	unsigned stalled = round_is_stalled(f->stalled, f->stall_limit) ? YES : NO;
	unsigned touched = f->touched ? YES : NO, cut = f->cut ? YES : NO;
	unsigned asks = f->asks && !f->tree_changed ? YES : NO;

	for (size_t i = 0; i < sizeof(review_rows) / sizeof(review_rows[0]); i++)
		if (review_rows[i].word == word && (review_rows[i].spent & spent) &&
		    (review_rows[i].stalled & stalled) && (review_rows[i].touched & touched) &&
		    (review_rows[i].cut & cut) && (review_rows[i].asks & asks))
			return review_rows[i].end;
	abort();	/* unreachable: the rows cover every case, see tests/unit/review.c */
}

enum round_end check_classify(int64_t fix, int64_t fixes)
{
	return fix >= fixes ? ROUND_EXHAUSTED : ROUND_FINDINGS;
}

bool bad_end_accepts(enum bad_end policy)
{
	return policy == BAD_END_ACCEPT || policy == BAD_END_KNOWN_ISSUES;
}

static enum bad_end policy_of(const struct plan *plan, enum round_end end)
{
	switch (end) {
	case ROUND_EXHAUSTED:
	case ROUND_STALLED:
		return plan->on_exhausted;
	case ROUND_ASK:
		return BAD_END_ASK;
	case ROUND_VIOLATION:
		return plan->on_malformed == BAD_END_ASK ? plan->malformed_again : plan->on_malformed;
	case ROUND_REVIEWER_ERROR:
		return plan->on_reviewer_error;
	case ROUND_CONFLICT:
	case ROUND_REFUSED:
	case ROUND_REVIEWER_CHANGED:
	case ROUND_CUT:
	case ROUND_PROTECTED:
	case ROUND_REF_MOVED:
	case ROUND_DISMISSED_HELD:
		return BAD_END_HOLD;
	case ROUND_PASS:
	case ROUND_FINDINGS:
	case ROUND_DISMISSED:
	case ROUND_ENDS:
		break;
	}
	return BAD_ENDS;
}

enum bad_end round_policy(const struct plan *plan, enum round_end end, bool touched)
{
	enum bad_end policy = policy_of(plan, end);

	return touched && bad_end_accepts(policy) ? BAD_END_HOLD : policy;
}

enum hold_kind round_hold(enum round_end end)
{
	static const enum hold_kind kinds[ROUND_ENDS] = {
		[ROUND_EXHAUSTED] = HOLD_EXHAUSTED,
		[ROUND_STALLED] = HOLD_STALLED,
		[ROUND_VIOLATION] = HOLD_VIOLATION,
		[ROUND_REVIEWER_ERROR] = HOLD_REVIEWER,
		[ROUND_CONFLICT] = HOLD_CONFLICT,
		[ROUND_REFUSED] = HOLD_REFUSED,
		[ROUND_REVIEWER_CHANGED] = HOLD_REVIEWER_CHANGED,
		[ROUND_CUT] = HOLD_CUT,
		[ROUND_PROTECTED] = HOLD_PROTECTED,
		[ROUND_REF_MOVED] = HOLD_REF_MOVED,
		[ROUND_DISMISSED_HELD] = HOLD_DISMISSED,
	};

	return kinds[end];
}

enum end_kind round_end_kind(enum round_end end)
{
	static const enum end_kind kinds[ROUND_ENDS] = {
		[ROUND_EXHAUSTED] = END_EXHAUSTED,
		[ROUND_STALLED] = END_STALLED,
		[ROUND_VIOLATION] = END_VIOLATION,
		[ROUND_REVIEWER_ERROR] = END_ERROR,
		[ROUND_CONFLICT] = END_CONFLICT,
		[ROUND_REFUSED] = END_COMMIT_REFUSED,
		[ROUND_REVIEWER_CHANGED] = END_REVIEWER_CHANGED,
		[ROUND_CUT] = END_CUT,
		[ROUND_PROTECTED] = END_PROTECTED,
		[ROUND_REF_MOVED] = END_REF_MOVED,
		[ROUND_DISMISSED] = END_APPROVED,
		[ROUND_DISMISSED_HELD] = END_CUT,
	};

	return kinds[end];
}

bool round_names_repetition(const struct plan *plan)
{
	return plan->profile->carrier != CARRIER_FILE && plan->profile->carrier != CARRIER_EXIT;
}

char *round_cause(const struct plan *plan, enum round_end end, const struct slot_row *slot, const char *repeats)
{
	if (end == ROUND_STALLED)
		return xasprintf("stalled: %s", repeats);
	switch (plan->profile->carrier) {
	case CARRIER_FILE:
		return xasprintf("Review failed after %lld iterations. Please manually review %s for remaining issues.",
		    (long long)slot->round, plan->review_file);
	case CARRIER_EXIT:
		return xasprintf("max review rounds (%lld) reached", (long long)slot->round);
	case CARRIER_VERDICT:
	case CARRIER_DECISION:
	case CARRIER_COMMENTS:
	case CARRIERS:
		break;
	}
	return xasprintf("%s unresolved after %lld fix attempt(s)%s%s", plan->profile->findings_word,
	    (long long)slot->fix, repeats != NULL ? ": " : "", repeats != NULL ? repeats : "");
}

static bool review_same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool round_stalls(const struct slot_row *slot, int64_t findings, int64_t repeated)
{
	if (slot->round <= 1)
		return false;
	if (review_same(slot->tree, slot->previous_tree) &&
	    (review_same(slot->answer_hash, slot->previous_answer_hash) ||
	    (slot->answer_hash == NULL && slot->previous_answer_hash == NULL)))
		return true;	/* two empty answers are the same answer */
	return findings > 0 && findings == repeated;
}
