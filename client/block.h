/* SPDX-License-Identifier: MIT */
/* A slot of a run in a few lines: tag, task, and the end of its output or its last review. */
#ifndef CLIENT_BLOCK_H
#define CLIENT_BLOCK_H

#include "client/lines.h"
#include "client/run_view.h"

/* Number of lines that block_put() adds. */
size_t block_height(const struct view *view, const json_t *slot, size_t preview, bool title);

/* preview: maximum number of output lines. title: include the line of its task. */
void block_put(struct lines *l, const struct view *view, const json_t *slot, size_t preview, bool title);

/* At most room lines. review: show its last review instead of its output; marked: it is one of
 * several. */
void block_chosen(struct lines *l, const struct view *view, const json_t *slot, bool review, bool marked, size_t room);

/* "1m 05s"; "0s" for less than a second. The caller frees. */
char *block_duration(int64_t ms);

#endif
