/* SPDX-License-Identifier: MIT */
/* Where the merges of a run have moved its branch. Each is noted before it moves, because rld
 * records it later: between the two, another operation compares the branch with an older record,
 * and rld can be killed. */
#ifndef GIT_OWN_MOVES_H
#define GIT_OWN_MOVES_H

#include <stdbool.h>

/* Note in file, on the disk, that the branch moves to commit. file NULL: nothing is noted.
 * Returns 0 or -errno. */
int own_moves_add(const char *file, const char *commit);

/* Whether the branch was to move to commit after it had moved to since. NULL file or since: no. */
bool own_moves_have(const char *file, const char *since, const char *commit);

#endif
