/* SPDX-License-Identifier: MIT */
/* Preview lines: what each reader shows of the end of an output, whatever that is. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/reader.h"
#include "proto/escape.h"
#include "proto/memory.h"

/* The bytes in a block of their own size, so that a sanitizer sees who reads behind them. The
 * lines joined by "|". */
static char *preview_of(enum reader_kind kind, const char *out, size_t size, bool cut, const char *err, size_t lines)
{
	struct preview_tail tail = { xmemdup0(out, size), size, cut }, said = { err, strlen(err), false };
	char *exact = malloc(size > 0 ? size : 1), **list;
	struct buf joined = { 0 };

	memcpy(exact, out, size);
	free((char *)tail.data);
	tail.data = exact;
	list = reader_preview(kind, &tail, &said, lines);
	for (size_t i = 0; list[i] != NULL; i++)
		buf_addf(&joined, "%s%s", i > 0 ? "|" : "", list[i]);
	strings_free(list);
	free(exact);
	return buf_take(&joined, NULL);
}

static const struct {
	const char *out, *err, *shown;
	bool cut;
} texts[] = {
	{ "", "", "", false },
	{ "one\ntwo\nthree\nfour\n", "", "two|three|four", false },
	/* no newline at the end */
	{ "one\ntwo", "", "one|two", false },
	/* nothing blank, and no blanks at the end */
	{ "\n\n one\n   \ntwo \t\n\n", "", " one|two", false },
	{ "one\none\none\ntwo\none\n", "", "one|two|one", false },		/* repeats */
	{ "one\r\ntwo\r\n", "", "one|two", false },
	/* a line that is written over */
	{ "10%\r20%\r30%\r40%", "", "20%|30%|40%", false },
	{ "a\tb\n", "", "a b", false },
	{ "\033[31mred\033[0m \a\n", "", "red \\x07", false },
	{ "\xc2\x9b" "2J\n", "", "\\x9b2J", false },
	{ "x\xff\xfe\n", "", "x\\xff\\xfe", false },
	{ "\xe2\x80\xae" "evil\n", "", "\\u{202e}evil", false },
	/* its last character is on its way */
	{ "caf\xc3", "", "caf", false },
	{ "caf\xc3\n", "", "caf\\xc3", false },
	{ "ginning lost\nwhole\n", "", "\xe2\x80\xa6ginning lost|whole", true },
	/* cut in a character */
	{ "\xa9 lost\nwhole\n", "", "\xe2\x80\xa6 lost|whole", true },
	{ " \n", "words on stderr\n", "words on stderr", false },
	{ "out\n", "words on stderr\n", "out", false },
};

START_TEST(text_table)
{
	char *shown = preview_of(READER_TEXT, texts[_i].out, strlen(texts[_i].out), texts[_i].cut, texts[_i].err, 3);

	ck_assert_str_eq(shown, texts[_i].shown);
	free(shown);
}
END_TEST

START_TEST(text_nul)
{
	char *shown = preview_of(READER_TEXT, "a\0b\n\0", 5, false, "", 3);

	ck_assert_str_eq(shown, "a\\x00b|\\x00");
	free(shown);
}
END_TEST

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Lines around the cap, of characters of each length: never more than the cap, never a
 * broken character. */
START_TEST(long_lines)
{
	static const char *const units[] = { "x", "\xc3\xbc", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "\xff" };

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		for (size_t n = PREVIEW_CHARACTERS - 2; n < PREVIEW_CHARACTERS + 3; n++) {
			for (int cut = 0; cut < 2; cut++) {
				struct buf b = { 0 };
				char *shown;
				size_t wanted = u == 4 ? 4 * n : n;

				for (size_t i = 0; i < n; i++)
					buf_adds(&b, units[u]);
				buf_adds(&b, "\n");
				shown = preview_of(READER_TEXT, b.data, b.size, cut == 1, "", 3);
				wanted += cut == 1;
				ck_assert_uint_eq(characters(shown),
				    wanted < PREVIEW_CHARACTERS ? wanted : PREVIEW_CHARACTERS);
				ck_assert(text_is_utf8(shown, strlen(shown)));
				ck_assert_int_eq(strstr(shown, "\xe2\x80\xa6") != NULL,
				    wanted > PREVIEW_CHARACTERS || cut == 1);
				free(shown);
				buf_release(&b);
			}
		}
	}
}
END_TEST

/* A quarter of a MiB without a newline, of which the beginning is lost: its end. */
START_TEST(huge_line)
{
	size_t size = 256 * 1024;
	char *data = malloc(size), *shown;

	memset(data, 'x', size);
	memcpy(data + size - 4, "last", 4);
	shown = preview_of(READER_TEXT, data, size, true, "", 20);
	ck_assert_uint_eq(characters(shown), PREVIEW_CHARACTERS);
	ck_assert_str_eq(shown + strlen(shown) - 5, "xlast");
	free(shown);
	shown = preview_of(READER_CLAUDE, data, size, true, "", 20);
	ck_assert_str_eq(shown, "");
	free(shown);
	free(data);
}
END_TEST

#define SAY(text) \
	"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" text \
	    "\"}]},\"session_id\":\"s\"}\n"
#define USE(name, input) \
	"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"" \
	    name "\",\"input\":" input "}]}}\n"
