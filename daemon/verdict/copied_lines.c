/* SPDX-License-Identifier: MIT */
#include "verdict/copied_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"

#define LETTERS_MIN 48
#define LINES_MAX 1000

/* Letters and digits, as ASCII has them, in lower case; all other bytes of UTF-8. */
static void add_letters(struct buf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];
		char lower = (char)(c < 0x80 ? tolower(c) : c);

		if (c >= 0x80 || isalnum(c))
			buf_add(out, &lower, 1);
	}
}

/* The words from *from on, or anywhere. A copy in order is looked through once. */
static bool stand_in(const struct buf *all, size_t *from, const struct buf *words)
{
	const char *at = memmem(all->data + *from, all->size - *from, words->data, words->size);

	if (at == NULL)
		at = memmem(all->data, all->size, words->data, words->size);
	if (at != NULL)
		*from = (size_t)(at - all->data) + words->size;
	return at != NULL;
}

bool copied_lines(const struct echo_text *source, const char *text, size_t size)
{
	const char *end = size > 0 ? text + size : text;
	struct buf all = { 0 }, words = { 0 };
	size_t from = 0, letters = 0;
	bool copied = true;
	int lines = 0;

	if (source->data == NULL || source->size == 0)
		return false;
	add_letters(&all, source->data, source->size);
	for (const char *line = text, *next; copied && line < end && lines < LINES_MAX; line = next, lines++) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		next = stop != NULL ? stop + 1 : end;
		words.size = 0;
		add_letters(&words, line, (size_t)(next - line));
		letters += words.size;
		copied = words.size == 0 || (all.size > 0 && stand_in(&all, &from, &words));
	}
	buf_release(&all);
	buf_release(&words);
	return copied && letters >= LETTERS_MIN;
}
