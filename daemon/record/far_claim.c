/* SPDX-License-Identifier: MIT */
#include "record/far_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/layout.h"

#define REVOKED "revoked"
#define ID_CHARS "0123456789abcdefghijklmnopqrstuvwxyz-"
#define CLAIM_MAX (sizeof(FAR_SHIM) + 24 + BOOT_ID + MACHINE_ID)

void machine_id_read(char out[MACHINE_ID])
{
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd == -1 ? 0 : read(fd, out, MACHINE_ID - 1);

	if (fd != -1)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strspn(out, ID_CHARS)] = '\0';
}

int far_claim_take(int dirfd)
{
	char boot[BOOT_ID], machine[MACHINE_ID], target[CLAIM_MAX];
	int rv = boot_id_read(boot);

	if (rv != 0)
		return rv;
	machine_id_read(machine);
	snprintf(target, sizeof(target), FAR_SHIM "%d.%s.%s", (int)getpid(), boot, machine);
	return symlinkat(target, dirfd, RECORD_CLAIM) == 0 ? 0 : -errno;
}

/* Take what is before the next dot, or the end, off *text into out, unless it has no room. */
static void take_part(char **text, char *out, size_t room)
{
	size_t n = strcspn(*text, ".");

	if (n < room) {
		memcpy(out, *text, n);
		out[n] = '\0';
	}
	*text += n + ((*text)[n] == '.');
}

void far_claim_read(int dirfd, struct far_claim *out)
{
	char target[CLAIM_MAX] = "", pid[24] = "", *text = target;
	ssize_t n = readlinkat(dirfd, RECORD_CLAIM, target, sizeof(target) - 1);

	*out = (struct far_claim){ .by = FAR_NOBODY };
	if (n <= 0)
		return;
	target[n] = '\0';
	out->by = strcmp(target, REVOKED) == 0 ? FAR_REVOKED : strcmp(target, FAR_IS_COPIED) == 0 ? FAR_COPIED :
	    strncmp(target, FAR_SHIM, strlen(FAR_SHIM)) == 0 ? FAR_BY_SHIM : FAR_SCRIPT;
	text += out->by == FAR_BY_SHIM ? strlen(FAR_SHIM) : 0;
	take_part(&text, pid, sizeof(pid));
	take_part(&text, out->boot, sizeof(out->boot));
	take_part(&text, out->machine, sizeof(out->machine));
	out->pid = (pid_t)strtol(pid, NULL, 10);
}

bool far_claim_is_away(const struct far_claim *claim)
{
	return claim->by == FAR_BY_SHIM || claim->by == FAR_COPIED;
}

bool far_revoke(int dirfd)
{
	struct far_claim claim;
	bool revoked = symlinkat(REVOKED, dirfd, RECORD_CLAIM) == 0;

	/* by rl-shim, and then by rld */
	far_claim_read(dirfd, &claim);
	/* it has the environment of the agent; but an rl-shim there may have replaced it by one
	 * that asks how it is */
	if (claim.by != FAR_BY_SHIM)
		unlinkat(dirfd, RECORD_START, 0);
	return revoked || claim.by == FAR_REVOKED;
}
