/* SPDX-License-Identifier: MIT */
/* Sections 4 to 8 of the specification, told from the first word to the last decision. It knows
 * nothing of stages and events: what happened is read from the record one attempt, one answer and
 * one hold at a time, and what must come next is said here. */
#include "reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What the last review said. */
struct said {
	bool same, suggestion;
	int fresh;
	bool same_dismissed;		/* the one that is the same need not be fixed */
	int fresh_gone, gone;		/* dismissed since, as in struct ref_attempt */
};

/* Work that somebody had something against. */
struct objection {
	int fix;			/* fixes before it */
	int64_t tree;			/* content, -1: not known */
	char who;			/* 'S', 'U' a review, 'C' a check, 'X', 'Y', 'R' git */
	int64_t what;			/* the same number is the same objection */
	bool told;			/* its reviewer was told that the fixer disputes it */
};

struct story {
	const struct ref_slot *run;
	struct ref_end *end;
	int round;
	int fixes_left;
	int64_t tree;			/* content when it was last looked at */
	int answer;			/* whose answer it is */
	bool denied;			/* whoever worked last was refused a permission */
	bool silent;			/* it was the implementer, and it has not said that nothing
					 * is to be changed */
	bool unmeasured;		/* a check in the work tree has failed since */
	int64_t seen_tree;		/* content when it was looked at before */
	struct objection objections[REF_MAX * 2];
	int nobjections;
	int conflicts;			/* merges that did not fit */
	int64_t judged_tree;		/* of the review before */
	int judged_answer;
	int stalled;
	bool obstacle;			/* git has had something against it, and no review has
					 * had the next word */
	int hook_changes;		/* commits that a hook has changed */
	bool judging;			/* a merge waits for the word on its new tree ... */
	bool sent_back;			/* ... or that, or a conflict, is being fixed */
	/* of each reviewer of a panel: what was told of him so far, his verdict, 'p' or 'f', on
	 * what tree, 0: none that counts, and the round in which he was lost at last */
	struct {
		int used, heard, lost;
		char verdict;
		const char *kind;
		int64_t tree;
		struct ref_attempt said;
	} voters[REF_VOTERS];
	bool laid;			/* a room was needed for the checks */
	int losses;			/* before the first attempt: his */
	int votes;			/* attempts of all of them */
	bool asked;			/* the reviewer is asked what he has meant */
	bool answered;			/* whoever has asked something goes on with the answer */
	bool committed;			/* by an agent, in the run that it continues */
	struct said said;
	bool last_same;			/* the last verdict had the one that is the same */
	bool disputed;			/* ... and a fixer disputes that since */
	/* of each check, from 1: what its run on the base came to, 'g'reen or 'r'ed; 0: none */
	char base_said[REF_MAX];
	int64_t base;			/* content that the work began with */
};

/* The end of the story. Always false: nothing follows. */
static bool over(struct story *s, const char *state, const char *kind)
{
	s->end->state = state;
	s->end->kind = kind;
	return false;
}

static struct ref_review *write_review(struct story *s, const char *decision)
{
	struct ref_review *review = &s->end->reviews[s->end->nreviews++];

	*review = (struct ref_review){ .decision = decision, .round = s->round };
	return review;
}

/* Behind the reviews that there are. */
static void write_human(struct story *s, const char *decision)
{
	const struct ref_review *last = s->end->nreviews > 0 ? &s->end->reviews[s->end->nreviews - 1] : NULL;
	int round = last != NULL && last->round >= s->round ? last->round + 1 : s->round;

	*write_review(s, decision) = (struct ref_review){ .decision = decision, .human = true, .round = round };
}

/* The next answer, one of those that are expected; 0: the story ends or waits here. */
static char hear(struct story *s, const char *expected, int64_t *value)
{
	struct ref_end *end = s->end;
	const struct ref_answer *answer;

	if (end->heard == s->run->nanswers) {
		end->waits = expected[0];
		over(s, "working", NULL);
		return 0;
	}
	answer = &s->run->answers[end->heard++];
	if (value != NULL)
		*value = answer->value;
	if (answer->what == 'F') {
		over(s, "failed", expected[0] == 'K' ? "source" : "git");
		return 0;
	}
	if (strchr(expected, answer->what) != NULL)
		return answer->what;
	snprintf(end->wrong, sizeof(end->wrong), "answer %d is %c, expected one of %s", end->heard,
	    answer->what, expected);
	return 0;
}

static const char *word(const struct story *s, bool pass)
{
	static const char *const words[][3] = {
		{ "verdict", "pass", "drift" }, { "decision", "GO", "NO_GO" },
		{ "file", "pass", "issues" }, { "exit", "accept", "retry" },
		{ "comments", "pass", "must-fix" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], s->run->profile) == 0)
			return words[i][pass ? 1 : 2];
	return "";
}

static bool finish(struct story *s, bool passed, const char *kind);

/* Fixes that led back to what was there before were in vain. again: git objects once more, whatever
 * it says. told: a reviewer was told of a dispute; the first time that is something new. */
static void object(struct story *s, int64_t tree, char who, int64_t what, bool again, bool told)
{
	struct objection now = { s->end->fixes, s->run->has_git ? tree : -1, who, what, told };
	int wasted = 0, last = s->nobjections - 1;
	bool new = told;

	for (int i = 0; i <= last; i++)
		new &= !s->objections[i].told;
	for (int i = 0; i <= last && wasted == 0 && !new; i++) {
		const struct objection *o = &s->objections[i];

		if (o->fix == now.fix)
			continue;
		if ((o->tree == now.tree && now.tree != -1) || (o->who == who && o->what == what) ||
		    (again && i == last))
			wasted = now.fix - o->fix;
	}
	if (wasted > 0 && wasted < s->stalled + now.fix - s->objections[last].fix)
		wasted = s->stalled + now.fix - s->objections[last].fix;
	s->stalled = wasted;
	s->objections[s->nobjections++] = now;
}

/* A human has sent it back: what is in vain is counted from there. */
static void count_anew(struct story *s)
{
	s->stalled = s->hook_changes = 0;
	if (s->nobjections == 0)
		return;
	s->objections[0] = s->objections[s->nobjections - 1];
	s->objections[0].fix = s->end->fixes;
	s->nobjections = 1;
}

static bool in_vain(const struct story *s)
{
	return s->run->stall_limit > 0 && s->stalled >= s->run->stall_limit;
}

