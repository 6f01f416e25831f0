/* SPDX-License-Identifier: MIT */
/* Pages without a daemon: what hostile texts become, diffs, the scale of the timeline, a whole
 * page. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/page/diff_hunks.h"
#include "client/page/html.h"
#include "client/page/pieces.h"
#include "client/page/round_group.h"
#include "client/page/run_page.h"
#include "client/page/timescale.h"
#include "proto/memory.h"

/* ---- the writer ---- */

static const struct {
	const char *text, *html;
} texts[] = {
	{ "plain", "plain" },
	{ "</script><script>alert(1)</script>", "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" },
	{ "\" onclick='x' &amp;", "&quot; onclick=&#39;x&#39; &amp;amp;" },
	{ "a\nb\tc", "a\nb\tc" },
	{ "\x01\x1b[31m\x7f\r", "\\x01\\x1b[31m\\x7f\\x0d" },
	{ "\xff\xc3(", "\\xff\\xc3(" },
	{ "\xe2\x80\xae" "evil", "\\u{202e}evil" },
	{ "\xe2\x80\x8f" "a\xe2\x80\x8b" "b\xef\xbb\xbf", "\\u{200f}a\\u{200b}b\\u{feff}" },
	{ "שלום", "שלום" },
	{ "--> ]]> <!--", "--&gt; ]]&gt; &lt;!--" },
};

START_TEST(text_is_escaped)
{
	struct html *h = html_new();
	char *page, *wanted;

	html_leaf(h, "p", NULL, texts[_i].text);
	page = html_take(h, NULL);
	wanted = xasprintf("<!doctype html>\n<p>%s</p>\n", texts[_i].html);
	ck_assert_str_eq(page, wanted);
	free(page);
	free(wanted);
}
END_TEST

START_TEST(attributes_are_escaped)
{
	struct html *h = html_new();
	char *page, *wanted;

	html_open(h, "a");
	html_attr(h, "title", texts[_i].text);
	html_attr(h, "hidden", NULL);
	html_text(h, "x");
	page = html_take(h, NULL);
	wanted = xasprintf("<!doctype html>\n<a title=\"%s\">x</a>", texts[_i].html);
	ck_assert_str_eq(page, wanted);
	free(page);
	free(wanted);
}
END_TEST

START_TEST(elements_are_closed_in_order)
{
	struct html *h = html_new();
	size_t depth, size;
	char *page;

	html_open(h, "div");
	depth = html_depth(h);
	html_open(h, "b");
	html_open(h, "i");
	html_text(h, "x");
	html_close_to(h, depth);
	html_open(h, "br");
	html_close(h);
	html_bytes(h, "a\0b", 3);
	page = html_take(h, &size);
	ck_assert_str_eq(page, "<!doctype html>\n<div><b><i>x</i></b><br>a\\x00b</div>\n");
	ck_assert_uint_eq(size, strlen(page));
	free(page);
}
END_TEST

START_TEST(an_attribute_behind_content)
{
	struct html *h = html_new();

	html_open(h, "p");
	html_text(h, "x");
	html_attr(h, "class", "late");
}
END_TEST

/* ---- long texts ---- */

START_TEST(a_megabyte_is_cut_at_a_character)
{
	struct html *h = html_new();
	char *text = xcalloc(1024 * 1024 + 1, 1), *page;
	size_t size;

	for (size_t i = 0; i + 1 < 1024 * 1024; i += 2)
		memcpy(text + i, "ä", 2);
	text[0] = 'x';
	text[1] = 'y';
	memmove(text + 1, text + 2, 1024 * 1024 - 2);
	piece_prose(h, text, "rlctl review show 42");
	page = html_take(h, &size);
	ck_assert_uint_lt(size, PIECE_TEXT_MAX + 300);
	ck_assert_ptr_null(strstr(page, "\\xc3"));
	ck_assert_ptr_nonnull(strstr(page, "1016 KiB more is left out here; <code>rlctl review show 42</code>"));
	free(page);
	free(text);
}
END_TEST

