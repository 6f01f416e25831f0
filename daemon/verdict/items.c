/* SPDX-License-Identifier: MIT */
#include "verdict/items.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "verdict/clean.h"
#include "verdict/text_position.h"

#define SEVERITY_LONGEST 64
#define EMPHASIS "*_~"

struct line {
	const char *text, *end;		/* after the indent; before trailing white space */
	size_t indent;			/* columns */
};

struct state {
	struct items *items;
	bool fixed;			/* which items are wanted */
	char *severity;			/* NULL: no heading so far */
	const char *item, *item_end;	/* after the list mark; NULL: no open item */
	size_t indent;			/* of its list mark */
	bool blank;			/* the previous line was blank */
	char fence;			/* character of the open fence, 0: none */
	size_t fence_length;
	bool fence_inside;		/* the fence is part of the item */
	struct buf beside;		/* lines in no item */
};

static const char *skip(const char *p, const char *end, const char *chars)
{
	while (p < end && *p != '\0' && strchr(chars, *p) != NULL)
		p++;
	return p;
}

static size_t count(const char *p, const char *end, char c)
{
	size_t n = 0;

	while (p + n < end && p[n] == c)
		n++;
	return n;
}

/* After "[ ]" or "[x]", of which a corrector may have added a second one; otherwise p. */
static const char *skip_box(const char *p, const char *end)
{
	while (end - p >= 3 && p[0] == '[' && strchr(" xX~-", p[1]) != NULL && p[2] == ']' &&
	    (end - p == 3 || isspace((unsigned char)p[3])))
		p = skip(p + 3, end, " \t\n");
	return p;
}

/* After "FIXED:", with any emphasis; NULL if p does not begin with it. *open: a mark of emphasis
 * that is still open. */
static const char *skip_fixed(const char *p, const char *end, char *open)
{
	*open = '\0';
	for (; p < end && (strchr(EMPHASIS " \t", *p) != NULL || (unsigned char)*p >= 0x80); p++)
		*open = *p == '*' || *p == '_' ? *p : '\0';
	if (end - p < 5 || strncmp(p, "FIXED", 5) != 0)
		return NULL;
	for (p += 5; p < end && strchr(EMPHASIS " \t", *p) != NULL; p++)
		*open = *p == *open ? '\0' : *open;
	if (p == end || *p != ':')
		return NULL;
	for (p++; p < end && strchr(EMPHASIS, *p) != NULL; p++)
		*open = *p == *open ? '\0' : *open;
	return skip(p, end, " \t\n");
}

/* A mark of strong emphasis or deletion: which one, -1: none. A mark with white space on both sides
 * is text. */
static int strong_mark(const char *from, const char *p, const char *end)
{
	if (end - p < 2 || p[0] != p[1] || (*p != '*' && *p != '~'))
		return -1;
	if ((p == from || isspace((unsigned char)p[-1])) && (end - p == 2 || isspace((unsigned char)p[2])))
		return -1;
	return *p == '~';
}

/* Without their pairs outside of code, wherever they begin and end: a corrector may put its mark
 * inside or outside. */
static char *without_strong(const char *from, const char *end)
{
	size_t left[2] = { 0, 0 };
	struct buf out = { 0 };
	const char *kept = from;
	int mark;

	for (int pass = 0; pass < 2; pass++) {
		bool code = false;

		for (const char *p = from; p < end; p++) {
			/* nearly all of a text */
			if (*p != '*' && *p != '~' && *p != '`')
				continue;
			mark = code ? -1 : strong_mark(from, p, end);
			if (*p == '`' && (p == from || p[-1] != '`'))
				code = !code;
			if (mark < 0)
				continue;
			if (pass == 0) {
				left[mark]++;
			} else if (left[mark] > 0) {
				left[mark]--;
				buf_add(&out, kept, (size_t)(p - kept));
				kept = p + 2;
			}
			p++;
		}
		/* the last one of an odd number has no partner */
		left[0] -= left[0] % 2;
		left[1] -= left[1] % 2;
	}
	buf_add(&out, kept, (size_t)(end - kept));
	return buf_take(&out, NULL);
}

/* Size without trailing white space. */
static size_t trimmed(const char *text, size_t size)
{
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	return size;
}

