/* SPDX-License-Identifier: MIT */
/* What programs report while they ask a service again that refuses them, and when they
 * are ended for it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/notice.h"
#include "base/zone.h"
#include "core/row.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NOW INT64_C(1795377600000)
#define S INT64_C(1000)
#define HOUR (3600 * S)

#define CLAUDE(status, delay) \
	"{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,\"max_retries\":10," \
	    "\"retry_delay_ms\":" delay ",\"error_status\":" status \
	",\"error\":\"its words\",\"session_id\":\"s\"}\n"
#define GEMINI(status, words) "Attempt 1 failed with status " status ". Retrying with backoff... " words "\n"
#define OPENCODE(small, words) \
	"timestamp=2026-11-23T02:00:16.622Z level=ERROR run=afdb6db4 message=\"stream error\" " \
	    "providerID=scripted modelID=m small=" small \
	" agent=build mode=primary error.error=\"" words "\"\n"
#define QWEN(how) "[log_7fed0e, retryOf: log_fc7b89] post http://127.0.0.1:1/v1/chat/completions " how "\n"

static const struct reset_place place = { NOW, "UTC", ZONE_DATABASE };

/* Other members in another order, which programs change. */
#define CLAUDE_OTHER "{\"error_status\": 401, \"subtype\": \"api_retry\", \"type\": \"system\"}\n"

/* after: s until it serves again, ROW_NONE: not told. end: when it is ended for that, s after the
 * line; -1: never. */
