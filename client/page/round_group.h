/* SPDX-License-Identifier: MIT */
/* What was done for a task, in rounds: a work attempt or several, and what judged their work. */
#ifndef CLIENT_PAGE_ROUND_GROUP_H
#define CLIENT_PAGE_ROUND_GROUP_H

#include <jansson.h>
#include <stdbool.h>

struct round_group {
	json_t *attempts;	/* of the list of attempts, in order */
	json_t *reviews;	/* rows of the review log; votes come before their decision */
	json_t *checks;		/* evidence of kind check, also of checks that were not run again */
	bool taken_over;	/* by a retry: no attempt of this run made it */
};

struct rounds {
	struct round_group *all;
	size_t count;
};

/* The rounds of a task of the document that a page is made of. task NULL: of the work of all tasks
 * together, in slot number slot. */
void rounds_read(struct rounds *r, const json_t *d, const char *task, int64_t slot);
void rounds_release(struct rounds *r);

/* "Work", "Fix 2", "Taken over from run 41". The caller frees. */
char *rounds_title(const struct rounds *r, size_t index);

#endif
