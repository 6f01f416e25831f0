/* SPDX-License-Identifier: MIT */
/* Workflows in YAML: what they come to, and where and why they are refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "task/task.h"
#include "task_dump.h"

/* The example of requirement 001, word for word. */
static const char example[] =
	"tasks:\n"
	"  implement:\n"
	"    agent: dev\n"
	"    overlays:\n"
	"      agentic_review:\n"
	"        enabled: true\n"
	"        coder_agent: dev\n"
	"        reviewer_agent: reviewer\n"
	"        max_iterations: 3\n"
	"        exit_conditions:\n"
	"          - \"review.decision == GO\"\n";

static const struct {
	const char *text, *want;
} read_well[] = {
	{ example, "implement agent=dev review coder=dev reviewer=reviewer max=3" },
	{ "tasks: {b: {prompt: B, depends_on: [a]}, a: {prompt: A}}", "b text=B <-a; a text=A" },
	{ "version: \"1\"\nname: n\ndescription: |\n  two\n  lines\ntasks:\n  a:\n    title: T\n"
	    "    description: D\n    prompt: |\n      P\n      Q\n    depends_on: []\n",
	    "a title=T text=D\\n\\nP\\nQ\\n" },
	{ "version: 1\ntasks: {a: {description: D}}", "a text=D" },
	{ "tasks:\n  a: {acceptance_criteria: [x, \"y z\", NO_GO]}\n  b: {acceptance_criteria: it works}\n"
	    "  c: {acceptance_criteria: []}\n", "a accept=- x\\n- y z\\n- NO_GO; b accept=it works; c" },
	/* core schema: these are texts */
	{ "tasks: {a: {agent: NO_GO}, b: {agent: 12:30}, c: {agent: no}, d: {agent: On}, e: {agent: "
	    "0b1}, f: {agent: 1_000}, g: {agent: 2026-02-27}, h: {agent: tRue}, i: {agent: y}}",
	    "a agent=NO_GO; b agent=12:30; c agent=no; d agent=On; e agent=0b1; f agent=1_000; "
	    "g agent=2026-02-27; h agent=tRue; i agent=y" },
	{ "tasks: {a: {agent: '12'}, b: {agent: \"true\"}, c: {agent: 'null'}}",
	    "a agent=12; b agent=true; c agent=null" },
	/* ids are words, whatever they look like */
	{ "tasks:\n  1: {prompt: x}\n  2.0: {prompt: y, depends_on: [1]}\n"
	    "  no: {prompt: z, depends_on: [2.0, \"1\"]}\n", "1 text=x; 2.0 text=y <-1; no text=z <-2.0,1" },
	{ "tasks: {a: {overlays: {}}}", "a" },
	{ "tasks: {a: {overlays: {agentic_review: {enabled: True, max_iterations: 0x10}}}}", "a review max=16" },
	{ "tasks: {a: {overlays: {agentic_review: {enabled: FALSE, coder_agent: x, max_iterations: "
	    "9, exit_conditions: [\"review.decision==GO\"]}}}}", "a" },
	{ "tasks: {a: {overlays: {agentic_review: {enabled: true, exit_conditions: "
	    "[review.decision  ==  GO]}}}}", "a review" },
	{ "tasks: {a: {agent: x, overlays: {agentic_review: {enabled: false, coder_agent: y}}}}", "a agent=x" },
	{ "\xef\xbb\xbf%YAML 1.2\n---\ntasks:\r\n  a:\r\n    prompt: x\r\n...\n", "a text=x" },
	{ "# a comment\ntasks: # another\n  \xc3\xa4\xe2\x82\xac: {prompt: \"\\u263a\"}\n",
	    "\xc3\xa4\xe2\x82\xac text=\xe2\x98\xba" },
	{ "tasks:\n  a:\n    prompt: >-\n      fold\n      ed\n", "a text=fold ed" },
};

START_TEST(read_table)
{
	struct task_list list;
	char *error = NULL, *got;

	ck_assert_msg(workflow_read(read_well[_i].text, strlen(read_well[_i].text), &list, &error) == 0, "%s", error);
	got = dump_list(&list);
	ck_assert_str_eq(got, read_well[_i].want);
	free(got);
	task_list_release(&list);
}
END_TEST

