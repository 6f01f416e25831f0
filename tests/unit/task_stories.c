/* SPDX-License-Identifier: MIT */
/* PRDs as tools and people write them: read, refused, and changed where a story passes
 * and nowhere else. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "task/task.h"
#include "task_dump.h"

#define PRD(stories) "{\"userStories\": [" stories "]}"

static const struct {
	const char *text, *want;
} read_well[] = {
	{ PRD("{\"id\": \"US-001\"}"), "US-001" },
	{ PRD("{\"id\": \"US-001\", \"title\": \"T\", \"description\": \"D\", \"acceptanceCriteria\": "
	    "[\"a\", \"b\"], \"priority\": 1, \"passes\": false, \"notes\": \"\"}"),
	    "US-001 title=T p=1 text=D accept=- a\\n- b" },
	{ "{\"project\": \"P\", \"branchName\": \"ralph/x\", \"description\": \"d\", \"userStories\": "
	    "[{\"id\": \"a\", \"passes\": true, \"dependencies\": [\"zz\"]}]}", "a done" },
	/* order: priority, then as written; those without one last */
	{ PRD("{\"id\":\"d\"},{\"id\":\"c\",\"priority\":2},{\"id\":\"b\",\"priority\":1},"
	    "{\"id\":\"a\",\"priority\":2},{\"id\":\"z\",\"priority\":0},{\"id\":\"e\"}"),
	    "z p=0; b p=1; c p=2; a p=2; d; e" },
	{ PRD("{\"id\":\"a\",\"priority\":\"3\"},{\"id\":\"b\",\"priority\":\"P1\"},{\"id\":\"c\","
	    "\"priority\":2.0},{\"id\":\"d\",\"priority\":null},{\"id\":\"e\",\"priority\":\"HIGH\"},"
	    "{\"id\":\"f\",\"priority\":\"critical\"},{\"id\":\"g\",\"priority\":\"low\"},"
	    "{\"id\":\"h\",\"priority\":\"Medium\"}"),
	    "f p=0; b p=1; e p=1; c p=2; h p=2; a p=3; g p=3; d" },
	{ PRD("{\"id\": 7}, {\"id\": -1}"), "7; -1" },
	{ PRD("{\"id\": \"a\", \"acceptanceCriteria\": \"it works\"}, {\"id\": \"b\", "
	    "\"acceptanceCriteria\": []}, {\"id\": \"c\", \"acceptanceCriteria\": null, \"passes\": null}"),
	    "a accept=it works; b; c" },
	{ PRD("{\"id\": \"a\", \"acceptanceCriteria\": [\"one\\ntwo\\n\", \"three\"]}"),
	    "a accept=- one\\n  two\\n- three" },
	{ "\xef\xbb\xbf" PRD("{\"id\": \"\xc3\xa4 b\"}") "\r\n", "\xc3\xa4 b" },
	{ "{\"stories\": 1, \"userStories\": [{\"id\": \"a\"}]}", "a" },
	{ PRD("{\"id\": \"a\", \"dependsOn\": [\"b\", 7]}, {\"id\": \"b\", \"dependsOn\": []}, "
	    "{\"id\": 7, \"dependsOn\": null}"), "a <-b,7; b; 7" },
};

START_TEST(read_table)
{
	struct task_list list;
	char *error = NULL, *got;

	ck_assert_msg(stories_read(read_well[_i].text, strlen(read_well[_i].text), &list, &error) == 0, "%s", error);
	got = dump_list(&list);
	ck_assert_str_eq(got, read_well[_i].want);
	free(got);
	task_list_release(&list);
}
END_TEST

