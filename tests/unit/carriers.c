/* SPDX-License-Identifier: MIT */
/* The carriers decision, file, exit and comments, and the marks of a corrector. What finds
 * an object in a text is tested by unit/verdict.c; here is what the object, the file or
 * the status means. */
#include <check.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/findings.h"
#include "proto/escape.h"
#include "proto/memory.h"
#include "verdict/clean.h"
#include "verdict/items.h"
#include "verdict/verdict.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define DECISION(got) "invalid decision: expected \"GO\" or \"NO_GO\", got " got
#define FEEDBACK(got) "missing or invalid feedback: expected string, got " got
#define CHECKS(got) "missing or invalid quality_checks: expected object of booleans, got " got
#define BROKEN "reviewer output is not a valid JSON object"
#define SEVERITY(got) "invalid severity: expected \"must-fix\" or \"suggestion\", got " got
#define NO_EVIDENCE "no evidence of a review"

static struct verdict read_input(enum carrier carrier, const char *text, const char *file, int64_t status)
{
	/* copies of the exact size, so that a sanitizer sees every byte read behind them */
	struct verdict_input in = { .text_size = text != NULL ? strlen(text) : 0,
	    .file_size = file != NULL ? strlen(file) : 0, .status = status };
	char *t = text != NULL ? memcpy(malloc(in.text_size + (in.text_size == 0)), text, in.text_size) : NULL;
	char *f = file != NULL ? memcpy(malloc(in.file_size + (in.file_size == 0)), file, in.file_size) : NULL;
	struct verdict v;

	in.text = t;
	in.file = f;
	verdict_read(carrier, &in, &v);
	free(t);
	free(f);
	ck_assert((v.reason == NULL) == (v.kind != VERDICT_NONE));
	ck_assert((v.feedback == NULL) == (v.kind == VERDICT_NONE));
	if (v.kind == VERDICT_FINDINGS) {
		ck_assert(!clean_is_blank(v.feedback, strlen(v.feedback)));
		ck_assert_uint_gt(v.nfindings, 0);
	}
	if (v.kind == VERDICT_NONE)
		ck_assert_uint_eq(v.nfindings, 0);
	for (size_t i = 0; i < v.nfindings; i++)
		ck_assert(!clean_is_blank(v.findings[i].text, strlen(v.findings[i].text)));
	return v;
}

static void expect(struct verdict v, enum verdict_kind kind, const char *word, const char *source)
{
	const char *said = v.kind == VERDICT_NONE ? v.reason : v.feedback;

	ck_assert_msg(v.kind == kind, "kind %d, not %d (%s)", v.kind, kind, said);
	ck_assert_str_eq(said, word);
	ck_assert_pstr_eq(v.source, source);
	verdict_release(&v);
}

static const struct {
	const char *text;
	enum verdict_kind kind;
	const char *word, *checks;
} decisions[] = {
	{ "{\"decision\":\"GO\",\"feedback\":\"ok\"}", VERDICT_PASS, "ok", NULL },
	{ "{\"decision\":\"GO\",\"feedback\":\"\"}", VERDICT_PASS, "", NULL },
	{ "{\"decision\":\"NO_GO\",\"feedback\":\"mend it\"}", VERDICT_FINDINGS, "mend it", NULL },
	{ "{\"decision\":\"NO_GO\",\"feedback\":\"x\",\"quality_checks\":{\"tests\":false,\"style\" : "
	    "true}}", VERDICT_FINDINGS, "x", "{\"tests\":false,\"style\":true}" },
	{ "{\"quality_checks\":{},\"feedback\":\"ok\",\"decision\":\"GO\"}", VERDICT_PASS, "ok", "{}" },
	{ "{\"task_id\":\"a\",\"iteration\":2,\"decision\":\"GO\",\"feedback\":\"ok\","
	    "\"timestamp\":\"2026-02-27T11:30:00Z\"}", VERDICT_PASS, "ok", NULL },
	{ "{\"decision\":\"Go\",\"feedback\":\"ok\"}", VERDICT_NONE, DECISION("\"Go\""), NULL },
	{ "{\"decision\":\"go\",\"feedback\":\"ok\"}", VERDICT_NONE, DECISION("\"go\""), NULL },
	{ "{\"decision\":\"NO-GO\",\"feedback\":\"x\"}", VERDICT_NONE, DECISION("\"NO-GO\""), NULL },
	{ "{\"decision\":\"NO_GO | GO\",\"feedback\":\"x\"}", VERDICT_NONE, DECISION("\"NO_GO | GO\""), NULL },
	{ "{\"decision\":\"pass\",\"feedback\":\"ok\"}", VERDICT_NONE, DECISION("\"pass\""), NULL },
	{ "{\"decision\":true,\"feedback\":\"ok\"}", VERDICT_NONE, DECISION("true"), NULL },
	{ "{\"verdict\":\"pass\",\"followUpPrompt\":\"ok\"}", VERDICT_NONE, DECISION("nothing"), NULL },
	{ "{\"decision\":\"GO\"}", VERDICT_NONE, FEEDBACK("nothing"), NULL },
	{ "{\"decision\":\"GO\",\"followUpPrompt\":\"ok\"}", VERDICT_NONE, FEEDBACK("nothing"), NULL },
	{ "{\"decision\":\"GO\",\"feedback\":null}", VERDICT_NONE, FEEDBACK("null"), NULL },
	{ "{\"decision\":\"NO_GO\",\"feedback\":\" \\n\"}", VERDICT_NONE, FEEDBACK("\" \\n\""), NULL },
	{ "{\"decision\":\"GO\",\"feedback\":\"ok\",\"quality_checks\":null}", VERDICT_NONE, CHECKS("null"), NULL },
	{ "{\"decision\":\"GO\",\"feedback\":\"ok\",\"quality_checks\":[true]}", VERDICT_NONE, CHECKS("[true]"), NULL },
	{ "{\"decision\":\"GO\",\"feedback\":\"ok\",\"quality_checks\":{\"tests\":\"yes\"}}",
	    VERDICT_NONE, CHECKS("{\"tests\":\"yes\"}"), NULL },
	{ "{\"decision\":\"GO\",\"feedback\":\"ok\",\"quality_checks\":{\"a\":true,\"a\":true}}",
	    VERDICT_NONE, BROKEN, NULL },
	{ "{\"decision\":\"NO_GO\",\"feedback\":\"x\"}\n{\"decision\":\"GO\",\"feedback\":\"ok\"}",
	    VERDICT_NONE, "conflicting verdicts", NULL },
	{ "GO", VERDICT_NONE, "no JSON object found in reviewer output", NULL },
	{ "", VERDICT_NONE, "empty reviewer output", NULL },
};

