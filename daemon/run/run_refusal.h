/* SPDX-License-Identifier: MIT */
/* What every change of a run is refused for. */
#ifndef RUN_RUN_REFUSAL_H
#define RUN_RUN_REFUSAL_H

#include "model/reply.h"

struct engine;
struct run;

/* Why the run cannot be changed: it is not an unfinished one (NULL), or the database has no space.
 * Sets message and hint of the reply, whose rows are the run's. RPC_OK: it can be. */
int run_refuse(const struct engine *engine, const struct run *run, struct engine_reply *reply);

/* Also refuses a run that is ending, with this hint: what is changed would take no effect. */
int run_refuse_ending(const struct engine *engine, const struct run *run, const char *hint, struct engine_reply *reply);

#endif
