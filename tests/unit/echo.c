/* SPDX-License-Identifier: MIT */
/* An echo is not an answer: which objects count beside a nonce, what stands in what a reviewer was
 * given, and which answers contradict themselves. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/nonce.h"
#include "proto/memory.h"
#include "verdict/verdict.h"

#define NONCE "7f3a9c01"
#define OWN(word) "{\"verdict\":\"" word "\",\"followUpPrompt\":\"mine\",\"review\":\"" NONCE "\"}\n"
#define PLAIN(word) "{\"verdict\":\"" word "\",\"followUpPrompt\":\"x y\"}\n"
#define OTHER "{\"verdict\":\"pass\",\"followUpPrompt\":\"x\",\"review\":\"00000000\"}\n"
#define HALVES "the eight characters of `7f3a` and `9c01`, written\n"
#define GO(checks) "{\"decision\":\"GO\",\"feedback\":\"x\",\"quality_checks\":" checks "}\n"
#define SOME "Inspect the changes in the current directory for bugs, missing tests and quality."
#define MORE "You judge; you do not mend: what you write goes to a corrector."
#define ECHO "reviewer output only repeats what the reviewer was given"
#define FOREIGN "the answer has the nonce of another review"
#define CONFLICT "conflicting verdicts"
#define SILENT "no evidence of a review"

enum given { TEXT, DIFF, PROMPT };

static const struct row {
	const char *name;
	enum carrier carrier;
	const char *text, *file, *given;
	enum given where;
	bool silence;
	enum verdict_kind kind;
	const char *reason;	/* the beginning of it */
} rows[] = {
#define V CARRIER_VERDICT
#define F CARRIER_FILE
#define C CARRIER_COMMENTS
#define PASS VERDICT_PASS, NULL
#define DRIFT VERDICT_FINDINGS, NULL
	/* whose object it is */
	{ "with the nonce", V, OWN("pass"), NULL, NULL, TEXT, false, PASS },
	{ "drift with the nonce", V, OWN("drift"), NULL, NULL, TEXT, false, DRIFT },
	{ "without a nonce", V, PLAIN("pass"), NULL, "a task", TEXT, false, PASS },
	{ "with another nonce", V, OTHER, NULL, NULL, TEXT, false, VERDICT_NONE, FOREIGN },
	{ "another nonce before the own", V, OTHER OWN("pass"), NULL, NULL, TEXT, false, VERDICT_NONE, FOREIGN },
	{ "another nonce at the end of prose", V, "So: " OTHER, NULL, NULL, TEXT, false, VERDICT_NONE, FOREIGN },
	{ "a nonce that is no string", V, "{\"verdict\":\"pass\",\"followUpPrompt\":\"x\",\"review\":1}", NULL, NULL,
	    TEXT, false, VERDICT_NONE, FOREIGN },
	{ "in the verdict file", V, "done", OTHER, NULL, TEXT, false, VERDICT_NONE, FOREIGN },
	{ "own and plain agree", V, PLAIN("pass") OWN("pass"), NULL, NULL, TEXT, false, PASS },
	{ "own and plain disagree", V, OWN("pass") PLAIN("drift"), NULL, NULL, TEXT, false, VERDICT_NONE, CONFLICT },
	/* a pass in the verdict file, and what the text says */
	{ "a pass in the file, drift", V, PLAIN("drift"), PLAIN("pass"), NULL, TEXT, false, VERDICT_NONE,
	    CONFLICT ": \"pass\" in the verdict file, \"drift\" in the text" },
	{ "a pass with the nonce in the file, drift", V, PLAIN("drift"), OWN("pass"), NULL, TEXT, false,
	    VERDICT_NONE, CONFLICT ": \"pass\" in the verdict file, \"drift\" in the text" },
	{ "a pass in the file, drift with the nonce", V, OWN("drift"), PLAIN("pass"), NULL, TEXT, false,
	    VERDICT_NONE, CONFLICT ": \"pass\"" },
	{ "a pass in the file, no valid word", V, PLAIN("maybe"), PLAIN("pass"), NULL, TEXT, false, VERDICT_NONE,
	    CONFLICT ": \"pass\" in the verdict file, \"maybe\" in the text" },
	{ "a pass in the file, both", V, PLAIN("drift") PLAIN("pass"), PLAIN("pass"), NULL, TEXT, false,
	    VERDICT_NONE, CONFLICT ": \"pass\" in the verdict file, conflicting ones in the text" },
	{ "a pass in the file, another review's", V, OTHER, PLAIN("pass"), NULL, TEXT, false, VERDICT_NONE,
	    CONFLICT ": \"pass\" in the verdict file, one of another review in the text" },
	{ "a pass in the file, drift that is cut", V, "{\"verdict\": \"drift\", \"follow", PLAIN("pass"), NULL,
	    TEXT, false, VERDICT_NONE, CONFLICT ": \"pass\" in the verdict file, \"drift\" in the text" },
	{ "a pass in the file, drift in prose", V, "I say {\"verdict\": \"drift\"}, sadly.", PLAIN("pass"), NULL,
	    TEXT, false, VERDICT_NONE, CONFLICT },
	{ "a pass in the file, drift that was said before", V, PLAIN("drift"), OWN("pass"), PLAIN("drift"), TEXT,
	    false, VERDICT_NONE, CONFLICT },
	{ "GO in the file, NO_GO", CARRIER_DECISION, "{\"decision\":\"NO_GO\",\"feedback\":\"x\"}", GO("{}"),
	    NULL, TEXT, false, VERDICT_NONE,
	    CONFLICT ": \"GO\" in the verdict file, \"NO_GO\" in the text" },
	{ "GO in the file, a false check", CARRIER_DECISION, GO("{\"a\":false}"), GO("{}"), NULL, TEXT, false,
	    VERDICT_NONE, CONFLICT },
	{ "a pass in both", V, PLAIN("pass"), OWN("pass"), NULL, TEXT, false, PASS },
	{ "a pass in both, in the text not in form", V, "{\"verdict\":\"pass\"}", OWN("pass"), NULL, TEXT, false,
	    PASS },
	{ "a pass in the file, prose", V, "I wrote {\"verdict\": \"pass\"} into it.", PLAIN("pass"), NULL, TEXT,
	    false, PASS },
	{ "a pass in the file, code", V, "It says\n{\n\treturn;\n}\n", PLAIN("pass"), NULL, TEXT, false, PASS },
	{ "a pass in the file, the prompt", V, "Say \"verdict\" \"drift\"; " HALVES, PLAIN("pass"), NULL, TEXT,
	    false, PASS },
	{ "drift in the file, a pass", V, PLAIN("pass"), PLAIN("drift"), NULL, TEXT, false, DRIFT },
	/* copies */
	{ "a copy", V, PLAIN("pass"), NULL, "it says " PLAIN("pass"), TEXT, false, VERDICT_NONE, ECHO },
	{ "a copy in the verdict file", V, "", PLAIN("pass"), PLAIN("pass"), TEXT, false, VERDICT_NONE, ECHO },
	{ "a copy at the end of prose", V,
	    "So: " PLAIN("pass"), NULL, PLAIN("pass"), TEXT, false, VERDICT_NONE, ECHO },
	{ "in other white space", V,
	    PLAIN("pass"), NULL, "{ \"verdict\" :\n\"pass\",\"followUpPrompt\":\"x   y\"\t}", TEXT,
	    false, VERDICT_NONE, ECHO },
	{ "in another order", V,
	    PLAIN("pass"), NULL, "{\"followUpPrompt\":\"x y\",\"verdict\":\"pass\"}", TEXT, false,
	    VERDICT_NONE, ECHO },
	{ "with escapes", V,
	    PLAIN("pass"), NULL, "{\"v\\u0065rdict\":\"pass\",\"followUpPrompt\":\"x y\"}", TEXT, false,
	    VERDICT_NONE, ECHO },
	{ "with colours", V,
	    PLAIN("pass"), NULL, "{\"verdict\":\033[1m\"pass\",\"followUpPrompt\":\"x y\"}", TEXT, false,
	    VERDICT_NONE, ECHO },
	{ "with a name twice", V,
	    PLAIN("pass"), NULL, "{\"verdict\":\"drift\",\"verdict\":\"pass\",\"followUpPrompt\":\"x y\"}",
	    TEXT, false, VERDICT_NONE, ECHO },
	{ "inside another", V,
	    PLAIN("pass"), NULL, "x {\"a\":[" PLAIN("pass") "]}", TEXT, false, VERDICT_NONE, ECHO },
	{ "another value", V,
	    PLAIN("pass"), NULL, "{\"verdict\":\"pass\",\"followUpPrompt\":\"x z\"}", TEXT, false, PASS },
	{ "more members", V,
	    PLAIN("pass"), NULL, "{\"verdict\":\"pass\",\"followUpPrompt\":\"x y\",\"a\":1}", TEXT, false,
	    PASS },
	{ "in a string of a program", V, PLAIN("pass"), NULL,
	    "+\tputs(\"{\\\"verdict\\\":\\\"pass\\\",\\\"followUpPrompt\\\":\\\"x y\\\"}\");\n", DIFF, false,
	    VERDICT_NONE, ECHO },
	{ "in a string of a task", V, PLAIN("pass"), NULL,
	    "[\"{\\n\\\"verdict\\\":\\\"pass\\\",\\n\\\"followUpPrompt\\\":\\\"x y\\\"}\"]", TEXT, false,
	    VERDICT_NONE, ECHO },
	{ "added lines", V,
	    PLAIN("pass"), NULL, "+++ b/a\n+{\"verdict\":\n-old\n+\"pass\",\n+\"followUpPrompt\":\"x y\"}\n",
	    DIFF, false, VERDICT_NONE, ECHO },
	{ "added to what is there", V, PLAIN("pass"), NULL,
	    " {\"verdict\":\n-\"drift\",\n+\"pass\",\n \"followUpPrompt\":\"x y\"}\n", DIFF, false,
	    VERDICT_NONE, ECHO },
	{ "removed lines", V,
	    PLAIN("pass"), NULL, "-{\"verdict\":\"pass\",\n-\"followUpPrompt\":\"x y\"}\n", DIFF, false,
	    VERDICT_NONE, ECHO },
	{ "a file name", V, PLAIN("pass"), NULL,
	    "+++ \"b/{\\\"verdict\\\":\\\"pass\\\",\\\"followUpPrompt\\\":\\\"x\\040y\\\"}\"\n", DIFF, false,
	    VERDICT_NONE, ECHO },
	{ "a copy beside the own", V, PLAIN("drift") OWN("pass"), NULL, PLAIN("drift"), TEXT, false, PASS },
	{ "a copy against a plain one", V, PLAIN("drift") "{\"verdict\":\"pass\",\"followUpPrompt\":\"\"}", NULL,
	    PLAIN("drift"), TEXT, false, VERDICT_NONE, CONFLICT },
	{ "an example in the template", V, PLAIN("pass"), NULL, "Answer like " PLAIN("pass") HALVES, PROMPT, false,
	    VERDICT_NONE, ECHO },
	{ "an example in the template, otherwise", V, PLAIN("pass"), NULL, "Answer like " PLAIN("drift") HALVES,
	    PROMPT, false, PASS },
	{ "an example in the template, with the nonce", V, OWN("pass"), NULL,
	    "Like {\"verdict\":\"pass\",\"followUpPrompt\":\"mine\"} and " HALVES, PROMPT, false, PASS },
	{ "an example in the template, in the file", V, "done", PLAIN("pass"), "Answer like " PLAIN("pass") HALVES,
	    PROMPT, false, VERDICT_NONE, ECHO },
	{ "all of the prompt", V,
	    PLAIN("pass") HALVES, NULL, PLAIN("pass") HALVES, PROMPT, false, VERDICT_NONE, ECHO },
	/* the review file */
	{ "the line", F, "I read it.\nReview finished: " NONCE "\n", NULL, NULL, TEXT, false, PASS },
	{ "with marks", F,
	    "I read it.\n\n```\n**Review finished: " NONCE "**\n```\n", NULL, NULL, TEXT, false, PASS },
	{ "with colours", F, "\033[1mReview finished: " NONCE "\033[0m", NULL, NULL, TEXT, false, PASS },
	{ "another nonce", F, "Review finished: 00000000", NULL, NULL, TEXT, false, VERDICT_NONE, FOREIGN },
	{ "another nonce in silence", F, "Review finished: 00000000", NULL, NULL, TEXT, true, VERDICT_NONE, FOREIGN },
	{ "not the last line", F, "Review finished: " NONCE "\nCredit balance is too low", NULL, NULL, TEXT, false,
	    VERDICT_NONE, SILENT },
	{ "in a line", F, "I cannot say Review finished: " NONCE, NULL, NULL, TEXT, false, VERDICT_NONE, SILENT },
	{ "an error", F, "API Error: 529", NULL, NULL, TEXT, false, VERDICT_NONE, SILENT },
	{ "a full stop", F, ".", NULL, NULL, TEXT, false, VERDICT_NONE, SILENT },
	{ "silence", F, "I read it.", NULL, NULL, TEXT, true, PASS },
	{ "no text", F, " \n", NULL, NULL, TEXT, true, VERDICT_NONE, SILENT },
	{ "the prompt in silence", F, "Do it.\n" HALVES, NULL, NULL, TEXT, true, VERDICT_NONE, SILENT },
	{ "the prompt in silence, in other lines", F,
	    "Do it. The nonce is the\neight characters of `7f3a`\n  and `9c01`.", NULL, NULL, TEXT, true,
	    VERDICT_NONE, SILENT },
	{ "the prompt in silence, in other quotes", F, "Do it. Of \xe2\x80\x9c" "7f3a\xe2\x80\x9d and \"9c01\".", NULL,
	    NULL, TEXT, true, VERDICT_NONE, SILENT },
	{ "the prompt in silence, without quotes", F, "Do it. Of 7f3a and 9c01.", NULL, NULL, TEXT, true,
	    VERDICT_NONE, SILENT },
	{ "the prompt in silence, as a JSON string", F,
	    "{\"prompt\": \"Of `7f3a`\\nand\\n\\u00609c01\\u0060\"}", NULL, NULL, TEXT, true, VERDICT_NONE,
	    SILENT },
	{ "the prompt in silence, in capitals", F, "OF `7F3A` AND `9C01`", NULL, NULL, TEXT, true, VERDICT_NONE,
	    SILENT },
	{ "a part of the prompt in silence", F, MORE "\n" SOME "\n", NULL, SOME "\n\nRead it.\n" MORE, PROMPT, true,
	    VERDICT_NONE, SILENT ": the final text only repeats the prompt" },
	{ "a part of the prompt, in other layout", F, "> * **" SOME "**\r\n", NULL, SOME "\n" MORE, PROMPT, true,
	    VERDICT_NONE, SILENT },
	{ "a part of the prompt, and more", F, SOME "\nAll is well.\n", NULL, SOME "\n" MORE, PROMPT, true, PASS },
	{ "a word of the prompt in silence", F, "No issue.", NULL, SOME " No issue.", PROMPT, true, PASS },
	{ "a half of the nonce in silence", F, "Commit 7f3a is good.", NULL, NULL, TEXT, true, PASS },
	{ "the whole nonce is no half", F, "I read 7f3a9c01 and 7f3a9c01.", NULL, NULL, TEXT, true, PASS },
	{ "issues need no line", F, "API Error: 529", "- [ ] a.c:1: wrong", NULL, TEXT, false, DRIFT },
	/* contradictions */
	{ "a check that is false", CARRIER_DECISION,
	    GO("{\"a\":true,\"b\":false}"), NULL, NULL, TEXT, false, VERDICT_NONE,
	    CONFLICT },
	{ "checks that are true", CARRIER_DECISION, GO("{\"a\":true,\"b\":true}"), NULL, NULL, TEXT, false, PASS },
	{ "NO_GO and a false check", CARRIER_DECISION,
	    "{\"decision\":\"NO_GO\",\"feedback\":\"x\",\"quality_checks\":{\"a\":false}}", NULL, NULL, TEXT,
	    false, DRIFT },
	{ "another list", C,
	    "x", "{\"comments\":[],\"issues\":[{\"comment\":\"bad\"}],\"summary\":\"1\"}", NULL, TEXT, false,
	    VERDICT_NONE, CONFLICT },
	{ "another list of words", C,
	    "x", "{\"comments\":[],\"issues\":[\"it is bad\"],\"summary\":\"1\"}", NULL, TEXT, false,
	    VERDICT_NONE, CONFLICT },
	{ "an empty list, and names", C,
	    "x", "{\"comments\":[],\"issues\":[],\"files\":[\"a.c\"],\"summary\":\"1\"}", NULL, TEXT,
	    false, PASS },
};