#define GOT \
	"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"content\":\"secret " \
	    "of the tool\"}]}}\n"
#define INIT "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n"
#define DONE "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"All done.\"}\n"
#define BROKE \
	"{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"errors\":[\"it broke\"]}\n"

static const struct {
	const char *out, *shown;
	bool cut;
} streams[] = {
	{ INIT, "", false },
	{ INIT SAY("I look.") USE("Bash", "{\"command\":\"make test\\nmake lint\",\"description\":\"d\"}") GOT,
	    "I look.|Bash: make test", false },
	{ USE("Read", "{\"file_path\":\"/w/a.c\",\"offset\":3}") GOT USE("Grep",
	    "{\"path\":1,\"pattern\":\"x y\"}"), "Read: /w/a.c|Grep: x y", false },
	{ USE("TodoWrite", "{\"todos\":[]}"), "TodoWrite", false },
	{ SAY("one\\n\\ntwo\\nthree\\nfour"), "two|three|four", false },
	{ SAY("same") GOT SAY("same"), "same", false },
	/* a success repeats what was said */
	{ SAY("All done.") DONE, "All done.", false },
	/* ... unless that is not there */
	{ DONE, "All done.", false },
	{ SAY("I try.") BROKE, "I try.|it broke", false },
	{ SAY("I try.") "{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":2,\"error_status\":529}\n",
	  "I try.|the service answered 529, retry 2", false },
	/* still being written */
	{ SAY("whole") "{\"type\":\"assistant\",\"message\":{\"content\":[{\"ty", "whole", false },
	{ "ext\",\"text\":\"its beginning is lost\"}]}}\n" SAY("whole"), "whole", true },
	{ SAY("all of it is there") SAY("whole"), "all of it is there|whole", true },
	{ "error: unknown option\n", "error: unknown option", false },
	{ "[1, 2\n\"half a document\n", "\"half a document", false },
	{ SAY("bell \\u0007 \\u001b[2J"), "bell \\x07 ", false },
	{ SAY("lone \\ud800 half"), "lone \xef\xbf\xbd half", false },
	{ SAY("raw \xff byte"), "raw \xef\xbf\xbd byte", false },
	{ "{\"type\":\"assistant\",\"message\":{\"content\":\"a string\"}}\n"
	    "{\"type\":\"assistant\",\"message\":7}\n{\"type\":8}\n7\n", "7", false },
	{ "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	  "{\"type\":\"tool_use\",\"name\":\"Bash\"},"
	  "{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"thinking\",\"thinking\":\"no\"}]}}\n",
	  "a|Bash|b", false },
};

START_TEST(claude_table)
{
	char *shown = preview_of(READER_CLAUDE, streams[_i].out, strlen(streams[_i].out), streams[_i].cut, "", 3);

	ck_assert_str_eq(shown, streams[_i].shown);
	free(shown);
}
END_TEST

START_TEST(claude_stderr)
{
	char *shown = preview_of(READER_CLAUDE, INIT, strlen(INIT), false, "not logged in\n", 3);

	ck_assert_str_eq(shown, "not logged in");
	free(shown);
}
END_TEST

/* As many as are asked for, the newest ones. */
START_TEST(how_many)
{
	for (size_t n = 1; n <= PREVIEW_LINES_MAX; n++) {
		struct buf b = { 0 };
		char *shown, *wanted;
		size_t lines = 1;

		for (int i = 0; i < 30; i++)
			buf_addf(&b, "line %d\n", i);
		shown = preview_of(READER_TEXT, b.data, b.size, false, "", n);
		for (const char *p = shown; *p != '\0'; p++)
			lines += *p == '|';
		ck_assert_uint_eq(lines, n);
		wanted = xasprintf("line %zu", 30 - n);
		ck_assert_int_eq(strncmp(shown, wanted, strlen(wanted)), 0);
		free(wanted);
		free(shown);
		buf_release(&b);
	}
}
END_TEST

/* Whatever comes: UTF-8 without a control character, within the cap. */
START_TEST(rubbish)
{
	unsigned seed = 7;

	for (int round = 0; round < 3000; round++) {
		char data[400], *shown;

		for (size_t i = 0; i < sizeof(data); i++) {
			seed = seed * 1103515245 + 12345;
			data[i] = seed >> 30 == 0 ? '\n' : (char)(seed >> 16);
		}
		shown = preview_of(round % 2 == 0 ? READER_TEXT : READER_CLAUDE, data, sizeof(data),
		    round % 3 == 0, "", 3);
		ck_assert(text_is_utf8(shown, strlen(shown)));
		ck_assert_uint_le(characters(shown), 3 * PREVIEW_CHARACTERS + 2);
		for (const char *p = shown; *p != '\0'; p++)
			ck_assert((unsigned char)*p >= 0x20 && *p != 0x7f);
		free(shown);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("preview");
	TCase *tcase = tcase_create("preview");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, text_table, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tcase, text_nul);
	tcase_add_test(tcase, long_lines);
	tcase_add_test(tcase, huge_line);
	tcase_add_loop_test(tcase, claude_table, 0, sizeof(streams) / sizeof(streams[0]));
	tcase_add_test(tcase, claude_stderr);
	tcase_add_test(tcase, how_many);
	tcase_add_test(tcase, rubbish);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
