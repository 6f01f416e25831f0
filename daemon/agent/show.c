/* SPDX-License-Identifier: MIT */
#include "agent/show.h"

#include <stdlib.h>
#include <string.h>

#include "agent/json_line.h"
#include "agent/member.h"
#include "proto/memory.h"

/* The most informative members of a tool's input. */
static const char *const told_inputs[] = {
	"command", "file_path", "filePath", "absolute_path", "notebook_path", "path", "pattern",
	"query", "url", "description", "prompt",
};

void show_text(struct preview *p, const char *text)
{
	if (text != NULL)
		preview_text(p, &(struct preview_tail){ text, strlen(text), false });
}

void show_tool(struct preview *p, const char *name, const json_t *input)
{
	const char *with = NULL;
	char *line;

	for (size_t i = 0; with == NULL && i < sizeof(told_inputs) / sizeof(told_inputs[0]); i++)
		with = member_text(input, told_inputs[i]);
	if (name == NULL)
		return;
	line = with == NULL ? xstrdup(name) : xasprintf("%s: %.*s", name, (int)strcspn(with, "\r\n"), with);
	show_text(p, line);
	free(line);
}

void show_blocks(struct preview *p, const json_t *event)
{
	const json_t *content = member(member(event, "message"), "content");

	for (size_t i = json_array_size(content); i-- > 0 && !preview_full(p);) {
		const json_t *block = json_array_get(content, i);

		if (member_is(block, "type", "text"))
			show_text(p, member_text(block, "text"));
		else if (member_is(block, "type", "tool_use"))
			show_tool(p, member_text(block, "name"), member(block, "input"));
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

static void show_pieces(struct showing *s)
{
	show_text(s->p, s->pieces);
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
		if (!preview_full(s->p))
			row->show(s->p, event);
	}
}

void show_events(struct preview *p, const struct preview_tail *out, const struct show_row *rows)
{
	struct showing showing = { p, rows, NULL };
	struct preview_tail line;
	size_t at = out->size;

	while (!preview_full(p) && preview_back(out, "\n", &at, &line)) {
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
