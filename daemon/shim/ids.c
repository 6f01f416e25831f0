/* SPDX-License-Identifier: MIT */
#include "shim/ids.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "record/capabilities.h"
#include "record/handed_environment.h"

/* It returns the one before, whatever happens. The kernel allows any of the three. */
static void open_as(uid_t uid)
{
	setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) != uid)
		abort();
}

static bool is_id(const char *text, unsigned *id)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*id = (unsigned)number;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && number < (unsigned)-1;
}

int ids_take_apart(const char *uid, const char *gid)
{
	const uid_t own = geteuid();
	const gid_t group = getegid();
	unsigned agents, their_group;

	if (uid == NULL)
		return ids_are_split() ? -EHOSTDOWN : 0;
	if (gid == NULL || !is_id(uid, &agents) || !is_id(gid, &their_group))
		return -EINVAL;
	if (setresgid(their_group, group, group) == -1 || setresuid(own, agents, own) == -1)
		return -errno;
	open_as(own);
	/* rl-git gets it */
	return capabilities_set(1u << CAP_SETGID, 0, 0);
}

int ids_become_agents(int keeps_group)
{
	const uint32_t kept = keeps_group == 1 ? 1u << CAP_SETGID : 0;
	const gid_t group = keeps_group == 1 ? getegid() : getgid();

	if (!ids_are_split())
		return 0;
	if (setresgid(group, group, group) == -1 || setresuid(geteuid(), geteuid(), geteuid()) == -1)
		return -errno;
	return capabilities_set(kept, kept, kept);
}

void ids_settle(void)
{
	if (ids_are_split() && capabilities_set(0, 0, 0) != 0)
		abort();
}

void ids_open_as_agents(void)
{
	open_as(geteuid());
}

void ids_open_as_own(void)
{
	open_as(getuid());
}
