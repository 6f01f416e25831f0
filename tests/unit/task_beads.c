/* SPDX-License-Identifier: MIT */
/* Beads: the export line by line, in old and new forms, and what bd prints. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "task/bead.h"
#include "task/task.h"
#include "task_dump.h"

#define DEP(on, type) \
	"{\"issue_id\":\"a\",\"depends_on_id\":\"" on "\",\"type\":\"" type \
	    "\",\"created_at\":\"2026-01-01T00:00:00Z\"}"
#define WAITS(on, type) "{\"id\":\"a\",\"dependencies\":[" DEP(on, type) "]}\n"

static const struct {
	const char *text, *want;
} lines[] = {
	{ "", "" },
	{ "\n \r\n\t\n", "" },
	{ "{\"id\":\"a\"}\n", "a status=open ready" },
	/* a new line, as bd exports it */
	{ "{\"_type\":\"issue\",\"id\":\"x-7.1\",\"title\":\"T\",\"description\":\"D\","
	  "\"acceptance_criteria\":\"works\",\"status\":\"open\",\"priority\":0,\"issue_type\":\"bug\","
	  "\"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-02T00:00:00Z\","
	  "\"labels\":[\"l\"],\"dependency_count\":0,\"dependent_count\":0,\"comment_count\":0}\n",
	    "x-7.1 title=T status=open p=0 text=D accept=works at=2026-01-02T00:00:00Z ready" },
	{ "{\"_type\":\"memory\",\"id\":\"m\"}\n{\"_type\":\"issue\",\"id\":\"a\"}\n"
	    "{\"_type\":7,\"id\":\"n\"}\n", "a status=open ready" },
	/* names of the id */
	{ "{\"issue_id\":\"a\"}\n{\"key\":\"b\"}\n{\"id\":\"c\",\"key\":\"x\"}\n{\"id\":5}\n",
	    "5 status=open ready; a status=open ready; b status=open ready; c status=open ready" },
	/* the last line of an id wins */
	{ "{\"id\":\"a\",\"title\":\"one\"}\n{\"id\":\"b\"}\n{\"id\":\"a\",\"title\":\"two\","
	    "\"status\":\"closed\"}\n", "a title=two status=closed done; b status=open ready" },
	{ "{\"id\":\"a\",\"priority\":1}\n{\"id\":\"a\"}\n", "a status=open ready" },
	/* order */
	{ "{\"id\":\"c\",\"priority\":2}\n{\"id\":\"b\",\"priority\":0}\n"
	    "{\"id\":\"a\",\"priority\":2}\n{\"id\":\"0\"}\n{\"id\":\"z\",\"priority\":\"1\"}\n",
	    "b status=open p=0 ready; z status=open p=1 ready; a status=open p=2 ready; "
	    "c status=open p=2 ready; 0 status=open ready" },
	/* statuses */
	{ "{\"id\":\"a\",\"status\":\"in_progress\"}\n{\"id\":\"b\",\"status\":\"Open\"}\n"
	  "{\"id\":\"c\",\"status\":\"blocked\"}\n{\"id\":\"d\",\"status\":\"deferred\"}\n"
	  "{\"id\":\"e\",\"status\":\"pinned\"}\n{\"id\":\"f\",\"status\":\"tombstone\"}\n"
	  "{\"id\":\"g\",\"status\":\"custom\"}\n{\"id\":\"h\",\"status\":null}\n",
	    "a status=in_progress; b status=open ready; c status=blocked; d status=deferred; "
	    "e status=pinned; f status=tombstone done; g status=custom; h status=open ready" },
	/* what is open, and not to be worked on */
	{ "{\"id\":\"a\",\"assignee\":\"eve\"}\n{\"id\":\"b\",\"assignee\":\"\"}\n{\"id\":\"c\","
	  "\"pinned\":true}\n{\"id\":\"d\",\"ephemeral\":true}\n{\"id\":\"e\",\"is_template\":true}\n"
	  "{\"id\":\"f\",\"issue_type\":\"gate\"}\n{\"id\":\"g\",\"issue_type\":\"epic\"}\n"
	  "{\"id\":\"h\",\"defer_until\":\"2999-01-01T00:00:00Z\"}\n"
	  "{\"id\":\"i\",\"defer_until\":\"2020-01-01T00:00:00.123456789+02:00\"}\n"
	  "{\"id\":\"j\",\"defer_until\":\"tomorrow\"}\n{\"id\":\"-k\"}\n"
	  "{\"id\":\"l\",\"issue_type\":\"molecule\"}\n",
	    "-k status=open; a status=open; b status=open ready; c status=open; d status=open; "
	    "e status=open; f status=open; g status=open ready; h status=open; "
	    "i status=open ready; j status=open; l status=open" },
	/* dependencies, by type */
	{ WAITS("b", "blocks") "{\"id\":\"b\"}\n", "a status=open <-b !b; b status=open ready" },
	{ WAITS("b", "conditional-blocks") "{\"id\":\"b\"}\n", "a status=open <-b !b; b status=open ready" },
	{ WAITS("b", "waits-for") "{\"id\":\"b\"}\n", "a status=open <-b !b; b status=open ready" },
	{ WAITS("b", "related") "{\"id\":\"b\"}\n", "a status=open ready; b status=open ready" },
	{ WAITS("b", "discovered-from") "{\"id\":\"b\"}\n", "a status=open ready; b status=open ready" },
	{ WAITS("b", "my-own") "{\"id\":\"b\"}\n", "a status=open ready; b status=open ready" },
	{ WAITS("b", "parent-child") "{\"id\":\"b\"}\n", "a status=open ready; b status=open ready" },
	{ WAITS("b", "blocks") "{\"id\":\"b\",\"status\":\"closed\"}\n",
	    "a status=open <-b ready; b status=closed done" },
	{ WAITS("b", "blocks") "{\"id\":\"b\",\"status\":\"pinned\"}\n", "a status=open <-b ready; b status=pinned" },
	{ WAITS("b", "blocks") "{\"id\":\"b\",\"status\":\"in_progress\"}\n",
	    "a status=open <-b !b; b status=in_progress" },
	{ WAITS("gone", "blocks"), "a status=open <-gone" },
	{ WAITS("gone", "parent-child"), "a status=open" },
	{ WAITS("gone", "related"), "a status=open ready" },
	/* without a type, and as words */
	{ "{\"id\":\"a\",\"dependencies\":[{\"issue_id\":\"a\",\"depends_on_id\":\"b\"}]}\n"
	    "{\"id\":\"b\"}\n", "a status=open <-b !b; b status=open ready" },
	{ "{\"id\":\"a\",\"dependencies\":[\"b\",\"c\"]}\n{\"id\":\"b\",\"status\":\"closed\"}\n"
	    "{\"id\":\"c\",\"status\":\"closed\"}\n",
	    "a status=open <-b,c ready; b status=closed done; c status=closed done" },
	{ "{\"id\":\"a\",\"dependencies\":null}\n{\"id\":\"b\",\"dependencies\":[]}\n",
	    "a status=open ready; b status=open ready" },
	/* a record of the other direction is the other's */
	{ "{\"id\":\"b\",\"dependencies\":[" DEP("b", "blocks") "]}\n", "b status=open ready" },
	/* a parent hands down what holds it back, any number of generations */
	{ "{\"id\":\"x\"}\n{\"id\":\"p\",\"dependencies\":[{\"depends_on_id\":\"x\",\"type\":\"blocks\"}]}\n"
	  "{\"id\":\"c\",\"dependencies\":[{\"depends_on_id\":\"p\",\"type\":\"parent-child\"}]}\n"
	  "{\"id\":\"d\",\"dependencies\":[{\"depends_on_id\":\"c\",\"type\":\"parent-child\"}]}\n",
	    "c status=open !x; d status=open !x; p status=open <-x !x; x status=open ready" },
	{ "{\"id\":\"p\",\"status\":\"deferred\"}\n"
	    "{\"id\":\"c\",\"dependencies\":[{\"depends_on_id\":\"p\",\"type\":\"parent-child\"}]}\n",
	    "c status=open; p status=deferred" },
	{ "{\"id\":\"p\",\"status\":\"closed\",\"dependencies\":[\"x\"]}\n{\"id\":\"x\"}\n"
	    "{\"id\":\"c\",\"dependencies\":[{\"depends_on_id\":\"p\",\"type\":\"parent-child\"}]}\n",
	    "c status=open ready; p status=closed <-x done; x status=open ready" },
	/* several, each told once; and what no bead's end changes is not told */
	{ "{\"id\":\"a\",\"dependencies\":[\"x\",\"y\",\"x\",{\"depends_on_id\":\"p\","
	  "\"type\":\"parent-child\"}]}\n{\"id\":\"p\",\"dependencies\":[\"y\",\"z\"]}\n"
	  "{\"id\":\"x\"}\n{\"id\":\"y\"}\n{\"id\":\"z\"}\n", "a status=open <-x,y,x !x,y,z; p "
	  "status=open <-y,z !y,z; x status=open ready; y status=open ready; z status=open ready" },
	{ "{\"id\":\"a\",\"dependencies\":[\"x\",\"gone\"]}\n{\"id\":\"x\"}\n",
	    "a status=open <-x,gone; x status=open ready" },
	{ "{\"id\":\"a\",\"assignee\":\"eve\",\"dependencies\":[\"x\"]}\n{\"id\":\"x\"}\n",
	    "a status=open <-x; x status=open ready" },
	/* cycles */
	{ "{\"id\":\"a\",\"dependencies\":[\"b\"]}\n{\"id\":\"b\",\"dependencies\":[\"a\"]}\n"
	    "{\"id\":\"c\"}\n", "a status=open <-b !b; b status=open <-a !a; c status=open ready" },
	{ WAITS("a", "blocks"), "a status=open <-a !a" },
	{ WAITS("a", "parent-child"), "a status=open" },
	{ "{\"id\":\"a\",\"dependencies\":[{\"depends_on_id\":\"b\",\"type\":\"parent-child\"}]}\n"
	  "{\"id\":\"b\",\"dependencies\":[{\"depends_on_id\":\"a\",\"type\":\"parent-child\"}]}\n"
	  "{\"id\":\"c\",\"dependencies\":[{\"depends_on_id\":\"b\",\"type\":\"parent-child\"}]}\n",
	  "a status=open; b status=open; c status=open" },
	/* forms of the file */
	{ "\xef\xbb\xbf{\"id\":\"a\"}\r\n{\"id\":\"b\"}\r\n", "a status=open ready; b status=open ready" },
	{ "{\"id\":\"a\"}\n{\"id\":\"b\"}", "a status=open ready; b status=open ready" },
	{ "{\"id\":\"a\",\"acceptance_criteria\":[\"x\",\"y\"]}\n", "a status=open accept=- x\\n- y ready" },
};

