/* SPDX-License-Identifier: MIT */
/* The queue of jobs that belong to no slot, run one after the other: logs, reports, cleanup,
 * intake. */
#ifndef RUN_FILE_QUEUE_H
#define RUN_FILE_QUEUE_H

#include "job/cleanup.h"
#include "model/job.h"

struct engine;

/* Call cb once when the logs and reports queued so far are written, or never will be: at once, or
 * later on the loop. */
void engine_after_writing(struct engine *engine, void (*cb)(void *arg), void *arg);

void file_queue_free(struct engine *engine);

/* Begin the next job, unless one is under way. */
void file_queue_next(struct engine *engine);
/* The job under way is over. */
void file_queue_done(struct engine *engine);
/* Call the callbacks of engine_after_writing(): the queue has stopped. */
void file_queue_stop(struct engine *engine);
/* Takes what litter has. */
void file_queue_cleanup(struct engine *engine, struct litter litter);
/* Queue a log or a report. Takes job. */
void file_queue_write(struct engine *engine, struct job *job, const struct job_type *type);

#endif
