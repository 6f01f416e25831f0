/* SPDX-License-Identifier: MIT */
/* The key of a slot. A job carries it instead of a pointer, because the slot may be gone when the
 * result comes. */
#ifndef MODEL_SLOT_KEY_H
#define MODEL_SLOT_KEY_H

#include <stdint.h>

struct engine;
struct slot;

struct slot_key {
	int64_t run, iteration, slot;	/* slot ROW_NONE: the run's own */
};

struct slot_key slot_key(const struct slot *slot);

/* The slot that waits for the result of a job. NULL: the slot is gone, has another activity by now,
 * or the engine has stopped: drop the result. */
struct slot *slot_at_job(struct engine *engine, struct slot_key key);

#endif
