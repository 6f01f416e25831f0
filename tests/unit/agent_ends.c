/* SPDX-License-Identifier: MIT */
/* A result counts only as the last thing that was said: no transcript that breaks off is a success,
 * nor one whose result a further turn has left behind. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/reader.h"
#include "base/file.h"
#include "proto/memory.h"

#define DATA "tests/data/agents/"
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* turn: in the first event of a turn; end: in the last one of a stream that is whole. */
static const struct {
	enum reader_kind kind;
	const char *name, *turn, *end;
} streams[] = {
	{ READER_CLAUDE, "claude/good", "\"subtype\":\"init\"", "\"type\":\"result\"" },
	{ READER_CLAUDE, "claude/recorded-good", "\"subtype\":\"init\"", "\"type\":\"result\"" },
	{ READER_CLAUDE, "claude/several", "\"subtype\":\"init\"", "\"type\":\"result\"" },
	{ READER_CODEX, "codex/good", "\"turn.started\"", "\"turn.completed\"" },
	{ READER_CODEX, "codex/flaky", "\"turn.started\"", "\"turn.completed\"" },
	{ READER_GEMINI, "gemini/good", "\"type\":\"init\"", "\"type\":\"result\"" },
	{ READER_GEMINI, "gemini/tool-fails", "\"type\":\"init\"", "\"type\":\"result\"" },
	{ READER_OPENCODE, "opencode/good", "\"step_start\"", "\"reason\":\"stop\"" },
	{ READER_OPENCODE, "opencode/unknown", "\"step_start\"", "\"reason\":\"stop\"" },
	{ READER_COPILOT, "copilot/good", "\"user.message\"", "\"type\":\"result\"" },
	{ READER_COPILOT, "copilot/resume", "\"user.message\"", "\"type\":\"result\"" },
	{ READER_QWEN, "qwen/good", "\"subtype\":\"init\"", "\"type\":\"result\"" },
	{ READER_QWEN, "qwen/flaky", "\"subtype\":\"init\"", "\"type\":\"result\"" },
	{ READER_PI, "pi/good", "{\"type\":\"agent_start\"}", "{\"type\":\"agent_end\"" },
	{ READER_PI, "pi/flaky", "{\"type\":\"agent_start\"}", "{\"type\":\"agent_end\"" },
};

static char *load(const char *name, size_t *size)
{
	char *path = xasprintf(DATA "%s.jsonl", name), *data = NULL;

	ck_assert_msg(file_read(AT_FDCWD, path, 1024 * 1024, &data, size) == 0, "%s", path);
	free(path);
	return data;
}

static struct agent_result read_data(enum reader_kind kind, const char *data, size_t size)
{
	struct reader *r = reader_new(kind);
	struct agent_result result;

	reader_feed(r, data, size);
	reader_end(r, &result);
	return result;
}

/* Does the line have those words? size: without its end. */
static bool has(const char *line, size_t size, const char *words)
{
	return memmem(line, size, words, strlen(words)) != NULL;
}

/* What ends behind this line of data may be a success only when that is the end of the work, and
 * never lacks both. */
static void expect_end(int i, const char *data, const char *line, size_t size)
{
	struct agent_result r = read_data(streams[i].kind, data, (size_t)(line - data) + size);
	bool whole = has(line, size, streams[i].end);

	ck_assert_msg(r.is_error == !whole, "%s: is_error %d behind %.*s", streams[i].name,
	    r.is_error, (int)size, line);
	ck_assert_msg(r.incomplete == !whole && r.over == whole, "%s: incomplete %d behind %.*s",
	    streams[i].name, r.incomplete, (int)size, line);
	agent_result_release(&r);
}

START_TEST(cut_behind_every_line)
{
	size_t size, n;
	char *data = load(streams[_i].name, &size);

	for (const char *line = data; line < data + size; line += n + 1) {
		n = strcspn(line, "\n");
		expect_end(_i, data, line, n);
	}
	free(data);
}
END_TEST

/* From the first event of the further turn on: lines before that may be of what
 * starts the program. */
START_TEST(cut_in_a_further_turn)
{
	size_t size, n;
	char *data = load(streams[_i].name, &size), *both;
	bool begun = false;

	both = xasprintf("%s%s%s", data, data[size - 1] == '\n' ? "" : "\n", data);
	for (const char *line = both + (strlen(both) - size); *line != '\0'; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		begun = begun || has(line, n, streams[_i].turn);
		if (begun)
			expect_end(_i, both, line, n);
	}
	ck_assert_msg(begun, "%s has no turn", streams[_i].name);
	free(both);
	free(data);
}
END_TEST

/* Bytes that are missing behind the result may be those of another turn. */
START_TEST(gap_behind_the_result)
{
	size_t size;
	char *data = load(streams[_i].name, &size);
	struct reader *r = reader_new(streams[_i].kind);
	struct agent_result result;

	reader_feed(r, data, size);
	reader_gap(r);
	reader_end(r, &result);
	ck_assert_msg(result.is_error && result.incomplete && !result.over, "%s", streams[_i].name);
	agent_result_release(&result);
	free(data);
}
END_TEST

