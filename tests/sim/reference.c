/* SPDX-License-Identifier: MIT */
/* Section 7 of the specification, told from the implementer's first word to the last decision. It knows nothing of stages and events:
 * what happened is read from the record one attempt and one hold at a time, and what must come next is said here. */
#include "reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What the last review said. */
struct said {
	bool same, suggestion;
	int news;
};

struct story {
	const struct ref_run *run;
	struct ref_end *end;
	int slot, round;
	int fixes_left;
	int tree, answer;		/* of the work so far: how often it was changed, whose answer it is */
	bool denied;			/* whoever worked last was refused a permission */
	int seen_tree, seen_answer;	/* of the round before */
	int stalled;
	struct said said;
};

/* The end of the story. Always false: nothing follows. */
static bool over(struct story *s, const char *state, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool over(struct story *s, const char *state, const char *fmt, ...)
{
	va_list ap;

	s->end->state = state;
	va_start(ap, fmt);
	vsnprintf(s->end->cause, sizeof(s->end->cause), fmt, ap);
	va_end(ap);
	return false;
}

static struct ref_review *write_review(struct story *s, const char *decision)
{
	struct ref_review *review = &s->end->reviews[s->end->nreviews++];

	*review = (struct ref_review){ .decision = decision, .round = s->round };
	return review;
}

/* It succeeds, by verdict or by leave. */
static bool succeed(struct story *s, const char *cause)
{
	s->end->committed = s->run->commit && s->run->has_git && s->tree > 0;
	return over(s, "succeeded", "%s", cause);
}

/* A human is asked. true: sent back to work. */
static bool hold(struct story *s, const char *kind)
{
	struct ref_end *end = s->end;
	const struct ref_hold *h = end->nholds < s->run->nholds ? &s->run->holds[end->nholds] : NULL;

	end->holds[end->nholds++] = kind;
	if (h == NULL || strcmp(h->state, "open") == 0)
		return over(s, "held", "%s", "");
	if (strcmp(h->state, "rework") == 0)
		return over(s, "queued", "%s", "");
	if (strcmp(h->state, "cancelled") == 0)
		return over(s, "cancelled", "%s", "");
	if (strcmp(h->state, "reworked") == 0)
		return true;
	if (strcmp(h->state, "approved") == 0 && strcmp(kind, "lost") == 0)
		snprintf(end->wrong, sizeof(end->wrong), "a lost attempt was approved");
	write_review(s, strcmp(h->state, "approved") == 0 ? "accepted" : "rejected")->human = true;
	if (strcmp(h->state, "approved") == 0)
		return succeed(s, "accepted: human:ann");
	return over(s, "failed", "rejected by human:ann");
}

/* The next attempt that counts; NULL: the story ends or waits here. */
static const struct ref_attempt *next(struct story *s, const char *role, int round)
{
	struct ref_end *end = s->end;

	for (int losses = 1;; losses++) {
		const struct ref_attempt *a;

		if (end->used == s->run->count) {
			over(s, "working", "%s", "");
			return NULL;
		}
		a = &s->run->attempts[end->used++];
		if (strcmp(a->role, role) != 0 || a->slot != s->slot || a->round != round)
			snprintf(end->wrong, sizeof(end->wrong), "attempt %d is %s of round %d in slot %d, expected %s of round %d in slot %d",
			    end->used, a->role, a->round, a->slot, role, round, s->slot);
		if (!a->ended)
			over(s, "working", "%s", "");
		if (end->wrong[0] != '\0' || !a->ended)
			return NULL;
		if (!a->lost)
			return a;
		if (s->run->on_lost == 'f') {
			over(s, "failed", "lost: ");
			return NULL;
		}
		/* three in a row are enough; the one that a human asks to do again counts as one */
		if (s->run->on_lost == 'h' || losses == 3) {
			if (!hold(s, "lost"))
				return NULL;
			losses = 1;
		}
	}
}

/* Somebody worked. false: without success. */
static bool take_work(struct story *s, const struct ref_attempt *a, const char *who)
{
	if (a->failed)
		return over(s, "failed", "%s process ", who);
	if (a->denied && !s->run->has_git)
		return over(s, "failed", "%s process was denied permissions and changed nothing", who);
	s->tree += a->changed;
	s->answer = a->answer;
	s->denied = a->denied;
	return true;
}

/* One fix round. told: whose word it is about. */
static bool fix(struct story *s, int fixers, const char *told)
{
	s->end->fixes++;
	s->fixes_left--;
	for (int i = 0; i < fixers; i++) {
		const struct ref_attempt *a = next(s, "fix", s->end->fixes);

		if (a != NULL && a->told != NULL && strcmp(a->told, told) != 0)
			snprintf(s->end->wrong, sizeof(s->end->wrong), "fix attempt %d was told the %s's word, expected the %s's", s->end->used, a->told, told);
		if (a == NULL || !take_work(s, a, "fixer"))
			return false;
	}
	return true;
}

/* How many findings of the last review somebody has to settle. */
static int open_findings(const struct story *s)
{
	return s->said.same + s->said.news;
}

/* A bad end: what the policy makes of it. known: how many findings stay. true: a human sent it back, and it has been fixed. */
static bool bad_end(struct story *s, char policy, const char *kind, int known, const char *cause)
{
	char text[160];

	switch (policy) {
	case 'f':
		return over(s, "failed", "%s", cause);
	case 'a':
		snprintf(text, sizeof(text), "accepted: %.140s", cause);
		return succeed(s, text);
	case 'k':
		s->end->known = known;
		snprintf(text, sizeof(text), "known issues: %d; %.120s", known, cause);
		return succeed(s, text);
	default:
		break;
	}
	if (!hold(s, kind))
		return false;
	s->fixes_left = s->run->max_fixes > 0 ? s->run->max_fixes : 1;
	s->stalled = 0;
	return fix(s, 1, "human");
}

/* Checks before a review. */
static bool check(struct story *s)
{
	for (int n = 0; n < s->run->checks; n++) {
		const struct ref_attempt *a = next(s, "check", s->round + 1);

		if (a == NULL)
			return false;
		if (a->not_started)
			return over(s, "failed", "check process could not be started");
		if (!a->failed)
			continue;
		/* the reviewer is not asked; all of them run again on what the fixer made of it */
		if (s->fixes_left > 0 ? !fix(s, 1, "check") : !bad_end(s, s->run->on_exhausted, "exhausted", open_findings(s) + 1, "check `make test` still fails after "))
			return false;
		n = -1;
	}
	return true;
}

/* No verdict: nothing is known to be settled, nothing is known to be open. */
static bool no_verdict(struct story *s, char policy, const char *kind, const char *decision, const char *cause)
{
	write_review(s, decision);
	s->said = (struct said){ 0 };
	s->stalled = 0;
	return bad_end(s, policy, kind, 1, cause);
}

static const char *word(const struct story *s, bool pass)
{
	static const char *const words[][3] = {
		{ "verdict", "pass", "drift" }, { "decision", "GO", "NO_GO" }, { "file", "pass", "issues" }, { "exit", "accept", "retry" },
		{ "comments", "pass", "must-fix" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], s->run->profile) == 0)
			return words[i][pass ? 1 : 2];
	return "";
}

