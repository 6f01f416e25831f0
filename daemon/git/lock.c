/* SPDX-License-Identifier: MIT */
#include "git/lock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/worktree_admin.h"
#include "proto/memory.h"

#define BRANCH_OF_OURS "ref: refs/heads/rl/"

static void remove_lock(const char *dir, const char *file)
{
	char *lock = xasprintf("%s/%s.lock", dir, file);

	unlink(lock);
	free(lock);
}

void lock_remove_ref(const char *common, const char *ref)
{
	if (ref != NULL)
		remove_lock(common, ref);
}

void lock_remove_tree(const char *common, const char *dir)
{
	char *admin = worktree_admin_find(common, dir), *head;

	if (admin == NULL)
		return;
	remove_lock(admin, "HEAD");
	remove_lock(admin, "index");
	head = worktree_admin_line(admin, "HEAD");
	/* an agent may have checked out a branch of the user's */
	if (head != NULL && strncmp(head, BRANCH_OF_OURS, strlen(BRANCH_OF_OURS)) == 0)
		remove_lock(common, head + strlen("ref: "));
	free(head);
	free(admin);
}
