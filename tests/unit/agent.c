/* SPDX-License-Identifier: MIT */
/* Presets, argv templates, the readers of agents' output. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/reader.h"
#include "core/row.h"
#include "proto/memory.h"

#define LIST(...) (char **)(const char *[]){ __VA_ARGS__, NULL }

/* argv */

static void expect_argv(char **argv, char *const *expected)
{
	ck_assert_uint_eq(strings_count(argv), strings_count(expected));
	for (size_t i = 0; expected[i] != NULL; i++)
		ck_assert_str_eq(argv[i], expected[i]);
	strings_free(argv);
}

START_TEST(argv_template)
{
	struct agent_plan plan = {
		.command = LIST("prog", "--model", "{model}", "--resume={session}", "-f",
		    "{prompt_file}", "-v", "{model}/{model}"),
		.prompt = PROMPT_FILE,
	};

	plan.model = (char *)"big";
	expect_argv(agent_argv(&plan, "text", "/p", "s1"),
	    LIST("prog", "--model", "big", "--resume=s1", "-f", "/p", "-v", "big/big"));
	plan.model = NULL;
	expect_argv(agent_argv(&plan, "text", "/p", NULL), LIST("prog", "-f", "/p", "-v"));
	expect_argv(agent_argv(&plan, NULL, NULL, NULL), LIST("prog", "-v"));
}
END_TEST

START_TEST(argv_prompt_as_argument)
{
	struct agent_plan plan = { .command = LIST("prog", "-p"), .prompt = PROMPT_ARG };

	expect_argv(agent_argv(&plan, "do it", NULL, NULL), LIST("prog", "-p", "do it"));
	expect_argv(agent_argv(&plan, "-rf", NULL, NULL), LIST("prog", "-p", "\n-rf"));
	expect_argv(agent_argv(&plan, "{model} {session}", NULL, NULL), LIST("prog", "-p", "{model} {session}"));
	plan.prompt = PROMPT_STDIN;
	expect_argv(agent_argv(&plan, "do it", NULL, NULL), LIST("prog", "-p"));
}
END_TEST

START_TEST(argv_values_are_not_scanned_again)
{
	struct agent_plan plan = { .command = LIST("prog", "{model}", "{other}", "{"), .model = (char *)"{session}" };

	expect_argv(agent_argv(&plan, NULL, NULL, NULL), LIST("prog", "{session}", "{other}", "{"));
}
END_TEST

START_TEST(argv_program_stays)
{
	struct agent_plan plan = { .command = LIST("-prog", "{model}", "word", "{model}", "{session}") };

	expect_argv(agent_argv(&plan, NULL, NULL, NULL), LIST("-prog", "word"));
}
END_TEST

/* The words that go on stand behind the command's and in front of a prompt. */
START_TEST(argv_resume)
{
	struct agent_plan plan = {
		.command = LIST("prog", "-p", "--model", "{model}"),
		.resume = LIST("--model", "{model}", "--resume", "{session}", "--with={session}"),
		.prompt = PROMPT_ARG,
	};

	expect_argv(agent_argv(&plan, "go on", NULL, "s1"), LIST("prog", "-p", "--resume", "s1", "--with=s1", "go on"));
	expect_argv(agent_argv(&plan, "go on", NULL, NULL), LIST("prog", "-p", "go on"));
	plan.model = (char *)"big";
	expect_argv(agent_argv(&plan, "-x", NULL, "-s"), LIST("prog", "-p", "--model", "big",
	    "--model", "big", "--resume", "-s", "--with=-s", "\n-x"));
	/* a command that has its own */
	plan.command = LIST("prog", "--session={session}");
	expect_argv(agent_argv(&plan, "go on", NULL, "s1"), LIST("prog", "--session=s1", "go on"));
	plan.command = LIST("prog");
	plan.resume = LIST(NULL);
	expect_argv(agent_argv(&plan, "go on", NULL, "s1"), LIST("prog", "go on"));
}
END_TEST

/* presets */

