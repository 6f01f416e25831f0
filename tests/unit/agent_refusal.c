/* SPDX-License-Identifier: MIT */
/* What a failure says about the service: of every transcript of one, of exit codes, of the last
 * words on stderr. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/refusal.h"
#include "agent/reader.h"
#include "base/file.h"
#include "proto/memory.h"
#include "base/zone.h"
#include "core/row.h"

#define DATA "tests/data/agents/"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NONE ROW_NONE

/* 2026-11-22T20:00:00Z */
#define NOW INT64_C(1795377600000)
#define IN(seconds) (NOW + (seconds) * INT64_C(1000))
#define EPOCH (1795395600 - NOW / 1000)		/* of the transcripts: five hours later */

static struct agent_result complete(struct agent_result result, enum reader_kind kind, int64_t code,
    const char *last_words)
{
	struct agent_ending ending = { kind, code, last_words, NOW, "America/New_York" };
	char *doubt = agent_result_complete(&result, &ending);

	ck_assert_ptr_null(doubt);
	return result;
}

static struct agent_result read_text(enum reader_kind kind, const char *text, int64_t code, const char *last_words)
{
	struct reader *r = reader_new(kind);
	struct agent_result result;

	reader_feed(r, text, strlen(text));
	reader_end(r, &result);
	return complete(result, kind, code, last_words);
}

