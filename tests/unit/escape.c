/* SPDX-License-Identifier: MIT */
/* Text for a terminal: what passes, what becomes visible. */
#include "proto/escape.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *in, *out;
	bool keep_lines;
} rows[] = {
	{ "plain text, \"quotes\" and \\", "plain text, \"quotes\" and \\", false },
	{ "", "", false },
	{ "a\nb\tc", "a\\nb\\tc", false },
	{ "a\nb\tc", "a\nb\tc", true },
	{ "bell\a back\b return\r", "bell\\x07 back\\x08 return\\x0d", true },
	{ "\x1b[31mred", "\\x1b[31mred", true },
	{ "\x7f", "\\x7f", false },
	/* C1: CSI in one code point */
	{ "\xc2\x9b" "31m", "\\x9b" "31m", false },
	/* the first one behind C1 */
	{ "\xc2\xa0", "\xc2\xa0", false },
	{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
	    "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", false },
	{ "\xe2\x80\xae" "evil", "\\u{202e}evil", false },
	{ "\xe2\x81\xa6\xe2\x81\xa9", "\\u{2066}\\u{2069}", false },
	{ "\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u{200e}\\u{200f}\\u{61c}", false },
	{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}", true },
	/* their neighbours */
	{ "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf", false },
	/* zero-width space, byte order mark */
	{ "a\xe2\x80\x8b" "b\xef\xbb\xbf", "a\\u{200b}b\\u{feff}", true },
	{ "pa\xc2\xad" "ss\xe2\x81\xa0\xcd\x8f", "pa\\u{ad}ss\\u{2060}\\u{34f}", false },
	{ "\xe1\xa0\x8e\xe3\x85\xa4\xef\xbe\xa0\xef\xbf\xb9", "\\u{180e}\\u{3164}\\u{ffa0}\\u{fff9}", false },
	/* a tag, a selector of another plane */
	{ "\xf3\xa0\x81\xa1\xf3\xa0\x84\x80", "\\u{e0061}\\u{e0100}", false },
	{ "\xf0\x9d\x85\xb3\xf0\x9b\xb2\xa0", "\\u{1d173}\\u{1bca0}", false },
	/* a joiner that joins nothing */
	{ "a\xe2\x80\x8d" "b\xe2\x80\x8c", "a\\u{200d}b\\u{200c}", false },
	{ "\xe2\x80\x8d\xe2\x80\x8d", "\\u{200d}\\u{200d}", false },
	/* woman, joiner, laptop */
	{ "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", false },
	/* Persian, with a non-joiner */
	{ "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", "\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae", false },
	/* a warning sign as an emoji */
	{ "\xe2\x9a\xa0\xef\xb8\x8f x", "\xe2\x9a\xa0\xef\xb8\x8f x", false },
	/* a second selector hides something */
	{ "\xe2\x9a\xa0\xef\xb8\x8f\xef\xb8\x8f", "\xe2\x9a\xa0\xef\xb8\x8f\\u{fe0f}", false },
	/* a keycap, and none */
	{ "1\xef\xb8\x8f\xe2\x83\xa3" "1\xef\xb8\x8f", "1\xef\xb8\x8f\xe2\x83\xa3" "1\\u{fe0f}", false },
	{ "\xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x94\xa5",
	    "\xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x94\xa5", false },
	/* neighbours */
	{ "\xe3\x85\xa3\xe2\x80\x8a\xef\xbb\xbe", "\xe3\x85\xa3\xe2\x80\x8a\xef\xbb\xbe", false },
	{ "\xff\xfe", "\\xff\\xfe", false },
	{ "cut \xe2\x82", "cut \\xe2\\x82", false },
	{ "\xc0\xaf", "\\xc0\\xaf", false },				/* overlong '/' */
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf", false },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", false },			/* surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", false },		/* beyond U+10FFFF */
	{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", false },
	{ "\x80" "ok", "\\x80ok", false },
	{ "\xe2" "\x28\xa1", "\\xe2(\\xa1", false },
};

