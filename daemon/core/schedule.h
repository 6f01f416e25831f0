/* SPDX-License-Identifier: MIT */
/* Which queued run starts next: highest priority, then oldest, one run at a time in a shared workspace. Pure. */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include <stddef.h>

#include "core/row.h"

/* The run to start, NULL: none can. runs: every unfinished run in order of id. free_slots: slots of the daemon that
 * nobody uses. */
struct run_row *schedule_next(struct run_row *const *runs, size_t count, int64_t free_slots);

/* Why a queued run waits, malloc'd; NULL when nothing but its turn keeps it. */
char *schedule_reason(const struct run_row *run, struct run_row *const *runs, size_t count, int64_t free_slots);

/* A slot of the daemon is in use while a run is running; a held one gave it back but keeps its workspace. */
int64_t schedule_used(struct run_row *const *runs, size_t count);

#endif