/* A human is asked. true: sent back to work. */
static bool hold(struct story *s, const char *kind, bool *again)
{
	struct ref_end *end = s->end;
	const struct ref_hold *h = end->nholds < s->run->nholds ? &s->run->holds[end->nholds] : NULL;

	*again = false;
	/* the slot that he judges is */
	if (s->run->voter)
		return over(s, "held", kind);
	/* of what only runs checks, nothing is worth a question */
	if (s->run->baseline)
		return over(s, "failed", kind);
	end->holds[end->nholds++] = kind;
	if (h == NULL || strcmp(h->state, "open") == 0)
		return over(s, "held", NULL);
	if (strcmp(h->state, "rework") == 0)
		return over(s, "rework", NULL);
	if (strcmp(h->state, "cancelled") == 0)
		return over(s, "cancelled", NULL);
	if (strcmp(h->state, "reworked") == 0) {
		count_anew(s);
		return true;
	}
	if (strcmp(h->state, "approved") == 0 && (strcmp(kind, "lost") == 0 || strcmp(kind, "setup") == 0))
		snprintf(end->wrong, sizeof(end->wrong), "what cannot be approved was");
	/* his word is committed as any other */
	s->sent_back |= s->judging;
	s->judging = false;
	if (strcmp(h->state, "approved") == 0 && (strcmp(kind, "cut") == 0 || strcmp(kind, "protected") == 0)) {
		/* the verdict still counts */
		write_human(s, word(s, true));
		*again = finish(s, true, NULL);
		return false;
	}
	write_human(s, strcmp(h->state, "approved") == 0 ? "accepted" : "rejected");
	if (strcmp(h->state, "approved") != 0)
		return over(s, "failed", "rejected");
	/* what he accepts may still be refused by git, and go to a fixer */
	*again = finish(s, false, "approved");
	return false;
}

static const struct ref_attempt *next(struct story *s, const char *role, int round);

/* The set-up commands. false: the story ends or waits here. */
static bool set_up(struct story *s, bool *fails)
{
	*fails = false;
	for (int n = 0; n < s->run->setups && !*fails; n++) {
		const struct ref_attempt *a = next(s, "setup", 0);

		if (a == NULL)
			return false;
		*fails = a->failed;
	}
	return true;
}

/* A new work tree or room is set up, unless one that was prepared on the base can be cloned.
 * Without one, a room of the base comes first. A human is asked when a set-up fails, and then all
 * of it begins again; not on the base. false: the story ends or waits here. */
static bool prepare(struct story *s, bool room)
{
	bool base = false, tried = false, fails, again;
	int64_t how;

	if (!s->run->prepares)
		return true;
	for (;;) {
		bool leaves = false;

		if (hear(s, "A", &how) == 0)
			return false;
		if (how == 2 && room && !tried) {
			base = tried = leaves = true;
		} else if (how != 1) {
			if (!set_up(s, &fails))
				return false;
			if (fails && !base && !hold(s, "setup", &again))
				return false;
			if (fails && !base)
				continue;
			if (!fails && s->run->setups > 0 && hear(s, "A", NULL) == 0)
				return false;
		}
		if (!base)
			return true;
		base = leaves;
		if (hear(s, "O", NULL) == 0)
			return false;
	}
}

/* The next attempt that counts; NULL: the story ends or waits here. */
static const struct ref_attempt *next(struct story *s, const char *role, int round)
{
	struct ref_end *end = s->end;
	bool again, cut = s->asked || s->answered;
	int tries = 0;

	for (int losses = 1 + (strcmp(role, "review") == 0 ? s->losses : 0);; losses++) {
		const struct ref_attempt *a;

		/* a reviewer that was lost may have worked in its checkout */
		if (strcmp(role, "review") == 0 && s->run->checkout && s->run->has_git &&
		    (hear(s, "O", NULL) == 0 || !prepare(s, true)))
			return NULL;
		if (end->used == s->run->count) {
			over(s, "working", NULL);
			return NULL;
		}
		a = &s->run->attempts[end->used++];
		if (strcmp(a->role, role) != 0 || a->round != round)
			snprintf(end->wrong, sizeof(end->wrong),
			    "attempt %d is %s of round %d, expected %s of round %d", end->used,
			    a->role, a->round, role, round);
		if (!a->ended)
			over(s, "working", NULL);
		if (end->wrong[0] != '\0' || !a->ended)
			return NULL;
		if (a->forgone) {
			over(s, "failed", "limit");
			return NULL;
		}
		/* nothing of it ran */
		if (!a->lost && a->unserved == 'h') {
			losses--;
			continue;
		}
		/* a service that does not serve uses nothing; what may be tried
		 * again, so often only */
		if (!a->lost && (a->unserved == 'c' || (a->unserved == 't' && tries++ < s->run->retries))) {
			cut = true;
			losses--;
			continue;
		}
		/* one that took up what was cut off is done again without */
		if (!a->lost && cut && a->anew && a->unserved == 0) {
			losses--;
			continue;
		}
		if (!a->lost)
			return a;
		cut = true;
		if (s->run->on_lost == 'f') {
			over(s, "failed", "lost");
			return NULL;
		}
		/* three in a row are enough; the one that a human asks to do again counts as one */
		if (s->run->on_lost == 'h' || a->astray || losses == 3) {
			if (!hold(s, "lost", &again))
				return NULL;
			losses = 1;
		}
	}
}

/* Somebody worked, and does not stop there, but asks. */
static bool asks(const struct story *s, const struct ref_attempt *a)
{
	bool stop = s->run->markers && !s->run->reviewer && a->stop;

	return s->run->questions && a->asks && !a->failed && !stop && (s->run->has_task || s->run->reviewer);
}

/* A human is asked, and what there is so far is kept. false: *again is what is to be returned. */
static bool answer(struct story *s, const struct ref_attempt *a, const char **told, bool *again)
{
	s->answer = a->answer;
	*again = false;
	if (s->run->has_git) {
		if (hear(s, "TYR", &s->tree) == 0)
			return false;
		s->unmeasured = false;
		if (strcmp(a->role, "fix") == 0)
			s->seen_tree = s->tree;
	}
	if (!hold(s, "question", again))
		return false;
	s->answered = s->run->holds[s->end->nholds - 1].answered;
	if (!s->answered && !s->run->holds[s->end->nholds - 1].silent)
		*told = "human";
	return true;
}

