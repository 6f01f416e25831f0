/* SPDX-License-Identifier: MIT */
#include "client/transcript.h"

#include <stdlib.h>
#include <string.h>

#include "client/cell.h"
#include "client/field.h"
#include "proto/escape.h"

#define SAID_MAX (256 * 1024)

/* How each kind is printed: before its lines, and in which colour. */
static const struct kind {
	const char *name, *before, *after;
	enum paint paint;
	bool one_line;		/* cut at the width of the terminal */
} kinds[] = {
	{ "said", "", "", PAINT_NONE, false },
	{ "tool", "> ", "", PAINT_CYAN, true },
	{ "failed", "  | ", "", PAINT_RED, true },
	{ "error", "error: ", "", PAINT_RED, false },
	{ "skipped", "[", "]", PAINT_DIM, false },
};

static void say(struct transcript *t, const char *text, bool more)
{
	if (!more)
		buf_release(&t->said);
	if (t->said.size + strlen(text) < SAID_MAX)
		buf_adds(&t->said, text);
}

/* Takes ownership of line. */
static void print_line(const struct print *p, const struct kind *kind, char *line)
{
	char *whole = xasprintf("%s%s%s", kind->before, line, kind->after),
	     *shown = print_clip(whole, kind->one_line ? p->width : 0);

	print_painted(p, kind->paint, shown);
	fputc('\n', p->file);
	free(shown);
	free(whole);
	free(line);
}

/* Line by line: a colour ends with its line. */
static void print_item(const struct print *p, const struct kind *kind, const char *text)
{
	for (const char *line = text; *line != '\0';) {
		size_t size = strcspn(line, "\n");

		print_line(p, kind, print_untabbed(line, size, NULL));
		line += size + (line[size] == '\n');
	}
}

void transcript_close(struct transcript *t, const struct print *p)
{
	if (t->open)
		fputc('\n', p->file);
	t->open = false;
}

/* What the agent says begins a paragraph. */
static void set_apart(const struct transcript *t, const struct print *p)
{
	if (t->any)
		fputc('\n', p->file);
}

static void print_piece(struct transcript *t, const struct print *p, const char *text)
{
	char *safe = text_escape(text, strlen(text), true);

	if (!t->piece && !t->text)
		set_apart(t, p);
	say(t, text, t->piece);
	t->piece = t->any = true;
	fputs(safe, p->file);
	if (*safe != '\0')
		t->open = safe[strlen(safe) - 1] != '\n';
	free(safe);
}

void transcript_print(struct transcript *t, const struct print *p, const json_t *page)
{
	const json_t *items = field_array(page, "items");

	t->text = field_is(page, "reader", "text");
	t->next = field_int(page, "next") == FIELD_NONE ? t->next : field_int(page, "next");
	if (field_count(page, "dropped") > 0) {
		transcript_close(t, p);
		print_line(p, &kinds[ARRAY_SIZE(kinds) - 1],
		    xasprintf("%lld bytes were not kept", field_count(page, "dropped")));
	}
	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *item = json_array_get(items, i);
		const char *text = field_text(item, "text");

		if (field_is(item, "kind", "piece")) {
			print_piece(t, p, text);
			continue;
		}
		transcript_close(t, p);
		t->piece = false;
		if (field_is(item, "kind", "said")) {
			set_apart(t, p);
			say(t, text, false);
		}
		t->any = true;
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			if (field_is(item, "kind", kinds[k].name))
				print_item(p, &kinds[k], text);
	}
}

/* Compares without the blanks at both ends. */
static bool is_same(const char *a, const char *b)
{
	static const char blanks[] = " \t\r\n";
	size_t m, n;

	a += strspn(a, blanks);
	b += strspn(b, blanks);
	for (m = strlen(a); m > 0 && strchr(blanks, a[m - 1]) != NULL; m--)
		;
	for (n = strlen(b); n > 0 && strchr(blanks, b[n - 1]) != NULL; n--)
		;
	return m == n && memcmp(a, b, n) == 0;
}

void transcript_end(struct transcript *t, const struct print *p, const char *answer, const json_t *attempt)
{
	char *took = cell_took(attempt, NULL), *tokens = cell_tokens(attempt, NULL),
	     *cost = cell_cost(attempt, "cost_usd");
	struct buf spent = { 0 };

	transcript_close(t, p);
	if (answer != NULL && *answer != '\0' && !t->text &&
	    !is_same(answer, t->said.data == NULL ? "" : t->said.data)) {
		set_apart(t, p);
		print_painted(p, PAINT_BOLD, "Answer:");
		fputc('\n', p->file);
		print_item(p, &kinds[0], answer);
	}
	buf_adds(&spent, took);
	if (*tokens != '\0')
		buf_addf(&spent, "%s%s tokens", spent.size > 0 ? ", " : "", tokens);
	if (*cost != '\0')
		buf_addf(&spent, "%s%s", spent.size > 0 ? ", " : "", cost);
	if (spent.size > 0)
		print_line(p, &kinds[ARRAY_SIZE(kinds) - 1], buf_take(&spent, NULL));
	buf_release(&spent);
	free(took);
	free(tokens);
	free(cost);
}

void transcript_release(struct transcript *t)
{
	buf_release(&t->said);
}
