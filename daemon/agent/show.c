/* SPDX-License-Identifier: MIT */
#include "agent/show.h"

#include <stdlib.h>
#include <string.h>

#include "agent/json_line.h"
#include "agent/member.h"
#include "proto/escape.h"
#include "proto/memory.h"

/* The most informative members of a tool's input. */
static const char *const told_inputs[] = {
	"command", "file_path", "filePath", "absolute_path", "notebook_path", "path", "pattern",
	"query", "url", "description", "prompt",
};

#define FAILED_LINES 10
#define FAILED_MAX 2000
/* More than this in one page is left out. */
#define BYTES_MAX (1024 * 1024)

static const char *const kinds[] = {
	[SHOW_SAID] = "said",
	[SHOW_PIECE] = "piece",
	[SHOW_TOOL] = "tool",
	[SHOW_FAILED] = "failed",
	[SHOW_ERROR] = "error",
	[SHOW_SKIPPED] = "skipped",
};
const struct state_names show_kind_names = { "kind", kinds, SHOW_KINDS, NULL };

void show_release(struct show *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->items[i].text);
	free(s->items);
	*s = (struct show){ 0 };
}

/* Takes ownership of text. */
static void show_put(struct show *s, enum show_kind kind, char *text)
{
	s->items = xreallocarray(s->items, s->count + 1, sizeof(*s->items));
	s->items[s->count++] = (struct show_item){ kind, text };
	s->bytes += strlen(text);
}

/* Of at most size bytes without a part of a character at the end. malloc'd. */
static char *show_cut(const char *text, size_t size)
{
	return xmemdup0(text, size - text_unfinished(text, size));
}

void show_add(struct show *s, enum show_kind kind, const char *text)
{
	size_t size = text != NULL ? strlen(text) : 0;

	if (size == 0 || s->bytes > BYTES_MAX)
		return;
	show_put(s, kind, show_cut(text, size < SHOW_TEXT_MAX ? size : SHOW_TEXT_MAX));
	if (size > SHOW_TEXT_MAX)
		show_put(s, SHOW_SKIPPED, xasprintf("%zu more bytes", size - SHOW_TEXT_MAX));
	if (s->bytes > BYTES_MAX)
		show_put(s, SHOW_SKIPPED, xstrdup("the rest of this part of the output"));
}

void show_tool(struct show *s, const char *name, const json_t *input)
{
	const char *with = NULL;
	char *line;

	for (size_t i = 0; with == NULL && i < sizeof(told_inputs) / sizeof(told_inputs[0]); i++)
		with = member_text(input, told_inputs[i]);
	if (name == NULL)
		return;
	line = with == NULL ? xstrdup(name) : xasprintf("%s: %.*s", name, (int)strcspn(with, "\r\n"), with);
	show_add(s, SHOW_TOOL, line);
	free(line);
}

void show_failed(struct show *s, const char *text)
{
	size_t end = text != NULL ? strlen(text) : 0, from, lines = 0;
	char *tail;

	while (end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL)
		end--;
	for (from = end; from > 0 && end - from < FAILED_MAX; from--)
		if (text[from - 1] == '\n' && ++lines == FAILED_LINES)
			break;
	while (from < end && (((unsigned char)text[from] & 0xc0) == 0x80 || strchr("\r\n", text[from]) != NULL))
		from++;
	tail = text != NULL ? xmemdup0(text + from, end - from) : NULL;
	show_add(s, SHOW_FAILED, tail);
	free(tail);
}

void show_failed_content(struct show *s, const json_t *content)
{
	if (json_is_string(content))
		show_failed(s, json_string_value(content));
	for (size_t i = 0; i < json_array_size(content); i++)
		show_failed(s, member_text(json_array_get(content, i), "text"));
}

void show_blocks(struct show *s, const json_t *event)
{
	const json_t *content = member(member(event, "message"), "content");

	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);

		if (member_is(block, "type", "text"))
			show_add(s, SHOW_SAID, member_text(block, "text"));
		else if (member_is(block, "type", "tool_use"))
			show_tool(s, member_text(block, "name"), member(block, "input"));
	}
}

