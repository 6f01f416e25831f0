/* SPDX-License-Identifier: MIT */
/* Gives the engine what it begins with: the rows of unfinished runs, and the groups and accounts
 * of the settings. */
#ifndef STARTUP_H
#define STARTUP_H

#include "config/config.h"
#include "engine/engine.h"
#include "store/store.h"

/* The name of this instance, malloc'd: the migration that brought it has made it. A fatal
 * error without one. */
char *startup_instance(struct store *store, const char *state_dir);

/* Load the counters and every row that a start needs. What the state directory has that the
 * database does not know, a sentence, malloc'd; NULL: nothing. */
char *startup_rows(struct store *store, struct engine *engine, const char *state_dir);

/* Also after a reload. The engine copies what it needs. */
void startup_configure(struct engine *engine, const struct config *config);

#endif
