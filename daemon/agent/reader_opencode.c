/* SPDX-License-Identifier: MIT */
/* OpenCode: steps, the last of which ends the work, as an "error" does (run --format json): after
 * "tool-calls" and "unknown" another step follows. */
#include "agent/events.h"

#include <math.h>
#include <string.h>

#include "agent/member.h"
#include "agent/show.h"
#include "core/row.h"

/* Each is a whole paragraph; a JSON object in it stays on its own line. */
static void on_text(struct events *e, const json_t *event)
{
	if (e->answer.tail.size > 0 && !e->tool_since)
		events_piece(e, "\n");
	events_piece(e, member_text(member(event, "part"), "text"));
}

static bool is_denial(const char *words)
{
	return words != NULL && (strstr(words, "rejected permission") != NULL || strstr(words,
	    "prevents you from using") != NULL);
}

/* A command has "completed", whatever its exit status. */
static bool has_failed(const json_t *state)
{
	return member_is(state, "status", "error") || member_count(member(state, "metadata"), "exit", 0) != 0;
}

static void on_tool(struct events *e, const json_t *event)
{
	const json_t *state = member(member(event, "part"), "state");

	e->served = e->tool_since = true;
	if (is_denial(member_text(state, "error")))
		e->denials++;
	else if (has_failed(state))
		e->tool_errors++;
}

static void on_start(struct events *e, const json_t *event)
{
	(void)event;
	events_recovered(e);
}

/* Why a step ended although the work was not done. */
static const struct { const char *reason, *words; } cuts[] = {
	{ "length", "the model's answer was cut off at its token limit" },
	{ "content-filter", "the model's answer was stopped by a content filter" },
	{ "error", "the model stopped in the middle of its answer" },
};

/* Each counts separately, with its output excluding reasoning. */
static void on_finish(struct events *e, const json_t *event)
{
	const json_t *part = member(event, "part"), *tokens = member(part, "tokens"), *cache = member(tokens, "cache");
	int64_t reasoning = member_count(tokens, "reasoning", ROW_NONE);
	double cost = member_amount(part, "cost");

	e->input = count_sum(e->input, member_count(tokens, "input", ROW_NONE));
	e->cached = count_sum(e->cached, member_count(cache, "read", ROW_NONE));
	e->cache_write = count_sum(e->cache_write, member_count(cache, "write", ROW_NONE));
	e->output = count_sum(e->output, count_sum(member_count(tokens, "output", ROW_NONE), reasoning));
	e->reasoning = count_sum(e->reasoning, reasoning);
	if (!isnan(cost))
		e->cost = (isnan(e->cost) ? 0 : e->cost) + cost;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		if (member_is(part, "reason", cuts[i].reason))
			events_fail(e, cuts[i].words, 0, PROVIDER_OK);
	}
	e->ended = !member_is(part, "reason", "tool-calls") && !member_is(part, "reason", "unknown");
}

static void on_error(struct events *e, const json_t *event)
{
	const json_t *error = member(event, "error"), *data = member(error, "data");
	const char *words = member_text(data, "message");
	bool service = member_is(error, "name", "APIError");

	events_fail(e, words != NULL ? words : member_text(error, "name"), member_count(data, "statusCode", 0),
	    service ? PROVIDER_ERROR : PROVIDER_OK);
	e->retryable = json_is_true(member(data, "isRetryable"));
	events_beside(e, "retry-after", member_text(member(data, "responseHeaders"), "retry-after"));
	events_beside(e, "body", member_text(data, "responseBody"));
	e->ended = true;
}

static const struct events_row rows[] = {
	{ "step_start", on_start, false },
	{ "text", on_text, false },
	{ "tool_use", on_tool, false },
	{ "step_finish", on_finish, false },
	{ "error", on_error, false },
	{ NULL, NULL, false },
};

static const char *const wordless[] = { "tool_use", NULL };

static const struct events_type opencode = { .rows = rows, .wordless = wordless,
    .session = "sessionID", .needs = "run --format json" };

static void *opencode_new(void)
{
	return events_new(&opencode);
}

/* ---- what it shows while it works ---- */

static void show_said(struct show *s, const json_t *event)
{
	show_add(s, SHOW_SAID, member_text(member(event, "part"), "text"));
}

static void show_use(struct show *s, const json_t *event)
{
	const json_t *part = member(event, "part");

	show_tool(s, member_text(part, "tool"), member(member(part, "state"), "input"));
	if (!has_failed(member(part, "state")))
		return;
	show_failed(s, member_text(member(part, "state"), "error"));
	show_failed(s, member_text(member(part, "state"), "output"));
}

static void show_error(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(member(member(event, "error"), "data"), "message"));
}

static const struct show_row shown[] = {
	{ "text", show_said, NULL },
	{ "tool_use", show_use, NULL },
	{ "error", show_error, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_opencode = { "opencode", opencode_new, events_feed, events_gap,
    events_is_over, events_end, shown, NULL };
