/* SPDX-License-Identifier: MIT */
/* 200 MiB through each reader, half of it ordinary events, half of it one line: what it holds has a
 * bound, and so has the process. */
#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/reader.h"
#include "proto/memory.h"

#ifdef __SANITIZE_ADDRESS__
/* of sanitizer/allocator_interface.h, which comes with clang only */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { MIB = 1024 * 1024, HALF = 100 * MIB, PIECE = 64 * 1024 };
/* One document, twice an answer, and room to grow for both; the process has a parsed
 * document beside it. */
enum { HELD_MAX = 64 * MIB, RESIDENT_MAX_KIB = 160 * 1024 };

/* events: lines of which each %s is a text of 20 KiB; line: of one that has no end, with its tail;
 * answer: what ends it well. */
static const struct {
	enum reader_kind kind;
	const char *events, *line, *tail, *end, *text;
} streams[] = {
	{ READER_TEXT, "%s\n", "", "\n", "last words", NULL },
	{ READER_CLAUDE,
	  "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"model\":\"m\","
	  "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"usage\":{\"input_tokens\":7}}}\n"
	  "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
	  "\"is_error\":true,\"content\":\"%s\"}]}}\n",
	  "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"content\":\"", "\"}]}}\n",
	  "{\"type\":\"result\",\"is_error\":false,\"result\":\"fine\",\"usage\":{\"input_tokens\":7}}\n",
	  "fine" },
	{ READER_CODEX,
	  "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\","
	  "\"aggregated_output\":\"%s\",\"status\":\"failed\"}}\n"
	  "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"%s\"}}\n"
	  "{\"type\":\"error\",\"message\":\"%s\"}\n",
	  "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\",\"aggregated_output\":\"",
	  "\"}}\n",
	  "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"fine\"}}\n"
	  "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":7}}\n", "fine" },
	{ READER_GEMINI,
	  "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"%s\"}\n"
	  "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"%s\"}\n",
	  "{\"type\":\"tool_result\",\"output\":\"", "\"}\n",
	  "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"fine\"}\n"
	  "{\"type\":\"result\",\"status\":\"success\",\"stats\":{\"input_tokens\":7}}\n", "fine" },
	{ READER_OPENCODE,
	  "{\"type\":\"text\",\"part\":{\"text\":\"%s\"}}\n"
	  "{\"type\":\"tool_use\",\"part\":{\"state\":{\"status\":\"error\",\"output\":\"%s\"}}}\n",
	  "{\"type\":\"tool_use\",\"part\":{\"state\":{\"output\":\"", "\"}}}\n",
	  "{\"type\":\"text\",\"part\":{\"text\":\"fine\"}}\n"
	  "{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\",\"tokens\":{\"input\":7}}}\n", "fine" },
	{ READER_COPILOT,
	  "{\"type\":\"assistant.message\",\"data\":{\"content\":\"%s\"}}\n"
	  "{\"type\":\"tool.execution_complete\",\"data\":{\"success\":false,\"result\":\"%s\"}}\n"
	  "{\"type\":\"session.error\",\"data\":{\"message\":\"%s\"}}\n",
	  "{\"type\":\"tool.execution_complete\",\"data\":{\"result\":\"", "\"}}\n",
	  "{\"type\":\"assistant.message\",\"data\":{\"content\":\"fine\"}}\n"
	  "{\"type\":\"result\",\"exitCode\":0}\n", "fine" },
	{ READER_QWEN,
	  "{\"type\":\"assistant\",\"session_id\":\"%s\"}\n{\"type\":\"user\","
	  "\"message\":{\"content\":[{\"type\":\"tool_result\",\"is_error\":true,\"content\":\"%s\"}]}}\n",
	  "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"content\":\"", "\"}]}}\n",
	  "{\"type\":\"result\",\"is_error\":false,\"result\":\"fine\",\"usage\":{\"input_tokens\":7}}\n",
	  "fine" },
	{ READER_PI,
	  "{\"type\":\"message_update\",\"message\":{\"role\":\"assistant\","
	  "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}\n"
	  "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\","
	  "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"stopReason\":\"toolUse\"}}\n",
	  "{\"type\":\"turn_end\",\"messages\":[\"", "\"]}\n",
	  "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"usage\":{\"input\":7},"
	  "\"content\":[{\"type\":\"text\",\"text\":\"fine\"}],\"stopReason\":\"stop\"}}\n"
	  "{\"type\":\"agent_end\"}\n", "fine" },
};

