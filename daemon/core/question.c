/* SPDX-License-Identifier: MIT */
#include "core/question.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/own_lines.h"
#include "proto/memory.h"

/* Where the last paragraph begins; size: without white space at the end. */
static size_t last_paragraph(const char *text, size_t size)
{
	size_t start = 0, at = 0;
	bool blank = true;

	while (at < size) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
		bool empty = own_line_trim(text + at, length).size == 0;

		if (blank && !empty)
			start = at;
		blank = empty;
		at += length + 1;
	}
	return start;
}

/* Whether its first line is one of the agent's own. */
static bool is_own(const char *text, size_t size, const char *first)
{
	struct own_lines lines = own_lines_of(text, size);
	struct own_line line;

	while (own_lines_next(&lines, &line))
		if (line.text == first)
			return true;
	return false;
}

char *question_of(const char *text, size_t size)
{
	struct own_line paragraph;
	size_t start;

	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	start = last_paragraph(text, size);
	paragraph = own_line_trim(text + start, size - start);
	if (paragraph.size < sizeof(QUESTION_MARK) ||
	    memcmp(paragraph.text, QUESTION_MARK, sizeof(QUESTION_MARK) - 1) != 0 ||
	    !is_own(text, size, paragraph.text))
		return NULL;
	paragraph.text += sizeof(QUESTION_MARK) - 1;
	paragraph.size -= sizeof(QUESTION_MARK) - 1;
	while (paragraph.size > 0 && isspace((unsigned char)*paragraph.text)) {
		paragraph.text++;
		paragraph.size--;
	}
	return paragraph.size > 0 ? xmemdup0(paragraph.text, paragraph.size) : NULL;
}
