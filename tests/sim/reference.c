/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <stdio.h>
#include <string.h>

struct story {
	const struct ref_run *run;
	struct ref_end *end;
};

/* The next attempt that counts in this role; NULL: the story ends or waits here, end->state is set. */
static const struct ref_attempt *next(struct story *s, const char *role)
{
	for (int losses = 1;; losses++) {
		const struct ref_attempt *a;

		if (s->end->used == s->run->count) {
			s->end->state = "working";
			return NULL;
		}
		a = &s->run->attempts[s->end->used];
		if (strcmp(a->role, role) != 0) {
			snprintf(s->end->wrong, sizeof(s->end->wrong), "attempt %d is a %s, expected a %s", s->end->used + 1, a->role, role);
			return NULL;
		}
		s->end->used++;
		if (!a->ended) {
			s->end->state = "working";
			return NULL;
		}
		if (!a->lost)
			return a;
		if (s->run->on_lost == 'h' || (s->run->on_lost == 'r' && losses == 3)) {
			s->end->state = "held";
			return NULL;
		}
		if (s->run->on_lost == 'f') {
			s->end->state = "failed";
			return NULL;
		}
	}
}

static void decide(struct story *s, const char *decision)
{
	s->end->decisions[s->end->ndecisions++] = decision;
}

void reference(const struct ref_run *run, struct ref_end *end)
{
	struct story s = { run, end };
	const struct ref_attempt *a;
	char before = ' ';
	int stalled = 0;

	*end = (struct ref_end){ .state = "failed" };
	a = next(&s, "implement");
	if (a == NULL || a->failed)
		return;
	if (a->denied && (!run->has_git || !a->changed) && (run->has_git || !run->review))
		return;
	if (!run->review) {
		end->state = "succeeded";
		return;
	}
	for (int fixes = 0;; fixes++) {
		a = next(&s, "review");
		if (a == NULL)
			return;
		if (a->failed) {
			decide(&s, "error");
			return;
		}
		if (a->changed || a->verdict == 'm') {
			decide(&s, "violation");
			return;
		}
		if (a->verdict == 'p') {
			decide(&s, "pass");
			end->state = "succeeded";
			return;
		}
		decide(&s, "drift");
		stalled = a->verdict == 's' && before == 's' ? stalled + 1 : 0;
		before = a->verdict;
		if (fixes == run->max_fixes || (run->stall_limit > 0 && stalled >= run->stall_limit))
			return;
		a = next(&s, "fix");
		if (a == NULL || a->failed)
			return;
		if (a->denied && !a->changed)
			return;
	}
}
