/* SPDX-License-Identifier: MIT */
/* Claude Code: one JSON document per line, of which "result" ends the work (--output-format
 * stream-json or json). */
#include "agent/reader.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "agent/json_line.h"
#include "agent/json_stream.h"
#include "agent/member.h"
#include "agent/refusal.h"
#include "agent/reset.h"
#include "agent/show.h"
#include "core/row.h"
#include "proto/memory.h"

#define NO_RESULT "the output ends without a result line: the program was cut off, or its command lacks " \
	"\"--output-format stream-json --verbose\""

struct claude_reader {
	struct json_stream stream;
	char *session;
	char *model, *version;	/* of the newest answer; of the program */
	json_t *result;		/* the newest one, owned; it counts while `over` is set */
	bool several;		/* there was an earlier one: work in the background continued */
	bool over;		/* there is a result, and no turn has begun after it */
	bool served;		/* the model has answered */
	bool limited;		/* the service reported that the account's limit is reached ... */
	int64_t resets_at;	/* ... and until when: s or ms since the epoch; ROW_NONE: unknown */
	/* message of the program in place of an answer; NULL: the last message is the model's */
	char *notice;
	int64_t retry_status;	/* of the service's last refusal that was retried, 0: none
				 * since the last answer */
	int tool_errors;	/* including denials */
};

static void *claude_new(void)
{
	struct claude_reader *r = xcalloc(1, sizeof(*r));

	r->resets_at = ROW_NONE;
	json_stream_init(&r->stream);
	return r;
}

/* Each turn begins with "init"; hooks and the like may appear at any time. */
static void on_system(struct claude_reader *r, json_t *event)
{
	bool retry = member_is(event, "subtype", "api_retry");

	if (retry || member_is(event, "subtype", "init"))
		r->over = false;
	member_keep(&r->version, event, "claude_code_version");
	if (retry)
		r->retry_status = member_count(event, "error_status", 0);
}

/* A message of the program replaces the model's if the service failed; otherwise a request
 * succeeded. */
static void on_assistant(struct claude_reader *r, json_t *event)
{
	const json_t *message = member(event, "message"), *block = json_array_get(member(message, "content"), 0);
	bool own = member_is(message, "model", "<synthetic>") || member_text(event, "error") != NULL;

	free(r->notice);
	r->notice = own ? xstrdup(member_text(block, "text")) : NULL;
	r->over = false;
	if (own)
		return;
	r->served = true;
	member_keep(&r->model, message, "model");
	r->retry_status = 0;
	r->limited = false;
}

static void on_user(struct claude_reader *r, json_t *event)
{
	const json_t *content = member(member(event, "message"), "content");

	r->over = false;
	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);

		r->tool_errors += member_is(block, "type", "tool_result") && json_is_true(member(block, "is_error"));
	}
}

/* An account that pays for use beyond its limit is still served. */
static bool is_paid(const json_t *info)
{
	return json_is_true(member(info, "isUsingOverage")) || member_is(info, "overageStatus", "allowed") ||
	    member_is(info, "overageStatus", "allowed_warning");
}

/* "allowed" and "allowed_warning" come with successful requests. Newer programs report the window's
 * reset separately from the status. */
static void on_rate_limit(struct claude_reader *r, json_t *event)
{
	const json_t *info = member(event, "rate_limit_info"), *window = NULL;
	const char *type = member_text(info, "rateLimitType");

	if (type != NULL)
		window = member(member(info, "unifiedWindows"), type);
	r->limited = (member_is(info, "status", "rejected") || member_is(info, "status", "denied")) && !is_paid(info);
	r->resets_at = member_count(info, "resetsAt", member_count(window, "resetsAt", ROW_NONE));
}

static void on_result(struct claude_reader *r, json_t *event)
{
	r->several = r->several || r->result != NULL;
	json_decref(r->result);
	r->result = json_incref(event);
	r->over = true;
}

/* All other types of events are ignored. */
static const struct {
	const char *type;
	void (*on)(struct claude_reader *r, json_t *event);
} events[] = {
	{ "system", on_system },
	{ "assistant", on_assistant },
	{ "user", on_user },
	{ "rate_limit_event", on_rate_limit },
	{ "result", on_result },
};

