/* SPDX-License-Identifier: MIT */
/* Layout of the live views: documents of the daemon in, lines of text out. Pure. */
#ifndef CLIENT_SCREEN_H
#define CLIENT_SCREEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/lines.h"
#include "client/run_view.h"

enum screen_tab { SCREEN_OUTPUT, SCREEN_REVIEW };

/* The user's choice. Zeroed: the first slot, its output. */
struct screen_choice {
	size_t slot;		/* index into run.slots */
	enum screen_tab tab;	/* for the block of that slot */
	bool in_review;		/* it is being reviewed or fixed, so its review is shown ... */
	enum screen_tab before;	/* ... and this afterwards */
};

/* After a new run.get: move off slots that are gone, show a review when it begins, and return to
 * the previous tab when it ends. */
void screen_follow(struct screen_choice *choice, const json_t *run);
/* slot: an index; ignored if there is no such slot. */
void screen_choose(struct screen_choice *choice, const json_t *run, size_t slot);
/* Switch between output and review; during a review only until its end. */
void screen_turn(struct screen_choice *choice);

/* The whole view of a run, exactly height lines (at least 1). */
void screen_run(struct lines *l, const struct view *view, const struct screen_choice *choice, size_t height);

/* The blocks of all slots in full, for rlctl show. */
void screen_slots(struct lines *l, const struct view *view);

/* The unfinished runs: from run.get, or run.list; exactly height lines. filter: what all of them
 * have, NULL: no filter. keys: the last line. */
void screen_list(struct lines *l, const json_t *runs, size_t chosen, const char *filter, const char *keys,
    int64_t now, size_t height);

#endif
