/* SPDX-License-Identifier: MIT */
#include "proto/escape.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "proto/memory.h"

/* Length (1..4) of the valid UTF-8 sequence at data with its code point, or 0 if there is none. */
static size_t decode(const char *data, size_t size, uint32_t *out)
{
	const unsigned char *p = (const unsigned char *)data;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n;

	if (p[0] < 0x80) {
		*out = p[0];
		return 1;
	}
	n = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : (p[0] & 0xf0) == 0xe0 ? 3 : (p[0] & 0xe0) == 0xc0 ? 2 : 0;
	if (n == 0 || n > size)
		return 0;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*out = c;
	return n;
}

/* Invisible code points: they reorder or break a line, hide text, or make two words look alike. */
static const struct {
	uint32_t first, last;
} invisible[] = {
	{ 0x00ad, 0x00ad },	/* soft hyphen */
	{ 0x034f, 0x034f },	/* combining grapheme joiner */
	{ 0x061c, 0x061c },	/* Arabic letter mark */
	{ 0x070f, 0x070f },	/* Syriac abbreviation mark */
	{ 0x115f, 0x1160 },	/* Hangul fillers */
	{ 0x17b4, 0x17b5 },	/* Khmer inherent vowels */
	{ 0x180b, 0x180f },	/* Mongolian selectors and vowel separator */
	{ 0x200b, 0x200f },	/* zero-width space, joiners, direction marks */
	{ 0x2028, 0x202e },	/* line separators, bidi embedding and override */
	/* word joiner, invisible operators, bidi isolates, deprecated format characters */
	{ 0x2060, 0x206f },
	{ 0x3164, 0x3164 },	/* Hangul filler */
	{ 0xfe00, 0xfe0f },	/* variation selectors */
	{ 0xfeff, 0xfeff },	/* byte order mark */
	{ 0xffa0, 0xffa0 },	/* Hangul filler, half width */
	{ 0xfff0, 0xfffb },	/* interlinear annotation */
	{ 0x13430, 0x1343f },	/* Egyptian hieroglyph format controls */
	{ 0x1bca0, 0x1bca3 },	/* shorthand format controls */
	{ 0x1d173, 0x1d17a },	/* musical format controls */
	{ 0xe0000, 0xe0fff },	/* tags, further variation selectors */
};

static bool is_invisible(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(invisible); i++) {
		if (c >= invisible[i].first && c <= invisible[i].last)
			return true;
	}
	return false;
}

/* A visible character beyond ASCII. */
static bool is_letter(uint32_t c)
{
	return c >= 0xa0 && !is_invisible(c);
}

/* Whether the invisible c changes how the characters next to it look; 0: no character. */
static bool shows(uint32_t c, uint32_t before, uint32_t after)
{
	if (c == 0x200c || c == 0x200d)
		return (is_letter(before) || before == 0xfe0f) && is_letter(after);
	if (c >= 0xfe00 && c <= 0xfe0f)
		return is_letter(before) ||
		    (before < 0x80 && before != 0 && strchr("0123456789#*", (int)before) != NULL &&
		        after == 0x20e3);
	return false;
}

/* The code point at data; 0: none. */
static uint32_t next(const char *data, size_t size)
{
	uint32_t c = 0;

	return size > 0 && decode(data, size, &c) > 0 ? c : 0;
}

char *text_escape(const char *data, size_t size, bool keep_lines)
{
	/* One byte becomes at most 4; \u{xxxxx} is 9 for 4 bytes, 8 for 3, and 7 for 2. */
	char *out, *p;
	uint32_t before = 0;

	if (size > (SIZE_MAX - 1) / 4)
		abort();
	p = out = xmalloc(size * 4 + 1);
	for (size_t i = 0, n; i < size; i += n) {
		uint32_t c = 0;

		n = decode(data + i, size - i, &c);
		if (n == 0) {
			p += snprintf(p, 5, "\\x%02x", (unsigned char)data[i]);
			n = 1;
		} else if (!keep_lines && (c == '\n' || c == '\t')) {
			*p++ = '\\';
			*p++ = c == '\n' ? 'n' : 't';
		} else if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0)) {
			p += snprintf(p, 5, "\\x%02x", (unsigned)c);
		} else if (is_invisible(c) && !shows(c, before, next(data + i + n, size - i - n))) {
			p += snprintf(p, sizeof("\\u{10ffff}"), "\\u{%x}", (unsigned)c);
		} else {
			memcpy(p, data + i, n);
			p += n;
		}
		before = c;
	}
	*p = '\0';
	return out;
}

static bool is_ascii(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text >= 0x80)
			return false;
	}
	return true;
}

/* wcwidth(3) works only in a UTF-8 locale, so one is set during the call. Returns the length that
 * fits into columns, *width is its width. */
static size_t measure(const char *text, size_t columns, size_t *width)
{
	size_t size = strlen(text), i, n;
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), old = (locale_t)0;

	if (utf8 != (locale_t)0)
		old = uselocale(utf8);
	*width = 0;
	for (i = 0; i < size; i += n) {
		uint32_t c = 0;
		int taken = 1;

		n = decode(text + i, size - i, &c);
		if (n == 0)
			n = 1;
		else if (utf8 != (locale_t)0)
			taken = wcwidth((wchar_t)c);
		if (taken < 0)
			taken = 1;
		if ((size_t)taken > columns - *width)
			break;
		*width += (size_t)taken;
	}
	if (utf8 != (locale_t)0) {
		uselocale(old);
		freelocale(utf8);
	}
	return i;
}

size_t text_width(const char *text)
{
	size_t width;

	if (is_ascii(text))
		return strlen(text);
	measure(text, SIZE_MAX, &width);
	return width;
}

size_t text_fit(const char *text, size_t columns)
{
	size_t size = strlen(text), width;

	if (is_ascii(text))
		return size < columns ? size : columns;
	return measure(text, columns, &width);
}

size_t text_unfinished(const char *data, size_t size)
{
	for (size_t n = 1; n < 4 && n <= size; n++) {
		unsigned char c = (unsigned char)data[size - n];
		size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;

		if ((c & 0xc0) == 0x80)
			continue;
		return whole > n ? n : 0;
	}
	return 0;
}

/* Length of the part in front that is ASCII, or a little less: most texts are, and are long. */
static size_t ascii_length(const char *data, size_t size)
{
	uint64_t word;
	size_t n = 0;

	for (; size - n >= sizeof(word); n += sizeof(word)) {
		memcpy(&word, data + n, sizeof(word));
		if ((word & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	return n;
}

bool text_is_utf8(const char *data, size_t size)
{
	for (size_t i = 0, n; i < size; i += n) {
		uint32_t c;

		i += ascii_length(data + i, size - i);
		if (i == size)
			break;
		n = decode(data + i, size - i, &c);
		if (n == 0)
			return false;
	}
	return true;
}
