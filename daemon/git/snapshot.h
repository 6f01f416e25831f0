/* SPDX-License-Identifier: MIT */
/* What git does not ignore in a work tree, as the disk has it: the entries of a tree-to-be. Reads
 * the listing of `git ls-files -c -o -s -t -z`, looks at each path, and makes the inputs of
 * hash-object and update-index.
 *
 *   regular file         its bytes, no filter applied; 100755 when its owner may execute it
 *   symbolic link        the link's own text, never what it points to
 *   tracked, but gone    (or under a link, or something else now): not in the tree
 *   sparse, not there    as recorded in the index
 *   submodule            its HEAD commit; as recorded when it is not checked out
 *   untracked repository its HEAD commit; without a commit yet, its files one by one
 */
#ifndef GIT_SNAPSHOT_H
#define GIT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "git/change.h"
#include "proto/memory.h"

struct snapshot;

/* Both absolute; links are written into scratch as files of their own. Strings are copied.
 * artifacts: passed over, of artifacts_copy(), borrowed; NULL: none. */
struct snapshot *snapshot_new(const char *workspace, const char *scratch, char *const *artifacts);
void snapshot_free(struct snapshot *s);
/* Paths that are passed over, too, and are no tracked artifacts; also the file that replaces one
 * when it is written. Of artifacts_copy(), borrowed. */
void snapshot_shared_paths(struct snapshot *s, char *const *paths);

/* These answer NULL, or what is wrong as a sentence with the remedy, malloc'd. */

/* Take a listing in; inside: the untracked repository it is from, NULL: the workspace. */
char *snapshot_list(struct snapshot *s, const char *inside, const char *data, size_t size);
/* Take files in by name, those of a tree. */
char *snapshot_add(struct snapshot *s, const struct changes *files);
/* The first artifact that the workspace's index has; NULL: none. */
const char *snapshot_tracked_artifact(const struct snapshot *s);
/* Lines for hash-object --stdin-paths. */
char *snapshot_paths(struct snapshot *s, struct buf *out);
/* The ids that hash-object printed for them. */
char *snapshot_ids(struct snapshot *s, const char *data, size_t size);
/* Did any hashed file change since snapshot_list() looked? */
char *snapshot_check(const struct snapshot *s);

/* A file that is as it is in files, which are borrowed, is not in the tree. */
void snapshot_leave_out(struct snapshot *s, const struct changes *files);

/* Input of update-index -z --index-info. */
void snapshot_index(const struct snapshot *s, struct buf *out);

/* Paths with a NUL behind each: those that are not there any more, or the files, links and
 * repositories that are. What is only not checked out, or git was told to leave as it is
 * (skip-worktree), is in neither. */
void snapshot_names(const struct snapshot *s, bool gone, struct buf *out);

/* A regular file or link below the workspace that an index with the names in data (of `git ls-files
 * -z`) does not have, nor is an artifact or the workspace's own .git; or the repository that it is
 * in. NULL: there is none, or it cannot be told: *error. Both malloc'd. */
char *snapshot_missed(const struct snapshot *s, const char *data, size_t size, char **error);

/* The next nested repository whose HEAD is wanted, relative to the workspace; NULL: none is
 * left. */
const char *snapshot_nested(struct snapshot *s);
/* Its HEAD; NULL: it has none. True when its files must be listed instead. */
bool snapshot_nested_head(struct snapshot *s, const char *id);

#endif
