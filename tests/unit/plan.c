/* SPDX-License-Identifier: MIT */
/* The JSON of a plan: every member goes there and back, plans of older versions are read, damaged ones are not. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/layers.h"
#include "core/profile.h"

/* Every member has a value that is neither its default nor nothing. */
static void resolve_full(struct plan *plan)
{
	static const char file[] =
	    "[agent.claude]\nprompt = \"file\"\nset = { A = \"1\" }\nenv = [\"E\"]\nresume = [\"-r\", \"{session}\"]\nwritable = [\"~/x\"]\n"
	    "[hook]\non_hold = [\"h\", \"1\"]\non_end = [\"e\"]\n"
	    "[limits]\ntimeout = 1\nidle_timeout = 2\ngrace = 3\noutput = \"1M\"\n"
	    "[profile.mine]\nextends = \"exit\"\nmax_fixes = 9\nstall_limit = 8\ntimeout = 4\non_malformed = \"hold\"\non_reviewer_error = \"known_issues\"\n"
	    "on_exhausted = \"hold\"\nfixer = \"per_finding\"\nscope = \"run\"\ncommit = \"auto\"\nstrictness = \"by_round\"\nread_only = true\nsandbox = \"require\"\n"
	    "workspace = \"snapshot\"\nchecks = [\"make\", \"make test\"]\nguidelines = [{ file = \"a.md\", section = \"A\" }, { file = \"b.md\", section = \"B\" }]\n"
	    "conventions = [\"C.md\"]\nreview_log = \"/log\"\nreviewer = \"/bin/judge\"\ndeveloper_prompt = \"/etc/hosts\"\nreviewer_prompt = \"/etc/passwd\"\n";
	const struct config_override overrides[] = {
		{ "review.enabled", "true", "f" }, { "review.profile", "\"mine\"", "f" }, { "run.env", "{\"A\":\"\xc3\xa9\\n\\\"\"}", "f" },
		{ "run.on_lost", "\"retry\"", "f" }, { "run.model", "\"m\"", "f" }, { "run.report", "\"/r.json\"", "f" },
	};
	struct config *config;
	struct config_error error;

	ck_assert_msg(config_parse(&config, "f.toml", file, strlen(file), &error) == 0, "%s", error.text);
	ck_assert_msg(config_resolve(config, NULL, overrides, sizeof(overrides) / sizeof(overrides[0]), plan, &error) == 0, "%s", error.text);
	config_free(config);
	/* an exit status has no file */
	plan->review_file = xstrdup("review.md");
}

static void expect_words(char *const *words, const char *first, const char *second)
{
	ck_assert_uint_eq(strings_count(words), second == NULL ? 1 : 2);
	ck_assert_str_eq(words[0], first);
	if (second != NULL)
		ck_assert_str_eq(words[1], second);
}

