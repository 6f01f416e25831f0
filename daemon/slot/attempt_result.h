/* SPDX-License-Identifier: MIT */
/* What an ended attempt came to. */
#ifndef SLOT_ATTEMPT_RESULT_H
#define SLOT_ATTEMPT_RESULT_H

struct slot;

/* Read what it left behind, and take what follows from it. */
void attempt_collect(struct slot *slot);

#endif
