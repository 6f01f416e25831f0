/* SPDX-License-Identifier: MIT */
/* Sections of Markdown: what a heading is, where its section ends, and that the text
 * comes as it stands. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "prompt/prompt.h"
#include "proto/memory.h"

#define NONE NULL

static const struct {
	const char *markdown, *heading, *expected;
} sections[] = {
	/* where a section ends */
	{ "# A\na\n# B\nb\n", "A", "# A\na\n" },
	{ "# A\na\n# B\nb\n", "B", "# B\nb\n" },
	{ "# A\na\n## B\nb\n### C\nc\n# D\n", "A", "# A\na\n## B\nb\n### C\nc\n" },
	{ "# A\na\n## B\nb\n### C\nc\n# D\n", "B", "## B\nb\n### C\nc\n" },
	{ "# A\n## B\nb\n## C\nc\n", "B", "## B\nb\n" },
	{ "### A\na\n# B\nb\n", "A", "### A\na\n" },
	{ "intro\n\n# A", "A", "# A" },
	{ "# A\n", "A", "# A\n" },
	{ "# A\none\n# A\ntwo\n", "A", "# A\none\n" },
	{ "# A\n## A\na\n# B\n", "A", "# A\n## A\na\n" },
	/* there is none */
	{ "# A\n", "B", NONE },
	{ "A\n", "A", NONE },
	{ "", "A", NONE },
	{ "# AB\n", "A", NONE },
	{ "#A\n", "A", NONE },
	{ "####### A\n", "A", NONE },
	/* setext */
	{ "A\n=\na\n\nB\n-\nb\n\nC\n===\nc\n", "A", "A\n=\na\n\nB\n-\nb\n\n" },
	{ "A\n=\na\n\nB\n-\nb\n\nC\n===\nc\n", "B", "B\n-\nb\n\n" },
	{ "two\nlines\n---\na\n# B\n", "two lines", "two\nlines\n---\na\n" },
	/* what looks like a heading inside of something else */
	{ "```\n# A\n```\n# B\n", "A", NONE },
	{ "~~~ md\n# A\n~~~\n", "A", NONE },
	{ "    # A\n", "A", NONE },
	{ "<!--\n# A\n-->\n", "A", NONE },
	{ "<pre>\n# A\n</pre>\n", "A", NONE },
	{ "> # A\n", "A", NONE },
	{ "- # A\n", "A", NONE },
	{ "# A\n```sh\n# B\n```\na\n# C\n", "A", "# A\n```sh\n# B\n```\na\n" },
	{ "# A\n> # B\n\n- # C\n\na\n# D\n", "A", "# A\n> # B\n\n- # C\n\na\n" },
	{ "# A\n````\n```\n# B\n````\n# C\n", "A", "# A\n````\n```\n# B\n````\n" },
	/* how a heading reads */
	{ "# standards\n", "Standards", "# standards\n" },
	{ "  ##   Code    review   ##  \nx\n", " code\treview ", "  ##   Code    review   ##  \nx\n" },
	{ "# Code *review*\n", "Code review", "# Code *review*\n" },
	{ "# __Code__ `review`s\n", "Code reviews", "# __Code__ `review`s\n" },
	{ "# The [rules](http://x/)\n", "The rules", "# The [rules](http://x/)\n" },
	{ "# Q&amp;A \\# 1\n", "Q&A # 1", "# Q&amp;A \\# 1\n" },
	{ "# Qualität\n", "Qualität", "# Qualität\n" },
	/* the number of a heading does not count, unless it is asked for */
	{ "# C\n## 3. Standards\ns\n## 4. Others\n", "Standards", "## 3. Standards\ns\n" },
	{ "## 3 Standards\n", "Standards", "## 3 Standards\n" },
	{ "## 3) Standards\n", "Standards", "## 3) Standards\n" },
	{ "## 2.10.1 Standards\n", "Standards", "## 2.10.1 Standards\n" },
	{ "## 2.1.: Standards\n", "standards", "## 2.1.: Standards\n" },
	{ "## 3. Standards\na\n## Standards\nb\n", "Standards", "## Standards\nb\n" },
	{ "## 1. A\na\n## 2. A\nb\n", "2. A", "## 2. A\nb\n" },
	{ "## Standards\n", "3. Standards", "## Standards\n" },
	{ "## 3Standards\n", "Standards", NONE },
	{ "## .3 Standards\n", "Standards", NONE },
	{ "## v3 Standards\n", "Standards", NONE },
	{ "## 42\n", "42", "## 42\n" },
	{ "## 42\n", "43", NONE },
	/* line ends */
	{ "x\r\n# A\r\na\r\n# B\r\n", "A", "# A\r\na\r\n" },
	{ "x\r# A\ra\r# B\r", "A", "# A\ra\r" },
	{ "\r\n\n\r# A\n\r\na\n# B\n", "A", "# A\n\r\na\n" },
	{ "\xef\xbb\xbf# A\na\n# B\n", "A", "\xef\xbb\xbf# A\na\n" },
	/* the text is kept, whatever it is */
	{ "# A\n<b>\t*x* [y]: \xff  \n\n\n## B ##\n\n# C\n", "A", "# A\n<b>\t*x* [y]: \xff  \n\n\n## B ##\n\n" },
	{ "# A\n[r]: http://x/\n\nB\n=\n", "A", "# A\n[r]: http://x/\n\n" },
};

START_TEST(section_table)
{
	size_t size = strlen(sections[_i].markdown);
	char *exact = malloc(size > 0 ? size : 1), *section;

	memcpy(exact, sections[_i].markdown, size);
	section = prompt_section((struct span){ exact, size }, sections[_i].heading);
	if (sections[_i].expected == NONE)
		ck_assert_ptr_null(section);
	else
		ck_assert_pstr_eq(section, sections[_i].expected);
	free(section);
	free(exact);
}
END_TEST

START_TEST(no_text)
{
	ck_assert_ptr_null(prompt_section((struct span){ NULL, 0 }, "A"));
}
END_TEST

/* A file that nests or opens without end is read in passing, not for minutes: Check's
 * timeout would notice. */
START_TEST(hostile_text)
{
	static const char *const patterns[] = { "> ", "- ", "[", "![[", "*a_ ", "`a``", "<!--", "[a](<b" };
	struct buf text = { 0 };
	char *section;

	while (text.size < 128 * 1024)
		buf_adds(&text, patterns[_i]);
	buf_adds(&text, "\n\n\n# A\na\n");
	section = prompt_section((struct span){ text.data, text.size }, "A");
	ck_assert_msg(section == NULL || strcmp(section, "# A\na\n") == 0, "%.100s", section);
	free(section);
	buf_release(&text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("section");
	TCase *tcase = tcase_create("section");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, section_table, 0, sizeof(sections) / sizeof(sections[0]));
	tcase_add_test(tcase, no_text);
	tcase_add_loop_test(tcase, hostile_text, 0, 8);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
