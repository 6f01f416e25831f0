/* SPDX-License-Identifier: MIT */
/* Retries that continue the work of an earlier run, as far as the reference can tell their story:
 * work of which nothing was fixed, and that has passed its only review or asks a human. */
#ifndef SIM_CONTINUED_H
#define SIM_CONTINUED_H

#include "reference.h"
#include "world.h"

/* The other retries start over. */
bool continued_fits(const struct world *w, const struct run_rows *rows);

/* One with such work, which has ended, and which nobody has retried; or one that works. NULL: there
 * is none. */
const struct run_rows *continued_run(const struct world *w, bool ended);

/* Some of it passed, and its merge is not over. */
bool continued_merges(const struct run_rows *rows);

/* What the slot begins with. */
void continued_tell(const struct world *w, const struct run_rows *rows, const struct slot_row *slot,
    struct ref_slot *story);

/* The run that it continues has merged something. */
bool continued_has_result(const struct run_rows *rows);

#endif
