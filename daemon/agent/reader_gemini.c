/* SPDX-License-Identifier: MIT */
/* Gemini CLI: one event per line, of which "result" ends the work (--output-format stream-json), or
 * a single document over many lines (--output-format json). */
#include "agent/events.h"

#include <string.h>

#include "agent/member.h"
#include "agent/show.h"
#include "core/row.h"

static void on_message(struct events *e, const json_t *event)
{
	if (!member_is(event, "role", "assistant"))
		return;
	events_recovered(e);
	if (json_is_true(member(event, "delta")))
		events_piece(e, member_text(event, "content"));
	else
		events_message(e, member_text(event, "content"));
}

static void on_tool_use(struct events *e, const json_t *event)
{
	(void)event;
	events_recovered(e);
	e->served = e->tool_since = true;
}

static void on_tool_result(struct events *e, const json_t *event)
{
	e->tool_since = true;
	if (member_is(member(event, "error"), "type", "policy_violation"))
		e->denials++;
	else if (member_is(event, "status", "error"))
		e->tool_errors++;
}

static void gemini_fail(struct events *e, const json_t *error)
{
	const char *words = member_text(error, "message");
	bool service = words != NULL && strstr(words, "[API Error") != NULL;

	events_fail(e, words, 0, service ? PROVIDER_ERROR : PROVIDER_OK);
}

/* What stopped the work, unless it continues: an aborted loop still has a successful result. */
static void on_error(struct events *e, const json_t *event)
{
	gemini_fail(e, event);
}

/* "input_tokens" includes the cached ones, "input" does not. Thinking is only in the total. */
static void on_result(struct events *e, const json_t *event)
{
	const json_t *stats = member(event, "stats"), *error = member(event, "error");
	int64_t sent = member_count(stats, "input_tokens", ROW_NONE),
	    total = member_count(stats, "total_tokens", ROW_NONE);

	member_keep_names(&e->model, member(stats, "models"));
	e->cached = member_count(stats, "cached", ROW_NONE);
	e->input = count_without(sent, e->cached);
	e->output = member_count(stats, "output_tokens", ROW_NONE);
	if (e->output != ROW_NONE && sent != ROW_NONE && total != ROW_NONE) {
		e->reasoning = count_without(count_without(total, sent), e->output);
		e->output = count_sum(e->output, e->reasoning);
	}
	if (json_is_object(error))
		gemini_fail(e, error);
	else if (!member_is(event, "status", "success") && e->error == NULL)
		gemini_fail(e, NULL);
	e->ended = true;
}

/* Reasons of an early end, reported as a warning next to the answer. */
static const char *const stops[] = { "Loop detected, stopping execution", "Maximum session turns exceeded" };

static const char *stop_among(const json_t *warnings)
{
	for (size_t i = 0; i < json_array_size(warnings); i++) {
		const char *warning = json_string_value(json_array_get(warnings, i));

		for (size_t k = 0; warning != NULL && k < sizeof(stops) / sizeof(stops[0]); k++) {
			if (strcmp(warning, stops[k]) == 0)
				return stops[k];
		}
	}
	return NULL;
}

/* The single document of "json". */
static void on_document(struct events *e, const json_t *document)
{
	const json_t *models = member(member(document, "stats"), "models"), *error = member(document, "error"), *model;
	const char *name, *stop = stop_among(member(document, "warnings"));

	if (member_text(document, "response") == NULL && !json_is_object(error))
		return;
	json_object_foreach((json_t *)models, name, model) {
		const json_t *tokens = member(model, "tokens");
		int64_t cached = member_count(tokens, "cached", ROW_NONE),
		    thoughts = member_count(tokens, "thoughts", ROW_NONE);

		e->cached = count_sum(e->cached, cached);
		e->input = count_sum(e->input, count_without(member_count(tokens, "prompt", ROW_NONE), cached));
		e->input = count_sum(e->input, member_count(tokens, "tool", ROW_NONE));
		e->reasoning = count_sum(e->reasoning, thoughts);
		e->output = count_sum(e->output, count_sum(member_count(tokens, "candidates", ROW_NONE), thoughts));
	}
	member_keep_names(&e->model, models);
	events_message(e, member_text(document, "response"));
	e->tool_errors = (int)member_count(member(member(document, "stats"), "tools"), "totalFail", 0);
	events_recovered(e);
	if (json_is_object(error))
		gemini_fail(e, error);
	else if (stop != NULL)
		events_fail(e, stop, 0, PROVIDER_OK);
	e->ended = true;
}

static const struct events_row rows[] = {
	{ "init", NULL, false },
	{ "message", on_message, false },
	{ "tool_use", on_tool_use, false },
	{ "tool_result", on_tool_result, false },
	{ "error", on_error, false },
	{ "result", on_result, false },
	{ NULL, NULL, false },
};

static const char *const wordless[] = { "init", "tool_use", "tool_result", NULL };

static const struct events_type gemini = {
	.rows = rows, .wordless = wordless, .session = "session_id",
	.needs = "--output-format stream-json", .on_untyped = on_document,
};

static void *gemini_new(void)
{
	return events_new(&gemini);
}

/* ---- what it shows while it works ---- */

static const char *said(const json_t *event)
{
	return member_is(event, "role", "assistant") ? member_text(event, "content") : NULL;
}

static void show_use(struct show *s, const json_t *event)
{
	show_tool(s, member_text(event, "tool_name"), member(event, "parameters"));
}

static void show_error(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(event, "message"));
}

/* A success repeats what was shown. */
static void show_result(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(member(event, "error"), "message"));
}

static void show_outcome(struct show *s, const json_t *event)
{
	if (member_is(event, "status", "error"))
		show_failed(s, member_text(event, "output") != NULL ? member_text(event, "output") :
		    member_text(member(event, "error"), "message"));
}

static const struct show_row shown[] = {
	{ "message", NULL, said },
	{ "tool_use", show_use, NULL },
	{ "tool_result", show_outcome, NULL },
	{ "error", show_error, NULL },
	{ "result", show_result, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_gemini = { "gemini", gemini_new, events_feed, events_gap,
    events_is_over, events_end, shown, NULL };