START_TEST(whole)
{
	const char *text = "name: n\ndescription: d\ntasks: {a: {prompt: x}}";
	struct task_list list;
	char *error;

	ck_assert_int_eq(workflow_read(text, strlen(text), &list, &error), 0);
	ck_assert_str_eq(list.project, "n");
	ck_assert_str_eq(list.description, "d");
	task_list_release(&list);
}
END_TEST

/* Where unknown agents are told of. */
START_TEST(places)
{
	const char *text = "tasks:\n  a:\n    prompt: x\n  b:\n    agent:   dev\n    overlays:\n"
	    "      agentic_review: {enabled: true, coder_agent: dev, reviewer_agent: rev}\n";
	struct task_list list;
	char *error;

	ck_assert_int_eq(workflow_read(text, strlen(text), &list, &error), 0);
	ck_assert_uint_eq(list.items[0].line, 2);
	ck_assert_uint_eq(list.items[0].column, 3);
	ck_assert_uint_eq(list.items[1].line, 5);
	ck_assert_uint_eq(list.items[1].column, 14);
	ck_assert_uint_eq(list.items[1].coder_line, 7);
	ck_assert_uint_eq(list.items[1].coder_column, 52);
	ck_assert_uint_eq(list.items[1].reviewer_line, 7);
	ck_assert_uint_eq(list.items[1].reviewer_column, 73);
	task_list_release(&list);
}
END_TEST

#define REVIEW(keys) "tasks:\n  a:\n    overlays:\n      agentic_review: {" keys "}\n"

