/* SPDX-License-Identifier: MIT */
/* Evidence repositories of which no run is left. */
#ifndef KEEP_EVIDENCE_DIRS_H
#define KEEP_EVIDENCE_DIRS_H

struct keeper;

/* Removes each <state>/evidence/<id>.git whose runs are all pruned, and what an earlier daemon has
 * left half removed; then calls done. */
void evidence_dirs_remove(struct keeper *keeper, void (*done)(void *arg), void *arg);

#endif
