/* SPDX-License-Identifier: MIT */
/* Differences between two trees: the output of `git diff-tree -r -z --raw`. */
#ifndef GIT_CHANGE_H
#define GIT_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/memory.h"

#define GIT_ID_MAX 65	/* SHA-256 in hex, NUL */

struct change {
	char *path;
	unsigned was;		/* mode before; 0: new */
	unsigned mode;		/* now; 0: removed */
	char id[GIT_ID_MAX];	/* now; all zeros: removed */
	char was_id[GIT_ID_MAX];	/* before; all zeros: new */
};

struct changes {
	struct change *list;	/* owned; git orders them by the bytes of the path */
	size_t count, room;
};

/* Add one, in any order; changes_order() sorts, and keeps one of each path. */
void changes_add(struct changes *changes, const char *path, unsigned mode, const char *id);
void changes_order(struct changes *changes);

/* Lines of `git ls-tree -r -z`: everything in a tree, each as new. False: malformed; what came
 * before is kept. */
bool changes_read_tree(struct changes *changes, const char *data, size_t size);

/* Parse output. artifacts: paths to leave out. False: malformed; what came before is kept. */
bool changes_read(struct changes *changes, const char *data, size_t size, char *const *artifacts);
void changes_release(struct changes *changes);

/* NULL: path is not among them. */
const struct change *changes_find(const struct changes *changes, const char *path);
/* Whether one of them is below the directory path. */
bool changes_has_below(const struct changes *changes, const char *path);

/* Those with artifact_has(paths), or the others. Borrows them: free only the list. */
struct changes changes_in(const struct changes *changes, char *const *paths, bool in);

/* Their paths, each followed by a NUL: removed ones, or the others. */
void changes_paths(const struct changes *changes, bool removed, struct buf *out);

/* What those that were there before were, as input of update-index -z --index-info. */
void changes_index_before(const struct changes *changes, struct buf *out);

/* Input of update-index -z --index-info, which equals the output of snapshot_index() for the same
 * files. Removed ones, if wanted, come first: a directory may be in the place of one. */
void changes_index(const struct changes *changes, bool removed, struct buf *out);

#endif
