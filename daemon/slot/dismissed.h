/* SPDX-License-Identifier: MIT */
/* What the findings that users dismissed mean for a slot: they are not open. */
#ifndef SLOT_DISMISSED_H
#define SLOT_DISMISSED_H

#include <stdbool.h>

#include "core/row.h"

struct slot;

/* Whether a finding of the slot's task is dismissed by now. */
bool dismissed_has(const struct slot *slot, const struct finding_row *finding);
/* All dismissed findings of the slot's task with the reasons, as Markdown for agents, malloc'd.
 * NULL: there are none. */
char *dismissed_text(const struct slot *slot);

#endif