START_TEST(escaped)
{
	char *out = text_escape(rows[_i].in, strlen(rows[_i].in), rows[_i].keep_lines);

	ck_assert_str_eq(out, rows[_i].out);
	free(out);
}
END_TEST

START_TEST(nul_is_shown)
{
	char *out = text_escape("a\0b", 3, false);

	ck_assert_str_eq(out, "a\\x00b");
	free(out);
}
END_TEST

/* Whatever comes, what goes out is UTF-8 without a control character. */
START_TEST(always_safe)
{
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		char in[24], *out;
		size_t n = 0;

		for (; n < sizeof(in); n++) {
			seed = seed * 1103515245 + 12345;
			in[n] = (char)(seed >> 16);
		}
		out = text_escape(in, n, false);
		ck_assert(text_is_utf8(out, strlen(out)));
		for (const char *p = out; *p != '\0'; p++)
			ck_assert((unsigned char)*p >= 0x20 && *p != 0x7f);
		free(out);
	}
}
END_TEST

START_TEST(utf8)
{
	ck_assert(text_is_utf8("", 0));
	ck_assert(text_is_utf8("a\0b", 3));
	ck_assert(text_is_utf8("\xe2\x82\xac", 3));
	ck_assert(!text_is_utf8("\xe2\x82\xac", 2));
	ck_assert(!text_is_utf8("\xed\xbf\xbf", 3));
	ck_assert(text_is_utf8("\xef\xbf\xbf", 3));
	ck_assert(!text_is_utf8("\xf5\x80\x80\x80", 4));
}
END_TEST

START_TEST(width)
{
	ck_assert_uint_eq(text_width(""), 0);
	ck_assert_uint_eq(text_width("abc"), 3);
	ck_assert_uint_eq(text_width("gr\xc3\xbc\xc3\x9f"), 4);
	ck_assert_uint_eq(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);	/* two wide ones */
	/* e and a combining accent */
	ck_assert_uint_eq(text_width("e\xcc\x81"), 1);
	ck_assert_uint_eq(text_width("\xf0\x9f\x98\x80"), 2);
}
END_TEST

START_TEST(fit)
{
	static const struct {
		const char *text;
		size_t columns, bytes;
	} fits[] = {
		{ "", 0, 0 }, { "abc", 0, 0 }, { "abc", 2, 2 }, { "abc", 3, 3 }, { "abc", 99, 3 },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 1, 0 }, { "\xe6\xbc\xa2\xe5\xad\x97", 3, 3 },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4, 6 },
		{ "e\xcc\x81x", 1, 3 },			/* the accent goes with its letter */
		{ "e\xcc\x81x", 2, 4 },
	};

	for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
		ck_assert_uint_eq(text_fit(fits[i].text, fits[i].columns), fits[i].bytes);
}
END_TEST

START_TEST(unfinished)
{
	ck_assert_uint_eq(text_unfinished("", 0), 0);
	ck_assert_uint_eq(text_unfinished("abc", 3), 0);
	ck_assert_uint_eq(text_unfinished("a\xe2", 2), 1);
	ck_assert_uint_eq(text_unfinished("a\xe2\x82", 3), 2);
	ck_assert_uint_eq(text_unfinished("a\xe2\x82\xac", 4), 0);
	ck_assert_uint_eq(text_unfinished("\xf0\x9f\x98", 3), 3);
	ck_assert_uint_eq(text_unfinished("\x98\x98\x98\x98", 4), 0);
	ck_assert_uint_eq(text_unfinished("\xc0", 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("escape");
	TCase *tc = tcase_create("escape");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, escaped, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, nul_is_shown);
	tcase_add_test(tc, always_safe);
	tcase_add_test(tc, utf8);
	tcase_add_test(tc, width);
	tcase_add_test(tc, fit);
	tcase_add_test(tc, unfinished);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
