/* SPDX-License-Identifier: MIT */
/* .rld.toml, profiles of one's own, and the order of all layers: what a run comes to,
 * and who said so. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/layers.h"
#include "core/profile.h"
#include "plan_at.h"
#include "proto/memory.h"

#define WANTS 8

/* Nothing of it is on a disk. */
static int parse_project(struct project **out, const char *text, struct config_error *error)
{
	struct project_text read = { .workdir = xstrdup("/etc"), .text = xstrdup(text),
	    .size = text == NULL ? 0 : strlen(text), .error = text == NULL ? -ENOENT : 0 };
	int rv = project_parse(out, &read, error);

	project_text_release(&read);
	return rv;
}

struct given { const char *path, *value; };

/* A run of rld.toml, project (NULL: none) and submit. */
static int resolve(const char *file, const char *project_text, const struct given *given,
    struct plan *plan, struct config_error *error)
{
	struct config *config;
	struct project *project = NULL;
	struct config_override overrides[WANTS];
	size_t n = 0;
	int rv;

	ck_assert_msg(config_parse(&config, "f.toml", file, strlen(file), error) == 0, "%s", error->text);
	for (; n < WANTS && given[n].path != NULL; n++)
		overrides[n] = (struct config_override){ given[n].path, given[n].value, "the_field" };
	rv = parse_project(&project, project_text, error);
	if (rv == 0)
		rv = config_resolve(config, project, overrides, n, plan, error);
	project_free(project);
	config_free(config);
	return rv;
}

