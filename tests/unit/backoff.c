/* SPDX-License-Identifier: MIT */
/* How long a service that failed is left alone. */
#include <stdio.h>

#include "core.h"
#include "core/backoff.h"
#include "core/row.h"

#define SECOND INT64_C(1000)
#define NOW INT64_C(1700000000000)

/* try, and the wait in the middle of which it lies, ms */
static const struct { int64_t n, ms; } steps[] = {
	{ 1, 5 * SECOND }, { 2, 10 * SECOND }, { 3, 20 * SECOND }, { 4, 40 * SECOND },
	{ 5, 80 * SECOND }, { 6, 160 * SECOND }, { 7, 320 * SECOND },
	{ 8, 600 * SECOND }, { 9, 600 * SECOND }, { 100, 600 * SECOND }, { INT64_MAX, 600 * SECOND },
	/* nobody counts so, and it is no long wait either */
	{ 0, 5 * SECOND }, { -3, 5 * SECOND },
};

START_TEST(doubles_up_to_ten_minutes_with_a_quarter_of_jitter)
{
	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		int64_t ms = steps[s].ms, least = INT64_MAX, most = 0;

		for (int i = 0; i < 500; i++) {
			char seed[32];
			int64_t got;

			snprintf(seed, sizeof(seed), "attempt-%d", i);
			got = backoff_ms(steps[s].n, seed);
			ck_assert_int_ge(got, ms - ms / 4);
			ck_assert_int_le(got, ms + ms / 4);
			ck_assert_int_eq(got, backoff_ms(steps[s].n, seed));
			least = got < least ? got : least;
			most = got > most ? got : most;
		}
		/* they do not come back together */
		ck_assert_int_gt(most - least, ms / 3);
	}
}
END_TEST

START_TEST(as_long_again)
{
	static const struct { int64_t elapsed, max, ms; } waits[] = {
		{ 0, 30 * SECOND, SECOND }, { -5, 30 * SECOND, SECOND },
		{ 999, 30 * SECOND, SECOND }, { 4 * SECOND, 30 * SECOND, 4 * SECOND },
		{ 30 * SECOND, 30 * SECOND, 30 * SECOND }, { 3600 * SECOND, 30 * SECOND, 30 * SECOND },
		{ INT64_MAX, 300 * SECOND, 300 * SECOND },
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		int64_t got = backoff_again_ms(waits[i].elapsed, waits[i].max, "x");

		ck_assert_int_ge(got, waits[i].ms - waits[i].ms / 4);
		ck_assert_int_le(got, waits[i].ms + waits[i].ms / 4);
	}
}
END_TEST

START_TEST(what_the_service_says)
{
	int64_t own = NOW + backoff_ms(1, "x");

	ck_assert_int_eq(backoff_until(NOW, 1, ROW_NONE, "x"), own);
	/* earlier than the back-off is no promise */
	ck_assert_int_eq(backoff_until(NOW, 1, NOW + 1, "x"), own);
	ck_assert_int_eq(backoff_until(NOW, 1, NOW - SECOND, "x"), own);
	ck_assert_int_eq(backoff_until(NOW, 1, NOW + 60 * SECOND, "x"), NOW + 60 * SECOND);
	ck_assert_int_eq(backoff_until(NOW, 1, NOW + BACKOFF_MAX_MS, "x"), NOW + BACKOFF_MAX_MS);
	ck_assert_int_eq(backoff_until(NOW, 1, NOW + BACKOFF_MAX_MS + 1, "x"), own);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { doubles_up_to_ten_minutes_with_a_quarter_of_jitter,
	    as_long_again, what_the_service_says };

	return RUN_SUITE("backoff", tests);
}
