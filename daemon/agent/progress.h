/* SPDX-License-Identifier: MIT */
/* Does what an agent prints show that its work makes progress? Retries, warnings and lines that are
 * no event do not. */
#ifndef AGENT_PROGRESS_H
#define AGENT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/plan.h"

struct progress;

/* kind: one that reader_can_tell(). */
struct progress *progress_new(enum reader_kind kind);
void progress_free(struct progress *p);

/* More of stdout, in order. True: there is progress in it; the next piece may then be any later
 * one. Between two calls it keeps no more than an event that has begun. */
bool progress_feed(struct progress *p, const char *data, size_t size);

/* Bytes are left out here: what is left of the line does not count. */
void progress_gap(struct progress *p);

#endif
