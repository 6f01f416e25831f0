/* SPDX-License-Identifier: MIT */
#include "client/page/html.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/escape.h"
#include "proto/memory.h"

#define DEPTH_MAX 64

struct html {
	struct buf out;
	const char *open[DEPTH_MAX];	/* names of the elements that are not closed */
	size_t depth;
	bool in_tag;			/* the innermost one still takes attributes */
};

static bool html_is_in(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Elements without content. */
static bool html_is_void(const char *name)
{
	static const char *const names[] = { "meta", "br", "hr", "input", "link" };

	return html_is_in(names, ARRAY_SIZE(names), name);
}

/* Elements that end a line of the source; white space after them does not show. */
static bool html_is_block(const char *name)
{
	static const char *const names[] = { "meta", "title", "style", "head", "h1", "h2", "h3", "h4", "p", "div", "dl",
		"dd", "ul", "ol", "li", "table", "caption", "thead", "tbody", "tr", "section", "article", "header",
		"footer", "main", "nav", "details", "summary", "pre", "svg", "rect", "body",
		"html", "link", "script", "form" };

	return html_is_in(names, ARRAY_SIZE(names), name);
}

struct html *html_new(void)
{
	struct html *h = xcalloc(1, sizeof(*h));

	buf_adds(&h->out, "<!doctype html>\n");
	return h;
}

char *html_take(struct html *h, size_t *size)
{
	char *text;

	html_close_to(h, 0);
	text = buf_take(&h->out, size);
	free(h);
	return text;
}

static void html_end_tag(struct html *h)
{
	if (h->in_tag)
		buf_adds(&h->out, ">");
	h->in_tag = false;
}

void html_open(struct html *h, const char *name)
{
	html_end_tag(h);
	if (h->depth == DEPTH_MAX)
		abort();
	h->open[h->depth++] = name;
	buf_addf(&h->out, "<%s", name);
	h->in_tag = true;
}

void html_open_class(struct html *h, const char *name, const char *class)
{
	html_open(h, name);
	html_attr(h, "class", class);
}

/* The one place where text becomes HTML. */
static void html_escape(struct html *h, const char *data, size_t size)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	char *safe = text_escape(data, size, true);

	for (const char *at = safe; *at != '\0';) {
		size_t plain = strcspn(at, special);

		buf_add(&h->out, at, plain);
		at += plain;
		if (*at != '\0')
			buf_adds(&h->out, entities[strchr(special, *at++) - special]);
	}
	free(safe);
}

void html_attr(struct html *h, const char *name, const char *value)
{
	if (!h->in_tag)
		abort();
	if (value == NULL)
		return;
	buf_addf(&h->out, " %s=\"", name);
	html_escape(h, value, strlen(value));
	buf_adds(&h->out, "\"");
}

void html_attrf(struct html *h, const char *name, const char *fmt, ...)
{
	va_list ap;
	char *value;

	va_start(ap, fmt);
	value = xvasprintf(fmt, ap);
	va_end(ap);
	html_attr(h, name, value);
	free(value);
}

void html_close(struct html *h)
{
	const char *name;

	html_end_tag(h);
	if (h->depth == 0)
		abort();
	name = h->open[--h->depth];
	if (!html_is_void(name))
		buf_addf(&h->out, "</%s>", name);
	if (html_is_block(name))
		buf_adds(&h->out, "\n");
}

size_t html_depth(const struct html *h)
{
	return h->depth;
}

void html_close_to(struct html *h, size_t depth)
{
	while (h->depth > depth)
		html_close(h);
}

void html_bytes(struct html *h, const char *data, size_t size)
{
	html_end_tag(h);
	html_escape(h, data, size);
}

void html_text(struct html *h, const char *text)
{
	html_bytes(h, text, strlen(text));
}

static void html_vtextf(struct html *h, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

static void html_vtextf(struct html *h, const char *fmt, va_list ap)
{
	char *text = xvasprintf(fmt, ap);

	html_text(h, text);
	free(text);
}

void html_textf(struct html *h, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	html_vtextf(h, fmt, ap);
	va_end(ap);
}

void html_leaf(struct html *h, const char *name, const char *class, const char *text)
{
	html_open_class(h, name, class);
	html_text(h, text);
	html_close(h);
}

void html_leaff(struct html *h, const char *name, const char *class, const char *fmt, ...)
{
	va_list ap;

	html_open_class(h, name, class);
	va_start(ap, fmt);
	html_vtextf(h, fmt, ap);
	va_end(ap);
	html_close(h);
}

void html_style(struct html *h, const char *css)
{
	html_open(h, "style");
	html_end_tag(h);
	buf_adds(&h->out, css);
	html_close(h);
}