static const struct {
	const char *name, *file, *project;
	struct given given[WANTS];
	struct given want[WANTS];
} cases[] = {
	/* every key of a project */
	{ "[run]", "", "[run]\ncommit = \"auto\"\non_lost = \"retry\"\n", { { 0 } },
	    { { "commit", "\"auto\"" }, { "on_lost", "\"retry\"" } } },
	{ "[run], the outer loop", "", "[run]\niterations = 2\nparallel = 3\npause_ms = 4\n"
	    "isolation = \"worktree\"\nintegrate = \"none\"\non_failure = \"continue\"\n"
	    "assign = \"agent\"\nbase = \"main\"\n", { { 0 } }, {
	    { "iterations", "2" }, { "parallel", "3" }, { "pause_ms", "4" },
	    { "isolation", "\"worktree\"" }, { "integrate", "\"none\"" },
	    { "on_failure", "\"continue\"" }, { "assign", "\"agent\"" }, { "base", "\"main\"" } } },
	{ "[run], money where nobody has limited it", "",
	    "[run]\nmax_cost = 2.5\nmax_tokens = 7\nmax_wall = \"1h\"\n", { { 0 } },
	    { { "max_cost_usd", "2.5" }, { "max_tokens", "7" }, { "max_wall_ms", "3600000" } } },
	{ "[run], less money than there may be", "[run]\nmax_cost = 3\nmax_tokens = 8\n",
	    "[run]\nmax_cost = 2.5\nmax_tokens = 8\n", { { 0 } },
	    { { "max_cost_usd", "2.5" }, { "max_tokens", "8" } } },
	{ "[run], whoever submits may have more", "[run]\nmax_cost = 3\n",
	    "[run]\nmax_cost = 2.5\n", { { "run.max_cost", "9" } }, { { "max_cost_usd", "9.0" } } },
	{ "[run], words and who said so", "", "[run]\nstop_markers = [\"done\"]\ncommit = \"none\"\n", { { 0 } }, {
	    { "stop_markers", "[\"done\"]" }, { "commit_said", "true" } } },
	{ "[review], policies", "", "[review]\nenabled = true\nprofile = \"decision\"\n"
	    "max_fixes = 7\nstall_limit = 9\ntimeout = \"3m\"\non_malformed = \"hold\"\n"
	    "on_reviewer_error = \"accept\"\non_exhausted = \"known_issues\"\n", { { 0 } }, {
	    { "review", "true" }, { "profile_name", "\"decision\"" }, { "max_fixes", "7" },
	    { "stall_limit", "9" }, { "clocks.review.wall_ms", "180000" },
	    { "on_malformed", "\"hold\"" }, { "on_reviewer_error", "\"accept\"" },
	    { "on_exhausted", "\"known_issues\"" } } },
	{ "[review], who and where", "", "[review]\nfixer = \"per_finding\"\nscope = \"run\"\n"
	    "strictness = \"by_round\"\nread_only = true\nsandbox = \"require\"\n"
	    "workspace = \"room\"\nmodel = \"r\"\nfixer_model = \"f\"\n", { { 0 } }, {
	    { "fixer", "\"per_finding\"" }, { "scope", "\"run\"" }, { "strictness", "\"by_round\"" },
	    { "read_only", "true" }, { "sandbox", "\"require\"" }, { "workspace", "\"room\"" },
	    { "agents.review.model", "\"r\"" }, { "agents.fix.model", "\"f\"" } } },
	{ "[review], lists", "", "[review]\nchecks = [\"make test\", \"make lint\"]\nguidelines = [{ "
	    "file = \"docs/c.md\", section = \"Rules\" }, { section = \"More\", file = \"d.md\" }]\n"
	    "conventions = [\"STYLE.md\"]\nreview_log = \"logs/review\"\n", { { 0 } }, {
	    { "checks", "[\"make test\",\"make lint\"]" }, { "guidelines",
	    "[\"docs/c.md\",\"Rules\",\"d.md\",\"More\"]" }, { "conventions", "[\"STYLE.md\"]" },
	    { "review_log", "\"logs/review\"" } } },
	{ "[[review.guidelines]]", "", "[[review.guidelines]]\nfile = \"a.md\"\nsection = \"S\"\n"
	    "[[review.guidelines]]\nfile = \"b.md\"\nsection = \"T\"\n", { { 0 } },
	    { { "guidelines", "[\"a.md\",\"S\",\"b.md\",\"T\"]" } } },
	{ "a submit's timeout goes before the project's for reviews", "[review]\ntimeout = 1\n",
	    "[review]\ntimeout = 2\n", { { "limits.timeout", "\"5m\"" } },
	    { { "clocks.review.wall_ms", "300000" } } },
	{ "[review], agents of rld.toml", "[agent.b]\ncommand = [\"b\"]\n",
	    "[review]\nagent = \"b\"\nfixer_agent = \"b\"\n", { { 0 } },
	    { { "agents.implement.name", "\"claude\"" }, { "agents.review.name", "\"b\"" },
	    { "agents.fix.name", "\"b\"" } } },
	{ "a review file", "", "[review]\nprofile = \"file\"\nreview_file = \"todo.md\"\n",
	    { { 0 } }, { { "review_file", "\"todo.md\"" } } },
	{ "a reviewer in the project", "",
	    "[review]\nenabled = true\nprofile = \"exit\"\nreviewer = \"ci/review.sh\"\n", { { 0 } },
	    { { "reviewer", "\"/etc/ci/review.sh\"" }, { "agents.review.command",
	    "[\"/etc/ci/review.sh\"]" }, { "agents.review.name", "\"review.sh\"" } } },
	{ "prompt files lie in the project", "", "[review]\nenabled = true\n"
	    "reviewer_prompt = \"hosts\"\ndeveloper_prompt = \"/etc/passwd\"\n", { { 0 } },
	    { { "reviewer_prompt", "\"/etc/hosts\"" }, { "developer_prompt", "\"/etc/passwd\"" } } },
	{ "a prompt none in the project", "", "[review]\nenabled = true\nreviewer_prompt = \"none\"\n",
	    { { 0 } }, { { "skip_reason", "\"reviewer_prompt = none\"" } } },
	{ "the old names", "", "reviewEnabled = true\nreviewMaxFixAttempts = 3\n"
	    "developerPromptPath = \"hosts\"\nreviewerPromptPath = \"passwd\"\n", { { 0 } }, {
	    { "review", "true" }, { "max_fixes", "3" }, { "developer_prompt", "\"/etc/hosts\"" },
	    { "reviewer_prompt", "\"/etc/passwd\"" } } },
	{ "a review's wall time, nearer than that of the role",
	    "[limits.review]\ntimeout = \"1m\"\n", "[review]\ntimeout = \"3m\"\n", { { 0 } }, {
	    { "clocks.review.wall_ms", "180000" }, { "clocks.review.wall_own", "false" } } },
	{ "no project", "[review]\nmax_fixes = 1\n", NULL, { { 0 } }, { { "max_fixes", "1" } } },
	{ "an empty project", "[review]\nmax_fixes = 1\n", "\n# nothing\n", { { 0 } }, { { "max_fixes", "1" } } },

	/* the cells of each built-in profile */
	{ "verdict", "", NULL, { { "review.profile", "\"verdict\"" }, { "review.enabled", "true" } }, {
	    { "max_fixes", "5" }, { "on_exhausted", "\"fail\"" }, { "fixer", "\"fresh\"" },
	    { "scope", "\"task\"" }, { "commit", "\"none\"" },
	    { "review_file", "null" }, { "review_log", "null" }, { "strictness", "\"same\"" } } },
	{ "decision", "", NULL, { { "review.profile", "\"decision\"" }, { "review.enabled", "true" } }, {
	    { "max_fixes", "2" }, { "on_exhausted", "\"hold\"" }, { "fixer", "\"implementer\"" },
	    { "scope", "\"task\"" }, { "commit", "\"none\"" },
	    { "review_log", "\".ai-sdd/state/review-logs\"" },
	    { "guidelines", "[\"constitution.md\",\"Standards\"]" }, { "read_only", "false" } } },
	{ "file", "", NULL, { { "review.profile", "\"file\"" }, { "review.enabled", "true" } }, {
	    { "max_fixes", "2" }, { "on_exhausted", "\"fail\"" }, { "fixer", "\"corrector\"" },
	    { "scope", "\"run\"" }, { "commit", "\"auto\"" },
	    { "review_file", "\"autom8_review.md\"" }, { "strictness", "\"by_round\"" },
	    { "clocks.review.wall_ms", "3600000" } } },
	{ "exit", "", NULL, { { "review.profile", "\"exit\"" }, { "review.enabled", "true" },
	    { "review.reviewer", "\"judge\"" } }, {
	    { "max_fixes", "4" }, { "on_exhausted", "\"accept\"" },
	    { "on_reviewer_error", "\"accept\"" }, { "fixer", "\"resume\"" }, { "stall_limit", "0" },
	    { "clocks.review.wall_ms", "120000" }, { "commit", "\"none\"" },
	    { "agents.review.command", "[\"judge\"]" } } },
	{ "comments", "", NULL, { { "review.profile", "\"comments\"" }, { "review.enabled", "true" } }, {
	    { "max_fixes", "2" }, { "on_exhausted", "\"known_issues\"" },
	    { "fixer", "\"per_finding\"" }, { "scope", "\"run\"" }, { "read_only", "true" },
	    { "review_file", "\"review-comments.json\"" },
	    { "conventions", "[\"CLAUDE.md\",\"AGENTS.md\"]" }, { "sandbox", "\"try\"" } } },
	{ "a profile that is only named commits nothing", "[review]\nprofile = \"file\"\n", NULL,
	    { { 0 } }, { { "review", "false" }, { "commit", "\"none\"" } } },
	{ "a skipped review commits", "[review]\nprofile = \"file\"\nenabled = true\n", NULL,
	    { { "review.skip", "true" } },
	    { { "skip_reason", "\"--skip-review flag set\"" }, { "commit", "\"auto\"" } } },
	{ "what is written commits without a review", "[run]\ncommit = \"auto\"\n", NULL, { { 0 } },
	    { { "review", "false" }, { "commit", "\"auto\"" } } },
	{ "none beats the profile", "", NULL, { { "review.profile", "\"file\"" },
	    { "review.enabled", "true" }, { "run.commit", "\"none\"" } }, { { "commit", "\"none\"" } } },
	{ "no log", "[review]\nenabled = true\nprofile = \"decision\"\nreview_log = \"\"\n", NULL,
	    { { 0 } }, { { "review_log", "null" } } },
	{ "a log of a profile without one", "[review]\nreview_log = \"/var/log/reviews\"\n", NULL,
	    { { 0 } }, { { "review_log", "\"/var/log/reviews\"" } } },
	{ "a file name is of no use without a file", "[review]\nreview_file = \"x.md\"\n", NULL,
	    { { 0 } }, { { "review_file", "null" } } },

	/* profiles of one's own */
	{ "a chain", "[profile.a]\nextends = \"b\"\nmax_fixes = 9\n[profile.b]\nextends = \"file\"\n"
	    "max_fixes = 8\non_exhausted = \"hold\"\ncommit = \"none\"\nreview_file = \"b.md\"\n",
	    NULL, { { "review.profile", "\"a\"" }, { "review.enabled", "true" } }, {
	    { "profile", "\"file\"" }, { "profile_name", "\"a\"" }, { "max_fixes", "9" },
	    { "on_exhausted", "\"hold\"" }, { "commit", "\"none\"" },
	    { "review_file", "\"b.md\"" }, { "fixer", "\"corrector\"" }, { "scope", "\"run\"" } } },
	{ "who is asked about a malformed answer: a second one, as the profile says", "[review]\n"
	    "on_malformed = \"ask\"\n[profile.a]\nextends = \"b\"\n[profile.b]\nextends = \"verdict\"\n"
	    "on_malformed = \"hold\"\n", NULL,
	    { { "review.profile", "\"a\"" }, { "review.enabled", "true" } },
	    { { "on_malformed", "\"ask\"" }, { "malformed_again", "\"hold\"" } } },
	{ "... that says to ask: as the one that it extends", "[profile.a]\nextends = \"exit\"\n"
	    "on_malformed = \"ask\"\n", NULL, { { "review.profile", "\"a\"" }, { "review.enabled", "true" },
	    { "review.reviewer", "\"judge\"" } },
	    { { "on_malformed", "\"ask\"" }, { "malformed_again", "\"accept\"" } } },
	{ "what a profile may say", "[profile.a]\nextends = \"verdict\"\nchecks = [\"make\"]\n"
	    "guidelines = []\nconventions = [\"X.md\"]\nsandbox = \"require\"\n"
	    "workspace = \"snapshot\"\nreviewer_prompt = \"none\"\ndeveloper_prompt = \"/etc/hosts\"\n",
	    NULL, { { "review.profile", "\"a\"" }, { "review.enabled", "true" } }, {
	    { "checks", "[\"make\"]" }, { "guidelines", "[]" }, { "conventions", "[\"X.md\"]" },
	    { "sandbox", "\"require\"" }, { "workspace", "\"room\"" },
	    { "skip_reason", "\"reviewer_prompt = none\"" }, { "developer_prompt", "\"/etc/hosts\"" } } },
	{ "a profile brings its reviewer", "[profile.ci]\nextends = \"exit\"\nreviewer = \"/opt/ci/judge\"\n",
	    NULL, { { "review.profile", "\"ci\"" }, { "review.enabled", "true" } }, {
	    { "reviewer", "\"/opt/ci/judge\"" }, { "agents.review.name", "\"judge\"" } } },
	{ "a project chooses a profile of rld.toml", "[profile.a]\nextends = \"comments\"\n",
	    "[review]\nenabled = true\nprofile = \"a\"\n", { { 0 } },
	    { { "profile", "\"comments\"" }, { "profile_name", "\"a\"" } } },

	/* a program that reviews */
	{ "a reviewer turns the review on", "", NULL, { { "review.reviewer", "\"/x/judge\"" } },
	    { { "review", "true" }, { "profile", "\"exit\"" }, { "reviewer", "\"/x/judge\"" } } },
	{ "a reviewer keeps a profile that goes by exit",
	    "[profile.ci]\nextends = \"exit\"\nmax_fixes = 1\n[review]\nprofile = \"ci\"\n", NULL,
	    { { "review.reviewer", "\"/x/judge\"" } },
	    { { "profile_name", "\"ci\"" }, { "max_fixes", "1" } } },
	{ "a reviewer over another profile of the file", "[review]\nprofile = \"file\"\nenabled = false\n",
	    NULL, { { "review.reviewer", "\"judge\"" } },
	    { { "profile_name", "\"exit\"" }, { "review", "true" } } },
	{ "--no-review beats the reviewer", "", NULL, { { "review.reviewer", "\"judge\"" },
	    { "review.enabled", "false" } }, { { "review", "false" } } },
	{ "--skip-review beats the reviewer", "", NULL,
	    { { "review.reviewer", "\"judge\"" }, { "review.skip", "true" } },
	    { { "review", "false" }, { "skip_reason", "\"--skip-review flag set\"" } } },
	{ "the reviewer is given what the implementer is given", "default_agent = \"a\"\n[agent.a]\n"
	    "command = [\"a\"]\nenv = [\"KEY\"]\nset = { S = \"1\" }\nmodel = \"m\"\nprompt = \"arg\"\n",
	    NULL, { { "review.reviewer", "\"/x/judge\"" } }, { { "agents.review",
	    "{\"name\":\"judge\",\"command\":[\"/x/judge\"],\"resume\":[],\"prompt\":\"stdin\","
	    "\"reader\":\"text\",\"model\":\"m\",\"set\":[\"S=1\"],\"env\":[\"KEY\"],\"writable\":[],"
	    "\"account\":\"judge\",\"launcher\":null,\"launch\":[],\"cancel\":[],\"launcher_slots\":0,\"hosts\":[],"
	    "\"copies\":false,"
	    "\"fallbacks\":[]}" }, { "agents.fix.name", "\"a\"" } } },
	{ "a reviewer is of no use elsewhere", "[review]\nreviewer = \"judge\"\nenabled = true\n",
	    NULL, { { 0 } }, { { "profile", "\"verdict\"" }, { "reviewer", "null" } } },
	{ "a review that is off needs none", "[review]\nprofile = \"exit\"\n", NULL, { { 0 } },
	    { { "review", "false" }, { "agents.review.name", "\"claude\"" } } },

	{ "hooks and report", "[hook]\non_hold = [\"mail\", \"me\"]\non_pass = [\"/p\"]\non_end = [\"/bin/true\"]\n",
	    NULL, { { "run.report", "\"/r.json\"" } }, { { "on_hold", "[\"mail\",\"me\"]" },
	    { "on_pass", "[\"/p\"]" }, { "on_end", "[\"/bin/true\"]" }, { "report", "\"/r.json\"" } } },
	{ "no hooks", "[hook]\non_hold = []\n", NULL, { { 0 } },
	    { { "on_hold", "[]" }, { "on_end", "[]" }, { "report", "null" } } },
	{ "a project may be stricter",
	    "[review]\nsandbox = \"require\"\nread_only = true\nworkspace = \"room\"\n",
	    "[review]\nsandbox = \"require\"\nread_only = true\nworkspace = \"room\"\n",
	    { { 0 } }, { { "sandbox", "\"require\"" } } },
	{ "a submit may be less strict than its project", "", "[review]\nsandbox = \"require\"\n",
	    { { "review.sandbox", "\"off\"" } }, { { "sandbox", "\"off\"" } } },
};

