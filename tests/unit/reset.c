/* SPDX-License-Identifier: MIT */
/* When a service serves again, out of its words: every form that a program is known to use,
 * at a fixed time. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/reset.h"
#include "base/zone.h"
#include "core/row.h"
#include "proto/memory.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NNBSP "\xe2\x80\xaf"
#define NONE "-"
#define SOON "+60s"

/* "2026-11-22T22:52:00Z" or "...:00.500Z" */
static int64_t utc(const char *text)
{
	int year, month, day, hour, minute, ms = 0;
	double second;

	ck_assert_msg(sscanf(text, "%d-%d-%dT%d:%d:%lf", &year, &month, &day, &hour, &minute,
	    &second) == 6, "%s", text);
	ms = (int)(second * 1000 + 0.5);
	return (zone_days(year, month, day) * 86400 + hour * 3600 + minute * 60) * 1000 + ms;
}

#define NOW "2026-11-22T20:00:00Z"	/* a Sunday */

static const struct {
	const char *words, *now, *zone, *expected;
	bool doubt;
} forms[] = {
	/* epochs */
	{ "Claude AI usage limit reached|1795395600", NOW, NULL, "2026-11-23T01:00:00Z", false },
	{ "{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1795395600,\"resets_in_seconds\":60}}",
	    NOW, NULL, "2026-11-23T01:00:00Z", false },
	{ "\"resetsAt\": 1795395600123", NOW, NULL, "2026-11-23T01:00:00.123Z", false },
	{ "X-RateLimit-Reset: 1795395600000", NOW, NULL, "2026-11-23T01:00:00Z", false },
	{ "anthropic-ratelimit-unified-reset: 1795395600", NOW, NULL, "2026-11-23T01:00:00Z", false },
	/* years ago */
	{ "usage limit reached|1700000000", NOW, NULL, NONE, false },
	/* 20 s ago: clocks differ */
	{ "usage limit reached|1795377580", NOW, NULL, SOON, false },
	/* in years */
	{ "usage limit reached|1995395600", NOW, NULL, NONE, false },
	{ "usage limit reached|17953956001795395600", NOW, NULL, NONE, false },
	/* what is meant for programs counts first */
	{ "resets 9am (UTC), resets_at=1795395600", NOW, NULL, "2026-11-23T01:00:00Z", false },
	/* seconds */
	{ "\"resets_in_seconds\": 3600", NOW, NULL, "2026-11-22T21:00:00Z", false },
	{ "retry-after: 7200", NOW, NULL, "2026-11-22T22:00:00Z", false },
	{ "Retry-After: Sun, 22 Nov 2026 21:18:59 GMT", NOW, NULL, "2026-11-22T21:18:59Z", false },
	{ "retry-after-ms: 1500", NOW, NULL, "2026-11-22T20:00:01.500Z", false },
	{ "rate limited, retry after 30", NOW, NULL, "2026-11-22T20:00:30Z", false },
	{ "retry after a while", NOW, NULL, NONE, false },
	{ "retry 3 of 5", NOW, NULL, NONE, false },
	/* durations */
	{ "You've hit your usage limit. Upgrade to Pro (https://x/y) or try again in 3 days 4 hours.",
	    NOW, NULL, "2026-11-26T00:00:00Z", false },
	{ "try again in 4 days 3 hours 2 minutes.", NOW, NULL, "2026-11-26T23:02:00Z", false },
	{ "Your quota will reset after 8h44m7s.", NOW, NULL, "2026-11-23T04:44:07Z", false },
	{ "Your quota will reset after 42h1m20s.", NOW, NULL, "2026-11-24T14:01:20Z", false },
	{ "Your quota will reset after 0s.", NOW, NULL, SOON, false },
	{ "Please try again in 45 minutes", NOW, NULL, "2026-11-22T20:45:00Z", false },
	{ "Please retry in 59.6s.", NOW, NULL, "2026-11-22T20:00:59.600Z", false },
	{ "Please try again in 1.26s. Visit", NOW, NULL, "2026-11-22T20:00:01.260Z", false },
	{ "\"retryDelay\": \"37s\"", NOW, NULL, "2026-11-22T20:00:37Z", false },
	{ "\\\"quotaResetDelay\\\":\\\"539.5ms\\\"", NOW, NULL, "2026-11-22T20:00:00.539Z", false },
	{ "Please try again in 6m0s", NOW, NULL, "2026-11-22T20:06:00Z", false },
	{ "try again in 2 hours and 5 minutes", NOW, NULL, "2026-11-22T22:05:00Z", false },
	{ "try again in about an hour", NOW, NULL, "2026-11-22T21:00:00Z", false },
	{ "try again in a few minutes", NOW, NULL, NONE, false },
	{ "resets in 1 week", NOW, NULL, "2026-11-29T20:00:00Z", false },
	{ "resets in 900 weeks", NOW, NULL, NONE, false },
	{ "try again in 99999999999999999999999999 days", NOW, NULL, NONE, false },
	{ "retried 5 times (total retry wait time: 5.62 seconds) Last error: 429", NOW, NULL, NONE, false },
	{ "stream error: exceeded retry limit; retrying 4/5 in 1.471s", NOW, NULL, NONE, false },
	/* clocks */
	{ "You've hit your session limit \xc2\xb7 resets 10:52pm (UTC)", NOW, NULL, "2026-11-22T22:52:00Z", false },
	{ "5-hour limit reached \xe2\x88\x99 resets 3pm (UTC)", NOW, NULL, "2026-11-23T15:00:00Z", false },
	{ "resets 9am (Europe/Berlin)", NOW, NULL, "2026-11-23T08:00:00Z", false },
	{ "Your limit will reset at 3pm (America/Santiago).", NOW, NULL, "2026-11-23T18:00:00Z", false },
	{ "try again at 10:52 PM.", NOW, "UTC", "2026-11-22T22:52:00Z", false },
	{ "try again at 10:52" NNBSP "PM.", NOW, "UTC", "2026-11-22T22:52:00Z", false },
	{ "try again at 9:30\xc2\xa0p.\xc2\xa0m. (America/Bogota)", NOW, NULL, "2026-11-23T02:30:00Z", false },
	{ "try again at 9:30 a. m. (America/Bogota)", NOW, NULL, "2026-11-23T14:30:00Z", false },
	{ "resets automatically at midnight Pacific", NOW, NULL, "2026-11-23T08:00:00Z", false },
	{ "Sorry, your request was rate-limited. Please wait 587 hours 33 minutes before trying again.",
	    NOW, NULL, "2026-12-17T07:33:00Z", false },
	{ "Please wait for your limit to reset on November 25, 2026 at 2:00 AM or switch", NOW,
	    "UTC", "2026-11-25T02:00:00Z", false },
	{ "You have reached your specified API usage limits. You will regain access on 2026-12-01 "
	    "at 00:00 UTC.", NOW, NULL, "2026-12-01T00:00:00Z", false },
	{ "Please wait and try again.", NOW, "UTC", NONE, false },
	{ "\xe6\x82\xa8\xe7\x9a\x84\xe9\x99\x90\xe9\xa2\x9d\xe5\xb0\x86\xe5\x9c\xa8 2026-11-23 "
	    "07:41:44 \xe9\x87\x8d\xe7\xbd\xae", NOW, "Asia/Shanghai", "2026-11-22T23:41:44Z", false },
	{ "try again at 10:52\xc2\xa0p.m.", NOW, "UTC", "2026-11-22T22:52:00Z", false },
	{ "try again at 10:52 PM.", NOW, "America/New_York", "2026-11-23T03:52:00Z", false },
	{ "try again at 10:52 PM.", NOW, "CET-1CEST,M3.5.0,M10.5.0/3", "2026-11-22T21:52:00Z", false },
	{ "resets at 22:30 UTC", NOW, NULL, "2026-11-22T22:30:00Z", false },
	{ "resets at 22:30 (UTC+2)", NOW, NULL, "2026-11-22T20:30:00Z", false },
	{ "resets at 22:30 GMT-05:30", NOW, NULL, "2026-11-23T04:00:00Z", false },
	{ "resets at 11pm PST", NOW, NULL, "2026-11-23T07:00:00Z", false },
	{ "Usage limit reached \xc2\xb7 continuing automatically at 9:45pm", NOW, "UTC",
	    "2026-11-22T21:45:00Z", false },
	{ "resets 12am (UTC)", NOW, NULL, "2026-11-23T00:00:00Z", false },
	{ "resets 12pm (UTC)", NOW, NULL, "2026-11-23T12:00:00Z", false },
	{ "resets 12:30am (UTC)", NOW, NULL, "2026-11-23T00:30:00Z", false },
	{ "resets at midnight (UTC)", NOW, NULL, "2026-11-23T00:00:00Z", false },
	{ "resets at noon UTC", NOW, NULL, "2026-11-23T12:00:00Z", false },
	{ "resets 13pm (UTC)", NOW, NULL, NONE, false },
	{ "resets 10:99pm (UTC)", NOW, NULL, NONE, false },
	{ "resets 24:30 UTC", NOW, NULL, NONE, false },
	{ "resets 9", NOW, NULL, NONE, false },
	/* a minute ago is not tomorrow */
	{ "resets 7:59pm (UTC)", NOW, NULL, SOON, false },
	{ "resets 8pm (UTC)", NOW, NULL, SOON, false },
	{ "resets 7:57pm (UTC)", NOW, NULL, "2026-11-23T19:57:00Z", false },
	{ "resets 11:59pm (UTC)", "2026-11-23T00:00:40Z", NULL, SOON, false },	/* of yesterday */
	{ "resets 9am (in an hour)", NOW, "UTC", "2026-11-23T09:00:00Z", false },
	/* nights in which clocks are changed */
	{ "resets 3am (Europe/Berlin)", "2026-03-29T00:30:00Z", NULL, "2026-03-29T01:00:00Z", false },
	/* there is none */
	{ "resets 2:30am (Europe/Berlin)", "2026-03-29T00:30:00Z", NULL, "2026-03-29T01:30:00Z", false },
	{ "resets 9am (Europe/Berlin)", "2026-03-28T20:00:00Z", NULL, "2026-03-29T07:00:00Z", false },
	{ "resets 9am (Europe/Berlin)", "2026-10-24T20:00:00Z", NULL, "2026-10-25T08:00:00Z", false },
	/* the first of two */
	{ "resets 2:30am (Europe/Berlin)", "2026-10-25T00:00:00Z", NULL, "2026-10-25T00:30:00Z", false },
	/* the second of two */
	{ "resets 2:30am (Europe/Berlin)", "2026-10-25T00:45:00Z", NULL, "2026-10-25T01:30:00Z", false },
	{ "resets 2:30am (Europe/Berlin)", "2026-10-25T01:45:00Z", NULL, "2026-10-26T01:30:00Z", false },
	{ "resets 3am (America/New_York)", "2026-03-08T06:30:00Z", NULL, "2026-03-08T07:00:00Z", false },
	{ "resets 2:30am (America/New_York)", "2026-03-08T06:30:00Z", NULL, "2026-03-08T07:30:00Z", false },
	{ "resets 1:30am (America/New_York)", "2026-11-01T05:00:00Z", NULL, "2026-11-01T05:30:00Z", false },
	{ "resets 1:30am (America/New_York)", "2026-11-01T05:45:00Z", NULL, "2026-11-01T06:30:00Z", false },
	{ "resets 9am (America/New_York)", "2026-10-31T20:00:00Z", NULL, "2026-11-01T14:00:00Z", false },
	{ "try again at 1:30 AM", "2026-11-01T05:45:00Z", "America/New_York", "2026-11-01T06:30:00Z", false },
	/* days */
	{ "resets Nov 25, 9am (America/New_York)", NOW, NULL, "2026-11-25T14:00:00Z", false },
	{ "resets Aug 28 at 3pm (UTC)", "2026-08-22T00:00:00Z", NULL, "2026-08-28T15:00:00Z", false },
	{ "try again at Apr 28th, 2026 10:03 PM", "2026-04-22T00:00:00Z", "UTC", "2026-04-28T22:03:00Z", false },
	{ "try again at Oct 1st, 2026 9:31 AM.", "2026-09-28T00:00:00Z", "Europe/Berlin",
	    "2026-10-01T07:31:00Z", false },
	{ "resets Nov 25", NOW, "UTC", "2026-11-25T00:00:00Z", false },
	{ "resets on 25 November 2026 (UTC)", NOW, NULL, "2026-11-25T00:00:00Z", false },
	/* of next year */
	{ "resets Jan 2, 9am (UTC)", "2026-12-30T12:00:00Z", NULL, "2027-01-02T09:00:00Z", false },
	{ "resets Dec 31, 11:59pm (UTC)", "2027-01-01T00:00:30Z", NULL, SOON, false },
	{ "resets 1am (UTC)", "2026-12-31T23:30:00Z", NULL, "2027-01-01T01:00:00Z", false },
	{ "resets Feb 29, 9am (UTC)", "2028-02-27T12:00:00Z", NULL, "2028-02-29T09:00:00Z", false },
	{ "resets 9am (UTC)", "2028-02-28T12:00:00Z", NULL, "2028-02-29T09:00:00Z", false },
	{ "resets Feb 29, 9am (UTC)", "2026-02-27T12:00:00Z", NULL, NONE, false },
	{ "resets Feb 30, 9am (UTC)", "2028-02-27T12:00:00Z", NULL, NONE, false },
	{ "resets Nov 20, 9am (UTC)", NOW, NULL, NONE, false },			/* over */
	{ "resets tomorrow at 9am (UTC)", NOW, NULL, "2026-11-23T09:00:00Z", false },
	{ "weekly limit \xc2\xb7 resets Mon 12:00am (UTC)", NOW, NULL, "2026-11-23T00:00:00Z", false },
	{ "resets Sunday 9pm (UTC)", NOW, NULL, "2026-11-22T21:00:00Z", false },
	{ "resets Sunday 9am (UTC)", NOW, NULL, "2026-11-29T09:00:00Z", false },
	{ "resets Monday", NOW, "UTC", "2026-11-23T00:00:00Z", false },
	{ "resets monthly", NOW, "UTC", NONE, false },
	{ "\"quotaResetTimeStamp\": \"2026-11-23T00:10:00Z\"", NOW, NULL, "2026-11-23T00:10:00Z", false },
	{ "limit will reset at 2026-11-23 13:00:00", NOW, "Asia/Shanghai", "2026-11-23T05:00:00Z", false },
	{ "reset at 2026-11-23T13:00:00.250+02:00", NOW, NULL, "2026-11-23T11:00:00Z", false },
	{ "reset at 2026-13-23", NOW, NULL, NONE, false },
	/* zones that nobody knows */
	{ "resets 9pm (Mars/Olympus)", NOW, "UTC", "2026-11-22T21:00:00Z", true },
	{ "resets 11pm (Mars/Olympus)", NOW, "Europe/Berlin", "2026-11-22T22:00:00Z", true },
	{ "try again at 9 PM", NOW, "Mars/Olympus", "2026-11-22T21:00:00Z", true },
	{ "resets 9pm (../../etc/passwd)", NOW, "UTC", "2026-11-22T21:00:00Z", false },
	/* nothing */
	{ "", NOW, NULL, NONE, false },
	{ "try again later", NOW, NULL, NONE, false },
	{ "You've hit your monthly spend limit \xc2\xb7 raise it at claude.ai/settings/usage", NOW, NULL, NONE, false },
	{ "presets 9am (UTC)", NOW, NULL, NONE, false },
	{ "I met them at 10:52 PM", NOW, NULL, NONE, false },
	{ "reset", NOW, NULL, NONE, false },
	{ "resets_at", NOW, NULL, NONE, false },
	{ "try again, may work then", NOW, "UTC", NONE, false },
};