START_TEST(lines_table)
{
	struct task_list list;
	char *error = NULL, *got;

	ck_assert_msg(beads_read_jsonl(lines[_i].text, strlen(lines[_i].text), &list, &error) == 0, "%s", error);
	got = dump_list(&list);
	ck_assert_str_eq(got, lines[_i].want);
	free(got);
	task_list_release(&list);
}
END_TEST

static const struct {
	const char *text;
	int line;
	const char *words;
} bad_lines[] = {
	{ "x\n", 1, "it is not valid JSON" },
	{ "{\"id\":\"a\"}\n\n{\"id\":\"b\"\n", 3, "it is not valid JSON" },
	{ "{\"id\":\"a\"}\n{\"id\":\"b\",\"ti", 2, "it is not valid JSON" },
	{ "{\"id\":\"a\"}{\"id\":\"b\"}\n", 1, "it is not valid JSON" },
	{ "{\"id\":\"a\"}\n[]\n", 2, "it is a list" },
	{ "null\n", 1, "it is null" },
	{ "{}\n", 1, "it has no \"id\"" },
	{ "{\"_type\":\"issue\"}\n", 1, "it has no \"id\"" },
	{ "{\"id\":\"\"}\n", 1, "the id is empty" },
	{ "{\"id\":\"a\\nb\"}\n", 1, "control character" },
	{ "{\"id\":\"a\",\"id\":\"b\"}\n", 1, "it is not valid JSON" },
	{ "{\"id\":\"a\",\"title\":1}\n", 1, "\"title\" is a number" },
	{ "{\"id\":\"a\",\"status\":[]}\n", 1, "\"status\" is a list" },
	{ "{\"id\":\"a\",\"priority\":\"high\"}\n", 1, "\"priority\" is a string" },
	{ "{\"id\":\"a\",\"description\":{}}\n", 1, "\"description\" is an object" },
	{ "{\"id\":\"a\",\"description\":\"a\\u0000b\"}\n", 1, "it is not valid JSON" },
	{ "{\"id\":\"a\",\"dependencies\":\"b\"}\n", 1, "\"dependencies\" is a string" },
	{ "{\"id\":\"a\",\"dependencies\":[1]}\n", 1, "\"dependencies\" is a list" },
	{ "{\"id\":\"a\",\"dependencies\":[{\"type\":\"blocks\"}]}\n", 1, "\"dependencies\" is a list" },
	{ "{\"id\":\"a\"}\n<<<<<<< HEAD\n", 2, "an unresolved merge conflict" },
	{ "\xff\xfe\n", 1, "it is not valid JSON" },
};

