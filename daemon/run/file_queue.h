/* SPDX-License-Identifier: MIT */
/* File work that belongs to no slot, one piece after the other: logs, reports, cleanup, intake. */
#ifndef RUN_FILE_QUEUE_H
#define RUN_FILE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/job.h"

struct engine;

/* Calls cb once when the logs and reports that were to be written until now are written, or never will be: at once, or later on the loop. */
void engine_after_writing(struct engine *engine, void (*cb)(void *arg), void *arg);

void file_queue_free(struct engine *engine);

/* Begin what is next, unless something is under way. */
void file_queue_next(struct engine *engine);
/* What was under way is over. */
void file_queue_done(struct engine *engine);
/* Those who wait for the file queue wait no longer: it will not come to them. */
void file_queue_stop(struct engine *engine);
/* Takes environment, blob and leftover; see struct file_job. */
void file_queue_cleanup(struct engine *engine, int64_t run, char *environment, char *blob, char *leftover, bool sweep);
/* A log or a report, after those that were handed in before. Takes work. */
void file_queue_write(struct engine *engine, struct job *job, const struct job_type *type);

#endif
