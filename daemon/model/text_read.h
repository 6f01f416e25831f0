/* SPDX-License-Identifier: MIT */
/* A task's text, on its way from the store to the slot that waits for it as for a job. */
#ifndef MODEL_TEXT_READ_H
#define MODEL_TEXT_READ_H

#include <stddef.h>

struct engine;
struct slot;

/* Calls done with the text, which it copies; text NULL: there is none. Not when the slot waits for it no more. */
void text_read(struct slot *slot, const char *task, void (*done)(struct slot *slot, const char *text, size_t size));
/* Forgets those that are under way. */
void text_reads_release(struct engine *engine);

#endif
