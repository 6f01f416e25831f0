/* SPDX-License-Identifier: MIT */
/* Compares the database with the disk, in both directions. */
#ifndef KEEP_COMPARE_H
#define KEEP_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "keep/keeper.h"

struct compare_fault {
	bool lost;			/* what a row needs is gone; else nothing knows it */
	char *text, *remedy;		/* owned */
};

/* seen: number of things that were compared. Valid during the callback. */
typedef void compare_cb(void *arg, const struct compare_fault *faults, size_t count, size_t seen);

/* instance: of the state directory. Work may continue meanwhile. Calls cb once. */
void keeper_compare(struct keeper *keeper, const char *instance, compare_cb *cb, void *arg);

#endif