START_TEST(test_cases)
{
	struct plan plan;
	struct config_error error;

	ck_assert_msg(resolve(cases[_i].file, cases[_i].project, cases[_i].given, &plan, &error) == 0,
	    "%s: %s", cases[_i].name, error.text);
	for (size_t i = 0; i < WANTS && cases[_i].want[i].path != NULL; i++) {
		char *got = plan_at(&plan, cases[_i].want[i].path);

		ck_assert_msg(strcmp(got, cases[_i].want[i].value) == 0, "%s: %s\n  want %s\n   got %s",
		    cases[_i].name, cases[_i].want[i].path, cases[_i].want[i].value, got);
		free(got);
	}
	plan_release(&plan);
}
END_TEST

/* What is refused at submit, by rld.toml, project and submit together. A head that ends with a
 * colon is the beginning. */
static const struct {
	const char *file, *project;
	struct given given;
	const char *message, *field;
} bad[] = {
	/* nothing that runs agents or grants */
	{ "", "parallel = 3\n", { 0 }, "/etc/.rld.toml:1:1: 'parallel' is only allowed in "
	    "rld.toml; a project file may have [run] and [review], but no agents and no "
	    "permissions", "workdir" },
	{ "", "default_agent = \"claude\"\n", { 0 },
	    "/etc/.rld.toml:1:1: 'default_agent' is only allowed in rld.toml; ", "workdir" },
	{ "", "[agent.claude]\ncommand = [\"sh\"]\n", { 0 },
	    "/etc/.rld.toml:1:2: 'agent' is only allowed in rld.toml; ", "workdir" },
	{ "", "agent.claude.env = [\"X\"]\n", { 0 },
	    "/etc/.rld.toml:1:1: 'agent' is only allowed in rld.toml; ", "workdir" },
	{ "", "[hook]\non_end = [\"sh\"]\n", { 0 },
	    "/etc/.rld.toml:1:2: 'hook' is only allowed in rld.toml; ", "workdir" },
	{ "", "[group.default]\nslots = 64\n", { 0 },
	    "/etc/.rld.toml:1:2: 'group' is only allowed in rld.toml; ", "workdir" },
	{ "", "[limits]\ntimeout = 3\n", { 0 },
	    "/etc/.rld.toml:1:2: 'limits' is only allowed in rld.toml; ", "workdir" },
	{ "", "[profile.x]\nextends = \"exit\"\n", { 0 },
	    "/etc/.rld.toml:1:2: 'profile' is only allowed in rld.toml; ", "workdir" },
	{ "", "profile.x.max_fixes = 2\n", { 0 },
	    "/etc/.rld.toml:1:1: 'profile' is only allowed in rld.toml; ", "workdir" },
	{ "", "[access]\nadmin = [\"me\"]\n", { 0 },
	    "/etc/.rld.toml:1:2: 'access' is only allowed in rld.toml; ", "workdir" },
	{ "", "[launcher.x]\ncommand = [\"x\"]\n", { 0 },
	    "/etc/.rld.toml:1:2: 'launcher' is only allowed in rld.toml; a project file may have [run] and "
	    "[review], but no agents and no permissions", "workdir" },
	{ "", "[account.x]\n", { 0 }, "/etc/.rld.toml:1:2: 'account' is only allowed in rld.toml; ", "workdir" },
	{ "", "[run]\nreport = \"/etc/x\"\n", { 0 }, "/etc/.rld.toml:2:1: unknown key 'run.report'; ", "workdir" },
	{ "", "[run]\nenv = { LD_PRELOAD = \"x\" }\n", { 0 },
	    "/etc/.rld.toml:2:1: unknown key 'run.env'; ", "workdir" },
	{ "", "[review]\nskip = true\n", { 0 }, "/etc/.rld.toml:2:1: unknown key 'review.skip'; ", "workdir" },

	/* mistakes, with their place */
	{ "", "[review]\nmax_fixs = 1\n", { 0 }, "/etc/.rld.toml:2:1: "
	    "unknown key 'review.max_fixs'; did you mean 'review.max_fixes'?", "workdir" },
	{ "", "[review]\n  max_fixes = -1\n", { 0 },
	    "/etc/.rld.toml:2:15: 'review.max_fixes' must be from 0 to 100, is -1", "workdir" },
	{ "", "reviewMaxFixAttempts = \"3\"\n", { 0 },
	    "/etc/.rld.toml:1:24: 'reviewMaxFixAttempts' must be an integer, is a string", "workdir" },
	{ "", "reviewEnable = true\n", { 0 }, "/etc/.rld.toml:1:1: unknown key 'reviewEnable'; ", "workdir" },
	{ "", "[reviewEnabled]\n", { 0 }, "/etc/.rld.toml:1:2: unknown key 'reviewEnabled'; ", "workdir" },
	{ "", "reviewEnabled = true\n[review]\nenabled = true\n", { 0 },
	    "/etc/.rld.toml:3:11: 'review.enabled' repeats line 1: remove one of them", "workdir" },
	{ "", "review = true\n", { 0 },
	    "/etc/.rld.toml:1:1: 'review' must be a table: write [review] on its own line", "workdir" },
	{ "", "not toml", { 0 }, "/etc/.rld.toml:1:", "workdir" },
	{ "", "[review]\nagent = \"nobody\"\n", { 0 }, "/etc/.rld.toml:2:9: 'review.agent': "
	    "unknown agent 'nobody'; choose one of claude, ", "workdir" },
	{ "", "[review]\nprofile = \"nobody\"\n", { 0 }, "/etc/.rld.toml:2:11: "
	    "'review.profile': unknown profile 'nobody'; choose one of verdict, ", "workdir" },
	{ "", "[review]\nreview_log = \"/etc\"\n", { 0 }, "/etc/.rld.toml:2:14: "
	    "'review.review_log' must be a path below the working directory", "workdir" },
	{ "", "[review]\nreview_file = \"a/b\"\n", { 0 },
	    "/etc/.rld.toml:2:15: 'review.review_file' must be a plain file name", "workdir" },
	{ "", "developerPromptPath = \"nowhere.md\"\n", { 0 },
	    "/etc/.rld.toml:1: /etc/nowhere.md: No such file or directory; name a readable file", "workdir" },
	{ "", "[review]\ndeveloper_prompt = \"\"\n", { 0 },
	    "/etc/.rld.toml:2:20: 'review.developer_prompt' must be an absolute path", "workdir" },
	{ "", "[review]\nreviewer = \"a\\u0000/b\"\n", { 0 },
	    "/etc/.rld.toml:2:12: 'review.reviewer' must not contain a NUL character", "workdir" },
	{ "", "x = [[[[[[[[[[[1]]]]]]]]]]]\n", { 0 },
	    "/etc/.rld.toml:1:13: arrays and tables are nested too deeply", "workdir" },
	{ "", "x = [{ a.b.c.d.e.f.g.h.i = 1 }]\n", { 0 }, "/etc/.rld.toml:1:", "workdir" },

	/* less care than without it */
	{ "", "[review]\nsandbox = \"off\"\n", { 0 }, "/etc/.rld.toml:2:11: a project may only "
	    "make 'review.sandbox' stricter, and it is \"try\" already (default)", "workdir" },
	{ "[review]\nsandbox = \"require\"\n", "[review]\nsandbox = \"try\"\n", { 0 },
	    "/etc/.rld.toml:2:11: a project may only make 'review.sandbox' stricter, and it is \"require\" already "
	    "(f.toml:2)", "workdir" },
	{ "[review]\nroom = \"clone\"\n", "[review]\nroom = \"reuse\"\n", { 0 }, "/etc/.rld.toml:2:8: "
	    "a project may only make 'review.room' stricter, and it is \"clone\" already (f.toml:2)", "workdir" },
	{ "[run]\nmax_cost = 3\n", "[run]\nmax_cost = 3.01\n", { 0 }, "/etc/.rld.toml:2:12: "
	    "a project may only make 'run.max_cost' lower, and it is 3 already (f.toml:2)", "workdir" },
	{ "[run]\nmax_tokens = 3\n", "[run]\nmax_tokens = 4\n", { 0 }, "/etc/.rld.toml:2:14: "
	    "a project may only make 'run.max_tokens' lower, and it is 3 already (f.toml:2)",
	    "workdir" },
	{ "[review]\nread_only = true\n", "[review]\nread_only = false\n", { 0 },
	    "/etc/.rld.toml:2:13: a project may only make 'review.read_only' stricter, "
	    "and it is true already (f.toml:2)", "workdir" },
	{ "[review]\nworkspace = \"snapshot\"\n", "[review]\nworkspace = \"same\"\n", { 0 },
	    "/etc/.rld.toml:2:13: a project may only make 'review.workspace' stricter, ", "workdir" },
	{ "", "[review]\nread_only = false\n", { "review.profile", "\"comments\"" },
	    "/etc/.rld.toml:2:13: a project may only make 'review.read_only' stricter, and it is true already (profile "
	    "comments)", "workdir" },

	/* a program that reviews */
	{ "[review]\nenabled = true\nprofile = \"exit\"\n", NULL, { 0 }, "profile 'exit' needs "
	    "a reviewing program: name it with --reviewer, or set reviewer in [review]", "reviewer" },
	{ "[review]\nenabled = true\nfixer = \"corrector\"\n", NULL, { 0 }, "f.toml:3: fixer "
	    "'corrector' does not work with profile 'verdict': it needs a review file", "" },
	{ "", "[review]\nenabled = true\nfixer = \"resume\"\n", { "review.profile", "\"comments\"" },
	    "/etc/.rld.toml:3: fixer 'resume' does not work with profile 'comments': it resumes "
	    "the implementer's conversation, which knows the task", "workdir" },
	{ "[profile.ci]\nextends = \"exit\"\n[review]\nenabled = true\n", NULL,
	    { "review.profile", "\"ci\"" }, "profile 'ci' needs a reviewing program: ", "reviewer" },
};

