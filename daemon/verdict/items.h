/* SPDX-License-Identifier: MIT */
/* The items of a Markdown text: its list, read line by line. What the file carrier takes for
 * findings, and what a corrector marked as fixed among them: both are read by the same code, so
 * that they compare. */
#ifndef VERDICT_ITEMS_H
#define VERDICT_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "verdict/verdict.h"

#define ITEMS_MAX 256

struct items {
	struct verdict_finding *list;	/* owned by the caller; NULL when there is none */
	size_t count;
	size_t left_out;		/* beyond ITEMS_MAX */
};

/* The top-level items ("- text", "* text", "+ text", "1. text", with or without check box) with
 * their indented continuation, each under the heading it stands under, which is its severity.
 * fixed: only those marked FIXED, without the mark, list mark or not; else only the others. Lists
 * in fences are code. Fills items; linear. */
void items_read(const char *text, size_t size, bool fixed, struct items *items);

/* One text as an item of its own, at most max bytes of it. */
void item_read(const char *text, size_t size, size_t max, struct verdict_finding *out);

#endif