/* The next that counts and has no question. NULL: *again is what is to be returned. */
static const struct ref_attempt *work(struct story *s, const char *role, int round, const char **told, bool *again)
{
	const struct ref_attempt *a = next(s, role, round);

	*again = false;
	while (a != NULL && asks(s, a)) {
		s->disputed |= a->disputes && s->last_same;
		if (!answer(s, a, told, again)) {
			s->answered = false;
			return NULL;
		}
		a = next(s, role, round);
		s->answered = false;
	}
	return a;
}

/* Somebody worked. false: without success, or for nothing. */
static bool take_work(struct story *s, const struct ref_attempt *a)
{
	bool stop = s->run->markers && !s->run->reviewer && a->stop, fixer = strcmp(a->role, "fix") == 0;

	if (!s->run->has_task && !s->run->reviewer)
		stop = true;
	if (a->out_of_time)
		return over(s, "failed", "limit");
	if (a->failed)
		return over(s, "failed", "process");
	if (a->denied && !s->run->has_git && (!stop || fixer))
		return over(s, "failed", "denied");
	if (stop) {
		s->end->stopped = s->run->markers && a->stop;
		return over(s, "released", NULL);
	}
	s->answer = a->answer;
	s->denied = a->denied;
	s->silent = !fixer && !a->says_no_change;
	return true;
}

/* The next attempt on record is one of the current fix round. */
static bool fixes_next(const struct story *s)
{
	int next = s->end->used;

	return next < s->run->count && strcmp(s->run->attempts[next].role, "fix") == 0 &&
	    s->run->attempts[next].round == s->end->fixes;
}

/* One fix round. told: whose word it is about. */
static bool fix(struct story *s, int fixers, const char *told)
{
	s->end->fixes++;
	s->fixes_left--;
	s->sent_back |= s->judging;
	s->judging = false;
	for (int i = 0, skipped = 0; i < fixers; i++) {
		const struct ref_attempt *a;
		bool again;

		/* nobody is paid for what was dismissed meanwhile */
		if (i > 0 && skipped < s->said.gone && !fixes_next(s)) {
			skipped++;
			continue;
		}
		a = work(s, "fix", s->end->fixes, &told, &again);
		if (a == NULL && again)
			return true;
		if (a != NULL && a->told != NULL && strcmp(a->told, told) != 0)
			snprintf(s->end->wrong, sizeof(s->end->wrong),
			    "fix attempt %d was told the %s's word, expected the %s's",
			    s->end->used, a->told, told);
		if (a == NULL || !take_work(s, a))
			return false;
		s->disputed |= a->disputes && s->last_same;
	}
	return true;
}

/* A human is asked what to do with it. true: it has been fixed, and all of it begins again. */
static bool ask(struct story *s, const char *kind)
{
	bool again;

	if (!hold(s, kind, &again))
		return again;
	/* no reviewer has found anything: without a word it is judged once more */
	if (s->run->holds[s->end->nholds - 1].silent &&
	    (strcmp(kind, "violation") == 0 || strcmp(kind, "reviewer-error") == 0)) {
		s->stalled = s->hook_changes = 0;
		s->seen_tree = s->base;
		s->denied = false;
		return true;
	}
	s->fixes_left = s->run->max_fixes > 0 ? s->run->max_fixes : 1;
	return fix(s, 1, "human");
}

/* Git has something against the result. */
static bool send_back(struct story *s, const char *kind, char how)
{
	s->end->passed = false;
	s->conflicts += how == 'X';
	if (s->run->any_round)
		object(s, s->seen_tree, how, s->conflicts, s->obstacle, false);
	else
		s->stalled = s->obstacle ? s->stalled + 1 : 0;
	s->obstacle = true;
	if (in_vain(s))
		return ask(s, kind);
	return s->fixes_left > 0 ? fix(s, 1, "git") : ask(s, kind);
}

static bool check(struct story *s, bool *fixed);

/* The next word is of a merge, or of one that failed: it was carried along with another, or is
 * merged once more. */
static bool is_merged_next(const struct story *s)
{
	char next = s->end->heard < s->run->nanswers ? s->run->answers[s->end->heard].what : 0;

	return s->run->train && next != 0 &&
	    (strchr("MXBG", next) != NULL || (next == 'F' && s->end->used == s->run->count));
}

/* Merged, or the story ends or waits here: false; true: it was sent back, and has been fixed, or is
 * to be reviewed once more. *done: merged. */
static bool merge(struct story *s, bool *done)
{
	bool fixed = false;
	int64_t value;
	char how;

	*done = false;
	for (;;) {
		how = hear(s, "MXBG", &value);
		if (how == 0)
			return false;
		s->tree = how == 'M' || how == 'G' ? value : value >> 32;
		if (how == 'M' || how == 'G')
			break;
		/* the work is on the tip of the branch now */
		s->base = value & 0xffffffff;
		memset(s->base_said, 0, sizeof(s->base_said));
		s->seen_tree = s->tree;
		if (how == 'X') {
			s->judging = false;
			s->sent_back = s->run->judges_merges;
			return send_back(s, "conflict", how);
		}
		if (!s->run->judges_merges)
			snprintf(s->end->wrong, sizeof(s->end->wrong), "a merge was held back for no word");
		s->judging = true;
		s->sent_back = false;
		if (s->run->review_merged) {
			s->end->passed = false;
			return true;
		}
		if (!is_merged_next(s) && !check(s, &fixed))
			return false;
		if (fixed)
			return true;
	}
	s->judging = s->sent_back = false;
	s->end->committed = s->end->merged = *done = true;
	return false;
}

/* What is passed or accepted is committed, merged and pinned. true: it was sent back
 * and has been fixed. */