static const struct {
	const char *text, *at, *words;
} refused[] = {
	/* the document */
	{ "", "1:1", "it is empty" },
	{ "# nothing\n", "1:1", "it is empty" },
	{ "a", "1:1", "the workflow is text" },
	{ "- a\n", "1:1", "the workflow is a list" },
	{ "{}", "1:1", "no \"tasks\"" },
	{ "name: x\n", "1:1", "no \"tasks\"" },
	{ "tasks:\n", "1:7", "\"tasks\" is empty; write a mapping" },
	{ "tasks: {}\n", "1:8", "at least one task" },
	{ "tasks:\n- a\n", "2:1", "\"tasks\" is a list; write a mapping" },
	{ "version: 2\ntasks: {a: {prompt: x}}\n", "1:10", "write \"1\"" },
	{ "defaults: {}\ntasks: {a: {prompt: x}}\n", "1:1",
	    "unknown key \"defaults\" in the workflow; the keys are: version, name, description, tasks" },
	{ "tasks: {a: {prompt: x}}\n---\ntasks: {}\n", "2:1", "a second document" },
	{ "tasks: {a: {prompt: x}}\ntasks: {}\n", "2:1", "\"tasks\" is already in line 1" },
	/* YAML itself */
	{ "tasks:\n  a: {prompt: x\n", "3:1", "check the indentation" },
	{ "tasks:\n\ta: 1\n", "2:1", "cannot start any token" },
	{ "tasks:\n  a:\n    prompt: \"x\n", "4:1", "check the indentation and the quotes" },
	{ "tasks: {a: {prompt: \x01}}\n", "1:21", "does not allow" },
	{ "tasks:\n  a: {prompt: \"\\0\"}\n", "2:15", "NUL character" },
	{ "tasks:\n  a: {prompt: \xff}\n", "2:15", "does not allow" },
	{ "tasks:\n  a: &x {prompt: y}\n", "2:6", "anchors (&) and aliases (*)" },
	{ "tasks:\n  a: *x\n", "2:6", "anchors (&) and aliases (*)" },
	{ "tasks:\n  a: {prompt: &b x}\n", "2:15", "anchors" },
	{ "tasks:\n  a: {prompt: !!str 1}\n", "2:15", "tags (!)" },
	{ "tasks: !map\n  a: {prompt: x}\n", "1:8", "tags (!)" },
	{ "tasks:\n  a: {depends_on: !x []}\n", "2:19", "tags (!)" },
	{ "tasks:\n  ? [a]\n  : {prompt: x}\n", "2:5", "is used as a key" },
	{ "tasks:\n  a: {prompt: x}\n  b: {prompt: y}\n  a: {prompt: z}\n", "4:3",
	    "\"a\" is already in line 2" },
	{ "tasks:\n  a: {prompt: x, prompt: y}\n", "2:18", "\"prompt\" is already in line 2" },
	{ "tasks:\n  a: {prompt: x, <<: {agent: b}}\n", "2:18", "unknown key \"<<\"" },
	/* a task */
	{ "tasks:\n  a:\n", "2:5", "task \"a\" is empty; write a mapping" },
	{ "tasks:\n  a: text\n", "2:6", "task \"a\" is text" },
	{ "tasks:\n  a:\n    promt: x\n", "3:5", "unknown key \"promt\" in task \"a\"; the keys "
	    "are: agent, title, description, prompt, depends_on, acceptance_criteria, overlays" },
	{ "tasks:\n  \"\": {prompt: x}\n", "2:3", "the id is empty" },
	{ "tasks:\n  \"a\\eb\": {prompt: x}\n", "2:3", "control character" },
	{ "tasks:\n  a: {agent: 12}\n", "2:14", "\"agent\" is a number; quote it to make it text" },
	{ "tasks:\n  a: {agent: 1.5e3}\n", "2:14", "a number; quote it to make it text" },
	{ "tasks:\n  a: {agent: .inf}\n", "2:14", "a number; quote it to make it text" },
	{ "tasks:\n  a: {agent: 0o17}\n", "2:14", "a number; quote it to make it text" },
	{ "tasks:\n  a: {agent: true}\n", "2:14", "\"agent\" is true; quote it to make it text" },
	{ "tasks:\n  a: {agent: ~}\n", "2:14", "\"agent\" is empty; write text" },
	{ "tasks:\n  a: {agent: null}\n", "2:14", "\"agent\" is empty" },
	{ "tasks:\n  a: {agent: \" \"}\n", "2:14", "\"agent\" is blank" },
	{ "tasks:\n  a: {agent: [x]}\n", "2:14", "\"agent\" is a list" },
	{ "tasks:\n  a: {prompt: {x: y}}\n", "2:15", "\"prompt\" is a mapping" },
	{ "tasks:\n  a: {acceptance_criteria: [x, 3]}\n", "2:32", "\"acceptance_criteria\" is a number" },
	{ "tasks:\n  a: {acceptance_criteria: {}}\n", "2:28", "\"acceptance_criteria\" is a mapping" },
	/* dependencies */
	{ "tasks:\n  a: {depends_on: b}\n", "2:19", "\"depends_on\" is text; write a list" },
	{ "tasks:\n  a: {depends_on: }\n", "2:19", "\"depends_on\" is empty" },
	{ "tasks:\n  a: {depends_on: [[b]]}\n", "2:20", "contains a list" },
	{ "tasks:\n  a: {prompt: x}\n  b: {depends_on: [a, c]}\n", "3:23",
	    "\"b\" depends on \"c\", which does not exist" },
	{ "tasks:\n  a: {depends_on: [a]}\n", "2:20", "form a cycle: a -> a; remove one" },
	{ "tasks:\n  a: {depends_on: [b]}\n  b: {depends_on: [c]}\n  c: {depends_on: [a]}\n",
	    "4:20", "a -> b -> c -> a;" },
	{ "tasks:\n  z: {depends_on: [a]}\n  a: {depends_on: [b]}\n  b: {depends_on: [a]}\n", "4:20", "a -> b -> a;" },
	/* the overlay */
	{ "tasks:\n  a:\n    overlays: {paired: {}}\n", "3:16",
	    "unknown key \"paired\" in overlays; the keys are: agentic_review" },
	{ "tasks:\n  a:\n    overlays: true\n", "3:15", "overlays is true" },
	{ REVIEW("enable: true"), "4:24", "unknown key \"enable\" in agentic_review; the keys "
	    "are: enabled, coder_agent, reviewer_agent, max_iterations, exit_conditions" },
	{ REVIEW("reviewer_agent: x"), "4:23", "does not say whether it is enabled" },
	{ REVIEW("enabled: yes"), "4:33", "\"enabled\" is text; write true or false" },
	{ REVIEW("enabled: \"true\""), "4:33", "\"enabled\" is text; write true or false, without quotes" },
	{ REVIEW("enabled: 1"), "4:33", "\"enabled\" is a number" },
	{ REVIEW("enabled: true, max_iterations: 0"), "4:55", "from 1 to 101" },
	{ REVIEW("enabled: true, max_iterations: 102"), "4:55", "from 1 to 101" },
	{ REVIEW("enabled: true, max_iterations: 3.0"), "4:55", "from 1 to 101" },
	{ REVIEW("enabled: true, max_iterations: 99999999999999999999"), "4:55", "from 1 to 101" },
	{ REVIEW("enabled: true, max_iterations: \"3\""), "4:55", "from 1 to 101" },
	{ REVIEW("enabled: true, exit_conditions: [review.decision == NO_GO]"), "4:57",
	    "the only one is \"review.decision == GO\"" },
	{ REVIEW("enabled: true, exit_conditions: [review.decision == GO, confidence > 0.8]"),
	    "4:80", "the only one is" },
	{ REVIEW("enabled: true, exit_conditions: []"), "4:56", "an empty list" },
	{ REVIEW("enabled: true, exit_conditions: review.decision == GO"), "4:56", "is text; write a list" },
	{ "tasks:\n  a:\n    agent: x\n    overlays: {agentic_review: {enabled: true, coder_agent: y}}\n",
	    "4:61", "the coder is the task's agent" },
};

