/* SPDX-License-Identifier: MIT */
/* Pi: each message when it ends, then "agent_end" (--mode json). The outcome is in the stop reason
 * of the last assistant message, because the exit status does not tell. */
#include "agent/events.h"

#include <math.h>
#include <stdlib.h>

#include "agent/member.h"
#include "agent/show.h"
#include "core/row.h"

static void on_session(struct events *e, const json_t *event)
{
	member_keep(&e->session, event, "id");
}

/* The text of a message consists of blocks. malloc'd. */
static char *text_of(const json_t *message)
{
	const json_t *content = member(message, "content");
	struct buf text = { 0 };

	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);

		if (!member_is(block, "type", "text") || member_text(block, "text") == NULL)
			continue;
		if (text.size > 0)
			buf_adds(&text, "\n");
		buf_adds(&text, member_text(block, "text"));
	}
	return buf_take(&text, NULL);
}

static void read_usage(struct events *e, const json_t *usage)
{
	double cost = member_amount(member(usage, "cost"), "total");

	e->input = count_sum(e->input, member_count(usage, "input", ROW_NONE));
	e->cached = count_sum(e->cached, member_count(usage, "cacheRead", ROW_NONE));
	e->cache_write = count_sum(e->cache_write, member_count(usage, "cacheWrite", ROW_NONE));
	e->output = count_sum(e->output, member_count(usage, "output", ROW_NONE));
	if (!isnan(cost))
		e->cost = (isnan(e->cost) ? 0 : e->cost) + cost;
}

/* "turn_end" and "agent_end" repeat the messages. */
static void on_message(struct events *e, const json_t *event)
{
	const json_t *message = member(event, "message");
	char *text;

	if (!member_is(message, "role", "assistant"))
		return;
	text = text_of(message);
	events_message(e, text);
	free(text);
	if (!member_is(message, "stopReason", "error"))
		member_keep(&e->model, message, "model");
	e->served = e->served || !member_is(message, "stopReason", "error");
	read_usage(e, member(message, "usage"));
	events_recovered(e);
	if (member_is(message, "stopReason", "error"))
		events_fail(e, member_text(message, "errorMessage"), 0, PROVIDER_ERROR);
	else if (member_is(message, "stopReason", "aborted"))
		events_fail(e, member_text(message, "errorMessage"), 0, PROVIDER_OK);
	else if (member_is(message, "stopReason", "length"))
		events_fail(e, "the model's answer was cut off at its token limit", 0, PROVIDER_OK);
	e->answered = !member_is(message, "stopReason", "toolUse");
}

static void on_begin(struct events *e, const json_t *event)
{
	if (member_is(member(event, "message"), "role", "assistant"))
		e->answered = false;
}

static void on_agent_end(struct events *e, const json_t *event)
{
	(void)event;
	e->ended = e->answered;
}

static void on_tool(struct events *e, const json_t *event)
{
	e->tool_errors += json_is_true(member(event, "isError"));
}

static const struct events_row rows[] = {
	{ "session", on_session, true },
	{ "agent_start", NULL, false },
	{ "turn_start", NULL, false },
	{ "message_start", on_begin, false },
	{ "message_end", on_message, false },
	{ "tool_execution_start", NULL, false },
	{ "tool_execution_end", on_tool, false },
	{ "turn_end", NULL, false },
	{ "agent_end", on_agent_end, false },	/* repeats all messages */
	{ NULL, NULL, false },
};

static const char *const wordless[] = { "tool_execution_start", "tool_execution_end", "turn_end",
    "agent_start", "turn_start", "agent_end", NULL };

/* Each update contains the message so far, twice: the output grows with the square of its
 * length. */
static const struct events_type pi = {
	.rows = rows, .wordless = wordless, .needs = "--mode json", .passed_over = "{\"type\":\"message_update\",",
};

static void *pi_new(void)
{
	return events_new(&pi);
}

/* A refused request is repeated after a while, after an "agent_end" of its own. */
static bool pi_is_over(const void *state)
{
	const struct events *e = state;

	return e->ended && e->error == NULL;
}

/* ---- what it shows while it works ---- */

static void show_message(struct show *s, const json_t *event)
{
	const json_t *message = member(event, "message"), *content = member(message, "content");

	if (!member_is(message, "role", "assistant"))
		return;
	show_add(s, SHOW_ERROR, member_text(message, "errorMessage"));
	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);

		if (member_is(block, "type", "text"))
			show_add(s, SHOW_SAID, member_text(block, "text"));
		else if (member_is(block, "type", "toolCall"))
			show_tool(s, member_text(block, "name"), member(block, "arguments"));
	}
}

static void show_end(struct show *s, const json_t *event)
{
	if (json_is_true(member(event, "isError")))
		show_failed_content(s, member(member(event, "result"), "content"));
}

static const struct show_row shown[] = {
	{ "message_end", show_message, NULL },
	{ "tool_execution_end", show_end, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_pi = { "pi", pi_new, events_feed, events_gap, pi_is_over, events_end, shown, NULL };