START_TEST(decision)
{
	struct verdict v = read_input(CARRIER_DECISION, decisions[_i].text, NULL, 0);

	ck_assert_pstr_eq(v.quality_checks, decisions[_i].checks);
	expect(v, decisions[_i].kind, decisions[_i].word, decisions[_i].text[0] != '\0' ? "text" : NULL);
}
END_TEST

START_TEST(decision_file_wins)
{
	const char *go = "{\"decision\":\"GO\",\"feedback\":\"ok\"}";

	expect(read_input(CARRIER_DECISION, go, "{\"decision\":\"NO_GO\",\"feedback\":\"x\"}", 0),
	    VERDICT_FINDINGS, "x", "file");
	expect(read_input(CARRIER_DECISION, go, "{", 0), VERDICT_NONE, BROKEN, "file");
	expect(read_input(CARRIER_DECISION, go, "", 0), VERDICT_PASS, "ok", "text");
	expect(read_input(CARRIER_DECISION, go, NULL, 1), VERDICT_PASS, "ok", "text");
}
END_TEST

START_TEST(exit_status)
{
	struct verdict v;

	expect(read_input(CARRIER_EXIT, "fine", NULL, 0), VERDICT_PASS, "", "exit");
	expect(read_input(CARRIER_EXIT, NULL, NULL, 0), VERDICT_PASS, "", "exit");
	expect(read_input(CARRIER_EXIT, "2 tests fail\n", NULL, 1), VERDICT_FINDINGS, "2 tests fail\n", "exit");
	expect(read_input(CARRIER_EXIT, "caf\xe9 \xff\xfe", NULL, 1), VERDICT_FINDINGS,
	    "caf\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd", "exit");
	expect(read_input(CARRIER_EXIT, "{\"verdict\":\"pass\"}", NULL, 1), VERDICT_FINDINGS,
	    "{\"verdict\":\"pass\"}", "exit");
	expect(read_input(CARRIER_EXIT, " \n", NULL, 1), VERDICT_FINDINGS,
	    "The reviewer requested another round without giving a reason.", "exit");
	expect(read_input(CARRIER_EXIT, "\x1b[0m\n", NULL, 1), VERDICT_FINDINGS,
	    "The reviewer requested another round without giving a reason.", "exit");
	expect(read_input(CARRIER_EXIT, NULL, "a file is nothing here", 1), VERDICT_FINDINGS,
	    "The reviewer requested another round without giving a reason.", "exit");
	/* such ones are the reviewer's own failures, and judged before */
	expect(read_input(CARRIER_EXIT, "fine", NULL, 2), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_EXIT, "fine", NULL, 256), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_EXIT, "fine", NULL, -1), VERDICT_NONE, NO_EVIDENCE, NULL);
	v = read_input(CARRIER_EXIT, "2 tests fail \n\n", NULL, 1);
	ck_assert_uint_eq(v.nfindings, 1);
	ck_assert_str_eq(v.findings[0].text, "2 tests fail");
	verdict_release(&v);
}
END_TEST

START_TEST(exit_bytes)
{
	struct verdict_input in = { .text = "a\0b", .text_size = 3, .status = 1 };
	struct verdict v;

	verdict_read(CARRIER_EXIT, &in, &v);
	expect(v, VERDICT_FINDINGS, "a\xef\xbf\xbd" "b", "exit");
}
END_TEST

/* ---- comments ---- */

#define MUST "{\"file\":\"src/foo.ts\",\"line\":42,\"severity\":\"must-fix\",\"comment\":\"undeclared dependency\"}"
#define MAY "{\"file\":\"general\",\"line\":0,\"severity\":\"suggestion\",\"comment\":\"a name\"}"
#define COMMENTS(list) "{\"comments\":[" list "],\"summary\":\"so\"}"
#define ONE(members) COMMENTS("{" members "}")

