/* SPDX-License-Identifier: MIT */
/* Evidence repositories of which no run is left. */
#ifndef KEEP_EVIDENCE_DIRS_H
#define KEEP_EVIDENCE_DIRS_H

struct keeper;

/* Removes each <state>/evidence/<id>.git whose runs are all pruned, and what an earlier prune has
 * left half removed; then calls done. left: sentences about what is left, which the next call tries
 * again; NULL: nothing; valid during the callback. */
void evidence_dirs_remove(struct keeper *keeper, void (*done)(void *arg, char *const *left), void *arg);

#endif