/* ---- diffs ---- */

static const char diff_text[] =
    "diff --git a/src/a.c b/src/a.c\n"
    "index 1..2 100644\n"
    "--- a/src/a.c\n"
    "+++ b/src/a.c\n"
    "@@ -1,3 +1,4 @@\n"
    " one\n"
    "--- two\n"
    "+++ two\n"
    "+new\n"
    " three\n"
    "@@ -40 +41,2 @@ void f()\n"
    " forty\n"
    "+more\n"
    "diff --git a/old name b/old name\n"
    "deleted file mode 100644\n"
    "--- a/old name\t\n"
    "+++ /dev/null\n"
    "@@ -1 +0,0 @@\n"
    "-gone\n"
    "\\ No newline at end of file\n"
    "diff --git a/pic.png b/pic.png\n"
    "Binary files a/pic.png and b/pic.png differ\n";

START_TEST(files_and_hunks)
{
	struct diff diff;
	const struct diff_hunk *hunk;

	hunks_read(&diff, diff_text, strlen(diff_text));
	ck_assert_uint_eq(diff.count, 3);
	ck_assert_str_eq(diff.files[0].name, "src/a.c");
	ck_assert_int_eq(diff.files[0].added, 3);
	ck_assert_int_eq(diff.files[0].removed, 1);
	ck_assert_uint_eq(diff.files[0].count, 2);
	ck_assert_str_eq(diff.files[1].name, "old name");
	ck_assert_int_eq(diff.files[1].removed, 1);
	ck_assert_str_eq(diff.files[2].name, "pic.png");
	ck_assert_uint_eq(diff.files[2].count, 0);
	hunk = hunks_find(&diff, "src/a.c", 3);
	ck_assert_int_eq(hunk->from, 1);
	ck_assert_int_eq(hunks_find(&diff, "src/a.c", 30)->from, 41);
	ck_assert_int_eq(hunks_find(&diff, "src/a.c", 42)->from, 41);
	ck_assert_ptr_null(hunks_find(&diff, "pic.png", 1));
	ck_assert_ptr_null(hunks_find(&diff, "a.c", 1));
	hunks_release(&diff);
}
END_TEST

START_TEST(a_diff_that_is_cut_anywhere)
{
	for (size_t size = 0; size <= strlen(diff_text); size++) {
		char *part = xmemdup0(diff_text, size);
		struct diff diff;
		size_t sum = 0;

		hunks_read(&diff, part, size);
		for (size_t i = 0; i < diff.count; i++) {
			sum += diff.files[i].size;
			ck_assert_ptr_nonnull(diff.files[i].name);
		}
		ck_assert_uint_eq(sum, diff.count > 0 ? size : 0);
		hunks_release(&diff);
		free(part);
	}
}
END_TEST

static const char *const odd_diffs[] = { "", "\n\n", "diff --git ", "diff --git a", "diff --git \"a/x\" \"b/x\"\n@@ -",
	"@@ -1 +1 @@\n+x", "diff --git a/x b/x\n@@ -99999999999999999999 +99999999999999999999,9 @@\n+x\n",
	"diff --git a/x b/x\n@@ -1,-5 +1,-5 @@\n+x\n", "diff --git a/x b/x\n+++ \n--- \n@@ -1 @@\n" };

START_TEST(odd_diffs_do_no_harm)
{
	struct diff diff;

	hunks_read(&diff, odd_diffs[_i], strlen(odd_diffs[_i]));
	hunks_find(&diff, "x", 1);
	hunks_release(&diff);
}
END_TEST

/* ---- the scale ---- */

#define HOUR INT64_C(3600000)

