/* SPDX-License-Identifier: MIT */
/* Prepared rooms: what the set-up has made on a base, apart from the files of git. No coder's code
 * has run there. They are made once and cloned for each room and work tree with the same base,
 * set-up and copied files:
 *
 *	rld/prepared/KEY[-PLACE]/files/...	in the evidence repository; with PLACE, if a file
 *						or link names the directory in which it was made
 *	rld/prepared/KEY[-PLACE]/place		that directory
 *
 * A lock (flock) on the directory protects it from removal. The time of its last use is its
 * modification time. Blocking. */
#ifndef GIT_PREPARED_ROOM_H
#define GIT_PREPARED_ROOM_H

#include "git/git_run.h"

/* What identifies it, malloc'd. */
char *prepared_key(const struct git_op *op, const char *copied);

/* Clone the one for spec.setup, spec.base and copied (a hash, NULL: none) into spec.dir, beside
 * the files tracked. 0; 1: there is none; -1. */
int prepared_clone(struct git_op *op, const char *copied, const struct changes *tracked);

/* Keep what spec.dir has beside the files tracked. Without space, or when anything else prevents
 * it, there is none. */
void prepared_keep(struct git_op *op, const char *copied, const struct changes *tracked);

/* Remove those in an evidence repository that nothing has used for two weeks, those whose place is
 * gone, and the oldest beyond eight; and what a killed process has left. */
void prepared_prune(const char *objects);

/* The same in all of them below a state directory. */
void prepared_prune_all(const char *state_dir);

/* Remove all below a state directory that are not in use. False: there were none. */
bool prepared_drop(const char *state_dir);

#endif