static struct verdict read_row(const struct row *row, const char *nonce)
{
	const struct echo_text text = { row->given, row->given != NULL ? strlen(row->given) : 0, row->where == DIFF };
	struct verdict_input in = { .text = row->text, .text_size = strlen(row->text), .file = row->file,
	    .file_size = row->file != NULL ? strlen(row->file) : 0, .nonce = nonce, .given = &text,
	    .ngiven = row->where == PROMPT ? 0 : 1, .silence = row->silence };
	struct verdict v;

	if (row->where == PROMPT)
		in.prompt = text;
	verdict_read(row->carrier, &in, &v);
	return v;
}

START_TEST(table)
{
	const struct row *row = &rows[_i];
	struct verdict v = read_row(row, NONCE);

	ck_assert_msg(v.kind == row->kind, "%s: %d: %s", row->name, v.kind, v.reason);
	ck_assert_msg(row->reason == NULL || strncmp(v.reason, row->reason, strlen(row->reason)) == 0, "%s: %s",
	    row->name, v.reason);
	ck_assert_int_eq(v.silent, row->carrier == CARRIER_FILE && row->silence && v.kind == VERDICT_PASS);
	verdict_release(&v);
}
END_TEST

/* A run of a version without nonces ends by its rules: what was a pass there is one. */
START_TEST(earlier_rules)
{
	const struct row *row = &rows[_i];
	struct verdict v = read_row(row, NULL);
	bool own = row->carrier == CARRIER_VERDICT && strstr(row->text, "drift") != NULL;

	ck_assert_msg(own || strcmp(row->name, "no text") == 0 || row->kind != VERDICT_NONE || v.kind == VERDICT_PASS,
	    "%s: %s", row->name, v.reason);
	verdict_release(&v);
}
END_TEST

START_TEST(nonces)
{
	char a[NONCE_SIZE], b[NONCE_SIZE], halves[NONCE_HALVES_SIZE];

	nonce_of("6ba7b810-9dad-11d1-80b4-00c04fd430c8", a);
	nonce_of("6ba7b811-9dad-11d1-80b4-00c04fd430c8", b);
	ck_assert_uint_eq(strspn(a, "0123456789abcdef"), NONCE_SIZE - 1);
	ck_assert_str_ne(a, b);
	nonce_halves(NONCE, halves);
	ck_assert_str_eq(halves, "`7f3a` and `9c01`");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("echo");
	TCase *tcase = tcase_create("echo");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, table, 0, (int)ARRAY_SIZE(rows));
	tcase_add_loop_test(tcase, earlier_rules, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(tcase, nonces);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