START_TEST(a_long_gap_is_short)
{
	static const struct timespan spans[] = { { 0, HOUR }, { HOUR / 2, HOUR }, { 11 * HOUR, 12 * HOUR } };
	struct timescale scale;

	timescale_make(&scale, spans, 3);
	ck_assert_uint_eq(scale.count, 3);
	ck_assert(!scale.parts[0].idle && scale.parts[1].idle && !scale.parts[2].idle);
	ck_assert_double_eq_tol(timescale_at(&scale, 0), 0, 1e-9);
	ck_assert_double_eq_tol(timescale_at(&scale, HOUR), 47.5, 1e-9);
	ck_assert_double_eq_tol(timescale_at(&scale, 11 * HOUR), 52.5, 1e-9);
	ck_assert_double_eq_tol(timescale_at(&scale, 12 * HOUR), 100, 1e-9);
	ck_assert_double_eq_tol(timescale_at(&scale, 99 * HOUR), 100, 1e-9);
	timescale_release(&scale);
}
END_TEST

START_TEST(a_short_gap_keeps_its_length)
{
	static const struct timespan spans[] = { { 0, 100 }, { 110, 200 } };
	struct timescale scale;

	timescale_make(&scale, spans, 2);
	ck_assert_double_eq_tol(timescale_at(&scale, 105), 52.5, 1e-9);
	timescale_release(&scale);
}
END_TEST

START_TEST(many_gaps_take_half_at_most)
{
	struct timespan spans[300];
	struct timescale scale;
	double idle = 0;

	for (int64_t i = 0; i < 300; i++)
		spans[i] = (struct timespan){ i * 1000 * HOUR, i * 1000 * HOUR + 1 };
	timescale_make(&scale, spans, 300);
	for (size_t i = 0; i < scale.count; i++)
		idle += scale.parts[i].idle ? scale.parts[i].width : 0;
	ck_assert_double_eq_tol(idle, 50, 1e-6);
	timescale_release(&scale);
}
END_TEST

START_TEST(no_time_at_all)
{
	static const struct timespan spans[] = { { 5, 5 }, { 5, 5 } };
	struct timescale scale;

	timescale_make(&scale, spans, 2);
	ck_assert_double_eq_tol(timescale_at(&scale, 5), 0, 1e-9);
	timescale_release(&scale);
}
END_TEST

/* ---- a whole page ---- */

/* Documents as the daemon gives them, with ` for ". */
static json_t *document(const char *text)
{
	char *copy = xstrdup(text);
	json_error_t error;
	json_t *json;

	for (char *p = copy; *p != '\0'; p++)
		if (*p == '`')
			*p = '"';
	json = json_loads(copy, 0, &error);
	if (json == NULL)
		ck_abort_msg("%s at %d: %s", error.text, error.position,
		    copy + (error.position > 20 ? error.position - 20 : 0));
	free(copy);
	return json;
}

#define ATTEMPT(id, role, round, from, to) \
	"{`id`: " #id ", `run`: 42, `number`: " #id ", `iteration`: 1, `slot`: 1, `task`: `t1`, `role`: `" role "`, " \
	"`round`: " #round ", `agent`: `claude`, `state`: `exited`, `tokens`: {`input`: 1000}, `cost_usd`: 0.25, " \
	"`started_at`: `2026-11-28T10:" from ":00.000Z`, `ended_at`: `2026-11-28T10:" to ":00.000Z`}"

