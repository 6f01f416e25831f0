/* SPDX-License-Identifier: MIT */
/* Which task an agent has picked by itself, read from its output as it comes (requirement 000).
 * Pure.
 *
 * An explicit line counts at once: "Updated issue: ID", "Updated task: ID", "bd update ID", "tsq
 * update ID". Else a line in which exactly one distinct known id appears. Ids may be dotted
 * (x-7.1), and x-7 is not in x-7.1 nor in x-71. First pick wins. */
#ifndef TASK_PICK_H
#define TASK_PICK_H

#include <stdbool.h>
#include <stddef.h>

struct pick;

/* ids: the tasks that may be picked, NULL-terminated, copied. What is not among them never
 * counts. */
struct pick *pick_new(char *const *ids);
void pick_free(struct pick *pick);

/* More output of one stream. A line that is cut is kept until its end comes, and cut itself beyond
 * 64 KiB. In a line that is a JSON document, its texts are looked at one by one as well. True:
 * something has been picked. */
bool pick_feed(struct pick *pick, const char *data, size_t size);

/* There is no more: a last line without a newline counts, too. */
bool pick_end(struct pick *pick);

/* The id, owned by pick; NULL: none yet. */
const char *pick_id(const struct pick *pick);

#endif
