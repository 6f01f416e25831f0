/* SPDX-License-Identifier: MIT */
/* Claude Code: a JSON document a line, of which "result" ends the work (--output-format stream-json or json). */
#include "agent/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "agent/json_line.h"
#include "base/memory.h"
#include "core/row.h"

#define NO_RESULT "the output ends without a result line: the program was cut off, or its command lacks " \
	"\"--output-format stream-json --verbose\""

struct claude_reader {
	struct buf line;
	bool skipping;		/* the line is void: too long, or part of it was dropped */
	char *session;
	json_t *result;		/* the newest one, owned */
	bool limited;		/* the service said that the account's limit is reached */
	int64_t retry_status;	/* of the service's last refusal that was retried, 0: none since the last answer */
};

static void *claude_new(void)
{
	return xcalloc(1, sizeof(struct claude_reader));
}

/* NULL for anything but a string. Borrowed. */
static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool is(const json_t *object, const char *key, const char *value)
{
	const char *text = string_of(object, key);

	return text != NULL && strcmp(text, value) == 0;
}

static int64_t integer_of(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : otherwise;
}

static void on_system(struct claude_reader *r, json_t *line)
{
	if (is(line, "subtype", "api_retry"))
		r->retry_status = integer_of(line, "error_status", 0);
}

static void on_assistant(struct claude_reader *r, json_t *line)
{
	(void)line;
	r->retry_status = 0;
}

/* "allowed" and "allowed_warning" come with requests that were served. */
static void on_rate_limit(struct claude_reader *r, json_t *line)
{
	const json_t *info = json_object_get(line, "rate_limit_info");

	r->limited = is(info, "status", "rejected") || is(info, "status", "denied");
}

static void on_result(struct claude_reader *r, json_t *line)
{
	json_decref(r->result);
	r->result = json_incref(line);
}

/* Every other type of line is noise. */
static const struct {
	const char *type;
	void (*on)(struct claude_reader *r, json_t *line);
} lines[] = {
	{ "system", on_system },
	{ "assistant", on_assistant },
	{ "rate_limit_event", on_rate_limit },
	{ "result", on_result },
};

static void read_line(struct claude_reader *r, const char *data, size_t size)
{
	json_t *line;
	const char *session;

	line = json_line_parse(data, size);
	session = string_of(line, "session_id");
	if (session != NULL) {
		free(r->session);
		r->session = xstrdup(session);
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (is(line, "type", lines[i].type))
			lines[i].on(r, line);
	}
	json_decref(line);
}

static void end_line(struct claude_reader *r)
{
	if (!r->skipping && r->line.size > 0)
		read_line(r, r->line.data, r->line.size);
	r->skipping = false;
	r->line.size = 0;
}

static void claude_feed(void *state, const char *data, size_t size)
{
	struct claude_reader *r = state;

	while (size > 0) {
		const char *lf = memchr(data, '\n', size);
		size_t part = lf != NULL ? (size_t)(lf - data) : size;

		if (r->line.size + part > READER_LINE_MAX) {
			r->skipping = true;
			r->line.size = 0;
		}
		if (!r->skipping)
			buf_add(&r->line, data, part);
		if (lf != NULL) {
			end_line(r);
			part++;
		}
		data += part;
		size -= part;
	}
}

static void claude_gap(void *state)
{
	struct claude_reader *r = state;

	r->skipping = true;
	r->line.size = 0;
}

/* Statuses of the service, the narrow ones first. */
static const struct {
	int64_t lowest, highest;
	enum provider_result provider;
} statuses[] = {
	{ 401, 401, PROVIDER_AUTH },
	{ 403, 403, PROVIDER_AUTH },
	{ 429, 429, PROVIDER_THROTTLED },
	{ 400, INT64_MAX, PROVIDER_ERROR },
};

/* The program's own words for what has no status, or no telling one. Only looked for in the result of a failure. */
static const struct {
	const char *words;
	enum provider_result provider;
} phrases[] = {
	{ "limit · resets", PROVIDER_LIMIT },
	{ "You've hit your", PROVIDER_LIMIT },
	{ "usage limit reached", PROVIDER_LIMIT },
	{ "out of extra usage", PROVIDER_LIMIT },
	{ "Not logged in", PROVIDER_AUTH },
	{ "Invalid API key", PROVIDER_AUTH },
	{ "OAuth token has expired", PROVIDER_AUTH },
};

static enum provider_result by_status(int64_t status)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (status >= statuses[i].lowest && status <= statuses[i].highest)
			return statuses[i].provider;
	}
	return PROVIDER_OK;
}

static enum provider_result provider_of(const struct claude_reader *r, const char *words)
{
	int64_t status = r->result != NULL ? integer_of(r->result, "api_error_status", 0) : r->retry_status;
	enum provider_result provider = by_status(status);

	if (r->limited || is(r->result, "terminal_reason", "blocking_limit"))
		return PROVIDER_LIMIT;
	/* A number says less than words only where it may mean two things. */
	if (words == NULL || (provider != PROVIDER_OK && provider != PROVIDER_THROTTLED))
		return provider;
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (strstr(words, phrases[i].words) != NULL)
			return phrases[i].provider;
	}
	return provider;
}

