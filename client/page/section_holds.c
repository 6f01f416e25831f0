/* SPDX-License-Identifier: MIT */
/* Questions to a human, and who decided them. */
#include <stdlib.h>

#include "client/field.h"
#include "client/page/pieces.h"
#include "client/page/sections.h"
#include "proto/memory.h"

void section_decided(struct html *h, const json_t *hold, const char *more)
{
	if (*field_text(hold, "decided_by") == '\0')
		return;
	html_open_class(h, "div", "said");
	html_open_class(h, "p", "by");
	html_textf(h, "%s by %s", field_text(hold, "state"), field_text(hold, "decided_by"));
	if (field_int(hold, "by_uid") != FIELD_NONE)
		html_textf(h, ", uid %lld, process %lld", field_count(hold, "by_uid"), field_count(hold, "by_pid"));
	if (field_int(hold, "by_attempt") != FIELD_NONE)
		html_textf(h, ", of attempt %lld", field_count(hold, "by_attempt"));
	html_text(h, ", ");
	piece_time(h, hold, "decided_at");
	html_close(h);
	if (*field_text(hold, "message") != '\0')
		piece_prose(h, field_text(hold, "message"), more);
	html_close(h);
}

static void holds_item(struct html *h, const json_t *hold)
{
	char *more = xasprintf("rlctl hold show %lld", field_count(hold, "id"));

	html_open_class(h, "li", "hold");
	html_open_class(h, "p", "hold-head");
	html_leaff(h, "strong", NULL, "Hold %lld", field_count(hold, "id"));
	piece_state(h, field_text(hold, "state"));
	html_leaf(h, "span", "by", field_text(hold, "kind"));
	if (*field_text(hold, "task") != '\0') {
		html_open_class(h, "span", "by");
		html_text(h, "task ");
		piece_clip(h, field_text(hold, "task"), 40);
		html_close(h);
	}
	piece_time(h, hold, "created_at");
	html_close(h);
	piece_prose(h, field_text(hold, "reason"), more);
	section_decided(h, hold, more);
	html_close(h);
	free(more);
}

void section_holds(struct html *h, const json_t *d)
{
	const json_t *holds = field_array(d, "holds");
	size_t all = json_array_size(holds), shown = all < PIECE_ROWS_MAX ? all : PIECE_ROWS_MAX;
	char *more = xasprintf("rlctl hold list --run %lld --state all",
	    field_count(json_object_get(d, "run"), "id"));

	if (all > 0) {
		piece_section(h, "holds", "Holds");
		html_open_class(h, "ul", "holds");
		for (size_t i = 0; i < shown; i++)
			holds_item(h, json_array_get(holds, i));
		html_close(h);
		piece_left_out(h, shown, all, "holds", more);
		html_close(h);
	}
	free(more);
}