static const char run_text[] =
    "{`now`: `2026-11-28T12:00:00.000Z`, `run`: {`id`: 42, `state`: `succeeded`, `source`: `prompt`, "
    "`title`: `Refuse <b>empty</b> lists`, `workdir`: `/home/u/work`, `owner`: 1000, "
    "`overview`: {`tasks`: 1, `states`: {`passed`: 1}, `held`: 0, `take`: `git merge rl/42/t1`, `branches`: 1}, "
    "`totals`: {`tokens`: 4000, `cost_usd`: 1.0, `wall_ms`: 240000}, `known_issues`: [`one & only`], "
    "`tasks`: [{`id`: `t1`, `state`: `passed`, `attempts`: 4}], `holds`: []}, "
    "`attempts`: [" ATTEMPT(1, "implement", 0, "00", "01") ", " ATTEMPT(2, "review", 1, "01", "02") ", "
    ATTEMPT(3, "fix", 1, "02", "03") ", " ATTEMPT(4, "review", 2, "03", "04") "], "
    "`reviews`: [{`number`: 1, `iteration`: 1, `task_id`: `t1`, `decision`: `drift`, `attempt`: 2, "
    "`reviewer_agent`: `codex`, `tree`: `aa`, `feedback`: `see below`, `findings`: [{`id`: `f1`, `file`: `src/a.c`, "
    "`line`: 3, `severity`: `must-fix`, `text`: `</code><script>alert(1)</script>`, `state`: `new`}]}, "
    "{`number`: 2, `iteration`: 2, `task_id`: `t1`, `decision`: `pass`, `attempt`: 4, `reviewer_agent`: `codex`, "
    "`tree`: `bb`, `feedback`: `good`, `findings`: [{`id`: `f1`, `file`: `src/a.c`, `line`: 3, `text`: `gone`, "
    "`state`: `resolved`}]}], `products`: [], `evidence`: [], `holds`: [], `diffs`: {}}";

static json_t *run_document(void)
{
	json_t *d = document(run_text);

	json_object_set_new(json_object_get(d, "diffs"), "", json_pack("{s:s, s:b, s:s}", "text", diff_text, "cut", 0,
	    "tree", "bb"));
	return d;
}

static void has(const char *page, const char *what)
{
	if (strstr(page, what) == NULL)
		ck_abort_msg("not on the page: %s", what);
}

START_TEST(a_page_tells_what_happened)
{
	json_t *d = run_document();
	char *page = run_page(d, &run_page_file, NULL);

	has(page, "<html lang=\"en\">");
	has(page, "default-src &#39;none&#39;");
	has(page, ">Refuse &lt;b&gt;empty&lt;/b&gt; lists</h1>");
	has(page, "<strong>succeeded</strong>");
	has(page, "The reviewer passed it in review 2.");
	has(page, " 1 finding: 1 resolved.");
	has(page, "<code>git merge rl/42/t1</code>");
	has(page, "one &amp; only");
	has(page, "&lt;/code&gt;&lt;script&gt;");
	has(page, "<span class=\"state good\">resolved</span><span class=\"by\">in review 2</span>");
	has(page, "42/3 fix by claude, t1, round 1: 1m 00s, $0.25");
	ck_assert_ptr_null(strstr(page, "<script"));
	ck_assert_ptr_null(strstr(page, "http:"));
	ck_assert_ptr_null(strstr(page, "https:"));
	free(page);
	json_decref(d);
}
END_TEST

START_TEST(rounds_begin_with_work)
{
	json_t *d = run_document();
	struct rounds rounds;
	char *title;

	rounds_read(&rounds, d, "t1", 0);
	ck_assert_uint_eq(rounds.count, 2);
	ck_assert_uint_eq(json_array_size(rounds.all[0].attempts), 2);
	ck_assert_uint_eq(json_array_size(rounds.all[1].reviews), 1);
	title = rounds_title(&rounds, 1);
	ck_assert_str_eq(title, "Fix 1");
	free(title);
	rounds_release(&rounds);
	json_decref(d);
}
END_TEST

/* Every text of a document, one after the other, replaced by markup: none of it becomes markup. */
static size_t poison(json_t *value, size_t skip, bool *done)
{
	const char *key;
	json_t *member;
	size_t index;

	if (json_is_string(value)) {
		if (skip == 0 && !*done) {
			json_string_set_nocheck(value, "\"'><img src=x onerror=alert(1)>\x01");
			*done = true;
		}
		return 1;
	}
	index = 0;
	if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value) && !*done; i++)
			index += poison(json_array_get(value, i), skip - index, done);
	} else {
		json_object_foreach(value, key, member) {
			if (!*done)
				index += poison(member, skip - index, done);
		}
	}
	return index;
}

