/* SPDX-License-Identifier: MIT */
/* The items of a Markdown text: its list, read line by line. These are the findings of the file
 * carrier, and the items that a corrector marked as fixed: both are read by the same code, so that
 * they can be compared. */
#ifndef VERDICT_ITEMS_H
#define VERDICT_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

#include "verdict/verdict.h"

#define ITEMS_MAX 256

struct items {
	struct verdict_finding *list;	/* owned by the caller; NULL if there are none */
	size_t count;
	size_t left_out;		/* number of items beyond ITEMS_MAX */
	/* what stands beside the items: text that is in none of them, no heading and no line that
	 * introduces a list (it ends with a colon). Owned; NULL if there is nothing, or if fixed */
	char *beside;
};

/* The top-level items ("- text", "* text", "+ text", "1. text", with or without check box) with
 * their indented continuation. The heading above an item is its severity. fixed: only those marked
 * FIXED, without the mark, with list mark or not; otherwise only the others. Lists in fences are
 * code. Fills in items; linear. */
void items_read(const char *text, size_t size, bool fixed, struct items *items);

/* A text as an item, at most max bytes of it. */
void item_read(const char *text, size_t size, size_t max, struct verdict_finding *out);

#endif
