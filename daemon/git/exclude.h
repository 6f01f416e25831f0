/* SPDX-License-Identifier: MIT */
/* Makes git ignore the artifacts of reviews in a repository: the user's `git status` and `git add`
 * do not show them. */
#ifndef GIT_EXCLUDE_H
#define GIT_EXCLUDE_H

#include <stdbool.h>

/* Add missing artifacts (as in struct git_op_spec) to info/exclude of the repository whose top is
 * workspace; work trees share that file. Its content stays. 0, or -1 and *error: a sentence with
 * the remedy, malloc'd. A failure has no further effect: trees, diffs and commits leave artifacts
 * out anyway. may: whether to write into that directory, to which links may have led; NULL: yes.
 * Blocking: off the loop only. */
int git_exclude(const char *workspace, char *const *artifacts, bool (*may)(int dirfd, int mode), char **error);

#endif
