/* SPDX-License-Identifier: MIT */
/* Qwen Code: events similar to Claude Code's, one per line (--output-format stream-json) or all in
 * one array (json), of which "result" ends the work. A refusal by the service appears as a success
 * whose result is its message. */
#include "agent/events.h"

#include <string.h>

#include "agent/member.h"
#include "agent/show.h"
#include "core/row.h"

#define REFUSED "[API Error: "

/* What follows a refusal with status 429, depending on the login. */
static const char *const throttled[] = { "]\nPossible quota limitations in place",
    "]\nPlease wait and try again later." };

/* Refusals without a status. */
static const char *const bare[] = { "Qwen OAuth quota exceeded:", "Qwen OAuth free tier has been discontinued" };

/* Each turn begins with "init"; other messages of the program may appear anywhere. */
static void on_system(struct events *e, const json_t *event)
{
	if (member_is(event, "subtype", "init"))
		e->ended = false;
	member_keep(&e->version, event, "qwen_code_version");
}

static void on_assistant(struct events *e, const json_t *event)
{
	e->served = true;
	member_keep(&e->model, member(event, "message"), "model");
}

static void on_user(struct events *e, const json_t *event)
{
	const json_t *content = member(member(event, "message"), "content");

	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);

		e->tool_errors += member_is(block, "type", "tool_result") && json_is_true(member(block, "is_error"));
	}
}

/* The refusal at the end of a text, perhaps after earlier output; NULL: none. *status: the status
 * it contains, 0. */
static const char *refusal_in(const char *text, int64_t *status)
{
	const char *last = NULL;
	size_t size;

	*status = 0;
	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++) {
		if (strncmp(text, bare[i], strlen(bare[i])) == 0)
			return text;
	}
	for (const char *p = strstr(text, REFUSED); p != NULL; p = strstr(p + 1, REFUSED))
		last = p;
	for (size_t i = 0; last != NULL && i < sizeof(throttled) / sizeof(throttled[0]); i++) {
		if (strstr(last, throttled[i]) == NULL)
			continue;
		*status = 429;
		return last;
	}
	size = strlen(text);
	while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
		size--;
	return last != NULL && text[size - 1] == ']' ? last : NULL;
}

/* Totals of the conversation, including earlier processes; input includes the cached tokens. */
static void read_usage(struct events *e, const json_t *usage)
{
	e->cached = member_count(usage, "cache_read_input_tokens", ROW_NONE);
	e->input = count_without(member_count(usage, "input_tokens", ROW_NONE), e->cached);
	e->output = member_count(usage, "output_tokens", ROW_NONE);
	e->of_session = true;
}

static void on_result(struct events *e, const json_t *event)
{
	const json_t *error = member(event, "error");
	int64_t status;
	const char *text = member_text(event, "result"), *refusal = refusal_in(text, &status);
	size_t denials = json_array_size(member(event, "permission_denials"));

	answer_set(&e->answer, text);
	read_usage(e, member(event, "usage"));
	e->denials = (int)denials;
	e->tool_errors = e->tool_errors > e->denials ? e->tool_errors - e->denials : 0;
	events_recovered(e);
	if (refusal != NULL)
		events_fail(e, refusal, status, PROVIDER_ERROR);
	else if (!json_is_false(member(event, "is_error")) || text == NULL)
		events_fail(e, member_text(error, "message") != NULL ?
		    member_text(error, "message") : text, 0, PROVIDER_OK);
	e->ended = true;
}

static const struct events_row rows[] = {
	{ "system", on_system, true },
	/* a failed subagent has a result of its own, and the work continues */
	{ "assistant", on_assistant, false },
	{ "user", on_user, false },
	{ "result", on_result, false },
	{ NULL, NULL, false },
};

static const char *const wordless[] = { "system", "user", NULL };

static const struct events_type qwen = { .rows = rows, .wordless = wordless,
    .session = "session_id", .needs = "--output-format stream-json" };

static void *qwen_new(void)
{
	return events_new(&qwen);
}

/* ---- what it shows while it works ---- */

/* Everything else in a result was shown before. */
static void show_failure(struct show *s, const json_t *event)
{
	show_add(s, SHOW_ERROR, member_text(member(event, "error"), "message"));
}

static const struct show_row shown[] = {
	{ "assistant", show_blocks, NULL },
	{ "user", show_results, NULL },
	{ "result", show_failure, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_qwen = { "qwen", qwen_new, events_feed, events_gap, events_is_over,
    events_end, shown, NULL };
