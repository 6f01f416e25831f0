/* SPDX-License-Identifier: MIT */
/* What lies on the disk that rows of the database should know: in the state directory, and of rld
 * in the repositories of its runs. Blocking: for a worker. */
#ifndef KEEP_INVENTORY_H
#define KEEP_INVENTORY_H

#include <stddef.h>
#include <stdint.h>

enum inventory_kind {
	INVENTORY_ATTEMPT,	/* a directory in attempts/ */
	INVENTORY_RUN,		/* a directory in runs/ */
	INVENTORY_TREE,		/* a directory in worktrees/ */
	INVENTORY_REF,		/* a ref below refs/rl */
	INVENTORY_ADMIN,	/* a work tree that git has registered below worktrees/ */
	INVENTORY_CONFIG,	/* a branch of rld in the configuration that does not exist */
	INVENTORY_LOCK,		/* a lock file of a ref below refs/rl, older than an hour */
	INVENTORY_KINDS
};

struct inventory_item {
	enum inventory_kind kind;
	int64_t id;		/* of the attempt or run; 0: the name has none */
	char *name;		/* path or name */
	const char *workspace;	/* of the kinds in a repository: borrowed */
};

struct inventory {
	const char *state_dir, *instance;
	char **workspaces;	/* owned */
	struct inventory_item *items;
	size_t count;
};

void inventory_take(struct inventory *inventory);
void inventory_release(struct inventory *inventory);

#endif