START_TEST(test_bad)
{
	struct given given[WANTS] = { bad[_i].given };
	struct plan plan;
	struct config_error error;

	ck_assert_msg(resolve(bad[_i].file, bad[_i].project, given, &plan, &error) == -1, "taken: %s", bad[_i].message);
	ck_assert_msg(strncmp(error.text, bad[_i].message, strlen(bad[_i].message)) == 0,
	    "want %s\n got %s", bad[_i].message, error.text);
	ck_assert_str_eq(error.field, bad[_i].field);
}
END_TEST

START_TEST(test_reviewer_and_another_profile)
{
	struct given given[WANTS] = { { "review.profile", "\"verdict\"" }, { "review.reviewer", "\"judge\"" } };
	struct plan plan;
	struct config_error error;

	ck_assert_int_eq(resolve("", NULL, given, &plan, &error), -1);
	ck_assert_str_eq(error.text, "the_field: profile 'verdict' is reviewed by an agent, not "
	    "by a program; leave the profile out, or choose \"exit\"");
	ck_assert_str_eq(error.field, "the_field");
}
END_TEST

/* Each key of a profile's cells, at each of the five places where it can be set: who is stronger
 * is listed first. */
static const struct knob {
	const char *key, *member;
	const char *value[4];		/* submit, project, rld.toml, [profile.mine] */
	const char *cell;		/* profile "comments" */
} knobs[] = {
	{ "max_fixes", "max_fixes", { "11", "12", "13", "14" }, "2" },
	{ "stall_limit", "stall_limit", { "11", "12", "13", "14" }, "2" },
	{ "timeout", "clocks.review.wall_ms", { "\"11s\"", "\"12s\"", "\"13s\"", "\"14s\"" }, "3600000" },
	{ "on_malformed", "on_malformed", { "\"hold\"", "\"accept\"", "\"ask\"", "\"hold\"" }, "\"fail\"" },
	{ "on_reviewer_error", "on_reviewer_error",
	    { "\"hold\"", "\"accept\"", "\"known_issues\"", "\"hold\"" }, "\"fail\"" },
	{ "on_exhausted", "on_exhausted", { "\"hold\"", "\"accept\"", "\"fail\"", "\"hold\"" }, "\"known_issues\"" },
	{ "fixer", "fixer", { "\"fresh\"", "\"implementer\"", "\"fresh\"", "\"implementer\"" }, "\"per_finding\"" },
	{ "scope", "scope", { "\"task\"", "\"run\"", "\"task\"", "\"task\"" }, "\"run\"" },
	{ "commit", "commit", { "\"none\"", "\"auto\"", "\"none\"", "\"auto\"" }, "\"none\"" },
	{ "strictness", "strictness", { "\"same\"", "\"by_round\"", "\"same\"", "\"by_round\"" }, "\"same\"" },
	{ "read_only", "read_only", { "false", "true", "false", "false" }, "true" },
	{ "review_file", "review_file", { "\"1.md\"", "\"2.md\"", "\"3.md\"", "\"4.md\"" },
	    "\"review-comments.json\"" },
	{ "review_log", "review_log", { "\"1\"", "\"2\"", "\"3\"", "\"4\"" }, "null" },
	{ "checks", "checks", { "[\"1\"]", "[\"2\"]", "[\"3\"]", "[\"4\"]" }, "[]" },
	{ "checks_mode", "checks_mode", { "\"all\"", "\"new_failures\"", "\"all\"", "\"new_failures\"" }, "\"all\"" },
	{ "review_merged", "review_merged", { "\"on_conflict\"", "\"always\"", "\"on_conflict\"", "\"always\"" },
	    "\"on_conflict\"" },
	{ "conventions", "conventions", { "[\"1\"]", "[\"2\"]", "[\"3\"]", "[\"4\"]" },
	    "[\"CLAUDE.md\",\"AGENTS.md\"]" },
	{ "sandbox", "sandbox", { "\"off\"", "\"require\"", "\"try\"", "\"off\"" }, "\"try\"" },
	{ "on_cut", "on_cut", { "\"warn\"", "\"hold\"", "\"warn\"", "\"hold\"" }, "\"warn\"" },
	{ "on_question", "on_question", { "\"ignore\"", "\"hold\"", "\"ignore\"", "\"hold\"" }, "\"ignore\"" },
	{ "silence", "silence", { "\"pass\"", "\"violation\"", "\"pass\"", "\"violation\"" }, "\"violation\"" },
	{ "reviewer_may_change", "may_change", { "[\"1\"]", "[\"2\"]", "[\"3\"]", "[\"4\"]" },
	    "[\"Cargo.lock\",\"Gemfile.lock\",\"composer.lock\",\"flake.lock\",\"go.sum\",\"mix.lock\","
	    "\"package-lock.json\",\"pnpm-lock.yaml\",\"poetry.lock\",\"uv.lock\",\"yarn.lock\"]" },
	/* a project adds to what the others say */
	{ "protect", "protect", { "[\"1\"]", "[\"2\"]", "[\"3\"]", "[\"4\"]" }, "[]" },
	{ "workspace", "workspace", { "\"same\"", "\"room\"", "\"same\"", "\"room\"" }, "\"room\"" },
	{ "room", "room", { "\"reuse\"", "\"clone\"", "\"reuse\"", "\"clone\"" }, "\"clone\"" },
};

