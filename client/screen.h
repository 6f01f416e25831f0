/* SPDX-License-Identifier: MIT */
/* What a live view shows: documents of the daemon in, lines of text out. Pure. */
#ifndef CLIENT_SCREEN_H
#define CLIENT_SCREEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/lines.h"

#define SCREEN_PREVIEW 3	/* lines of output in the block of a slot */

/* What is known of a run. All borrowed; but for run and now, anything may be missing. */
struct screen_run {
	const json_t *run;	/* run.get */
	const json_t *attempts;	/* attempt.list: the array */
	const json_t *previews;	/* id of an attempt, as text -> attempt.preview, with "events": lines seen so far */
	const json_t *reviews;	/* review.list of the chosen slot's task: the array */
	const char *last;	/* the newest event, as a line */
	int64_t now;
};

enum screen_tab { SCREEN_OUTPUT, SCREEN_REVIEW };

/* What a person has chosen. Zeroed: the first slot, its output. */
struct screen_choice {
	size_t slot;		/* index into run.slots */
	enum screen_tab tab;	/* of the block of that slot */
	bool in_review;		/* it is being reviewed or fixed: the review is shown ... */
	enum screen_tab before;	/* ... and afterwards this again */
};

/* After a new run.get: a slot that is gone is no choice, entering a review shows it, leaving restores what was shown. */
void screen_follow(struct screen_choice *choice, const json_t *run);
/* slot: an index; one that is not there changes nothing. */
void screen_choose(struct screen_choice *choice, const json_t *run, size_t slot);
/* Output or review, as the person says; for the review under way only when it is one. */
void screen_turn(struct screen_choice *choice);

/* The attempt that a slot is at, NULL when it is not among the attempts. */
const json_t *screen_attempt(const struct screen_run *s, const json_t *slot);

/* The whole view of a run, exactly height lines (from 1 on). */
void screen_run(struct lines *l, const struct screen_run *s, const struct screen_choice *choice, size_t height);

/* The blocks of all slots, each whole: rlctl show. */
void screen_slots(struct lines *l, const struct screen_run *s);

/* The unfinished runs: run.get's, or run.list's where there is no other; exactly height lines. */
void screen_list(struct lines *l, const json_t *runs, size_t chosen, int64_t now, size_t height);

#endif
