/* SPDX-License-Identifier: MIT */
/* What a submit names as its source of tasks: one, readable, and each task with the
 * settings it asks for. */
#include "core/plan_json.h"
#include "rpc/submit_source.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/layers.h"
#include "plan_at.h"
#include "proto/memory.h"

static json_t *parsed(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	ck_assert_msg(json != NULL, "%s", text);
	return json;
}

/* ---- which one ---- */

static const struct {
	const char *params;
	enum source_kind kind;
	const char *field, *words;	/* refused */
} taken[] = {
	{ "{\"task\":\"x\"}", SOURCE_PROMPT, NULL, NULL },
	{ "{\"task_blob\":\"b\"}", SOURCE_PROMPT, NULL, NULL },
	{ "{\"beads\":true}", SOURCE_BEADS, NULL, NULL },
	{ "{\"beads\":\"/w\"}", SOURCE_BEADS, NULL, NULL },
	{ "{\"stories\":\"{}\"}", SOURCE_STORIES, NULL, NULL },
	{ "{\"stories\":\"{}\",\"stories_path\":\"/w/prd.json\"}", SOURCE_STORIES, NULL, NULL },
	{ "{\"workflow\":\"\"}", SOURCE_WORKFLOW, NULL, NULL },
	{ "{\"workflow\":\"\",\"workflow_path\":\"/w/flow.yaml\"}", SOURCE_WORKFLOW, NULL, NULL },
	{ "{}", 0, "task", "give one of 'task', 'task_blob', 'beads', 'stories' and 'workflow'" },
	{ "{\"task\":\"x\",\"task_blob\":\"b\"}", 0, "task", "one task source" },
	{ "{\"task\":\"x\",\"beads\":true}", 0, "task", "one task source" },
	{ "{\"stories\":\"{}\",\"workflow\":\"\"}", 0, "task", "one task source" },
	{ "{\"task\":\"x\",\"stories_path\":\"/w/prd.json\"}", 0, "stories_path", "'stories'" },
	{ "{\"task\":\"x\",\"workflow_path\":\"/w/flow.yaml\"}", 0, "workflow_path", "'workflow'" },
	{ "{\"beads\":\"w\"}", 0, "beads", "absolute" },
	{ "{\"stories\":\"{}\",\"stories_path\":\"prd.json\"}", 0, "stories_path", "absolute" },
	{ "{\"workflow\":\"\",\"workflow_path\":\"flow.yaml\"}", 0, "workflow_path", "absolute" },
};

START_TEST(test_take)
{
	json_t *params = parsed(taken[_i].params);
	struct submit_source source;

	ck_assert_int_eq(submit_source_take(&source, params), taken[_i].field == NULL);
	if (taken[_i].field == NULL) {
		ck_assert_int_eq(source.kind, taken[_i].kind);
		ck_assert_ptr_null(source.error);
	} else {
		ck_assert_str_eq(source.field, taken[_i].field);
		ck_assert_msg(strstr(source.error, taken[_i].words) != NULL, "%s", source.error);
	}
	submit_source_release(&source);
	json_decref(params);
}
END_TEST

/* ---- what is there ---- */

static char directory[] = "/tmp/rld-source-XXXXXX";

