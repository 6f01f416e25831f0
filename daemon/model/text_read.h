/* SPDX-License-Identifier: MIT */
/* Reading a task's text from the store, for a slot that waits for it as for a job. */
#ifndef MODEL_TEXT_READ_H
#define MODEL_TEXT_READ_H

#include <stddef.h>

struct engine;
struct slot;

/* Call done with the text, which done copies; NULL: none. No call when the slot no longer waits for
 * it. */
void text_read(struct slot *slot, const char *task, void (*done)(struct slot *slot, const char *text, size_t size));
/* Drop all reads under way. */
void text_reads_release(struct engine *engine);

#endif