/* What is left behind of a document that was too long to be read is no last word either. */
START_TEST(lost_turn)
{
	static const struct { enum reader_kind kind; const char *head; } lost[] = {
		{ READER_CLAUDE, "{\"type\":\"assistant\",\"x\":\"" },
		{ READER_CLAUDE, "{\"type\":\"user\",\"x\":\"" },
		{ READER_CODEX, "{\"type\":\"item.completed\",\"x\":\"" },
		{ READER_GEMINI, "{\"type\":\"tool_result\",\"x\":\"" },
		{ READER_OPENCODE, "{\"type\":\"tool_use\",\"x\":\"" },
		{ READER_COPILOT, "{\"type\":\"tool.execution_complete\",\"x\":\"" },
		{ READER_QWEN, "{\"type\":\"user\",\"x\":\"" },
		{ READER_PI, "{\"type\":\"message_end\",\"x\":\"" },
	};
	size_t room = READER_LINE_MAX + 1, size;
	char *fill = xcalloc(room, 1);

	memset(fill, 'x', room);
	for (size_t i = 0; i < COUNT(lost); i++) {
		char *name = xasprintf("%s/good", state_name(&reader_names, (int)lost[i].kind)),
		    *data = load(name, &size);
		struct reader *r = reader_new(lost[i].kind);
		struct agent_result result;

		reader_feed(r, data, size);
		ck_assert(reader_is_over(r));
		reader_feed(r, "\n", 1);
		reader_feed(r, lost[i].head, strlen(lost[i].head));
		reader_feed(r, fill, room);
		reader_feed(r, "\"}\n", 3);
		reader_end(r, &result);
		ck_assert_msg(result.is_error && result.incomplete, "%s", lost[i].head);
		agent_result_release(&result);
		free(data);
		free(name);
	}
	free(fill);
}
END_TEST

/* What was paid for up to a result that was left behind stays known. */
START_TEST(left_behind_is_paid)
{
	static const char further[] = "\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"5e55-10\"}\n";
	size_t size;
	char *data = load("claude/good", &size), *both = xasprintf("%s%s", data, further);
	struct agent_result r = read_data(READER_CLAUDE, both, strlen(both));

	ck_assert(r.is_error && r.incomplete);
	ck_assert_str_eq(r.text, "");
	ck_assert_int_eq(r.tokens_input, 1200);
	ck_assert(r.cost_usd > 0.0124 && r.cost_usd < 0.0126);
	ck_assert_int_eq(r.provider, PROVIDER_OK);
	agent_result_release(&r);
	free(both);
	free(data);
}
END_TEST

/* Copilot ends with a result of exit code 0 after work that it gave up; what it said before the
 * signal is no answer. */
START_TEST(given_up)
{
	static const char turn[] = "{\"type\":\"user.message\",\"data\":{\"content\":\"do it\"}}\n",
	    said[] = "{\"type\":\"assistant.message\",\"data\":{\"content\":\"fine\"}}\n",
	    end[] = "{\"type\":\"result\",\"exitCode\":0}\n";
	static const char *const marks[] = {
		"{\"type\":\"abort\",\"data\":{\"reason\":\"user_initiated\"}}\n",
		"{\"type\":\"assistant.idle\",\"data\":{\"aborted\":true}}\n",
	};

	for (size_t i = 0; i < COUNT(marks); i++) {
		char *left = xasprintf("%s%s%s%s%s", turn, said, marks[i], said, end),
		    *again = xasprintf("%s%s%s%s", left, turn, said, end);
		struct agent_result r = read_data(READER_COPILOT, left, strlen(left));

		ck_assert_msg(r.is_error && strncmp(r.error, "the work was interrupted", 23) == 0 &&
		    !r.transient, "%s", marks[i]);
		agent_result_release(&r);
		r = read_data(READER_COPILOT, again, strlen(again));
		ck_assert_msg(!r.is_error, "%s: %s", marks[i], r.error);
		agent_result_release(&r);
		free(left);
		free(again);
	}
}
END_TEST

/* Claude Code tells of its retries, and Codex of an error behind the failed turn: neither is the
 * end nor takes it back. */
START_TEST(behind_the_end)
{
	static const struct { enum reader_kind kind; const char *said; bool over; } rows[] = {
		{ READER_CLAUDE, "{\"type\":\"result\",\"is_error\":false,\"result\":\"x\"}\n"
		    "{\"type\":\"system\",\"subtype\":\"hook\"}\n", true },
		{ READER_CLAUDE, "{\"type\":\"result\",\"is_error\":false,\"result\":\"x\"}\n"
		    "{\"type\":\"system\",\"subtype\":\"api_retry\",\"error_status\":500}\n", false },
		{ READER_CLAUDE, "{\"type\":\"result\",\"is_error\":false,\"result\":\"x\"}\n"
		    "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"allowed\"}}\n", true },
		{ READER_CODEX, "{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n"
		    "{\"type\":\"error\",\"message\":\"no\"}\n", true },
		{ READER_CODEX, "{\"type\":\"turn.completed\"}\n{\"type\":\"item.completed\","
		    "\"item\":{\"type\":\"error\",\"message\":\"a warning\"}}\n", true },
		{ READER_CODEX, "{\"type\":\"turn.completed\"}\n"
		    "{\"type\":\"item.started\",\"item\":{\"type\":\"command_execution\"}}\n", false },
		{ READER_QWEN, "{\"type\":\"result\",\"is_error\":false,\"result\":\"x\"}\n"
		    "{\"type\":\"system\",\"subtype\":\"note\"}\n", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct agent_result r = read_data(rows[i].kind, rows[i].said, strlen(rows[i].said));

		ck_assert_msg(r.over == rows[i].over, "%s", rows[i].said);
		agent_result_release(&r);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_ends");
	TCase *tcase = tcase_create("agent_ends");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, cut_behind_every_line, 0, COUNT(streams));
	tcase_add_loop_test(tcase, cut_in_a_further_turn, 0, COUNT(streams));
	tcase_add_loop_test(tcase, gap_behind_the_result, 0, COUNT(streams));
	tcase_add_test(tcase, lost_turn);
	tcase_add_test(tcase, left_behind_is_paid);
	tcase_add_test(tcase, given_up);
	tcase_add_test(tcase, behind_the_end);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
