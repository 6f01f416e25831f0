/* SPDX-License-Identifier: MIT */
#include "prompt/prompt.h"

#include <cmark.h>
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"

/* Where a line starts, counted from 1; a line ends with LF, CR or both, as CommonMark has it. */
static size_t line_offset(struct span text, int line)
{
	size_t at = 0;

	for (; line > 1 && at < text.size; at++) {
		if (text.data[at] == '\n' || (text.data[at] == '\r' && (at + 1 == text.size || text.data[at + 1] != '\n')))
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

/* What a reader sees of a heading: no emphasis, no back quotes, of a link its text. */
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

static bool reads(cmark_node *node, const char *wanted)
{
	char *plain = plain_text(node);
	bool same = strcasecmp(plain, wanted) == 0;

	free(plain);
	return same;
}

/* Only children of the document are looked at: a heading in a quotation or a list belongs to that. */
char *prompt_section(struct span markdown, const char *heading)
{
	cmark_node *document = cmark_parse_document(markdown.data != NULL ? markdown.data : "", markdown.size, CMARK_OPT_DEFAULT);
	char *wanted = collapse(heading), *section = NULL;
	size_t start = 0, end = markdown.size;
	int level = 0;

	for (cmark_node *node = cmark_node_first_child(document); node != NULL; node = cmark_node_next(node)) {
		if (cmark_node_get_type(node) != CMARK_NODE_HEADING)
			continue;
		if (level > 0 && cmark_node_get_heading_level(node) <= level) {
			end = line_offset(markdown, cmark_node_get_start_line(node));
			break;
		}
		if (level == 0 && reads(node, wanted)) {
			level = cmark_node_get_heading_level(node);
			start = line_offset(markdown, cmark_node_get_start_line(node));
		}
	}
	if (level > 0)
		section = xmemdup0(markdown.data + start, end - start);
	free(wanted);
	cmark_node_free(document);
	return section;
}
