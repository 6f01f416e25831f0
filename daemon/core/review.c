/* SPDX-License-Identifier: MIT */
#include "core/review.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "proto/units.h"

bool attempt_succeeded(const struct attempt_facts *f)
{
	return f->process == PROCESS_EXITED && f->status == 0 && !f->is_error && f->provider == PROVIDER_OK;
}

enum task_result attempt_outcome(const struct attempt_facts *f)
{
	if (!attempt_succeeded(f))
		return TASK_R_FAILED;
	return f->denied ? TASK_R_DENIED : TASK_R_DONE;
}

enum slot_event attempt_classify(const struct attempt_facts *f)
{
	static const enum slot_event lost[ON_LOST_CHOICES] = {
		[ON_LOST_HOLD] = SLOT_E_LOST_HOLD,
		[ON_LOST_RETRY] = SLOT_E_LOST_RETRY,
		[ON_LOST_FAIL] = SLOT_E_LOST_FAIL,
	};

	if (f->process == PROCESS_LOST && f->on_lost == ON_LOST_RETRY && f->losses >= LOSSES_MAX)
		return SLOT_E_LOST_HOLD;
	if (f->process == PROCESS_LOST)
		return lost[f->on_lost];
	if (!attempt_succeeded(f))
		return SLOT_E_FAILED;
	if (f->role == ROLE_REVIEW)
		return SLOT_E_ANSWERED;
	if (f->role == ROLE_FIX || f->review)
		return SLOT_E_DONE;
	if (!f->denied)
		return SLOT_E_DONE_UNREVIEWED;
	return f->has_git ? SLOT_E_DONE : SLOT_E_FAILED;
}

char *attempt_cause(const struct attempt_facts *f, int64_t limit_ms, const char *error)
{
	static const char *const who[ROLES] = {
		[ROLE_IMPLEMENT] = "implementer",
		[ROLE_REVIEW] = "reviewer",
		[ROLE_FIX] = "fixer",
	};
	const char *name = who[f->role];
	char limit[32];

	duration_format(limit_ms, limit, sizeof(limit));
	switch (f->process) {
	case PROCESS_NONE:
	case PROCESS_LOST:
		return xasprintf("lost: %s process is gone and its exit cannot be known%s%s", name, error ? ": " : "", error ? error : "");
	case PROCESS_NOT_STARTED:
		return xasprintf("%s process could not be started: %s", name, error ? error : "unknown error");
	case PROCESS_TIMEOUT:
		return xasprintf("%s process timed out after %s; %s in rld.toml sets the limit", name, limit,
		    f->role == ROLE_REVIEW ? "review.timeout" : "limits.timeout");
	case PROCESS_IDLE:
		return xasprintf("%s process printed nothing for %s; limits.idle_timeout in rld.toml sets the limit", name, limit);
	case PROCESS_CANCELLED:
		return xasprintf("cancelled");
	case PROCESS_SIGNALLED:
		return xasprintf("%s process killed by signal %d", name, (int)f->status);
	case PROCESS_EXITED:
	case PROCESS_RESULTS:
		break;
	}
	if (f->status != 0)
		return xasprintf("%s process exited with status %d%s%s", name, (int)f->status, error ? ": " : "", error ? error : "");
	if (attempt_succeeded(f) && f->denied)
		return xasprintf("%s process was denied permissions and changed nothing", name);
	return xasprintf("%s process exited with status 0 but reported an error%s%s", name, error ? ": " : "", error ? error : "");
}

/* What a round came to, before budget and stall are looked at. */
enum round { ROUND_PASS, ROUND_FINDINGS, ROUND_VIOLATION };

static const struct {
	enum round round;
	unsigned spent;		/* mask of the values of "no fix round is left" that match */
	unsigned stalled;	/* mask of the values of "too many rounds stalled" that match */
	enum slot_event event;
} review_rows[] = {
#define NO 1u
#define YES 2u
#define ANY (NO | YES)
	{ ROUND_PASS,      ANY, ANY, SLOT_E_PASS },
	{ ROUND_FINDINGS,  YES, ANY, SLOT_E_EXHAUSTED },
	{ ROUND_FINDINGS,  NO,  YES, SLOT_E_STALLED },
	{ ROUND_FINDINGS,  NO,  NO,  SLOT_E_FINDINGS },
	{ ROUND_VIOLATION, ANY, ANY, SLOT_E_VIOLATION },
};

enum slot_event review_classify(const struct review_facts *f)
{
	enum round round = f->tree_changed || !f->verdict ? ROUND_VIOLATION : f->pass ? ROUND_PASS : ROUND_FINDINGS;
	unsigned spent = f->fix >= f->max_fixes ? YES : NO;
	unsigned stalled = f->stall_limit > 0 && f->stalled >= f->stall_limit ? YES : NO;

	for (size_t i = 0; i < sizeof(review_rows) / sizeof(review_rows[0]); i++)
		if (review_rows[i].round == round && (review_rows[i].spent & spent) && (review_rows[i].stalled & stalled))
			return review_rows[i].event;
	abort();	/* the rows are total: tests/unit/review.c */
}

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool round_stalls(const struct slot_row *slot, int64_t findings, int64_t repeated)
{
	if (slot->round <= 1)
		return false;
	if (same(slot->tree, slot->previous_tree) && (same(slot->answer_hash, slot->previous_answer_hash) ||
	    (slot->answer_hash == NULL && slot->previous_answer_hash == NULL)))
		return true;	/* two agents that said nothing gave the same answer */
	return findings > 0 && findings == repeated;
}