struct heard {
	const char *path;
	char *from;
};

static void hear(void *arg, const char *path, const char *value, const char *from, const char *help)
{
	struct heard *heard = arg;

	ck_assert(value != NULL && help != NULL);
	if (strcmp(path, heard->path) != 0)
		return;
	ck_assert_msg(heard->from == NULL, "%s is told twice", path);
	heard->from = xstrdup(from);
}

/* places: mask of those that set it. The strongest of them must count, and be named. */
static void try_places(const struct knob *knob, unsigned places)
{
	static const char *const from[] = { "command line", "/etc/.rld.toml:2", "f.toml:2",
	    "profile mine (f.toml:5)", "profile comments" };
	const char *table = strcmp(knob->key, "commit") == 0 ? "run" : "review";
	char *path = xasprintf("%s.%s", table, knob->key), *got, *want, *file, *project_text;
	struct config_override overrides[] = { { "review.profile", "\"mine\"", "profile" },
	    { "review.enabled", "true", "e" }, { path, knob->value[0], "f" } };
	size_t count = places & 1 ? 3 : 2, strongest = 0;
	struct heard heard = { .path = path };
	struct project *project;
	struct config *config;
	struct config_error error;
	struct plan plan;

	while (strongest < 4 && !(places & 1u << strongest))
		strongest++;
	file = xasprintf("[%s]\n%s%s%s\n[profile.mine]\nextends = \"comments\"\n%s%s%s\n", table,
	    places & 4 ? knob->key : "", places & 4 ? " = " : "",
	    places & 4 ? knob->value[2] : "", places & 8 ? knob->key : "", places & 8 ? " = " : "",
	    places & 8 ? knob->value[3] : "");
	project_text = xasprintf("[%s]\n%s%s%s\n", table, places & 2 ? knob->key : "",
	    places & 2 ? " = " : "", places & 2 ? knob->value[1] : "");
	ck_assert_msg(config_parse(&config, "f.toml", file, strlen(file), &error) == 0, "%s", error.text);
	ck_assert_msg(parse_project(&project, project_text, &error) == 0, "%s", error.text);
	ck_assert_msg(config_resolve(config, project, overrides, count, &plan, &error) == 0,
	    "%s %x: %s", path, places, error.text);
	got = plan_at(&plan, knob->member);
	if (strcmp(knob->key, "protect") == 0 && strongest == 1 && places > 3)
		want = xstrdup(places & 4 ? "[\"3\",\"2\"]" : "[\"4\",\"2\"]");
	else
		want = strongest == 4 ? xstrdup(knob->cell) : strcmp(knob->key, "timeout") == 0 ?
	    xasprintf("%zu000", 11 + strongest) : xstrdup(knob->value[strongest]);
	ck_assert_msg(strcmp(got, want) == 0, "%s set at %x: want %s, got %s", path, places, want, got);
	ck_assert_int_eq(config_each(config, project, overrides, count, hear, &heard, &error), 0);
	/* an unset text, list or degree is no profile's */
	if (strongest < 4 || (strcmp(knob->cell, "null") != 0 && setting_find(path, NULL)->profile_field != 0))
		ck_assert_msg(strcmp(heard.from, strongest == 3 ? "profile mine (f.toml:5)" :
		    from[strongest]) == 0, "%s set at %x is from %s", path, places, heard.from);
	else
		ck_assert_str_eq(heard.from, "default");
	plan_release(&plan);
	project_free(project);
	config_free(config);
	free(heard.from);
	free(got);
	free(want);
	free(file);
	free(project_text);
	free(path);
}

