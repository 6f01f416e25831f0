/* SPDX-License-Identifier: MIT */
/* What is read from an agent's output: which task it has picked, and that there is
 * nothing left to do. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "proto/memory.h"
#include "task/marker.h"
#include "task/pick.h"

static char *const ids[] = { (char *)"x-7", (char *)"x-7.1", (char *)"x-71", (char *)"y-2",
    (char *)"my proj/1", (char *)"x-7", (char *)"", NULL };

static const struct {
	const char *output, *want;	/* NULL: nothing is picked */
} picks[] = {
	{ "", NULL },
	{ "nothing here\n", NULL },
	/* words that say it */
	{ "Updated issue: x-7\n", "x-7" },
	{ "\xe2\x9c\x93 Updated issue: x-7 \xe2\x80\x94 Title\n", "x-7" },
	{ "Updated task: y-2, instead of x-7\n", "y-2" },
	{ "$ bd update x-71 --claim --json\n", "x-71" },
	{ "tsq update x-7.1 --status in_progress (see x-7)\n", "x-7.1" },
	{ "x-7 and y-2: bd update   y-2\n", "y-2" },
	{ "x-71 `bd update \"x-7\" --status in_progress` y-2\n", "x-7" },
	{ "updated ISSUE: x-7 not y-2\n", "x-7" },
	{ "bd update zz-1 then bd update y-2, x-7\n", "y-2" },
	/* words that do not: the line names two */
	{ "abd update x-7 y-2\n", NULL },
	{ "bd updatex-7 y-2 x-71\n", NULL },
	{ "bd show x-7 y-2\n", NULL },
	{ "bd update x-7-b y-2 x-7\n", NULL },
	{ "bd update z-9 x-7 y-2\n", NULL },
	/* exactly one known id on a line */
	{ "I take x-7 now\n", "x-7" },
	{ "x-7\n", "x-7" },
	{ "x-7 x-7 (x-7)\n", "x-7" },
	{ "x-7 or y-2\n", NULL },
	{ "x-7 or y-2\ny-2 it is\n", "y-2" },
	{ "x-7 first\ny-2 second\n", "x-7" },
	/* where an id ends */
	{ "x-7.1\n", "x-7.1" },
	{ "x-7. Then more.\n", "x-7" },
	{ "(x-7),\n", "x-7" },
	{ "x-7: \xc3\xa4\n", "x-7" },
	{ "x-7\xe2\x80\xa6\n", "x-7" },
	{ "x-71\n", "x-71" },
	{ "x-712\n", NULL },
	{ "x-7.12\n", NULL },
	{ "x-7.1.2\n", NULL },
	{ "x-7-fix\n", NULL },
	{ "x-7_b\n", NULL },
	{ "ax-7\n", NULL },
	{ "a-x-7\n", NULL },
	{ "a.x-7\n", NULL },
	{ "--x-7--\n", "x-7" },
	{ "rl/42/x-7\n", "x-7" },
	{ "X-7\n", NULL },
	{ "on my proj/1 then\n", "my proj/1" },
	/* JSON: the line, and its texts */
	{ "{\"type\":\"assistant\",\"text\":\"I take x-7\"}\n", "x-7" },
	{ "{\"text\":\"I look:\\nx-7 is it\"}\n", "x-7" },
	{ "{\"text\":\"\\u0078-7\"}\n", "x-7" },
	{ "{\"command\":\"cd /w\\nbd update x-7 --claim\",\"list\":\"x-7 y-2\"}\n", "x-7" },
	{ "  [{\"text\":[\"x-7\",\"y-2\"]}]\n", NULL },
	{ "{\"a\":\"\\nx-7\",\"b\":\"\\ny-2\"}\n", NULL },
	{ "{\"text\":\"x-7\\ny-2\\n\"}\n", NULL },
	{ "{\"x-7\":1}\n", "x-7" },
	{ "{\"text\":\"x-7\"} y-2\n", NULL },
	{ "{ x-7 is no JSON\n", "x-7" },
	/* a line without an end counts at the end */
	{ "well, x-7", "x-7" },
	{ "x-7 and y-2", NULL },
	{ "Updated issue: x-7", "x-7" },
	{ "x-7\r\n", "x-7" },
};

