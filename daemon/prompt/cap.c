/* SPDX-License-Identifier: MIT */
#include "prompt/prompt.h"

#include "proto/memory.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Length of the code point at p (RFC 3629); 0: invalid, or a NUL, which no argument can contain. */
static size_t point_length(const unsigned char *p, size_t left)
{
	static const struct {
		unsigned char first, last;	/* of the first byte */
		unsigned char low, high;	/* of the second */
		unsigned char length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (*p < forms[i].first || *p > forms[i].last)
			continue;
		if (left < forms[i].length || (forms[i].length > 1 && (p[1] < forms[i].low || p[1] > forms[i].high)))
			return 0;
		for (size_t n = 2; n < forms[i].length; n++) {
			if ((p[n] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].length;
	}
	return 0;
}

static size_t count_points(struct span text)
{
	size_t points = 0;

	for (size_t i = 0, n; i < text.size; i += n, points++) {
		n = point_length((const unsigned char *)text.data + i, text.size - i);
		if (n == 0)
			n = 1;
	}
	return points;
}

/* Add at most points code points from *at on; *at moves past them. */
static void add_points(struct buf *out, struct span text, size_t *at, size_t points)
{
	size_t run = *at, n;

	for (; points > 0 && *at < text.size; points--, *at += n) {
		n = point_length((const unsigned char *)text.data + *at, text.size - *at);
		if (n > 0)
			continue;
		buf_add(out, text.data + run, *at - run);
		buf_adds(out, REPLACEMENT);
		n = 1;
		run = *at + 1;
	}
	buf_add(out, text.data + run, *at - run);
}

static void skip_points(struct span text, size_t *at, size_t points)
{
	for (size_t n; points > 0 && *at < text.size; points--, *at += n) {
		n = point_length((const unsigned char *)text.data + *at, text.size - *at);
		if (n == 0)
			n = 1;
	}
}

size_t prompt_cut(struct span text, size_t cap, size_t *head, size_t *tail)
{
	size_t points = text.data != NULL ? count_points(text) : 0, at = 0;

	*head = *tail = text.size;
	if (points <= cap)
		return 0;
	skip_points(text, &at, cap / 2);
	*head = at;
	skip_points(text, &at, points - cap);
	*tail = at;
	return points - cap;
}

void prompt_gap(struct buf *out, size_t points)
{
	buf_adds(out, out->size > 0 && out->data[out->size - 1] != '\n' ? "\n" : "");
	buf_addf(out, "[... %zu characters left out ...]\n", points);
}

char *prompt_cap(struct span text, size_t cap, size_t *size)
{
	size_t head, tail, left_out = prompt_cut(text, cap, &head, &tail), at = 0;
	struct buf out = { 0 };

	if (text.data != NULL)
		add_points(&out, (struct span){ text.data, head }, &at, head);
	if (left_out > 0) {
		prompt_gap(&out, left_out);
		at = tail;
		add_points(&out, text, &at, text.size);
	}
	return buf_take(&out, size);
}