/* passes: by itself. after: s from now until it serves again; NONE: it does not say. */
static const struct {
	enum reader_kind kind;
	const char *name;
	int64_t code;
	enum provider_result provider;
	bool passes;
	int64_t after;
} files[] = {
	/* its epoch is over by now */
	{ READER_CLAUDE, "claude/limit", 1, PROVIDER_LIMIT, false, 2 * 3600 + 52 * 60 },
	{ READER_CLAUDE, "claude/limit-blocked", 1, PROVIDER_LIMIT, false, EPOCH },
	/* 9:00 in Berlin */
	{ READER_CLAUDE, "claude/limit-text", 1, PROVIDER_LIMIT, false, 12 * 3600 },
	{ READER_CLAUDE, "claude/limit-old", 0, PROVIDER_LIMIT, false, EPOCH },
	/* the event, not the text */
	{ READER_CLAUDE, "claude/limit-cut", NONE, PROVIDER_LIMIT, false, EPOCH },
	{ READER_CLAUDE, "claude/limit-passed", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CLAUDE, "claude/throttled", 1, PROVIDER_THROTTLED, false, 20 },
	{ READER_CLAUDE, "claude/overloaded", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CLAUDE, "claude/timed-out", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CLAUDE, "claude/too-long", 1, PROVIDER_ERROR, false, NONE },
	{ READER_CLAUDE, "claude/login", 1, PROVIDER_AUTH, false, NONE },
	{ READER_CLAUDE, "claude/quoted", 0, PROVIDER_OK, false, NONE },
	{ READER_CLAUDE, "claude/quoted-500", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CLAUDE, "claude/warned", 0, PROVIDER_OK, false, NONE },
	{ READER_CLAUDE, "claude/success-with-is_error", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CLAUDE, "claude/overage", 1, PROVIDER_OK, false, NONE },
	/* midnight of December */
	{ READER_CLAUDE, "claude/limit-spent", 1, PROVIDER_LIMIT, false, 8 * 86400 + 4 * 3600 },
	{ READER_CLAUDE, "claude/interrupted", 1, PROVIDER_OK, false, NONE },
	{ READER_CODEX, "codex/401", 1, PROVIDER_AUTH, false, NONE },
	{ READER_CODEX, "codex/429", 1, PROVIDER_THROTTLED, false, NONE },
	{ READER_CODEX, "codex/500", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CODEX, "codex/cut", 1, PROVIDER_ERROR, true, NONE },
	/* 8:25 where the agent is */
	{ READER_CODEX, "codex/limit", 1, PROVIDER_LIMIT, false, 17 * 3600 + 25 * 60 },
	{ READER_CODEX, "codex/limit-date", 1, PROVIDER_LIMIT, false, 55 * 3600 + 180 },
	{ READER_CODEX, "codex/limit-days", 1, PROVIDER_LIMIT, false, 76 * 3600 },
	{ READER_CODEX, "codex/limit-later", 1, PROVIDER_LIMIT, false, NONE },
	{ READER_CODEX, "codex/limit-raw", 1, PROVIDER_LIMIT, false, EPOCH },
	{ READER_CODEX, "codex/limit-credits", 1, PROVIDER_LIMIT, false, NONE },
	{ READER_CODEX, "codex/capacity", 1, PROVIDER_ERROR, true, NONE },
	{ READER_CODEX, "codex/too-long", 1, PROVIDER_ERROR, false, NONE },
	{ READER_CODEX, "codex/quoted", 0, PROVIDER_OK, false, NONE },
	{ READER_CODEX, "codex/killed", NONE, PROVIDER_AUTH, false, NONE },
	{ READER_GEMINI, "gemini/401", 145, PROVIDER_AUTH, false, NONE },
	{ READER_GEMINI, "gemini/404", 1, PROVIDER_ERROR, false, NONE },
	{ READER_GEMINI, "gemini/429", 173, PROVIDER_THROTTLED, false, 59 },
	{ READER_GEMINI, "gemini/503", 247, PROVIDER_ERROR, true, NONE },
	{ READER_GEMINI, "gemini/turns", 53, PROVIDER_OK, false, NONE },
	{ READER_GEMINI, "gemini/loop", 0, PROVIDER_OK, false, NONE },
	{ READER_GEMINI, "gemini/blocked", 0, PROVIDER_OK, false, NONE },
	{ READER_GEMINI, "gemini/quota", 1, PROVIDER_LIMIT, false, 8 * 3600 + 44 * 60 + 7 },
	{ READER_GEMINI, "gemini/json-error", 41, PROVIDER_AUTH, false, NONE },
	{ READER_OPENCODE, "opencode/401", 1, PROVIDER_AUTH, false, NONE },
	{ READER_OPENCODE, "opencode/limit", 1, PROVIDER_LIMIT, false, 7200 },
	{ READER_OPENCODE, "opencode/429", 1, PROVIDER_THROTTLED, false, 2 },
	{ READER_OPENCODE, "opencode/502", 1, PROVIDER_ERROR, true, NONE },
	{ READER_OPENCODE, "opencode/cut", 1, PROVIDER_ERROR, true, NONE },
	{ READER_OPENCODE, "opencode/413", 1, PROVIDER_ERROR, false, NONE },
	{ READER_COPILOT, "copilot/401", 1, PROVIDER_AUTH, false, NONE },
	{ READER_COPILOT, "copilot/429", 1, PROVIDER_THROTTLED, false, NONE },
	{ READER_COPILOT, "copilot/limit", 1, PROVIDER_LIMIT, false, NONE },
	{ READER_COPILOT, "copilot/cut", 1, PROVIDER_ERROR, true, NONE },
	{ READER_COPILOT, "copilot/cut-stream", 1, PROVIDER_ERROR, true, NONE },
	{ READER_COPILOT, "copilot/quota", 1, PROVIDER_LIMIT, false, NONE },
	{ READER_COPILOT, "copilot/quota-code", 1, PROVIDER_LIMIT, false, NONE },
	{ READER_COPILOT, "copilot/hours", 1, PROVIDER_LIMIT, false, 7200 },
	{ READER_QWEN, "qwen/401", 0, PROVIDER_AUTH, false, NONE },
	{ READER_QWEN, "qwen/404", 0, PROVIDER_ERROR, false, NONE },
	{ READER_QWEN, "qwen/500", 0, PROVIDER_ERROR, true, NONE },
	{ READER_QWEN, "qwen/cut", 0, PROVIDER_ERROR, true, NONE },
	{ READER_QWEN, "qwen/partial", 0, PROVIDER_ERROR, true, NONE },
	{ READER_QWEN, "qwen/throttled", 0, PROVIDER_THROTTLED, false, NONE },
	{ READER_QWEN, "qwen/daily", 0, PROVIDER_LIMIT, false, NONE },
	{ READER_QWEN, "qwen/discontinued", 0, PROVIDER_AUTH, false, NONE },
	{ READER_QWEN, "qwen/limit", 0, PROVIDER_LIMIT, false, 2700 },
	{ READER_PI, "pi/401", 0, PROVIDER_AUTH, false, NONE },
	{ READER_PI, "pi/429", 0, PROVIDER_THROTTLED, false, NONE },
	{ READER_PI, "pi/500", 0, PROVIDER_ERROR, true, NONE },
	{ READER_PI, "pi/limit", 0, PROVIDER_LIMIT, false, NONE },
	{ READER_PI, "pi/cut", 0, PROVIDER_ERROR, true, NONE },
	{ READER_PI, "pi/terminated", 0, PROVIDER_ERROR, true, NONE },
	{ READER_PI, "pi/limit-minutes", 0, PROVIDER_LIMIT, false, 97 * 60 },
};

