/* SPDX-License-Identifier: MIT */
/* Every transcript of tests/data/agents is read as it should be, however it arrives; and the traps
 * of each program by name. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/reader.h"
#include "base/file.h"
#include "core/row.h"
#include "proto/memory.h"

#define DATA "tests/data/agents/"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NONE ROW_NONE
#define PASS "All done.\n{\"verdict\": \"pass\"}"

static char *load(const char *name, size_t *size)
{
	char *path = xasprintf(DATA "%s.jsonl", name), *data = NULL;

	ck_assert_msg(file_read(AT_FDCWD, path, 1024 * 1024, &data, size) == 0, "%s", path);
	free(path);
	return data;
}

static enum reader_kind kind_of(const char *name)
{
	for (int kind = 0; kind < READER_KINDS; kind++) {
		const char *reader = state_name(&reader_names, kind);

		if (strncmp(name, reader, strlen(reader)) == 0 && name[strlen(reader)] == '/')
			return (enum reader_kind)kind;
	}
	ck_abort_msg("no reader for %s", name);
	return READER_TEXT;
}

static struct agent_result read_data(enum reader_kind kind, const char *data, size_t size, size_t part)
{
	struct reader *r = reader_new(kind);
	struct agent_result result;

	for (size_t i = 0; i < size; i += part)
		reader_feed(r, data + i, size - i < part ? size - i : part);
	reader_end(r, &result);
	return result;
}

static struct agent_result read_file(const char *name)
{
	size_t size;
	char *data = load(name, &size);
	struct agent_result r = read_data(kind_of(name), data, size, size + 1);

	free(data);
	return r;
}

static struct agent_result read_text(enum reader_kind kind, const char *text)
{
	return read_data(kind, text, strlen(text), strlen(text) + 1);
}

/* tokens: input, cached, cache-write, output, reasoning. */
static const struct {
	const char *name, *text, *error;	/* error: its beginning, NULL: none */
	enum provider_result provider;
	int64_t tokens[5];
	double cost;
	int denials, tool_errors;
	bool incomplete;
} files[] = {
	{ "claude/good", PASS, NULL, PROVIDER_OK, { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/recorded-good", "Done as implement.", NULL, PROVIDER_OK,
	    { 1200, 800, 0, 100, NONE }, 0.0089, 0, 0, false },
	{ "claude/recorded-resume", "Done as fix.", NULL, PROVIDER_OK, { 1200, 800, 0, 100, NONE },
	    0.0089, 0, 0, false },
	{ "claude/recorded-review", "I looked at it.\n\n{\"verdict\": \"drift\", "
	  "\"followUpPrompt\": \"Add the line two to work.txt.\"}", NULL, PROVIDER_OK,
	  { 2400, 1600, 0, 200, NONE }, 0.0178, 0, 2, false },
	{ "claude/recorded-limit", "You've hit your limit · resets 10:59am (UTC)",
	    "You've hit your limit", PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/recorded-401", "Failed to authenticate. API Error: 401 Incorrect API key provided",
	    "Failed to authenticate", PROVIDER_AUTH, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/tool-fails", "All done.", NULL, PROVIDER_OK, { 1200, 600, 200, 100, NONE }, 0.0125, 0, 1, false },
	{ "claude/limit", "You've hit your session limit · resets 10:52pm (UTC)",
	    "You've hit your session", PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/success-with-is_error", "API Error: 500 ...", "API Error: 500", PROVIDER_ERROR,
	    { 1200, 600, 200, 100, NONE }, 0, 0, 0, false },
	{ "claude/denied", "I was not allowed to write the file.", NULL, PROVIDER_OK,
	    { 1200, 600, 200, 100, NONE }, 0.0125, 1, 0, false },
	{ "claude/interrupted", "", "Request was aborted.", PROVIDER_OK,
	    { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/warned", "All done.", NULL, PROVIDER_OK, { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/limit-blocked", "You\xe2\x80\x99ve hit your weekly limit",
	    "You\xe2\x80\x99ve hit", PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/limit-text", "You've hit your session limit · resets 9am (Europe/Berlin)",
	    "You've hit", PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/limit-old", "Claude AI usage limit reached|1795395600", "Claude AI usage",
	    PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/limit-cut", "", "the output ends without", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, true },
	{ "claude/limit-passed", "API Error: 502 Bad Gateway", "API Error: 502", PROVIDER_ERROR,
	    { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/throttled", "API Error: Request rejected (429) · Rate limited, retry after 20 seconds",
	    "API Error: Request", PROVIDER_THROTTLED, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/overloaded", "API Error: 529 "
	    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
	    "API Error: 529", PROVIDER_ERROR, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/timed-out", "Request timed out", "Request timed out", PROVIDER_ERROR,
	    { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/too-long", "Prompt is too long", "Prompt is too long", PROVIDER_ERROR,
	    { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/login", "Not logged in · Please run /login", "Not logged in", PROVIDER_AUTH,
	    { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/quoted", "The log says \"You've hit your session limit · resets 9am (Europe/Berlin)\"; "
	    "that is handled now.", NULL, PROVIDER_OK, { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/quoted-500", "API Error: 500 Internal server error", "API Error: 500",
	    PROVIDER_ERROR, { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/structured", "{\"verdict\":\"pass\",\"findings\":[]}", NULL, PROVIDER_OK,
	    { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/structured-text", "{\"verdict\":\"pass\"}", NULL, PROVIDER_OK,
	    { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/overage", "", "Reached maximum number of turns", PROVIDER_OK,
	    { 1200, 600, 200, 100, NONE }, 0.0125, 0, 0, false },
	{ "claude/several", "All done.", NULL, PROVIDER_OK, { 1300, 620, 200, 110, NONE }, 0.02, 0, 0, false },
	{ "claude/limit-spent",
	  "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
	  "\"message\":\"You have reached your specified API usage limits. "
	  "You will regain access on 2026-12-01 at 00:00 UTC.\"}}", "API Error: 400",
	  PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "claude/large-number", "I may not.", NULL, PROVIDER_OK, { 1200, 600, 200, 100, NONE }, 0.0125, 1, 0, false },
	{ "codex/good", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, 40 }, NAN, 0, 0, false },
	{ "codex/flaky", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, 40 }, NAN, 0, 0, false },
	{ "codex/401", "", "unexpected status 401 Unauthorized", PROVIDER_AUTH,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/429", "", "exceeded retry limit, last status: 429", PROVIDER_THROTTLED,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/500", "", "We\xe2\x80\x99re currently experiencing high demand", PROVIDER_ERROR,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/limit", "", "You\xe2\x80\x99ve hit your usage limit.", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/tool-fails", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, 40 }, NAN, 0, 1, false },
	{ "codex/cut", "", "stream disconnected", PROVIDER_ERROR, { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/resume", PASS, NULL, PROVIDER_OK, { 1800, 1200, 0, 150, 60 }, NAN, 0, 0, false },
	{ "codex/declined", "I may not push.", NULL, PROVIDER_OK, { 500, 400, 100, 50, 20 }, NAN, 1, 0, false },
	{ "codex/reconnected", "All done.", NULL, PROVIDER_OK, { 600, 400, NONE, 50, NONE }, NAN, 0, 0, false },
	{ "codex/killed", "I look first.", "the output ends without", PROVIDER_AUTH,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, true },
	{ "codex/limit-date", "", "You\xe2\x80\x99ve hit your usage limit.", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/limit-days", "", "You've hit your usage limit.", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/limit-later", "", "You\xe2\x80\x99ve hit your usage limit.", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/limit-raw", "", "{\"error\":{\"type\":\"usage_limit_reached\"", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/too-long", "", "unexpected status 400", PROVIDER_ERROR,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/quoted", "The log is about a usage limit.", NULL, PROVIDER_OK,
	    { 200, 400, NONE, 50, NONE }, NAN, 0, 0, false },
	{ "codex/capacity", "", "Selected model is at capacity", PROVIDER_ERROR,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "codex/limit-credits", "", "Your workspace is out of credits", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "gemini/good", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 140, 40 }, NAN, 0, 0, false },
	{ "gemini/json", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 140, 40 }, NAN, 0, 0, false },
	{ "gemini/401", "", "[API Error: {\"error\"", PROVIDER_AUTH, { 0, 0, NONE, 0, 0 }, NAN, 0, 0, false },
	{ "gemini/404", "", "[API Error: {\"error\"", PROVIDER_ERROR, { 0, 0, NONE, 0, 0 }, NAN, 0, 0, false },
	{ "gemini/tool-fails", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 140, 40 }, NAN, 0, 0, false },
	{ "gemini/not-offered", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 140, 40 }, NAN, 0, 1, false },
	{ "gemini/resume", PASS, NULL, PROVIDER_OK, { 600, 400, NONE, 70, 20 }, NAN, 0, 0, false },
	{ "gemini/quota", "", "[API Error: You have exhausted your capacity", PROVIDER_LIMIT,
	    { 0, 0, NONE, 0, 0 }, NAN, 0, 0, false },
	{ "gemini/policy", "I may not.", NULL, PROVIDER_OK, { 600, 400, NONE, 70, 20 }, NAN, 1, 0, false },
	{ "gemini/json-error", "", "API key not valid.", PROVIDER_AUTH,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "gemini/429", "", "[API Error: {\"error\"", PROVIDER_THROTTLED, { 0, 0, NONE, 0, 0 }, NAN, 0, 0, false },
	{ "gemini/503", "", "[API Error: {\"error\"", PROVIDER_ERROR, { 0, 0, NONE, 0, 0 }, NAN, 0, 0, false },
	{ "gemini/turns", "", "Reached max session turns", PROVIDER_OK, { 0, 0, NONE, 0, 0 }, NAN, 0, 0, false },
	{ "gemini/loop", "I look", "Loop detected, stopping execution", PROVIDER_OK,
	    { 600, 400, NONE, 70, 20 }, NAN, 0, 0, false },
	{ "gemini/json-loop", "I look", "Loop detected, stopping execution", PROVIDER_OK,
	    { 600, 400, NONE, 70, 20 }, NAN, 0, 0, false },
	{ "gemini/blocked", "I look first.", "The model response was blocked", PROVIDER_OK,
	    { 600, 400, NONE, 70, 20 }, NAN, 0, 0, false },
	{ "gemini/went-on", "All done.", NULL, PROVIDER_OK, { 600, 400, NONE, 70, 20 }, NAN, 0, 0, false },
	{ "opencode/good", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, 40 }, 0, 0, 0, false },
	{ "opencode/401", "", "Incorrect API key provided", PROVIDER_AUTH,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "opencode/denied", "I look first.", "the output ends without", PROVIDER_OK,
	    { 600, 400, 0, 50, 20 }, 0, 1, 0, true },
	{ "opencode/tool-fails", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, 40 }, 0, 0, 1, false },
	{ "opencode/resume", PASS, NULL, PROVIDER_OK, { 600, 400, 0, 50, 20 }, 0, 0, 0, false },
	{ "opencode/recovered", "First part.\n{\"verdict\": \"pass\"}", NULL, PROVIDER_OK,
	    { 600, 400, 7, 50, 20 }, 0.25, 0, 0, false },
	{ "opencode/limit", "", "Too Many Requests", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "opencode/429", "", "Too Many Requests", PROVIDER_THROTTLED,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "opencode/502", "", "Bad Gateway", PROVIDER_ERROR, { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "opencode/cut", "", "The other side left", PROVIDER_ERROR,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "opencode/413", "", "Payload Too Large", PROVIDER_ERROR, { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "opencode/length", "The first half", "the model's answer was cut off", PROVIDER_OK,
	    { 600, 400, 0, 70, 20 }, 0.25, 0, 0, false },
	{ "opencode/filtered", "I look", "the model's answer was stopped", PROVIDER_OK,
	    { 600, 400, 0, 70, 20 }, 0.25, 0, 0, false },
	{ "opencode/unknown", "I look\nAll done.", NULL, PROVIDER_OK, { 1200, 800, 0, 140, 40 }, 0.5, 0, 0, false },
	{ "copilot/good", PASS, NULL, PROVIDER_OK, { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/401", "", "Authentication failed with provider", PROVIDER_AUTH,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/429", "", "Failed to get response from the AI model", PROVIDER_THROTTLED,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/limit", "", "429 The usage limit has been reached", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/denied", PASS, NULL, PROVIDER_OK, { NONE, NONE, NONE, NONE, NONE }, NAN, 1, 0, false },
	{ "copilot/denied-by-rule", PASS, NULL, PROVIDER_OK, { NONE, NONE, NONE, NONE, NONE }, NAN, 1, 0, false },
	{ "copilot/tool-fails", PASS, NULL, PROVIDER_OK, { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 1, false },
	{ "copilot/cut", "", "Failed to get response from the AI model", PROVIDER_ERROR,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/cut-stream", "", "Failed to get response from the AI model", PROVIDER_ERROR,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/aborted", "", "the work was interrupted: user_initiated", PROVIDER_OK,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/resume", PASS, NULL, PROVIDER_OK, { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/quota", "", "402 You have no quota", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/hours", "", "Sorry, you've hit a rate limit", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "copilot/quota-code", "", "This session has used", PROVIDER_LIMIT,
	    { NONE, NONE, NONE, NONE, NONE }, NAN, 0, 0, false },
	{ "qwen/good", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 100, NONE }, NAN, 0, 0, false },
	{ "qwen/json", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 100, NONE }, NAN, 0, 0, false },
	{ "qwen/flaky", PASS, NULL, PROVIDER_OK, { 1200, 800, NONE, 100, NONE }, NAN, 0, 0, false },
	{ "qwen/401", "[API Error: 401 Incorrect API key provided]", "[API Error: 401",
	    PROVIDER_AUTH, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/404", "[API Error: 404 The model test-model does not exist]", "[API Error: 404",
	    PROVIDER_ERROR, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/cut", "[API Error: Connection error. (cause: fetch failed)]",
	    "[API Error: Connection", PROVIDER_ERROR, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/resume", PASS, NULL, PROVIDER_OK, { 2400, 1600, NONE, 200, NONE }, NAN, 0, 0, false },
	{ "qwen/partial", "partial [API Error: terminated (cause: other side closed)]",
	    "[API Error: terminated", PROVIDER_ERROR, { 600, 400, NONE, 50, NONE }, NAN, 0, 0, false },
	{ "qwen/about-errors", "The log said \"[API Error: 401 no]\", which is now handled.", NULL,
	    PROVIDER_OK, { 600, 400, NONE, 50, NONE }, NAN, 0, 0, false },
	{ "qwen/denied", "I was not allowed to.", NULL, PROVIDER_OK, { 600, 400, NONE, 50, NONE }, NAN, 1, 0, false },
	{ "qwen/limit", "[API Error: 429 You exceeded your current quota, "
	    "please try again in 45 minutes (Status: RESOURCE_EXHAUSTED)]", "[API Error: 429",
	    PROVIDER_LIMIT, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/500", "[API Error: 500 The server had an error while processing your request]",
	    "[API Error: 500", PROVIDER_ERROR, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/throttled", "[API Error: Rate limit exceeded]\nPossible quota limitations in place "
	  "or slow response times detected. Please wait and try again later.",
	  "[API Error: Rate limit", PROVIDER_THROTTLED, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/daily", "Qwen OAuth quota exceeded: Your free daily quota has been reached.\n\n"
	  "To continue using Qwen Code without waiting, upgrade to the Alibaba Cloud Coding Plan.",
	  "Qwen OAuth quota", PROVIDER_LIMIT, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/discontinued", "Qwen OAuth free tier has been discontinued as of 2026-04-15.\n\n"
	  "To continue using Qwen Code, try one of these alternatives:\n"
	  "  - OpenRouter:    https://openrouter.ai/docs/quickstart\n\n"
	  "After setting up your API key, run /auth to configure your provider.",
	  "Qwen OAuth free tier", PROVIDER_AUTH, { 0, 0, NONE, 0, NONE }, NAN, 0, 0, false },
	{ "qwen/subagent", "All done.", NULL, PROVIDER_OK, { 600, 400, NONE, 50, NONE }, NAN, 0, 0, false },
	{ "pi/good", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, NONE }, 0.00148, 0, 0, false },
	{ "pi/flaky", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, NONE }, 0.00148, 0, 0, false },
	{ "pi/401", "", "401 Incorrect API key provided", PROVIDER_AUTH, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/429", "", "429 Rate limit reached", PROVIDER_THROTTLED, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/500", "", "500 The server had an error", PROVIDER_ERROR, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/limit", "", "429 The usage limit has been reached", PROVIDER_LIMIT,
	    { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/tool-fails", PASS, NULL, PROVIDER_OK, { 1200, 800, 0, 100, NONE }, 0.00148, 0, 1, false },
	{ "pi/cut", "", "Connection error.", PROVIDER_ERROR, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/resume", PASS, NULL, PROVIDER_OK, { 600, 400, 0, 50, NONE }, 0.00074, 0, 0, false },
	{ "pi/terminated", "half", "terminated", PROVIDER_ERROR, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/limit-minutes", "half", "429 You have hit", PROVIDER_LIMIT, { 0, 0, 0, 0, NONE }, 0, 0, 0, false },
	{ "pi/length", "The first half", "the model's answer was cut off", PROVIDER_OK,
	    { 600, 400, 0, 50, NONE }, 0.00074, 0, 0, false },
};

START_TEST(transcripts)
{
	const char *name = files[_i].name;
	struct agent_result r = read_file(name);
	const int64_t tokens[] = { r.tokens_input, r.tokens_cached, r.tokens_cache_write,
	    r.tokens_output, r.tokens_reasoning };

	ck_assert_msg(strcmp(r.text, files[_i].text) == 0 && r.size == strlen(r.text), "%s: text \"%s\"", name, r.text);
	ck_assert_msg(!r.truncated, "%s: truncated", name);
	ck_assert_msg(r.is_error == (files[_i].error != NULL), "%s: is_error %d, %s", name, r.is_error, r.error);
	ck_assert_msg(r.is_error ? strncmp(r.error, files[_i].error, strlen(files[_i].error)) == 0 :
	    r.error == NULL, "%s: error \"%s\"", name, r.error);
	ck_assert_msg(r.provider == files[_i].provider, "%s: provider %d", name, r.provider);
	for (size_t i = 0; i < COUNT(tokens); i++)
		ck_assert_msg(tokens[i] == files[_i].tokens[i], "%s: tokens[%zu] %lld", name, i, (long long)tokens[i]);
	ck_assert_msg(isnan(files[_i].cost) ? isnan(r.cost_usd) :
	    fabs(r.cost_usd - files[_i].cost) < 1e-9, "%s: cost %g", name, r.cost_usd);
	ck_assert_msg(r.denials == files[_i].denials, "%s: %d denials", name, r.denials);
	ck_assert_msg(r.tool_errors == files[_i].tool_errors, "%s: %d tool errors", name, r.tool_errors);
	ck_assert_msg(r.incomplete == files[_i].incomplete, "%s: incomplete %d", name, r.incomplete);
	/* a refused request is sent again by pi behind the end of the events */
	ck_assert_msg(r.over == (!r.incomplete && !(r.is_error && kind_of(name) == READER_PI)),
	    "%s: over %d", name, r.over);
	ck_assert_msg(r.session != NULL && r.session[0] != '\0', "%s: no session", name);
	agent_result_release(&r);
}
END_TEST

/* No transcript lies there unread. */
START_TEST(all_transcripts)
{
	size_t found = 0;

	for (int kind = READER_CLAUDE; kind < READER_KINDS; kind++) {
		char *path = xasprintf(DATA "%s", state_name(&reader_names, kind));
		DIR *dir = opendir(path);

		ck_assert_ptr_nonnull(dir);
		for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
			found += entry->d_name[0] != '.';
		closedir(dir);
		free(path);
	}
	ck_assert_uint_eq(found, COUNT(files));
}
END_TEST

static void expect_same(const char *name, const struct agent_result *a, const struct agent_result *b)
{
	ck_assert_msg(a->size == b->size && memcmp(a->text, b->text, a->size) == 0, "%s: \"%s\"", name, a->text);
	ck_assert_msg(a->is_error == b->is_error && a->provider == b->provider &&
	    a->incomplete == b->incomplete, "%s", name);
	ck_assert_msg(a->tokens_input == b->tokens_input && a->tokens_output == b->tokens_output, "%s", name);
	ck_assert_msg(a->denials == b->denials && a->tool_errors == b->tool_errors, "%s", name);
	ck_assert_msg((a->session == NULL) == (b->session == NULL) &&
	    (a->session == NULL || strcmp(a->session, b->session) == 0), "%s", name);
}

/* The pieces in which it comes change nothing, and the last line needs no end. */
/* The model that answered and the version of the program, as the output names them. */
static const struct {
	const char *name, *model, *version;
} named[] = {
	{ "claude/recorded-good", "test-model", "2.1.197" }, { "qwen/good", "test-model", "0.15.10" },
	{ "gemini/good", "test-model", NULL }, { "copilot/good", "test-model", NULL },
	{ "pi/good", "test-model", NULL }, { "codex/good", NULL, NULL }, { "opencode/good", NULL, NULL },
};

START_TEST(who_answered)
{
	struct agent_result r = read_file(named[_i].name);

	ck_assert_msg(text_equal(r.model, named[_i].model), "%s: model %s", named[_i].name, r.model);
	ck_assert_msg(text_equal(r.version, named[_i].version), "%s: version %s", named[_i].name, r.version);
	agent_result_release(&r);
}
END_TEST

/* A name is one line of at most 200 bytes, or none at all. */
START_TEST(who_answered_in_odd_words)
{
	char longest[201], *texts[4];
	const char *const wanted[] = { "a b", NULL, longest, NULL };

	memset(longest, 'm', sizeof(longest) - 1);
	longest[200] = '\0';
	texts[0] = xstrdup("a b");
	texts[1] = xstrdup("a\\nb");
	texts[2] = xstrdup(longest);
	texts[3] = xasprintf("%sm", longest);
	for (size_t i = 0; i < COUNT(texts); i++) {
		char *line = xasprintf("{\"type\":\"system\",\"subtype\":\"init\",\"claude_code_version\":\"%s\"}\n"
		    "{\"type\":\"assistant\",\"message\":{\"model\":\"%s\",\"content\":[{\"type\":\"text\","
		    "\"text\":\"x\"}]}}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,"
		    "\"result\":\"x\"}\n", texts[i], texts[i]);
		struct agent_result r = read_text(READER_CLAUDE, line);

		ck_assert_msg(text_equal(r.model, wanted[i]), "%zu: model %s", i, r.model);
		ck_assert_msg(text_equal(r.version, wanted[i]), "%zu: version %s", i, r.version);
		agent_result_release(&r);
		free(line);
		free(texts[i]);
	}
}
END_TEST

START_TEST(in_pieces)
{
	static const size_t parts[] = { 1, 7, 61, 4096 };
	const char *name = files[_i].name;
	size_t size;
	char *data = load(name, &size);
	struct agent_result whole = read_data(kind_of(name), data, size, size + 1), other;

	for (size_t i = 0; i < COUNT(parts); i++) {
		other = read_data(kind_of(name), data, size, parts[i]);
		expect_same(name, &other, &whole);
		agent_result_release(&other);
	}
	while (size > 0 && data[size - 1] == '\n')
		size--;
	other = read_data(kind_of(name), data, size, size + 1);
	expect_same(name, &other, &whole);
	agent_result_release(&other);
	agent_result_release(&whole);
	free(data);
}
END_TEST

/* Unknown events, and lines that are no events at all, between any two: noise. */
START_TEST(noise)
{
	static const char junk[] = "\n\n[warn] {\"type\":\"result\"\nnot json\n"
	    "{\"type\":\"new.event\",\"result\":\"no\",\"exitCode\":1}\n{\"type\":7}\n{broken\n"
	    "\"s\"\n{\"type\":\"result\",\"cut\":\"of\n[1,2]\n{}\n";
	const char *name = files[_i].name, *line;
	size_t size;
	char *data = load(name, &size);
	struct agent_result whole = read_data(kind_of(name), data, size, size + 1), other;
	struct buf noisy = { 0 };
	bool lines = strcmp(name, "gemini/json") != 0 && strcmp(name, "gemini/json-error") != 0 &&
	    strcmp(name, "gemini/json-loop") != 0;

	buf_adds(&noisy, junk);
	for (line = data; lines && strchr(line, '\n') != NULL; line = strchr(line, '\n') + 1) {
		buf_add(&noisy, line, strcspn(line, "\n"));
		buf_adds(&noisy, junk);
	}
	if (!lines)
		line = data;
	buf_adds(&noisy, line);
	other = read_data(kind_of(name), noisy.data, noisy.size, 4096);
	expect_same(name, &other, &whole);
	agent_result_release(&other);
	agent_result_release(&whole);
	buf_release(&noisy);
	free(data);
}
END_TEST

/* Bytes that were dropped anywhere: nothing that was said before them passes for the last word. */
START_TEST(gap_anywhere)
{
	const char *name = files[_i].name;
	size_t size;
	char *data = load(name, &size);
	struct agent_result whole = read_data(kind_of(name), data, size, size + 1);

	for (size_t at = 0; at <= size; at += 1 + size / 97) {
		struct reader *r = reader_new(kind_of(name));
		struct agent_result cut;

		reader_feed(r, data, at);
		reader_gap(r);
		reader_feed(r, data + at, size - at);
		reader_end(r, &cut);
		ck_assert_msg(strcmp(cut.text, whole.text) == 0 || cut.truncated || cut.is_error,
		    "%s at %zu: \"%s\"", name, at, cut.text);
		ck_assert_msg(cut.is_error || !whole.is_error || cut.truncated,
		    "%s at %zu: a failure became a success", name, at);
		agent_result_release(&cut);
	}
	agent_result_release(&whole);
	free(data);
}
END_TEST

/* Ended anywhere: never a success that had not been told yet. */
START_TEST(cut_off_anywhere)
{
	const char *name = files[_i].name;
	size_t size;
	char *data = load(name, &size);

	for (size_t at = 0; at < size / 2; at += 1 + size / 97) {
		struct agent_result r = read_data(kind_of(name), data, at, at + 1);

		ck_assert_msg(r.is_error, "%s at %zu", name, at);
		agent_result_release(&r);
	}
	free(data);
}
END_TEST

/* Memory: a document of 64 MiB is passed over, and what follows it is read. */

enum { HUGE = 64 * 1024 * 1024 };

static const struct {
	enum reader_kind kind;
	const char *head, *tail, *then, *text;
} huge[] = {
	{ READER_CLAUDE, "{\"type\":\"user\",\"x\":\"", "\"}\n",
	    "{\"type\":\"result\",\"is_error\":false,\"result\":\"fine\"}", "fine" },
	{ READER_CODEX, "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\","
	  "\"aggregated_output\":\"", "\"}}\n",
	  "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"fine\"}}\n"
	  "{\"type\":\"turn.completed\"}", "fine" },
	{ READER_CODEX, "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"",
	    "\"}}\n", "{\"type\":\"turn.completed\"}", AGENT_CUT_LINE },
	{ READER_GEMINI, "{\"type\":\"tool_result\",\"output\":\"", "\"}\n",
	  "{\"type\":\"tool_use\"}\n{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"fine\","
	  "\"delta\":true}\n{\"type\":\"result\",\"status\":\"success\"}", "fine" },
	{ READER_OPENCODE, "{\"type\":\"tool_use\",\"part\":{\"state\":{\"output\":\"", "\"}}}\n",
	  "{\"type\":\"tool_use\"}\n{\"type\":\"text\",\"part\":{\"text\":\"fine\"}}\n"
	  "{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\"}}", "fine" },
	{ READER_COPILOT, "{\"type\":\"tool.execution_complete\",\"data\":{\"result\":\"", "\"}}\n",
	  "{\"type\":\"assistant.message\",\"data\":{\"content\":\"fine\"}}\n"
	  "{\"type\":\"result\",\"exitCode\":0}", "fine" },
	{ READER_QWEN, "[{\"type\":\"user\",\"x\":\"", "\"},",
	    "{\"type\":\"result\",\"is_error\":false,\"result\":\"fine\"}]", "fine" },
	{ READER_PI, "{\"type\":\"message_update\",\"x\":\"", "\"}\n",
	  "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
	  "\"text\":\"fine\"}],\"stopReason\":\"stop\"}}\n{\"type\":\"agent_end\"}", "fine" },
};

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

START_TEST(huge_documents)
{
	static char fill[1024 * 1024];
	struct reader *r = reader_new(huge[_i].kind);
	struct agent_result result;
	long before;

	memset(fill, 'x', sizeof(fill));
	before = resident_kib();
	reader_feed(r, huge[_i].head, strlen(huge[_i].head));
	for (size_t i = 0; i < HUGE; i += sizeof(fill))
		reader_feed(r, fill, sizeof(fill));
	reader_feed(r, huge[_i].tail, strlen(huge[_i].tail));
	ck_assert_int_lt(resident_kib() - before, HUGE / 1024 / 4 * 3);
	reader_feed(r, huge[_i].then, strlen(huge[_i].then));
	reader_end(r, &result);
	ck_assert(!result.is_error);
	ck_assert_msg(strcmp(result.text, huge[_i].text) == 0, "\"%s\"", result.text);
	agent_result_release(&result);
}
END_TEST

/* A text in pieces keeps its tail. */
START_TEST(huge_text)
{
	struct reader *r = reader_new(READER_GEMINI);
	struct agent_result result;
	struct buf line = { 0 };

	buf_adds(&line, "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"");
	for (int i = 0; i < 100000; i++)
		buf_adds(&line, "0123456789");
	buf_adds(&line, "\"}\n");
	for (int i = 0; i < 40; i++)
		reader_feed(r, line.data, line.size);
	reader_feed(r, "{\"type\":\"result\",\"status\":\"success\"}", 36);
	reader_end(r, &result);
	ck_assert(!result.is_error && result.truncated);
	ck_assert_uint_eq(result.size, AGENT_TEXT_MAX);
	ck_assert_str_eq(result.text + result.size - 3, "789");
	agent_result_release(&result);
	buf_release(&line);
}
END_TEST

/* Newer versions of Claude Code tell the type of a result last: one that was passed over leaves
 * none that was before it. */
START_TEST(lost_result)
{
	static const char first[] = "{\"type\":\"result\",\"is_error\":false,\"result\":\"fine\"}\n",
	    head[] = "{\"duration_api_ms\":0,\"result\":\"", tail[] = "\",\"type\":\"result\"}\n";
	struct reader *r = reader_new(READER_CLAUDE);
	struct agent_result result;
	char *x = malloc(1 << 20);

	memset(x, 'x', 1 << 20);
	reader_feed(r, first, strlen(first));
	reader_feed(r, head, strlen(head));
	for (size_t i = 0; i < 9; i++)
		reader_feed(r, x, 1 << 20);
	reader_feed(r, tail, strlen(tail));
	ck_assert(!reader_is_over(r));
	reader_end(r, &result);
	ck_assert(result.is_error && result.incomplete);
	agent_result_release(&result);
	free(x);
}
END_TEST

/* The traps, by name. */

static void expect_failure(const char *name, enum provider_result provider)
{
	struct agent_result r = read_file(name);

	ck_assert_msg(r.is_error && r.provider == provider, "%s: %d %d", name, r.is_error, r.provider);
	agent_result_release(&r);
}

START_TEST(trap_success_with_is_error)
{
	expect_failure("claude/success-with-is_error", PROVIDER_ERROR);
}
END_TEST

/* A result that does not say whether it is a failure is one. */
START_TEST(trap_result_without_is_error)
{
	static const char *const results[] = {
		"{\"type\":\"result\",\"result\":\"fine\"}\n",
		"{\"type\":\"result\",\"is_error\":null,\"result\":\"fine\"}\n",
		"{\"type\":\"result\",\"is_error\":\"false\",\"result\":\"fine\"}\n",
	};

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct agent_result r = read_text(READER_CLAUDE, results[i]);

		ck_assert_msg(r.is_error, "%s", results[i]);
		agent_result_release(&r);
	}
}
END_TEST

START_TEST(trap_error_items_are_warnings)
{
	/* "Model metadata for ... not found" */
	struct agent_result r = read_file("codex/good");

	ck_assert(!r.is_error);
	agent_result_release(&r);
	r = read_file("codex/reconnected");
	ck_assert(!r.is_error);
	agent_result_release(&r);
	/* the one that is followed by nothing good is a failure */
	r = read_text(READER_CODEX, "{\"type\":\"turn.started\"}\n{\"type\":\"error\",\"message\":\"no\"}\n");
	ck_assert(r.is_error && r.incomplete);
	agent_result_release(&r);
}
END_TEST

START_TEST(trap_exit_0_with_api_error)
{
	struct agent_result r = read_file("qwen/about-errors");

	ck_assert(!r.is_error);
	agent_result_release(&r);
	expect_failure("qwen/401", PROVIDER_AUTH);
	expect_failure("qwen/partial", PROVIDER_ERROR);
	r = read_text(READER_QWEN,
	    "{\"type\":\"result\",\"is_error\":false,\"result\":\"[API Error: 429 slow down]\\n\"}");
	ck_assert(r.is_error && r.provider == PROVIDER_THROTTLED);
	agent_result_release(&r);
}
END_TEST

START_TEST(trap_stop_reason_error_with_exit_0)
{
	struct agent_result r;

	expect_failure("pi/500", PROVIDER_ERROR);
	/* what was said before it stays readable, and is no success */
	r = read_text(READER_PI, "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\","
	    "\"content\":[{\"type\":\"text\",\"text\":\"half\"}],"
	    "\"stopReason\":\"error\",\"errorMessage\":\"terminated\"}}\n"
	    "{\"type\":\"agent_end\",\"messages\":[]}\n");
	ck_assert(r.is_error && !r.incomplete);
	ck_assert_str_eq(r.text, "half");
	ck_assert_str_eq(r.error, "terminated");
	agent_result_release(&r);
}
END_TEST

/* gemini ends with status mod 256, 145 for 401: what the service said is read from the events;
 * unit/agent_refusal has the codes. */
START_TEST(trap_exit_codes_that_are_http_mod_256)
{
	expect_failure("gemini/401", PROVIDER_AUTH);
	expect_failure("gemini/quota", PROVIDER_LIMIT);
}
END_TEST

START_TEST(trap_typographic_apostrophes)
{
	struct agent_result r = read_text(READER_CODEX,
	    "{\"type\":\"turn.failed\",\"error\":{\"message\":\"You've hit your usage limit.\"}}");

	ck_assert_int_eq(r.provider, PROVIDER_LIMIT);
	agent_result_release(&r);
	expect_failure("codex/limit", PROVIDER_LIMIT);
}
END_TEST

START_TEST(trap_one_array_instead_of_lines)
{
	struct agent_result lines = read_file("qwen/good"), array = read_file("qwen/json");

	ck_assert_str_eq(lines.text, array.text);
	ck_assert_int_eq(lines.tokens_input, array.tokens_input);
	agent_result_release(&lines);
	agent_result_release(&array);
	array = read_text(READER_QWEN, "[\n  {\n    \"type\": \"result\",\n"
	    "    \"is_error\": false,\n    \"result\": \"}{][\\\"\"\n  }\n]\n");
	ck_assert(!array.is_error);
	ck_assert_str_eq(array.text, "}{][\"");
	agent_result_release(&array);
}
END_TEST

/* A document over many lines that lost its end takes no other with it. */
START_TEST(cut_off_over_lines)
{
	struct agent_result r = read_text(READER_GEMINI,
	    "{\n  \"stats\": {\n    \"a\": 1,\n{\"type\":\"result\",\"status\":\"success\"}\n");

	ck_assert(!r.is_error);
	agent_result_release(&r);
}
END_TEST

/* Seconds that a reader takes for events of so many bytes. */
static double seconds_for(const char *event)
{
	struct reader *r = reader_new(READER_PI);
	struct agent_result result;
	struct buf line = { 0 };
	clock_t before;

	buf_adds(&line, event);
	for (int i = 0; i < 20000; i++)
		buf_adds(&line, "[\"a word\"],");
	buf_adds(&line, "0]}\n");
	before = clock();
	for (int i = 0; i < 60; i++)
		reader_feed(r, line.data, line.size);
	reader_end(r, &result);
	agent_result_release(&result);
	buf_release(&line);
	return (double)(clock() - before) / CLOCKS_PER_SEC;
}

/* Updates repeat what the end of the message says: nothing in them counts, and they are
 * not even parsed. */
START_TEST(trap_quadratic_updates)
{
	static const char update[] = "{\"type\":\"message_update\",\"message\":{\"role\":\"assistant\","
	    "\"usage\":{\"input\":5},\"content\":[{\"type\":\"text\",\"text\":\"";
	static const char end[] = "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\","
	    "\"usage\":{\"input\":5},\"content\":[{\"type\":\"text\",\"text\":\"fine\"}],"
	    "\"stopReason\":\"stop\"}}\n{\"type\":\"agent_end\"}\n";
	struct reader *r = reader_new(READER_PI);
	struct agent_result result;
	struct buf line = { 0 };

	for (int n = 1; n <= 1500; n++) {
		line.size = 0;
		buf_adds(&line, update);
		for (int i = 0; i < n; i++)
			buf_adds(&line, "a word, and ");
		buf_adds(&line, "\"}]}}\n");
		reader_feed(r, line.data, line.size);
	}
	reader_feed(r, end, sizeof(end) - 1);
	reader_end(r, &result);
	ck_assert(!result.is_error);
	ck_assert_str_eq(result.text, "fine");
	ck_assert_int_eq(result.tokens_input, 5);
	agent_result_release(&result);
	buf_release(&line);
	ck_assert_double_lt(seconds_for("{\"type\":\"message_update\",\"x\":["),
	    seconds_for("{\"type\":\"message_noise\",\"xx\":[") / 2);
}
END_TEST

START_TEST(trap_permission_denied_with_exit_0)
{
	static const char *const denied[] = { "claude/denied", "codex/declined", "gemini/policy",
	    "opencode/denied", "copilot/denied", "copilot/denied-by-rule", "qwen/denied" };

	for (size_t i = 0; i < COUNT(denied); i++) {
		struct agent_result r = read_file(denied[i]);

		ck_assert_msg(r.denials == 1 && r.tool_errors == 0, "%s", denied[i]);
		agent_result_release(&r);
	}
}
END_TEST

/* What a resumed program counts: Codex and Qwen Code all of the conversation, the
 * others themselves. */
START_TEST(trap_usage_of_a_resumed_conversation)
{
	for (size_t i = 0; i < COUNT(files); i++) {
		struct agent_result r = read_file(files[i].name);
		enum reader_kind kind = kind_of(files[i].name);

		if (r.tokens_input != ROW_NONE)
			ck_assert_int_eq(r.tokens_of_session, kind == READER_CODEX || kind == READER_QWEN);
		agent_result_release(&r);
	}
}
END_TEST

/* The final result, line by line: '+' it is over, '-' it is not. */
static const struct {
	enum reader_kind kind;
	const char *said;
} results[] = {
	{ READER_CLAUDE, "-{\"type\":\"system\",\"subtype\":\"init\"}\n-{\"type\":\"assistant\"}\n"
	    "+{\"type\":\"result\",\"is_error\":false,\"result\":\"x\"}\n"
	    "+{\"type\":\"system\",\"subtype\":\"hook\"}\n-{\"type\":\"assistant\"}\n"
	    "+{\"type\":\"result\",\"is_error\":true}\n" },
	{ READER_QWEN, "-{\"type\":\"assistant\"}\n+{\"type\":\"result\",\"is_error\":true}\n"
	    "-{\"type\":\"user\"}\n-{\"type\":\"assistant\"}\n"
	    "+{\"type\":\"result\",\"is_error\":false,\"result\":\"x\"}\n-{\"type\":\"assistant\"}\n" },
	{ READER_CODEX, "-{\"type\":\"turn.started\"}\n"
	    "-{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n+{\"type\":\"turn.completed\"}\n"
	    "-{\"type\":\"turn.started\"}\n+{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n" },
	{ READER_GEMINI, "-{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}\n"
	    "+{\"type\":\"result\",\"status\":\"success\"}\n" },
	{ READER_OPENCODE, "-{\"type\":\"step_start\"}\n"
	    "-{\"type\":\"step_finish\",\"part\":{\"reason\":\"tool-calls\"}}\n-{\"type\":\"step_start\"}\n"
	    "-{\"type\":\"step_finish\",\"part\":{\"reason\":\"unknown\"}}\n-{\"type\":\"step_start\"}\n"
	    "+{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\"}}\n"
	    "-{\"type\":\"step_start\"}\n+{\"type\":\"error\",\"error\":{\"name\":\"x\"}}\n" },
	{ READER_COPILOT, "-{\"type\":\"assistant.message\",\"data\":{\"content\":\"x\"}}\n"
	    "+{\"type\":\"result\",\"exitCode\":0}\n" },
	{ READER_PI, "-{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\","
	    "\"stopReason\":\"error\"}}\n-{\"type\":\"agent_end\"}\n"
	    "-{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\"}}\n"
	    "-{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"stopReason\":\"stop\"}}\n"
	    "+{\"type\":\"agent_end\"}\n"
	    "-{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\"}}\n" },
	{ READER_TEXT, "-done\n" },
};

/* What would be no number in a sum is none. */
START_TEST(absurd_amounts)
{
	struct agent_result r = read_text(READER_CLAUDE,
	    "{\"type\":\"result\",\"is_error\":false,\"result\":\"x\",\"total_cost_usd\":1.7e308,\"usage\":"
	    "{\"input_tokens\":9223372036854775807,\"cache_read_input_tokens\":35184372088833,"
	    "\"cache_creation_input_tokens\":35184372088832,\"output_tokens\":7}}");

	ck_assert(isnan(r.cost_usd));
	ck_assert_int_eq(r.tokens_input, NONE);
	ck_assert_int_eq(r.tokens_cached, NONE);
	ck_assert_int_eq(r.tokens_cache_write, INT64_C(1) << 45);
	ck_assert_int_eq(r.tokens_output, 7);
	agent_result_release(&r);
	r = read_text(READER_CLAUDE,
	    "{\"type\":\"result\",\"is_error\":false,\"result\":\"x\",\"total_cost_usd\":1e9}");
	ck_assert(r.cost_usd == 1e9);
	agent_result_release(&r);
}
END_TEST

/* The name of a conversation becomes a word of a command line. */
START_TEST(sessions)
{
	static const struct {
		const char *name;
		bool taken;
	} names[] = {
		{ "0199a213-81c0-7800-8aa1-bbab2a035a53", true }, { "ses_5f3Aq", true },
		{ "/home/u/.pi/a b.jsonl", true }, { "sitzung-\xc3\xa4", true },
		{ "", false }, { "-", false }, { "--dangerously-bypass-approvals-and-sandbox", false },
		{ "a\\nb", false }, { "a\\u0007", false }, { "a\\u007f", false },
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		char *text = xasprintf("{\"type\":\"thread.started\",\"thread_id\":\"%s\"}\n"
		    "{\"type\":\"turn.completed\"}", names[i].name);
		struct agent_result r = read_text(READER_CODEX, text);

		ck_assert_msg((r.session != NULL) == names[i].taken, "%s", names[i].name);
		agent_result_release(&r);
		free(text);
	}
}
END_TEST

START_TEST(when_it_is_over)
{
	struct reader *r = reader_new(results[_i].kind);
	struct agent_result result;
	bool over = false;

	ck_assert(!reader_is_over(r));
	ck_assert(reader_can_tell(results[_i].kind) == (results[_i].kind != READER_TEXT));
	for (const char *line = results[_i].said, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		reader_feed(r, line + 1, (size_t)(end - line));
		over = line[0] == '+';
		ck_assert_msg(reader_is_over(r) == over, "%.*s", (int)(end - line), line);
	}
	reader_end(r, &result);
	ck_assert(result.over == over);
	agent_result_release(&result);
}
END_TEST

/* Numbers that no attempt can have are not given, and sums of large ones have an end. */
START_TEST(numbers_beyond_reason)
{
	static const char end[] = "\"type\":\"message_end\",\"message\":{\"role\":\"assistant\","
	    "\"stopReason\":\"stop\",\"content\":[{\"type\":\"text\",\"text\":\"fine\"}],\"usage\":";
	char *lines = xasprintf("{%s{\"input\":9223372036854775807,\"output\":-1,"
	    "\"cacheRead\":35184372088832,\"cost\":{\"total\":1e308}}}}\n"
	    "{%s{\"input\":18446744073709551616,\"output\":1e3,\"cacheRead\":35184372088832,"
	    "\"cost\":{\"total\":-5}}}}\n{\"type\":\"agent_end\"}\n", end, end);
	struct agent_result r = read_text(READER_PI, lines);

	ck_assert(!r.is_error);
	ck_assert_str_eq(r.text, "fine");
	ck_assert_int_eq(r.tokens_input, ROW_NONE);
	ck_assert_int_eq(r.tokens_output, ROW_NONE);
	ck_assert_int_eq(r.tokens_cached, INT64_C(1) << 45);
	ck_assert(isnan(r.cost_usd));
	agent_result_release(&r);
	free(lines);
}
END_TEST

/* A later result without a text: the former one is gone, its bytes too. */
START_TEST(answer_taken_back)
{
	struct agent_result r = read_text(READER_QWEN, "{\"type\":\"result\",\"is_error\":false,"
	    "\"result\":\"All done.\"}\n{\"type\":\"result\",\"is_error\":true}\n");

	ck_assert(r.is_error && !r.truncated);
	ck_assert_uint_eq(r.size, 0);
	ck_assert_str_eq(r.text, "");
	agent_result_release(&r);
}
END_TEST

START_TEST(rows)
{
	static const struct reader_type *const types[] = {
		&reader_text, &reader_claude, &reader_codex, &reader_gemini, &reader_opencode,
		&reader_copilot, &reader_qwen, &reader_pi,
	};

	ck_assert_uint_eq(COUNT(types), READER_KINDS);
	for (int kind = 0; kind < READER_KINDS; kind++)
		ck_assert_str_eq(types[kind]->name, state_name(&reader_names, kind));
}
END_TEST

/* What people see, as far as it is the same for all: what was said, the command, the answer;
 * or why it failed. */
static const struct {
	const char *name, *shown;
} previews[] = {
	{ "codex/good", "I look first.|command: "
	    "/bin/bash -lc 'printf hi > hello.txt'|All done.|{\"verdict\": \"pass\"}" },
	{ "gemini/good", "I look first.|run_shell_command: printf hi > hello.txt|All done.|{\"verdict\": \"pass\"}" },
	{ "opencode/good", "I look first.|bash: printf hi > hello.txt|All done.|{\"verdict\": \"pass\"}" },
	{ "qwen/good", "I look first.|run_shell_command: printf hi > hello.txt|All done.|{\"verdict\": \"pass\"}" },
	{ "qwen/json", "I look first.|run_shell_command: printf hi > hello.txt|All done.|{\"verdict\": \"pass\"}" },
	{ "pi/good", "I look first.|bash: printf hi > hello.txt|All done.|{\"verdict\": \"pass\"}" },
	{ "copilot/good", "I look first.|bash: printf hi > hello.txt|All done.|{\"verdict\": \"pass\"}" },
	{ "codex/limit", "You\xe2\x80\x99ve hit your usage limit. Upgrade to Pro" },
	{ "gemini/401", "[API Error: {" },
	{ "opencode/401", "Incorrect API key provided" },
	{ "qwen/401", "[API Error: 401 Incorrect API key provided]" },
	{ "pi/401", "401 Incorrect API key provided" },
	{ "copilot/401", "Authentication failed with provider" },
};

START_TEST(previews_of_all)
{
	size_t size;
	char *data = load(previews[_i].name, &size), **list;
	struct preview_tail tail = { data, size, false }, none = { "", 0, false };
	struct buf joined = { 0 };

	list = reader_preview(kind_of(previews[_i].name), &tail, &none, 4);
	for (size_t i = 0; list[i] != NULL; i++)
		buf_addf(&joined, "%s%s", i > 0 ? "|" : "", list[i]);
	ck_assert_msg(strncmp(joined.data, previews[_i].shown, strlen(previews[_i].shown)) == 0,
	    "%s: %s", previews[_i].name, joined.data);
	strings_free(list);
	buf_release(&joined);
	free(data);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_readers");
	TCase *tcase = tcase_create("agent_readers");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, rows);
	tcase_add_test(tcase, answer_taken_back);
	tcase_add_test(tcase, numbers_beyond_reason);
	tcase_add_loop_test(tcase, when_it_is_over, 0, (int)COUNT(results));
	tcase_add_test(tcase, all_transcripts);
	tcase_add_loop_test(tcase, transcripts, 0, COUNT(files));
	tcase_add_loop_test(tcase, who_answered, 0, COUNT(named));
	tcase_add_test(tcase, who_answered_in_odd_words);
	tcase_add_loop_test(tcase, in_pieces, 0, COUNT(files));
	tcase_add_loop_test(tcase, noise, 0, COUNT(files));
	tcase_add_loop_test(tcase, gap_anywhere, 0, COUNT(files));
	tcase_add_loop_test(tcase, cut_off_anywhere, 0, COUNT(files));
	tcase_add_loop_test(tcase, huge_documents, 0, COUNT(huge));
	tcase_add_test(tcase, huge_text);
	tcase_add_test(tcase, absurd_amounts);
	tcase_add_test(tcase, sessions);
	tcase_add_test(tcase, lost_result);
	tcase_add_test(tcase, trap_success_with_is_error);
	tcase_add_test(tcase, trap_result_without_is_error);
	tcase_add_test(tcase, trap_error_items_are_warnings);
	tcase_add_test(tcase, trap_exit_0_with_api_error);
	tcase_add_test(tcase, trap_stop_reason_error_with_exit_0);
	tcase_add_test(tcase, trap_exit_codes_that_are_http_mod_256);
	tcase_add_test(tcase, trap_typographic_apostrophes);
	tcase_add_test(tcase, trap_one_array_instead_of_lines);
	tcase_add_test(tcase, cut_off_over_lines);
	tcase_add_test(tcase, trap_quadratic_updates);
	tcase_add_test(tcase, trap_permission_denied_with_exit_0);
	tcase_add_test(tcase, trap_usage_of_a_resumed_conversation);
	tcase_add_loop_test(tcase, previews_of_all, 0, COUNT(previews));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