static bool finish(struct story *s, bool passed, const char *kind)
{
	const struct ref_slot *run = s->run;
	const struct ref_attempt *a;
	bool later = run->whole_run && run->review && !run->reviewer;
	char how;

	bool done, again;

	s->end->passed = passed;
	if (kind != NULL) {
		s->sent_back |= s->judging;
		s->judging = false;
	}
	if (s->judging) {
		again = merge(s, &done);
		if (!done)
			return again;
	} else if (s->committed && run->merge) {
		s->committed = false;
		again = merge(s, &done);
		if (!done)
			return again;
	} else if (run->commit != 'n' && run->has_git) {
		/* what was accepted is looked at once more */
		if (kind != NULL) {
			how = hear(s, "TY", &s->seen_tree);
			if (how == 'Y')
				return send_back(s, "conflict", how);
			if (how == 0)
				return false;
		}
		/* a branch of results may have what is not all */
		if (run->partial && !run->merge)
			return over(s, "failed", "partial");
		if (run->commit == 'g') {
			a = next(s, "commit", 0);
			if (a == NULL)
				return false;
			if (a->failed)
				return over(s, "failed", a->out_of_time ? "limit" : "process");
		}
		how = hear(s, "CNRYH", NULL);
		if (how == 'H') {
			s->end->passed = false;
			/* what the hook made of it is judged once; then a human is asked */
			if (s->hook_changes++ == 0)
				return true;
			s->obstacle = true;
			return ask(s, "commit-refused");
		}
		if (how == 'Y')
			return send_back(s, "conflict", how);
		if (how == 'R')
			return send_back(s, "commit-refused", how);
		if (how == 0)
			return false;
		/* what the hooks had against it is over, whatever the merge has against it now */
		s->obstacle = false;
		s->end->committed |= how == 'C' && (!run->merge || run->reviewer);
		if (run->partial)
			return over(s, "failed", "partial");
		if (run->merge && !run->reviewer) {
			again = merge(s, &done);
			if (!done)
				return again;
		}
	}
	/* what a human has accepted waits for no review, unless it is merged with the rest */
	if (later && (kind == NULL || run->merge))
		return over(s, "implemented", NULL);
	if (passed && run->has_git) {
		how = hear(s, "PV", NULL);
		if (how == 0)
			return false;
		if (how == 'V') {
			s->end->passed = false;
			s->obstacle = true;
			return ask(s, "ref-moved");
		}
		s->end->pinned = true;
	}
	return over(s, "passed", kind);
}

/* How many findings of the last review somebody has to settle. */
static int open_findings(const struct story *s)
{
	return (s->said.same && !s->said.same_dismissed) + s->said.fresh;
}

/* Work that a human has to look at; before it was measured, whatever it is. */
static bool touched(const struct story *s)
{
	return s->run->protects && (s->unmeasured || (s->tree != s->base && s->tree % 3 == 0));
}

/* A bad end: what the policy makes of it. known: how many findings stay. true: it was sent back,
 * and has been fixed. */
static bool bad_end(struct story *s, char policy, const char *hold_kind, int known, const char *kind)
{
	if (policy != 'f' && touched(s))
		return ask(s, hold_kind);
	switch (policy) {
	case 'f':
		return over(s, "failed", kind);
	case 'a':
		return finish(s, false, "waived");
	case 'k':
		s->end->known += known;
		s->end->known_less += s->said.gone;
		return finish(s, false, "known-issues");
	default:
		return ask(s, hold_kind);
	}
}

/* The next attempt on record that is no set-up; NULL: there is none. */
static const struct ref_attempt *next_work(const struct story *s)
{
	int next = s->end->used;

	while (next < s->run->count && strcmp(s->run->attempts[next].role, "setup") == 0)
		next++;
	return next < s->run->count ? &s->run->attempts[next] : NULL;
}

/* It was started after the panel had voted in this round, so it is of what came of that. */
static bool is_after_votes(const struct story *s, const struct ref_attempt *a)
{
	for (int v = 0; v < s->run->nvoters; v++)
		for (int i = 0; i < s->run->voters[v].count; i++)
			if (s->run->voters[v].attempts[i].round == s->round)
				return s->run->voters[v].attempts[i].id < a->id;
	return false;
}

/* The record says that this check need not run again on what there is, and it has not. */
static bool is_known(const struct story *s, int64_t tree, int check, bool base)
{
	const struct ref_attempt *a = next_work(s);
	bool known = false;

	for (int i = 0; i < s->run->nreused; i++)
		known |= s->run->reused[i].tree == tree && s->run->reused[i].check == check &&
		    (s->run->reused[i].green || base);
	return known && s->run->measure_first &&
	    (a == NULL || a->check != check || a->round != s->round || is_after_votes(s, a));
}

/* One that fails is run once more, since one failure may be chance; with those before it that have
 * not run in its room. */
struct checks {
	int n;				/* the current one, from 0 */
	int red;			/* the one that has failed, -1: none */
	bool gap;			/* some before it have not run in the room */
};

/* The check has failed. Whether it was the second time; else the loop continues with c->n. */
static bool is_red(struct checks *c)
{
	if (c->red == c->n)
		return true;
	c->red = c->n;
	c->n = c->gap ? -1 : c->n - 1;
	c->gap = false;
	return false;
}

static bool is_skipped(const struct story *s, struct checks *c, int64_t tree, bool base)
{
	/* a red one runs again, and those before it for it */
	if (c->red >= c->n || !is_known(s, tree, c->n + 1, base))
		return false;
	c->gap = true;
	return true;
}

/* The checks on the base: before the work as long as they are green, after it those up to the one
 * that has failed. false: the story ends or waits here. */
static bool check_base(struct story *s, int checks, bool before, bool *red)
{
	int round = s->run->measure_first ? s->round : s->round + 1;

	bool laid = !s->run->measure_first;
	struct checks c = { .red = -1 };
	int reds[sizeof(s->base_said)] = { 0 };

	*red = false;
	for (c.n = 0; c.n < checks && !(before && *red); c.n++) {
		const struct ref_attempt *a;

		if (c.red < c.n && !before && s->base_said[c.n + 1] != 0) {
			c.gap = true;
			continue;
		}
		if (is_skipped(s, &c, s->base, !before))
			continue;
		if (!laid && (hear(s, "O", NULL) == 0 || !prepare(s, true)))
			return false;
		laid = true;
		a = next(s, "check", round);
		if (a == NULL)
			return false;
		if (a->not_started)
			return over(s, "failed", "not-started");
		/* twice is enough, whatever has run between */
		if (a->failed && ++reds[c.n] == 2)
			s->base_said[c.n + 1] = 'r';
		if (a->failed && !is_red(&c))
			continue;
		*red = a->failed;
		c.red = c.red == c.n ? -1 : c.red;
		s->base_said[c.n + 1] = *red ? 'r' : 'g';
	}
	return true;
}

