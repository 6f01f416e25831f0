/* SPDX-License-Identifier: MIT */
/* The refs that rld has set for a run, as its rows record them. Any program in the repository can
 * move them. */
#ifndef JOB_RECORDED_REFS_H
#define JOB_RECORDED_REFS_H

#include <stddef.h>

#include "model/view.h"

/* "REF ID" of each: what passed, and the branch with the merged work. Owned, NULL: none. */
char **recorded_refs(const struct run_rows *rows);
size_t recorded_refs_count(const struct run_rows *rows);

/* Compares them with the repository by reading its files: blocking. NULL: all are as recorded, or
 * as a merge has set them that is not recorded yet; or those that are not, with the command that
 * restores them, malloc'd. A branch deleted after the end of the run is no difference; a repository
 * that cannot be read proves nothing. */
char *recorded_refs_moved(const char *state_dir, const struct run_rows *rows);

#endif
