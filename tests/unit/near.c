/* SPDX-License-Identifier: MIT */
#include "proto/near.h"

#include <string.h>

#include "core.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *a, *b;
	size_t distance;
} distances[] = {
	{ "", "", 0 }, { "list", "list", 0 }, { "lst", "list", 1 }, { "lisst", "list", 1 }, { "lisp", "list", 1 },
	{ "lits", "list", 1 }, { "ab", "ba", 1 }, { "abcd", "badc", 2 }, { "", "abc", 3 }, { "abc", "xyz", 3 },
	{ "ca", "abc", 3 },	/* what was swapped stays together */
};

START_TEST(distance)
{
	for (size_t i = 0; i < COUNT(distances); i++) {
		const char *a = distances[i].a, *b = distances[i].b;

		for (size_t limit = 0; limit < 5; limit++) {
			size_t wanted = distances[i].distance > limit ? limit + 1 : distances[i].distance;

			ck_assert_uint_eq(near_distance(a, b, limit), wanted);
			ck_assert_uint_eq(near_distance(b, a, limit), wanted);
		}
	}
}
END_TEST

START_TEST(long_words)
{
	char word[200];

	memset(word, 'x', sizeof(word));
	word[199] = '\0';
	ck_assert_uint_eq(near_distance(word, word, 2), 3);
	word[127] = '\0';
	ck_assert_uint_eq(near_distance(word, word, 2), 0);
}
END_TEST

START_TEST(offers)
{
	static const char *const names[] = { "status", "stop", "list", "hold", "holds" };
	static const struct {
		const char *word, *best;
	} words[] = {
		{ "statsu", "status" }, { "lst", "list" }, { "st", "status" }, { "hol", "hold" }, { "s", NULL },
		{ "holt", "hold" }, { "xyz", NULL }, { "", NULL }, { "LIST", NULL },
	};

	for (size_t i = 0; i < COUNT(words); i++) {
		struct near near = { .word = words[i].word };

		for (size_t n = 0; n < COUNT(names); n++)
			near_offer(&near, names[n]);
		ck_assert_pstr_eq(near.best, words[i].best);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { distance, long_words, offers };

	return RUN_SUITE("near", tests);
}