/* Check n, which is red on the base, may run in the user's directory, where no agent works. false:
 * the story ends or waits here, perhaps since it is green there. */
static bool compare(struct story *s, int n)
{
	int round = s->run->measure_first ? s->round : s->round + 1;
	const struct ref_attempt *a = next_work(s);

	if (!s->run->measure_first || a == NULL || strcmp(a->role, "check") != 0 || a->check != n || a->round != round)
		return true;
	a = next(s, "check", round);
	if (a == NULL)
		return false;
	if (a->not_started)
		return over(s, "failed", "not-started");
	return a->failed || over(s, "failed", "base");
}

/* All checks run once on the base, whatever they come to there. */
static void tell_baseline(struct story *s)
{
	const struct ref_attempt *a = NULL;
	struct checks c = { .red = -1 };

	if (hear(s, "O", NULL) == 0 || !prepare(s, true))
		return;
	for (c.n = 0; c.n < s->run->checks; c.n++) {
		if (is_skipped(s, &c, s->base, true))
			continue;
		a = next(s, "check", 0);
		if (a == NULL)
			return;
		if (a->not_started) {
			over(s, "failed", "not-started");
			return;
		}
		if (a->failed && !is_red(&c))
			continue;
		c.red = c.red == c.n ? -1 : c.red;
		if (a->failed && !compare(s, c.n + 1))
			return;
	}
	over(s, "passed", NULL);
}

/* What follows is that check n runs on the base. */
static bool is_asked_next(const struct story *s, int n)
{
	const struct ref_attempt *a = next_work(s);

	return a != NULL && strcmp(a->role, "check") == 0 && a->round == s->round && a->check <= n &&
	    s->end->heard < s->run->nanswers && s->run->answers[s->end->heard].what == 'O';
}

/* The base has the tree of the work, on which a check has just failed. But the baseline runs it
 * there at the same time, and may have seen it pass: then it is asked once more. */
static bool is_doubted(const struct story *s, int n)
{
	return s->tree == s->base && is_asked_next(s, n);
}

/* Check n, which has failed on the work, counts. The base is asked first, if that matters and it is
 * not known; *asked: its room is gone. false: the story ends or waits here. */
static bool counts(struct story *s, int n, bool *asked, bool *counts)
{
	const struct ref_slot *run = s->run;
	bool ours = s->base_said[n] != 0, red = s->base_said[n] == 'r', others = false;
	/* what a retry continues may ask before the baseline begins, and gives up */
	bool unsaid = run->base_unsaid && s->base == run->run_base && !is_asked_next(s, n);

	*asked = false;
	*counts = true;
	if (!run->base_later || !run->measure_first || (s->fixes_left <= 0 && !run->only_new))
		return true;
	for (int i = 0; i < run->nreused && !ours && s->tree != s->base; i++) {
		if (run->reused[i].tree != s->base || run->reused[i].check != n)
			continue;
		others = true;
		red = run->reused[i].red;
	}
	/* otherwise it was known only later */
	if (others && s->end->used < run->count) {
		const struct ref_attempt *a = next_work(s);

		others = a == NULL || strcmp(a->role, "check") != 0 || a->round != s->round || a->check > n;
		/* ... and it was not asked again */
		if (unsaid && a != NULL && strcmp(a->role, "fix") == 0 && a->round == s->round)
			others = false;
	}
	if (s->tree == s->base && !is_doubted(s, n)) {
		red = true;
	} else if (!ours && !others && !unsaid) {
		*asked = true;
		if (!check_base(s, n, false, &red))
			return false;
		red = s->base_said[n] == 'r';
		if (red && !compare(s, n))
			return false;
	}
	*counts = !run->only_new || !red;
	return true;
}

/* Checks before a review. false: the story ends or waits here; *fixed: one has failed, and it has
 * been fixed. */
static bool check(struct story *s, bool *fixed)
{
	bool laid = !s->run->measure_first;
	struct checks c = { .red = -1 };

	*fixed = s->laid = false;
	for (c.n = 0; c.n < s->run->checks; c.n++) {
		const struct ref_attempt *a;
		bool asked, is_new;

		if (is_skipped(s, &c, s->tree, false))
			continue;
		if (!laid && (hear(s, "O", NULL) == 0 || !prepare(s, true)))
			return false;
		laid = s->laid = true;
		a = next(s, "check", s->run->measure_first ? s->round : s->round + 1);
		if (a == NULL)
			return false;
		if (a->not_started)
			return over(s, "failed", "not-started");
		if (!a->failed) {
			c.red = c.red == c.n ? -1 : c.red;
			continue;
		}
		if (!is_red(&c))
			continue;
		c.red = -1;
		asked = false;
		is_new = true;
		if (s->judging && s->run->train) {
			if (is_merged_next(s))
				return true;
			if (s->run->suspected && s->end->used == s->run->count && s->end->heard == s->run->nanswers)
				return over(s, "working", NULL);
		} else if (!counts(s, c.n + 1, &asked, &is_new)) {
			return false;
		}
		laid &= !asked;
		c.gap |= asked;
		if (!is_new)
			continue;
		/* the reviewer is not asked; all begins again with what the fixer made of it */
		*fixed = true;
		if (s->run->measure_first && (!s->judging || s->run->review_merged))
			s->round--;
		s->unmeasured = !s->run->measure_first;
		if (s->run->any_round)
			object(s, s->run->measure_first ? s->tree : -1, 'C', (int64_t)(c.n + 1) * 1000000 + a->answer,
			    false, false);
		if ((s->judging || s->sent_back) && (s->fixes_left <= 0 || (s->run->any_round && in_vain(s)))) {
			s->judging = false;
			s->sent_back = true;
			return ask(s, "conflict");
		}
		if (s->fixes_left > 0 && s->run->any_round && in_vain(s))
			return bad_end(s, s->run->on_exhausted, "stalled", open_findings(s) + 1, "stalled");
		return s->fixes_left > 0 ? fix(s, 1, "check") :
		    bad_end(s, s->run->on_exhausted, "exhausted", open_findings(s) + 1, "check");
	}
	return true;
}

/* No verdict: nothing is known to be settled, nothing is known to be open. */
static bool no_verdict(struct story *s, char policy, const char *hold_kind, const char *decision, const char *kind)
{
	write_review(s, decision);
	s->said = (struct said){ 0 };
	s->stalled = 0;
	s->obstacle = false;
	return bad_end(s, policy, hold_kind, 1, kind);
}