/* The row of a verdict, which is compared with what the review before said. */
static const struct ref_review *write_verdict(struct story *s, const struct ref_attempt *a)
{
	struct ref_review *row = write_review(s, word(s, a->verdict == 'p'));
	struct said now = { .suggestion = a->suggestion };

	if (a->verdict == 'f') {
		now.same = a->same;
		now.news = a->news;
	}
	row->repeated = (now.same && s->said.same) + (now.suggestion && s->said.suggestion);
	row->new = now.same + now.suggestion + now.news - row->repeated;
	row->resolved = s->said.same + s->said.suggestion + s->said.news - row->repeated;
	s->said = now;
	return row;
}

static void exhausted_cause(const struct story *s, char *text, size_t size)
{
	if (strcmp(s->run->profile, "file") == 0)
		snprintf(text, size, "Review failed after %d iterations. Please manually review %s for remaining issues.", s->round, s->run->review_file);
	else if (strcmp(s->run->profile, "exit") == 0)
		snprintf(text, size, "max review rounds (%d) reached", s->round);
	else
		snprintf(text, size, "%s unresolved after %d fix attempt(s)", word(s, false), s->end->fixes);
}

/* One review, and the fix that follows it. true: another round. */
static bool review(struct story *s)
{
	const struct ref_run *run = s->run;
	const struct ref_attempt *a;
	const struct ref_review *row;
	bool unchanged;
	char cause[160];

	if (s->denied && run->has_git && s->tree == s->seen_tree)
		return over(s, "failed", "%s process was denied permissions and changed nothing", s->end->fixes > 0 ? "fixer" : "implementer");
	unchanged = s->round > 0 && run->has_git && s->tree == s->seen_tree && s->answer == s->seen_answer;
	s->seen_tree = s->tree;
	s->seen_answer = s->answer;
	s->round++;
	a = next(s, "review", s->round);
	if (a == NULL)
		return false;
	if (a->failed)
		return no_verdict(s, run->on_reviewer_error, "reviewer-error", "error", "reviewer process ");
	if (a->verdict == 'u')
		return no_verdict(s, run->on_reviewer_error, "reviewer-error", "error", "unreadable review");
	if (a->verdict == 'm' || (a->changed && run->has_git && strcmp(run->profile, "exit") != 0))
		return no_verdict(s, run->on_malformed, "violation", "violation", "reviewer contract violation: ");
	row = write_verdict(s, a);
	if (a->verdict == 'p') {
		s->end->passed = true;
		s->end->pinned = run->has_git;
		return succeed(s, "");
	}
	s->stalled = unchanged || (s->round > 1 && row->repeated > 0 && row->new == 0) ? s->stalled + 1 : 0;
	if (s->fixes_left <= 0) {
		exhausted_cause(s, cause, sizeof(cause));
		return bad_end(s, run->on_exhausted, "exhausted", open_findings(s), cause);
	}
	if (run->stall_limit > 0 && s->stalled >= run->stall_limit)
		return bad_end(s, run->on_exhausted, "stalled", open_findings(s), "stalled: ");
	return fix(s, run->one_fixer_each ? open_findings(s) : 1, "review");
}

void reference(const struct ref_run *run, struct ref_end *end)
{
	struct story s = { .run = run, .end = end, .slot = 1, .fixes_left = run->max_fixes };
	const struct ref_attempt *a;

	*end = (struct ref_end){ .state = "working" };
	a = next(&s, "implement", 0);
	if (a == NULL || !take_work(&s, a, "implementer"))
		return;
	if (!run->review) {
		if (s.denied && s.tree == 0)
			over(&s, "failed", "implementer process was denied permissions and changed nothing");
		else
			succeed(&s, "");
		return;
	}
	/* one review for the whole run is the work of slot 0 */
	s.slot = run->whole_run ? 0 : 1;
	while (check(&s) && review(&s))
		;
}
