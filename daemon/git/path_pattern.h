/* SPDX-License-Identifier: MIT */
/* Patterns of paths in a repository, as in gitignore(5): one with a slash is for the whole path,
 * others are for the last component. "*" matches no slash; "**" as a component stands for any
 * number of directories, and at the end for all that is below. */
#ifndef GIT_PATH_PATTERN_H
#define GIT_PATH_PATTERN_H

#include <stdbool.h>

/* patterns: NULL-terminated; NULL: none. */
bool path_matches(const char *path, char *const *patterns);

/* Whether a change of the path changes what one of the patterns is for: the path or a directory
 * above it matches. leads_elsewhere: the path is or was a link or a nested repository, so that it
 * may stand for a directory above what a pattern matches. A slash at the end of a pattern is
 * ignored. */
bool path_touches(const char *path, bool leads_elsewhere, char *const *patterns);

#endif
