/* SPDX-License-Identifier: MIT */
#include "prompt/markdown.h"

#include <stdlib.h>

void markdown_span(struct buf *out, struct span text)
{
	if (text.data != NULL)
		buf_add(out, text.data, text.size);
}

void markdown_line(struct buf *out, const char *text)
{
	for (; text != NULL && *text != '\0'; text++)
		buf_add(out, (unsigned char)*text < ' ' || *text == 0x7f ? " " : text, 1);
}

void markdown_item(struct buf *out, const char *lead, const char *text)
{
	buf_adds(out, lead);
	for (; *text != '\0'; text++) {
		buf_add(out, text, 1);
		if (*text == '\n')
			buf_adds(out, "  ");
	}
	buf_adds(out, "\n");
}

void markdown_fenced(struct buf *out, const char *info, struct span text)
{
	size_t longest = 2, run = 0;

	for (size_t i = 0; i < text.size; i++) {
		run = text.data[i] == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	for (size_t i = 0; i <= longest; i++)
		buf_add(out, "`", 1);
	buf_addf(out, "%s\n", info);
	markdown_span(out, text);
	if (text.size > 0 && text.data[text.size - 1] != '\n')
		buf_add(out, "\n", 1);
	for (size_t i = 0; i <= longest; i++)
		buf_add(out, "`", 1);
	buf_add(out, "\n", 1);
}

void markdown_capped(struct buf *out, const char *info, struct span text)
{
	size_t size;
	char *capped = prompt_cap(text, PROMPT_CAP, &size);

	markdown_fenced(out, info, (struct span){ capped, size });
	free(capped);
}

void markdown_section(struct buf *out, const char *heading, const char *lead, const char *info, struct span text)
{
	if (text.data == NULL)
		return;
	buf_addf(out, "## %s\n\n%s", heading, lead);
	markdown_capped(out, info, text);
}
