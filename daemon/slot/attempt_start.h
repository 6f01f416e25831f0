/* SPDX-License-Identifier: MIT */
/* The checks before every attempt. */
#ifndef SLOT_ATTEMPT_START_H
#define SLOT_ATTEMPT_START_H

struct slot;

/* Start the attempt, or let it wait and try again. */
void attempt_build(struct slot *slot);
/* Start the attempt that is built: what it is given is on disk. */
void attempt_launch(struct slot *slot);

#endif