static const struct {
	const char *file;
	enum verdict_kind kind;
	const char *word;
	size_t findings;
} comments[] = {
	{ COMMENTS(""), VERDICT_PASS, "so", 0 },
	{ COMMENTS(MAY), VERDICT_PASS, "so", 1 },
	{ COMMENTS(MUST), VERDICT_FINDINGS, "- src/foo.ts:42: undeclared dependency\n", 1 },
	{ COMMENTS(MAY "," MUST "," MAY), VERDICT_FINDINGS, "- src/foo.ts:42: undeclared dependency\n", 3 },
	{ COMMENTS(MUST "," MUST), VERDICT_FINDINGS,
	    "- src/foo.ts:42: undeclared dependency\n- src/foo.ts:42: undeclared dependency\n", 2 },
	{ ONE("\"severity\":\"must-fix\",\"comment\":\"x\""), VERDICT_FINDINGS, "- x\n", 1 },
	{ ONE("\"file\":null,\"line\":null,\"severity\":\"must-fix\",\"comment\":\"x\""),
	    VERDICT_FINDINGS, "- x\n", 1 },
	{ ONE("\"file\":\"a.c\",\"line\":0,\"severity\":\"must-fix\",\"comment\":\"x\""),
	    VERDICT_FINDINGS, "- a.c: x\n", 1 },
	{ ONE("\"file\":\" \",\"line\":3,\"severity\":\"must-fix\",\"comment\":\"x\""), VERDICT_FINDINGS, "- x\n", 1 },
	{ "\xef\xbb\xbf" COMMENTS(""), VERDICT_PASS, "so", 0 },
	{ "\n " COMMENTS("") "\r\n", VERDICT_PASS, "so", 0 },
	{ "{\"comments\":[],\"summary\":\"\"}", VERDICT_PASS, "", 0 },
	{ "{\"comments\":[],\"summary\":\"so\",\"more\":{}}", VERDICT_PASS, "so", 0 },
	{ NULL, VERDICT_NONE, NO_EVIDENCE, 0 },
	{ "", VERDICT_NONE, NO_EVIDENCE, 0 },
	{ " \r\n\t", VERDICT_NONE, NO_EVIDENCE, 0 },
	{ "\xef\xbb\xbf", VERDICT_NONE, NO_EVIDENCE, 0 },
	{ "No problems found.", VERDICT_NONE, BROKEN, 0 },
	{ "[]", VERDICT_NONE, BROKEN, 0 },
	{ "[" MAY "]", VERDICT_NONE, BROKEN, 0 },
	{ "null", VERDICT_NONE, BROKEN, 0 },
	{ "```json\n" COMMENTS("") "\n```", VERDICT_NONE, BROKEN, 0 },
	{ "So:\n" COMMENTS(""), VERDICT_NONE, BROKEN, 0 },
	{ COMMENTS("") COMMENTS(""), VERDICT_NONE, BROKEN, 0 },
	{ COMMENTS("") "\nmore", VERDICT_NONE, BROKEN, 0 },
	{ "{\"comments\":[" MUST "],\"comments\":[],\"summary\":\"so\"}", VERDICT_NONE, BROKEN, 0 },
	{ "{\"comments\":[],\"summary\":\"so\",}", VERDICT_NONE, BROKEN, 0 },
	{ "{\"comments\":[" MUST, VERDICT_NONE, BROKEN, 0 },
	{ "{\"comments\":[],\"summary\":\"\xff\"}", VERDICT_NONE, BROKEN, 0 },
	{ "{}", VERDICT_NONE, "missing or invalid comments: expected array, got nothing", 0 },
	{ "{\"summary\":\"so\"}", VERDICT_NONE, "missing or invalid comments: expected array, got nothing", 0 },
	{ "{\"Comments\":[],\"summary\":\"so\"}", VERDICT_NONE,
	    "missing or invalid comments: expected array, got nothing", 0 },
	{ "{\"comments\":null,\"summary\":\"so\"}", VERDICT_NONE,
	    "missing or invalid comments: expected array, got null", 0 },
	{ "{\"comments\":{},\"summary\":\"so\"}", VERDICT_NONE,
	    "missing or invalid comments: expected array, got {}", 0 },
	{ "{\"comments\":\"none\",\"summary\":\"so\"}", VERDICT_NONE,
	    "missing or invalid comments: expected array, got \"none\"", 0 },
	{ COMMENTS("1"), VERDICT_NONE, "missing or invalid comments: expected array of objects, got 1", 0 },
	{ COMMENTS(MAY ",null"), VERDICT_NONE, "missing or invalid comments: expected array of objects, got null", 0 },
	{ "{\"comments\":[]}", VERDICT_NONE, "missing or invalid summary: expected string, got nothing", 0 },
	{ "{\"comments\":[" MUST "]}", VERDICT_NONE, "missing or invalid summary: expected string, got nothing", 0 },
	{ "{\"comments\":[],\"summary\":{\"must_fix\":0}}", VERDICT_NONE,
	    "missing or invalid summary: expected string, got {\"must_fix\":0}", 0 },
	{ ONE("\"comment\":\"x\""), VERDICT_NONE, SEVERITY("nothing"), 0 },
	{ ONE("\"severity\":\"Must-Fix\",\"comment\":\"x\""), VERDICT_NONE, SEVERITY("\"Must-Fix\""), 0 },
	{ ONE("\"severity\":\"must_fix\",\"comment\":\"x\""), VERDICT_NONE, SEVERITY("\"must_fix\""), 0 },
	{ ONE("\"severity\":\"suggestion \",\"comment\":\"x\""), VERDICT_NONE, SEVERITY("\"suggestion \""), 0 },
	{ ONE("\"severity\":\"critical\",\"comment\":\"x\""), VERDICT_NONE, SEVERITY("\"critical\""), 0 },
	{ ONE("\"severity\":1,\"comment\":\"x\""), VERDICT_NONE, SEVERITY("1"), 0 },
	{ COMMENTS(MAY ",{\"severity\":\"nit\",\"comment\":\"x\"}"), VERDICT_NONE, SEVERITY("\"nit\""), 0 },
	{ ONE("\"severity\":\"suggestion\""), VERDICT_NONE,
	    "missing or invalid comment: expected string, got nothing", 0 },
	{ ONE("\"severity\":\"suggestion\",\"comment\":7"), VERDICT_NONE,
	    "missing or invalid comment: expected string, got 7", 0 },
	{ ONE("\"severity\":\"must-fix\",\"comment\":\" \""), VERDICT_NONE,
	    "missing or invalid comment: expected string, got \" \"", 0 },
	{ ONE("\"file\":1,\"severity\":\"must-fix\",\"comment\":\"x\""), VERDICT_NONE,
	    "missing or invalid file: expected string, got 1", 0 },
	{ ONE("\"line\":\"42\",\"severity\":\"must-fix\",\"comment\":\"x\""), VERDICT_NONE,
	    "missing or invalid line: expected line number, got \"42\"", 0 },
	{ ONE("\"line\":-1,\"severity\":\"must-fix\",\"comment\":\"x\""), VERDICT_NONE,
	    "missing or invalid line: expected line number, got -1", 0 },
	{ ONE("\"line\":1.5,\"severity\":\"must-fix\",\"comment\":\"x\""), VERDICT_NONE,
	    "missing or invalid line: expected line number, got 1.5", 0 },
};

