/* SPDX-License-Identifier: MIT */
/* The invariant of a slot: its activity, attempt and operation fit its stage. A breach is
 * a bug in the log. */
#ifndef SLOT_ACTIVITY_CHECK_H
#define SLOT_ACTIVITY_CHECK_H

struct run;
struct slot;

/* Nothing is checked before recovery is over. */
void activity_check(const struct slot *slot);
/* All slots of the run, and its own. */
void activity_check_run(const struct run *run);

#endif
