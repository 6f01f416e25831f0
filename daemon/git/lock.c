/* SPDX-License-Identifier: MIT */
#include "git/lock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/registration.h"
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
	char *registration = registration_find(common, dir), *head;

	if (registration == NULL)
		return;
	remove_lock(registration, "HEAD");
	remove_lock(registration, "index");
	head = registration_line(registration, "HEAD");
	/* an agent may have checked out a branch of the user's */
	if (head != NULL && strncmp(head, BRANCH_OF_OURS, strlen(BRANCH_OF_OURS)) == 0)
		remove_lock(common, head + strlen("ref: "));
	free(head);
	free(registration);
}