START_TEST(comments_table)
{
	const char *file = comments[_i].file;
	struct verdict v = read_input(CARRIER_COMMENTS, "No problems found.", file, 0);

	ck_assert_uint_eq(v.nfindings, comments[_i].findings);
	expect(v, comments[_i].kind, comments[_i].word, strcmp(comments[_i].word, NO_EVIDENCE) == 0 ? NULL : "file");
}
END_TEST

START_TEST(comments_fields)
{
	struct verdict v = read_input(CARRIER_COMMENTS, NULL, COMMENTS(MUST "," MAY), 0);

	ck_assert_str_eq(v.findings[0].file, "src/foo.ts");
	ck_assert_int_eq(v.findings[0].line, 42);
	ck_assert_str_eq(v.findings[0].severity, "must-fix");
	ck_assert_str_eq(v.findings[0].text, "undeclared dependency");
	ck_assert_str_eq(v.findings[1].file, "general");
	ck_assert_int_eq(v.findings[1].line, 0);
	ck_assert_str_eq(v.findings[1].severity, "suggestion");
	ck_assert_str_eq(v.findings[1].text, "a name");
	verdict_release(&v);
}
END_TEST

static void repeat(struct buf *b, const char *text, size_t times)
{
	while (times-- > 0)
		buf_adds(b, text);
}

START_TEST(comments_bounds)
{
	struct buf b = { 0 };
	struct verdict v;

	buf_adds(&b, "{\"summary\":\"so\",\"comments\":[");
	repeat(&b, MUST ",", 499);
	buf_adds(&b, MUST "]}");
	v = read_input(CARRIER_COMMENTS, NULL, b.data, 0);
	ck_assert_int_eq(v.kind, VERDICT_FINDINGS);
	ck_assert_uint_eq(v.nfindings, 500);
	verdict_release(&v);
	b.size -= 2;
	buf_adds(&b, "," MUST "]}");
	expect(read_input(CARRIER_COMMENTS, NULL, b.data, 0), VERDICT_NONE, "too many comments: at most 500", "file");
	buf_release(&b);

	buf_adds(&b, "{\"summary\":\"so\",\"comments\":[],\"x\":");
	repeat(&b, "[", 64);
	repeat(&b, "]", 64);
	buf_adds(&b, "}");
	expect(read_input(CARRIER_COMMENTS, NULL, b.data, 0), VERDICT_NONE, BROKEN, "file");
	buf_release(&b);

	buf_adds(&b, "{\"summary\":\"so\",\"comments\":[],\"x\":[1");
	repeat(&b, ",1", 10000);
	buf_adds(&b, "]}");
	expect(read_input(CARRIER_COMMENTS, NULL, b.data, 0), VERDICT_NONE, BROKEN, "file");
	buf_release(&b);

	buf_adds(&b, "{\"summary\":\"so\",\"comments\":[{\"severity\":\"must-fix\",\"comment\":\"a");
	repeat(&b, "é", 100000);
	buf_adds(&b, "z\"}]}");
	v = read_input(CARRIER_COMMENTS, NULL, b.data, 0);
	ck_assert_int_eq(v.kind, VERDICT_FINDINGS);
	ck_assert_uint_le(strlen(v.findings[0].text), CLEAN_FINDING_MAX + 64);
	ck_assert_ptr_nonnull(strstr(v.findings[0].text, " bytes left out ...]"));
	ck_assert(text_is_utf8(v.findings[0].text, strlen(v.findings[0].text)));
	ck_assert_int_eq(v.findings[0].text[strlen(v.findings[0].text) - 1], 'z');
	verdict_release(&v);
	buf_release(&b);
}
END_TEST