static void expect(const char *name, const struct agent_result *r, enum provider_result provider,
    bool passes, int64_t after)
{
	int64_t at = after == NONE ? NONE : IN(after);

	ck_assert_msg(r->provider == provider && r->transient == passes,
	    "%s: provider %d, transient %d", name, r->provider, r->transient);
	/* a fraction of a second is none of the table's business */
	ck_assert_msg(at == NONE ? r->reset_at == NONE : r->reset_at >= at && r->reset_at < at + 1000,
	    "%s: %lld s", name, (long long)(r->reset_at - NOW) / 1000);
}

START_TEST(transcripts)
{
	char *path = xasprintf(DATA "%s.jsonl", files[_i].name), *data = NULL;
	struct agent_result r;
	size_t size;

	ck_assert_msg(file_read(AT_FDCWD, path, 1024 * 1024, &data, &size) == 0, "%s", path);
	r = read_text(files[_i].kind, data, files[_i].code, "a line on stderr that says nothing");
	expect(files[_i].name, &r, files[_i].provider, files[_i].passes, files[_i].after);
	ck_assert(r.provider == PROVIDER_OK || r.notice != NULL || r.incomplete);
	agent_result_release(&r);
	free(data);
	free(path);
}
END_TEST

/* An epoch counts before the text beside it. */
START_TEST(epoch_before_text)
{
	struct agent_result r = read_text(READER_CLAUDE,
	    "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\",\"resetsAt\":1795384800}}\n"
	    "{\"type\":\"result\",\"is_error\":true,\"api_error_status\":429,\"result\":\"You've "
	    "hit your session limit \xc2\xb7 resets 10:52pm (UTC)\"}\n", 1, NULL);

	expect("epoch", &r, PROVIDER_LIMIT, false, 7200);
	agent_result_release(&r);
	/* one that is over gives way to it */
	r = read_text(READER_CLAUDE,
	    "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\",\"resetsAt\":1700000000}}\n"
	    "{\"type\":\"result\",\"is_error\":true,\"api_error_status\":429,\"result\":\"You've "
	    "hit your session limit \xc2\xb7 resets 10:52pm (UTC)\"}\n", 1, NULL);
	expect("text", &r, PROVIDER_LIMIT, false, 2 * 3600 + 52 * 60);
	agent_result_release(&r);
}
END_TEST

/* Statuses of events: only what was refused counts, an unknown one is noise. */
START_TEST(rate_limit_statuses)
{
	static const struct {
		const char *status;
		enum provider_result provider;
	} statuses[] = {
		{ "rejected", PROVIDER_LIMIT }, { "denied", PROVIDER_LIMIT }, { "allowed", PROVIDER_OK },
		{ "allowed_warning", PROVIDER_OK }, { "exempt", PROVIDER_OK },
	};

	for (size_t i = 0; i < COUNT(statuses); i++) {
		char *text = xasprintf("{\"type\":\"rate_limit_event\","
		    "\"rate_limit_info\":{\"status\":\"%s\",\"resetsAt\":1795384800}}\n"
		    "{\"type\":\"result\",\"is_error\":true,\"result\":\"It broke.\"}\n", statuses[i].status);
		struct agent_result r = read_text(READER_CLAUDE, text, 1, NULL);

		expect(statuses[i].status, &r, statuses[i].provider, false,
		    statuses[i].provider == PROVIDER_LIMIT ? 7200 : NONE);
		agent_result_release(&r);
		free(text);
	}
}
END_TEST

