/* SPDX-License-Identifier: MIT */
/* A long text on the screen: scrolled, wrapped at the width, filtered by a word. Pure. */
#ifndef CLIENT_PAGER_H
#define CLIENT_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "client/lines.h"
#include "client/terminal.h"

struct pager;

/* paint_of: colour of a line; NULL: none. at_end: begin at the end, and stay there while it
 * grows. */
struct pager *pager_new(const char *title, enum paint (*paint_of)(const char *line), bool at_end);
void pager_free(struct pager *p);

/* Append text, which may be anything; a line continues until its newline. */
void pager_add(struct pager *p, const char *text, size_t size);
/* Only lines with this text, whatever the case of its ASCII letters; NULL or "": all. */
void pager_filter(struct pager *p, const char *text);

/* A key that scrolls. height: of the screen. Returns false if it is another one. */
bool pager_key(struct pager *p, enum key key, char c, size_t height);

/* The screen: title, text, and keys at the end; exactly height lines. */
void pager_draw(struct lines *l, struct pager *p, const char *keys, size_t height);

/* Shared by all views: whether text contains word, "" always. */
bool pager_matches(const char *text, const char *word);

#endif