static void open_directory(void)
{
	memcpy(strrchr(directory, '-') + 1, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void close_directory(void)
{
	static const char *const names[] = { "with/.beads", "with", "file/.beads", "file", "none",
	    "prd.json", "link", "link.json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (unlink(names[i]) == -1)
			rmdir(names[i]);
	}
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	fputs(text, f);
	fclose(f);
}

/* In params, "@" is the directory. */
static bool read_source(struct submit_source *source, json_t **params, const char *text)
{
	struct buf b = { 0 };

	for (; *text != '\0'; text++) {
		if (*text == '@')
			buf_adds(&b, directory);
		else
			buf_add(&b, text, 1);
	}
	*params = parsed(b.data);
	buf_release(&b);
	ck_assert(submit_source_take(source, *params));
	return submit_source_read(source);
}

START_TEST(test_read_beads)
{
	static const struct { const char *params, *path, *words; } rows[] = {
		{ "{\"workdir\":\"@/none\",\"beads\":\"@/with\"}", "with", NULL },
		{ "{\"workdir\":\"@/with\",\"beads\":true}", "with", NULL },
		{ "{\"workdir\":\"@\",\"beads\":\"@/link/\"}", "with", NULL },
		{ "{\"workdir\":\"@/none\",\"beads\":true}", NULL, "/none/.beads: No such file or directory" },
		{ "{\"workdir\":\"@/with\",\"beads\":\"@/none\"}", NULL, "/none/.beads: No such file or directory" },
		{ "{\"workdir\":\"@/with\",\"beads\":\"@/nowhere\"}", NULL,
		    "/nowhere/.beads: No such file or directory" },
		{ "{\"workdir\":\"@/with\",\"beads\":\"@/file\"}", NULL, "/file/.beads: Not a directory" },
		/* the engine tells of the workdir */
		{ "{\"workdir\":\"@/nowhere\",\"beads\":true}", "nowhere", NULL },
	};

	ck_assert(mkdir("with", 0700) == 0 && mkdir("with/.beads", 0700) == 0 &&
	    mkdir("none", 0700) == 0 && mkdir("file", 0700) == 0);
	ck_assert_int_eq(symlink("with", "link"), 0);
	write_file("file/.beads", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct submit_source source;
		json_t *params;
		bool ok = read_source(&source, &params, rows[i].params);

		ck_assert_msg(ok == (rows[i].words == NULL), "%s: %s", rows[i].params, source.error);
		if (ok) {
			ck_assert_str_eq(strrchr(source.path, '/') + 1, rows[i].path);
		} else {
			ck_assert_str_eq(source.field, "beads");
			ck_assert_msg(strstr(source.error, rows[i].words) != NULL, "%s", source.error);
			ck_assert_ptr_nonnull(strstr(source.hint, "bd init"));
		}
		submit_source_release(&source);
		json_decref(params);
	}
}
END_TEST

#define STORIES \
	"{\\\"userStories\\\":[{\\\"id\\\":\\\"US-1\\\",\\\"title\\\":\\\"T\\\"," \
	    "\\\"passes\\\":true},{\\\"id\\\":\\\"US-2\\\"}]}"

START_TEST(test_read_stories)
{
	struct submit_source source;
	json_t *params;

	write_file("prd.json", "{}");
	ck_assert_int_eq(symlink("prd.json", "link.json"), 0);
	/* the text counts, not what the file has by now */
	ck_assert(read_source(&source, &params, "{\"stories\":\"" STORIES "\",\"stories_path\":\"@/link.json\"}"));
	ck_assert_uint_eq(source.tasks.count, 2);
	ck_assert(source.tasks.items[0].done && !source.tasks.items[1].done);
	ck_assert_str_eq(strrchr(source.path, '/'), "/prd.json");
	ck_assert_ptr_null(source.plans);
	submit_source_release(&source);
	json_decref(params);
	/* nowhere to write to */
	ck_assert(read_source(&source, &params, "{\"stories\":\"" STORIES "\"}"));
	ck_assert_ptr_null(source.path);
	submit_source_release(&source);
	json_decref(params);

	ck_assert(!read_source(&source, &params, "{\"stories\":\"" STORIES "\",\"stories_path\":\"@/gone.json\"}"));
	ck_assert_str_eq(source.field, "stories_path");
	ck_assert_ptr_nonnull(strstr(source.error, "/gone.json: No such file or directory"));
	submit_source_release(&source);
	json_decref(params);
	ck_assert(!read_source(&source, &params, "{\"stories\":\"" STORIES "\",\"stories_path\":\"@\"}"));
	ck_assert_ptr_nonnull(strstr(source.error, "is not a regular file"));
	submit_source_release(&source);
	json_decref(params);

	ck_assert(!read_source(&source, &params, "{\"stories\":\"{\\n x\",\"stories_path\":\"@/prd.json\"}"));
	ck_assert_str_eq(source.field, "stories");
	ck_assert_msg(strstr(source.error, "/prd.json: ") != NULL &&
	    strstr(source.error, "line 2") != NULL, "%s", source.error);
	submit_source_release(&source);
	json_decref(params);
	ck_assert(!read_source(&source, &params, "{\"stories\":\"{\\n x\"}"));
	ck_assert_msg(strstr(source.error, "line 2") != NULL, "%s", source.error);
	submit_source_release(&source);
	json_decref(params);
}
END_TEST

START_TEST(test_read_workflow)
{
	struct submit_source source;
	json_t *params;

	ck_assert(!read_source(&source, &params,
	    "{\"workflow\":\"tasks:\\n  a:\\n    promt: x\\n\",\"workflow_path\":\"@/flow.yaml\"}"));
	ck_assert_str_eq(source.field, "workflow");
	ck_assert_msg(strstr(source.error, "/flow.yaml:3:5: ") != NULL, "%s", source.error);
	submit_source_release(&source);
	json_decref(params);
	ck_assert(!read_source(&source, &params, "{\"workflow\":\"tasks:\\n  a:\\n    promt: x\\n\"}"));
	ck_assert_msg(strncmp(source.error, "workflow:3:5: ", strlen("workflow:3:5: ")) == 0, "%s", source.error);
	submit_source_release(&source);
	json_decref(params);
}
END_TEST

/* ---- settings ---- */

#define RLD_TOML "[agent.dev]\ncommand = [\"dev\"]\n[agent.judge]\ncommand = [\"judge\"]\n"

struct given { const char *path, *value; };

static bool resolve(struct submit_source *source, const char *file, const char *params,
    const struct given *given_, struct plan *plan)
{
	struct config_override overrides[4];
	struct config_error error;
	struct config *config;
	size_t n = 0;
	char **environment = NULL;
	bool ok;

	ck_assert_msg(config_parse(&config, "f.toml", file, strlen(file), &error) == 0, "%s", error.text);
	for (; n < 4 && given_[n].path != NULL; n++)
		overrides[n] = (struct config_override){ given_[n].path, given_[n].value, "the_field" };
	source->params = parsed(params);
	ck_assert(submit_source_take(source, source->params));
	ck_assert_msg(submit_source_read(source), "%s", source->error);
	ok = submit_source_resolve(source, config, NULL, overrides, n, plan, &environment);
	strings_free(environment);
	config_free(config);
	return ok;
}

static void release(struct submit_source *source)
{
	json_t *params = (json_t *)(uintptr_t)source->params;

	submit_source_release(source);
	json_decref(params);
}

#define OVERLAY(inside) "    overlays:\n      agentic_review:\n        enabled: true\n" inside

/* A workflow of one task, "a", and what its plan comes to; a NULL plan means the run's,
 * "run." is the run's. */
static const struct {
	const char *name, *task, *file;
	struct given given[4];
	struct given want[6];
} workflows[] = {
	{ "nothing", "    prompt: x\n", "", { { 0 } },
	    { { "run.review", "false" }, { "run.agents.implement.name", "\"claude\"" } } },
	{ "no overlay, whatever the run says", "    prompt: x\n",
	    "[review]\nenabled = true\nprofile = \"file\"\n",
	    { { "review.enabled", "true" }, { "review.reviewer", "\"judge\"" } },
	    { { "run.review", "false" }, { "run.skip_reason",
	    "\"each task of the workflow has its own, or none\"" }, { "run.commit", "\"none\"" } } },
	{ "an overlay that is off", "    prompt: x\n    overlays:\n      agentic_review:\n"
	    "        enabled: false\n        coder_agent: dev\n", "", { { "review.enabled", "true" } },
	    { { "run.review", "false" }, { "run.agents.implement.name", "\"claude\"" } } },
	{ "an agent of its own", "    prompt: x\n    agent: dev\n", "",
	    { { "default_agent", "\"judge\"" }, { "run.model", "\"m\"" } },
	    { { "agents.implement.name", "\"dev\"" }, { "agents.implement.model", "null" },
	    { "review", "false" }, { "agents.commit.name", "\"dev\"" },
	    { "run.agents.implement.name", "\"judge\"" }, { "run.agents.implement.model", "\"m\"" } } },
	{ "the run's agent by name keeps its model", "    prompt: x\n    agent: dev\n", "",
	    { { "default_agent", "\"dev\"" }, { "run.model", "\"m\"" } },
	    { { "agents.implement.model", "\"m\"" } } },
	{ "an overlay", "    prompt: x\n" OVERLAY(""), "[review]\nscope = \"run\"\n",
	    { { "default_agent", "\"dev\"" } },
	    { { "review", "true" }, { "profile", "\"decision\"" }, { "max_fixes", "2" },
	    { "scope", "\"task\"" }, { "agents.review.name", "\"dev\"" }, { "run.review", "false" } } },
	{ "an overlay that says all", "    prompt: x\n" OVERLAY("        coder_agent: dev\n"
	    "        reviewer_agent: judge\n        max_iterations: 5\n"), "",
	    { { "review.max_fixes", "9" }, { "review.agent", "\"claude\"" },
	    { "review.fixer_agent", "\"claude\"" }, { "review.profile", "\"verdict\"" } },
	    { { "profile", "\"decision\"" }, { "max_fixes", "4" },
	    { "agents.implement.name", "\"dev\"" }, { "agents.fix.name", "\"dev\"" },
	    { "agents.review.name", "\"judge\"" }, { "run.agents.implement.name", "\"claude\"" } } },
	{ "one review", "    prompt: x\n" OVERLAY("        max_iterations: 1\n"), "", { { 0 } },
	    { { "max_fixes", "0" } } },
	{ "what an overlay does not say is as the run has it", "    prompt: x\n"
	    OVERLAY("        reviewer_agent: judge\n"), "[review]\nfixer_agent = \"dev\"\n",
	    { { "review.max_fixes", "9" }, { "review.on_exhausted", "\"fail\"" },
	    { "run.on_lost", "\"fail\"" } },
	    { { "max_fixes", "9" }, { "on_exhausted", "\"fail\"" }, { "on_lost", "\"fail\"" },
	    { "agents.fix.name", "\"dev\"" } } },
	{ "--skip-review beats it", "    prompt: x\n" OVERLAY(""), "", { { "review.skip", "true" } },
	    { { "review", "false" }, { "skip_reason", "\"--skip-review flag set\"" } } },
	{ "a program of the run judges nothing here", "    prompt: x\n" OVERLAY(""), "",
	    { { "review.reviewer", "\"true\"" }, { "review.profile", "\"exit\"" } },
	    { { "profile", "\"decision\"" }, { "reviewer", "null" } } },
	{ "who assigns is no question", "    prompt: x\n    agent: dev\n", "[run]\nassign = \"agent\"\n",
	    { { 0 } }, { { "assign", "\"daemon\"" }, { "run.assign", "\"daemon\"" } } },
};

static json_t *workflow_of(const char *task)
{
	return json_pack("{s:o}", "workflow", json_sprintf("tasks:\n  a:\n%s", task));
}

START_TEST(test_workflow)
{
	json_t *json = workflow_of(workflows[_i].task);
	char *params = json_dumps(json, 0), *file = xasprintf("%s%s", RLD_TOML, workflows[_i].file);
	struct submit_source source;
	struct plan run, own = { 0 };
	bool has_own;

	ck_assert_msg(resolve(&source, file, params, workflows[_i].given, &run), "%s: %s",
	    workflows[_i].name, source.error);
	ck_assert_uint_eq(source.tasks.count, 1);
	has_own = source.plans[0] != NULL;
	ck_assert(!has_own || plan_from_json(source.plans[0], &own) == 0);
	for (size_t i = 0; i < 6 && workflows[_i].want[i].path != NULL; i++) {
		const char *path = workflows[_i].want[i].path;
		bool of_run = strncmp(path, "run.", strlen("run.")) == 0;
		char *got = plan_at(of_run || !has_own ? &run : &own, of_run ? path + strlen("run.") : path);

		ck_assert_msg(strcmp(got, workflows[_i].want[i].value) == 0, "%s: %s is %s",
		    workflows[_i].name, path, got);
		free(got);
	}
	plan_release(&run);
	plan_release(&own);
	release(&source);
	json_decref(json);
	free(params);
	free(file);
}
END_TEST

static const struct {
	const char *params;
	struct given given[4];
	const char *field, *head;
} refused[] = {
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n    agent: nobody\\n\"}", { { 0 } },
	    "workflow", "workflow:4:12: unknown agent 'nobody'; choose one of claude, " },
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n    agent: nobody\\n\","
	    "\"workflow_path\":\"/flow.yaml\"}", { { 0 } }, "workflow",
	    "/flow.yaml:4:12: unknown agent 'nobody'; " },
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n    agent: no body\\n\"}", { { 0 } },
	    "workflow", "workflow:4:12: must be the name of an agent: " },
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n    overlays:\\n      agentic_review:\\n        "
	    "enabled: true\\n        coder_agent: me\\n\"}", { { 0 } }, "workflow",
	    "workflow:7:22: unknown agent 'me'; " },
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n    overlays:\\n      agentic_review:\\n        "
	    "enabled: true\\n        reviewer_agent: me\\n\"}", { { 0 } }, "workflow",
	    "workflow:7:25: unknown agent 'me'; " },
	/* the second task's fault is told at the second task */
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n    agent: dev\\n  b:\\n    prompt: y\\n    "
	    "agent: devil\\n\"}", { { 0 } }, "workflow", "workflow:7:12: unknown agent 'devil'; " },
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n\"}", { { "default_agent", "\"nobody\"" } },
	    "the_field", "the_field: unknown agent 'nobody'; " },
	{ "{\"workflow\":\"tasks:\\n  a:\\n    prompt: x\\n\"}", { { "run.assign", "\"agent\"" } },
	    "assign", "agents can pick only beads" },
	{ "{\"stories\":\"" STORIES "\"}", { { "run.assign", "\"agent\"" } }, "assign",
	    "agents can pick only beads" },
	{ "{\"task\":\"x\"}", { { "run.assign", "\"agent\"" } }, "assign",
	    "agents can pick only beads" },
};