/* want: two pieces of the message, where it is and what helps */
static const struct {
	const char *text, *where, *remedy;
} refused[] = {
	{ "", "empty", "" },
	{ "{", "line 1, column 1", "" },
	{ "{\n  \"userStories\": [\n    {\"id\": \"a\",}\n  ]\n}\n", "line 3", "" },
	{ "[]", "it is a list", "an object with a list \"userStories\"" },
	{ "{}", "\"userStories\" is missing", "a list of stories" },
	{ "{\"userStories\": {}}", "\"userStories\" is an object", "a list of stories" },
	{ PRD(""), "is empty", "at least one story" },
	{ PRD("1"), "userStories[0] is a number", "an object" },
	{ PRD("{\"id\": \"a\"}, {\"title\": \"x\"}"), "userStories[1]: \"id\" is missing", "give the story an id" },
	{ PRD("{\"id\": 1.5}"), "\"id\" is a number", "give the story an id" },
	{ PRD("{\"id\": \"\"}"), "userStories[0]: the id is empty", "give" },
	{ PRD("{\"id\": \"a\\u001bb\"}"), "control character", "remove it" },
	{ PRD("{\"id\": \"a\\u0085b\"}"), "control character", "remove it" },
	{ PRD("{\"id\": \"a\\u0000b\"}"), "not valid JSON", "" },
	{ PRD("{\"id\": \"a\"}, {\"id\": \"b\"}, {\"id\": \"a\"}"), "userStories[2]: the id \"a\"", "rename" },
	{ PRD("{\"id\": \"1\"}, {\"id\": 1}"), "userStories[1]: the id \"1\"", "rename" },
	{ PRD("{\"id\": \"a\", \"id\": \"b\"}"), "not valid JSON", "" },
	{ PRD("{\"id\": \"a\", \"passes\": \"true\"}"), "\"passes\" is a string", "true or false, without quotes" },
	{ PRD("{\"id\": \"a\", \"passes\": 1}"), "\"passes\" is a number", "true or false" },
	{ PRD("{\"id\": \"a\", \"priority\": \"urgent\"}"), "\"priority\" is a string", "an integer" },
	{ PRD("{\"id\": \"a\", \"priority\": 1.5}"), "\"priority\" is a number", "an integer" },
	{ PRD("{\"id\": \"a\", \"priority\": true}"), "\"priority\" is true", "an integer" },
	{ PRD("{\"id\": \"a\", \"dependsOn\": \"b\"}"), "\"dependsOn\" is a string", "a list of ids" },
	{ PRD("{\"id\": \"a\", \"dependsOn\": [[]]}"), "\"dependsOn\" is a list", "a list of ids" },
	{ PRD("{\"id\": \"a\", \"dependsOn\": [\"b\"]}"), "userStories[0]: \"a\" depends on \"b\"", "remove it" },
	{ PRD("{\"id\": \"a\", \"dependsOn\": [\"b\"]}, {\"id\": \"b\", \"dependsOn\": [\"a\"]}"),
	    "form a cycle: a -> b -> a", "remove one of them" },
	{ PRD("{\"id\": \"a\", \"title\": 3}"), "\"title\" is a number", "write a string" },
	{ PRD("{\"id\": \"a\", \"description\": []}"), "\"description\" is a list", "write a string" },
	{ PRD("{\"id\": \"a\", \"acceptanceCriteria\": [1]}"), "\"acceptanceCriteria\" is a list",
	    "a list of strings" },
	{ PRD("{\"id\": \"a\", \"acceptanceCriteria\": {}}"), "\"acceptanceCriteria\" is an object",
	    "a list of strings" },
	{ "{\"project\": 1, \"userStories\": [{\"id\": \"a\"}]}", "\"project\" is a number", "write a string" },
	{ PRD("{\"id\": \"a\"}") "x", "line 1", "" },
	{ "\xff\xfe{", "not valid JSON", "" },
};

static void refuse(const char *text, size_t size, const char *where, const char *remedy)
{
	struct task_list list;
	char *error = NULL;

	ck_assert_int_eq(stories_read(text, size, &list, &error), -1);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_ptr_null(list.items);
	ck_assert_msg(strncmp(error, "the PRD: ", 9) == 0, "%s", error);
	ck_assert_msg(strstr(error, where) != NULL, "\"%s\" is not in: %s", where, error);
	ck_assert_msg(strstr(error, remedy) != NULL, "\"%s\" is not in: %s", remedy, error);
	free(error);
}

START_TEST(refused_table)
{
	refuse(refused[_i].text, strlen(refused[_i].text), refused[_i].where, refused[_i].remedy);
}
END_TEST

