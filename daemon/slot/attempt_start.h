/* SPDX-License-Identifier: MIT */
/* The gate of every attempt. */
#ifndef SLOT_ATTEMPT_START_H
#define SLOT_ATTEMPT_START_H

struct slot;

/* The gate of every attempt: it starts, or waits and is asked again. */
void attempt_build(struct slot *slot);

#endif
