/* SPDX-License-Identifier: MIT */
/* Codex: "turn.completed" or "turn.failed" ends the work (exec --json). The work may have recovered
 * from an earlier "error"; an item of type "error" is a warning. */
#include "agent/events.h"

#include <stdlib.h>

#include "agent/member.h"
#include "agent/show.h"
#include "core/row.h"
#include "proto/memory.h"

static void on_thread(struct events *e, const json_t *event)
{
	member_keep(&e->session, event, "thread_id");
}

static void on_turn_started(struct events *e, const json_t *event)
{
	(void)event;
	events_recovered(e);
}

static void on_item(struct events *e, const json_t *event)
{
	const json_t *item = member(event, "item");

	/* a warning, which may appear at any time */
	if (member_is(item, "type", "error"))
		return;
	e->ended = false;
	e->served = true;
	if (member_is(item, "type", "agent_message"))
		events_message(e, member_text(item, "text"));
	if (!member_is(event, "type", "item.completed"))
		return;
	e->tool_errors += member_is(item, "status", "failed");
	e->denials += member_is(item, "status", "declined");
}

/* Its total grows over the turns of a thread, including earlier processes: the newest counts, not
 * the sum. Cache reads and writes are part of its input. */
static void on_completed(struct events *e, const json_t *event)
{
	const json_t *usage = member(event, "usage");

	e->cached = member_count(usage, "cached_input_tokens", ROW_NONE);
	e->cache_write = member_count(usage, "cache_write_input_tokens", ROW_NONE);
	e->input = count_without(count_without(member_count(usage, "input_tokens", ROW_NONE), e->cached),
	    e->cache_write);
	e->output = member_count(usage, "output_tokens", ROW_NONE);
	e->reasoning = member_count(usage, "reasoning_output_tokens", ROW_NONE);
	e->of_session = true;
	events_recovered(e);
	e->ended = true;
}

static void on_failed(struct events *e, const json_t *event)
{
	events_fail(e, member_text(member(event, "error"), "message"), 0, PROVIDER_ERROR);
	e->ended = true;
}

static void on_error(struct events *e, const json_t *event)
{
	if (!e->ended)
		events_fail(e, member_text(event, "message"), 0, PROVIDER_ERROR);
}

static const struct events_row rows[] = {
	{ "thread.started", on_thread, true },
	{ "turn.started", on_turn_started, false },
	{ "item.started", NULL, false },
	{ "item.updated", on_item, true },
	{ "item.completed", on_item, true },
	{ "turn.completed", on_completed, false },
	{ "turn.failed", on_failed, false },
	{ "error", on_error, true },
	{ NULL, NULL, false },
};

static const struct events_type codex = { .rows = rows, .needs = "exec --json" };

static void *codex_new(void)
{
	return events_new(&codex);
}

/* ---- what it shows while it works ---- */

static void show_started(struct show *s, const json_t *event)
{
	const json_t *item = member(event, "item");

	if (member_is(item, "type", "command_execution"))
		show_tool(s, "command", item);
	else if (member_is(item, "type", "web_search"))
		show_tool(s, "web search", item);
	else if (member_is(item, "type", "mcp_tool_call"))
		show_tool(s, member_text(item, "tool"), member(item, "arguments"));
}

/* Of a command or of a tool that did not work. */
static void show_result(struct show *s, const json_t *item)
{
	char *status = xasprintf("exit status %lld", (long long)member_count(item, "exit_code", 0));

	show_failed(s, member_text(item, "aggregated_output"));
	show_failed(s, member_text(member(item, "error"), "message"));
	if (member_is(item, "status", "declined"))
		show_failed(s, "declined");
	else if (member_count(item, "exit_code", 0) != 0)
		show_failed(s, status);
	free(status);
}

static void show_completed(struct show *s, const json_t *event)
{
	const json_t *item = member(event, "item"), *changes = member(item, "changes");

	if (member_is(item, "type", "agent_message"))
		show_add(s, SHOW_SAID, member_text(item, "text"));
	for (size_t i = 0; i < json_array_size(changes); i++)
		show_tool(s, "change", json_array_get(changes, i));
	if (member_is(item, "status", "failed") || member_is(item, "status", "declined"))
		show_result(s, item);
}

static void show_error(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(event, "message"));
}

static void show_turn_failed(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(member(event, "error"), "message"));
}

static const struct show_row shown[] = {
	{ "item.started", show_started, NULL },
	{ "item.completed", show_completed, NULL },
	{ "error", show_error, NULL },
	{ "turn.failed", show_turn_failed, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_codex = { "codex", codex_new, events_feed, events_gap,
    events_is_over, events_end, shown, NULL };
