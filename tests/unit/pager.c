/* SPDX-License-Identifier: MIT */
/* A long text on a screen of any size, with any bytes in it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "client/pager.h"
#include "proto/escape.h"
#include "proto/memory.h"

/* The screen as one text; each line must fit. */
static char *screen_of(struct pager *p, size_t width, size_t height)
{
	struct buf text = { 0 };
	struct lines l;

	lines_init(&l, width, false);
	pager_draw(&l, p, "keys", height);
	ck_assert_uint_eq(l.count, height);
	for (size_t i = 0; i < l.count; i++) {
		ck_assert_uint_le(text_width(l.line[i]), width);
		ck_assert_ptr_null(strpbrk(l.line[i], "\n\t\033\a"));
		buf_addf(&text, "%s%s", i > 0 ? "|" : "", l.line[i]);
	}
	lines_release(&l);
	return buf_take(&text, NULL);
}

static void expect(struct pager *p, size_t width, size_t height, const char *wanted)
{
	char *shown = screen_of(p, width, height);

	ck_assert_str_eq(shown, wanted);
	free(shown);
}

static void add(struct pager *p, const char *text)
{
	pager_add(p, text, strlen(text));
}

START_TEST(scrolled)
{
	struct pager *p = pager_new("T", NULL, false);

	add(p, "1\n2\n3\n4\n5\n6");
	expect(p, 20, 5, "T  1-3 of 6|1|2|3|keys");
	ck_assert(pager_key(p, KEY_DOWN, 0, 5));
	expect(p, 20, 5, "T  2-4 of 6|2|3|4|keys");
	ck_assert(pager_key(p, KEY_TEXT, ' ', 5));
	expect(p, 20, 5, "T  4-6 of 6|4|5|6|keys");
	ck_assert(pager_key(p, KEY_PAGE_DOWN, 0, 5));
	ck_assert(pager_key(p, KEY_UP, 0, 5));
	expect(p, 20, 5, "T  3-5 of 6|3|4|5|keys");
	ck_assert(pager_key(p, KEY_TEXT, 'G', 5));
	/* at the end it follows, and no longer after a step back */
	add(p, "th\n7\n");
	expect(p, 20, 5, "T  5-7 of 7|5|6th|7|keys");
	ck_assert(pager_key(p, KEY_UP, 0, 5));
	add(p, "8\n");
	expect(p, 20, 5, "T  4-6 of 8|4|5|6th|keys");
	ck_assert(pager_key(p, KEY_HOME, 0, 5));
	expect(p, 20, 5, "T  1-3 of 8|1|2|3|keys");
	/* a larger screen shows more, a small one less */
	expect(p, 20, 10, "T  1-8 of 8|1|2|3|4|5|6th|7|8|keys");
	expect(p, 20, 2, "T  1-1 of 8|1");
	expect(p, 20, 1, "1");
	ck_assert(!pager_key(p, KEY_TEXT, 'q', 5) && !pager_key(p, KEY_ESCAPE, 0, 5));
	pager_free(p);
}
END_TEST

START_TEST(wrapped)
{
	struct pager *p = pager_new("T", NULL, false);

	add(p, "one two three\nabcdefghijkl\n\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\n");
	expect(p, 9, 8, "T  1-6 o…|one two |three|abcdefghi|jkl|"
	    "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2|\xe6\xbc\xa2|keys");
	/* narrower than its characters */
	free(screen_of(p, 1, 8));
	pager_free(p);
}
END_TEST

START_TEST(filtered)
{
	struct pager *p = pager_new("T", NULL, false);

	add(p, "Apple\nbanana\nPINEAPPLE\n");
	pager_filter(p, "apple");
	expect(p, 30, 5, "T  1-2 of 2, with apple|Apple|PINEAPPLE||keys");
	pager_filter(p, "none");
	expect(p, 30, 4, "T  0-0 of 0, with none|||keys");
	pager_filter(p, NULL);
	expect(p, 30, 5, "T  1-3 of 3|Apple|banana|PINEAPPLE|keys");
	pager_free(p);
}
END_TEST

/* Bytes of every kind, in parts of every size, at every width. */
START_TEST(rubbish)
{
	char bytes[512];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 37 + i / 256);
	for (size_t width = 1; width < 40; width += 3) {
		struct pager *p = pager_new("T\033[2J", NULL, true);

		for (size_t i = 0; i < sizeof(bytes); i += width)
			pager_add(p, bytes + i, sizeof(bytes) - i < width ? sizeof(bytes) - i : width);
		for (size_t height = 1; height < 9; height++)
			free(screen_of(p, width, height));
		pager_free(p);
	}
}
END_TEST

/* More lines than are kept: the newest are there. */
START_TEST(endless)
{
	struct pager *p = pager_new("T", NULL, true);

	for (size_t i = 0; i < 450000; i++)
		add(p, i == 449999 ? "last\n" : "x\n");
	expect(p, 40, 3, "T  150000-150000 of 150000|last|keys");
	pager_free(p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pager");
	TCase *tcase = tcase_create("pager");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, scrolled);
	tcase_add_test(tcase, wrapped);
	tcase_add_test(tcase, filtered);
	tcase_add_test(tcase, rubbish);
	tcase_add_test(tcase, endless);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
