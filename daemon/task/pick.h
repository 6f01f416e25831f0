/* SPDX-License-Identifier: MIT */
/* Which task an agent has picked, read from its output as it arrives (requirement 000). Pure.
 *
 * An explicit line counts immediately: "Updated issue: ID", "Updated task: ID", "bd update ID",
 * "tsq update ID". Otherwise a line that contains exactly one known id. Ids may be dotted (x-7.1),
 * and x-7 is contained neither in x-7.1 nor in x-71. The first pick wins. */
#ifndef TASK_PICK_H
#define TASK_PICK_H

#include <stdbool.h>
#include <stddef.h>

struct pick;

/* ids: the tasks that may be picked, NULL-terminated, copied. Other ids never count. */
struct pick *pick_new(char *const *ids);
void pick_free(struct pick *pick);

/* More output of one stream. An incomplete line is kept until its end arrives, up to 64 KiB. In a
 * line that is a JSON document, its strings are also searched one by one. Returns whether a task
 * was picked. */
bool pick_feed(struct pick *pick, const char *data, size_t size);

/* End of the output: a last line without a newline counts, too. */
bool pick_end(struct pick *pick);

/* The id, owned by pick; NULL: none yet. */
const char *pick_id(const struct pick *pick);

#endif
