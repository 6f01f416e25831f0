/* SPDX-License-Identifier: MIT */
/* Reading the evidence of other runs from the store, for a slot that waits for it as for a job. */
#ifndef MODEL_EVIDENCE_READ_H
#define MODEL_EVIDENCE_READ_H

#include <stdint.h>

struct engine;
struct slot;

/* Fill slot->known with what checks of other runs said about tree, since a TIME or in runs that
 * this one retries; then call done. No call when the slot no longer waits for it. */
void evidence_read(struct slot *slot, const char *tree, int64_t since, void (*done)(struct slot *slot));
/* Drop all reads under way. */
void evidence_reads_release(struct engine *engine);

#endif