START_TEST(words)
{
	int64_t now = utc(forms[_i].now), at, expected;
	struct reset_place place = { now, forms[_i].zone, ZONE_DATABASE };
	char *doubt;

	expected = strcmp(forms[_i].expected, NONE) == 0 ? ROW_NONE :
	    strcmp(forms[_i].expected, SOON) == 0 ? now + 60000 : utc(forms[_i].expected);
	at = reset_time(forms[_i].words, &place, &doubt);
	ck_assert_msg(at == expected, "%s: %lld, not %lld (%+lld s)", forms[_i].words,
	    (long long)at, (long long)expected, (long long)(at - expected) / 1000);
	ck_assert_msg((doubt != NULL) == forms[_i].doubt, "%s: %s", forms[_i].words, doubt);
	free(doubt);
}
END_TEST

/* This process may be anywhere: only the given zone counts, and the process keeps its own. */
START_TEST(own_zone_untouched)
{
	struct reset_place place = { utc(NOW), "Europe/Berlin", ZONE_DATABASE };
	char *doubt;

	setenv("TZ", "Asia/Tokyo", 1);
	tzset();
	ck_assert_int_eq(reset_time("try again at 10:52 PM", &place, &doubt), utc("2026-11-22T21:52:00Z"));
	ck_assert_int_eq(reset_time("resets 9am (America/New_York)", &place, &doubt), utc("2026-11-23T14:00:00Z"));
	ck_assert_str_eq(getenv("TZ"), "Asia/Tokyo");
	ck_assert_str_eq(tzname[0], "JST");
}
END_TEST

