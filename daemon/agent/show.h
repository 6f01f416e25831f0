/* SPDX-License-Identifier: MIT */
/* What people are shown of a stream of JSON events: one table per reader, read backwards for the
 * last lines and forwards for the whole conversation. */
#ifndef AGENT_SHOW_H
#define AGENT_SHOW_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/preview.h"
#include "proto/state_names.h"

enum show_kind {
	SHOW_SAID,	/* words of the agent */
	SHOW_PIECE,	/* a part of them: continued by the next piece */
	SHOW_TOOL,	/* "bash: make test": a tool and its main argument, one line */
	SHOW_FAILED,	/* the end of a tool's result, if it failed */
	SHOW_ERROR,	/* of the program or the service */
	SHOW_SKIPPED,	/* what is left out, and why */
};
#define SHOW_KINDS 6

extern const struct state_names show_kind_names;

struct show_item {
	enum show_kind kind;
	char *text;
};

struct show {
	struct show_item *items;
	size_t count;
	size_t bytes;		/* of their texts */
};

void show_release(struct show *s);

/* NULL and "" are ignored. A text is cut at SHOW_TEXT_MAX bytes. */
void show_add(struct show *s, enum show_kind kind, const char *text);
#define SHOW_TEXT_MAX (64 * 1024)
/* The name of the tool, and the most useful member of its input. name NULL shows nothing. */
void show_tool(struct show *s, const char *name, const json_t *input);
/* The last lines of the result of a tool that failed. */
void show_failed(struct show *s, const char *text);
/* The same for a text, or for an array of blocks with texts. */
void show_failed_content(struct show *s, const json_t *content);
/* Messages in Claude Code's format: texts and tool calls; results of tools. */
void show_blocks(struct show *s, const json_t *event);
void show_results(struct show *s, const json_t *event);

/* How a type of event is shown. */
struct show_row {
	const char *type;	/* value of the member "type" */
	void (*show)(struct show *s, const json_t *event);
	/* NULL, or instead of show: a piece of a text that continues in the next event of this row.
	 * Borrowed; NULL: none here. */
	const char *(*piece)(const json_t *event);
};

/* The last lines of the events at the end of a stream, one event or an array of them per line;
 * lines of plain text unchanged. Results of tools are left out. rows: ends with type NULL. once:
 * only the newest event that shows something. */
void show_events(struct preview *p, const struct preview_tail *out, const struct show_row *rows, bool once);

/* The same from the front, with everything; only whole lines unless last. Returns how many bytes
 * were read. */
size_t show_forward(struct show *s, const struct show_row *rows, const char *data, size_t size, bool last);

#endif
