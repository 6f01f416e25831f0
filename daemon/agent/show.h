/* SPDX-License-Identifier: MIT */
/* Preview lines from a stream of JSON events. */
#ifndef AGENT_SHOW_H
#define AGENT_SHOW_H

#include <jansson.h>

#include "agent/preview.h"

/* How a type of event is shown. */
struct show_row {
	const char *type;	/* value of the member "type" */
	void (*show)(struct preview *p, const json_t *event);
	/* NULL, or instead of show: a piece of a text that continues in the next event of this row.
	 * Borrowed; NULL: none here. */
	const char *(*piece)(const json_t *event);
};

/* Show the events at the end of a stream, newest first, one or an array of them per line; lines of
 * plain text unchanged. rows: ends with type NULL. */
void show_events(struct preview *p, const struct preview_tail *out, const struct show_row *rows);

/* NULL is ignored. */
void show_text(struct preview *p, const char *text);
/* "bash: make test": the name of the tool, and the most useful member of its input. name NULL shows
 * nothing. */
void show_tool(struct preview *p, const char *name, const json_t *input);
/* Content of a message in Claude Code's format: texts and tool calls. */
void show_blocks(struct preview *p, const json_t *event);

#endif