START_TEST(test_refused)
{
	struct submit_source source;
	struct plan plan;

	ck_assert(!resolve(&source, RLD_TOML, refused[_i].params, refused[_i].given, &plan));
	ck_assert_str_eq(source.field, refused[_i].field);
	ck_assert_msg(strncmp(source.error, refused[_i].head, strlen(refused[_i].head)) == 0, "%s", source.error);
	release(&source);
}
END_TEST

START_TEST(test_who_assigns)
{
	static const struct given none[4] = { { 0 } }, agent[4] = { { "run.assign", "\"agent\"" } };
	struct submit_source source;
	struct plan plan;

	ck_assert(mkdir("with", 0700) == 0 && mkdir("with/.beads", 0700) == 0);
	ck_assert(resolve(&source, "", "{\"workdir\":\"with\",\"beads\":true}", agent, &plan));
	ck_assert_int_eq(plan.assign, ASSIGN_AGENT);
	plan_release(&plan);
	release(&source);
	/* what rld.toml says is for beads, and in nobody's way */
	ck_assert(resolve(&source, "[run]\nassign = \"agent\"\n", "{\"task\":\"x\"}", none, &plan));
	ck_assert_int_eq(plan.assign, ASSIGN_DAEMON);
	plan_release(&plan);
	release(&source);
}
END_TEST