/* Why the program says that it failed. malloc'd. */
static char *error_words(const json_t *result)
{
	const char *words = string_of(result, "result"), *first, *subtype = string_of(result, "subtype");

	if (words != NULL && words[0] != '\0')
		return xstrdup(words);
	first = json_string_value(json_array_get(json_object_get(result, "errors"), 0));
	if (first != NULL)
		return xstrdup(first);
	if (subtype != NULL && strcmp(subtype, "success") != 0)
		return xasprintf("the program ended with \"%s\"", subtype);
	return xstrdup("the program reports a failure without a word");
}

static void read_usage(const json_t *usage, struct agent_result *out)
{
	out->tokens_input = integer_of(usage, "input_tokens", ROW_NONE);
	out->tokens_cached = integer_of(usage, "cache_read_input_tokens", ROW_NONE);
	out->tokens_cache_write = integer_of(usage, "cache_creation_input_tokens", ROW_NONE);
	out->tokens_output = integer_of(usage, "output_tokens", ROW_NONE);
}

static void read_result(const json_t *result, struct agent_result *out)
{
	const json_t *cost = json_object_get(result, "total_cost_usd");
	const char *text = string_of(result, "result");

	out->text = xstrdup(text);
	out->size = text != NULL ? strlen(text) : 0;
	/* Only a plain "false" is no failure, and only with an answer. */
	out->is_error = !json_is_false(json_object_get(result, "is_error")) || text == NULL;
	out->denials = (int)json_array_size(json_object_get(result, "permission_denials"));
	out->cost_usd = json_is_number(cost) && json_number_value(cost) >= 0 ? json_number_value(cost) : NAN;
	read_usage(json_object_get(result, "usage"), out);
	if (out->is_error)
		out->error = error_words(result);
}

static void claude_end(void *state, struct agent_result *out)
{
	struct claude_reader *r = state;

	end_line(r);
	if (r->result != NULL) {
		read_result(r->result, out);
	} else {
		out->is_error = true;
		out->error = xstrdup(NO_RESULT);
		out->incomplete = true;
	}
	if (out->is_error)
		out->provider = provider_of(r, out->error);
	out->session = r->session;
	json_decref(r->result);
	buf_release(&r->line);
	free(r);
}

/* ---- what it shows while it works ---- */

static void show(struct preview *p, const char *text)
{
	if (text != NULL)
		preview_text(p, &(struct preview_tail){ text, strlen(text), false });
}

/* Of what a tool is given, what tells most. */
static const char *const told_inputs[] = {
	"command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description", "prompt",
};

/* "Bash: make test" */
static void show_tool(struct preview *p, const json_t *use)
{
	const json_t *input = json_object_get(use, "input");
	const char *name = string_of(use, "name"), *with = NULL;
	char *line;

	for (size_t i = 0; with == NULL && i < sizeof(told_inputs) / sizeof(told_inputs[0]); i++)
		with = string_of(input, told_inputs[i]);
	if (name == NULL)
		return;
	line = with == NULL ? xstrdup(name) : xasprintf("%s: %.*s", name, (int)strcspn(with, "\r\n"), with);
	show(p, line);
	free(line);
}

static void show_assistant(struct preview *p, const json_t *line)
{
	const json_t *content = json_object_get(json_object_get(line, "message"), "content");

	for (size_t i = json_array_size(content); i-- > 0 && !preview_full(p);) {
		const json_t *block = json_array_get(content, i);

		if (is(block, "type", "text"))
			show(p, string_of(block, "text"));
		else if (is(block, "type", "tool_use"))
			show_tool(p, block);
	}
}

static void show_system(struct preview *p, const json_t *line)
{
	char *text;

	if (!is(line, "subtype", "api_retry"))
		return;
	text = xasprintf("the service answered %lld, retry %lld", (long long)integer_of(line, "error_status", 0),
	    (long long)integer_of(line, "attempt", 0));
	show(p, text);
	free(text);
}

/* A failure is news; a success repeats what was said, and is shown only when that is not there. */
static void show_result(struct preview *p, const json_t *line)
{
	char *words;

	if (json_is_false(json_object_get(line, "is_error")))
		return;
	words = error_words(line);
	show(p, words);
	free(words);
}

static const struct {
	const char *type;
	void (*show)(struct preview *p, const json_t *line);
} shown_lines[] = {
	{ "assistant", show_assistant },
	{ "system", show_system },
	{ "result", show_result },
};

/* What is no JSON comes from what runs the program; a document that is not all there is none of that. */
static bool is_plain(const struct preview_tail *line)
{
	size_t at = 0;

	while (at < line->size && (line->data[at] == ' ' || line->data[at] == '\t'))
		at++;
	return at < line->size && line->data[at] != '{' && line->data[at] != '[';
}

static void claude_preview(struct preview *p, const struct preview_tail *out)
{
	struct preview_tail line;
	size_t at = out->size;
	json_t *result = NULL;

	while (!preview_full(p) && preview_back(out, "\n", &at, &line)) {
		json_t *json = json_line_parse(line.data, line.size);

		if (json == NULL && !line.cut && is_plain(&line))
			preview_text(p, &line);
		for (size_t i = 0; i < sizeof(shown_lines) / sizeof(shown_lines[0]); i++) {
			if (is(json, "type", shown_lines[i].type))
				shown_lines[i].show(p, json);
		}
		if (result == NULL && is(json, "type", "result"))
			result = json_incref(json);
		json_decref(json);
	}
	if (p->count == 0)
		show(p, string_of(result, "result"));
	json_decref(result);
}

const struct reader_type reader_claude = { "claude", claude_new, claude_feed, claude_gap, claude_end, claude_preview };