/* A request that was served after a refusal takes it back, whatever fails later. */
START_TEST(served_after_all)
{
	struct agent_result r = read_text(READER_CLAUDE,
	    "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\","
	    "\"resetsAt\":1795384800,\"isUsingOverage\":true}}\n"
	    "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"I look first.\"}]}}\n"
	    "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true}\n", 1, NULL);

	expect("served", &r, PROVIDER_OK, false, NONE);
	agent_result_release(&r);
}
END_TEST

/* gemini ends with its service's status mod 256, and in JSON mode with an empty stdout. */
START_TEST(trap_exit_codes_that_are_http_mod_256)
{
	static const struct {
		int64_t code;
		enum provider_result provider;
		bool passes;
	} codes[] = {
		{ 145, PROVIDER_AUTH, false }, { 147, PROVIDER_AUTH, false },
		{ 157, PROVIDER_ERROR, false }, { 148, PROVIDER_ERROR, false },
		{ 144, PROVIDER_ERROR, false }, { 173, PROVIDER_THROTTLED, false },
		{ 244, PROVIDER_ERROR, true }, { 247, PROVIDER_ERROR, true },
		{ 41, PROVIDER_AUTH, false }, { 1, PROVIDER_OK, false }, { 42, PROVIDER_OK, false },
		{ 53, PROVIDER_OK, false },
		{ 130, PROVIDER_OK, false }, { 137, PROVIDER_OK, false },
		{ 143, PROVIDER_OK, false }, { NONE, PROVIDER_OK, false }, { 0, PROVIDER_OK, false },
	};

	for (size_t i = 0; i < COUNT(codes); i++) {
		struct agent_result r = read_text(READER_GEMINI, "", codes[i].code,
		    "    at async main (file:///x.js:1:2)");

		ck_assert_msg(r.provider == codes[i].provider && r.transient == codes[i].passes,
		    "%lld: %d", (long long)codes[i].code, r.provider);
		agent_result_release(&r);
		r = read_text(READER_CODEX, "", codes[i].code, NULL);
		ck_assert_int_eq(r.provider, PROVIDER_OK);
		agent_result_release(&r);
	}
	/* what the events say counts first, and a success stays one */
	struct agent_result r = read_text(READER_GEMINI,
	    "{\"type\":\"result\",\"status\":\"error\",\"error\":{\"message\":\"[API Error: "
	    "You have exhausted your capacity on this model.]\"}}", 145, NULL);
	ck_assert_int_eq(r.provider, PROVIDER_LIMIT);
	agent_result_release(&r);
	r = read_text(READER_GEMINI, "{\"type\":\"result\",\"status\":\"success\"}", 145, NULL);
	ck_assert(!r.is_error && r.provider == PROVIDER_OK);
	agent_result_release(&r);
}
END_TEST

/* The last line of stderr: where the output says nothing, and the program failed. */
START_TEST(last_words)
{
	static const struct {
		enum reader_kind kind;
		const char *output;
		int64_t code;
		const char *words;
		enum provider_result provider;
		bool passes;
		int64_t after;
	} cases[] = {
		{ READER_COPILOT, "", 1, "Error: No authentication information found.", PROVIDER_AUTH, false, NONE },
		{ READER_TEXT, "", 1,
		    "ERROR: You\xe2\x80\x99ve hit your usage limit. Try again in 45 minutes.",
		    PROVIDER_LIMIT, false, 2700 },
		{ READER_TEXT, "You've hit your usage limit", 0, NULL, PROVIDER_OK, false, NONE },
		{ READER_TEXT, "You've hit your usage limit", 1, "make: *** [all] Error 2", PROVIDER_OK, false, NONE },
		{ READER_TEXT, "", 1, "error: 502 Bad Gateway", PROVIDER_OK, false, NONE },
		{ READER_TEXT, "", NONE, "You've hit your usage limit", PROVIDER_OK, false, NONE },
		{ READER_CODEX, "", 1, "stream disconnected before completion", PROVIDER_ERROR, true, NONE },
		{ READER_CLAUDE, "", 1, "No conversation found with session ID: 1", PROVIDER_OK, false, NONE },
		/* it says how it went: what else stands on stderr may be of a tool */
		{ READER_CLAUDE, "{\"type\":\"result\",\"is_error\":true,\"result\":\"I give up.\"}",
		    1, "You've hit your usage limit", PROVIDER_OK, false, NONE },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct agent_result r = read_text(cases[i].kind, cases[i].output, cases[i].code, cases[i].words);

		expect(cases[i].words != NULL ? cases[i].words : cases[i].output, &r,
		    cases[i].provider, cases[i].passes, cases[i].after);
		agent_result_release(&r);
	}
}
END_TEST

