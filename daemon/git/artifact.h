/* SPDX-License-Identifier: MIT */
/* Paths that belong to the review, not the work: no tree, diff or commit contains them. */
#ifndef GIT_ARTIFACT_H
#define GIT_ARTIFACT_H

#include <stdbool.h>

/* The list in the form for artifact_has(): without leading "./" and trailing "/". NULL-terminated;
 * NULL stays NULL. */
char **artifacts_copy(char *const *list);

/* Whether path is one of them, or below one. list: from artifacts_copy(), NULL: none. */
bool artifact_has(char *const *list, const char *path);

#endif
