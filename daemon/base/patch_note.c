/* SPDX-License-Identifier: MIT */
#include "base/patch_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAD "Not in this diff ("

static const char letters[] = "abtnvfr";	/* of \a to \r, 7 to 13 */

void patch_name_add(struct buf *out, const char *name)
{
	const unsigned char *p = (const unsigned char *)name;
	bool plain = true;

	for (const unsigned char *c = p; *c != '\0'; c++)
		plain = plain && *c >= 0x20 && *c != 0x7f && *c != '"' && *c != '\\';
	if (plain) {
		buf_adds(out, name);
		return;
	}
	buf_adds(out, "\"");
	for (; *p != '\0'; p++) {
		if (*p >= '\a' && *p <= '\r')
			buf_addf(out, "\\%c", letters[*p - '\a']);
		else if (*p < 0x20 || *p == 0x7f)
			buf_addf(out, "\\%03o", *p);
		else if (*p == '"' || *p == '\\')
			buf_addf(out, "\\%c", *p);
		else
			buf_add(out, (const char *)p, 1);
	}
	buf_adds(out, "\"");
}

/* The character after a backslash; *n: what it takes, 0: it is none. */
static char escaped(const char *text, size_t size, size_t *n)
{
	const char *letter = size > 0 && text[0] != '\0' ? strchr(letters, text[0]) : NULL;

	*n = size > 0;
	if (letter != NULL)
		return (char)('\a' + (letter - letters));
	if (size >= 3 && text[0] >= '0' && text[0] <= '3') {
		*n = 3;
		return (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0'));
	}
	return size > 0 ? text[0] : '\0';
}

char *patch_name_read(const char *text, size_t *size)
{
	struct buf out = { 0 };
	size_t i = 1, n;

	if (*size == 0 || text[0] != '"')
		return xmemdup0(text, *size);
	while (i < *size && text[i] != '"') {
		char c = text[i++];

		if (c == '\\') {
			c = escaped(text + i, *size - i, &n);
			i += n;
		}
		buf_add(&out, &c, 1);
	}
	*size = i < *size ? i + 1 : i;
	return buf_take(&out, &n);
}

void patch_note_add(struct buf *out, const struct patch_note *note)
{
	buf_addf(out, LEAD "%s, %" PRIu64 " bytes before, %" PRIu64 " bytes now): ",
	    note->binary ? "binary" : "large", note->was, note->now);
	patch_name_add(out, note->file);
	buf_adds(out, "\n");
}

bool patch_note_read(const char *line, size_t size, struct patch_note *note)
{
	static const char lead[] = LEAD;
	char *text, kind[8];
	int at = 0;
	size_t rest;

	if (size < sizeof(lead) || memcmp(line, lead, sizeof(lead) - 1) != 0)
		return false;
	text = xmemdup0(line, size > 0 && line[size - 1] == '\n' ? size - 1 : size);
	if (sscanf(text + sizeof(lead) - 1, "%7[a-z], %" SCNu64 " bytes before, %" SCNu64 " bytes now): %n",
	    kind, &note->was, &note->now, &at) != 3 || at == 0) {
		free(text);
		return false;
	}
	note->binary = strcmp(kind, "binary") == 0;
	rest = strlen(text + sizeof(lead) - 1 + at);
	note->file = patch_name_read(text + sizeof(lead) - 1 + at, &rest);
	free(text);
	return true;
}
