/* SPDX-License-Identifier: MIT */
#ifndef MODEL_BRIEFING_H
#define MODEL_BRIEFING_H

#include <stdbool.h>
#include <stddef.h>

struct judge_row;

/* A task of the run, for a role that sees all tasks. Strings are owned. */
struct story {
	char *id, *title;
	char *text;		/* NULL: not read yet */
	char *hash;		/* of the text as it was recorded, NULL: not known */
};

/* Texts from the store for the prompt of an attempt. All owned. */
struct briefing {
	char *text;		/* of the task, when its file does not exist yet; NULL */
	size_t size;
	struct story *stories;	/* all tasks of the run; none: the role does not see
				 * them, or there is one */
	size_t nstories;
	struct judge_row *judge;	/* NULL: the run began with an earlier version */
	bool judge_is_read;
};

void briefing_release(struct briefing *briefing);

#endif
