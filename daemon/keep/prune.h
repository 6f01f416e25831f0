/* SPDX-License-Identifier: MIT */
/* Removes what is kept of ended runs: decides, then marks some runs in the database, and removes
 * their directories and refs; then the next ones. A run that is marked is removed to the end by the
 * next daemon, whatever happens to this one. */
#ifndef KEEP_PRUNE_H
#define KEEP_PRUNE_H

#include "keep/keeper.h"

struct keeper_wish;

/* Calls cb of the wish once, then keeper_next(). Takes ownership of what it has left. */
void prune_begin(struct keeper *keeper, const struct keeper_wish *wish);

#endif
