/* SPDX-License-Identifier: MIT */
/* What a peer may do: its role by user and groups, and the role that a method needs. Pure. */
#ifndef CORE_ACCESS_H
#define CORE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/credentials.h"
#include "proto/state_names.h"

/* Each rank may do what those before it may. */
enum rank {
	RANK_NONE,		/* may not even connect */
	RANK_READ,		/* sees all runs */
	RANK_SUBMIT,		/* submits runs, and changes its own */
	RANK_ADMIN,		/* everything, to all runs */
	RANKS
};

extern const struct state_names rank_names;	/* "none", "read", "submit", "admin" */

/* The role that a method needs. OWNER: of the run that it is about, or an administrator. */
enum access { ACCESS_ANY, ACCESS_READ, ACCESS_SUBMIT, ACCESS_OWNER, ACCESS_ADMIN, ACCESSES };

/* Who has a rank, beside those with a higher one. */
struct access_list {
	uid_t *uids;
	gid_t *groups;
	size_t nuids, ngroups;
};

struct access_table {
	uid_t own;		/* the daemon's: an administrator, as root is */
	struct access_list lists[RANKS];
};

enum rank access_rank(const struct access_table *table, const struct peer *peer);

/* owns: the run that the method is about belongs to the peer. */
bool access_permits(enum rank rank, enum access needed, bool owns);

/* Whether it takes the owner of the run to say. */
bool access_asks_owner(enum rank rank, enum access needed);

void access_list_release(struct access_list *list);

#endif
