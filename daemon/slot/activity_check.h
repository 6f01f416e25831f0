/* SPDX-License-Identifier: MIT */
/* The invariant of a slot: its activity, attempt and operation fit its stage. A violation is logged
 * as a bug. */
#ifndef SLOT_ACTIVITY_CHECK_H
#define SLOT_ACTIVITY_CHECK_H

struct run;
struct slot;

/* No check before recovery is complete. */
void activity_check(const struct slot *slot);
/* All slots of the run, and its own. */
void activity_check_run(const struct run *run);

#endif