START_TEST(presets)
{
	const struct agent_preset *claude = agent_preset_find("claude");
	struct agent_plan plan = { .model = (char *)"m" };

	ck_assert_ptr_nonnull(claude);
	ck_assert_ptr_null(agent_preset_find("Claude"));
	ck_assert_ptr_null(agent_preset_find(""));
	plan.command = strings_copy((char *const *)claude->command);
	expect_argv(agent_argv(&plan, "x", "/p", NULL),
	    LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
	    "--dangerously-skip-permissions", "--model", "m"));
	plan.model = NULL;
	expect_argv(agent_argv(&plan, "x", "/p", NULL),
	    LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
	    "--dangerously-skip-permissions"));
	plan.resume = strings_copy((char *const *)claude->resume);
	expect_argv(agent_argv(&plan, "x", "/p", "11-22"),
	    LIST("claude", "-p", "--output-format", "stream-json", "--verbose",
	    "--dangerously-skip-permissions", "--resume", "11-22"));
	strings_free(plan.resume);
	strings_free(plan.command);
	ck_assert_str_eq(claude->writable[0], "~/.claude");
	ck_assert_str_eq(claude->writable[1], "~/.claude.json");
	ck_assert_int_eq(claude->prompt, PROMPT_STDIN);
	ck_assert_int_eq(claude->reader, READER_CLAUDE);
	ck_assert_str_eq(claude->set[0], "IS_SANDBOX=1");
	for (const struct agent_preset *p = agent_presets; p->name != NULL; p++) {
		ck_assert_ptr_nonnull(p->help);
		for (size_t i = 0; p->set[i] != NULL; i++)
			ck_assert_ptr_nonnull(strchr(p->set[i], '='));
		for (size_t i = 0; p->env[i] != NULL; i++)
			ck_assert_ptr_null(strchr(p->env[i], '='));
		/* a variable that is a login is one that reaches the program */
		for (size_t i = 0; p->login[i] != NULL; i++) {
			const char *slash = strchr(p->login[i], '/'), *word = p->login[i] + (p->login[i][0] == '$');
			char *name = slash != NULL ? xmemdup0(word, (size_t)(slash - word)) : xstrdup(word);

			ck_assert_msg(strcmp(name, "~") == 0 ||
			    strings_contain((char *const *)(uintptr_t)p->env, name), "%s: %s",
			    p->name, p->login[i]);
			free(name);
		}
		ck_assert_ptr_nonnull(p->login_help);
		ck_assert_uint_eq(strspn(p->version, "0123456789."), strlen(p->version));
		for (size_t i = 0; p->writable[i] != NULL; i++)
			ck_assert(p->writable[i][0] == '/' || strncmp(p->writable[i], "~/", 2) == 0);
	}
}
END_TEST

#define CLAUDE "claude", "-p", "--output-format", "stream-json", "--verbose"
#define CLAUDE_READS \
	CLAUDE, "--permission-mode", "dontAsk", "--tools", "Read,Glob,Grep", "--allowedTools", "Read,Glob,Grep", \
    "--strict-mcp-config", "--setting-sources", "user"
#define CODEX "codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"
#define GEMINI(mode) "gemini", "--output-format", "stream-json", "--approval-mode", mode, "--skip-trust", "-p", ""
#define OPENCODE_READS "env", "OPENCODE_DISABLE_PROJECT_CONFIG=1", \
    "OPENCODE_PERMISSION={\"*\":\"deny\",\"read\":\"allow\",\"grep\":\"allow\"," \
    	"\"glob\":\"allow\",\"list\":\"allow\"}", \
    "opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR"
#define COPILOT "copilot", "--output-format", "json", "--allow-all-tools", "--allow-all-paths"
#define COPILOT_ALONE "--no-ask-user", "--no-color", "--no-auto-update"
#define QWEN "qwen", "--output-format", "stream-json", "--approval-mode"
#define QWEN_READS \
	QWEN, "default", "--exclude-tools", "run_shell_command,write_file,edit,notebook_edit," \
	    "enter_worktree,exit_worktree,cron_create,loop_wakeup"
#define PI_READS "pi", "-p", "--mode", "json", "--tools", "read,grep,find,ls", "--no-extensions"

