/* SPDX-License-Identifier: MIT */
/* Holds: in a list, and the form that decides one. It works without a script. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "client/hold_choice.h"
#include "client/page/pieces.h"
#include "client/web/web_page.h"
#include "proto/memory.h"

/* A kind as people say it, and what the field of its form is for. */
static const struct hold_words {
	const char *kind, *title, *field;
} words[] = {
	{ "question", "An agent asks", "Your answer, or instructions for rework" },
	{ "exhausted", "Findings are left after the last fix round", NULL },
	{ "stalled", "The fixes make no progress", NULL },
	{ "violation", "The review gave no valid verdict", NULL },
	{ "reviewer-error", "The reviewer failed", NULL },
	{ "conflict", "The work conflicts with other work", NULL },
	{ "commit-refused", "git refused the commit", NULL },
	{ "reviewer-changed", "The reviewing program has changed", NULL },
	{ "cut", "The reviewer was not shown all of the diff", NULL },
	{ "protected", "Protected files were changed", NULL },
	{ "dismissed", "All findings are dismissed", NULL },
	{ "ref-moved", "A branch was moved", NULL },
	{ "setup", "The set-up failed", "Why (optional)" },
	{ "lost", "An attempt was lost", "Why (optional)" },
	{ NULL, "A decision is needed", "Reason, or instructions for rework" },
};

static const struct hold_words *hold_words(const json_t *hold)
{
	const struct hold_words *row = words;

	while (row->kind != NULL && !field_is(hold, "kind", row->kind))
		row++;
	return row;
}

const char *page_hold_title(const json_t *hold)
{
	return hold_words(hold)->title;
}

static void hold_effects(struct html *h, const json_t *hold, const char *id)
{
	bool first = true;

	html_open_class(h, "p", "note");
	html_attr(h, "id", id);
	for (const struct choice *choice = choices; choice->word != NULL; choice++) {
		if (!choice_applies(choice, hold))
			continue;
		html_textf(h, "%s%s: %s", first ? "" : ". ", choice->button, choice->effect);
		first = false;
	}
	html_text(h, ".");
	html_close(h);
}

static void hold_field(struct html *h, const json_t *hold, const char *text)
{
	const struct hold_words *row = hold_words(hold), *other = &words[ARRAY_SIZE(words) - 1];
	long long id = field_count(hold, "id");

	html_open(h, "label");
	html_attrf(h, "for", "message-%lld", id);
	html_text(h, row->field != NULL ? row->field : other->field);
	html_close(h);
	html_open(h, "textarea");
	html_attrf(h, "id", "message-%lld", id);
	html_attrf(h, "aria-describedby", "effects-%lld", id);
	html_attr(h, "name", "message");
	html_attr(h, "rows", "4");
	html_attr(h, "dir", "auto");
	html_text(h, text);
	html_close(h);
}

void page_form(struct html *h, const struct request *r, const json_t *hold, const char *text)
{
	char *effects_id = xasprintf("effects-%lld", field_count(hold, "id"));
	bool first = true;

	html_open_class(h, "form", "decide");
	html_attr(h, "method", "post");
	html_attrf(h, "action", "%s/hold/%lld", r->address, field_count(hold, "id"));
	html_open(h, "input");
	html_attr(h, "type", "hidden");
	html_attr(h, "name", "form");
	html_attr(h, "value", r->session->form);
	html_close(h);
	hold_field(h, hold, text);
	html_open_class(h, "div", "buttons");
	for (const struct choice *choice = choices; choice->word != NULL; choice++) {
		if (!choice_applies(choice, hold))
			continue;
		html_open(h, "button");
		html_attr(h, "name", "decision");
		html_attr(h, "value", choice->word);
		html_attr(h, "class", first ? "first" : choice->word);
		first = false;
		html_text(h, choice->button);
		html_close(h);
	}
	html_close(h);
	hold_effects(h, hold, effects_id);
	html_close(h);
	free(effects_id);
}

void page_decide(struct html *h, const json_t *hold, const struct page_frame *frame)
{
	const struct request *r = ((const struct web_page *)frame->arg)->request;

	html_open(h, "p");
	page_link(h, r, "/hold/%lld", field_count(hold, "id"));
	html_textf(h, "Reviews and diff of hold %lld", field_count(hold, "id"));
	html_close(h);
	html_close(h);
	html_open(h, "details");
	html_leaff(h, "summary", NULL, "Decide hold %lld here", field_count(hold, "id"));
	page_form(h, r, hold, "");
	html_close(h);
}

void page_hold(struct html *h, const struct request *r, const json_t *hold)
{
	char *age = cell_age(hold, "created_at");

	html_open_class(h, "li", "row");
	html_open_class(h, "p", "row-head");
	page_link(h, r, "/hold/%lld", field_count(hold, "id"));
	html_attr(h, "dir", "auto");
	if (*field_text(hold, "task") != '\0') {
		piece_clip(h, field_text(hold, "task"), 60);
		html_text(h, ": ");
	}
	html_text(h, page_hold_title(hold));
	html_close(h);
	html_close(h);
	html_open_class(h, "p", "row-why");
	html_attr(h, "dir", "auto");
	piece_clip(h, field_text(hold, "reason"), 300);
	html_close(h);
	html_open_class(h, "p", "by");
	html_textf(h, "Hold %lld of run %lld, for %s", field_count(hold, "id"), field_count(hold, "run"), age);
	html_close(h);
	html_close(h);
	free(age);
}
