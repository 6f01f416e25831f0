/* SPDX-License-Identifier: MIT */
/* Documents about a run that is shown, and questions about its slots. Pure; everything is
 * borrowed. */
#ifndef CLIENT_RUN_VIEW_H
#define CLIENT_RUN_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEW_PREVIEW 3	/* output lines in the block of a slot */

/* Everything but run and now may be missing. */
struct view {
	const json_t *run;	/* run.get */
	const json_t *attempts;	/* attempt.list: the array */
	/* id of an attempt, as text -> attempt.preview, with "events": number of lines seen so
	 * far */
	const json_t *previews;
	const json_t *reviews;	/* review.list of the chosen slot's task: the array */
	const char *last;	/* newest event as a line */
	int64_t now;
	const char *keys;	/* what the last line offers; NULL: nothing */
};

/* The current attempt of a slot, and its output; NULL: none. */
const json_t *view_attempt(const struct view *view, const json_t *slot);
const json_t *view_preview(const struct view *view, const json_t *slot);

/* Whether the slot has passed, failed or been cancelled. */
bool view_is_over(const json_t *slot);

/* The task reviewed in a slot, "" if it has none yet. */
const char *view_reviewed(const json_t *slot);

#endif