/* ---- file ---- */

START_TEST(file_kinds)
{
	expect(read_input(CARRIER_FILE, "I ran the tests.", NULL, 0), VERDICT_PASS, "I ran the tests.", "text");
	expect(read_input(CARRIER_FILE, "I ran the tests.", "", 0), VERDICT_PASS, "I ran the tests.", "text");
	expect(read_input(CARRIER_FILE, "I ran the tests.", " \r\n\t\n", 0), VERDICT_PASS, "I ran the tests.", "text");
	expect(read_input(CARRIER_FILE, "I ran the tests.", "\xef\xbb\xbf\n", 0), VERDICT_PASS,
	    "I ran the tests.", "text");
	expect(read_input(CARRIER_FILE, "I ran the tests.", "\xef\xbb\xbf\xef\xbb\xbf", 0),
	    VERDICT_PASS, "I ran the tests.", "text");
	expect(read_input(CARRIER_FILE, NULL, NULL, 0), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_FILE, "", "", 0), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_FILE, " \n", "\n", 0), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_FILE, "\x1b[0m\x1b[2K\r\n", NULL, 0), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_FILE, "\xef\xbb\xbf", NULL, 0), VERDICT_NONE, NO_EVIDENCE, NULL);
	expect(read_input(CARRIER_FILE, "All good!", "It leaks.\n", 0), VERDICT_FINDINGS, "It leaks.\n", "file");
	expect(read_input(CARRIER_FILE, NULL, "No issues found.", 0), VERDICT_FINDINGS, "No issues found.", "file");
	expect(read_input(CARRIER_FILE, "All good!", "- \n", 0), VERDICT_FINDINGS, "- \n", "file");
	expect(read_input(CARRIER_FILE, "All good!", "#", 0), VERDICT_FINDINGS, "#", "file");
	expect(read_input(CARRIER_FILE, "All good!", "\x1b[0m", 0), VERDICT_FINDINGS, "\x1b[0m", "file");
	expect(read_input(CARRIER_FILE, "All good!", "- [x] FIXED: it leaks\n", 0),
	    VERDICT_FINDINGS, "- [x] FIXED: it leaks\n", "file");
	expect(read_input(CARRIER_FILE, "All good!", "- [x] FIXED:\n", 0), VERDICT_FINDINGS, "- [x] FIXED:\n", "file");
	expect(read_input(CARRIER_FILE, "All good!", "\xff", 0), VERDICT_FINDINGS, "\xef\xbf\xbd", "file");
}
END_TEST

/* A review file, and what is found in it: one line "severity|file|line|text" each, "-" for
 * what is not given. */
