/* SPDX-License-Identifier: MIT */
#include "base/credentials.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/memory.h"

#define GROUPS_MAX 65536	/* of the kernel */

int peer_of_socket(int fd, struct peer *peer)
{
	struct ucred ucred;
	socklen_t size = sizeof(ucred), room = 32 * sizeof(gid_t);

	*peer = (struct peer){ .groups = xcalloc(room / sizeof(gid_t) + 1, sizeof(gid_t)) };
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &size) == -1)
		return -errno;
	size = room;
	while (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer->groups + 1, &size) == -1) {
		if (errno != ERANGE || size <= room || size > GROUPS_MAX * sizeof(gid_t))
			return -errno;
		room = size;	/* the kernel says how much it takes */
		peer->groups = xreallocarray(peer->groups, room / sizeof(gid_t) + 1, sizeof(gid_t));
	}
	peer->uid = ucred.uid;
	peer->pid = ucred.pid;
	peer->groups[0] = ucred.gid;
	peer->ngroups = size / sizeof(gid_t) + 1;
	return 0;
}

void peer_release(struct peer *peer)
{
	free(peer->groups);
	peer->groups = NULL;
	peer->ngroups = 0;
}

void peer_copy(struct peer *to, const struct peer *from)
{
	*to = *from;
	to->groups = xcalloc(from->ngroups + 1, sizeof(gid_t));
	if (from->ngroups > 0)
		memcpy(to->groups, from->groups, from->ngroups * sizeof(gid_t));
}

char *user_name_of(uid_t uid)
{
	struct passwd entry, *found = NULL;
	char text[4096];

	if (getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found != NULL && found->pw_name[0] != '\0')
		return xstrdup(found->pw_name);
	return xasprintf("uid %u", (unsigned)uid);
}

bool peer_in_group(const struct peer *peer, gid_t group)
{
	for (size_t i = 0; i < peer->ngroups; i++)
		if (peer->groups[i] == group)
			return true;
	return false;
}

/* Only one class of the mode counts, as in the kernel. */
bool peer_allowed(const struct peer *peer, const struct stat *st, int mode)
{
	unsigned shift = st->st_uid == peer->uid ? 6 : peer_in_group(peer, st->st_gid) ? 3 : 0;

	return ((st->st_mode >> shift) & (unsigned)mode) == (unsigned)mode;
}

/* The directories above an absolute path without links. */
static int peer_search(const struct peer *peer, const char *real)
{
	char *path = xstrdup(real);
	struct stat st;
	int rv = 0;

	for (char *slash = strrchr(path, '/'); rv == 0 && slash != NULL; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(path[0] != '\0' ? path : "/", &st) == 0 && !peer_allowed(peer, &st, X_OK))
			rv = -EACCES;
	}
	free(path);
	return rv;
}

/* The part of the path that exists, resolved. malloc'd; NULL: it cannot be looked at. */
static char *peer_existing(const char *path, bool *whole)
{
	char *at = xstrdup(path), *real, *slash;

	*whole = true;
	while ((real = realpath(at, NULL)) == NULL && errno == ENOENT && (slash = strrchr(at, '/')) != NULL) {
		*whole = false;
		slash[slash == at ? 1 : 0] = '\0';
	}
	free(at);
	return real;
}

int peer_access_open(const struct peer *peer, int fd, int mode)
{
	char link[32], real[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	if (n <= 0 || fstat(fd, &st) == -1 || !peer_allowed(peer, &st, mode))
		return -EACCES;
	real[n] = '\0';
	return peer_search(peer, real);
}

int peer_access(const struct peer *peer, const char *path, int mode)
{
	bool whole;
	char *real = peer->uid != 0 ? peer_existing(path, &whole) : NULL;
	struct stat st;
	int rv = 0;

	if (real == NULL)
		return 0;
	/* what is missing: reading it fails anyway */
	if (!whole)
		mode = (mode & W_OK) != 0 ? W_OK | X_OK : X_OK;
	rv = peer_search(peer, real);
	if (rv == 0 && stat(real, &st) == 0 && !peer_allowed(peer, &st, mode))
		rv = -EACCES;
	free(real);
	return rv;
}
