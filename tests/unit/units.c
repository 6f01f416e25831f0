/* SPDX-License-Identifier: MIT */
/* Durations, sizes and times, both ways. */
#include "proto/units.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#define BAD INT64_MIN
#define LARGE (INT64_MIN + 1)

static int wanted_rv(int64_t wanted)
{
	return wanted == BAD ? -EINVAL : wanted == LARGE ? -ERANGE : 0;
}

static const struct {
	const char *text;
	int64_t ms;
} durations[] = {
	{ "90", 90000 }, { "90s", 90000 }, { "15m", 900000 }, { "2h", 7200000 }, { "1d", 86400000 }, { "0", 0 },
	{ "36500d", 36500 * INT64_C(86400000) }, { "36501d", LARGE }, { "", BAD }, { "s", BAD },
	{ "-1", BAD }, { "+1", BAD }, { "1.5h", BAD },
	{ "1w", BAD }, { "1hh", BAD }, { " 1", BAD }, { "1 ", BAD }, { "1S", BAD }, { "9223372036854775807", LARGE },
	{ "99999999999999999999", LARGE }, { "0x10", BAD }, { "99999999999999999999x", BAD }, { "1h30m", BAD },
};

START_TEST(duration_in)
{
	int64_t ms = BAD;
	int rv = duration_parse(durations[_i].text, &ms);

	ck_assert_int_eq(rv, wanted_rv(durations[_i].ms));
	ck_assert_int_eq(ms, rv == 0 ? durations[_i].ms : BAD);
}
END_TEST

static const struct {
	int64_t ms;
	const char *text;
} shown_durations[] = {
	{ 0, "0ms" }, { -5, "0ms" }, { 850, "850ms" }, { 999, "999ms" }, { 1000, "1s" },
	{ 12900, "12s" }, { 59999, "59s" }, { 60000, "1m 00s" },
	{ 185000, "3m 05s" }, { 3600000, "1h 00m" }, { 7800000, "2h 10m" }, { 273600000, "3d 4h" },
};

START_TEST(duration_out)
{
	char text[32];

	duration_format(shown_durations[_i].ms, text, sizeof(text));
	ck_assert_str_eq(text, shown_durations[_i].text);
}
END_TEST

static const struct {
	const char *text;
	int64_t bytes;
} sizes[] = {
	{ "4096", 4096 }, { "64K", 65536 }, { "64M", 67108864 }, { "1G", 1073741824 }, { "0", 0 },
	{ "64k", BAD }, { "64MB", BAD }, { "", BAD },
	{ "K", BAD }, { "9223372036854775807", INT64_MAX }, { "9223372036854775808", LARGE },
	{ "9007199254740992K", LARGE }, { "-1", BAD },
};

START_TEST(size_in)
{
	int64_t bytes = BAD;
	int rv = size_parse(sizes[_i].text, &bytes);

	ck_assert_int_eq(rv, wanted_rv(sizes[_i].bytes));
	ck_assert_int_eq(bytes, rv == 0 ? sizes[_i].bytes : BAD);
}
END_TEST

static const struct {
	int64_t bytes;
	const char *text;
} shown_sizes[] = {
	{ 0, "0 B" }, { 812, "812 B" }, { 1023, "1023 B" }, { 1024, "1 KiB" }, { 1229, "1.2 KiB" },
	{ 10188, "9.9 KiB" }, { 10200, "10 KiB" },
	{ 67108864, "64 MiB" }, { 1048575, "1 MiB" }, { 1073741824, "1 GiB" }, { INT64_MAX, "8 EiB" },
};

START_TEST(size_out)
{
	char text[32];

	size_format(shown_sizes[_i].bytes, text, sizeof(text));
	ck_assert_str_eq(text, shown_sizes[_i].text);
}
END_TEST

static const struct {
	const char *text;
	int64_t ms;
} times[] = {
	{ "2026-11-21T22:05:57.123Z", INT64_C(1795298757123) }, { "1970-01-01T00:00:00Z", 0 },
	{ "1969-12-31T23:59:59.999Z", -1 },
	{ "2024-02-29T12:00:00+02:00", INT64_C(1709200800000) }, { "2024-02-29t10:00:00z", INT64_C(1709200800000) },
	{ "2026-11-21T22:05:57.1239Z", INT64_C(1795298757123) }, { "2026-11-21T22:05:57.1Z", INT64_C(1795298757100) },
	{ "2016-12-31T23:59:60Z", INT64_C(1483228800000) },
	{ "2023-02-29T12:00:00Z", BAD }, { "2024-13-01T12:00:00Z", BAD },
	{ "2024-01-00T12:00:00Z", BAD }, { "2024-01-99T12:00:00Z", BAD },
	{ "2024-00-01T12:00:00Z", BAD }, { "2024-01-01T24:00:00Z", BAD },
	{ "2024-01-01 12:00:00Z", BAD }, { "2024-01-01T12:00:00", BAD },
	{ "2024-01-01T12:00:00.Z", BAD }, { "2024-01-01T12:00:00Zx", BAD },
	{ "2024-01-01T12:00:00+0200", BAD }, { "24-01-01T12:00:00Z", BAD }, { "", BAD },
};

START_TEST(time_in)
{
	int64_t ms = BAD;
	int rv = time_parse(times[_i].text, &ms);

	ck_assert_int_eq(rv, times[_i].ms == BAD ? -1 : 0);
	ck_assert_int_eq(ms, times[_i].ms);
}
END_TEST

START_TEST(time_out)
{
	char text[25];
	int64_t ms;

	time_format(INT64_C(1795298757123), text, sizeof(text));
	ck_assert_str_eq(text, "2026-11-21T22:05:57.123Z");
	time_format(-1, text, sizeof(text));
	ck_assert_str_eq(text, "1969-12-31T23:59:59.999Z");
	for (int64_t t = INT64_C(-62135596800000); t < INT64_C(253402300799999); t += INT64_C(86399999999)) {
		time_format(t, text, sizeof(text));
		ck_assert_int_eq(time_parse(text, &ms), 0);
		ck_assert_int_eq(ms, t);
	}
}
END_TEST

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))

int main(void)
{
	Suite *suite = suite_create("units");
	TCase *tc = tcase_create("units");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tc, duration_in, 0, COUNT(durations));
	tcase_add_loop_test(tc, duration_out, 0, COUNT(shown_durations));
	tcase_add_loop_test(tc, size_in, 0, COUNT(sizes));
	tcase_add_loop_test(tc, size_out, 0, COUNT(shown_sizes));
	tcase_add_loop_test(tc, time_in, 0, COUNT(times));
	tcase_add_test(tc, time_out);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
