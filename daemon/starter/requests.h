/* SPDX-License-Identifier: MIT */
/* The requests of rl-start, each carried out by a process of its own. */
#ifndef STARTER_REQUESTS_H
#define STARTER_REQUESTS_H

#include <stddef.h>
#include <sys/types.h>

struct start_setup {
	uid_t uid;		/* of the agents */
	gid_t gid;
	gid_t *groups;		/* all of them; owned */
	size_t ngroups;
	char *shim;		/* path of rl-shim */
	char *groups_at;	/* see attempt_group.h; NULL */
	unsigned can;		/* START_CAN_...: how attempts can be limited */
};

/* Whether this process may become that user, tried in a child: 0, -EPERM: it may not, or -errno. */
int start_may_change(const struct start_setup *setup);

/* Receive the request of the connection and carry it out. In a child; does not return. */
void start_serve(const struct start_setup *setup, int conn) __attribute__((noreturn));

#endif