/* The row of a verdict, which is compared with what the review before said. */
static const struct ref_review *write_verdict(struct story *s, const struct ref_attempt *a)
{
	struct ref_review *row = write_review(s, word(s, a->verdict == 'p'));
	bool was_same = s->said.same && !s->said.same_dismissed;
	struct said now = { .suggestion = a->suggestion, .gone = a->gone };

	if (a->verdict == 'f') {
		now.same = a->same;
		now.fresh = a->fresh;
		now.fresh_gone = a->fresh_gone;
		now.same_dismissed = a->same && a->same_dismissed;
	}
	row->repeated = (now.same && !now.same_dismissed && was_same) + (now.suggestion && s->said.suggestion);
	row->new = (now.same && !now.same_dismissed) + now.suggestion + now.fresh - row->repeated;
	/* what is gone was settled, unless a user had said that it need not be */
	row->dismissed = now.same_dismissed + (was_same && !now.same && a->same_dismissed) + s->said.fresh_gone;
	row->resolved = (was_same && !now.same && !a->same_dismissed && !a->outvoted_same) +
	    (s->said.suggestion && !now.suggestion && !a->outvoted_suggestion) +
	    s->said.fresh - s->said.fresh_gone;
	s->said = now;
	return row;
}

/* Nothing was done, and nobody says that this is right. */
static bool idle(const struct story *s)
{
	return s->run->has_git && s->silent && s->tree == s->seen_tree && s->hook_changes == 0 && !s->judging;
}

/* The work as it is now, and in *how what git says of it: T, or Y or R when it cannot be committed.
 * false: nothing was done, since it was refused a permission, or was to be done. checks: they have
 * the first word about what was not done. */
static bool look(struct story *s, char *how, bool checks)
{
	*how = 'T';
	if (!s->run->has_git)
		return true;
	*how = hear(s, "TYR", &s->tree);
	s->unmeasured = false;
	if (*how == 0)
		return false;
	if (s->denied && s->tree == s->seen_tree && s->hook_changes == 0 && !s->judging)
		return over(s, "failed", "denied");
	if (idle(s) && s->run->on_no_change == 'f' && !checks)
		return over(s, "failed", "no-change");
	return true;
}

/* What a reviewer says. NULL: nothing that counts, and *again is what review() returns. asks:
 * whoever cannot be understood is asked once what he means, and goes on with what he has begun. */
static const struct ref_attempt *judge(struct story *s, bool asks, bool *again)
{
	const struct ref_slot *run = s->run;
	const struct ref_attempt *a = next(s, "review", s->round);
	char policy = run->on_malformed == '?' ? run->malformed_again : run->on_malformed;

	*again = false;
	if (a == NULL)
		return NULL;
	if (a->failed) {
		*again = no_verdict(s, run->on_reviewer_error, "reviewer-error", "error",
		    a->out_of_time ? "limit" : "process");
		return NULL;
	}
	/* nothing follows that; it may be about what the reviewer said when he was asked */
	if (s->end->used == run->count && s->end->heard < run->nanswers &&
	    run->answers[s->end->heard].what == 'f') {
		s->end->heard++;
		over(s, "failed", "git");
		return NULL;
	}
	if (a->verdict == 'u') {
		*again = no_verdict(s, run->on_reviewer_error, "reviewer-error", "error", "error");
		return NULL;
	}
	if (a->changed && run->has_git && strcmp(run->profile, "exit") != 0) {
		*again = no_verdict(s, policy, "violation", "violation", "violation");
		return NULL;
	}
	if (a->verdict != 'm')
		return a;
	if (!asks) {
		*again = no_verdict(s, policy, "violation", "violation", "violation");
		return NULL;
	}
	s->asked = true;
	a = judge(s, false, again);
	s->asked = false;
	return a;
}

/* ---- a panel ---- */

/* What one reviewer comes to: 'p'ass, 'f'indings, 'v'iolation, 'e'rror; 'H'eld or 'F'ailed, there
 * is no vote; 'w'orking. *kind: of the cause, or of the hold. */
static char vote(struct story *s, int n, const char **kind)
{
	struct ref_slot run = *s->run;
	struct ref_end end = { .state = "working", .used = s->voters[n].used, .heard = s->voters[n].heard };
	struct story voter = { .run = &run, .end = &end, .round = s->round, .base = s->base, .tree = s->tree,
	    .losses = s->voters[n].lost == s->round && s->round > 0 };
	const struct ref_attempt *a;
	bool asks = run.on_malformed == '?';
	char said = 0;

	run.voter = true;
	run.attempts = s->run->voters[n].attempts;
	run.count = s->run->voters[n].count;
	run.answers = s->run->voters[n].answers;
	run.nanswers = s->run->voters[n].nanswers;
	while (said == 0) {
		a = next(&voter, "review", s->round);
		if (end.wrong[0] != '\0')
			memcpy(s->end->wrong, end.wrong, sizeof(end.wrong));
		*kind = a != NULL && a->failed ? a->out_of_time ? "limit" : "process" : "error";
		if (a == NULL && strcmp(end.state, "working") == 0 && (end.waits == 0 || !s->run->voters[n].killed)) {
			said = 'w';
		} else if (a == NULL && strcmp(end.state, "working") == 0) {
			*kind = "git";
			said = 'F';
		} else if (a == NULL) {
			*kind = end.kind;
			said = strcmp(end.state, "held") == 0 ? 'H' : 'F';
		} else if (a->failed) {
			said = 'e';
		} else if (end.used == run.count && end.heard < run.nanswers && run.answers[end.heard].what == 'f') {
			end.heard++;
			*kind = "git";
			said = 'F';
		} else if (a->verdict == 'u') {
			said = 'e';
		} else if ((a->changed && run.has_git) || (a->verdict == 'm' && !asks)) {
			said = 'v';
		} else if (a->verdict == 'm') {
			asks = false;
			voter.asked = true;
			voter.losses = 0;
		} else {
			said = a->verdict;
			s->voters[n].said = *a;
		}
	}
	s->votes += end.used - s->voters[n].used;
	s->voters[n].used = end.used;
	s->voters[n].heard = end.heard;
	s->voters[n].lost = said == 'H' && strcmp(*kind, "lost") == 0 && end.used > 0 &&
	    strcmp(run.attempts[end.used - 1].role, "review") == 0 ? s->round : 0;
	return said;
}

