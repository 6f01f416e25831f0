/* SPDX-License-Identifier: MIT */
/* Removes what is kept of ended runs: decides, then marks some runs in the database, and removes
 * their directories and refs; then the next ones. A run that is marked is removed to the end by the
 * next daemon, whatever happens to this one. */
#ifndef KEEP_PRUNE_H
#define KEEP_PRUNE_H

#include "keep/keeper.h"

/* Calls cb once, then keeper_next(). */
void prune_begin(struct keeper *keeper, const struct prune_request *request, prune_cb *cb, void *arg);

#endif
