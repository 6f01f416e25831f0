/* SPDX-License-Identifier: MIT */
/* A writer of HTML. Every text and every value of an attribute passes through it and is escaped
 * here, and nowhere else: what agents and repositories wrote cannot become markup, and its control
 * characters are visible. Names of elements and attributes are literals of this program. */
#ifndef CLIENT_PAGE_HTML_H
#define CLIENT_PAGE_HTML_H

#include <stddef.h>

struct html;

/* A document that begins with its doctype. */
struct html *html_new(void);
/* Close what is open and free h. Returns the document, which the caller frees. */
char *html_take(struct html *h, size_t *size);

/* Begin an element. Its attributes follow at once, before its content. */
void html_open(struct html *h, const char *name);
void html_open_class(struct html *h, const char *name, const char *class);
void html_attr(struct html *h, const char *name, const char *value);	/* NULL: left out */
void html_attrf(struct html *h, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* End the innermost element; or as many as it takes to be depth elements deep again. */
void html_close(struct html *h);
size_t html_depth(const struct html *h);
void html_close_to(struct html *h, size_t depth);

/* Content. Line breaks stay. */
void html_text(struct html *h, const char *text);
void html_bytes(struct html *h, const char *data, size_t size);
void html_textf(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* An element with a text. class NULL: none. */
void html_leaf(struct html *h, const char *name, const char *class, const char *text);
void html_leaff(struct html *h, const char *name, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The rules of the page: a text of this program, which is not escaped. */
void html_style(struct html *h, const char *css);

#endif