/* The stricter what follows from it, the higher; 0: it is a verdict. */
static int strictness(const struct story *s, char said)
{
	char malformed = s->run->on_malformed == '?' ? s->run->malformed_again : s->run->on_malformed;
	char policy = said == 'v' ? malformed : said == 'e' ? s->run->on_reviewer_error : said == 'H' ? 'h' :
	    said == 'F' ? 'f' : 0;

	return policy == 'f' ? 3 : policy == 'h' ? 2 : policy != 0 ? 1 : 0;
}

/* All that they have found, as one review. */
static void merge_said(struct story *s, struct ref_attempt *all)
{
	int passes = 0;
	bool dissent_same = false, dissent_suggests = false;

	for (int n = 0; n < s->run->nvoters; n++)
		passes += s->voters[n].verdict == 'p';
	*all = (struct ref_attempt){ .verdict = passes >= s->run->quorum ? 'p' : 'f' };
	for (int n = 0; n < s->run->nvoters; n++) {
		const struct ref_attempt *a = &s->voters[n].said;
		bool verdict = s->voters[n].verdict == 'p' || s->voters[n].verdict == 'f';
		bool counts = all->verdict == 'f' || a->verdict == 'p';

		if (!verdict)
			continue;
		all->cut |= a->cut && a->verdict == all->verdict;
		all->suggestion |= a->suggestion && counts;
		dissent_suggests |= a->suggestion && !counts;
		dissent_same |= a->same && a->verdict == 'f' && !counts;
		if (a->verdict == 'f' && counts) {
			all->same |= a->same;
			all->fresh += a->fresh;
		}
	}
	all->outvoted_same = dissent_same;
	all->outvoted_suggestion = dissent_suggests && !all->suggestion;
}

/* One of them was asked: what fails later is not the room before that. */
static bool is_asked(const struct story *s)
{
	for (int n = 0; n < s->run->nvoters; n++)
		if (s->voters[n].used < s->run->voters[n].count)
			return true;
	return false;
}

/* The room for the checks was begun, and then another run knew what they say. false: the story ends
 * or waits here. */
static bool leave_room(struct story *s)
{
	const struct ref_slot *run = s->run;

	return s->laid || run->checks == 0 || !run->measure_first || s->end->heard == run->nanswers ||
	    strchr(is_asked(s) ? "O" : "OF", run->answers[s->end->heard].what) == NULL || hear(s, "O", NULL) != 0;
}

/* What a panel says. As judge(). */
static const struct ref_attempt *judge_together(struct story *s, struct ref_attempt *all, bool *again)
{
	char malformed = s->run->on_malformed == '?' ? s->run->malformed_again : s->run->on_malformed;
	int passes, waived;

	*again = false;
	if (!leave_room(s))
		return NULL;
	for (;;) {
		char worst = 0;
		const char *worst_kind = NULL;
		bool waits = false;

		passes = waived = 0;
		for (int n = 0; n < s->run->nvoters; n++) {
			const char *kind = s->voters[n].kind;
			char said = s->voters[n].verdict;

			/* his word on this very work still counts, as does what is no verdict until
			 * there is a decision */
			if (said == 0 || s->voters[n].tree != s->tree)
				said = vote(s, n, &kind);
			waits |= said == 'w';
			s->voters[n].verdict = strchr("pfev", said) != NULL ? said : 0;
			s->voters[n].kind = kind;
			s->voters[n].tree = s->tree;
			passes += said == 'p';
			waived += strictness(s, said) == 1;
			if (strictness(s, said) > strictness(s, worst)) {
				worst = said;
				worst_kind = kind;
			}
		}
		if (s->end->wrong[0] != '\0')
			return NULL;
		if (waits) {
			over(s, "working", NULL);
			return NULL;
		}
		if (worst == 'F') {
			over(s, "failed", worst_kind);
			return NULL;
		}
		/* what a policy accepts is no reason to forget what the others have found */
		if (strictness(s, worst) == 1 && passes + waived < s->run->quorum)
			break;
		if (worst == 'e' || worst == 'v') {
			for (int n = 0; n < s->run->nvoters; n++)
				if (strchr("ev", s->voters[n].verdict) != NULL)
					s->voters[n].verdict = 0;
			*again = no_verdict(s, worst == 'e' ? s->run->on_reviewer_error : malformed,
			    worst == 'e' ? "reviewer-error" : "violation", worst == 'e' ? "error" : "violation",
			    worst == 'e' ? worst_kind : "violation");
			return NULL;
		}
		if (worst == 0)
			break;
		if (!hold(s, worst_kind, again))
			return NULL;
	}
	merge_said(s, all);
	for (int n = 0; n < s->run->nvoters; n++)
		s->voters[n].verdict = 0;
	return all;
}

/* One review, and the fix that follows it. true: another round. */
static bool review(struct story *s)
{
	const struct ref_slot *run = s->run;
	const struct ref_attempt *a;
	const struct ref_review *row;
	struct ref_attempt all;
	bool unchanged, nothing, fixed, again, told, after = run->measure_first && run->checks > 0;
	char how;

	if (!run->measure_first) {
		if (!check(s, &fixed))
			return false;
		if (fixed)
			return true;
	}
	if (!look(s, &how, after))
		return false;
	/* nobody is paid for a review of what cannot be committed */
	if (how != 'T') {
		s->seen_tree = s->tree;
		return send_back(s, how == 'Y' ? "conflict" : "commit-refused", how);
	}
	nothing = idle(s);
	s->seen_tree = s->tree;
	s->round++;
	if (after) {
		if (!check(s, &fixed))
			return false;
		if (fixed)
			return true;
		if (nothing && run->on_no_change == 'f')
			return over(s, "failed", "no-change");
	}
	if (nothing && run->on_no_change == 'p') {
		s->round--;
		return finish(s, false, NULL);
	}
	unchanged = s->round > 1 && run->has_git && s->tree == s->judged_tree && s->answer == s->judged_answer;
	s->judged_tree = s->tree;
	s->judged_answer = s->answer;
	a = run->nvoters > 0 ? judge_together(s, &all, &again) : judge(s, run->on_malformed == '?', &again);
	if (a == NULL)
		return again;
	told = s->disputed && !a->same_dismissed;
	row = write_verdict(s, a);
	s->last_same = s->said.same;
	s->disputed = false;
	if (a->verdict == 'p' && touched(s))
		return ask(s, "protected");
	if (a->verdict == 'p' && a->cut && run->on_cut)
		return ask(s, "cut");
	if (a->verdict == 'p')
		return finish(s, true, NULL);
	s->obstacle = false;
	/* users have dismissed all of it: that is a user's word, and no pass */
	if (s->said.same_dismissed && open_findings(s) == 0) {
		if (touched(s) || (a->cut && run->on_cut))
			return ask(s, "dismissed");
		write_human(s, "accepted");
		return finish(s, false, "approved");
	}
	if (run->any_round)
		object(s, s->tree, s->said.same && s->said.fresh == 0 ? 'S' : 'U',
		    s->said.same && s->said.fresh == 0 ? 0 : s->end->used + 1000 * s->votes, false, told);
	else
		s->stalled = unchanged || (s->round > 1 && row->repeated > 0 && row->new == 0) ? s->stalled + 1 : 0;
	if (s->fixes_left <= 0)
		return bad_end(s, run->on_exhausted, "exhausted", open_findings(s), "exhausted");
	if (in_vain(s))
		return bad_end(s, run->on_exhausted, "stalled", open_findings(s), "stalled");
	return fix(s, run->one_fixer_each ? open_findings(s) : 1, "review");
}

