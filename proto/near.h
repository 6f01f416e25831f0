/* SPDX-License-Identifier: MIT */
/* Which of several names was meant by a mistyped one. Pure. */
#ifndef PROTO_NEAR_H
#define PROTO_NEAR_H

#include <stddef.h>

struct near {
	const char *word;	/* as typed */
	const char *best;	/* the nearest name so far; NULL: none is near */
	size_t distance;	/* of best */
};

/* Number of letters to add, remove, change or swap with the next one to make b of a, as far as it
 * is at most limit; otherwise limit + 1. Words of 128 bytes or more are not near to anything. */
size_t near_distance(const char *a, const char *b, size_t limit);

/* How far a name may be from a word of this length: one letter, two of six letters or more. */
size_t near_limit(const char *word);

/* Weigh a name; of two that are equally near the first one stays. A name that begins with the word
 * is near, too. near->best borrows it. */
void near_offer(struct near *near, const char *name);

#endif