/* Two tasks, and whether they share their settings. */
START_TEST(test_same_kind)
{
	static const char *const inside[] = {
		"", "        max_iterations: 2\n", "        max_iterations: 3\n",
		"        coder_agent: dev\n", "        reviewer_agent: dev\n",
		"        reviewer_agent: judge\n",
	};
	static const size_t count = sizeof(inside) / sizeof(inside[0]);
	static const struct given none[4] = { { 0 } };

	for (size_t i = 0; i < count * count; i++) {
		json_t *json = json_pack("{s:o}", "workflow",
		    json_sprintf("tasks:\n  a:\n    prompt: x\n" OVERLAY("%s")
		    "  b:\n    prompt: y\n" OVERLAY("%s"), inside[i / count], inside[i % count]));
		char *params = json_dumps(json, 0);
		struct submit_source source;
		struct plan plan;

		ck_assert(resolve(&source, RLD_TOML, params, none, &plan));
		ck_assert_msg((source.plans[0] == source.plans[1]) == (i / count == i % count), "%s", params);
		plan_release(&plan);
		release(&source);
		free(params);
		json_decref(json);
	}
}
END_TEST

/* Tasks that ask for the same have the same settings, which are made once; there is a bound to
 * those that differ. */
START_TEST(test_many_kinds)
{
	static const struct given none[4] = { { 0 } };
	struct submit_source source;
	struct plan plan;
	char *params;
	json_t *json;

	for (int kinds = 256; kinds <= 257; kinds++) {
		struct buf b = { 0 }, agents = { 0 };

		buf_adds(&b, "tasks:\n");
		for (int i = 0; i < 2 * kinds; i++) {
			buf_addf(&b, "  t%d:\n    prompt: x\n    agent: a%d\n", i, i % kinds);
			if (i < kinds)
				buf_addf(&agents, "[agent.a%d]\ncommand = [\"x\"]\n", i);
		}
		json = json_pack("{s:s}", "workflow", b.data);
		params = json_dumps(json, 0);
		ck_assert_int_eq(resolve(&source, agents.data, params, none, &plan), kinds == 256);
		if (kinds == 256) {
			ck_assert_ptr_eq(source.plans[0], source.plans[256]);
			ck_assert_ptr_ne(source.plans[0], source.plans[1]);
			plan_release(&plan);
		} else {
			ck_assert_msg(strncmp(source.error, "workflow:772:12: ",
			    strlen("workflow:772:12: ")) == 0, "%s", source.error);
		}
		release(&source);
		free(params);
		json_decref(json);
		buf_release(&b);
		buf_release(&agents);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *take = tcase_create("take"), *disk = tcase_create("disk"), *settings_ = tcase_create("settings");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(take, test_take, 0, sizeof(taken) / sizeof(taken[0]));
	tcase_add_checked_fixture(disk, open_directory, close_directory);
	tcase_add_test(disk, test_read_beads);
	tcase_add_test(disk, test_read_stories);
	tcase_add_test(disk, test_read_workflow);
	tcase_add_test(disk, test_who_assigns);
	tcase_add_loop_test(settings_, test_workflow, 0, sizeof(workflows) / sizeof(workflows[0]));
	tcase_add_loop_test(settings_, test_refused, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(settings_, test_same_kind);
	tcase_add_test(settings_, test_many_kinds);
	suite_add_tcase(suite, take);
	suite_add_tcase(suite, disk);
	suite_add_tcase(suite, settings_);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