START_TEST(hostile)
{
	struct buf b = { 0 };

	refuse("{\0}", 3, "NUL", "");
	for (int i = 0; i < 100000; i++)
		buf_adds(&b, "[");
	refuse(b.data, b.size, "64 deep", "");
	buf_release(&b);
	for (int i = 0; i < 1000001; i++)
		buf_adds(&b, i > 0 ? ",1" : "[1");
	refuse(b.data, b.size, "too many values", "");
	buf_release(&b);
	buf_adds(&b, "{\"userStories\": [");
	for (int i = 0; i <= 10000; i++)
		buf_addf(&b, "%s{\"id\": %d}", i > 0 ? "," : "", i);
	buf_adds(&b, "]}");
	refuse(b.data, b.size, "more than 10000 stories", "split");
	buf_release(&b);
	while (b.size <= 16 * 1024 * 1024)
		buf_adds(&b,
		    "                                                                                              ");
	refuse(b.data, b.size, "longer than 16 MiB", "split");
	buf_release(&b);
}
END_TEST

/* from, with story id passed, is to */
static const struct {
	const char *id, *from, *to;
} passes[] = {
	{ "a", PRD("{\"id\": \"a\", \"passes\": false}"), PRD("{\"id\": \"a\", \"passes\": true}") },
	{ "b", PRD("{\"id\": \"a\", \"passes\": false}, {\"id\": \"b\", \"passes\":false}") "\n",
	    PRD("{\"id\": \"a\", \"passes\": false}, {\"id\": \"b\", \"passes\":true}") "\n" },
	{ "a", PRD("{\"id\": \"a\", \"passes\": true}"), PRD("{\"id\": \"a\", \"passes\": true}") },
	{ "a", PRD("{\"passes\" : null ,\"id\": \"a\"}"), PRD("{\"passes\" : true ,\"id\": \"a\"}") },
	/* the order of the file is not that of the priorities */
	{ "b", PRD("{\"id\":\"a\",\"priority\":2,\"passes\":false},{\"id\":\"b\",\"priority\":1,\"passes\":false}"),
	    PRD("{\"id\":\"a\",\"priority\":2,\"passes\":false},{\"id\":\"b\",\"priority\":1,\"passes\":true}") },
	/* added: laid out like the last member */
	{ "a", PRD("{\"id\": \"a\"}"), PRD("{\"id\": \"a\",\"passes\": true}") },
	{ "a", PRD("{\"id\":\"a\",\"title\":\"t\"}"), PRD("{\"id\":\"a\",\"title\":\"t\",\"passes\":true}") },
	{ "a", "{\n  \"userStories\": [\n    {\n      \"id\": \"a\",\n      \"title\": \"t\"\n    }\n  ]\n}\n",
	    "{\n  \"userStories\": [\n    {\n      \"id\": \"a\",\n      \"title\": \"t\",\n"
	    "      \"passes\": true\n    }\n  ]\n}\n" },
	{ "a", "{\r\n\t\"userStories\": [\r\n\t\t{\r\n\t\t\t\"id\": \"a\"\r\n\t\t}\r\n\t]\r\n}",
	    "{\r\n\t\"userStories\": [\r\n\t\t{\r\n\t\t\t\"id\": \"a\",\r\n"
	    "\t\t\t\"passes\": true\r\n\t\t}\r\n\t]\r\n}" },
	/* what only looks like it */
	{ "a", PRD("{\"notes\": \"\\\"passes\\\": false }, {\", \"sub\": {\"passes\": false, "
	    "\"id\": \"a\"}, \"id\": \"a\", \"passes\": false}"),
	    PRD("{\"notes\": \"\\\"passes\\\": false }, {\", \"sub\": {\"passes\": false, \"id\": "
	    "\"a\"}, \"id\": \"a\", \"passes\": true}") },
	{ "a", "{\"x\": {\"userStories\": [{\"passes\": false}]}, \"userStories\": [{\"id\": "
	    "\"a\", \"passes\": false}]}", "{\"x\": {\"userStories\": [{\"passes\": false}]}, "
	    "\"userStories\": [{\"id\": \"a\", \"passes\": true}]}" },
	{ "a", PRD("{\"id\": \"a\", \"p\\u0061sses\": false}"), PRD("{\"id\": \"a\", \"p\\u0061sses\": true}") },
	{ "\xc3\xa4", PRD("{\"id\": \"\\u00e4\", \"n\": 1.50e+1, \"passes\": false}"),
	    PRD("{\"id\": \"\\u00e4\", \"n\": 1.50e+1, \"passes\": true}") },
	{ "7", PRD("{\"id\": 7, \"passes\": false}"), PRD("{\"id\": 7, \"passes\": true}") },
	{ "a", "\xef\xbb\xbf " PRD("{\"id\": \"a\", \"passes\": false}"),
	    "\xef\xbb\xbf " PRD("{\"id\": \"a\", \"passes\": true}") },
	{ "a", PRD("{\"id\": \"a\", \"l\": [[], {}, \"]\\\\\"], \"passes\"\n:\nfalse\n}"),
	    PRD("{\"id\": \"a\", \"l\": [[], {}, \"]\\\\\"], \"passes\"\n:\ntrue\n}") },
};

