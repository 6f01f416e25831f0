/* SPDX-License-Identifier: MIT */
/* One slot of a run in a few lines: tag, task, the last of its output or its last review. */
#ifndef CLIENT_BLOCK_H
#define CLIENT_BLOCK_H

#include "client/lines.h"
#include "client/run_view.h"

/* Lines that block_put() would make. */
size_t block_height(const struct view *view, const json_t *slot, size_t preview, bool title);

/* preview: lines of output at most. title: with the line of its task. */
void block_put(struct lines *l, const struct view *view, const json_t *slot, size_t preview, bool title);

/* In at most room lines; review: its last review instead of its output. marked: it
 * is one of several. */
void block_chosen(struct lines *l, const struct view *view, const json_t *slot, bool review, bool marked, size_t room);

/* "1m 05s"; "0s" for less than a second. The caller frees. */
char *block_duration(int64_t ms);

#endif
