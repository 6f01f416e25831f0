/* SPDX-License-Identifier: MIT */
#include "prompt/prompt.h"

#include <cmark.h>
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "proto/memory.h"

/* Offset of a line, counted from 1; lines end with LF, CR or both, as in CommonMark. */
static size_t line_offset(struct span text, int line)
{
	size_t at = 0;

	for (; line > 1 && at < text.size; at++) {
		if (text.data[at] == '\n' ||
		    (text.data[at] == '\r' && (at + 1 == text.size || text.data[at + 1] != '\n')))
			line--;
	}
	return at;
}

/* White space: a single blank between words, none at the ends. */
static char *collapse(const char *text)
{
	struct buf out = { 0 };
	bool blank = false;

	for (; *text != '\0'; text++) {
		if (isspace((unsigned char)*text)) {
			blank = out.size > 0;
			continue;
		}
		buf_adds(&out, blank ? " " : "");
		buf_add(&out, text, 1);
		blank = false;
	}
	return buf_take(&out, NULL);
}

/* A heading as displayed: without emphasis and back quotes, links as their text. */
static char *plain_text(cmark_node *heading)
{
	cmark_iter *iter = cmark_iter_new(heading);
	struct buf text = { 0 };
	char *plain;

	while (cmark_iter_next(iter) != CMARK_EVENT_DONE) {
		cmark_node *node = cmark_iter_get_node(iter);
		cmark_node_type type = cmark_node_get_type(node);

		if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
			buf_adds(&text, cmark_node_get_literal(node));
		else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
			buf_adds(&text, " ");
	}
	cmark_iter_free(iter);
	plain = collapse(text.data != NULL ? text.data : "");
	buf_release(&text);
	return plain;
}

/* After "3.", "3)", "2.1" and the like before a heading. */
static const char *without_number(const char *heading)
{
	const char *end = heading;

	while (isdigit((unsigned char)*end) || (end > heading && *end == '.'))
		end++;
	end += end > heading && (*end == ')' || *end == ':');
	return end > heading && end[0] == ' ' && end[1] != '\0' ? end + 1 : heading;
}

static bool reads(cmark_node *node, const char *wanted, bool numbered)
{
	char *plain = plain_text(node);
	bool same = strcasecmp(numbered ? plain : without_number(plain),
	    numbered ? wanted : without_number(wanted)) == 0;

	free(plain);
	return same;
}

/* Only children of the document: a heading in a quotation or a list belongs to that. NULL: none
 * matches. */
static cmark_node *find_heading(cmark_node *document, const char *wanted, bool numbered)
{
	cmark_node *node = cmark_node_first_child(document);

	while (node != NULL && (cmark_node_get_type(node) != CMARK_NODE_HEADING || !reads(node, wanted, numbered)))
		node = cmark_node_next(node);
	return node;
}

/* End of the section that begins with heading. */
static size_t section_end(struct span markdown, cmark_node *heading)
{
	int level = cmark_node_get_heading_level(heading);

	for (cmark_node *node = cmark_node_next(heading); node != NULL; node = cmark_node_next(node)) {
		if (cmark_node_get_type(node) == CMARK_NODE_HEADING && cmark_node_get_heading_level(node) <= level)
			return line_offset(markdown, cmark_node_get_start_line(node));
	}
	return markdown.size;
}

char *prompt_section(struct span markdown, const char *heading)
{
	cmark_node *document = cmark_parse_document(markdown.data != NULL ? markdown.data : "",
	    markdown.size, CMARK_OPT_DEFAULT), *found;
	char *wanted = collapse(heading), *section = NULL;
	size_t start;

	found = find_heading(document, wanted, true);
	if (found == NULL)
		found = find_heading(document, wanted, false);
	if (found != NULL) {
		start = line_offset(markdown, cmark_node_get_start_line(found));
		section = xmemdup0(markdown.data + start, section_end(markdown, found) - start);
	}
	free(wanted);
	cmark_node_free(document);
	return section;
}
