/* SPDX-License-Identifier: MIT */
/* The user at the other end of a socket, as the kernel knows it, and what files that user can
 * reach. */
#ifndef BASE_CREDENTIALS_H
#define BASE_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct peer {
	uid_t uid;
	pid_t pid;		/* 0: in another PID namespace */
	gid_t *groups;		/* the primary one first */
	size_t ngroups;
};

/* The peer that connected, as it was then. Returns 0 or -errno; peer_release() it in any case. */
int peer_of_socket(int fd, struct peer *peer);
void peer_release(struct peer *peer);
/* Valid as long as it is released, too. */
void peer_copy(struct peer *to, const struct peer *from);

/* malloc'd: "uid N" if it has none. Blocks on the directory service. */
char *user_name_of(uid_t uid);

bool peer_in_group(const struct peer *peer, gid_t group);

struct stat;

/* By owner, group and mode of the file alone. mode: R_OK, W_OK, X_OK. */
bool peer_allowed(const struct peer *peer, const struct stat *st, int mode);

/* Whether that user could open this file now: by owner, group and mode of its target and of the
 * directories above. Of access control lists it sees what they leave in the mode. Of a path that
 * does not exist, with W_OK: whether that user could create it. mode: R_OK, W_OK, X_OK. Returns
 * 0 or -errno; 0 also where we cannot look ourselves. Blocking. */
int peer_access(const struct peer *peer, const char *path, int mode);

/* Likewise what is open here, wherever the path now leads by which it was opened. 0 or -EACCES. */
int peer_access_open(const struct peer *peer, int fd, int mode);

#endif
