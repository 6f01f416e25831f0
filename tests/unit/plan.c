/* SPDX-License-Identifier: MIT */
/* The JSON of a plan: every member goes there and back, plans of older versions are read, damaged
 * ones are not. Then what a plan comes to when workdir and source are known. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/layers.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "core/row.h"
#include "proto/memory.h"

/* Every member has a value that is neither its default nor nothing. */
static void resolve_full(struct plan *plan)
{
	static const char file[] =
	    "[agent.claude]\nprompt = \"file\"\nset = { A = \"1\" }\nenv = [\"E\"]\n"
	    "resume = [\"-r\", \"{session}\"]\nwritable = [\"~/x\"]\n"
	    "[hook]\non_hold = [\"h\", \"1\"]\non_pass = [\"p\"]\non_end = [\"e\"]\n[limits]\ntimeout = 1\n"
	    "idle_timeout = 2\npost_result = 5\ngrace = 3\noutput = \"1M\"\ndisk_floor = 7\n"
	    "[limits.fix]\ntimeout = 11\nidle_timeout = 12\npost_result = 13\n"
	    "[run]\niterations = 3\nparallel = 5\npause_ms = 6\nisolation = \"worktree\"\n"
	    "integrate = \"merge\"\non_failure = \"continue\"\nassign = \"agent\"\n"
	    "base = \"main\"\nstop_markers = [\"a\", \"b\"]\non_no_change = \"fail\"\n"
	    "no_change_markers = [\"c\"]\nmax_cost = 2.5\nmax_tokens = 70\nmax_wall = \"2m\"\n"
	    "commit = \"agent\"\nsetup = [\"npm ci\"]\ncopy = [\".env\", \"config/*.key\"]\n"
	    "setup_inputs = [\"x.lock\"]\n"
	    "evidence_age = \"3m\"\ncheck_on_base = \"require\"\n"
	    "[profile.mine]\nextends = \"exit\"\nmax_fixes = 9\nstall_limit = 8\ntimeout = 4\n"
	    "on_malformed = \"hold\"\non_reviewer_error = \"known_issues\"\n"
	    "on_exhausted = \"hold\"\nfixer = \"per_finding\"\nscope = \"run\"\ncommit = \"auto\"\n"
	    "strictness = \"by_round\"\nread_only = true\nsandbox = \"require\"\n"
	    "workspace = \"snapshot\"\non_cut = \"hold\"\non_question = \"hold\"\nsilence = \"pass\"\n"
	    "protect = [\"tests/**\", \"Makefile\"]\nreview_merged = \"always\"\n"
	    "checks_mode = \"new_failures\"\nchecks = [\"make\", \"make test\"]\n"
	    "guidelines = [{ file = \"a.md\", section = \"A\" }, { file = \"b.md\", section = \"B\" }]\n"
	    "conventions = [\"C.md\"]\nreview_log = \"/log\"\nreviewer = \"/bin/judge\"\n"
	    "developer_prompt = \"/etc/hosts\"\nreviewer_prompt = \"/etc/passwd\"\n";
	const struct config_override overrides[] = {
		{ "review.enabled", "true", "f" }, { "review.profile", "\"mine\"", "f" },
		{ "run.label", "{\"team\":\"core\"}", "f" },
		{ "run.env", "{\"A\":\"\xc3\xa9\\n\\\"\"}", "f" },
		{ "run.on_lost", "\"retry\"", "f" }, { "run.model", "\"m\"", "f" },
		{ "run.report", "\"/r.json\"", "f" },
	};
	struct config *config;
	struct config_error error;

	ck_assert_msg(config_parse(&config, "f.toml", file, strlen(file), &error) == 0, "%s", error.text);
	ck_assert_msg(config_resolve(config, NULL, overrides,
	    sizeof(overrides) / sizeof(overrides[0]), plan, &error) == 0, "%s", error.text);
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

/* Who has to be asked for more time: a limit of the command line is not in rld.toml, and a review
 * has one of its own. */
START_TEST(clocks_tell_their_origin)
{
	struct clocks clocks = { 0 };

	ck_assert_str_eq(clocks_origin(&clocks, ROLE_FIX, CLOCK_WALL), "limits.timeout in rld.toml or --timeout");
	ck_assert_str_eq(clocks_origin(&clocks, ROLE_REVIEW, CLOCK_IDLE),
	    "limits.idle_timeout in rld.toml or --idle-timeout");
	ck_assert_str_eq(clocks_origin(&clocks, ROLE_REVIEW, CLOCK_WALL),
	    "review.timeout of the settings or the profile, or --timeout");
	clocks.own[CLOCK_WALL] = true;
	ck_assert_str_eq(clocks_origin(&clocks, ROLE_REVIEW, CLOCK_WALL), "limits.review.timeout in rld.toml");
	ck_assert_str_eq(clocks_origin(&clocks, ROLE_COMMIT, CLOCK_POST_RESULT), "limits.post_result in rld.toml");
}
END_TEST

static void expect_clocks(const struct plan *plan, enum role role, int64_t wall, int64_t idle,
    int64_t post_result, bool own)
{
	const struct clocks *clocks = &plan->clocks[role];

	ck_assert_int_eq(clocks->ms[CLOCK_WALL], wall);
	ck_assert_int_eq(clocks->ms[CLOCK_IDLE], idle);
	ck_assert_int_eq(clocks->ms[CLOCK_POST_RESULT], post_result);
	for (int clock = 0; clock < CLOCKS; clock++)
		ck_assert(clocks->own[clock] == own);
}

START_TEST(test_plan_round_trip)
{
	struct plan plan, again;
	char *first, *second;

	resolve_full(&plan);
	plan.rolls = true;
	strings_append(&plan.read_as, "1000 1000 27");
	strings_append(&plan.read_as, "/etc/rld/prompt.md");
	first = plan_to_json(&plan);
	plan_release(&plan);
	ck_assert_int_eq(plan_from_json(first, &again), 0);
	second = plan_to_json(&again);
	ck_assert_str_eq(first, second);
	ck_assert(again.review && again.skip_reason == NULL);
	ck_assert_ptr_eq(again.profile, profile_find("exit"));
	ck_assert_str_eq(again.profile_name, "mine");
	ck_assert(again.max_fixes == 9 && again.stall_limit == 8 &&
	    again.on_malformed == BAD_END_HOLD && again.on_reviewer_error == BAD_END_KNOWN_ISSUES);
	ck_assert(again.on_exhausted == BAD_END_HOLD && again.fixer == FIXER_PER_FINDING &&
	    again.scope == SCOPE_RUN && again.commit == COMMIT_MODE_AGENT && again.commit_said);
	ck_assert(again.iterations == 3 && again.parallel == 5 && again.pause_ms == 6 &&
	    again.isolation == ISOLATION_WORKTREE && again.integrate == INTEGRATE_MERGE);
	ck_assert(again.on_failure == ON_FAILURE_CONTINUE && again.assign == ASSIGN_AGENT &&
	    again.disk_floor_bytes == 7 && again.evidence_age_ms == 180000);
	ck_assert_str_eq(again.base, "main");
	expect_words(again.stop_markers, "a", "b");
	ck_assert_int_eq(again.on_no_change, ON_NO_CHANGE_FAIL);
	expect_words(again.no_change_markers, "c", NULL);
	ck_assert(again.max_cost_usd == 2.5 && again.max_tokens == 70 && again.max_wall_ms == 120000);
	ck_assert_str_eq(again.agents[ROLE_COMMIT].name, "claude");
	ck_assert(again.strictness == STRICTNESS_BY_ROUND && again.read_only &&
	    again.sandbox == SANDBOX_REQUIRE && again.workspace == REVIEW_IN_ROOM &&
	    again.on_cut == ON_CUT_HOLD && again.on_question == ON_QUESTION_HOLD &&
	    again.nonce && again.silence == SILENCE_PASS && again.checks_mode == CHECKS_NEW_FAILURES &&
	    again.checks_merged && again.review_merged == REVIEW_MERGED_ALWAYS);
	expect_words(again.checks, "make", "make test");
	expect_words(again.protect, "tests/**", "Makefile");
	expect_words(again.setup, "npm ci", NULL);
	ck_assert(again.check_on_base == CHECK_ON_BASE_REQUIRE && again.base_beside && again.rolls);
	expect_words(again.copy, ".env", "config/*.key");
	expect_words(again.setup_inputs, "x.lock", NULL);
	expect_words(again.labels, "team=core", NULL);
	expect_words(again.read_as, "1000 1000 27", "/etc/rld/prompt.md");
	ck_assert_uint_eq(strings_count(again.guidelines), 4);
	ck_assert_str_eq(again.guidelines[2], "b.md");
	ck_assert_str_eq(again.guidelines[3], "B");
	expect_words(again.conventions, "C.md", NULL);
	ck_assert_str_eq(again.review_file, "review.md");
	ck_assert_str_eq(again.review_log, "/log");
	ck_assert_str_eq(again.reviewer, "/bin/judge");
	ck_assert_str_eq(again.report, "/r.json");
	expect_words(again.on_hold, "h", "1");
	expect_words(again.on_pass, "p", NULL);
	expect_words(again.on_end, "e", NULL);
	ck_assert(again.on_lost == ON_LOST_RETRY);
	expect_clocks(&again, ROLE_IMPLEMENT, 1000, 2000, 5000, false);
	expect_clocks(&again, ROLE_CHECK, 1000, 2000, 5000, false);
	expect_clocks(&again, ROLE_REVIEW, 4000, 2000, 5000, false);
	expect_clocks(&again, ROLE_FIX, 11000, 12000, 13000, true);
	expect_clocks(&again, ROLE_COMMIT, 1000, 2000, 5000, false);
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
#define OLD_AGENT(name) \
	"{\"name\":\"" name "\",\"command\":[\"" name \
	    "\",\"-p\"],\"prompt\":\"stdin\",\"reader\":\"text\",\"model\":null,\"set\":[],\"env\":[\"KEY\"]}"
/* A copy has all of it, and shares nothing. */
START_TEST(test_plan_copy)
{
	struct plan plan, copy;
	char *first, *second;

	resolve_full(&plan);
	strings_append(&plan.protect, "a\"b\\c\x01\n\xc3\xa9");
	first = plan_to_json(&plan);
	plan_copy(&copy, &plan);
	plan_release(&plan);
	second = plan_to_json(&copy);
	ck_assert_str_eq(first, second);
	ck_assert_ptr_nonnull(strstr(first, "\"a\\u0022b\\u005cc\\u0001\\u000a\xc3\xa9\""));
	free(second);
	plan_release(&copy);
	ck_assert_int_eq(plan_from_json(first, &copy), 0);
	ck_assert_str_eq(copy.protect[strings_count(copy.protect) - 1], "a\"b\\c\x01\n\xc3\xa9");
	plan_release(&copy);
	free(first);
}
END_TEST

static const char old_plan[] = "{\"agents\":{\"implement\":" OLD_AGENT("a") ",\"review\":"
    OLD_AGENT("b") ",\"fix\":" OLD_AGENT("c") "},\"review\":true,"
    "\"skip_reason\":null,\"profile\":\"verdict\",\"max_fixes\":4,\"stall_limit\":3,"
    "\"on_lost\":\"fail\",\"developer_prompt\":null,\"reviewer_prompt\":\"/r.md\","
    "\"timeout_ms\":1000,\"review_timeout_ms\":2000,\"idle_timeout_ms\":3000,\"grace_ms\":4000,"
    "\"output_bytes\":5000,\"env\":[\"K=V\"]}";

/* A run that was submitted before an upgrade goes on as it began. */
START_TEST(test_old_plan)
{
	struct plan plan;

	ck_assert_int_eq(plan_from_json(old_plan, &plan), 0);
	ck_assert(plan.review && plan.max_fixes == 4 && plan.stall_limit == 3 && plan.on_lost == ON_LOST_FAIL);
	for (int role = 0; role < ROLES; role++)
		expect_clocks(&plan, (enum role)role, role == ROLE_REVIEW ? 2000 : 1000, 3000, 0, false);
	ck_assert_str_eq(plan.profile_name, "verdict");
	ck_assert(plan.on_malformed == BAD_END_FAIL && plan.malformed_again == BAD_END_FAIL &&
	    plan.on_reviewer_error == BAD_END_FAIL &&
	    plan.on_exhausted == BAD_END_FAIL);
	ck_assert(plan.fixer == FIXER_FRESH && plan.scope == SCOPE_TASK &&
	    plan.commit == COMMIT_MODE_NONE && plan.strictness == STRICTNESS_SAME);
	ck_assert(!plan.read_only && plan.sandbox == SANDBOX_OFF && plan.workspace == REVIEW_IN_PLACE &&
	    plan.on_cut == ON_CUT_WARN && plan.on_question == ON_QUESTION_IGNORE &&
	    !plan.nonce && plan.silence == SILENCE_PASS);
	ck_assert(plan.review_file == NULL && plan.review_log == NULL && plan.reviewer == NULL && plan.report == NULL);
	ck_assert(plan.protect[0] == NULL);
	ck_assert(plan.setup[0] == NULL && plan.copy[0] == NULL && plan.check_on_base == CHECK_ON_BASE_SKIP &&
	    plan.checks_mode == CHECKS_ALL && !plan.checks_merged && !plan.rolls &&
	    plan.review_merged == REVIEW_MERGED_ON_CONFLICT);
	ck_assert(plan.checks[0] == NULL && plan.guidelines[0] == NULL &&
	    plan.conventions[0] == NULL && plan.on_hold[0] == NULL && plan.on_pass[0] == NULL &&
	    plan.on_end[0] == NULL);
	ck_assert_str_eq(plan.agents[ROLE_FIX].name, "c");
	ck_assert(plan.agents[ROLE_FIX].resume[0] == NULL && plan.agents[ROLE_FIX].writable[0] == NULL);
	ck_assert(!plan.commit_said && plan.isolation == ISOLATION_SHARED &&
	    plan.integrate == INTEGRATE_NONE && plan.parallel == 1 && plan.iterations == ROW_NONE);
	ck_assert(plan.pause_ms == 0 && plan.on_failure == ON_FAILURE_STOP &&
	    plan.assign == ASSIGN_DAEMON && plan.disk_floor_bytes == 0 &&
	    plan.evidence_age_ms == 0);
	ck_assert(plan.base == NULL && plan.stop_markers[0] == NULL &&
	    plan.no_change_markers[0] == NULL && plan.on_no_change == ON_NO_CHANGE_REVIEW);
	ck_assert(isnan(plan.max_cost_usd) && plan.max_tokens == ROW_NONE && plan.max_wall_ms == ROW_NONE);
	ck_assert_str_eq(plan.agents[ROLE_COMMIT].name, "a");
	plan_release(&plan);
}
END_TEST

/* One that is not reviewed has only the sentence. */
START_TEST(test_old_plan_skips)
{
	json_t *object = json_loads(old_plan, 0, NULL);
	struct plan plan;
	char *text;

	json_object_set_new(object, "review", json_false());
	json_object_set_new(object, "skip_reason", json_string("--skip-review"));
	text = json_dumps(object, JSON_COMPACT);
	ck_assert_int_eq(plan_from_json(text, &plan), 0);
	ck_assert(!plan.review && plan.skip_kind == SKIP_OTHER);
	ck_assert_str_eq(plan.skip_reason, "--skip-review");
	free(text);
	text = plan_to_json(&plan);
	plan_release(&plan);
	ck_assert_int_eq(plan_from_json(text, &plan), 0);
	ck_assert_int_eq(plan.skip_kind, SKIP_OTHER);
	plan_skip(&plan, SKIP_FLAG);
	ck_assert_str_eq(plan.skip_reason, "--skip-review flag set");
	plan_release(&plan);
	free(text);
	json_decref(object);
}
END_TEST

/* What is not there is as the profile's row has it. */
START_TEST(test_cells_of_the_profile)
{
	struct plan plan;
	char *text = xstrdup(old_plan),
	    *json = xasprintf("%.*s\"comments\"%s", (int)(strstr(text, "\"verdict\"") - text), text,
	    strstr(text, "\"verdict\"") + strlen("\"verdict\""));

	ck_assert_int_eq(plan_from_json(json, &plan), 0);
	ck_assert_str_eq(plan.profile_name, "comments");
	ck_assert(plan.on_exhausted == BAD_END_KNOWN_ISSUES && plan.fixer == FIXER_PER_FINDING &&
	    plan.scope == SCOPE_RUN && plan.read_only);
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
	static const char *const names[] = { "resume", "writable", "profile_name", "on_malformed", "malformed_again",
	    "on_reviewer_error", "on_exhausted", "fixer", "scope", "commit",
		"strictness", "read_only", "sandbox", "workspace", "checks", "guidelines", "conventions",
		"review_file", "review_log", "reviewer", "report", "on_hold", "on_pass", "on_end", "skipped",
		"commit_said", "isolation", "integrate", "parallel", "iterations", "pause_ms",
		"on_failure", "assign", "stop_markers", "on_no_change", "no_change_markers",
		"max_cost_usd", "max_tokens", "max_wall_ms", "strict_budget", "base", "disk_floor_bytes",
		"account", "fallbacks", "retries", "skip_kind", "reviewer_sha256",
		"any_round", "checks_in_room", "may_change", "on_cut", "nonce",
		"silence", "protect", "setup", "copy", "setup_inputs", "check_on_base",
		"base_beside", "checks_mode", "checks_merged", "review_merged", "room",
		"evidence_age_ms", "rolls", "escalate", "labels", "on_question", "reviewers", "quorum",
		"read_as", "launcher", "launch", "cancel", "launcher_slots", "hosts", "copies" };

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
		json_t *wrong = json_is_real(value) ? json_string("x") : json_real(1.5);

		json_object_del(object, name);
		/* that object came later as a whole */
		ck_assert_msg(reads(root) == (came_later(name) &&
		    (object != json_object_get(root, "clocks") || strcmp(name, "setup") == 0)), "without %s", name);
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
	ck_assert_int_eq(count, 1 + 78 + 4 + 4 * 17 + 1 + 6 * 7);
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
	json_array_remove(json_object_get(root, "guidelines"),
	    json_array_size(json_object_get(root, "guidelines")) - 1);
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

/* What is given of a plan, and what it comes to. Defaults are as of a run without options in a git
 * repository, its source having many tasks. */
struct facts {
	bool no_git, one;			/* no repository, one task */
	int64_t parallel;			/* 0: 1 */
	enum isolation isolation;
	enum assign assign;
	enum integrate integrate;
	enum commit_mode commit;
	bool said, review, skipped, base;
	enum scope scope;
};
struct outcome {
	enum isolation isolation;
	enum integrate integrate;
	enum commit_mode commit;
	enum review_place workspace;
	bool unskipped;				/* a retry will do without the review as well */
	const char *field, *words;		/* refused: nothing else counts */
};
#define SHARED ISOLATION_SHARED
#define WORKTREE ISOLATION_WORKTREE
#define MERGE INTEGRATE_MERGE
#define AUTO COMMIT_MODE_AUTO
#define OUT(where, how, commits) .isolation = where, .integrate = how, .commit = commits
static const struct {
	const char *name;
	struct facts given;
	struct outcome want;
} settled[] = {
	{ "nothing said", { 0 }, { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE) } },
	{ "nothing said, no git", { .no_git = true }, { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE) } },
	{ "one slot commits where it works", { .commit = AUTO, .review = true },
	    { OUT(SHARED, INTEGRATE_NONE, AUTO) } },
	{ "a commit without git is told of later", { .commit = AUTO, .no_git = true },
	    { OUT(SHARED, INTEGRATE_NONE, AUTO) } },
	{ "a base", { .base = true }, { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE) } },

	/* isolation, and what follows from it */
	{ "slots", { .parallel = 4 }, { OUT(WORKTREE, MERGE, AUTO) } },
	{ "slots for one task", { .parallel = 4, .one = true }, { OUT(WORKTREE, INTEGRATE_NONE, AUTO) } },
	{ "slots without git", { .parallel = 4, .no_git = true }, { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE) } },
	{ "slots whose agents pick", { .parallel = 4, .assign = ASSIGN_AGENT },
	    { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE), .workspace = REVIEW_IN_ROOM } },
	{ "slots in one directory", { .parallel = 4, .isolation = SHARED },
	    { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE), .workspace = REVIEW_IN_ROOM } },
	{ "the same without git", { .parallel = 4, .isolation = SHARED, .no_git = true },
	    { OUT(SHARED, INTEGRATE_NONE, COMMIT_MODE_NONE) } },
	{ "the same for one task", { .parallel = 4, .isolation = SHARED, .one = true, .commit = AUTO },
	    { OUT(SHARED, INTEGRATE_NONE, AUTO) } },
	{ "a work tree for one slot", { .isolation = WORKTREE }, { OUT(WORKTREE, MERGE, AUTO) } },
	{ "a work tree for one task", { .isolation = WORKTREE, .one = true }, { OUT(WORKTREE, INTEGRATE_NONE, AUTO) } },
	{ "a work tree and an agent that commits", { .isolation = WORKTREE, .commit = COMMIT_MODE_AGENT },
	    { OUT(WORKTREE, MERGE, COMMIT_MODE_AGENT) } },
	{ "work trees, none merged", { .parallel = 4, .integrate = INTEGRATE_NONE },
	    { OUT(WORKTREE, INTEGRATE_NONE, AUTO) } },
	{ "a written none wins", { .parallel = 4, .said = true }, { OUT(WORKTREE, INTEGRATE_NONE, COMMIT_MODE_NONE) } },
	{ "merge for one task", { .isolation = WORKTREE, .one = true, .integrate = MERGE },
	    { OUT(WORKTREE, MERGE, AUTO) } },

	/* the review of the run */
	{ "a run's review in one directory", { .review = true, .scope = SCOPE_RUN, .commit = AUTO },
	    { OUT(SHARED, INTEGRATE_NONE, AUTO) } },
	{ "after many slots in one directory, none of which commits",
	    { .parallel = 4, .isolation = SHARED, .review = true, .scope = SCOPE_RUN, .commit = AUTO },
	    { OUT(SHARED, INTEGRATE_NONE, AUTO) } },
	{ "after many slots", { .parallel = 4, .review = true, .scope = SCOPE_RUN }, { OUT(WORKTREE, MERGE, AUTO) } },
	{ "in the work tree of one task", { .isolation = WORKTREE, .one = true, .review = true,
	    .scope = SCOPE_RUN }, { OUT(WORKTREE, MERGE, AUTO) } },
	{ "a review that is off has no scope", { .parallel = 4, .integrate = INTEGRATE_NONE,
	    .scope = SCOPE_RUN }, { OUT(WORKTREE, INTEGRATE_NONE, AUTO) } },
	{ "a skipped one is in nobody's way",
	    { .parallel = 4, .integrate = INTEGRATE_NONE, .scope = SCOPE_RUN, .skipped = true },
	    { OUT(WORKTREE, INTEGRATE_NONE, AUTO), .unskipped = true } },
	{ "a skipped one comes back", { .parallel = 4, .scope = SCOPE_RUN, .skipped = true, .one = true },
	    { OUT(WORKTREE, MERGE, AUTO) } },

	/* what cannot be */
	{ "a base without git", { .base = true, .no_git = true }, { .field = "base", .words = "--base" } },
	{ "work trees without git", { .isolation = WORKTREE, .no_git = true },
	    { .field = "isolation", .words = "--isolation shared" } },
	{ "agents that pick, in work trees", { .isolation = WORKTREE, .assign = ASSIGN_AGENT },
	    { .field = "assign", .words = "--assign daemon" } },
	{ "merge of nothing", { .integrate = MERGE }, { .field = "integrate", .words = "--isolation worktree" } },
	{ "merge without git", { .parallel = 4, .integrate = MERGE, .no_git = true },
	    { .field = "integrate", .words = "--isolation worktree" } },
	{ "merge without commits", { .parallel = 4, .integrate = MERGE, .said = true },
	    { .field = "commit", .words = "--commit auto" } },
	{ "slots that commit in one directory", { .parallel = 2, .isolation = SHARED, .commit = AUTO,
	    .review = true }, { .field = "commit", .words = "--isolation worktree" } },
	{ "agents that commit in one directory", { .parallel = 2, .isolation = SHARED,
	    .commit = COMMIT_MODE_AGENT }, { .field = "commit", .words = "--isolation worktree" } },
	{ "a run's review that is skipped does not wait with the commit",
	    { .parallel = 2, .isolation = SHARED, .commit = AUTO, .skipped = true, .scope = SCOPE_RUN },
	    { .field = "commit", .words = "--isolation worktree" } },
	{ "a run's review of many trees", { .parallel = 2, .review = true, .scope = SCOPE_RUN,
	    .integrate = INTEGRATE_NONE }, { .field = "review.scope", .words = "--integrate merge" } },
	{ "... because nothing is committed", { .parallel = 2, .review = true, .scope = SCOPE_RUN,
	    .said = true }, { .field = "review.scope", .words = "--isolation shared" } },
};

