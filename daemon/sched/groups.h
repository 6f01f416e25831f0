/* SPDX-License-Identifier: MIT */
/* Groups of runs: limits and pauses. */
#ifndef SCHED_GROUPS_H
#define SCHED_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/row.h"
#include "model/reply.h"

#define CHECKS_GROUP "checks"
#define CHECKS_SLOTS 2		/* its limit, unless it is set */

struct engine;
struct groups;

/* Set live limits of a group, kept over restarts. slots ROW_NONE: back to rld.toml; -1: unchanged.
 * paused 0, 1, or -1: unchanged. The group need not have a run. reply.id is 0, without rows. */
void engine_group_set(struct engine *engine, const char *name, int64_t slots, int paused,
    bool check, engine_reply_cb *cb, void *arg);

struct group_info {
	const char *name;
	int64_t slots;			/* in effect; ROW_NONE: no limit */
	bool live;			/* set by engine_group_set(), not in rld.toml */
	int64_t used, queued;		/* permits that its runs have, runs in the queue */
	bool paused;
};

/* Call each for every group that is configured, set, or has an unfinished run, by name. */
void engine_groups(struct engine *engine, void (*each)(void *arg, const struct group_info *group), void *arg);

/* Set the groups of rld.toml, at start and after a reload. names is NULL-terminated, with one of
 * slots for each. */
void engine_configure_groups(struct engine *engine, const char *const *names, const int64_t *slots);

struct groups *groups_new(void);
void groups_free(struct groups *groups);
void groups_load(struct engine *engine, struct group_row *row);	/* takes ownership of row */
/* Checks of merges are in a group of their own, not their runs: its limit in effect, and how many
 * there are. */
int64_t groups_check_slots(const struct engine *engine);
int64_t groups_check_used(const struct engine *engine);
bool group_is_paused(const struct engine *engine, const char *name);

#endif