static const struct {
	const char *name, *file, *found;
} reviews[] = {
	{ "as the prompt asks",
	    "# Review\n\n## Critical\n\n- [ ] `src/a.c:12` the buffer is one byte short\n- [ ] `src/b.c:7`: no test\n\n"
	    "## Minor\n* a name\n\n## Test Failures\n1. test_x fails\n2) test_y fails\n\n"
	    "## Typecheck/Lint Errors\n+ unused variable\n",
	    "Critical|src/a.c|12|the buffer is one byte short\nCritical|src/b.c|7|no test\nMinor|-|0|a name\n"
	    "Test Failures|-|0|test_x fails\nTest Failures|-|0|test_y fails\n"
	    "Typecheck/Lint Errors|-|0|unused variable\n" },
	{ "CRLF and BOM", "\xef\xbb\xbf## Critical\r\n- one\r\n  more\r\n- two\r\n",
	    "Critical|-|0|one\r\n  more\nCritical|-|0|two\n" },
	{ "continuation, nested and lazy",
	    "- one\n  more of it\n\n  a paragraph\n  - nested\n    1. deeper\n- two\nlazy\n\nprose\n- three\n",
	    "-|-|0|one\n  more of it\n\n  a paragraph\n  - nested\n    1. deeper\n-|-|0|two\nlazy\n-|-|0|three\n" },
	{ "an indented list", "  - one\n    more\n  - two\n", "-|-|0|one\n    more\n-|-|0|two\n" },
	{ "bullets under a number", "1. one\n  - because\n2. two\n", "-|-|0|one\n  - because\n-|-|0|two\n" },
	{ "code under an item is part of it", "- one\n  ```c\n- no item\n# no heading\n  ```\n- two\n",
	    "-|-|0|one\n  ```c\n- no item\n# no heading\n  ```\n-|-|0|two\n" },
	{ "code beside items is none",
	    "- one\n\n```sh\n- no item\n## no heading\n```\n~~~\n- nor this\n~~~\n- two\n",
	    "-|-|0|one\n-|-|0|two\n" },
	{ "a fence of other marks does not end it", "````\n```\n- no item\n~~~~\n````\n- one\n", "-|-|0|one\n" },
	{ "strong lines as headings", "**Critical**\n- one\n\n**Minor issues:**\n\n- two\n\n**Nits**:\n- three\n",
	    "Critical|-|0|one\nMinor issues|-|0|two\nNits|-|0|three\n" },
	{ "headings in decoration", "### **Critical** ###\n- one\n####### seven\n- two\n#hash\n- three\n##\n- four\n",
	    "Critical|-|0|one\n####### seven\nCritical|-|0|two\n#hash\nCritical|-|0|three\n-|-|0|four\n" },
	{ "rules and dashes are no items", "---\n* * *\n-x\n- one\n---\n**bold** words\n- two\n1.5 times\n",
	    "-|-|0|one\n-|-|0|two\n1.5 times\n" },
	{ "empty items are none", "- \n- [ ]\n-\n1.\n- one\n", "-|-|0|one\n" },
	{ "fixed ones are none",
	    "- [x] FIXED: one\n- [ ] two\n- **FIXED:** three\n- [x] four\n- FIXED five\n- Fixed: six\n",
	    "-|-|0|two\n-|-|0|four\n-|-|0|FIXED five\n-|-|0|Fixed: six\n" },
	{ "emphasis is no part of the text", "- **src/a.c:3**: it **leaks** a ~~lot~~ `x ** y ** z` 2 ** 3\n",
	    "-|src/a.c|3|it leaks a lot `x ** y ** z` 2 ** 3\n" },
	{ "an odd mark stays", "- a **b** c** d\n", "-|-|0|a b c** d\n" },
	{ "places",
	    "- src/a.c:12: text\n- `src/a.c:12:5` text\n- `src/a.c:12-15` - text\n"
	    "- `src/a.c`:12 text\n- `src/a.c` (line 12): text\n"
	    "- `src/a.c` (lines 12-20) text\n- `src/a.c` line 12, text\n"
	    "- `src/a.c#L12-L15` — text\n- `Makefile:3` text\n- `a.py`: text\n- `a.py` – text\n",
	    "-|src/a.c|12|text\n-|src/a.c|12|text\n-|src/a.c|12|text\n-|src/a.c|12|text\n"
	    "-|src/a.c|12|text\n-|src/a.c|12|text\n"
	    "-|src/a.c|12|text\n-|src/a.c|12|text\n-|Makefile|3|text\n-|a.py|0|text\n-|a.py|0|text\n" },
	{ "a place that the sentence needs",
	    "- `src/a.c` is missing a test\n- `a.c` and `b.c` disagree\n- `src/a.c:9`\n",
	    "-|src/a.c|0|`src/a.c` is missing a test\n-|a.c|0|`a.c` and `b.c` disagree\n"
	    "-|src/a.c|9|`src/a.c:9`\n" },
	{ "no places",
	    "- `user.name` is unset\n- `foo()` fails\n- Note:12 a\n- 12:30 late\n"
	    "- http://x/y.c:80 down\n- `and/or`: choose\n- src/a.c is odd\n- `a b.c:1` x\n"
	    "- `src/a.c:12 text\n- a.c:12abc\n- a.c:99999999999 x\n- :12 x\n- `` x\n",
	    "-|-|0|`user.name` is unset\n-|-|0|`foo()` fails\n-|-|0|Note:12 a\n-|-|0|12:30 late\n"
	    "-|-|0|http://x/y.c:80 down\n-|-|0|`and/or`: choose\n"
	    "-|-|0|src/a.c is odd\n-|-|0|`a b.c:1` x\n-|-|0|`src/a.c:12 text\n-|-|0|a.c:12abc\n"
	    "-|-|0|a.c:99999999999 x\n-|-|0|:12 x\n-|-|0|`` x\n" },
	{ "no items: the whole is one", "## Critical\n\nThe loop never ends.\n",
	    "-|-|0|## Critical\n\nThe loop never ends.\n" },
	{ "no items, with a place", "src/a.c:3: the loop never ends.\n", "-|src/a.c|3|the loop never ends.\n" },
	{ "all fixed: the whole is one", "# Done\n- FIXED: a\n", "-|-|0|# Done\n- FIXED: a\n" },
	{ "bytes that are no text", "- caf\xe9 \xff\n", "-|-|0|caf\xef\xbf\xbd \xef\xbf\xbd\n" },
};

static void show(struct buf *b, const struct verdict_finding *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_addf(b, "%s|%s|%ld|%s\n", list[i].severity != NULL ? list[i].severity : "-",
		    list[i].file != NULL ? list[i].file : "-", list[i].line, list[i].text);
}

START_TEST(file_items)
{
	struct verdict v = read_input(CARRIER_FILE, NULL, reviews[_i].file, 0);
	struct buf b = { 0 };

	ck_assert_int_eq(v.kind, VERDICT_FINDINGS);
	show(&b, v.findings, v.nfindings);
	ck_assert_msg(strcmp(b.data, reviews[_i].found) == 0, "%s:\n%s, not\n%s", reviews[_i].name,
	    b.data, reviews[_i].found);
	buf_release(&b);
	verdict_release(&v);
}
END_TEST

/* What no item has. */
static const struct {
	const char *file, *beside;
} besides[] = {
	{ "- one\n- two\n", NULL },
	{ "## High\n\nThe issues are:\n- one\n  more of it\n\n  a paragraph of it\n**Low**\n1. two\n---\n", NULL },
	{ "no list at all\n", NULL },
	{ "- one\nlazy\n", NULL },
	{ "Intro.\n- one\n\nAnd this.\n  Indented.\n", "Intro.\nAnd this.\nIndented." },
	{ "- one\n\n```\n- code:\n```\n", "```\n- code:\n```" },
	{ "- one\n  ```\n  code\n  ```\n", NULL },
	{ "- one\n- [x] FIXED: two\n", NULL },
};

