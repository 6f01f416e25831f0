/* SPDX-License-Identifier: MIT */
/* Paths that are of the review and not of the work: no tree, diff or commit has them. */
#ifndef GIT_ARTIFACT_H
#define GIT_ARTIFACT_H

#include <stdbool.h>

/* The list in the form that artifact_has() wants: no "./" in front, no "/" behind. NULL-terminated;
 * NULL stays NULL. */
char **artifacts_copy(char *const *list);

/* Is path one of them, or in one that is a folder? list: of artifacts_copy(), NULL: none. */
bool artifact_has(char *const *list, const char *path);

#endif