START_TEST(no_text_becomes_markup)
{
	for (size_t i = 0;; i++) {
		json_t *d = run_document();
		bool done = false;
		char *page;

		poison(d, i, &done);
		page = run_page(d, &run_page_file, NULL);
		ck_assert_ptr_null(strstr(page, "<img"));
		ck_assert_ptr_null(strstr(page, "\x01"));
		free(page);
		json_decref(d);
		if (!done)
			break;
	}
}
END_TEST

static const char *const odd_documents[] = { "{}", "{`run`: {}}", "{`run`: [], `attempts`: {}, `reviews`: `x`}",
	("{`run`: {`tasks`: [1, null, `x`, {}], `holds`: [1], `known_issues`: [1, null]}, `attempts`: [1, {}], "
	 "`reviews`: [1, {`findings`: [1, {}]}], `products`: [1], `evidence`: [1], `holds`: [1], `diffs`: []}") };

START_TEST(odd_documents_do_no_harm)
{
	json_t *d = document(odd_documents[_i]);
	char *page = run_page(d, &run_page_file, NULL);

	has(page, "</html>");
	free(page);
	json_decref(d);
}
END_TEST

/* Three hundred attempts, each with a bar; then more than are shown. */
START_TEST(a_long_run)
{
	static const size_t counts[] = { 300, PIECE_ATTEMPTS_MAX + 7 };
	json_t *d = run_document(), *attempts = json_object_get(d, "attempts");
	size_t bars = 0;
	char *page;

	for (size_t i = 4; i < counts[_i]; i++) {
		json_t *attempt = json_deep_copy(json_array_get(attempts, i % 4));

		json_object_set_new(attempt, "id", json_integer((json_int_t)i + 1));
		json_object_set_new(attempt, "number", json_integer((json_int_t)i + 1));
		json_object_set_new(attempt, "slot", json_integer((json_int_t)i % 40 + 1));
		json_array_append_new(attempts, attempt);
	}
	page = run_page(d, &run_page_file, NULL);
	for (const char *at = page; (at = strstr(at, "<rect class=\"bar")) != NULL; at++)
		bars++;
	ck_assert_uint_eq(bars, counts[_i] < PIECE_ATTEMPTS_MAX ? counts[_i] : PIECE_ATTEMPTS_MAX);
	if (counts[_i] > PIECE_ATTEMPTS_MAX)
		has(page, "1000 of 1007 attempts; <code>rlctl show 42</code> shows all of them.");
	else
		ck_assert_ptr_null(strstr(page, "of 300 attempts"));
	free(page);
	json_decref(d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("page");
	TCase *t = tcase_create("page");
	SRunner *runner;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, text_is_escaped, 0, (int)ARRAY_SIZE(texts));
	tcase_add_loop_test(t, attributes_are_escaped, 0, (int)ARRAY_SIZE(texts));
	tcase_add_test(t, elements_are_closed_in_order);
	tcase_add_test_raise_signal(t, an_attribute_behind_content, SIGABRT);
	tcase_add_test(t, a_megabyte_is_cut_at_a_character);
	tcase_add_test(t, files_and_hunks);
	tcase_add_test(t, a_diff_that_is_cut_anywhere);
	tcase_add_loop_test(t, odd_diffs_do_no_harm, 0, (int)ARRAY_SIZE(odd_diffs));
	tcase_add_test(t, a_long_gap_is_short);
	tcase_add_test(t, a_short_gap_keeps_its_length);
	tcase_add_test(t, many_gaps_take_half_at_most);
	tcase_add_test(t, no_time_at_all);
	tcase_add_test(t, a_page_tells_what_happened);
	tcase_add_test(t, rounds_begin_with_work);
	tcase_add_test(t, no_text_becomes_markup);
	tcase_add_loop_test(t, odd_documents_do_no_harm, 0, (int)ARRAY_SIZE(odd_documents));
	tcase_add_loop_test(t, a_long_run, 0, 2);
	suite_add_tcase(s, t);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