START_TEST(test_precedence)
{
	for (unsigned places = 0; places < 16; places++)
		try_places(&knobs[_i], places);
}
END_TEST

/* Each key that a profile may have is one of the table above, or of a case. */
START_TEST(test_knobs_are_all)
{
	static const char *const elsewhere[] = { "guidelines", "reviewer", "developer_prompt",
	    "reviewer_prompt", "env" };

	for (size_t i = 0; i < settings_count; i++) {
		const char *key = setting_key(settings[i].is.name);
		bool found = !(settings[i].layers & LAYER_PROFILE);

		for (size_t k = 0; k < sizeof(knobs) / sizeof(knobs[0]); k++)
			found |= strcmp(knobs[k].key, key) == 0;
		for (size_t k = 0; k < sizeof(elsewhere) / sizeof(elsewhere[0]); k++)
			found |= strcmp(elsewhere[k], key) == 0;
		ck_assert_msg(found, "%s", settings[i].is.name);
	}
}
END_TEST

START_TEST(test_each_error)
{
	struct config_override override = { "review.profile", "\"nobody\"", "profile" };
	struct heard heard = { .path = "" };
	struct config *config;
	struct config_error error;

	ck_assert_int_eq(config_parse(&config, "f.toml", "", 0, &error), 0);
	ck_assert_int_eq(config_each(config, NULL, &override, 1, hear, &heard, &error), -1);
	ck_assert_str_eq(error.field, "profile");
	config_free(config);
}
END_TEST

