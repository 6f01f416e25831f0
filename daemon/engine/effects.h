/* SPDX-License-Identifier: MIT */
/* What each effect of a decision does. */
#ifndef ENGINE_EFFECTS_H
#define ENGINE_EFFECTS_H

#include "txn/txn.h"

struct engine;

extern const struct txn_calls effects_calls;
/* Everything has been found: do what was decided meanwhile. */
void effects_resume(struct engine *engine);

#endif
