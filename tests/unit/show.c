/* SPDX-License-Identifier: MIT */
/* The output of each program as a conversation, however it is cut into parts, and whatever it
 * is. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/reader.h"
#include "base/file.h"
#include "proto/escape.h"
#include "proto/memory.h"

/* Read in parts as a client does: what was not used comes again. Items as "kind: text|...". */
static char *conversation(enum reader_kind kind, const char *data, size_t size, size_t part)
{
	struct show s = { 0 };
	struct buf text = { 0 };
	size_t at = 0, end = 0;

	while (at < size) {
		end = end + part < size ? end + part : size;
		at += reader_show(kind, &s, data + at, end - at, end == size);
		ck_assert_uint_le(at, end);
	}
	for (size_t i = 0; i < s.count; i++) {
		ck_assert(text_is_utf8(s.items[i].text, strlen(s.items[i].text)));
		if (s.items[i].kind == SHOW_PIECE && i > 0 && s.items[i - 1].kind == SHOW_PIECE)
			buf_adds(&text, s.items[i].text);
		else
			buf_addf(&text, "%s%s: %s", text.size > 0 ? "|" : "",
			    state_name(&show_kind_names, (int)s.items[i].kind), s.items[i].text);
	}
	show_release(&s);
	return buf_take(&text, NULL);
}

#define OVERLOADED \
	"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"

static const struct {
	enum reader_kind kind;
	const char *file, *shown;
} files[] = {
	{ READER_CLAUDE, "claude/tool-fails", "tool: Bash: exit 3|failed: Exit code 3|said: All done." },
	{ READER_CODEX, "codex/tool-fails", "said: I look first.|tool: command: /bin/bash -lc 'exit 3'|"
	    "failed: exit status 3|said: All done.\n{\"verdict\": \"pass\"}" },
	{ READER_CODEX, "codex/declined", "failed: declined|said: I may not push." },
	{ READER_GEMINI, "gemini/tool-fails", "piece: I look first.|tool: run_shell_command: exit 3|"
	    "piece: All done.\n{\"verdict\": \"pass\"}" },
	{ READER_OPENCODE, "opencode/tool-fails", "said: I look first.|tool: bash: exit 3|failed: (no output)|"
	    "said: All done.\n{\"verdict\": \"pass\"}" },
	{ READER_COPILOT, "copilot/tool-fails", "said: I look first.|tool: bash: exit 3|"
	    "failed: <shellId: 0 completed with exit code 3>|said: All done.\n{\"verdict\": \"pass\"}" },
	{ READER_PI, "pi/tool-fails", "said: I look first.|tool: bash: exit 3|"
	    "failed: (no output)\n\nCommand exited with code 3|said: All done.\n{\"verdict\": \"pass\"}" },
	{ READER_QWEN, "qwen/denied", "failed: Tool requires user approval." },
	{ READER_GEMINI, "gemini/not-offered", "piece: I look first.|tool: run_shell_command: printf hi > hello.txt|"
	    "failed: Tool \"run_shell_command\" not found. Did you mean one of: \"update_topic\", "
	    "\"grep_search\", \"invoke_agent\"?|piece: All done.\n{\"verdict\": \"pass\"}" },
	{ READER_CLAUDE, "claude/overloaded", "error: the service answered 529, retry 10|said: "
	    OVERLOADED "|error: " OVERLOADED },
};

START_TEST(file_table)
{
	static const size_t parts[] = { 1, 7, 4096, 1024 * 1024 };
	char *path = xasprintf("tests/data/agents/%s.jsonl", files[_i].file), *data, *shown;
	size_t size;

	ck_assert_int_eq(file_read(AT_FDCWD, path, 1024 * 1024, &data, &size), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i] == 1 && size > 20000)
			continue;
		shown = conversation(files[_i].kind, data, size, parts[i]);
		ck_assert_str_eq(shown, files[_i].shown);
		free(shown);
	}
	free(data);
	free(path);
}
END_TEST

#define SAY(text) "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define FAILS(content) \
	"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"is_error\":true,\"content\":" \
	    content "}]}}\n"

static const struct {
	enum reader_kind kind;
	const char *out, *shown;
} texts[] = {
	{ READER_TEXT, "one\ntwo", "piece: one\ntwo" },
	{ READER_TEXT, "a\033[31mb\a\xff\xe2\x80\xae\n", "piece: ab\\x07\\xff\\u{202e}\n" },
	{ READER_CLAUDE, "", "" },
	{ READER_CLAUDE, "npm warn\n" SAY("x"), "piece: npm warn\n|said: x" },
	/* broken JSON, and what no document is */
	{ READER_CLAUDE, "{\"type\":\"assistant\",\n[1,2\n{}\n[]\n1\n" SAY("x"), "piece: 1\n|said: x" },
	{ READER_CLAUDE, "{\"type\":\"assistant\",\"message\":[]}\n{\"type\":{}}\n" SAY(""), "" },
	{ READER_CLAUDE, SAY("\\u001b]0;t\\u0007\\u001b[2J\xff\\ud800"), "said: \xef\xbf\xbd\xef\xbf\xbd" },
	{ READER_CLAUDE, SAY("a\\nb\\tc\\u0000d"), "said: a\nb\tc\xef\xbf\xbd" "d" },
	/* the end of a result */
	{ READER_CLAUDE, FAILS("\"1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\n11\\n12\\n\\n\""),
	    "failed: 3\n4\n5\n6\n7\n8\n9\n10\n11\n12" },
	{ READER_CLAUDE, FAILS("[{\"type\":\"text\",\"text\":\"no such file\"},{\"type\":\"image\"}]"),
	    "failed: no such file" },
	{ READER_CLAUDE, FAILS("{}") FAILS("7") FAILS("\"\""), "" },
	/* a document without a newline at the end of the output */
	{ READER_CLAUDE, SAY("x") "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\","
	    "\"text\":\"y\"}]}}",
	    "said: x|said: y" },
};

START_TEST(text_table)
{
	char *shown = conversation(texts[_i].kind, texts[_i].out, strlen(texts[_i].out), 1024);

	ck_assert_str_eq(shown, texts[_i].shown);
	free(shown);
}
END_TEST

/* A text of a MiB is cut, and said to be. */
START_TEST(long_text)
{
	struct buf line = { 0 };
	struct show s = { 0 };

	buf_adds(&line, "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"");
	for (size_t i = 0; i < 1024 * 1024; i += 2)
		buf_adds(&line, "\xc3\xa4");
	buf_adds(&line, "\"}]}}\n");
	ck_assert_uint_eq(reader_show(READER_CLAUDE, &s, line.data, line.size, false), line.size);
	ck_assert_uint_eq(s.count, 2);
	ck_assert_uint_eq(strlen(s.items[0].text), SHOW_TEXT_MAX);
	ck_assert_str_eq(s.items[1].text, "983040 more bytes");
	show_release(&s);
	/* and a long plain text comes in parts of that size */
	ck_assert_uint_eq(reader_show(READER_TEXT, &s, line.data, line.size, true), SHOW_TEXT_MAX - 1);
	show_release(&s);
	buf_release(&line);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("show");
	TCase *table = tcase_create("conversation");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(table, file_table, 0, sizeof(files) / sizeof(files[0]));
	tcase_add_loop_test(table, text_table, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(table, long_text);
	suite_add_tcase(suite, table);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
