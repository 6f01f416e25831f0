/* SPDX-License-Identifier: MIT */
#ifndef ENGINE_RECOVER_H
#define ENGINE_RECOVER_H

struct engine;

/* Every unfinished attempt is classified: resume all runs. */
void engine_resume(struct engine *engine);

#endif