/* The same however it is cut. */
START_TEST(picks_table)
{
	const char *output = picks[_i].output, *want = picks[_i].want;
	size_t size = strlen(output);

	for (size_t step = 1; step <= size + 1; step++) {
		struct pick *pick = pick_new(ids);

		for (size_t at = 0; at < size; at += step)
			pick_feed(pick, output + at, size - at < step ? size - at : step);
		ck_assert_int_eq(pick_end(pick), want != NULL);
		if (want == NULL)
			ck_assert_msg(pick_id(pick) == NULL, "%s in pieces of %zu: %s", output, step, pick_id(pick));
		else
			ck_assert_str_eq(pick_id(pick), want);
		pick_free(pick);
	}
}
END_TEST

START_TEST(picks_first)
{
	struct pick *pick = pick_new(ids);

	ck_assert(!pick_feed(pick, "x-", 2));
	ck_assert(!pick_feed(pick, "7", 1));
	ck_assert_ptr_null(pick_id(pick));
	ck_assert(pick_feed(pick, "\ny-2\n", 5));
	ck_assert_str_eq(pick_id(pick), "x-7");
	ck_assert(pick_feed(pick, "Updated issue: y-2\n", 19));
	ck_assert_str_eq(pick_id(pick), "x-7");
	pick_free(pick);
	pick = pick_new((char *[]){ NULL });
	ck_assert(!pick_feed(pick, "x-7\n", 4));
	ck_assert(!pick_end(pick));
	pick_free(pick);
	pick_free(NULL);
}
END_TEST

/* Beyond 64 KiB of a line nobody knows what else it names. */
START_TEST(picks_long_line)
{
	static const struct { const char *head, *tail, *want; } rows[] = {
		{ "x-7", "\n", NULL }, { "", " x-7\n", NULL }, { "bd update x-7 ", "\n", "x-7" },
		{ "x-7", "\ny-2\n", "y-2" }, { "", "bd update x-7\n", NULL },
		{ "x-7", "", NULL },
	};
	size_t size = _i % 2 == 0 ? 70000 : 1000000;
	struct pick *pick = pick_new(ids);
	struct buf b = { 0 };

	buf_adds(&b, rows[_i / 2].head);
	while (b.size < size)
		buf_adds(&b, " word");
	buf_adds(&b, rows[_i / 2].tail);
	for (size_t at = 0; at < b.size; at += 10007)
		pick_feed(pick, b.data + at, b.size - at < 10007 ? b.size - at : 10007);
	pick_end(pick);
	ck_assert_pstr_eq(pick_id(pick), rows[_i / 2].want);
	pick_free(pick);
	pick = pick_new(ids);
	pick_feed(pick, b.data, b.size);
	pick_end(pick);
	ck_assert_pstr_eq(pick_id(pick), rows[_i / 2].want);
	pick_free(pick);
	buf_release(&b);
}
END_TEST

/* 10 MB of lines that name no task, or two, of 10,000: a matter of a second, not of minutes. */
START_TEST(picks_among_many)
{
	char **many = NULL;
	struct buf b = { 0 };
	struct pick *pick;

	many = xcalloc(10001, sizeof(char *));
	for (int i = 0; i < 10000; i++)
		many[i] = xasprintf("bd-a%d", i);
	pick = pick_new(many);
	while (b.size < 10 * 1024 * 1024)
		buf_adds(&b, "bd-a bd-b1 bd-a12 bd-a13 bd-a99999 {\"a\": 1} bd-bd-bd-bd-a1\n");
	ck_assert(!pick_feed(pick, b.data, b.size));
	ck_assert(pick_feed(pick, "bd-a9999\n", 9));
	ck_assert_str_eq(pick_id(pick), "bd-a9999");
	pick_free(pick);
	buf_release(&b);
	strings_free(many);
}
END_TEST