/* Split an item, without its list mark, into the parts of a finding; its text is "" if there is
 * none. */
static void split(const char *from, const char *end, size_t max, struct verdict_finding *out)
{
	char *plain = without_strong(skip_box(from, end), end), open;
	const char *text = skip(plain, plain + strlen(plain), " \t\n"), *fixed;
	struct text_position place;
	size_t size;

	end = plain + strlen(plain);
	fixed = skip_fixed(text, end, &open);
	text = skip_box(fixed != NULL ? fixed : text, end);
	place = text_position_read(text);
	*out = (struct verdict_finding){ .line = place.line };
	if (place.file != NULL)
		out->file = xmemdup0(place.file, place.file_size);
	text += place.length;
	size = trimmed(text, strlen(text));
	if (fixed != NULL && size > 0 && open != '\0' && text[size - 1] == open)
		size = trimmed(text, size - 1);
	out->text = clean_text(text, size, max);
	free(plain);
}

static bool is_marked(const char *from, const char *end)
{
	char open;

	return skip_fixed(skip_box(from, end), end, &open) != NULL;
}

static void drop(struct verdict_finding *finding)
{
	free(finding->file);
	free(finding->severity);
	free(finding->text);
}

/* The open item is complete. */
static void finish(struct state *s)
{
	struct items *items = s->items;
	struct verdict_finding finding;
	const char *item = s->item;

	s->item = NULL;
	if (item == NULL || skip_box(item, s->item_end) == s->item_end || is_marked(item, s->item_end) != s->fixed)
		return;
	if (items->count == ITEMS_MAX) {
		items->left_out++;
		return;
	}
	split(item, s->item_end, CLEAN_FINDING_MAX, &finding);
	if (finding.text[0] == '\0') {
		drop(&finding);
	} else {
		finding.severity = xstrdup(s->severity);
		items->list = xreallocarray(items->list, items->count + 1, sizeof(*items->list));
		items->list[items->count++] = finding;
	}
}

static void begin(struct state *s, const struct line *line, const char *text)
{
	finish(s);
	s->item = text;
	s->item_end = line->end;
	s->indent = line->indent;
}

/* A heading is the severity of the items under it. */
static void head(struct state *s, const char *from, const char *end)
{
	size_t size;

	finish(s);
	free(s->severity);
	s->severity = without_strong(from, end);
	size = strlen(s->severity);
	while (size > 0 && strchr("#: \t\r\v\f", s->severity[size - 1]) != NULL)
		size--;
	if (size > SEVERITY_LONGEST) {
		for (size = SEVERITY_LONGEST; ((unsigned char)s->severity[size] & 0xc0) == 0x80; size--)
			;
	}
	s->severity[size] = '\0';
	if (size == 0) {
		free(s->severity);
		s->severity = NULL;
	}
}

/* After "## "; NULL if the line is not a heading. */
static const char *heading_text(const struct line *line)
{
	size_t n = count(line->text, line->end, '#');

	if (n < 1 || n > 6 || (line->text + n < line->end && !isspace((unsigned char)line->text[n])))
		return NULL;
	return skip(line->text + n, line->end, " \t");
}

/* A short line in bold: a heading in texts that use no "#". */
static bool is_strong_line(const struct line *line)
{
	const char *end = line->end > line->text && line->end[-1] == ':' ? line->end - 1 : line->end;
	size_t size = (size_t)(end - line->text);

	return size > 4 && size <= SEVERITY_LONGEST && memcmp(line->text, "**", 2) == 0 &&
	    memcmp(end - 2, "**", 2) == 0 && memmem(line->text + 2, size - 4, "**", 2) == NULL;
}

/* "---", "* * *" */
static bool is_rule(const struct line *line)
{
	size_t n = 0;

	if (strchr("-*_", *line->text) == NULL)
		return false;
	for (const char *p = line->text; p < line->end; p++) {
		if (*p == *line->text)
			n++;
		else if (*p != ' ' && *p != '\t')
			return false;
	}
	return n >= 3;
}

