/* SPDX-License-Identifier: MIT */
/* A list of tasks as a line of text: "id title=.. p=.. <-dep,dep !held-by ready; id ..". What is
 * not there is not told. */
#ifndef TESTS_TASK_DUMP_H
#define TESTS_TASK_DUMP_H

#include <inttypes.h>
#include <stdlib.h>

#include "core/row.h"
#include "proto/memory.h"
#include "task/task.h"

static inline void dump_text(struct buf *b, const char *name, const char *text)
{
	if (text == NULL)
		return;
	buf_addf(b, " %s=", name);
	for (; *text != '\0'; text++)
		if (*text == '\n')
			buf_adds(b, "\\n");
		else
			buf_add(b, text, 1);
}

static inline char *dump_list(const struct task_list *list)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < list->count; i++) {
		const struct task_item *item = &list->items[i];

		buf_addf(&b, "%s%s", i > 0 ? "; " : "", item->id);
		dump_text(&b, "title", item->title);
		dump_text(&b, "status", item->status);
		if (item->priority != ROW_NONE)
			buf_addf(&b, " p=%" PRId64, item->priority);
		dump_text(&b, "text", item->description);
		dump_text(&b, "accept", item->acceptance);
		for (size_t d = 0; item->depends_on != NULL && item->depends_on[d] != NULL; d++)
			buf_addf(&b, "%s%s", d > 0 ? "," : " <-", item->depends_on[d]);
		for (size_t d = 0; item->held_by != NULL && item->held_by[d] != NULL; d++)
			buf_addf(&b, "%s%s", d > 0 ? "," : " !", item->held_by[d]);
		dump_text(&b, "at", item->updated_at);
		dump_text(&b, "agent", item->agent);
		if (item->review)
			buf_adds(&b, " review");
		dump_text(&b, "coder", item->coder);
		dump_text(&b, "reviewer", item->reviewer);
		if (item->max_reviews != ROW_NONE)
			buf_addf(&b, " max=%" PRId64, item->max_reviews);
		buf_adds(&b, item->done ? " done" : "");
		buf_adds(&b, item->ready ? " ready" : "");
	}
	return buf_take(&b, NULL);
}

#endif
