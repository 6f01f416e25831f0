/* SPDX-License-Identifier: MIT */
/* Preview lines out of a stream of JSON events. */
#ifndef AGENT_SHOW_H
#define AGENT_SHOW_H

#include <jansson.h>

#include "agent/preview.h"

/* How one type of event is shown. */
struct show_row {
	const char *type;	/* of the member "type" */
	void (*show)(struct preview *p, const json_t *event);
	/* NULL, or instead of show: a piece of a text that continues in the next event of this row.
	 * Borrowed; NULL: none here. */
	const char *(*piece)(const json_t *event);
};

/* The events in the end of a stream, the newest first, one or an array of them a line; lines of
 * plain text as they stand. rows: ends with type NULL. */
void show_events(struct preview *p, const struct preview_tail *out, const struct show_row *rows);

/* NULL shows nothing. */
void show_text(struct preview *p, const char *text);
/* "bash: make test": the name of the tool, and the most useful member of its input. name NULL shows
 * nothing. */
void show_tool(struct preview *p, const char *name, const json_t *input);
/* What a message of Claude Code's kind has in its content: texts and uses of tools. */
void show_blocks(struct preview *p, const json_t *event);

#endif