static void on_document(void *state, const char *data, size_t size)
{
	struct claude_reader *r = state;
	json_t *event = json_line_parse(data, size);

	member_keep(&r->session, event, "session_id");
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (member_is(event, "type", events[i].type))
			events[i].on(r, event);
	}
	json_decref(event);
}

static void lose_result(struct claude_reader *r)
{
	json_decref(r->result);
	r->result = NULL;
	r->over = false;
}

#define TYPE_FIRST "{\"type\":\""
#define RESULT_HEAD TYPE_FIRST "result\""

/* The result line repeats everything: nothing is lost with a skipped line before it, unless it was
 * the result itself, whose type newer versions write last. */
static void on_lost(void *state, const char *head, size_t size)
{
	struct claude_reader *r = state;
	bool typed = size >= strlen(TYPE_FIRST) && memcmp(head, TYPE_FIRST, strlen(TYPE_FIRST)) == 0;

	r->over = false;
	if (!typed || (size >= strlen(RESULT_HEAD) && memcmp(head, RESULT_HEAD, strlen(RESULT_HEAD)) == 0))
		lose_result(r);
}

static const struct json_taker taker = { on_document, on_lost };

static void claude_feed(void *state, const char *data, size_t size)
{
	struct claude_reader *r = state;

	json_stream_feed(&r->stream, data, size, &taker, r);
}

static void claude_gap(void *state)
{
	struct claude_reader *r = state;

	json_stream_gap(&r->stream);
	lose_result(r);		/* another may have followed */
}

/* What the failure tells about the service. A status other than 429 belongs to a request that the
 * limit permitted. */
static void claude_conclude(const struct claude_reader *r, struct agent_result *out)
{
	const json_t *result = r->over ? r->result : NULL;
	int64_t status = result != NULL ? member_count(result, "api_error_status", 0) : r->retry_status;
	struct refusal refusal;

	out->notice = xstrdup(result != NULL ? out->error : r->notice);
	refusal = refusal_of(status, out->notice, PROVIDER_OK);
	if (member_is(result, "terminal_reason", "blocking_limit") || (r->limited && (status == 0 || status == 429)))
		refusal = (struct refusal){ PROVIDER_LIMIT, false };
	out->provider = refusal.provider;
	out->transient = refusal.transient;
	if (refusal.provider == PROVIDER_LIMIT && r->limited)
		out->reset_at = reset_ms(r->resets_at);
}

/* The program's reason for its failure. malloc'd. */
static char *error_words(const json_t *result)
{
	const char *words = member_text(result, "result"), *first, *subtype = member_text(result, "subtype");

	if (words != NULL && words[0] != '\0')
		return xstrdup(words);
	first = json_string_value(json_array_get(member(result, "errors"), 0));
	if (first != NULL)
		return xstrdup(first);
	if (subtype != NULL && strcmp(subtype, "success") != 0)
		return xasprintf("the program ended with \"%s\"", subtype);
	return xstrdup("the program reports a failure without a message");
}

static void read_usage(const json_t *usage, struct agent_result *out)
{
	out->tokens_input = member_count(usage, "input_tokens", ROW_NONE);
	out->tokens_cached = member_count(usage, "cache_read_input_tokens", ROW_NONE);
	out->tokens_cache_write = member_count(usage, "cache_creation_input_tokens", ROW_NONE);
	out->tokens_output = member_count(usage, "output_tokens", ROW_NONE);
}

/* Of several results, each has the usage of its own turns; usage by model and cost are totals. */
static void read_models(const json_t *models, struct agent_result *out)
{
	const json_t *usage;
	const char *name;

	if (json_object_size(models) == 0)
		return;
	out->tokens_input = out->tokens_cached = out->tokens_cache_write = out->tokens_output = ROW_NONE;
	json_object_foreach((json_t *)models, name, usage) {
		out->tokens_input = count_sum(out->tokens_input, member_count(usage, "inputTokens", ROW_NONE));
		out->tokens_cached = count_sum(out->tokens_cached,
		    member_count(usage, "cacheReadInputTokens", ROW_NONE));
		out->tokens_cache_write = count_sum(out->tokens_cache_write,
		    member_count(usage, "cacheCreationInputTokens", ROW_NONE));
		out->tokens_output = count_sum(out->tokens_output, member_count(usage, "outputTokens", ROW_NONE));
	}
}

