/* SPDX-License-Identifier: MIT */
/* GitHub Copilot CLI: events with their content in "data", of which "result" ends the work
 * (--output-format json). They count premium requests, not tokens. */
#include "agent/events.h"

#include <stdlib.h>

#include "agent/member.h"
#include "agent/show.h"
#include "proto/memory.h"

static void on_user(struct events *e, const json_t *event)
{
	(void)event;
	e->broken_off = false;
}

static void on_message(struct events *e, const json_t *event)
{
	member_keep(&e->model, member(event, "data"), "model");
	events_message(e, member_text(member(event, "data"), "content"));
	if (!e->broken_off)
		events_recovered(e);
}

/* Its exit status is 0 nevertheless, as after a signal. */
static void break_off(struct events *e, const char *reason)
{
	char *words;

	if (e->broken_off)
		return;
	words = xasprintf("the work was interrupted%s%s", reason != NULL ? ": " : "", reason != NULL ? reason : "");
	events_fail(e, words, 0, PROVIDER_OK);
	free(words);
	e->broken_off = true;
}

static void on_abort(struct events *e, const json_t *event)
{
	break_off(e, member_text(member(event, "data"), "reason"));
}

static void on_idle(struct events *e, const json_t *event)
{
	if (json_is_true(member(member(event, "data"), "aborted")))
		break_off(e, NULL);
}

/* A command counts as a success, whatever its exit status. */
static bool has_failed(const json_t *data)
{
	return json_is_false(member(data, "success")) ||
	    member_count(member(data, "shellExecution"), "exitCode", 0) != 0;
}

static void on_tool(struct events *e, const json_t *event)
{
	const json_t *data = member(event, "data");

	e->served = true;
	if (member_is(member(data, "error"), "code", "denied"))
		e->denials++;
	else if (has_failed(data))
		e->tool_errors++;
}

/* Error kinds equivalent to a status. A limit of hours and a short one have the same kind: only the
 * words differ. */
static const struct { const char *type; int64_t status; } kinds[] = {
	{ "authentication", 401 }, { "authorization", 403 }, { "quota", 402 }, { "rate_limit", 429 },
};

static void on_error(struct events *e, const json_t *event)
{
	const json_t *data = member(event, "data");
	int64_t status = member_count(data, "statusCode", 0);

	for (size_t i = 0; status == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (member_is(data, "errorType", kinds[i].type))
			status = kinds[i].status;
	}
	events_fail(e, member_text(data, "message"), status, PROVIDER_ERROR);
}

static void on_result(struct events *e, const json_t *event)
{
	const json_t *code = member(event, "exitCode");

	member_keep(&e->session, event, "sessionId");
	if (e->error == NULL && !(json_is_integer(code) && json_integer_value(code) == 0))
		events_fail(e, NULL, 0, PROVIDER_OK);
	e->ended = true;
}

static const struct events_row rows[] = {
	{ "user.message", on_user, false },
	{ "assistant.turn_start", NULL, false },
	{ "assistant.message", on_message, false },
	{ "tool.execution_start", NULL, false },
	{ "tool.execution_complete", on_tool, false },
	{ "session.error", on_error, false },
	{ "abort", on_abort, false },
	{ "assistant.idle", on_idle, true },
	{ "result", on_result, false },
	{ NULL, NULL, false },
};

static const char *const wordless[] = { "user.message", "assistant.turn_start",
    "tool.execution_start", "tool.execution_complete", NULL };

static const struct events_type copilot = { .rows = rows, .wordless = wordless, .needs = "--output-format json" };

static void *copilot_new(void)
{
	return events_new(&copilot);
}

/* ---- what it shows while it works ---- */

static void show_message(struct show *s, const json_t *event)
{
	show_add(s, SHOW_SAID, member_text(member(event, "data"), "content"));
}

static void show_start(struct show *s, const json_t *event)
{
	const json_t *data = member(event, "data");

	show_tool(s, member_text(data, "toolName"), member(data, "arguments"));
}

static void show_error(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(member(event, "data"), "message"));
}

static void show_complete(struct show *s, const json_t *event)
{
	const json_t *data = member(event, "data");

	if (!has_failed(data))
		return;
	show_failed(s, member_text(member(data, "error"), "message"));
	show_failed(s, member_text(member(data, "result"), "content"));
}

static const struct show_row shown[] = {
	{ "assistant.message", show_message, NULL },
	{ "tool.execution_start", show_start, NULL },
	{ "tool.execution_complete", show_complete, NULL },
	{ "session.error", show_error, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_copilot = { "copilot", copilot_new, events_feed, events_gap,
    events_is_over, events_end, shown, NULL };