/* Without the database a clock is read as the agent's local time, or as UTC, and it says so. */
START_TEST(no_database)
{
	struct reset_place place = { utc(NOW), "CET-1CEST,M3.5.0,M10.5.0/3", "/nowhere" };
	char *doubt;

	ck_assert_int_eq(reset_time("resets 10pm (Europe/Paris)", &place, &doubt), utc("2026-11-22T21:00:00Z"));
	ck_assert_str_eq(doubt, "unknown time zone Europe/Paris (on Debian, install tzdata); assumed "
	    "CET-1CEST,M3.5.0,M10.5.0/3");
	free(doubt);
	place.zone = "Europe/Berlin";
	ck_assert_int_eq(reset_time("resets 10pm (Europe/Paris)", &place, &doubt), utc("2026-11-22T22:00:00Z"));
	ck_assert_str_eq(doubt, "unknown time zone Europe/Paris (on Debian, install "
	    "tzdata); assumed UTC");
	free(doubt);
	ck_assert_int_eq(reset_time("try again at 10 PM", &place, &doubt), utc("2026-11-22T22:00:00Z"));
	ck_assert_str_eq(doubt, "unknown time zone TZ=Europe/Berlin of the agent (on Debian, "
	    "install tzdata); assumed UTC");
	free(doubt);
	ck_assert_int_eq(reset_time("resets 10pm (UTC)", &place, &doubt), utc("2026-11-22T22:00:00Z"));
	ck_assert_ptr_null(doubt);
}
END_TEST

