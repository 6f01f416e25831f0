/* SPDX-License-Identifier: MIT */
/* Groups of runs: their limits, and whether they are paused. */
#ifndef SCHED_GROUPS_H
#define SCHED_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/row.h"
#include "model/reply.h"

struct engine;
struct groups;

/* Live limits of a group, kept over restarts. slots ROW_NONE: as rld.toml says again; -1: as it is. paused 0, 1, or -1: as it is. The group need
 * not have a run. reply.id is 0 and there are no rows. */
void engine_group_set(struct engine *engine, const char *name, int64_t slots, int paused, bool check, engine_reply_cb *cb, void *arg);

struct group_info {
	const char *name;
	int64_t slots;			/* in force; ROW_NONE: no limit */
	bool live;			/* set by engine_group_set(), not by rld.toml */
	int64_t used, queued;		/* slots of the daemon that its runs use, runs in the queue */
	bool paused;
};

/* Every group that is configured, set or has an unfinished run, by name. */
void engine_groups(struct engine *engine, void (*each)(void *arg, const struct group_info *group), void *arg);

/* Groups as rld.toml has them: at start and after a reload. names NULL-terminated, slots beside them. */
void engine_configure_groups(struct engine *engine, const char *const *names, const int64_t *slots);

struct groups *groups_new(void);
void groups_free(struct groups *groups);
void groups_load(struct engine *engine, struct group_row *row);	/* takes row */
bool group_is_paused(const struct engine *engine, const char *name);

#endif