START_TEST(test_settle)
{
	const struct facts *given = &settled[_i].given;
	const struct outcome *want = &settled[_i].want;
	struct plan plan = {
		.parallel = given->parallel == 0 ? 1 : given->parallel, .isolation = given->isolation,
		.assign = given->assign, .integrate = given->integrate,
		.commit = given->commit, .commit_said = given->said, .review = given->review,
		.skipped = given->skipped, .scope = given->scope,
		.base = given->base ? xstrdup("main") : NULL,
	};

	/* what is settled stays so */
	for (int times = 0; times < 2; times++) {
		const char *field = NULL;
		char *text = plan_settle(&plan, !given->no_git, !given->one, &field);

		ck_assert_msg((text == NULL) == (want->field == NULL), "%s: %s", settled[_i].name, text);
		if (text != NULL) {
			ck_assert_str_eq(field, want->field);
			ck_assert_msg(strstr(text, want->words) != NULL, "%s: %s", settled[_i].name, text);
			free(text);
			break;
		}
		ck_assert_msg(plan.isolation == want->isolation && plan.integrate == want->integrate &&
		    plan.commit == want->commit, "%s: %s, %s, %s", settled[_i].name,
		    state_name(&isolation_names, (int)plan.isolation), state_name(&integrate_names,
		    (int)plan.integrate), state_name(&commit_mode_names, (int)plan.commit));
		ck_assert_msg(plan.workspace == want->workspace &&
		    plan.skipped == (given->skipped && !want->unskipped), "%s", settled[_i].name);
	}
	plan_release(&plan);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *json = tcase_create("json"), *settle = tcase_create("settle");
	SRunner *runner;
	int failed;

	tcase_add_test(json, clocks_tell_their_origin);
	tcase_add_test(json, test_plan_round_trip);
	tcase_add_test(json, test_plan_copy);
	tcase_add_test(json, test_old_plan);
	tcase_add_test(json, test_old_plan_skips);
	tcase_add_test(json, test_cells_of_the_profile);
	tcase_add_test(json, test_plan_damaged);
	tcase_add_loop_test(settle, test_settle, 0, sizeof(settled) / sizeof(settled[0]));
	suite_add_tcase(suite, json);
	suite_add_tcase(suite, settle);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