/* As tests/agents/run has seen them work: implementing and fixing, going on with it, reviewing,
 * going on with that. */
static const struct {
	const char *name;
	char *const *fresh, *const *resumed, *const *review, *const *review_resumed;
	enum reader_kind reader;
} programs[] = {
	{ "claude", LIST(CLAUDE, "--dangerously-skip-permissions"),
	  LIST(CLAUDE, "--dangerously-skip-permissions", "--resume", "s1"),
	  LIST(CLAUDE_READS), LIST(CLAUDE_READS, "--resume", "s1"), READER_CLAUDE },
	{ "codex", LIST(CODEX), LIST(CODEX, "resume", "s1", "-"), NULL, NULL, READER_CODEX },
	{ "gemini", LIST(GEMINI("yolo")), LIST(GEMINI("yolo"), "--resume", "s1"),
	  LIST(GEMINI("default")), LIST(GEMINI("default"), "--resume", "s1"), READER_GEMINI },
	{ "opencode", LIST("opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR", "--auto"),
	  LIST("opencode", "run", "--format", "json", "--print-logs", "--log-level", "ERROR",
	  "--auto", "--session", "s1"),
	  LIST(OPENCODE_READS), LIST(OPENCODE_READS, "--session", "s1"), READER_OPENCODE },
	{ "copilot", LIST(COPILOT, COPILOT_ALONE), LIST(COPILOT, COPILOT_ALONE, "--resume=s1"),
	  LIST(COPILOT, "--available-tools=view,grep,glob", COPILOT_ALONE),
	  LIST(COPILOT, "--available-tools=view,grep,glob", COPILOT_ALONE, "--resume=s1"), READER_COPILOT },
	{ "qwen", LIST(QWEN, "yolo"), LIST(QWEN, "yolo", "--resume", "s1"), LIST(QWEN_READS),
	    LIST(QWEN_READS, "--resume", "s1"), READER_QWEN },
	{ "pi", LIST("pi", "-p", "--mode", "json"), LIST("pi", "-p", "--mode", "json", "--session", "s1"),
	  LIST(PI_READS), LIST(PI_READS, "--session", "s1"), READER_PI },
};

static void expect_command(const struct agent_preset *preset, const char *const *command,
    char *const *fresh, char *const *resumed)
{
	struct agent_plan plan = { .prompt = PROMPT_STDIN };
	char **argv;

	plan.command = strings_copy((char *const *)(uintptr_t)command);
	plan.resume = strings_copy((char *const *)(uintptr_t)preset->resume);
	expect_argv(agent_argv(&plan, "-x", NULL, NULL), fresh);
	expect_argv(agent_argv(&plan, "-x", NULL, "s1"), resumed);
	plan.model = (char *)"big";
	argv = agent_argv(&plan, "-x", NULL, NULL);
	ck_assert(strings_contain(argv, "--model") && strings_contain(argv, "big"));
	ck_assert_uint_eq(strings_count(argv), strings_count(fresh) + 2);
	strings_free(argv);
	strings_free(plan.resume);
	strings_free(plan.command);
}

START_TEST(presets_of_programs)
{
	const struct agent_preset *preset = agent_preset_find(programs[_i].name);

	ck_assert_ptr_nonnull(preset);
	ck_assert_int_eq(preset->prompt, PROMPT_STDIN);
	ck_assert_int_eq(preset->reader, programs[_i].reader);
	expect_command(preset, preset->command, programs[_i].fresh, programs[_i].resumed);
	if (programs[_i].review == NULL)
		ck_assert_ptr_null(preset->review[0]);
	else
		expect_command(preset, preset->review, programs[_i].review, programs[_i].review_resumed);
}
END_TEST

/* A provider's key that reaches it is a login, whichever it is. */
START_TEST(each_key_is_a_login)
{
	static const char ending[] = "_API_KEY";
	const struct agent_preset *pi = agent_preset_find("pi");

	for (size_t i = 0; pi->env[i] != NULL; i++) {
		size_t n = strlen(pi->env[i]);

		if (n > strlen(ending) && strcmp(pi->env[i] + n - strlen(ending), ending) == 0)
			ck_assert_msg(strings_contain((char *const *)(uintptr_t)pi->login, pi->env[i]),
			    "%s", pi->env[i]);
	}
}
END_TEST

