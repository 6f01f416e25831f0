/* SPDX-License-Identifier: MIT */
#ifndef MODEL_BRIEFING_H
#define MODEL_BRIEFING_H

#include <stddef.h>

/* A task of the run, for a role that is told of all. Strings owned. */
struct story {
	char *id, *title;
	char *text;		/* NULL: not read yet */
};

/* Texts from the store that an attempt is told. All owned. */
struct briefing {
	char *text;		/* the task, where its file is not there yet; NULL */
	size_t size;
	struct story *stories;	/* all tasks of the run; none: its role is not told of them, or its one task is all */
	size_t nstories;
};

void briefing_release(struct briefing *briefing);

#endif
