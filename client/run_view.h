/* SPDX-License-Identifier: MIT */
/* What is known of a run that is looked at: documents of the daemon, and questions about its slots.
 * Pure; all is borrowed. */
#ifndef CLIENT_RUN_VIEW_H
#define CLIENT_RUN_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEW_PREVIEW 3	/* lines of output in the block of a slot */

/* But for run and now, anything may be missing. */
struct view {
	const json_t *run;	/* run.get */
	const json_t *attempts;	/* attempt.list: the array */
	const json_t *previews;	/* id of an attempt, as text -> attempt.preview, with "events":
				 * lines seen so far */
	const json_t *reviews;	/* review.list of the chosen slot's task: the array */
	const char *last;	/* the newest event, as a line */
	int64_t now;
};

/* The attempt that a slot is at, and what is known of its output; NULL: nothing. */
const json_t *view_attempt(const struct view *view, const json_t *slot);
const json_t *view_preview(const struct view *view, const json_t *slot);

/* The slot has passed, failed or been cancelled. */
bool view_is_over(const json_t *slot);

/* The task that the reviews of a slot are about, "" when it has none yet. */
const char *view_reviewed(const json_t *slot);

#endif
