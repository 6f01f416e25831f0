/* SPDX-License-Identifier: MIT */
#include "core/likeness.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* The text that is left. Each reader below takes one, and returns the end of what it recognised at
 * its beginning, or its beginning. */
struct span {
	const char *p, *end;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static const char *digits(struct span s)
{
	while (s.p < s.end && isdigit((unsigned char)*s.p))
		s.p++;
	return s.p;
}

/* min to max digits, not part of a longer number; NULL: none. */
static const char *number(struct span s, size_t min, size_t max)
{
	const char *p = digits(s);
	size_t count = (size_t)(p - s.p);

	return count >= min && count <= max ? p : NULL;
}

static bool at(const char *p, const char *end, const char *chars)
{
	return p < end && *p != '\0' && strchr(chars, *p) != NULL;
}

static const char *skip(const char *p, const char *end, const char *chars)
{
	while (at(p, end, chars))
		p++;
	return p;
}

/* The longest of the words that stands at p as a whole; NULL: none. */
static const char *word(const char *p, const char *end, const char *const *words, bool any_case)
{
	for (; *words != NULL; words++) {
		size_t n = strlen(*words);

		if ((size_t)(end - p) >= n && (any_case ? strncasecmp(p, *words, n) : strncmp(p, *words, n)) == 0 &&
		    (p + n == end || !is_word(p[n])))
			return p + n;
	}
	return NULL;
}

/* "12:30", "12:30:59.123Z", "12:30:59 +0200" */
static const char *clock_time(struct span s)
{
	const char *p = number(s, 1, 2), *next;

	for (int parts = 0;; parts++) {
		if (p == NULL)
			return s.p;
		if (!at(p, s.end, ":") || parts == 2) {
			if (parts == 0)
				return s.p;
			break;
		}
		next = number((struct span){ p + 1, s.end }, 2, 2);
		if (next == NULL && parts > 0)
			break;
		p = next;
	}
	if (at(p, s.end, ".,") && digits((struct span){ p + 1, s.end }) > p + 1)
		p = digits((struct span){ p + 1, s.end });
	if (at(p, s.end, "Z") && (p + 1 == s.end || !is_word(p[1])))
		return p + 1;
	next = skip(p, s.end, " ");
	if (at(next, s.end, "+-") && next - p < 2 && number((struct span){ next + 1, s.end }, 4, 4) != NULL)
		return next + 5;
	if (at(next, s.end, "+-") && next - p < 2 && number((struct span){ next + 1, s.end }, 2, 2) != NULL &&
	    at(next + 3, s.end, ":") && number((struct span){ next + 4, s.end }, 2, 2) != NULL)
		return next + 6;
	return p;
}

/* "2026-11-24", and the time that follows */
static const char *date(struct span s)
{
	const char *p = number(s, 4, 4), *time;
	char sign = p != NULL && at(p, s.end, "-/") ? *p : '\0';

	for (int i = 0; i < 2 && p != NULL; i++)
		p = at(p, s.end, "-/") && *p == sign ? number((struct span){ p + 1, s.end }, 2, 2) : NULL;
	if (p == NULL)
		return s.p;
	time = at(p, s.end, "T ") ? p + 1 : p;
	return clock_time((struct span){ time, s.end }) > time ? clock_time((struct span){ time, s.end }) : p;
}

/* "3s", "0.52 seconds", "1h20m", "1 min 3 s" */
static const char *duration(struct span s)
{
	static const char *const units[] = { "ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s", "m", "h", NULL };
	static const char *const words[] = { "nanosecond", "nanoseconds", "microsecond", "microseconds",
	    "millisecond", "milliseconds", "msec", "msecs", "sec", "secs", "second", "seconds", "min",
	    "mins", "minute", "minutes", "hr", "hrs", "hour", "hours", "day", "days", NULL };
	const char *done = s.p;

	for (const char *p = s.p;;) {
		const char *unit = digits((struct span){ p, s.end }), *end;

		if (unit == p)
			return done;
		if (at(unit, s.end, ".,"))
			unit = digits((struct span){ unit + 1, s.end });
		end = unit;
		/* "1h20m": the unit is followed by a number */
		if (end < s.end && strchr("hms", *end) != NULL && end + 1 < s.end && isdigit((unsigned char)end[1])) {
			p = end + 1;
			continue;
		}
		if (at(unit, s.end, " -"))
			unit++;
		end = word(unit, s.end, units, false);
		if (end == NULL)
			end = word(unit, s.end, words, true);
		if (end == NULL)
			return done;
		done = end;
		p = skip(end, s.end, " ");
	}
}

/* hexadecimal digits up to the end of the word; *decimal: with a decimal digit among them */
static size_t hex_digits(struct span s, bool *decimal)
{
	size_t n = 0;

	for (; s.p + n < s.end && isxdigit((unsigned char)s.p[n]); n++)
		*decimal |= isdigit((unsigned char)s.p[n]) != 0;
	return s.p + n < s.end && is_word(s.p[n]) ? 0 : n;
}

/* what git shows of a commit; shorter ones are numbers */
#define HEX_ID 7

/* "0x7ffe", "5dbe019d", "123e4567-e89b-12d3-a456-426614174000"; "defaced" is a word */
static const char *hex_id(struct span s)
{
	static const size_t groups[] = { 8, 4, 4, 4, 12 };
	bool decimal = false;
	const char *p = s.p;
	size_t n;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		n = hex_digits((struct span){ p, s.end }, &decimal);
		if (n != groups[i] || (i < 4 && !at(p + n, s.end, "-")))
			break;
		p += n + 1;
		if (i == 4)
			return p - 1;
	}
	if (s.end - s.p > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X')) {
		n = hex_digits((struct span){ s.p + 2, s.end }, &decimal);
		return n > 0 ? s.p + 2 + n : s.p;
	}
	decimal = false;
	n = hex_digits(s, &decimal);
	return n >= HEX_ID && decimal ? s.p + n : s.p;
}