START_TEST(test_plan_round_trip)
{
	struct plan plan, again;
	char *first, *second;

	resolve_full(&plan);
	first = plan_to_json(&plan);
	plan_release(&plan);
	ck_assert_int_eq(plan_from_json(first, &again), 0);
	second = plan_to_json(&again);
	ck_assert_str_eq(first, second);
	ck_assert(again.review && again.skip_reason == NULL);
	ck_assert_ptr_eq(again.profile, profile_find("exit"));
	ck_assert_str_eq(again.profile_name, "mine");
	ck_assert(again.max_fixes == 9 && again.stall_limit == 8 && again.on_malformed == BAD_END_HOLD && again.on_reviewer_error == BAD_END_KNOWN_ISSUES);
	ck_assert(again.on_exhausted == BAD_END_HOLD && again.fixer == FIXER_PER_FINDING && again.scope == SCOPE_RUN && again.commit == COMMIT_MODE_AUTO);
	ck_assert(again.strictness == STRICTNESS_BY_ROUND && again.read_only && again.sandbox == SANDBOX_REQUIRE && again.workspace == PLACE_SNAPSHOT);
	expect_words(again.checks, "make", "make test");
	ck_assert_uint_eq(strings_count(again.guidelines), 4);
	ck_assert_str_eq(again.guidelines[2], "b.md");
	ck_assert_str_eq(again.guidelines[3], "B");
	expect_words(again.conventions, "C.md", NULL);
	ck_assert_str_eq(again.review_file, "review.md");
	ck_assert_str_eq(again.review_log, "/log");
	ck_assert_str_eq(again.reviewer, "/bin/judge");
	ck_assert_str_eq(again.report, "/r.json");
	expect_words(again.on_hold, "h", "1");
	expect_words(again.on_end, "e", NULL);
	ck_assert(again.on_lost == ON_LOST_RETRY && again.timeout_ms == 1000 && again.review_timeout_ms == 4000 && again.idle_timeout_ms == 2000);
	ck_assert(again.grace_ms == 3000 && again.output_bytes == 1024 * 1024);
	ck_assert_str_eq(again.developer_prompt, "/etc/hosts");
	ck_assert_str_eq(again.reviewer_prompt, "/etc/passwd");
	expect_words(again.env, "A=\xc3\xa9\n\"", NULL);
	ck_assert_int_eq(again.agents[ROLE_FIX].prompt, PROMPT_FILE);
	ck_assert_str_eq(again.agents[ROLE_FIX].model, "m");
	expect_words(again.agents[ROLE_FIX].resume, "-r", "{session}");
	expect_words(again.agents[ROLE_FIX].writable, "~/x", NULL);
	expect_words(again.agents[ROLE_FIX].env, "E", NULL);
	expect_words(again.agents[ROLE_REVIEW].command, "/bin/judge", NULL);
	ck_assert_ptr_null(again.agents[ROLE_REVIEW].resume[0]);
	ck_assert_ptr_null(again.agents[ROLE_CHECK].name);
	plan_release(&again);
	free(first);
	free(second);
}
END_TEST

/* As the first version wrote it. */
#define OLD_AGENT(name) "{\"name\":\"" name "\",\"command\":[\"" name "\",\"-p\"],\"prompt\":\"stdin\",\"reader\":\"text\",\"model\":null,\"set\":[],\"env\":[\"KEY\"]}"
static const char old_plan[] = "{\"agents\":{\"implement\":" OLD_AGENT("a") ",\"review\":" OLD_AGENT("b") ",\"fix\":" OLD_AGENT("c") "},\"review\":true,"
    "\"skip_reason\":null,\"profile\":\"verdict\",\"max_fixes\":4,\"stall_limit\":3,\"on_lost\":\"fail\",\"developer_prompt\":null,\"reviewer_prompt\":\"/r.md\","
    "\"timeout_ms\":1000,\"review_timeout_ms\":2000,\"idle_timeout_ms\":3000,\"grace_ms\":4000,\"output_bytes\":5000,\"env\":[\"K=V\"]}";

/* A run that was submitted before an upgrade goes on as it began. */
START_TEST(test_old_plan)
{
	struct plan plan;

	ck_assert_int_eq(plan_from_json(old_plan, &plan), 0);
	ck_assert(plan.review && plan.max_fixes == 4 && plan.stall_limit == 3 && plan.on_lost == ON_LOST_FAIL && plan.review_timeout_ms == 2000);
	ck_assert_str_eq(plan.profile_name, "verdict");
	ck_assert(plan.on_malformed == BAD_END_FAIL && plan.on_reviewer_error == BAD_END_FAIL && plan.on_exhausted == BAD_END_FAIL);
	ck_assert(plan.fixer == FIXER_FRESH && plan.scope == SCOPE_TASK && plan.commit == COMMIT_MODE_NONE && plan.strictness == STRICTNESS_SAME);
	ck_assert(!plan.read_only && plan.sandbox == SANDBOX_OFF && plan.workspace == PLACE_SAME);
	ck_assert(plan.review_file == NULL && plan.review_log == NULL && plan.reviewer == NULL && plan.report == NULL);
	ck_assert(plan.checks[0] == NULL && plan.guidelines[0] == NULL && plan.conventions[0] == NULL && plan.on_hold[0] == NULL && plan.on_end[0] == NULL);
	ck_assert_str_eq(plan.agents[ROLE_FIX].name, "c");
	ck_assert(plan.agents[ROLE_FIX].resume[0] == NULL && plan.agents[ROLE_FIX].writable[0] == NULL);
	plan_release(&plan);
}
END_TEST

