/* SPDX-License-Identifier: MIT */
/* What differs between two trees: the output of `git diff-tree -r -z --raw`. */
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
};

struct changes {
	struct change *list;	/* owned; git has them in order of the path's bytes */
	size_t count, room;
};

/* One more, in whatever order; changes_order() puts that right, and keeps one of each path. */
void changes_add(struct changes *changes, const char *path, unsigned mode, const char *id);
void changes_order(struct changes *changes);

/* Lines of `git ls-tree -r -z`: all of a tree, each as new. False: it is no such output; what came
 * before is kept. */
bool changes_read_tree(struct changes *changes, const char *data, size_t size);

/* Takes output in. artifacts: such paths are left out. False: it is no such output; what came
 * before is kept. */
bool changes_read(struct changes *changes, const char *data, size_t size, char *const *artifacts);
void changes_release(struct changes *changes);

/* NULL: path is not among them. */
const struct change *changes_find(const struct changes *changes, const char *path);

/* Those that artifact_has(paths), or the others. Borrows them: only its list is freed. */
struct changes changes_in(const struct changes *changes, char *const *paths, bool in);

/* Their paths, each with a NUL behind: the removed ones, or the others. */
void changes_paths(const struct changes *changes, bool removed, struct buf *out);

/* Input of update-index -z --index-info, which is also what snapshot_index() makes of the same
 * files. Removed ones come first when they are wanted: one may be where a directory is now. */
void changes_index(const struct changes *changes, bool removed, struct buf *out);

#endif
