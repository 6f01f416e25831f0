/* SPDX-License-Identifier: MIT */
#include "agent/progress.h"

#include <stdlib.h>

#include "agent/json_line.h"
#include "agent/json_stream.h"
#include "agent/member.h"
#include "proto/memory.h"

struct progress {
	enum reader_kind kind;
	struct json_stream stream;
	bool seen;
};

/* Events printed while the service refuses: for each try, and around it. All other events are
 * progress. */
static const struct {
	enum reader_kind kind;
	const char *type, *subtype;	/* subtype NULL: any */
} idle_events[] = {
	{ READER_CLAUDE, "system", "api_retry" },
	{ READER_CODEX, "error", NULL },
	{ READER_GEMINI, "error", NULL },
	{ READER_OPENCODE, "error", NULL },
	{ READER_COPILOT, "assistant.turn_retry", NULL },
	{ READER_COPILOT, "model.call_start", NULL },
	{ READER_COPILOT, "model.call_failure", NULL },
	{ READER_COPILOT, "model.call_finished", NULL },
	{ READER_COPILOT, "session.background_tasks_changed", NULL },
	{ READER_COPILOT, "session.error", NULL },
	{ READER_COPILOT, "session.info", NULL },
	{ READER_QWEN, "system", "api_retry" },
	{ READER_PI, "agent_start", NULL },
	{ READER_PI, "agent_end", NULL },
	{ READER_PI, "auto_retry_start", NULL },
	{ READER_PI, "auto_retry_end", NULL },
	{ READER_PI, "turn_start", NULL },
};

/* A message without content belongs to a refused request. */
static bool is_empty_message(const json_t *event)
{
	const json_t *content = member(member(event, "message"), "content");

	return json_is_array(content) && json_array_size(content) == 0;
}

static bool is_idle(enum reader_kind kind, const json_t *event)
{
	for (size_t i = 0; i < sizeof(idle_events) / sizeof(idle_events[0]); i++)
		if (idle_events[i].kind == kind && member_is(event, "type", idle_events[i].type) &&
		    (idle_events[i].subtype == NULL || member_is(event, "subtype", idle_events[i].subtype)))
			return true;
	return is_empty_message(event);
}

/* What cannot be parsed counts as progress. */
static void on_document(void *state, const char *data, size_t size)
{
	struct progress *p = state;
	json_t *event = p->seen ? NULL : json_line_parse(data, size);

	p->seen |= event == NULL || !is_idle(p->kind, event);
	json_decref(event);
}

static void on_lost(void *state, const char *head, size_t size)
{
	struct progress *p = state;

	(void)head, (void)size;
	p->seen = true;
}

static const struct json_taker taker = { on_document, on_lost };

struct progress *progress_new(enum reader_kind kind)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	p->kind = kind;
	json_stream_init(&p->stream);
	return p;
}

void progress_free(struct progress *p)
{
	if (p == NULL)
		return;
	json_stream_release(&p->stream);
	free(p);
}

void progress_gap(struct progress *p)
{
	json_stream_release(&p->stream);
	json_stream_init(&p->stream);
	json_stream_gap(&p->stream);
}

/* Size of a piece to examine: its first event is usually enough. */
#define BITE 4096

bool progress_feed(struct progress *p, const char *data, size_t size)
{
	bool seen;

	for (size_t at = 0; at < size && !p->seen; at += BITE)
		json_stream_feed(&p->stream, data + at, size - at < BITE ? size - at : BITE, &taker, p);
	seen = p->seen;
	p->seen = false;
	if (seen)
		progress_gap(p);
	return seen;
}
