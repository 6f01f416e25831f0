/* SPDX-License-Identifier: MIT */
/* core/train.h: trains of any length with any number of red tasks, played to their end. */
#include "core/train.h"
#include "core.h"

enum { LONGEST = 9 };

/* A task is red if a red one is in its tree: itself, or one that it stands on. */
static size_t first_red(const bool *red, size_t from, size_t count)
{
	while (from < count && !red[from])
		from++;
	return from;
}

/* What the train does with these: how many checks, and in *sent_back which task it blames. landed:
 * how many were merged. */
static int play(const bool *red, size_t count, size_t *landed, size_t *sent_back)
{
	bool suspected[LONGEST] = { false };
	size_t tip = 0;
	int checks = 0;

	for (;;) {
		struct train_facts f = { .count = count - tip };
		size_t acts = count, wait = 0;

		while (f.red < f.count && !suspected[tip + f.red])
			f.red++;
		for (f.at = 0; f.at < f.count; f.at++) {
			enum train_step step = train_step(&f);

			if (step == TRAIN_WAIT)
				wait++;
			else
				acts = tip + f.at;
			ck_assert(step != TRAIN_ANEW);
		}
		ck_assert_uint_eq(wait, f.count - 1);	/* exactly one acts */
		f.at = acts - tip;
		*landed = tip;
		if (train_step(&f) == TRAIN_RED) {
			*sent_back = acts;
			return checks;
		}
		checks++;
		if (first_red(red, tip, count) <= acts)
			suspected[acts] = true;
		else
			tip = acts + 1;
		if (tip == count) {
			*landed = *sent_back = count;
			return checks;
		}
	}
}

/* The first red one is blamed, all before it are merged, and no more checks run than a bisection
 * needs. A red one that is the first of its train is blamed after its own check. */
START_TEST(the_first_red_one_is_found)
{
	for (size_t count = 1; count <= LONGEST; count++)
		for (unsigned which = 0; which < 1u << count; which++) {
			bool red[LONGEST] = { false };
			size_t landed, sent_back, first;
			int checks, most = 2;

			for (size_t i = 0; i < count; i++)
				red[i] = (which & 1u << i) != 0;
			first = first_red(red, 0, count);
			checks = play(red, count, &landed, &sent_back);
			ck_assert_uint_eq(sent_back, first);
			ck_assert_uint_eq(landed, first);
			for (size_t n = 1; n < count; n *= 2)
				most++;
			ck_assert_int_le(checks, first == count ? 1 : most);
		}
}
END_TEST

START_TEST(who_waits)
{
	struct train_facts f = { .count = 3, .at = 3, .red = 3, .busy = true };

	ck_assert_int_eq(train_step(&f), TRAIN_ANEW);
	f.at = 2;
	ck_assert_int_eq(train_step(&f), TRAIN_WAIT);
	f.busy = false;
	f.joined = true;
	ck_assert_int_eq(train_step(&f), TRAIN_WAIT);
	f.joined = false;
	ck_assert_int_eq(train_step(&f), TRAIN_CHECK);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { the_first_red_one_is_found, who_waits };

	return RUN_SUITE("train", tests);
}
