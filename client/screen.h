/* SPDX-License-Identifier: MIT */
/* What a live view shows: documents of the daemon in, lines of text out. Pure. */
#ifndef CLIENT_SCREEN_H
#define CLIENT_SCREEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/lines.h"
#include "client/run_view.h"

enum screen_tab { SCREEN_OUTPUT, SCREEN_REVIEW };

/* What a person has chosen. Zeroed: the first slot, its output. */
struct screen_choice {
	size_t slot;		/* index into run.slots */
	enum screen_tab tab;	/* of the block of that slot */
	bool in_review;		/* it is being reviewed or fixed: the review is shown ... */
	enum screen_tab before;	/* ... and afterwards this again */
};

/* After a new run.get: a slot that is gone is no choice, entering a review shows it, leaving
 * restores what was shown. */
void screen_follow(struct screen_choice *choice, const json_t *run);
/* slot: an index; one that is not there changes nothing. */
void screen_choose(struct screen_choice *choice, const json_t *run, size_t slot);
/* Output or review, as the person says; for the review under way only when it is one. */
void screen_turn(struct screen_choice *choice);

/* The whole view of a run, exactly height lines (from 1 on). */
void screen_run(struct lines *l, const struct view *view, const struct screen_choice *choice, size_t height);

/* The blocks of all slots, each whole: rlctl show. */
void screen_slots(struct lines *l, const struct view *view);

/* The unfinished runs: run.get's, or run.list's where there is no other; exactly height lines. */
void screen_list(struct lines *l, const json_t *runs, size_t chosen, int64_t now, size_t height);

#endif