/* After "- " or "12. "; NULL if the line does not begin with a list mark. */
static const char *list_text(const struct line *line)
{
	const char *p = line->text;
	size_t digits = 0;

	while (p + digits < line->end && digits < 10 && isdigit((unsigned char)p[digits]))
		digits++;
	if (digits > 9 || (digits > 0 ? p + digits == line->end || (p[digits] != '.' && p[digits] != ')') :
	    strchr("-*+", *p) == NULL))
		return NULL;
	p += digits + 1;
	return p == line->end || isspace((unsigned char)*p) ? skip(p, line->end, " \t") : NULL;
}

/* A line in no item. One that ends with a colon introduces a list. */
static void add_beside(struct state *s, const struct line *line)
{
	if (!s->fixed && line->end > line->text && (s->fence != '\0' || line->end[-1] != ':'))
		buf_addf(&s->beside, "%s%.*s", s->beside.size > 0 ? "\n" : "", (int)(line->end - line->text),
		    line->text);
}

/* A line in a fence, including its end. */
static void read_code(struct state *s, const struct line *line)
{
	size_t n = count(line->text, line->end, s->fence);

	if (n >= s->fence_length && line->text + n == line->end)
		s->fence = '\0';
	if (s->fence_inside)
		s->item_end = line->end;
	else
		add_beside(s, line);
}

static void open_fence(struct state *s, const struct line *line)
{
	s->fence = *line->text;
	s->fence_length = count(line->text, line->end, s->fence);
	s->fence_inside = s->item != NULL && line->indent > s->indent;
	if (s->fence_inside) {
		s->item_end = line->end;
	} else {
		finish(s);
		add_beside(s, line);
	}
}

static void read_text(struct state *s, const struct line *line)
{
	finish(s);
	add_beside(s, line);
}

static bool is_fence(const struct line *line)
{
	return (*line->text == '`' || *line->text == '~') && count(line->text, line->end, *line->text) >= 3;
}

static void read_line(struct state *s, const struct line *line)
{
	/* separated from the item, or indented enough to be part of it */
	bool inside = s->item != NULL && line->indent >= s->indent + 2;
	bool apart = s->item == NULL || (s->blank && !inside);
	const char *text;

	if (s->fence != '\0')
		read_code(s, line);
	else if (line->text == line->end)
		;
	else if (is_fence(line))
		open_fence(s, line);
	else if (!inside && (text = heading_text(line)) != NULL)
		head(s, text, line->end);
	else if (!inside && is_rule(line))
		finish(s);
	else if (!inside && (text = list_text(line)) != NULL)
		begin(s, line, text);
	else if (!inside && is_marked(line->text, line->end))
		begin(s, line, line->text);
	else if (apart && is_strong_line(line))
		head(s, line->text, line->end);
	else if (apart)
		read_text(s, line);
	else
		s->item_end = line->end;
	s->blank = s->fence == '\0' && line->text == line->end;
}

static struct line line_at(const char *p, const char *end)
{
	struct line line = { .text = p, .end = end };

	while (line.end > p && isspace((unsigned char)line.end[-1]))
		line.end--;
	for (; line.text < line.end && (*line.text == ' ' || *line.text == '\t'); line.text++)
		line.indent += *line.text == ' ' ? 1 : 4 - line.indent % 4;
	return line;
}

void items_read(const char *text, size_t size, bool fixed, struct items *items)
{
	char *clean = clean_text(text, size, SIZE_MAX);
	struct state s = { .items = items, .fixed = fixed };
	struct line line;

	*items = (struct items){ 0 };
	for (const char *p = clean, *end; *p != '\0'; p = *end == '\0' ? end : end + 1) {
		end = strchrnul(p, '\n');
		line = line_at(p, end);
		read_line(&s, &line);
	}
	finish(&s);
	if (s.beside.size > 0)
		items->beside = buf_take(&s.beside, NULL);
	free(s.severity);
	free(clean);
}

void item_read(const char *text, size_t size, size_t max, struct verdict_finding *out)
{
	char *clean = clean_text(text, size, SIZE_MAX);
	const char *end = clean + strlen(clean);

	split(skip(clean, end, " \t\r\n"), end, max, out);
	if (out->text[0] == '\0') {
		/* only marks: keep it unchanged */
		drop(out);
		*out = (struct verdict_finding){ .text = clean_text(text, size, max) };
	}
	free(clean);
}
