/* SPDX-License-Identifier: MIT */
/* What an attempt waits for before it starts. */
#ifndef SLOT_ACCOUNT_WAIT_H
#define SLOT_ACCOUNT_WAIT_H

#include <stdbool.h>

struct engine;
struct run;
struct slot;

/* Whether the attempt may not start yet: then it waits for an account or a time, without a
 * permit. */
bool attempt_waits(struct slot *slot);
/* The attempt may start: record what has changed since it was decided (its agent, the end of its
 * cooldown), and then check again. Returns false if nothing has changed. */
bool attempt_settles(struct slot *slot);
/* The attempt may start, but needs a permit: release its reservation. cooled: it waited for an
 * account or a time until now, which is no longer its reason; it stays recorded as not started. */
void attempt_queues(struct slot *slot, bool cooled);
/* Check all waiting attempts again. */
void cooling_look(struct engine *engine);

#endif
