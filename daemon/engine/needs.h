/* SPDX-License-Identifier: MIT */
/* What the engine needs of runs that have ended, so that it must not be removed now. */
#ifndef ENGINE_NEEDS_H
#define ENGINE_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* The engine works for the run, or another one, perhaps only submitted, continues it or waits for
 * it. */
bool engine_needs_run(const struct engine *engine, int64_t run);

/* The run is about to be marked as pruned: from now on no retry takes over its work. marked false:
 * it has not been marked after all. */
void engine_set_pruned(struct engine *engine, int64_t run, bool marked);

/* A run works with the evidence repository of this id, or may soon. */
bool engine_needs_evidence(const struct engine *engine, const char *id);

#endif