START_TEST(file_beside)
{
	struct verdict v = read_input(CARRIER_FILE, "I read it.", besides[_i].file, 0);

	ck_assert_int_eq(v.kind, VERDICT_FINDINGS);
	ck_assert_pstr_eq(v.beside, besides[_i].beside);
	verdict_release(&v);
}
END_TEST

START_TEST(file_bounds)
{
	struct buf b = { 0 };
	struct verdict v;

	for (int i = 0; i < 300; i++)
		buf_addf(&b, "- item %d\n", i);
	v = read_input(CARRIER_FILE, NULL, b.data, 0);
	ck_assert_uint_eq(v.nfindings, ITEMS_MAX + 1);
	ck_assert_str_eq(v.findings[ITEMS_MAX - 1].text, "item 255");
	ck_assert_str_eq(v.findings[ITEMS_MAX].text, "[... 44 more items left out ...]");
	verdict_release(&v);
	buf_release(&b);

	buf_adds(&b, "- a");
	repeat(&b, "é", 100000);
	buf_adds(&b, "z\n");
	v = read_input(CARRIER_FILE, NULL, b.data, 0);
	ck_assert_uint_le(strlen(v.findings[0].text), CLEAN_FINDING_MAX + 64);
	ck_assert_uint_le(strlen(v.feedback), CLEAN_FEEDBACK_MAX + 64);
	ck_assert_ptr_nonnull(strstr(v.findings[0].text, " bytes left out ...]\n"));
	ck_assert_ptr_nonnull(strstr(v.feedback, " bytes left out ...]\n"));
	ck_assert(text_is_utf8(v.findings[0].text, strlen(v.findings[0].text)));
	ck_assert(text_is_utf8(v.feedback, strlen(v.feedback)));
	ck_assert_int_eq(v.findings[0].text[strlen(v.findings[0].text) - 1], 'z');
	verdict_release(&v);
	buf_release(&b);
}
END_TEST

/* ---- marks ---- */

static char *id_of(const struct verdict_finding *f)
{
	char id[FINDING_ID];

	finding_id(f->file, f->text, id);
	return xstrdup(id);
}

/* An item as the review had it, and as a corrector left it: the same finding. */
static const struct {
	const char *review, *marked;
} marks[] = {
	{ "- [ ] it leaks", "- [x] FIXED: it leaks" },
	{ "- [ ] it leaks", "- [X] FIXED: it leaks" },
	{ "- [ ] it leaks", "- [ ] FIXED: it leaks" },
	{ "- it leaks", "- FIXED: it leaks" },
	{ "* it leaks", "FIXED: it leaks" },
	{ "1. it leaks", "1. FIXED: it leaks" },
	{ "1. it leaks", "2) FIXED: it leaks" },
	{ "- [ ] it leaks", "[x] FIXED: it leaks" },
	{ "- [ ] it leaks", "FIXED: [ ] it leaks" },
	{ "- [ ] it leaks", "- [x] **FIXED:** it leaks" },
	{ "- [ ] it leaks", "- [x] **FIXED**: it leaks" },
	{ "- [ ] it leaks", "- [x] **FIXED: it leaks**" },
	{ "- [ ] **it** leaks", "- [x] **FIXED: it** leaks" },
	{ "- [ ] **it** leaks", "- [x] FIXED: **it** leaks" },
	{ "- [ ] it leaks", "- [x] FIXED: ~~it leaks~~" },
	{ "- [ ] it leaks", "- [x] ~~FIXED: it leaks~~" },
	{ "- [ ] it leaks", "- [x] *FIXED:* it leaks" },
	{ "- [ ] it leaks", "- [x] *FIXED: it leaks*" },
	{ "- [ ] it leaks", "- [x] _FIXED_: it leaks" },
	{ "- [ ] it leaks", "- [x] __FIXED:__ it leaks" },
	{ "- [ ] it leaks", "- [x] ✅ FIXED: it leaks" },
	{ "- [ ] it leaks", "-   [x]   FIXED:it    leaks  " },
	{ "- [ ] it leaks\r", "- [x] FIXED: it leaks\r" },
	{ "- [ ] `src/a.c:12` it leaks", "- [x] FIXED: `src/a.c:12` it leaks" },
	{ "- [ ] `src/a.c:12` it leaks", "- [x] FIXED: `src/a.c:14` it leaks" },
	{ "- [ ] src/a.c:12: it leaks", "- [x] FIXED: src/a.c:12: it leaks" },
	{ "- [ ] `src/a.c` is untested", "- [x] FIXED: `src/a.c` is untested" },
	{ "- [ ] it leaks\n  in a loop\n\n  and else", "- [x] FIXED: it leaks\n  in a loop\n\n  and else" },
	{ "- [ ] it leaks\n  ```c\n- x\n  ```", "- [x] FIXED: it leaks\n  ```c\n- x\n  ```" },
	{ "## Critical\n- [ ] it leaks", "## Critical\n- [x] FIXED: it leaks" },
	{ "The loop never ends.", "FIXED: The loop never ends." },
	{ "- 1 is \xff wrong", "- FIXED: 1 is \xff wrong" },
};