/* The numbers of "line 12", "lines 12-14", "line: 3, column 5"; s begins after the word. */
static const char *line_numbers(struct span s)
{
	static const char *const joins[] = { "to", "and", NULL };
	const char *p = skip(s.p, s.end, " .:#=\"'`*\t"), *done = digits((struct span){ p, s.end });

	if (done == p)
		return s.p;
	for (;;) {
		p = skip(done, s.end, " ");
		if (at(p, s.end, "-"))
			p++;
		else if (p > done && word(p, s.end, joins, true) != NULL)
			p = word(p, s.end, joins, true);
		else
			return done;
		p = skip(p, s.end, " ");
		if (digits((struct span){ p, s.end }) == p)
			return done;
		done = digits((struct span){ p, s.end });
	}
}

static const char *line_word(struct span s)
{
	static const char *const words[] = { "line", "lines", "column", "columns", "col", NULL };
	const char *p = NULL;

	for (size_t i = 0; words[i] != NULL && p == NULL; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(s.end - s.p) > n && strncasecmp(s.p, words[i], n) == 0 && !isalpha((unsigned char)s.p[n]))
			p = s.p + n;
	}
	return p != NULL && line_numbers((struct span){ p, s.end }) > p ? line_numbers((struct span){ p, s.end }) : s.p;
}

/* ":12:5", "(12,5):" and "#L12" after a name */
static const char *position(struct span s)
{
	const char *p = s.p, *next;

	if (*p == '#' && s.end - p > 2 && p[1] == 'L')
		return digits((struct span){ p + 2, s.end }) > p + 2 ? digits((struct span){ p + 2, s.end }) : s.p;
	if (*p == ':') {
		while (at(p, s.end, ":-") && (next = digits((struct span){ p + 1, s.end })) > p + 1)
			p = next;
		return p;
	}
	if (*p == '(' && (next = digits((struct span){ p + 1, s.end })) > p + 1) {
		if (at(next, s.end, ","))
			next = digits((struct span){ next + 1, s.end });
		if (at(next, s.end, ")") && at(next + 1, s.end, ":"))
			return next + 1;
	}
	return s.p;
}

/* Marks of typography beyond ASCII: U+00A0-U+00BF, U+2000-U+206F, U+3000-U+303F. */
static size_t wide_punctuation(struct span s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t left = (size_t)(s.end - s.p);

	if (left >= 2 && p[0] == 0xc2 && p[1] >= 0xa0 && p[1] <= 0xbf)
		return 2;
	if (left >= 3 && p[0] == 0xe2 && (p[1] == 0x80 || (p[1] == 0x81 && p[2] <= 0xaf)))
		return 3;
	return left >= 3 && p[0] == 0xe3 && p[1] == 0x80 ? 3 : 0;
}

/* "<" and ">", "+" and "=" mean something in code. */
static bool is_punctuation(char c)
{
	return isspace((unsigned char)c) || iscntrl((unsigned char)c) ||
	    (ispunct((unsigned char)c) && strchr("+<=>", c) == NULL);
}

/* Length of what differs between two tellings, at the beginning of a word or after one. */
static size_t passing(struct span s, bool starts, bool follows)
{
	static const char *(*const readers[])(struct span) = { line_word, date, clock_time, duration, hex_id };
	const char *end = follows ? position(s) : s.p;

	for (size_t i = 0; starts && end == s.p && i < sizeof(readers) / sizeof(readers[0]); i++) {
		end = readers[i](s);
		if (end < s.end && end > s.p && is_word(*end))
			end = s.p;	/* part of a longer word */
	}
	return (size_t)(end - s.p);
}

void likeness_add(struct buf *out, const char *text, size_t size)
{
	const char *end = text + size;
	bool apart = false;		/* something was left out since the last byte */
	size_t n, start = out->size;

	for (const char *p = text; p < end; p += n) {
		struct span s = { p, end };
		char c = (char)tolower((unsigned char)*p);

		n = passing(s, p == text || !is_word(p[-1]), p > text && (is_word(p[-1]) || p[-1] == ')'));
		if (n == 0)
			n = wide_punctuation(s);
		if (n > 0 || is_punctuation(*p)) {
			n = n > 0 ? n : 1;
			apart = true;
			continue;
		}
		n = 1;
		/* "1 2" is not "12" */
		if (apart && isdigit((unsigned char)c) && out->size > start &&
		    isdigit((unsigned char)out->data[out->size - 1]))
			buf_add(out, " ", 1);
		apart = false;
		buf_add(out, &c, 1);
	}
}
