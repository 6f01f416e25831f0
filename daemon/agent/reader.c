/* SPDX-License-Identifier: MIT */
#include "agent/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strip.h"
#include "core/row.h"
#include "proto/escape.h"
#include "proto/memory.h"

struct reader {
	const struct reader_type *type;
	void *state;
};

/* A new format is a row here and a file. */
static const struct reader_type *const types[READER_KINDS] = {
	[READER_TEXT] = &reader_text,
	[READER_CLAUDE] = &reader_claude,
	[READER_CODEX] = &reader_codex,
	[READER_GEMINI] = &reader_gemini,
	[READER_OPENCODE] = &reader_opencode,
	[READER_COPILOT] = &reader_copilot,
	[READER_QWEN] = &reader_qwen,
	[READER_PI] = &reader_pi,
};

static const struct { bool cost, tokens; } tells[READER_KINDS] = {
	[READER_TEXT] = { false, false },
	[READER_CLAUDE] = { true, true },
	[READER_CODEX] = { false, true },
	[READER_GEMINI] = { false, true },
	[READER_OPENCODE] = { true, true },
	[READER_COPILOT] = { false, false },
	[READER_QWEN] = { false, true },
	[READER_PI] = { true, true },
};

bool reader_tells_cost(enum reader_kind kind)
{
	return tells[kind].cost;
}

bool reader_tells_tokens(enum reader_kind kind)
{
	return tells[kind].tokens;
}

struct reader *reader_new(enum reader_kind kind)
{
	struct reader *r = xcalloc(1, sizeof(*r));

	r->type = types[kind];
	r->state = r->type->new();
	return r;
}

void reader_feed(struct reader *r, const char *data, size_t size)
{
	r->type->feed(r->state, data, size);
}

void reader_gap(struct reader *r)
{
	r->type->gap(r->state);
}

bool reader_is_over(const struct reader *r)
{
	return r->type->is_over != NULL && r->type->is_over(r->state);
}

bool reader_can_tell(enum reader_kind kind)
{
	return types[kind]->is_over != NULL;
}

/* Longer ids are ignored. */
#define SESSION_MAX 1024

/* It becomes a command line argument, and must not look like an option. */
static bool is_session(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return n > 0 && n <= SESSION_MAX && name[0] != '-';
}

#define NAME_MAX_BYTES 200

/* A name for rows and people. Takes name. */
static char *plain_name(char *name)
{
	size_t n = name != NULL ? strlen(name) : 0;
	bool plain = n > 0 && n <= NAME_MAX_BYTES;

	for (size_t i = 0; i < n && plain; i++)
		plain = (unsigned char)name[i] >= ' ' && name[i] != 0x7f;
	if (plain)
		return name;
	free(name);
	return NULL;
}

void reader_end(struct reader *r, struct agent_result *out)
{
	bool over;

	*out = (struct agent_result){
		.reset_at = ROW_NONE,
		.tokens_input = ROW_NONE,
		.tokens_cached = ROW_NONE,
		.tokens_cache_write = ROW_NONE,
		.tokens_output = ROW_NONE,
		.tokens_reasoning = ROW_NONE,
		.cost_usd = NAN,
		.provider = PROVIDER_OK,
	};
	over = reader_is_over(r);
	r->type->end(r->state, out);
	out->over = over;
	if (out->text == NULL)
		out->text = xstrdup("");
	if (out->session != NULL && !is_session(out->session)) {
		free(out->session);
		out->session = NULL;
	}
	out->model = plain_name(out->model);
	out->version = plain_name(out->version);
	free(r);
}

/* Complete characters only. */
static struct preview_tail whole(const struct preview_tail *tail)
{
	return (struct preview_tail){ tail->data, tail->size - text_unfinished(tail->data, tail->size), tail->cut };
}

char **reader_preview(enum reader_kind kind, const struct preview_tail *out,
    const struct preview_tail *err, size_t lines)
{
	struct preview p = { .wanted = lines };
	struct preview_tail shown = whole(out), said = whole(err);
	char **list;

	if (types[kind]->shown == NULL)
		preview_text(&p, &shown);
	else
		show_events(&p, &shown, types[kind]->shown, false);
	if (p.count == 0 && types[kind]->shown_last != NULL)
		show_events(&p, &shown, types[kind]->shown_last, true);
	if (p.count == 0)
		preview_text(&p, &said);
	list = xcalloc(p.count + 1, sizeof(*list));
	for (size_t i = 0; i < p.count; i++)
		list[i] = p.lines[p.count - 1 - i];
	return list;
}

/* Without escape sequences, other control characters made visible. malloc'd. */
static char *plain_text(const char *text)
{
	size_t size = strlen(text);
	char *copy = strip_escapes(text, size, &size), *safe;

	safe = text_escape(copy != NULL ? copy : text, size, true);
	free(copy);
	return safe;
}

static size_t show_as_text(struct show *s, const char *data, size_t size, bool last)
{
	size_t used = last ? size : size - text_unfinished(data, size);
	char *copy = xmemdup0(data, used);

	/* a text ends at its first NUL */
	for (size_t i = 0; i < used; i++)
		if (copy[i] == '\0')
			copy[i] = '?';
	show_add(s, SHOW_PIECE, copy);
	free(copy);
	return used;
}

size_t reader_show(enum reader_kind kind, struct show *s, const char *data, size_t size, bool last)
{
	size_t from = s->count, used;

	/* a text is cut where the next call continues */
	if (types[kind]->shown == NULL)
		used = show_as_text(s, data, size < SHOW_TEXT_MAX ? size : SHOW_TEXT_MAX,
		    last && size <= SHOW_TEXT_MAX);
	else
		used = show_forward(s, types[kind]->shown, data, size, last);
	for (; from < s->count; from++) {
		char *text = plain_text(s->items[from].text);

		free(s->items[from].text);
		s->items[from].text = text;
	}
	return used;
}

void agent_result_release(struct agent_result *result)
{
	free(result->text);
	free(result->session);
	free(result->model);
	free(result->version);
	free(result->error);
	free(result->notice);
	*result = (struct agent_result){ 0 };
}
