/* SPDX-License-Identifier: MIT */
/* What of an agent's output is progress: each event but those of a service that does not serve; no
 * line that is no event. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/progress.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static const struct {
	enum reader_kind kind;
	const char *text;
	bool progress;
} lines[] = {
	{ READER_CLAUDE, "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\","
	    "\"text\":\"x\"}]}}\n", true },
	{ READER_CLAUDE, "{\"type\":\"system\",\"subtype\":\"init\"}\n", true },
	{ READER_CLAUDE, "{\"type\":\"system\",\"subtype\":\"api_retry\",\"error_status\":503}\n", false },
	{ READER_CLAUDE, "{\"type\":\"something new\"}\n", true },
	{ READER_CLAUDE, "{\n  \"type\": \"result\"\n}\n", true },
	{ READER_CLAUDE, "{ no JSON }\n", true },	/* nobody knows what it says */
	/* it goes on */
	{ READER_CLAUDE, "{\"type\":\"assistant\",\"message\":{\"content\":[{\"ty", false },
	{ READER_CLAUDE, "", false },
	{ READER_CODEX, "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n", false },
	{ READER_CODEX, "{\"type\":\"turn.started\"}\n", true },
	{ READER_GEMINI, "[STARTUP] {} Recording metric\nretrying {\"type\":\"message\"}\n.....", false },
	{ READER_GEMINI, "noise\n{\"type\":\"error\"}\nnoise\n{\"type\":\"message\",\"content\":\"x\"}\n", true },
	{ READER_OPENCODE, "{\"type\":\"error\",\"error\":{}}\n", false },
	{ READER_OPENCODE, "{\"type\":\"step_start\"}\n", true },
	{ READER_COPILOT, "{\"type\":\"model.call_start\"}\n{\"type\":\"model.call_failure\"}\n"
	    "{\"type\":\"model.call_finished\"}\n"
	    "{\"type\":\"assistant.turn_retry\"}\n{\"type\":\"session.info\"}\n", false },
	{ READER_COPILOT, "{\"type\":\"assistant.message_delta\"}\n", true },
	{ READER_QWEN, "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\"}]}}\n", true },
	{ READER_PI, "{\"type\":\"auto_retry_start\"}\n{\"type\":\"agent_start\"}\n{\"type\":\"turn_start\"}\n"
	    "{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n", false },
	{ READER_PI, "{\"type\":\"message_update\",\"message\":{\"role\":\"assistant\","
	    "\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n", true },
};

START_TEST(of_lines)
{
	struct progress *p = progress_new(lines[_i].kind);
	size_t size = strlen(lines[_i].text);
	bool seen = false;

	ck_assert(progress_feed(p, lines[_i].text, size) == lines[_i].progress);
	progress_free(p);
	p = progress_new(lines[_i].kind);
	for (size_t i = 0; i < size; i++)
		seen |= progress_feed(p, lines[_i].text + i, 1);
	ck_assert(seen == lines[_i].progress);
	progress_free(p);
}
END_TEST

/* Behind a sign of progress the rest is passed over, up to the next line; the same behind a gap. */
START_TEST(of_what_follows)
{
	static const char event[] = "{\"type\":\"assistant\"}\n", rest[] = "istant\"}\n";
	struct progress *p = progress_new(READER_CLAUDE);

	ck_assert(progress_feed(p, event, sizeof(event) - 1));
	ck_assert(!progress_feed(p, rest, sizeof(rest) - 1));
	ck_assert(!progress_feed(p, "noise\n", 6));
	ck_assert(progress_feed(p, event, sizeof(event) - 1));
	progress_gap(p);
	/* it may be the inside of another */
	ck_assert(!progress_feed(p, event, sizeof(event) - 1));
	ck_assert(progress_feed(p, event, sizeof(event) - 1));
	progress_free(p);
}
END_TEST

/* One that is too long to be kept is one all the same. */
START_TEST(of_a_long_event)
{
	static char chunk[1024 * 1024];
	struct progress *p = progress_new(READER_CODEX);

	memset(chunk, 'x', sizeof(chunk));
	ck_assert(!progress_feed(p, "{\"type\":\"item.completed\",\"text\":\"", 33));
	for (int i = 0; i < 9; i++)
		ck_assert(!progress_feed(p, chunk, sizeof(chunk)));
	ck_assert(progress_feed(p, "\"}\n", 3));
	progress_free(p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_progress");
	TCase *tcase = tcase_create("agent_progress");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, of_lines, 0, COUNT(lines));
	tcase_add_test(tcase, of_what_follows);
	tcase_add_test(tcase, of_a_long_event);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