START_TEST(epochs)
{
	int64_t now = utc(NOW);

	ck_assert_int_eq(reset_epoch(now / 1000 + 5, now), now + 5000);
	ck_assert_int_eq(reset_epoch(now + 5, now), now + 5);
	ck_assert_int_eq(reset_epoch(now / 1000 - 5, now), now + 60000);
	ck_assert_int_eq(reset_epoch(0, now), ROW_NONE);
	ck_assert_int_eq(reset_epoch(-1, now), ROW_NONE);
	ck_assert_int_eq(reset_epoch(INT64_MIN, now), ROW_NONE);
	ck_assert_int_eq(reset_epoch(INT64_MAX, now), ROW_NONE);
}
END_TEST

/* The notice ends a long text; one that only repeats the words that speak of a time ends soon. */
START_TEST(long_texts)
{
	struct reset_place place = { utc(NOW), NULL, ZONE_DATABASE };
	struct buf text = { 0 };
	char *doubt;

	for (int i = 0; i < 200000; i++)
		buf_adds(&text, "words ");
	buf_adds(&text, "limit \xc2\xb7 resets 10:52pm (UTC)");
	ck_assert_int_eq(reset_time(text.data, &place, &doubt), utc("2026-11-22T22:52:00Z"));
	text.size = 0;
	for (int i = 0; i < 5000; i++)
		buf_adds(&text, "resets Nov 1, 9am (Europe/Berlin) ");
	ck_assert_int_eq(reset_time(text.data, &place, &doubt), ROW_NONE);
	buf_release(&text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reset");
	TCase *tcase = tcase_create("reset");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, words, 0, COUNT(forms));
	tcase_add_test(tcase, own_zone_untouched);
	tcase_add_test(tcase, no_database);
	tcase_add_test(tcase, epochs);
	tcase_add_test(tcase, long_texts);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