/* Advice that follows it does not hide what lacks; what an unknown program prints may
 * be of its tools. */
START_TEST(last_line)
{
	static const struct {
		enum reader_kind kind;
		const char *text, *words;
	} cases[] = {
		{ READER_PI, "No API key found for the selected model.\n\n"
		    "Use /login to log into a provider via OAuth or API key. See:\n"
		    "  /lib/pi/docs/providers.md\n  /lib/pi/docs/models.md\n",
		    "No API key found for the selected model." },
		{ READER_COPILOT, "Error: No authentication information found.\n\n"
		    "To authenticate, you can use any of the following methods:\n"
		    "  * Start 'copilot' and run the '/login' command\n"
		    "  * Run 'gh auth login' to authenticate with the GitHub CLI\n",
		  "Error: No authentication information found." },
		{ READER_CODEX, "No API key found\nNot logged in\n \n", "Not logged in" },
		{ READER_CODEX, "the tracker answered with status 401\nno such thread\r\n\n", "no such thread" },
		{ READER_CODEX, "You've hit your usage limit.\nno such thread", "no such thread" },
		{ READER_TEXT, "No API key found\nmake: *** [all] Error 2\n", "make: *** [all] Error 2" },
		{ READER_PI, "one", "one" },
		{ READER_PI, "\n \n", NULL },
		{ READER_PI, "", NULL },
	};
	char *words, longer[1000];

	for (size_t i = 0; i < COUNT(cases); i++) {
		words = agent_last_words(cases[i].kind, cases[i].text, strlen(cases[i].text));
		if (cases[i].words == NULL)
			ck_assert_ptr_null(words);
		else
			ck_assert_str_eq(words, cases[i].words);
		free(words);
	}
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 'y';
	words = agent_last_words(READER_PI, longer, sizeof(longer));
	ck_assert_uint_eq(strlen(words), 300);
	ck_assert(words[299] == 'y');
	free(words);
}
END_TEST

/* Of a zone that nobody knows somebody is told. */
START_TEST(doubt)
{
	static const char text[] = "{\"type\":\"result\",\"is_error\":true,\"result\":\"You've hit "
	    "your session limit \xc2\xb7 resets 10:52pm (Mars/Olympus)\"}\n";
	struct agent_ending ending = { READER_CLAUDE, 1, NULL, NOW, "UTC" };
	struct reader *r = reader_new(READER_CLAUDE);
	struct agent_result result;
	char *said;

	reader_feed(r, text, sizeof(text) - 1);
	reader_end(r, &result);
	said = agent_result_complete(&result, &ending);
	ck_assert_ptr_nonnull(said);
	ck_assert_ptr_nonnull(strstr(said, "Mars/Olympus"));
	ck_assert_int_eq(result.reset_at, IN(2 * 3600 + 52 * 60));
	free(said);
	agent_result_release(&result);
}
END_TEST

