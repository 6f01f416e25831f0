/* SPDX-License-Identifier: MIT */
/* Copies of directories, with modes and times: files, links and directories, nothing else. No link
 * is followed. Files share their blocks where the file system can do that. Blocking. */
#ifndef GIT_TREE_COPY_H
#define GIT_TREE_COPY_H

#include <stdbool.h>

#include "git/change.h"

struct tree_copy {
	/* in order: neither these paths are copied, except in the directory of a submodule, nor
	 * anything in the place of one; nor .git at the top */
	const struct changes *tracked;
	char *const *left_out;		/* likewise, for artifact_has(); NULL: none */
	/* texts that are looked for in files and links, NULL-terminated; NULL: none */
	char *const *sought;
	bool found;			/* one was found */
	char *path;			/* of a failure, owned */
};

/* Copy the content of the open directory from to another, where it replaces files and links of the
 * same path. 0 or -errno. */
int tree_copy(struct tree_copy *copy, int from, int to);

#endif
