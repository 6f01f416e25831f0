/* SPDX-License-Identifier: MIT */
/* Whether a logout ends this process. systemd ends the units of a user when the last session of the
 * user ends, unless the user lingers: see user@.service(5) and loginctl(1). */
#ifndef BASE_LOGOUT_H
#define BASE_LOGOUT_H

#include <stdbool.h>
#include <sys/types.h>

enum logout_place {
	LOGOUT_APART,		/* neither of these: no logout matters */
	LOGOUT_SESSION,		/* in the scope of a login session, which stays by default */
	LOGOUT_MANAGER		/* below the service manager of a user */
};

/* Where the process with this text of /proc/PID/cgroup lives, version 1, 2 or both; with
 * LOGOUT_MANAGER also whose manager it is. */
enum logout_place logout_place(const char *cgroup, uid_t *uid);

struct logout {
	enum logout_place place;
	bool ends;		/* a logout ends this process and its agents */
	char *user;		/* of the manager, owned; NULL with another place */
};

/* The same for this process, with the user's choice as it is now. Blocking: off the loop only. */
void logout_look(struct logout *out);
void logout_release(struct logout *logout);

/* What prevents the end: a command for people, malloc'd. */
char *logout_remedy(const struct logout *logout);

#endif
