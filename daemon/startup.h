/* SPDX-License-Identifier: MIT */
/* Supplies the engine at start: the rows of unfinished runs, and groups and accounts from the
 * settings. */
#ifndef STARTUP_H
#define STARTUP_H

#include "config/config.h"
#include "engine/engine.h"
#include "proc/proc.h"
#include "store/store.h"

/* The name of this instance, malloc'd, created by the migration that introduced it. A fatal error
 * if it is missing. */
char *startup_instance(struct store *store, const char *state_dir);

/* Load the counters and all rows needed at start. Returns a sentence about directories unknown to
 * the database, malloc'd; NULL: none. */
char *startup_rows(struct store *store, struct engine *engine, const char *state_dir);

/* Also after a reload. The engine copies what it needs. */
void startup_configure(struct engine *engine, const struct config *config);

/* Of each attempt that starts from now on; also after a reload. Warns, later, of those that will
 * have no effect. */
void startup_limits(uv_loop_t *loop, struct proc *proc, const struct config *config);

/* Who the agents are: with $RLD_STARTER, the socket of rl-start, another user than ours, whose HOME
 * and name our environment then has. Does not return when that is not as the settings say. Before
 * there are threads. */
void startup_agents(const struct config *config);

#endif