/* On the disk */

static char directory[] = "/tmp/rld-project-XXXXXX";

static void open_directory(void)
{
	memcpy(strrchr(directory, '-') + 1, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void close_directory(void)
{
	char *path = xasprintf("%s/.rld.toml", directory);

	if (unlink(path) == -1)
		rmdir(path);
	free(path);
	rmdir(directory);
}

static int load(struct project **out, const char *workdir, struct config_error *error)
{
	struct project_text text;
	int rv;

	project_read(&text, workdir, NULL);
	rv = project_parse(out, &text, error);
	project_text_release(&text);
	return rv;
}

static void write_project(size_t size, const char *text)
{
	char *path = xasprintf("%s/.rld.toml", directory);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	for (size_t n = strlen(text); n < size; n++)
		fputc('\n', f);
	fclose(f);
	free(path);
}

START_TEST(test_read)
{
	char *slashed = xasprintf("%s//", directory), *missing = xasprintf("%s/none", directory),
	    *inside = xasprintf("%s/.rld.toml", directory);
	struct project *project;
	struct config_error error;

	/* none: the workdir without one, no such directory, no directory, a path
	 * that is not absolute */
	ck_assert_int_eq(load(&project, directory, &error), 0);
	ck_assert_ptr_null(project);
	write_project(32 * 1024, "[review]\nmax_fixes = 3\n");
	ck_assert_int_eq(load(&project, missing, &error), 0);
	ck_assert_ptr_null(project);
	ck_assert_int_eq(load(&project, inside, &error), 0);
	ck_assert_ptr_null(project);
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(load(&project, ".", &error), 0);
	ck_assert_ptr_null(project);
	/* one, of 32 KiB */
	ck_assert_int_eq(load(&project, slashed, &error), 0);
	ck_assert_str_eq(project->path, inside);
	ck_assert_uint_eq(project->values.count, 1);
	project_free(project);
	/* one byte more */
	write_project(32 * 1024 + 1, "[review]\nmax_fixes = 3\n");
	ck_assert_int_eq(load(&project, directory, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, "/.rld.toml: the file is longer than 32 KiB"));
	ck_assert_str_eq(error.field, "workdir");
	free(slashed);
	free(missing);
	free(inside);
}
END_TEST

/* None of these is read, and none is waited for. */
START_TEST(test_no_file)
{
	char *path = xasprintf("%s/.rld.toml", directory);
	struct project *project;
	struct config_error error;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(load(&project, directory, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, "/.rld.toml: is not a regular file"));
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(load(&project, directory, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, "/.rld.toml: is not a regular file"));
	rmdir(path);
	ck_assert_int_eq(symlink("/etc/hosts", path), 0);
	ck_assert_int_eq(load(&project, directory, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.text, "/.rld.toml: is a symbolic link"));
	ck_assert_str_eq(error.field, "workdir");
	free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("project");
	TCase *layers = tcase_create("layers"), *file = tcase_create("file");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(layers, test_cases, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(layers, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(layers, test_reviewer_and_another_profile);
	tcase_add_loop_test(layers, test_precedence, 0, sizeof(knobs) / sizeof(knobs[0]));
	tcase_add_test(layers, test_knobs_are_all);
	tcase_add_test(layers, test_each_error);
	tcase_add_checked_fixture(file, open_directory, close_directory);
	tcase_add_test(file, test_read);
	tcase_add_test(file, test_no_file);
	suite_add_tcase(suite, layers);
	suite_add_tcase(suite, file);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