/* Nobody reviews it, at least not here. */
static bool unreviewed(struct story *s)
{
	const struct ref_slot *run = s->run;
	bool later = run->whole_run && run->review;
	char how;

	if (!look(s, &how, false))
		return false;
	if (how != 'T') {
		s->seen_tree = s->tree;
		return send_back(s, how == 'Y' ? "conflict" : "commit-refused", how);
	}
	if (later && !run->merge)
		return over(s, "implemented", NULL);
	s->seen_tree = s->tree;
	return finish(s, false, NULL);
}

/* The task is ours, or another, or none. */
static bool claim(struct story *s)
{
	char how;

	while ((how = hear(s, "Kk", NULL)) == 'k')
		if (s->end->heard == s->run->nanswers && !s->run->has_task)
			return over(s, "untasked", NULL);
	return how != 0;
}

static bool implement(struct story *s)
{
	const char *told = "";
	bool again;
	const struct ref_attempt *a = work(s, "implement", 0, &told, &again);

	return a != NULL ? take_work(s, a) : again;
}

/* The retry of work that asks a human, or has: whoever continues it has the answer. */
static bool ask_again(struct story *s)
{
	const char *told = "";
	const struct ref_attempt *a;
	bool again;

	if (hear(s, "TYR", &s->tree) == 0)
		return false;
	if (s->run->begins == 'q') {
		if (!hold(s, "question", &again))
			return again;
		s->answered = s->run->holds[s->end->nholds - 1].answered;
	}
	a = work(s, "implement", 0, &told, &again);
	s->answered = false;
	return a != NULL ? take_work(s, a) : again;
}

/* The retry of work that has passed: it is merged, and nobody is paid before that. */
static bool merge_again(struct story *s)
{
	if (hear(s, "T", &s->tree) == 0)
		return false;
	s->seen_tree = s->judged_tree = s->tree;
	s->judged_answer = s->answer;
	return finish(s, true, NULL);
}

static bool begin(struct story *s)
{
	if (s->run->begins == 0)
		return implement(s);
	s->round = s->run->begin_round;
	s->answer = s->run->begin_answer;
	s->committed = s->run->begin_committed;
	if (s->run->begins == 'i')
		return true;
	return s->run->begins == 'm' ? merge_again(s) : ask_again(s);
}

void reference_slot(const struct ref_slot *run, struct ref_end *end)
{
	struct story s = { .run = run, .end = end, .fixes_left = run->max_fixes,
	    .seen_tree = run->base, .answer = run->answer, .denied = run->denied };
	int64_t created = run->base;
	bool red;

	*end = (struct ref_end){ .state = "working" };
	if (run->baseline) {
		s.base = run->base;
		tell_baseline(&s);
		return;
	}
	if (run->claims && !run->reviewer && !claim(&s))
		return;
	if (run->worktree && (hear(&s, "W", &created) == 0 || !prepare(&s, false)))
		return;
	if (!run->reviewer)
		s.seen_tree = created;
	s.base = run->reviewer ? run->base : created;
	if (run->begins != 0)
		s.base = s.seen_tree = run->begin_base;
	if (run->base_first && !run->reviewer && run->begins == 0) {
		if (!check_base(&s, run->checks, true, &red))
			return;
		for (int n = 1; red && n <= run->checks; n++)
			if (s.base_said[n] == 'r' && !compare(&s, n))
				return;
		if (red) {
			over(&s, "failed", "base");
			return;
		}
	}
	if (!run->reviewer && !begin(&s))
		return;
	/* one review for the whole run is the work of slot 0 */
	if (run->review && (!run->whole_run || run->reviewer))
		while (review(&s))
			;
	else
		while (unreviewed(&s))
			;
}

/* The outer loop */

void reference_run(const struct ref_run *run, struct ref_run_end *end)
{
	int left = 0, open = 0, ready = 0, failed = 0, taken = 0;

	*end = (struct ref_run_end){ NULL, NULL };
	for (int i = 0; i < run->ntasks; i++) {
		char state = run->tasks[i].state;

		open += state == 'c' || state == 'o';
		left += state == 'c' || state == 'o' || state == 'r';
		ready += (state == 'c' || state == 'o') && run->tasks[i].ready;
		failed += state == 'f';
		taken += state == 't';
	}
	if (run->working)
		return;
	if (run->held || run->rework) {
		end->state = run->rework ? NULL : "held";
		return;
	}
	end->state = failed > 0 || run->failed ? "failed" : "succeeded";
	if (failed > 0 || run->failed)
		return;
	if (run->stopped) {
		end->kind = "stop-marker";
	} else if (run->idle && left > 0) {
		end->kind = "not-picked";
	} else if (ready > 0 && (run->spent || (run->iterations != -1 && run->iteration >= run->iterations))) {
		end->state = "failed";
		end->kind = "limit";
	} else if (ready > 0) {
		end->state = NULL;	/* they are to be done */
	} else if (open > 0 || taken > 0) {
		end->kind = "tasks-left";
	}
}