static void refuse(const char *text, size_t size, int line, const char *words)
{
	struct task_list list;
	char *error = NULL, *place = xasprintf(".beads/issues.jsonl:%d: ", line);

	ck_assert_int_eq(beads_read_jsonl(text, size, &list, &error), -1);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_msg(strncmp(error, place, strlen(place)) == 0, "not in line %d: %s", line, error);
	ck_assert_msg(strstr(error, words) != NULL, "\"%s\" is not in: %s", words, error);
	ck_assert_msg(strstr(error, "correct or remove") != NULL || strstr(error, "resolve it") != NULL, "%s", error);
	free(place);
	free(error);
}

START_TEST(bad_lines_table)
{
	refuse(bad_lines[_i].text, strlen(bad_lines[_i].text), bad_lines[_i].line, bad_lines[_i].words);
}
END_TEST

static void fill(struct buf *b, char c, size_t size)
{
	char *text = malloc(size);

	memset(text, c, size);
	buf_add(b, text, size);
	free(text);
}

START_TEST(hostile)
{
	struct task_list list;
	struct buf b = { 0 };
	char *error = NULL;

	refuse("{\"id\":\"a\"}\n{\"id\":\"b\0\"}\n", 22, 2, "NUL byte");
	/* a line of 16 MiB */
	buf_adds(&b, "{\"id\":\"a\"}\n{\"id\":\"b\",\"title\":\"");
	fill(&b, 'x', 16 * 1024 * 1024);
	buf_adds(&b, "\"}\n");
	refuse(b.data, b.size, 2, "longer than 4 MiB");
	buf_release(&b);
	fill(&b, '[', 100000);
	refuse(b.data, b.size, 1, "64 deep");
	buf_release(&b);
	fill(&b, '\n', 64 * 1024 * 1024 + 1);
	ck_assert_int_eq(beads_read_jsonl(b.data, b.size, &list, &error), -1);
	ck_assert_ptr_nonnull(strstr(error, "longer than 64 MiB"));
	free(error);
	buf_release(&b);
	/* a family of 100,000 generations, and 100,000 lines of one id */
	for (int i = 0; i < 100000; i++)
		buf_addf(&b, "{\"id\":\"p%d\",\"dependencies\":[{\"depends_on_id\":\"p%d\","
		    "\"type\":\"parent-child\"}]}\n{\"id\":\"same\"}\n", i + 1, i);
	buf_adds(&b, "{\"id\":\"p0\",\"dependencies\":[\"same\"]}\n");
	ck_assert_int_eq(beads_read_jsonl(b.data, b.size, &list, &error), 0);
	ck_assert_uint_eq(list.count, 100002);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_int_eq(list.items[i].ready, strcmp(list.items[i].id, "same") == 0);
	task_list_release(&list);
	buf_release(&b);
	/* 64 others can be waited for, and no more */
	for (int n = 64; n <= 65; n++) {
		buf_adds(&b, "{\"id\":\"a\",\"dependencies\":[\"b0\"");
		for (int i = 1; i < n; i++)
			buf_addf(&b, ",\"b%d\"", i);
		buf_adds(&b, "]}\n");
		for (int i = 0; i < n; i++)
			buf_addf(&b, "{\"id\":\"b%d\"}\n", i);
		ck_assert_int_eq(beads_read_jsonl(b.data, b.size, &list, &error), 0);
		ck_assert_uint_eq(strings_count(list.items[0].held_by), n == 64 ? 64 : 0);
		ck_assert(!list.items[0].ready);
		task_list_release(&list);
		buf_release(&b);
	}
}
END_TEST