START_TEST(environment)
{
	static const char *const never[] = { "CLAUDECODE", "NOTIFY_SOCKET", "LD_PRELOAD",
	    "ANTHROPIC_API_KEY", "RL_RUN" };

	for (size_t i = 0; agent_environment[i] != NULL; i++) {
		for (size_t n = 0; n < sizeof(never) / sizeof(never[0]); n++)
			ck_assert_str_ne(agent_environment[i], never[n]);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(agent_environment[i], agent_environment[k]);
	}
}
END_TEST

/* readers */

static struct agent_result read_in_parts(enum reader_kind kind, const char *data, size_t size, size_t part)
{
	struct reader *r = reader_new(kind);
	struct agent_result result;

	for (size_t i = 0; i < size; i += part) {
		size_t n = size - i < part ? size - i : part;
		char *exact = malloc(n);

		memcpy(exact, data + i, n);
		reader_feed(r, exact, n);
		free(exact);
	}
	reader_end(r, &result);
	return result;
}

static struct agent_result read_claude(const char *text)
{
	return read_in_parts(READER_CLAUDE, text, strlen(text), strlen(text) + 1);
}

START_TEST(reader_rows)
{
	ck_assert_str_eq(reader_text.name, state_name(&reader_names, READER_TEXT));
	ck_assert_str_eq(reader_claude.name, state_name(&reader_names, READER_CLAUDE));
}
END_TEST

START_TEST(text_whole)
{
	static const char data[] = "one\0two\xff\n";

	for (size_t part = 1; part <= sizeof(data); part++) {
		struct agent_result r = read_in_parts(READER_TEXT, data, sizeof(data) - 1, part);

		ck_assert_uint_eq(r.size, sizeof(data) - 1);
		ck_assert_mem_eq(r.text, data, r.size);
		ck_assert(!r.truncated && !r.is_error);
		ck_assert_int_eq(r.provider, PROVIDER_OK);
		ck_assert_int_eq(r.tokens_input, ROW_NONE);
		ck_assert_int_eq(r.tokens_reasoning, ROW_NONE);
		ck_assert(isnan(r.cost_usd));
		ck_assert_ptr_null(r.session);
		agent_result_release(&r);
	}
}
END_TEST

START_TEST(text_empty)
{
	struct agent_result r = read_in_parts(READER_TEXT, "", 0, 1);

	ck_assert_str_eq(r.text, "");
	ck_assert_uint_eq(r.size, 0);
	agent_result_release(&r);
}
END_TEST

/* Each byte tells its place, so a tail that is off by one shows. */
START_TEST(text_tail)
{
	const size_t total = (size_t)5 * AGENT_TEXT_MAX + 12345, part = 1 << 20;
	const size_t kept = AGENT_TEXT_MAX - strlen(AGENT_CUT_LINE);
	struct reader *r = reader_new(READER_TEXT);
	unsigned char *chunk = malloc(part);
	struct agent_result result;

	for (size_t at = 0; at < total; at += part) {
		size_t n = total - at < part ? total - at : part;

		for (size_t i = 0; i < n; i++)
			chunk[i] = (unsigned char)((at + i) % 251);
		reader_feed(r, (char *)chunk, n);
	}
	reader_end(r, &result);
	ck_assert(result.truncated);
	ck_assert_uint_eq(result.size, AGENT_TEXT_MAX);
	ck_assert_int_eq(strncmp(result.text, AGENT_CUT_LINE, strlen(AGENT_CUT_LINE)), 0);
	for (size_t i = 0; i < kept; i++) {
		if ((unsigned char)result.text[strlen(AGENT_CUT_LINE) + i] != (total - kept + i) % 251)
			ck_abort_msg("byte %zu of the tail is wrong", i);
	}
	agent_result_release(&result);
	free(chunk);
}
END_TEST

