/* SPDX-License-Identifier: MIT */
/* The git directory of a work tree, found by reading, without running git. Blocking: off the loop
 * only. */
#ifndef GIT_GITDIR_H
#define GIT_GITDIR_H

#include <stdbool.h>

/* For the repository whose top is workspace: its own directory (HEAD, index), and the one shared by
 * work trees (refs, info/exclude). malloc'd; NULL: none, or its .git is unreadable (errno). */
char *git_dir_own(const char *workspace);
char *git_dir_common(const char *workspace);

/* Names the repository whose top is workspace, for all of its work trees: malloc'd. */
char *git_dir_id(const char *workspace);

/* What is in progress in the work tree of workspace and would be ended or joined by a commit, as a
 * sentence without an end: "a merge is in progress"; in *finish, how the user ends it. Constants.
 * NULL: nothing, or workspace has no git directory. */
const char *git_dir_in_progress(const char *workspace, const char **finish);

/* Whether the index of dir's repository, or of that work tree of it, has any entry. */
bool git_dir_lists(const char *dir);

#endif