void show_results(struct show *s, const json_t *event)
{
	const json_t *content = member(member(event, "message"), "content");

	for (size_t i = 0; i < json_array_size(content); i++) {
		const json_t *block = json_array_get(content, i);

		if (member_is(block, "type", "tool_result") && json_is_true(member(block, "is_error")))
			show_failed_content(s, member(block, "content"));
	}
}

/* A line that is not JSON comes from a wrapper of the program; the rest of an
 * incomplete document does not count as such a line. */
static bool is_plain(const struct preview_tail *line)
{
	size_t at = 0;

	while (at < line->size && (line->data[at] == ' ' || line->data[at] == '\t'))
		at++;
	return at < line->size && line->data[at] != '{' && line->data[at] != '[';
}

/* Events from the newest to the oldest. */
struct showing {
	struct preview *p;
	const struct show_row *rows;
	char *pieces;		/* of the text that continues in the previous event; NULL: none */
};

static void show_lines(struct preview *p, const char *text)
{
	if (text != NULL)
		preview_text(p, &(struct preview_tail){ text, strlen(text), false });
}

static void show_pieces(struct showing *s)
{
	show_lines(s->p, s->pieces);
	free(s->pieces);
	s->pieces = NULL;
}

static void add_piece(struct showing *s, const char *piece)
{
	char *longer;

	if (piece == NULL)
		return;
	longer = xasprintf("%s%s", piece, s->pieces != NULL ? s->pieces : "");
	free(s->pieces);
	s->pieces = longer;
}

static void show_backwards(struct preview *p, const struct show_row *row, const json_t *event)
{
	struct show items = { 0 };

	row->show(&items, event);
	for (size_t i = items.count; i-- > 0 && !preview_full(p);)
		if (items.items[i].kind != SHOW_FAILED && items.items[i].kind != SHOW_SKIPPED)
			show_lines(p, items.items[i].text);
	show_release(&items);
}

static void show_event(struct showing *s, const json_t *event)
{
	for (const struct show_row *row = s->rows; row->type != NULL; row++) {
		if (!member_is(event, "type", row->type))
			continue;
		if (row->piece != NULL) {
			add_piece(s, row->piece(event));
			continue;
		}
		show_pieces(s);
		show_backwards(s->p, row, event);
	}
}

void show_events(struct preview *p, const struct preview_tail *out, const struct show_row *rows, bool once)
{
	struct showing showing = { p, rows, NULL };
	struct preview_tail line;
	size_t at = out->size;

	while (!preview_full(p) && !(once && p->count > 0) && preview_back(out, "\n", &at, &line)) {
		json_t *json = json_line_parse(line.data, line.size);

		if (json == NULL && !line.cut && is_plain(&line)) {
			show_pieces(&showing);
			preview_text(p, &line);
		}
		for (size_t i = json_array_size(json); i-- > 0 && !preview_full(p);)
			show_event(&showing, json_array_get(json, i));
		show_event(&showing, json);
		json_decref(json);
	}
	show_pieces(&showing);
}

/* ---- forwards ---- */

static void forward_event(struct show *s, const struct show_row *rows, const json_t *event)
{
	for (const struct show_row *row = rows; row->type != NULL; row++) {
		if (!member_is(event, "type", row->type))
			continue;
		if (row->piece != NULL)
			show_add(s, SHOW_PIECE, row->piece(event));
		else
			row->show(s, event);
	}
}

static void forward_line(struct show *s, const struct show_row *rows, const struct preview_tail *line)
{
	json_t *json = json_line_parse(line->data, line->size);
	char *text;

	if (json == NULL && is_plain(line)) {
		text = xasprintf("%.*s\n", (int)line->size, line->data);
		show_add(s, SHOW_PIECE, text);
		free(text);
	}
	for (size_t i = 0; i < json_array_size(json); i++)
		forward_event(s, rows, json_array_get(json, i));
	forward_event(s, rows, json);
	json_decref(json);
}

size_t show_forward(struct show *s, const struct show_row *rows, const char *data, size_t size, bool last)
{
	size_t at = 0;

	while (at < size) {
		const char *end = memchr(data + at, '\n', size - at);
		size_t length = end != NULL ? (size_t)(end - data) - at : size - at;

		if (end == NULL && !last)
			break;
		forward_line(s, rows, &(struct preview_tail){ data + at, length, false });
		at += length + (end != NULL);
	}
	return at;
}