START_TEST(text_gap)
{
	struct reader *r = reader_new(READER_TEXT);
	struct agent_result result;

	reader_feed(r, "head\nhalf a li", 14);
	reader_gap(r);
	reader_feed(r, "ne\ntail\n", 8);
	reader_end(r, &result);
	ck_assert_str_eq(result.text, AGENT_CUT_LINE "ne\ntail\n");
	ck_assert(result.truncated);
	agent_result_release(&result);
}
END_TEST

#define INIT "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"tools\":[\"Bash\"],\"model\":\"m\"}\n"
#define SAY \
	"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\"," \
	    "\"text\":\"working\"}]},\"session_id\":\"s-1\"}\n"
#define DONE \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"api_error_status\":null,\"num_turns\":2," \
	"\"result\":\"All done.\\n\",\"session_id\":\"s-1\",\"total_cost_usd\":0.0125,\"usage\":{\"input_tokens\":10," \
	"\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":30,\"output_tokens\":40}," \
	    "\"permission_denials\":[]}"
#define RESULT(fields) "{\"type\":\"result\",\"session_id\":\"s-2\"," fields "}\n"
#define FAILED(status, words) \
	RESULT("\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":" status ",\"result\":\"" words "\"")
#define LIMITED(status) \
	"{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"" status "\",\"resetsAt\":1790000000}}\n"
#define RETRY(status) \
	"{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,\"error_status\":" status ",\"error\":\"x\"}\n"

START_TEST(claude_stream)
{
	static const char data[] = INIT SAY DONE "\n";

	for (size_t part = 1; part <= sizeof(data); part += 1 + part / 8) {
		struct agent_result r = read_in_parts(READER_CLAUDE, data, sizeof(data) - 1, part);

		ck_assert_str_eq(r.text, "All done.\n");
		ck_assert_uint_eq(r.size, 10);
		ck_assert(!r.is_error && !r.truncated);
		ck_assert_ptr_null(r.error);
		ck_assert_int_eq(r.provider, PROVIDER_OK);
		ck_assert_int_eq(r.denials, 0);
		ck_assert_str_eq(r.session, "s-1");
		ck_assert_int_eq(r.tokens_input, 10);
		ck_assert_int_eq(r.tokens_cache_write, 20);
		ck_assert_int_eq(r.tokens_cached, 30);
		ck_assert_int_eq(r.tokens_output, 40);
		ck_assert_int_eq(r.tokens_reasoning, ROW_NONE);
		ck_assert_double_eq(r.cost_usd, 0.0125);
		agent_result_release(&r);
	}
}
END_TEST