START_TEST(picks_nul)
{
	struct pick *pick = pick_new(ids);

	pick_feed(pick, "\0x-7\0\n", 6);
	ck_assert_str_eq(pick_id(pick), "x-7");
	pick_free(pick);
	pick = pick_new(ids);
	pick_feed(pick, "bd update\0x-7 y-2\n", 18);
	ck_assert_ptr_null(pick_id(pick));
	pick_free(pick);
}
END_TEST

/* ---- markers ---- */

static char *const markers[] = { (char *)"no_beads_available", (char *)"no beads available",
    (char *)"", (char *)" ", (char *)" ALL DONE ", (char *)"> over", NULL };

static const struct {
	const char *text;
	int want;	/* position in markers, -1: none */
} marked[] = {
	{ "", -1 },
	{ "no_beads_available", 0 },
	{ "no_beads_available\n", 0 },
	{ "\n\n  No_Beads_Available \t\r\nmore\n", 0 },
	{ "text\nno beads available\n", 1 },
	{ "no beads available\nno_beads_available\n", 1 },
	{ "all done", 4 },
	{ "\xef\xbb\xbfno_beads_available", 0 },
	{ "    no_beads_available\n", 0 },
	/* not a line of its own */
	{ "I say no_beads_available.\n", -1 },
	{ "no_beads_available.\n", -1 },
	{ "`no_beads_available`\n", -1 },
	{ "no_beads_available no_beads_available\n", -1 },
	{ "no_beads\n_available\n", -1 },
	{ "no  beads available\n", -1 },
	{ "- no_beads_available\n", -1 },
	{ "\n \n", -1 },
	/* somebody else's words */
	{ "> no_beads_available\n", -1 },
	{ "  > no_beads_available\n", -1 },
	{ ">no_beads_available\nno beads available\n", 1 },
	{ "```\nno_beads_available\n```\n", -1 },
	{ "```\nno_beads_available\n", -1 },
	{ "~~~text\nno_beads_available\n~~~\n", -1 },
	{ "```\nx\n```\nno_beads_available\n", 0 },
	{ "````\n```\nno_beads_available\n````\n", -1 },
	{ "```\n~~~\nno_beads_available\n```\n", -1 },
	{ "```\n```text\nno_beads_available\n", -1 },
	{ "```\n ````` \nno_beads_available\n", 0 },
	{ "  ```json\n  no_beads_available\n  ```\nend\n", -1 },
	{ "```no_beads_available```\nno beads available\n", 1 },
	{ "``\nno_beads_available\n``\n", 0 },
	{ "> over\n", -1 },
	{ "> ```\nno_beads_available\n", 0 },
};

START_TEST(marked_table)
{
	const char *found = marker_in(marked[_i].text, strlen(marked[_i].text), markers);

	ck_assert_msg(found == (marked[_i].want >= 0 ? markers[marked[_i].want] : NULL),
	    "%s in: %s", found, marked[_i].text);
}
END_TEST

START_TEST(marked_odd)
{
	ck_assert_ptr_null(marker_in("no_beads_available", 18, NULL));
	ck_assert_ptr_null(marker_in("no_beads_available", 18, (char *[]){ NULL }));
	ck_assert_ptr_null(marker_in("no_beads_available", 17, markers));
	ck_assert_ptr_null(marker_in("no_beads_available\0\n", 20, markers));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task_pick");
	TCase *tcase = tcase_create("task_pick");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, picks_table, 0, sizeof(picks) / sizeof(picks[0]));
	tcase_add_test(tcase, picks_first);
	tcase_add_loop_test(tcase, picks_long_line, 0, 12);
	tcase_add_test(tcase, picks_among_many);
	tcase_add_test(tcase, picks_nul);
	tcase_add_loop_test(tcase, marked_table, 0, sizeof(marked) / sizeof(marked[0]));
	tcase_add_test(tcase, marked_odd);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
