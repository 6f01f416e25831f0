/* SPDX-License-Identifier: MIT */
#include "shim/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "record/handed_environment.h"

/* It returns the one before, whatever happens. The kernel allows any of the three. */
static void open_as(uid_t uid)
{
	setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) != uid)
		abort();
}

int ids_close(void)
{
	const uid_t agents = getuid(), own = geteuid();

	if (setresuid(own, agents, own) == -1)
		return -errno;
	open_as(own);
	return 0;
}

int ids_become_agents(int keeps_group)
{
	if (!ids_are_split())
		return 0;
	if (keeps_group != 1 && setresgid(getgid(), getgid(), getgid()) == -1)
		return -errno;
	return setresuid(geteuid(), geteuid(), geteuid()) == -1 ? -errno : 0;
}

void ids_open_as_agents(void)
{
	open_as(geteuid());
}

void ids_open_as_own(void)
{
	open_as(getuid());
}
