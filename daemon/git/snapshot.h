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
 *   untracked repository its files one by one, without .git; by the rules of the user's
 *                        repository its HEAD commit, if it has one
 */
#ifndef GIT_SNAPSHOT_H
#define GIT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "git/change.h"
#include "proto/memory.h"

struct snapshot;

/* Both absolute; links are written to scratch as files. Strings are copied. artifacts: paths to
 * skip, from artifacts_copy(), borrowed; NULL: none. */
struct snapshot *snapshot_new(const char *workspace, const char *scratch, char *const *artifacts);
void snapshot_free(struct snapshot *s);
/* Additional paths to skip, which may be tracked; also the temporary file used to replace one. From
 * artifacts_copy(), borrowed. */
void snapshot_shared_paths(struct snapshot *s, char *const *paths);

/* Hash only files that have changed since the last time with this file, see stat_cache.h; and keep
 * their ids there. The list must be that of all files. */
void snapshot_use_cache(struct snapshot *s, const char *file);
void snapshot_save_cache(struct snapshot *s);

/* These return NULL, or what is wrong as a sentence with the remedy, malloc'd. */

/* Add a listing; inside: the untracked repository it is from, NULL: the workspace. */
char *snapshot_list(struct snapshot *s, const char *inside, const char *data, size_t size);
/* Add files by name, from a tree. */
char *snapshot_add(struct snapshot *s, const struct changes *files);
/* Paths that were not checked out: as recorded where they are missing. data: each followed by a
 * NUL. */
void snapshot_set_absent(struct snapshot *s, const char *data, size_t size);
/* Those of a list of the user's index, in that form; and their ids, one per line. */
void snapshot_absent(const struct snapshot *s, struct buf *names, struct buf *ids);
/* The first artifact in the workspace's index; NULL: none. */
const char *snapshot_tracked_artifact(const struct snapshot *s);
/* Lines for hash-object --stdin-paths. */
char *snapshot_paths(struct snapshot *s, struct buf *out);
/* The ids that hash-object printed for them. */
char *snapshot_ids(struct snapshot *s, const char *data, size_t size);
/* Whether a hashed file has changed since snapshot_list(). */
char *snapshot_check(const struct snapshot *s);

/* Leave files out as long as they are as files has them: in their place goes what they were before.
 * files is borrowed. */
void snapshot_leave_out(struct snapshot *s, const struct changes *files);

/* Whether it has these files, in order, and no other. Nothing is left out of it. */
bool snapshot_has_only(const struct snapshot *s, const struct changes *files);

/* Input of update-index -z --index-info. */
void snapshot_index(const struct snapshot *s, struct buf *out);

/* Paths, each followed by a NUL: those no longer there, or the files, links and repositories that
 * are. Those not checked out, or marked skip-worktree, are in neither list. */
void snapshot_names(const struct snapshot *s, bool gone, struct buf *out);

/* A regular file or link below the workspace that is neither in an index with the names in data
 * (from `git ls-files -z`), nor an artifact or the workspace's own .git; or the repository that
 * contains it. NULL: none, or unknown: *error. Both malloc'd. */
char *snapshot_missed(const struct snapshot *s, const char *data, size_t size, char **error);

/* The next nested repository whose HEAD is needed, relative to the workspace; NULL: none left. */
const char *snapshot_nested(struct snapshot *s);
/* Whether it is a submodule in the list. */
bool snapshot_nested_tracked(const struct snapshot *s);
/* Its HEAD; NULL: none. Returns whether its files must be listed instead. */
bool snapshot_nested_head(struct snapshot *s, const char *id);

#endif
