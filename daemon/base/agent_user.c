/* SPDX-License-Identifier: MIT */
#include "base/agent_user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"

static struct agent_user user;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void be_ours(void)
{
	user.is.uid = geteuid();
}

const struct agent_user *agent_user(void)
{
	pthread_once(&once, be_ours);
	return &user;
}

static int find_groups(const char *name, gid_t gid)
{
	int count = 0, room;

	/* fails, and says how many there are */
	getgrouplist(name, gid, NULL, &count);
	room = count;
	user.is.groups = xcalloc((size_t)room + 1, sizeof(*user.is.groups));
	if (getgrouplist(name, gid, user.is.groups, &count) == -1 || count > room)
		return -EAGAIN;
	user.is.ngroups = (size_t)count;
	return 0;
}

int agent_user_set(uid_t uid, gid_t gid)
{
	const struct passwd *entry = getpwuid(uid);

	pthread_once(&once, be_ours);
	if (uid == geteuid())
		return 0;
	user.apart = true;
	user.is.uid = uid;
	if (entry == NULL) {
		user.is.groups = xcalloc(1, sizeof(*user.is.groups));
		user.is.groups[0] = gid;
		user.is.ngroups = 1;
		return 0;
	}
	user.name = xstrdup(entry->pw_name);
	user.home = xstrdup(entry->pw_dir);
	user.shell = xstrdup(entry->pw_shell);
	return find_groups(user.name, gid);
}

/* Narrow first: it is never wider than it is meant to be. */
static int hand(int dirfd, const char *name, gid_t group, mode_t mode)
{
	struct stat st;
	int fd, rv = 0;

	if (!user.apart)
		return 0;
	fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return -errno;
	/* one with a second name is not the one that was made */
	if (fstat(fd, &st) == -1)
		rv = -errno;
	else if (!S_ISDIR(st.st_mode) && st.st_nlink > 1)
		rv = -EMLINK;
	else if (fchown(fd, (uid_t)-1, group) == -1 || fchmod(fd, mode) == -1)
		rv = -errno;
	close(fd);
	return rv;
}

int agent_user_give(int dirfd, const char *name, mode_t mode)
{
	return hand(dirfd, name, user.apart ? user.is.groups[0] : 0, mode);
}

int agent_user_give_dirs(const char *base, const char *path)
{
	size_t n = strlen(base);
	char *at = xstrdup(path), *slash;
	struct stat st;
	int rv = 0;

	while (user.apart && rv == 0 && strncmp(at, base, n) == 0 && at[n] == '/' &&
	    (slash = strrchr(at + n + 1, '/')) != NULL && lstat(at, &st) == 0 && st.st_uid == geteuid()) {
		rv = agent_user_give(AT_FDCWD, at, 0770);
		*slash = '\0';
	}
	free(at);
	return rv;
}

int agent_user_pass(int dirfd, const char *name, mode_t mode)
{
	return hand(dirfd, name, getegid(), mode);
}

bool agent_user_may(int fd, int mode)
{
	return !user.apart || peer_access_open(&user.is, fd, mode) == 0;
}
