/* SPDX-License-Identifier: MIT */
/* The functions of the effects. */
#ifndef ENGINE_EFFECTS_H
#define ENGINE_EFFECTS_H

#include "txn/txn.h"

struct engine;

extern const struct txn_calls effects_calls;
/* Recovery is complete: apply the effects that were decided meanwhile. */
void effects_resume(struct engine *engine);

#endif
