/* SPDX-License-Identifier: MIT */
#include "core/access.h"

#include <stdlib.h>

static const char *const names[RANKS] = {
	[RANK_NONE] = "none", [RANK_READ] = "read", [RANK_SUBMIT] = "submit", [RANK_ADMIN] = "admin",
};

const struct state_names rank_names = { "role", names, RANKS, NULL };

/* The lowest rank that a method takes. */
static const enum rank least[ACCESSES] = {
	[ACCESS_ANY] = RANK_READ, [ACCESS_READ] = RANK_READ, [ACCESS_SUBMIT] = RANK_SUBMIT,
	[ACCESS_OWNER] = RANK_SUBMIT, [ACCESS_ADMIN] = RANK_ADMIN,
};

static bool access_lists(const struct access_list *list, const struct peer *peer)
{
	for (size_t i = 0; i < list->nuids; i++)
		if (list->uids[i] == peer->uid)
			return true;
	for (size_t i = 0; i < list->ngroups; i++)
		if (peer_in_group(peer, list->groups[i]))
			return true;
	return false;
}

enum rank access_rank(const struct access_table *table, const struct peer *peer)
{
	enum rank rank = RANK_ADMIN;

	if (peer->uid == 0 || peer->uid == table->own)
		return RANK_ADMIN;
	while (rank > RANK_NONE && !access_lists(&table->lists[rank], peer))
		rank--;
	return rank;
}

bool access_permits(enum rank rank, enum access needed, bool owns)
{
	return rank >= least[needed] && (owns || !access_asks_owner(rank, needed));
}

bool access_asks_owner(enum rank rank, enum access needed)
{
	return needed == ACCESS_OWNER && rank == RANK_SUBMIT;
}

void access_list_release(struct access_list *list)
{
	free(list->uids);
	free(list->groups);
	*list = (struct access_list){ 0 };
}