static size_t held(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static size_t fed(struct reader *r, const char *data, size_t size, size_t most)
{
	for (size_t i = 0; i < size; i += PIECE) {
		size_t now;

		reader_feed(r, data + i, size - i < PIECE ? size - i : PIECE);
		now = held();
		if (now > most)
			most = now;
	}
	return most;
}

static void say(struct reader *r, const char *text)
{
	fed(r, text, strlen(text), 0);
}

/* Each %s filled with a text that has no line end. */
static void fill(struct buf *block, const char *events)
{
	for (const char *p = events; *p != '\0'; p++) {
		for (int i = 0; strncmp(p, "%s", 2) == 0 && i < 20 * 1024 / 16; i++)
			buf_adds(block, "some more words ");
		if (strncmp(p, "%s", 2) == 0)
			p++;
		else
			buf_add(block, p, 1);
	}
}

START_TEST(bounded)
{
	static char line[MIB];
	struct buf block = { 0 };
	struct reader *r = reader_new(streams[_i].kind);
	struct agent_result result;
	long resident;
	size_t before, most = 0;

	fill(&block, streams[_i].events);
	memset(line, 'x', sizeof(line));
	before = held();
	resident = resident_kib();
	for (size_t size = 0; size < HALF; size += block.size)
		most = fed(r, block.data, block.size, most);
	most = fed(r, streams[_i].line, strlen(streams[_i].line), most);
	for (size_t size = 0; size < HALF; size += sizeof(line))
		most = fed(r, line, sizeof(line), most);
	most = fed(r, streams[_i].tail, strlen(streams[_i].tail), most);
	fed(r, streams[_i].end, strlen(streams[_i].end), most);
	ck_assert_msg(most < before + HELD_MAX, "%zu MiB held", (most - before) / MIB);
#ifndef __SANITIZE_ADDRESS__
	ck_assert_int_lt(resident_kib() - resident, RESIDENT_MAX_KIB);
#endif
	reader_end(r, &result);
	ck_assert(!result.is_error && result.size <= AGENT_TEXT_MAX);
	if (streams[_i].text != NULL)
		ck_assert_msg(strcmp(result.text, streams[_i].text) == 0 && !result.truncated,
		    "\"%.40s\"", result.text);
	ck_assert(result.tokens_input == 7 || streams[_i].kind == READER_TEXT || streams[_i].kind == READER_COPILOT);
	agent_result_release(&result);
	buf_release(&block);
	(void)resident;
}
END_TEST

/* Pi says all once more in the end; of a long conversation that is too much for one document, and
 * nothing of it is missed. */
START_TEST(long_conversation)
{
	static const char answer[] = "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\","
	    "\"content\":[{\"type\":\"text\",\"text\":\"fine\"}],\"stopReason\":\"stop\"}}\n";
	static char line[MIB];
	struct reader *r = reader_new(READER_PI);
	struct agent_result result;

	memset(line, 'x', sizeof(line));
	say(r, answer);
	say(r, "{\"type\":\"agent_end\",\"messages\":[\"");
	for (size_t size = 0; size < 20 * MIB; size += sizeof(line))
		fed(r, line, sizeof(line), 0);
	say(r, "\"]}\n");
	ck_assert(reader_is_over(r));
	reader_end(r, &result);
	ck_assert(!result.is_error && !result.truncated);
	ck_assert_str_eq(result.text, "fine");
	agent_result_release(&result);
}
END_TEST

/* A result that is too long is no result, and the one before it no longer the last. */
START_TEST(result_too_long)
{
	static char line[MIB];
	struct reader *r = reader_new(READER_CLAUDE);
	struct agent_result result;

	memset(line, 'x', sizeof(line));
	say(r, "{\"type\":\"result\",\"is_error\":false,\"result\":\"first\"}\n"
	    "{\"type\":\"result\",\"is_error\":true,\"result\":\"");
	for (size_t size = 0; size < 20 * MIB; size += sizeof(line))
		fed(r, line, sizeof(line), 0);
	say(r, "\"}\n");
	reader_end(r, &result);
	ck_assert(result.is_error && result.incomplete);
	agent_result_release(&result);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_memory");
	TCase *tcase = tcase_create("agent_memory");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, bounded, 0, COUNT(streams));
	tcase_add_test(tcase, long_conversation);
	tcase_add_test(tcase, result_too_long);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
