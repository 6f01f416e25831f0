/* SPDX-License-Identifier: MIT */
/* Files that git ignores in the user's directory, and that the copy patterns of the operation
 * name. No link is followed. 0, or -1 with result.error. */
#ifndef GIT_COPIED_FILES_H
#define GIT_COPIED_FILES_H

#include "git/git_run.h"

/* result.copied: SHA-256 of their paths, modes and contents, as they are now; NULL: without
 * patterns. */
int copied_files_hash(struct git_op *op);
/* The same, as they are in spec.dir once they have been copied there. */
int copied_files_copy(struct git_op *op);

#endif
