/* SPDX-License-Identifier: MIT */
/* The environments of unfinished runs, by their hashes: many runs have the same one, and its file
 * goes with the last of them. */
#ifndef MODEL_ENVIRONMENTS_H
#define MODEL_ENVIRONMENTS_H

#include <stdbool.h>

struct engine;

/* One more, or one less, unfinished run has it; hash NULL: nothing changes. */
void environment_use(struct engine *engine, const char *hash);
void environment_leave(struct engine *engine, const char *hash);

/* Some unfinished run has it. */
bool environment_is_used(const struct engine *engine, const char *hash);

#endif