START_TEST(marks_are_known_again)
{
	struct verdict v = read_input(CARRIER_FILE, NULL, marks[_i].review, 0);
	struct verdict_finding *list;
	size_t n = verdict_marks(marks[_i].marked, strlen(marks[_i].marked), &list);
	char *was, *is;

	ck_assert_uint_eq(v.nfindings, 1);
	ck_assert_msg(n == 1, "%s: %zu marks", marks[_i].marked, n);
	was = id_of(&v.findings[0]);
	is = id_of(&list[0]);
	ck_assert_msg(strcmp(was, is) == 0, "\"%s\" and \"%s\" of %s", v.findings[0].text,
	    list[0].text, marks[_i].marked);
	ck_assert_pstr_eq(list[0].severity, v.findings[0].severity);
	free(was);
	free(is);
	verdict_release(&v);
	verdict_findings_free(list, n);
}
END_TEST

START_TEST(marks_of_a_file)
{
	static const char text[] = "# Review\n\n## Critical\n- [x] FIXED: `a.c:1` one\n- [ ] two\n"
	    "- [ ] SKIPPED: three\n\nFIXED: four\nand more\n\n"
				   "```\n- FIXED: code\n```\n- [x] five\n  FIXED: six\n## Minor\n"
				   "- FIXED: \n- [x] FIXED: seven\n- FIXED it: eight\n";
	struct verdict_finding *list;
	size_t n = verdict_marks(text, sizeof(text) - 1, &list);
	struct buf b = { 0 };

	show(&b, list, n);
	ck_assert_str_eq(b.data, "Critical|a.c|1|one\nCritical|-|0|four\nand more\nMinor|-|0|seven\n");
	buf_release(&b);
	verdict_findings_free(list, n);
	ck_assert_uint_eq(verdict_marks("- [ ] one\n", 10, &list), 0);
	ck_assert_ptr_null(list);
	ck_assert_uint_eq(verdict_marks("", 0, &list), 0);
	ck_assert_ptr_null(list);
}
END_TEST

/* ---- cost ---- */

static double seconds(enum carrier carrier, const char *unit, size_t size)
{
	struct buf b = { 0 };
	struct verdict_finding *list;
	struct timespec a, z;
	struct verdict v;
	double best = INFINITY;
	size_t n;

	while (b.size < size)
		buf_adds(&b, unit);
	for (int i = 0; i < 5; i++) {
		struct verdict_input in = { .text = b.data, .text_size = b.size, .file = b.data,
		    .file_size = b.size, .status = 1 };

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		verdict_read(carrier, &in, &v);
		n = verdict_marks(b.data, carrier == CARRIER_FILE ? b.size : 0, &list);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &z);
		verdict_findings_free(list, n);
		verdict_release(&v);
		best = fmin(best, (double)(z.tv_sec - a.tv_sec) + (double)(z.tv_nsec - a.tv_nsec) / 1e9);
	}
	buf_release(&b);
	return best;
}

static const char *const costly[] = {
	"- \n", "- x\n", "- FIXED: x\n", "- **", "**", "** ", "`", "` ", "~~*_", "# x\n", "#", "```\n",
	"- ```", "- x\n\n", "  - ", "1. ", "x", "\n", " \n", "\t", "- [ ] `a.c:1` x\n", "a/", "FIXED:",
	"FIXED: *\n", "*", "\xff", "\xc3\xa9", "\xf0\x9f", "**x**\n", "---\n", "{\"a\":", "[", "1,",
	"\"", "{\"comments\":[", "{\"severity\":\"must-fix\",\"comment\":\"x\"},", "\x1b[", "\x1b]",
};

/* Four times the bytes may take four times as long, and a generous bit; what is quadratic
 * takes sixteen times. */
START_TEST(linear)
{
	/* memory is used again: new pages for each large text would be most of the time */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	static const enum carrier carriers[] = { CARRIER_DECISION, CARRIER_FILE, CARRIER_EXIT, CARRIER_COMMENTS };

	for (size_t i = 0; i < COUNT(carriers); i++) {
		double small = fmax(seconds(carriers[i], costly[_i], 64 * 1024), 50e-6);
		double large = seconds(carriers[i], costly[_i], 256 * 1024 - 64);

		ck_assert_msg(large < 10 * small, "carrier %d, unit %d: %g s for 64 KiB, %g s for 256 KiB",
		    carriers[i], _i, small, large);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("carriers");
	TCase *tcase = tcase_create("carriers");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, decision, 0, COUNT(decisions));
	tcase_add_test(tcase, decision_file_wins);
	tcase_add_test(tcase, exit_status);
	tcase_add_test(tcase, exit_bytes);
	tcase_add_loop_test(tcase, comments_table, 0, COUNT(comments));
	tcase_add_test(tcase, comments_fields);
	tcase_add_test(tcase, comments_bounds);
	tcase_add_test(tcase, file_kinds);
	tcase_add_loop_test(tcase, file_items, 0, COUNT(reviews));
	tcase_add_loop_test(tcase, file_beside, 0, COUNT(besides));
	tcase_add_test(tcase, file_bounds);
	tcase_add_loop_test(tcase, marks_are_known_again, 0, COUNT(marks));
	tcase_add_test(tcase, marks_of_a_file);
	tcase_add_loop_test(tcase, linear, 0, COUNT(costly));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
