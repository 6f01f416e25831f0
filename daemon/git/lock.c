/* SPDX-License-Identifier: MIT */
#include "git/lock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "git/gitdir.h"
#include "git/worktree_admin.h"
#include "proto/memory.h"

#define BRANCH_OF_OURS "ref: refs/heads/rl/"

#define BRANCH "ref: "

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

static void remove_old_lock(const char *dir, const char *file, time_t boot)
{
	char *lock = xasprintf("%s/%s.lock", dir, file);
	struct stat st;

	if (lstat(lock, &st) == 0 && S_ISREG(st.st_mode) && st.st_mtim.tv_sec < boot)
		unlink(lock);
	free(lock);
}

void lock_remove_old(const char *common, const char *dir)
{
	char *own = git_dir_own(dir), *head = own != NULL ? worktree_admin_line(own, "HEAD") : NULL;
	struct timespec now, up;
	time_t boot;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	boot = now.tv_sec - up.tv_sec - 1;
	if (own != NULL) {
		remove_old_lock(own, "HEAD", boot);
		remove_old_lock(own, "index", boot);
	}
	if (head != NULL && strncmp(head, BRANCH, strlen(BRANCH)) == 0)
		remove_old_lock(common, head + strlen(BRANCH), boot);
	free(head);
	free(own);
}
