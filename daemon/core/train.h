/* SPDX-License-Identifier: MIT */
/* The merge train: tasks of a run that are merged one onto the other and checked together, so that
 * the branch moves once, to a tree that was judged. Pure.
 *
 *   tip ◀── first ◀── second ◀── … ◀── last      each merge is held back, on the one before it
 *
 * The last is checked: it has the work of all. Green: the branch moves up to it, and all are
 * merged. Red: it is suspected, and what is in the middle before it is checked, until the first
 * suspected one has nothing before it that is unjudged: that one is red by its own work. What
 * comes after it is merged again, without it. */
#ifndef CORE_TRAIN_H
#define CORE_TRAIN_H

#include <stdbool.h>
#include <stddef.h>

enum train_step {
	TRAIN_WAIT,		/* for what another one comes to */
	TRAIN_CHECK,		/* its tree is checked */
	TRAIN_RED,		/* its check has failed, and nothing before it can be why */
	TRAIN_ANEW		/* what it was merged onto is not what is being merged any more */
};

struct train_facts {
	size_t count;		/* of the train */
	size_t at;		/* position of the task, from 0; count: it is not in the train */
	size_t red;		/* the first suspected one; count: none */
	bool busy;		/* one of the train is checked, or lands */
	bool joined;		/* another task is about to be merged onto the last */
};

enum train_step train_step(const struct train_facts *facts);

#endif