/* Old versions report it in a success. */
static bool is_old_limit(const char *text)
{
	static const char words[] = "Claude AI usage limit reached|";

	return text != NULL && strncmp(text, words, strlen(words)) == 0 &&
	    text[strlen(words) + strspn(text + strlen(words), "0123456789")] == '\0';
}

/* With --json-schema the answer is an object; usually with its text in addition. */
static char *answer_of(const json_t *result)
{
	const char *text = member_text(result, "result");
	const json_t *object = member(result, "structured_output");

	return (text == NULL || text[0] == '\0') && json_is_object(object) ?
	    json_dumps(object, JSON_COMPACT) : xstrdup(text);
}

static void read_result(const json_t *result, struct agent_result *out)
{
	out->text = answer_of(result);
	out->size = out->text != NULL ? strlen(out->text) : 0;
	/* Only a plain "false" is a success, and only with an answer. */
	out->is_error = !json_is_false(member(result, "is_error")) || out->text == NULL ||
	    member_is(result, "terminal_reason", "blocking_limit") || is_old_limit(out->text);
	out->denials = (int)json_array_size(member(result, "permission_denials"));
	if (out->is_error)
		out->error = error_words(result);
}

/* Also from an abandoned result: it was paid for. */
static void read_spent(const struct claude_reader *r, struct agent_result *out)
{
	out->cost_usd = member_amount(r->result, "total_cost_usd");
	read_usage(member(r->result, "usage"), out);
	if (r->several)
		read_models(member(r->result, "modelUsage"), out);
}

static bool claude_is_over(const void *state)
{
	return ((const struct claude_reader *)state)->over;
}

static void claude_end(void *state, struct agent_result *out)
{
	struct claude_reader *r = state;

	/* the single document of "json" has no messages */
	if (r->model == NULL)
		member_keep_names(&r->model, member(r->result, "modelUsage"));
	read_spent(r, out);
	if (r->over) {
		read_result(r->result, out);
	} else {
		out->is_error = true;
		out->error = xstrdup(NO_RESULT);
		out->incomplete = true;
	}
	out->unanswered = !r->served && out->is_error;
	if (out->is_error)
		claude_conclude(r, out);
	out->tool_errors = r->tool_errors > out->denials ? r->tool_errors - out->denials : 0;
	out->session = r->session;
	out->model = r->model;
	out->version = r->version;
	free(r->notice);
	json_decref(r->result);
	json_stream_release(&r->stream);
	free(r);
}

/* ---- what it shows while it works ---- */

static void show_system(struct show *s, const json_t *event)
{
	char *text;

	if (!member_is(event, "subtype", "api_retry"))
		return;
	text = xasprintf("the service answered %lld, retry %lld", (long long)member_count(event, "error_status", 0),
	    (long long)member_count(event, "attempt", 0));
	show_add(s, SHOW_ERROR, text);
	free(text);
}

/* A failure is news; a success repeats what was shown. */
static void show_failure(struct show *s, const json_t *event)
{
	char *words;

	if (json_is_false(member(event, "is_error")))
		return;
	words = error_words(event);
	show_add(s, SHOW_ERROR, words);
	free(words);
}

static void show_success(struct show *s, const json_t *event)
{
	show_add(s, SHOW_SAID, member_text(event, "result"));
}

static const struct show_row shown[] = {
	{ "assistant", show_blocks, NULL },
	{ "user", show_results, NULL },
	{ "system", show_system, NULL },
	{ "result", show_failure, NULL },
	{ NULL, NULL, NULL },
};

static const struct show_row shown_last[] = {
	{ "result", show_success, NULL },
	{ NULL, NULL, NULL },
};

const struct reader_type reader_claude = { "claude", claude_new, claude_feed, claude_gap,
    claude_is_over, claude_end, shown, shown_last };