static const struct {
	const char *name, *data;
	const char *text;
	bool is_error;
	enum provider_result provider;
	int denials;
	const char *error;	/* part of it, NULL: none */
} claude[] = {
	{ "json form", DONE, "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "json form with LF", DONE "\n", "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "json form with CRLF", DONE "\r\n", "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "noise between", "warning: x\n" INIT "\n\n{broken\n[1]\n\"s\"\n" DONE "\nbye\n",
	    "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "the last result counts", FAILED("500", "x") DONE "\n", "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "the last result counts, the other way", DONE "\n" FAILED("500", "API Error: 500"),
	    "API Error: 500", true, PROVIDER_ERROR, 0, "API Error: 500" },
	{ "unknown types", "{\"type\":\"stream_event\",\"result\":\"no\"}\n{\"type\":7}\n{}\n" DONE
	    "\n", "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "a result inside a message", "{\"type\":\"user\",\"message\":" DONE "}\n", "", true,
	    PROVIDER_OK, 0, "without a result line" },
	{ "nothing", "", "", true, PROVIDER_OK, 0, "without a result line" },
	{ "text instead", "Hello, I am done.\n", "", true, PROVIDER_OK, 0, "--output-format stream-json" },
	{ "cut off", INIT SAY, "", true, PROVIDER_OK, 0, "without a result line" },
	{ "cut off in the result", "{\"type\":\"result\",\"is_error\":false,\"result\":\"All", "",
	    true, PROVIDER_OK, 0, "without a result line" },
	{ "cut off while retrying", INIT RETRY("500") RETRY("401"), "", true, PROVIDER_AUTH, 0,
	    "without a result line" },
	{ "cut off after a retry that helped", INIT RETRY("500") SAY, "", true, PROVIDER_OK, 0,
	    "without a result line" },
	{ "denials", RESULT("\"is_error\":false,\"result\":\"I could "
	  "not.\",\"permission_denials\":[{\"tool_name\":\"Bash\"},{\"tool_name\":\"Write\"}]"),
	  "I could not.", false, PROVIDER_OK, 2, NULL },
	{ "no result key", RESULT("\"subtype\":\"error_during_execution\",\"is_error\":false"), "",
	    true, PROVIDER_OK, 0, "error_during_execution" },
	{ "no result key, errors", RESULT("\"subtype\":\"error_during_execution\",\"is_error\":true,"
	    "\"errors\":[\"aborted by user\"]"), "", true, PROVIDER_OK, 0, "aborted by user" },
	{ "result is no string", RESULT("\"is_error\":false,\"result\":{\"a\":1}"), "", true,
	    PROVIDER_OK, 0, "without a message" },
	{ "is_error missing", RESULT("\"result\":\"ok\""), "ok", true, PROVIDER_OK, 0, "ok" },
	{ "is_error is no boolean", RESULT("\"is_error\":0,\"result\":\"ok\""), "ok", true, PROVIDER_OK, 0, "ok" },
	{ "is_error twice", RESULT("\"is_error\":true,\"is_error\":false,\"result\":\"ok\""), "",
	    true, PROVIDER_OK, 0, "without a result line" },
	{ "success that is an error", FAILED("null", "Something broke"), "Something broke", true,
	    PROVIDER_OK, 0, "Something broke" },
	{ "turns", RESULT("\"subtype\":\"error_max_turns\",\"is_error\":true"), "", true,
	    PROVIDER_OK, 0, "error_max_turns" },
	{ "401", FAILED("401", "Invalid API key"), "Invalid API key", true, PROVIDER_AUTH, 0, "Invalid API key" },
	{ "403", FAILED("403", "Forbidden"), "Forbidden", true, PROVIDER_AUTH, 0, "Forbidden" },
	{ "404", FAILED("404", "model"), "model", true, PROVIDER_ERROR, 0, "model" },
	{ "413", FAILED("413", "Prompt is too long"), "Prompt is too long", true, PROVIDER_ERROR, 0, "too long" },
	{ "500", FAILED("500", "API Error: 500"), "API Error: 500", true, PROVIDER_ERROR, 0, "500" },
	{ "529", FAILED("529", "Overloaded"), "Overloaded", true, PROVIDER_ERROR, 0, "Overloaded" },
	{ "429", FAILED("429", "API Error: Request rejected (429)"),
	    "API Error: Request rejected (429)", true, PROVIDER_THROTTLED, 0, "rejected" },
	{ "429 by limit", FAILED("429", "You've hit your session limit · resets 10:52pm (UTC)"),
	    "You've hit your session limit · resets 10:52pm (UTC)", true, PROVIDER_LIMIT, 0, "limit" },
	{ "429 with the event", LIMITED("rejected") FAILED("429", "x"), "x", true, PROVIDER_LIMIT, 0, "x" },
	{ "429 with a harmless event", LIMITED("allowed_warning") FAILED("429", "x"), "x", true,
	    PROVIDER_THROTTLED, 0, "x" },
	{ "an event that was taken back", LIMITED("rejected") LIMITED("allowed") FAILED("429", "x"),
	    "x", true, PROVIDER_THROTTLED, 0, "x" },
	{ "the event and no failure", LIMITED("rejected") DONE "\n", "All done.\n", false, PROVIDER_OK, 0, NULL },
	{ "the event and no result", LIMITED("rejected"), "", true, PROVIDER_LIMIT, 0, "without a result line" },
	{ "blocking limit",
	    RESULT("\"is_error\":true,\"result\":\"x\",\"terminal_reason\":\"blocking_limit\""),
	    "x", true, PROVIDER_LIMIT, 0, "x" },
	{ "not logged in", FAILED("null", "Not logged in · Please run /login"),
	    "Not logged in · Please run /login", true, PROVIDER_AUTH, 0, "login" },
	{ "words of a limit in good work",
	    RESULT("\"is_error\":false,\"result\":\"usage limit reached is now handled\""),
	    "usage limit reached is now handled", false, PROVIDER_OK, 0, NULL },
	{ "negative and odd figures", RESULT("\"is_error\":false,\"result\":\"x\",\"total_cost_usd\":-1,"
	    "\"usage\":{\"input_tokens\":-5,\"output_tokens\":\"7\"}"), "x", false, PROVIDER_OK, 0, NULL },
	{ "deep line", "{\"type\":\"user\","
	    "\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}\n"
	    DONE "\n", "All done.\n", false, PROVIDER_OK, 0, NULL },
};

START_TEST(claude_table)
{
	struct agent_result r = read_claude(claude[_i].data);
	const char *name = claude[_i].name;

	ck_assert_msg(strcmp(r.text, claude[_i].text) == 0, "%s: text \"%s\"", name, r.text);
	ck_assert_msg(r.is_error == claude[_i].is_error, "%s: is_error %d", name, r.is_error);
	ck_assert_msg(r.provider == claude[_i].provider, "%s: provider %d", name, r.provider);
	ck_assert_msg(r.denials == claude[_i].denials, "%s: %d denials", name, r.denials);
	ck_assert_msg((r.error == NULL) == (claude[_i].error == NULL), "%s: error %s", name, r.error);
	if (r.error != NULL)
		ck_assert_msg(strstr(r.error, claude[_i].error) != NULL, "%s: error \"%s\"", name, r.error);
	agent_result_release(&r);
}
END_TEST

START_TEST(claude_nul)
{
	static const char data[] = "{\"type\":\"result\",\"is_error\":false,\"n\":1\0,\"result\":\"x\"}\n";
	struct agent_result r = read_in_parts(READER_CLAUDE, data, sizeof(data) - 1, 7);

	ck_assert(r.is_error);
	ck_assert(isnan(r.cost_usd));
	agent_result_release(&r);
}
END_TEST

static void feed_long_line(struct reader *r, size_t size)
{
	static const char head[] = "{\"type\":\"result\",\"is_error\":false,\"result\":\"", tail[] = "\"}\n";
	size_t fill = size - (sizeof(head) - 1) - (sizeof(tail) - 2);
	char *data = malloc(size + 1);

	memcpy(data, head, sizeof(head) - 1);
	memset(data + sizeof(head) - 1, 'x', fill);
	memcpy(data + sizeof(head) - 1 + fill, tail, sizeof(tail) - 1);
	for (size_t i = 0; i < size + 1; i += 65536)
		reader_feed(r, data + i, size + 1 - i < 65536 ? size + 1 - i : 65536);
	free(data);
}

START_TEST(claude_long_lines)
{
	struct reader *r = reader_new(READER_CLAUDE);
	struct agent_result result;

	feed_long_line(r, READER_LINE_MAX);
	reader_end(r, &result);
	ck_assert(!result.is_error);
	ck_assert_uint_gt(result.size, READER_LINE_MAX - 100);
	agent_result_release(&result);

	r = reader_new(READER_CLAUDE);
	feed_long_line(r, READER_LINE_MAX + 1);
	reader_end(r, &result);
	ck_assert_msg(result.is_error, "a line of more than 8 MiB is passed over");
	agent_result_release(&result);

	r = reader_new(READER_CLAUDE);
	feed_long_line(r, 3 * READER_LINE_MAX);
	reader_feed(r, DONE "\n", sizeof(DONE));
	reader_end(r, &result);
	ck_assert_str_eq(result.text, "All done.\n");
	ck_assert(!result.is_error);
	agent_result_release(&result);
}
END_TEST

/* What JSON.stringify() writes and a strict parser refuses is still an answer that was paid for. */
START_TEST(claude_lenient)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "a\\ud800b", "a\xef\xbf\xbd" "b" },
		{ "a\\udc00", "a\xef\xbf\xbd" },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
		{ "\\ud800\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
		{ "a\\u0000b", "a\xef\xbf\xbd" "b" },
		{ "a\xff" "b\xc3\xa9", "a\xef\xbf\xbd" "b\xc3\xa9" },
		{ "\\\\ud800", "\\ud800" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reader *r = reader_new(READER_CLAUDE);
		struct agent_result result;
		char *line = xasprintf("{\"type\":\"result\",\"subtype\":\"success\","
		    "\"is_error\":false,\"result\":\"%s\"}\n", rows[i].in);

		reader_feed(r, line, strlen(line));
		reader_end(r, &result);
		ck_assert_msg(!result.is_error, "%s", rows[i].in);
		ck_assert_str_eq(result.text, rows[i].out);
		agent_result_release(&result);
		free(line);
	}
}
END_TEST

START_TEST(claude_deep)
{
	struct reader *r = reader_new(READER_CLAUDE);
	struct agent_result result;
	struct buf b = { 0 };

	buf_adds(&b, "{\"type\":\"result\",\"is_error\":false,\"result\":\"fine\","
	    "\"permission_denials\":[{\"tool_input\":");
	for (int i = 0; i < 100; i++)
		buf_adds(&b, "[");
	for (int i = 0; i < 30000; i++)
		buf_adds(&b, i == 0 ? "1" : ",1");
	for (int i = 0; i < 100; i++)
		buf_adds(&b, "]");
	buf_adds(&b, "}]}\n");
	reader_feed(r, b.data, b.size);
	reader_end(r, &result);
	ck_assert(!result.is_error && !result.incomplete);
	ck_assert_str_eq(result.text, "fine");
	ck_assert_int_eq(result.denials, 1);
	agent_result_release(&result);
	buf_release(&b);
}
END_TEST

START_TEST(claude_gap)
{
	struct reader *r = reader_new(READER_CLAUDE);
	struct agent_result result;

	/* the two halves of a line would be a result */
	reader_feed(r, INIT, sizeof(INIT) - 1);
	reader_feed(r, DONE, 50);
	reader_gap(r);
	reader_feed(r, &DONE[50], sizeof(DONE) - 51);
	reader_feed(r, "\n", 1);
	reader_end(r, &result);
	ck_assert(result.is_error);
	ck_assert_str_eq(result.session, "s-1");
	agent_result_release(&result);

	r = reader_new(READER_CLAUDE);
	reader_feed(r, INIT, sizeof(INIT) - 1);
	reader_gap(r);
	reader_feed(r, "of a line\n" DONE "\n", sizeof(DONE) + 10);
	reader_end(r, &result);
	ck_assert(!result.is_error && !result.truncated);
	ck_assert_str_eq(result.text, "All done.\n");
	agent_result_release(&result);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent");
	TCase *tcase = tcase_create("agent");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, argv_template);
	tcase_add_test(tcase, argv_prompt_as_argument);
	tcase_add_test(tcase, argv_values_are_not_scanned_again);
	tcase_add_test(tcase, argv_program_stays);
	tcase_add_test(tcase, argv_resume);
	tcase_add_test(tcase, presets);
	tcase_add_loop_test(tcase, presets_of_programs, 0, sizeof(programs) / sizeof(programs[0]));
	tcase_add_test(tcase, each_key_is_a_login);
	tcase_add_test(tcase, environment);
	tcase_add_test(tcase, reader_rows);
	tcase_add_test(tcase, text_whole);
	tcase_add_test(tcase, text_empty);
	tcase_add_test(tcase, text_tail);
	tcase_add_test(tcase, text_gap);
	tcase_add_test(tcase, claude_stream);
	tcase_add_loop_test(tcase, claude_table, 0, sizeof(claude) / sizeof(claude[0]));
	tcase_add_test(tcase, claude_nul);
	tcase_add_test(tcase, claude_long_lines);
	tcase_add_test(tcase, claude_gap);
	tcase_add_test(tcase, claude_lenient);
	tcase_add_test(tcase, claude_deep);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
