/* SPDX-License-Identifier: MIT */
/* What a panel decides, when all of its votes are in. */
#ifndef SLOT_PANEL_DECISION_H
#define SLOT_PANEL_DECISION_H

struct slot;

/* Nothing of the slot itself is under way: wait for its voters, or decide. */
void panel_look(struct slot *slot);

#endif