/* What is not there is as the profile's row has it. */
START_TEST(test_cells_of_the_profile)
{
	struct plan plan;
	char *text = xstrdup(old_plan), *json = xasprintf("%.*s\"comments\"%s", (int)(strstr(text, "\"verdict\"") - text), text, strstr(text, "\"verdict\"") + strlen("\"verdict\""));

	ck_assert_int_eq(plan_from_json(json, &plan), 0);
	ck_assert_str_eq(plan.profile_name, "comments");
	ck_assert(plan.on_exhausted == BAD_END_KNOWN_ISSUES && plan.fixer == FIXER_PER_FINDING && plan.scope == SCOPE_RUN && plan.read_only);
	ck_assert_str_eq(plan.review_file, "review-comments.json");
	ck_assert_int_eq(plan.max_fixes, 4);
	plan_release(&plan);
	free(text);
	free(json);
}
END_TEST

static bool reads(const json_t *root)
{
	char *text = json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY);
	struct plan plan;
	int rv = plan_from_json(text, &plan);

	if (rv == 0)
		plan_release(&plan);
	free(text);
	return rv == 0;
}

/* Members that plans of the first version do not have. */
static bool came_later(const char *name)
{
	static const char *const names[] = { "resume", "writable", "profile_name", "on_malformed", "on_reviewer_error", "on_exhausted", "fixer", "scope", "commit",
		"strictness", "read_only", "sandbox", "workspace", "checks", "guidelines", "conventions", "review_file", "review_log", "reviewer", "report", "on_hold", "on_end", "skipped" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Each member taken away, and each given a value of a wrong type, is seen. */
static void damage_all(json_t *root, json_t *object, int *count)
{
	const char *name;
	json_t *copy = json_copy(object), *value;

	json_object_foreach(copy, name, value) {
		json_t *wrong = json_is_real(value) ? json_null() : json_real(1.5);

		json_object_del(object, name);
		ck_assert_msg(reads(root) == came_later(name), "without %s", name);
		json_object_set(object, name, wrong);
		ck_assert_msg(!reads(root), "with a wrong %s", name);
		json_decref(wrong);
		json_object_set(object, name, value);
		ck_assert(reads(root));
		if (json_is_object(value))
			damage_all(root, value, count);
		(*count)++;
	}
	json_decref(copy);
}

START_TEST(test_plan_damaged)
{
	static const char *const texts[] = { "", "{", "[]", "null", "{}", "{\"agents\":[]}", "{} x" };
	struct plan plan;
	json_t *root;
	char *json;
	int count = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_int_eq(plan_from_json(texts[i], &plan), -1);
	resolve_full(&plan);
	json = plan_to_json(&plan);
	plan_release(&plan);
	root = json_loads(json, 0, NULL);
	ck_assert(reads(root));
	damage_all(root, root, &count);
	ck_assert_int_eq(count, 1 + 35 + 3 + 3 * 9);
	/* values that fit their type but not each other */
	json_object_set_new(root, "review", json_false());
	ck_assert(!reads(root));
	json_object_set_new(root, "review", json_true());
	json_object_set_new(root, "profile", json_string("no such"));
	ck_assert(!reads(root));
	json_object_set_new(root, "profile", json_string("verdict"));
	ck_assert(reads(root));
	json_array_append_new(json_object_get(root, "guidelines"), json_string("a file without a section"));
	ck_assert(!reads(root));
	json_array_remove(json_object_get(root, "guidelines"), json_array_size(json_object_get(root, "guidelines")) - 1);
	ck_assert(reads(root));
	json_array_clear(json_object_get(json_object_get(json_object_get(root, "agents"), "fix"), "command"));
	ck_assert(!reads(root));
	json_decref(root);
	/* a row cut short at any byte */
	for (size_t n = strlen(json); n-- > 0;) {
		json[n] = '\0';
		ck_assert_int_eq(plan_from_json(json, &plan), -1);
	}
	free(json);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *json = tcase_create("json");
	SRunner *runner;
	int failed;

	tcase_add_test(json, test_plan_round_trip);
	tcase_add_test(json, test_old_plan);
	tcase_add_test(json, test_cells_of_the_profile);
	tcase_add_test(json, test_plan_damaged);
	suite_add_tcase(suite, json);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