/* ---- bd ---- */

static const struct {
	const char *text;
	const char *want;	/* NULL: an error, and error is in it */
	const char *error;
} answers[] = {
	{ "[]\n", "", NULL },
	{ "null\n", "", NULL },
	{ "[\n  {\"id\": \"b\", \"status\": \"open\", \"priority\": 1},\n"
	    "  {\"id\": \"a\", \"status\": \"open\", \"priority\": 1, \"assignee\": \"eve\"}\n]\n",
	    "a status=open p=1 ready; b status=open p=1 ready", NULL },
	{ "[{\"id\": \"a\"}]", "a status=open ready", NULL },
	{ "{\"id\": \"a\", \"status\": \"open\", \"schema_version\": 1}", "a status=open ready", NULL },
	{ "{\"schema_version\": 1, \"data\": [{\"id\": \"a\"}]}", "a status=open ready", NULL },
	{ "{\"schema_version\": 1, \"data\": {\"id\": \"a\", \"status\": \"OPEN\"}}", "a status=open ready", NULL },
	{ "{\"schema_version\": 1, \"data\": []}", "", NULL },
	{ "[{\"id\": \"-a\"}, {\"id\": \"b\"}]", "-a status=open; b status=open ready", NULL },
	/* as bd show prints dependencies: whole issues */
	{ "[{\"id\": \"a\", \"dependencies\": [{\"id\": \"b\", \"status\": \"open\", "
	    "\"dependency_type\": \"blocks\"}]}]", "a status=open <-b ready", NULL },
	{ "[{\"id\": \"a\", \"dependencies\": [{\"id\": \"b\", \"status\": \"closed\", \"dependency_type\": "
	    "\"blocks\"}], \"dependents\": [{\"id\": \"c\", \"dependency_type\": \"blocks\"}]}]",
	    "a status=open <-b ready", NULL },
	{ "[{\"id\": \"a\", \"dependencies\": [{\"id\": \"b\", \"status\": \"open\", "
	    "\"dependency_type\": \"related\"}]}]", "a status=open ready", NULL },
	{ "{\"error\": \"no issues found matching the provided IDs\", \"schema_version\": 1}\n",
	    NULL, "no issues found matching the provided IDs" },
	{ "{\"schema_version\": 1, \"data\": {\"error\": \"bad \\u001b[31mthing\", \"hint\": \"h\"}}",
	    NULL, "bad \\x1b[31mthing" },
	{ "{\"error\": 1}", NULL, "bd reported a failure" },
	{ "", NULL, "bd printed nothing" },
	{ "\n", NULL, "it is" },
	{ "No issues\n", NULL, "it is not valid JSON" },
	{ "3", NULL, "bd printed a number" },
	{ "[3]", NULL, "issue 1 in the output of bd: it is a number" },
	{ "[{\"id\": \"a\"}, {}]", NULL, "issue 2 in the output of bd: it has no \"id\"" },
	{ "{}", NULL, "it has no \"id\"" },
	{ "[{\"id\": \"a\"}", NULL, "it is not valid JSON" },
};

START_TEST(answers_table)
{
	struct task_list list;
	char *error = NULL, *got;
	json_t *answer = bd_answer(answers[_i].text, strlen(answers[_i].text), &error);
	int rv = answer != NULL ? bd_list(answer, &list, &error) : -1;

	if (answers[_i].want == NULL) {
		ck_assert_int_eq(rv, -1);
		ck_assert(answer == NULL || list.count == 0);
		json_decref(answer);
		ck_assert_msg(strstr(error, answers[_i].error) != NULL, "%s", error);
		free(error);
		return;
	}
	ck_assert_msg(rv == 0, "%s", error);
	got = dump_list(&list);
	ck_assert_str_eq(got, answers[_i].want);
	free(got);
	task_list_release(&list);
	json_decref(answer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task_beads");
	TCase *tcase = tcase_create("task_beads");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, lines_table, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_loop_test(tcase, bad_lines_table, 0, sizeof(bad_lines) / sizeof(bad_lines[0]));
	tcase_add_test(tcase, hostile);
	tcase_add_loop_test(tcase, answers_table, 0, sizeof(answers) / sizeof(answers[0]));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
