/* SPDX-License-Identifier: MIT */
/* What an attempt waits for before it starts. */
#ifndef SLOT_ACCOUNT_WAIT_H
#define SLOT_ACCOUNT_WAIT_H

#include <stdbool.h>

struct engine;
struct run;
struct slot;

/* The attempt of the slot may not start yet: it waits for an account or a time,
 * without a permit. */
bool attempt_waits(struct slot *slot);
/* It may: what has changed since it was decided (which agent does it, that it cools no more) is
 * being recorded, and then it comes to the gate again. False: nothing has. */
bool attempt_settles(struct slot *slot);
/* It may, but for a slot of the daemon: what it had set aside is for others. cooled: so far it
 * waited for an account or a time, which is no reason any more; that it has not been started
 * stays on record. */
void attempt_queues(struct slot *slot, bool cooled);
/* All that wait are asked again. */
void cooling_look(struct engine *engine);

#endif
