/* SPDX-License-Identifier: MIT */
/* Makes git ignore the artifacts of reviews in a repository: the user's `git status` and `git add`
 * do not show them. */
#ifndef GIT_EXCLUDE_H
#define GIT_EXCLUDE_H

/* Add what is missing of artifacts (as in struct git_op_spec) to info/exclude of the repository
 * whose top is workspace; worktrees share that file. What stands there stays. 0, or -1 and *error:
 * a sentence with the remedy, malloc'd. Nothing rests on it: trees, diffs and commits leave
 * artifacts out on their own. Blocking: off the loop only. */
int git_exclude(const char *workspace, char *const *artifacts, char **error);

#endif
