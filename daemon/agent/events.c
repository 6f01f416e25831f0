/* SPDX-License-Identifier: MIT */
#include "agent/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json_line.h"
#include "agent/member.h"
#include "agent/refusal.h"
#include "core/row.h"

#define NO_END "the output ends without a result: the program was cut off, or its command lacks \"%s\""
#define NO_WORDS "the program reports a failure without a message"

void *events_new(const struct events_type *type)
{
	struct events *e = xcalloc(1, sizeof(*e));

	e->type = type;
	e->provider = PROVIDER_OK;
	e->input = e->cached = e->cache_write = e->output = e->reasoning = ROW_NONE;
	e->cost = NAN;
	json_stream_init(&e->stream);
	return e;
}

static bool is_passed_over(const struct events *e, const char *data, size_t size)
{
	const char *head = e->type->passed_over;

	return head != NULL && size > strlen(head) && memcmp(data, head, strlen(head)) == 0;
}

/* event NULL: it was too long to be read. */
static void events_take(struct events *e, const struct events_row *row, const json_t *event)
{
	if (!row->aside)
		e->ended = false;
	if (row->on != NULL)
		row->on(e, event);
}

static void on_document(void *state, const char *data, size_t size)
{
	struct events *e = state;
	json_t *event;

	if (is_passed_over(e, data, size))
		return;
	event = json_line_parse(data, size);
	if (e->type->session != NULL)
		member_keep(&e->session, event, e->type->session);
	for (const struct events_row *row = e->type->rows; row->type != NULL; row++) {
		if (member_is(event, "type", row->type))
			events_take(e, row, event);
	}
	if (event != NULL && member(event, "type") == NULL && e->type->on_untyped != NULL)
		e->type->on_untyped(e, event);
	json_decref(event);
}

/* The missing bytes may have been the last message, a part of it, or the beginning of another
 * turn. */
static void lose(struct events *e)
{
	e->ended = false;
	answer_lost(&e->answer);
	e->tool_since = false;
}

#define TYPE_FIRST "{\"type\":\""

/* Whether the document has this type, as far as its beginning shows. */
static bool begins_as(const char *head, size_t size, const char *type)
{
	size_t n = strlen(type), at = strlen(TYPE_FIRST);

	return size > at + n && memcmp(head + at, type, n) == 0 && head[at + n] == '"';
}

static bool is_wordless(const struct events_type *type, const char *name)
{
	for (const char *const *w = type->wordless; w != NULL && *w != NULL; w++) {
		if (strcmp(*w, name) == 0)
			return true;
	}
	return false;
}

/* The results of tools may be of any size. */
static void on_lost(void *state, const char *head, size_t size)
{
	struct events *e = state;

	if (size < strlen(TYPE_FIRST) || memcmp(head, TYPE_FIRST, strlen(TYPE_FIRST)) != 0) {
		lose(e);
		return;
	}
	for (const struct events_row *row = e->type->rows; row->type != NULL; row++) {
		if (!begins_as(head, size, row->type))
			continue;
		if (is_wordless(e->type, row->type))
			events_take(e, row, NULL);
		else
			lose(e);
	}
}

static const struct json_taker taker = { on_document, on_lost };

void events_feed(void *state, const char *data, size_t size)
{
	struct events *e = state;

	json_stream_feed(&e->stream, data, size, &taker, e);
}

void events_gap(void *state)
{
	struct events *e = state;

	json_stream_gap(&e->stream);
	lose(e);
}

void events_message(struct events *e, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	answer_set(&e->answer, text);
	e->served = true;
	e->tool_since = false;
}

void events_piece(struct events *e, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	if (e->tool_since)
		answer_set(&e->answer, NULL);
	answer_add(&e->answer, text, strlen(text));
	e->served = true;
	e->tool_since = false;
}

void events_fail(struct events *e, const char *words, int64_t status, enum provider_result otherwise)
{
	free(e->error);
	e->error = xstrdup(words != NULL && words[0] != '\0' ? words : NO_WORDS);
	e->status = status;
	e->provider = otherwise;
	e->retryable = false;
	free(e->beside);
	e->beside = NULL;
}

void events_beside(struct events *e, const char *name, const char *words)
{
	char *more;

	if (words == NULL)
		return;
	more = xasprintf("%s\n%s: %s", e->beside != NULL ? e->beside : "", name, words);
	free(e->beside);
	e->beside = more;
}

void events_recovered(struct events *e)
{
	free(e->error);
	e->error = NULL;
	e->status = 0;
	e->provider = PROVIDER_OK;
	e->retryable = false;
	free(e->beside);
	e->beside = NULL;
}

/* What the error tells about the service. */
static void events_conclude(const struct events *e, struct agent_result *out)
{
	struct refusal refusal;

	if (e->error == NULL)
		return;
	out->notice = xasprintf("%s%s", e->error, e->beside != NULL ? e->beside : "");
	refusal = refusal_of(e->status, out->notice, e->provider);
	out->provider = refusal.provider;
	out->transient = refusal.transient || (refusal.provider == PROVIDER_ERROR && e->retryable);
}

bool events_is_over(const void *state)
{
	return ((const struct events *)state)->ended;
}

void events_end(void *state, struct agent_result *out)
{
	struct events *e = state;

	answer_end(&e->answer, out);
	out->tokens_input = e->input;
	out->tokens_cached = e->cached;
	out->tokens_cache_write = e->cache_write;
	out->tokens_output = e->output;
	out->tokens_reasoning = e->reasoning;
	out->tokens_of_session = e->of_session;
	out->cost_usd = e->cost;
	out->session = e->session;
	out->model = e->model;
	out->version = e->version;
	out->denials = e->denials;
	out->tool_errors = e->tool_errors;
	out->is_error = !e->ended || e->error != NULL;
	out->incomplete = !e->ended;
	out->unanswered = !e->served && out->is_error;
	events_conclude(e, out);
	free(e->beside);
	if (e->ended) {
		out->error = e->error;
	} else {
		out->error = xasprintf(NO_END, e->type->needs);
		free(e->error);
	}
	json_stream_release(&e->stream);
	free(e);
}