static const struct {
	enum reader_kind kind;
	enum notice_stream stream;
	const char *said;
	int64_t tries;
	enum provider_result provider;
	int64_t after;
	const char *words;
	int64_t end;
	enum provider_result decided;
} rows[] = {
	{ READER_CLAUDE, NOTICE_STDOUT, CLAUDE("401", "600"), 1, PROVIDER_AUTH, 1, "its words", -1, PROVIDER_NONE },
	{ READER_CLAUDE, NOTICE_STDOUT, CLAUDE("401", "600") CLAUDE("401", "1200"), 2,
	    PROVIDER_AUTH, 1, "its words", 0, PROVIDER_AUTH },
	{ READER_CLAUDE, NOTICE_STDOUT, CLAUDE("401", "600") "{\"type\":\"assistant\"}\n"
	    CLAUDE("401", "600"), 1, PROVIDER_AUTH, 1, "its words", -1, PROVIDER_NONE },
	{ READER_CLAUDE, NOTICE_STDOUT, CLAUDE_OTHER, 1, PROVIDER_AUTH, ROW_NONE, "", -1, PROVIDER_NONE },
	{ READER_CLAUDE, NOTICE_STDOUT,
	    "{\"type\":\"assistant\",\"subtype\":\"api_retry\",\"error_status\":401}\n", 0,
	    PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_CLAUDE, NOTICE_STDOUT, CLAUDE("500", "600"), 0, PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_CLAUDE, NOTICE_STDOUT, CLAUDE("429", "7200000"), 1, PROVIDER_THROTTLED, 7200,
	    "its words", 10, PROVIDER_LIMIT },
	/* its own words in an answer or in what a tool printed stand in a string */
	{ READER_CLAUDE, NOTICE_STDOUT, "{\"type\":\"user\",\"x\":\"{\\\"type\\\":\\\"system\\\","
	  "\\\"subtype\\\":\\\"api_retry\\\",\\\"error_status\\\":401\"}\n", 0,
	  PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_CLAUDE, NOTICE_STDERR, CLAUDE("401", "1") CLAUDE("401", "1"), 0, PROVIDER_NONE,
	    ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_GEMINI, NOTICE_STDERR, GEMINI("429",
	  "_ApiError: {\"error\":{\"message\":\"Rate limit reached\"}}"), 1, PROVIDER_THROTTLED, ROW_NONE,
	  "_ApiError: {\"error\":{\"message\":\"Rate limit reached\"}}", 40, PROVIDER_LIMIT },
	{ READER_GEMINI, NOTICE_STDERR,
	  GEMINI("429", "You have exhausted your capacity. Your quota will reset after 8h44m7s."),
	  1, PROVIDER_LIMIT, 8 * 3600 + 44 * 60 + 7,
	  "You have exhausted your capacity. Your quota will reset after 8h44m7s.", 10, PROVIDER_LIMIT },
	{ READER_GEMINI, NOTICE_STDERR, GEMINI("429", "Please retry in 50s"), 1, PROVIDER_THROTTLED,
	    50, "Please retry in 50s", 50, PROVIDER_LIMIT },
	{ READER_GEMINI, NOTICE_STDERR, GEMINI("503", "overloaded"), 0, PROVIDER_NONE, ROW_NONE,
	    NULL, -1, PROVIDER_NONE },
	{ READER_GEMINI, NOTICE_STDOUT, GEMINI("429", "x"), 0, PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_OPENCODE, NOTICE_STDERR, OPENCODE("false",
	  "AI_APICallError: Rate limit reached for requests"), 1, PROVIDER_THROTTLED, ROW_NONE,
	  "AI_APICallError: Rate limit reached for requests", 40, PROVIDER_LIMIT },
	{ READER_OPENCODE, NOTICE_STDERR, OPENCODE("false",
	  "AI_APICallError: The usage limit has been reached"), 1, PROVIDER_LIMIT, ROW_NONE,
	  "AI_APICallError: The usage limit has been reached", 10, PROVIDER_LIMIT },
	{ READER_OPENCODE, NOTICE_STDERR, OPENCODE("true", "AI_RetryError: The usage limit has been reached"),
	    0, PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_OPENCODE, NOTICE_STDERR, OPENCODE("false", "AI_APICallError: The server had an error"),
	    0, PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
	{ READER_QWEN, NOTICE_STDOUT, QWEN("failed with status 429 in 9ms - retrying, 2 attempts remaining")
	  QWEN("failed with status 429 in 9ms - error; no more retries left"),
	  2, PROVIDER_THROTTLED, ROW_NONE, "post http://127.0.0.1:1/v1/chat/completions failed "
	  "with status 429 in 9ms - error; no more retries left", 40, PROVIDER_LIMIT },
	{ READER_QWEN, NOTICE_STDOUT, QWEN("failed with status 429 in 9ms")
	  QWEN("succeeded with status 200 in 9ms"), 0, PROVIDER_THROTTLED, ROW_NONE,
	  "post http://127.0.0.1:1/v1/chat/completions failed with status 429 in 9ms", -1, PROVIDER_NONE },
	{ READER_QWEN, NOTICE_STDERR, GEMINI("429", "x"), 1, PROVIDER_THROTTLED, ROW_NONE, "x", 40, PROVIDER_LIMIT },
	{ READER_CODEX, NOTICE_STDERR, GEMINI("429", "x"), 0, PROVIDER_NONE, ROW_NONE, NULL, -1, PROVIDER_NONE },
};

START_TEST(reports)
{
	struct notice n;

	notice_init(&n);
	notice_read(&n, rows[_i].kind, rows[_i].stream, rows[_i].said, strlen(rows[_i].said), &place);
	ck_assert_int_eq(n.tries, rows[_i].tries);
	ck_assert_int_eq(n.provider, rows[_i].provider);
	if (rows[_i].after == ROW_NONE)
		ck_assert_int_eq(n.reset_at, ROW_NONE);
	else
		ck_assert(llabs(n.reset_at - (NOW + rows[_i].after * S)) <= 1 * S);
	ck_assert_pstr_eq(n.words, rows[_i].words);
	if (rows[_i].end > 0)
		ck_assert_int_eq(notice_decide(&n, NOW + rows[_i].end * S - 1), PROVIDER_NONE);
	if (rows[_i].end >= 0)
		ck_assert_int_eq(notice_decide(&n, NOW + rows[_i].end * S), rows[_i].decided);
	else
		ck_assert_int_eq(notice_decide(&n, NOW + 24 * HOUR), PROVIDER_NONE);
	notice_release(&n);
}
END_TEST

/* The work went on between two refusals: the second begins the time anew. */
START_TEST(progress_begins_anew)
{
	static const char refused[] = GEMINI("429", "x"), event[] = "{\"type\":\"tool_use\"}\n";
	struct reset_place later = { NOW + 60 * S, "UTC", ZONE_DATABASE };
	struct notice n;

	notice_init(&n);
	notice_read(&n, READER_GEMINI, NOTICE_STDERR, refused, strlen(refused), &place);
	notice_read(&n, READER_GEMINI, NOTICE_STDERR, refused, strlen(refused), &later);
	ck_assert_int_eq(notice_decide(&n, later.now), PROVIDER_LIMIT);
	notice_read(&n, READER_GEMINI, NOTICE_STDOUT, event, strlen(event), &later);
	ck_assert_int_eq(notice_decide(&n, later.now), PROVIDER_NONE);
	ck_assert_int_eq(n.provider, PROVIDER_THROTTLED);
	notice_read(&n, READER_GEMINI, NOTICE_STDERR, refused, strlen(refused), &later);
	ck_assert_int_eq(notice_decide(&n, later.now + 39 * S), PROVIDER_NONE);
	ck_assert_int_eq(notice_decide(&n, later.now + 40 * S), PROVIDER_LIMIT);
	notice_release(&n);
}
END_TEST

START_TEST(who_can_tell)
{
	static const bool tells[READER_KINDS] = { [READER_CLAUDE] = true, [READER_GEMINI] = true,
	    [READER_OPENCODE] = true, [READER_QWEN] = true,
		[READER_PI] = true };

	for (int kind = 0; kind < READER_KINDS; kind++)
		ck_assert(notice_can_tell((enum reader_kind)kind) == tells[kind]);
}
END_TEST

/* Lines without an end wait for it; what is no text harms nobody. */
START_TEST(any_bytes)
{
	static const char bytes[] = "Attempt \0 failed with status 429\n\xff\xfe\n"
	    "Attempt 1 failed with status 429. Retrying";
	struct notice n;

	notice_init(&n);
	notice_read(&n, READER_GEMINI, NOTICE_STDERR, bytes, sizeof(bytes) - 1, &place);
	ck_assert_int_eq(n.tries, 0);
	notice_release(&n);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_notice");
	TCase *tcase = tcase_create("agent_notice");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, reports, 0, COUNT(rows));
	tcase_add_test(tcase, progress_begins_anew);
	tcase_add_test(tcase, who_can_tell);
	tcase_add_test(tcase, any_bytes);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
