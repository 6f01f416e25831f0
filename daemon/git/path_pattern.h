/* SPDX-License-Identifier: MIT */
/* Patterns of paths in a repository, as in gitignore(5) without "**": one with a slash is for the
 * whole path, others are for the last component. */
#ifndef GIT_PATH_PATTERN_H
#define GIT_PATH_PATTERN_H

#include <stdbool.h>

/* patterns: NULL-terminated; NULL: none. */
bool path_matches(const char *path, char *const *patterns);

#endif
