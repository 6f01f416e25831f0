/* SPDX-License-Identifier: MIT */
/* Whether an agent's output shows progress. Retries, warnings and lines that are no events do
 * not. */
#ifndef AGENT_PROGRESS_H
#define AGENT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/plan.h"

struct progress;

/* kind: one with reader_can_tell(). */
struct progress *progress_new(enum reader_kind kind);
void progress_free(struct progress *p);

/* More of stdout, in order. Returns whether it shows progress; the next piece may then be any later
 * one. Between calls it keeps at most an unfinished event. */
bool progress_feed(struct progress *p, const char *data, size_t size);

/* Bytes are missing here: ignore the rest of the line. */
void progress_gap(struct progress *p);

#endif