/* Files that are no PRD by now, and say all the same which story it is. */
static const struct {
	const char *from, *to;
} sloppy[] = {
	{ PRD("{\"id\": \"a\", \"passes\": false}, {\"id\": \"b\", \"priority\": \"urgent\"}"),
	    PRD("{\"id\": \"a\", \"passes\": true}, {\"id\": \"b\", \"priority\": \"urgent\"}") },
	{ PRD("{\"id\": \"a\", \"passes\": \"no\", \"dependsOn\": [\"gone\"]}"),
	    PRD("{\"id\": \"a\", \"passes\": true, \"dependsOn\": [\"gone\"]}") },
	{ PRD("1, {\"title\": \"x\"}, {\"id\": \"b\"}, {\"id\": \"b\"}, {\"id\": \"a\"}"),
	    PRD("1, {\"title\": \"x\"}, {\"id\": \"b\"}, {\"id\": \"b\"}, {\"id\": \"a\",\"passes\": true}") },
};

START_TEST(passes_all_the_same)
{
	const char *from = sloppy[_i].from;
	size_t size = 0;
	char *error = NULL, *out = stories_pass(from, strlen(from), "a", &size, &error);

	ck_assert_msg(out != NULL, "%s", error);
	ck_assert_uint_eq(size, strlen(sloppy[_i].to));
	ck_assert_mem_eq(out, sloppy[_i].to, size);
	free(out);
}
END_TEST

START_TEST(passes_table)
{
	const char *from = passes[_i].from;
	struct task_list list;
	size_t size = 0;
	char *error = NULL, *out = stories_pass(from, strlen(from), passes[_i].id, &size, &error);

	ck_assert_msg(out != NULL, "%s", error);
	ck_assert_uint_eq(size, strlen(passes[_i].to));
	ck_assert_mem_eq(out, passes[_i].to, size);
	ck_assert_int_eq(stories_read(out, size, &list, &error), 0);
	for (size_t i = 0; i < list.count; i++)
		ck_assert(list.items[i].done || strcmp(list.items[i].id, passes[_i].id) != 0);
	task_list_release(&list);
	free(out);
}
END_TEST

START_TEST(cannot_pass)
{
	static const char *const texts[] = { PRD("{\"id\": \"b\"}"), "{}", "", "{\"userStories\": [{\"id\": \"a\"}",
	    PRD("{\"id\": \"a\"}, {\"id\": \"a\"}"), "{\"userStories\": {\"id\": \"a\"}}" };
	size_t size;
	char *error = NULL;

	ck_assert_ptr_null(stories_pass(texts[_i], strlen(texts[_i]), "a", &size, &error));
	ck_assert_msg(strncmp(error, "the PRD: ", 9) == 0, "%s", error);
	free(error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task_stories");
	TCase *tcase = tcase_create("task_stories");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, read_table, 0, sizeof(read_well) / sizeof(read_well[0]));
	tcase_add_loop_test(tcase, refused_table, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tcase, hostile);
	tcase_add_loop_test(tcase, passes_table, 0, sizeof(passes) / sizeof(passes[0]));
	tcase_add_loop_test(tcase, passes_all_the_same, 0, sizeof(sloppy) / sizeof(sloppy[0]));
	tcase_add_loop_test(tcase, cannot_pass, 0, 6);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
