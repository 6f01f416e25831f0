/* SPDX-License-Identifier: MIT */
/* Reading what judges a run from the store, for a slot that waits for it as for a job. */
#ifndef MODEL_JUDGE_READ_H
#define MODEL_JUDGE_READ_H

struct engine;
struct judge_row;
struct slot;

/* Call done, which takes the row; NULL: the run began with an earlier version. No call when the
 * slot no longer waits for it. */
void judge_read(struct slot *slot, void (*done)(struct slot *slot, struct judge_row *judge));
/* Drop all reads under way. */
void judge_reads_release(struct engine *engine);

#endif