static void refuse(const char *text, size_t size, const char *at, const char *words)
{
	struct task_list list;
	char *error = NULL, *place = xasprintf("workflow:%s: ", at);

	ck_assert_int_eq(workflow_read(text, size, &list, &error), -1);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_msg(strncmp(error, place, strlen(place)) == 0, "not at %s: %s", at, error);
	ck_assert_msg(strstr(error, words) != NULL, "\"%s\" is not in: %s", words, error);
	free(place);
	free(error);
}

START_TEST(refused_table)
{
	refuse(refused[_i].text, strlen(refused[_i].text), refused[_i].at, refused[_i].words);
}
END_TEST

static void add_tasks(struct buf *b, int count, const char *depends_on)
{
	buf_adds(b, "tasks:\n");
	for (int i = 0; i < count; i++) {
		buf_addf(b, " t%d: {prompt: x", i);
		if (i > 0 && depends_on != NULL)
			buf_addf(b, depends_on[0] == 'c' ? ", depends_on: [t%d]" : ", depends_on: [t%d, t0]", i - 1);
		buf_adds(b, "}\n");
	}
}

START_TEST(large)
{
	struct task_list list;
	struct buf b = { 0 };
	char *error = NULL, *id;

	refuse("tasks:\n a: \0", 12, "2:5", "NUL byte");
	for (int i = 0; i < 500000; i++)
		buf_adds(&b, "[");
	refuse(b.data, b.size, "1:17", "16 deep");
	buf_release(&b);
	add_tasks(&b, 10000, "chain");
	ck_assert_msg(workflow_read(b.data, b.size, &list, &error) == 0, "%s", error);
	ck_assert_uint_eq(list.count, 10000);
	ck_assert_str_eq(list.items[9999].depends_on[0], "t9998");
	task_list_release(&list);
	buf_release(&b);
	add_tasks(&b, 10001, NULL);
	refuse(b.data, b.size, "2:2", "more than 10000 tasks");
	buf_release(&b);
	/* a cycle of all */
	buf_adds(&b, "tasks:\n");
	for (int i = 0; i < 10000; i++)
		buf_addf(&b, " t%d: {depends_on: [t%d]}\n", i, (i + 1) % 10000);
	refuse(b.data, b.size, "10001:23", "t0 -> t1 -> t2 -> t3 -> t4 -> t5 -> t6 -> t7 -> (9992 more) -> t0;");
	buf_release(&b);
	while (b.size <= 1024 * 1024)
		buf_adds(&b, "# long\n");
	refuse(b.data, b.size, "1:1", "longer than 1 MiB");
	buf_release(&b);
	buf_adds(&b, "tasks:\n ");
	for (int i = 0; i < TASK_ID_MAX; i++)
		buf_adds(&b, "i");
	id = xasprintf("%s: {prompt: x}\n", b.data);
	ck_assert_int_eq(workflow_read(id, strlen(id), &list, &error), 0);
	task_list_release(&list);
	free(id);
	buf_adds(&b, "i: {prompt: x}\n");
	refuse(b.data, b.size, "2:2", "longer than 200 bytes");
	buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task_workflow");
	TCase *tcase = tcase_create("task_workflow");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, read_table, 0, sizeof(read_well) / sizeof(read_well[0]));
	tcase_add_test(tcase, whole);
	tcase_add_test(tcase, places);
	tcase_add_loop_test(tcase, refused_table, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tcase, large);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
