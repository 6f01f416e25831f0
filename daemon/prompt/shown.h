/* SPDX-License-Identifier: MIT */
/* What a prompt shows of a diff, and what it leaves out: the middle of one that is too long, and
 * the files that the diff itself does not contain. Pure. */
#ifndef PROMPT_SHOWN_H
#define PROMPT_SHOWN_H

#include <stddef.h>
#include <stdint.h>

#include "prompt/prompt.h"

/* So many files are named. */
#define LEFT_OUT_MAX 100

struct left_out {
	char *file;		/* owned */
	const char *why;	/* "size", "binary", "large": too large for a diff */
	/* of its part of the diff; binary, large: of the file, now or else before */
	uint64_t bytes;
};

struct shown {
	size_t total;		/* bytes of the diff */
	size_t head, tail;	/* shown are the bytes before head and those from tail on */
	size_t points;		/* characters between them */
	struct left_out *list;	/* owned, in the order of the diff */
	size_t count;
	size_t files;		/* that are left out, in whole or in part; at most LEFT_OUT_MAX of
				 * them are in the list */
};

void shown_find(struct span diff, size_t cap, struct shown *shown);
void shown_release(struct shown *shown);

#endif