static const struct {
	int64_t status;
	const char *words;
	enum provider_result otherwise, provider;
	bool passes;
} words[] = {
	{ 0, NULL, PROVIDER_OK, PROVIDER_OK, false },
	{ 0, NULL, PROVIDER_ERROR, PROVIDER_ERROR, false },
	{ 400, "timeout", PROVIDER_ERROR, PROVIDER_ERROR, false },
	{ 400, "Your credit balance is too low to access the API", PROVIDER_ERROR, PROVIDER_LIMIT, false },
	{ 400, "rate_limit", PROVIDER_ERROR, PROVIDER_ERROR, false },
	{ 404, "overloaded", PROVIDER_ERROR, PROVIDER_ERROR, false },
	{ 413, "request timed out", PROVIDER_ERROR, PROVIDER_ERROR, false },
	{ 408, "", PROVIDER_ERROR, PROVIDER_ERROR, true },
	{ 500, "quota exceeded", PROVIDER_ERROR, PROVIDER_ERROR, true },
	{ 501, "", PROVIDER_ERROR, PROVIDER_ERROR, false },
	{ 503, "", PROVIDER_OK, PROVIDER_ERROR, true },
	{ 529, "", PROVIDER_OK, PROVIDER_ERROR, true },
	{ 600, "", PROVIDER_OK, PROVIDER_ERROR, false },
	{ 429, "overloaded", PROVIDER_ERROR, PROVIDER_THROTTLED, false },
	{ 429, "quota exceeded", PROVIDER_ERROR, PROVIDER_LIMIT, false },
	{ 0, "API Error: 529 overloaded", PROVIDER_OK, PROVIDER_ERROR, true },
	{ 0, "API Error: Request rejected (429)", PROVIDER_OK, PROVIDER_THROTTLED, false },
	{ 0, "5-hour limit reached \xe2\x88\x99 resets 3pm", PROVIDER_OK, PROVIDER_LIMIT, false },
	{ 0, "API Error: 400 {\"message\":\"You have reached your specified API usage limits.\"}",
	    PROVIDER_OK, PROVIDER_LIMIT, false },
	{ 429, "you (x) have reached your session usage limit, please wait or upgrade",
	    PROVIDER_ERROR, PROVIDER_LIMIT, false },
	{ 0, "Sorry, you've exceeded your weekly rate limit. Error Code: user_weekly_rate_limited",
	    PROVIDER_OK, PROVIDER_LIMIT, false },
	{ 0, "Sorry, you have been rate-limited. Please wait 2 minutes before trying again",
	    PROVIDER_OK, PROVIDER_THROTTLED, false },
	{ 429, "Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-11-25 02:06:16",
	    PROVIDER_ERROR, PROVIDER_LIMIT, false },
	{ 429, "{\"code\":\"1308\",\"message\":\"\xe5\xb7\xb2\xe8\xbe\xbe\xe5\x88\xb0 5 "
	    "\xe5\xb0\x8f\xe6\x97\xb6\xe7\x9a\x84\xe4\xbd\xbf\xe7\x94\xa8\xe4\xb8\x8a\xe9\x99\x90\"}",
	    PROVIDER_ERROR, PROVIDER_LIMIT, false },
	{ 0, "Opus limit reached \xc2\xb7 resets Oct 9", PROVIDER_OK, PROVIDER_LIMIT, false },
	{ 0, "No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`)",
	    PROVIDER_OK, PROVIDER_AUTH, false },
	{ 0, "Missing API key for OpenAI-compatible auth. Set settings.security.auth.apiKey",
	    PROVIDER_OK, PROVIDER_AUTH, false },
	{ 0, "Qwen OAuth free tier was discontinued on 2026-04-15. Run /auth to switch",
	    PROVIDER_OK, PROVIDER_AUTH, false },
	{ 0, "the tests timed out", PROVIDER_OK, PROVIDER_OK, false },
	{ 0, "the tests timed out", PROVIDER_ERROR, PROVIDER_ERROR, true },
	{ 0, "connect ECONNREFUSED 127.0.0.1:1", PROVIDER_OK, PROVIDER_ERROR, true },
	{ 0, "Retried 429 times", PROVIDER_ERROR, PROVIDER_ERROR, false },
};

START_TEST(refusals)
{
	struct refusal is = refusal_of(words[_i].status, words[_i].words, words[_i].otherwise);

	ck_assert_msg(is.provider == words[_i].provider && is.transient == words[_i].passes,
	    "%lld %s: %d %d", (long long)words[_i].status, words[_i].words, is.provider, is.transient);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_refusal");
	TCase *tcase = tcase_create("agent_refusal");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, transcripts, 0, COUNT(files));
	tcase_add_test(tcase, epoch_before_text);
	tcase_add_test(tcase, rate_limit_statuses);
	tcase_add_test(tcase, served_after_all);
	tcase_add_test(tcase, trap_exit_codes_that_are_http_mod_256);
	tcase_add_test(tcase, last_words);
	tcase_add_test(tcase, last_line);
	tcase_add_test(tcase, doubt);
	tcase_add_loop_test(tcase, refusals, 0, COUNT(words));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
