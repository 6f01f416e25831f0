/* SPDX-License-Identifier: MIT */
/* Loops of reviewers and fixers: what comes back is seen, however it is worded, and what does not
 * come back is not taken for it. */
#include "core.h"
#include "core/findings.h"
#include "core/likeness.h"
#include "core/review.h"
#include "core/rounds.h"

static char *likeness(const char *text)
{
	struct buf b = { 0 };

	likeness_add(&b, text, strlen(text));
	return b.data != NULL ? b.data : xstrdup("");
}

static const struct {
	bool same;
	const char *a, *b;
} pairs[] = {
	/* case, white space, punctuation */
	{ true, "Missing Null check", "missing null check" },
	{ true, "missing  null\n\tcheck", "missing null check." },
	{ true, "**missing** `null` check!", "\"missing\" (null) check..." },
	{ true, "- missing null-check", "* missing null check" },
	{ true, "missing \xe2\x80\x9cnull\xe2\x80\x9d check\xe2\x80\xa6", "missing 'null' check" },
	{ true, "missing\xc2\xa0null check", "missing null check" },
	{ false, "a < b", "a > b" },
	{ false, "x == y", "x != y" },
	{ false, "\xc3\xa4 is missing", "\xc3\xb6 is missing" },
	/* line numbers */
	{ true, "foo.c:12: x  is unset", "foo.c:14:\n x is unset " },
	{ true, "foo.c:12:5: x is unset", "foo.c:7:31: x is unset" },
	{ true, "foo.c:12-14: x is unset", "foo.c:15: x is unset" },
	{ true, "a.ts(12,5): x is unset", "a.ts(140,7): x is unset" },
	{ true, "see foo.c#L12", "see foo.c#L190" },
	{ true, "on line 3 it fails", "on Line 300 it fails" },
	{ true, "lines 3-5 and column 7 fail", "lines 13 to 15 and column 1 fail" },
	{ true, "on line: 3, it fails", "on line #4, it fails" },
	{ true, "{\"line\": 3, \"text\": 1}", "{\"line\": 4, \"text\": 1}" },
	{ false, "line 3 has 17 errors", "line 3 has 3 errors" },
	{ false, "online 3", "online 4" },
	/* times and durations */
	{ true, "failed at 12:30", "failed at 9:05" },
	{ true, "failed at 12:30:59.123Z", "failed at 12:31:02Z" },
	{ true, "failed at 2026-11-24T12:30:59+02:00", "failed at 2026-11-25 01:02:03 +0100" },
	{ true, "since 2026-11-24", "since 2025/01/31" },
	{ true, "2 failed in 0.52s", "2 failed in 12.01 seconds" },
	{ true, "took 300ms", "took 1 s" },
	{ true, "took 1h20m", "took 1 min 3 s" },
	{ true, "ran for 3 minutes", "ran for 1 hour" },
	{ false, "a 2D array", "a 3D array" },
	{ false, "3 messages", "4 messages" },
	{ false, "5 sprints", "6 sprints" },
	/* hexadecimal ids */
	{ true, "object 5dbe019d is gone", "object 7c908976 is gone" },
	{ true, "at 0x7ffe12", "at 0x10" },
	{ true, "job 123e4567-e89b-12d3-a456-426614174000 failed", "job 00000000-0000-0000-0000-000000000000 failed" },
	{ true, "request 1784236710 failed", "request 9912345678 failed" },
	{ false, "the word is defaced", "the word is effaced" },
	{ false, "object_5dbe019d", "object_7c908976" },
	/* other numbers stay */
	{ false, "17 tests fail", "3 tests fail" },
	{ false, "needs 3 arguments", "needs 4 arguments" },
	{ false, "expected: 17", "expected: 3" },
	{ false, "1 2", "12" },
	{ false, "version 1.2.3", "version 1.2.4" },
	{ false, "x is unset", "y is unset" },
};

START_TEST(what_is_the_same)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *a = likeness(pairs[i].a), *b = likeness(pairs[i].b);

		ck_assert_msg((strcmp(a, b) == 0) == pairs[i].same, "\"%s\" is \"%s\", \"%s\" is \"%s\"",
		    pairs[i].a, a, pairs[i].b, b);
		ck_assert_msg(strlen(a) > 0 || pairs[i].a[strspn(pairs[i].a, " ")] == '\0', "\"%s\"", pairs[i].a);
		free(a);
		free(b);
	}
}
END_TEST

/* It reads no byte beyond the text, whatever that ends with. */
START_TEST(any_text)
{
	static const char bytes[] = "0123456789abcfxLTZ:.-(#),+ smh\xc2\xb5\xe2\x80\xe3\xff\n";
	unsigned seed = 1;

	for (int n = 0; n < 20000; n++) {
		char text[24];
		size_t size = n % sizeof(text);
		char *exact = xcalloc(size + 1, 1);
		struct buf b = { 0 };

		for (size_t i = 0; i < size; i++) {
			seed = seed * 1103515245u + 12345u;
			exact[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		}
		likeness_add(&b, exact, size);
		/* at most a blank between two digits is added */
		ck_assert_uint_le(b.size, 2 * size);
		buf_release(&b);
		free(exact);
	}
}
END_TEST

static struct finding_row *finding(const char *file, const char *severity, const char *text)
{
	struct finding_row *row = row_new(ROW_FINDING);
	char id[FINDING_ID];

	finding_id(file, text, id);
	row->run = row->review = row->number = 1;
	row->id = xstrdup(id);
	row->severity = severity != NULL ? xstrdup(severity) : NULL;
	row->text = xstrdup(text);
	return row;
}

static bool same_set(struct finding_row **a, size_t na, struct finding_row **b, size_t nb, const char *words)
{
	char x[FINDING_ID], y[FINDING_ID];

	findings_set((const struct finding_row *const *)a, na, "words", x);
	findings_set((const struct finding_row *const *)b, nb, words, y);
	return strcmp(x, y) == 0;
}

START_TEST(sets_of_findings)
{
	struct finding_row *all[] = { finding(NULL, NULL, "a"), finding(NULL, NULL, "b"), finding(NULL, NULL, "A."),
	    finding(NULL, "suggestion", "c"), finding(NULL, "suggestion", "d"), finding("f", NULL, "a") };
	struct finding_row *ab[] = { all[0], all[1] }, *ba[] = { all[1], all[2], all[0] },
	    *ac[] = { all[0], all[3] }, *ad[] = { all[4], all[2] }, *fb[] = { all[5], all[1] };

	ck_assert(same_set(ab, 2, ba, 3, "other"));
	ck_assert(!same_set(ab, 2, ab, 1, "words"));
	ck_assert(!same_set(ab, 2, fb, 2, "words"));
	/* suggestions aside; where nothing else is left, the feedback counts */
	ck_assert(same_set(ac, 2, ad, 2, "other"));
	ck_assert(same_set(ac + 1, 1, ad, 1, "Words!"));
	ck_assert(!same_set(ac + 1, 1, ad, 1, "other"));
	all[0]->state = FINDING_RESOLVED;
	ck_assert(same_set(ab, 2, ab + 1, 1, "words"));
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		row_free(ROW_FINDING, all[i]);
}
END_TEST

/* A round, and what is to be said of it. */
struct step {
	int fix, review;		/* review: 0: none */
	const char *tree, *findings;
	bool again;
	int wasted;
	const char *text;
};

static const struct step histories[][6] = {
	{	/* the fixer does nothing */
		{ 0, 1, "t", "a", false, 0, NULL },
		{ 1, 2, "t", "b", false, 1, "round 2 repeats round 1: the tree is the same" },
		{ 2, 3, "t", "a", false, 2, "round 3 repeats round 1: the tree and the findings are the same" },
	}, {	/* the findings swing */
		{ 0, 1, "t", "a", false, 0, NULL },
		{ 1, 2, "u", "b", false, 0, NULL },
		{ 2, 3, "v", "a", false, 2, "round 3 repeats round 1: the findings are the same" },
		{ 3, 4, "w", "b", false, 3, "round 4 repeats round 2: the findings are the same" },
		{ 4, 5, "x", "c", false, 0, NULL },
	}, {	/* each round is like the one before it, but in another way */
		{ 0, 1, "t", "a", false, 0, NULL },
		{ 1, 2, "t", "b", false, 1, "round 2 repeats round 1: the tree is the same" },
		{ 2, 3, "u", "b", false, 2, "round 3 repeats round 2: the findings are the same" },
	}, {	/* one fix, judged twice, since a hook changed its commit */
		{ 0, 1, "t", "a", false, 0, NULL },
		{ 1, 2, "u", "b", false, 0, NULL },
		{ 1, 3, "v", "b", false, 0, NULL },
		{ 2, 4, "w", "b", false, 1, "round 4 repeats round 2: the findings are the same" },
	}, {	/* checks and git, without trees */
		{ 0, 0, NULL, "check", false, 0, NULL },
		{ 1, 0, NULL, "check", false, 1, "fix 1 repeats the work before fix 1: the findings are the same" },
		{ 2, 1, NULL, NULL, false, 0, NULL },
		{ 3, 0, NULL, "hook", false, 0, NULL },
		{ 4, 0, "t", "other", true, 1, "fix 4 repeats fix 3: git still objects" },
	},
};

START_TEST(rounds_that_come_back)
{
	for (size_t h = 0; h < sizeof(histories) / sizeof(histories[0]); h++) {
		char *list = NULL, *next;
		int64_t wasted = 0;

		for (int i = 0; i < 6; i++) {
			const struct step *s = &histories[h][i];
			struct judged_round now = { .fix = s->fix, .review = s->review ? s->review : ROW_NONE,
			    .tree = s->tree, .findings = s->findings, .same = s->again };
			struct repeat repeat;

			if (s->tree == NULL && s->findings == NULL && s->review == 0)
				break;
			next = rounds_add(list, &now, wasted, &repeat);
			free(list);
			list = next;
			wasted = repeat.wasted;
			ck_assert_int_eq(wasted, s->wasted);
			ck_assert((repeat.text != NULL) == (s->text != NULL));
			if (s->text != NULL)
				ck_assert_str_eq(repeat.text, s->text);
			free(repeat.text);
		}
		free(list);
	}
}
END_TEST

/* What is disputed for the first time is a new question, whatever else is the same; after that it
 * is counted with all that came of it. */
START_TEST(a_dispute_asks_anew)
{
	static const struct {
		int fix;
		const char *disputed;
		int wasted;
	} steps[] = {
		{ 0, "[]", 0 },
		{ 1, "[\"a\"]", 0 },
		{ 2, "[\"a\"]", 2 },
		{ 3, "[\"a\", \"b\"]", 0 },
		{ 4, "[\"b\"]", 4 },
		{ 5, "[]", 5 },
	};
	char *list = NULL, *next;
	int64_t wasted = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		json_t *disputed = json_loads(steps[i].disputed, 0, NULL);
		struct judged_round now = { .fix = steps[i].fix, .review = steps[i].fix + 1, .tree = "t",
		    .findings = "f", .disputed = disputed };
		struct repeat repeat;

		next = rounds_add(list, &now, wasted, &repeat);
		free(list);
		list = next;
		wasted = repeat.wasted;
		ck_assert_int_eq(wasted, steps[i].wasted);
		free(repeat.text);
		json_decref(disputed);
	}
	free(list);
}
END_TEST

/* After a human's word only the round that it is about is compared. */
START_TEST(a_human_begins_anew)
{
	struct judged_round old = { .fix = 0, .review = 1, .tree = "t", .findings = "a" },
	    last = { .fix = 1, .review = 2, .tree = "u", .findings = "b" },
	    now = { .fix = 3, .review = 3, .tree = "t", .findings = "c" };
	struct repeat repeat;
	char *one = rounds_add(NULL, &old, 0, &repeat), *two = rounds_add(one, &last, 0, &repeat),
	    *anew = rounds_restart(two, 2), *list = rounds_add(anew, &now, 0, &repeat);

	ck_assert_int_eq(repeat.wasted, 0);
	free(list);
	now.findings = "b";
	list = rounds_add(anew, &now, 0, &repeat);
	ck_assert_int_eq(repeat.wasted, 1);
	ck_assert_str_eq(repeat.text, "round 3 repeats round 2: the findings are the same");
	ck_assert_ptr_null(rounds_restart(NULL, 2));
	free(repeat.text);
	free(one);
	free(two);
	free(anew);
	free(list);
}
END_TEST

/* ---- 8 kinds of reviewers, 9 kinds of fixers ---- */

/* A review: its words in a round (from 1), and which finding they mean. */
struct review_kind {
	const char *name, *words;	/* %d: the round, or another number that differs */
	int period;			/* the finding comes back after so many rounds; 0: never */
};

static const struct review_kind reviewers[] = {
	{ "the same words", "foo.c: bug in add", 1 },
	{ "lines move", "foo.c:%d0: bug in add, see line %d1", 1 },
	{ "times differ", "bug in add at 12:0%d:00 after 0.%ds", 1 },
	{ "ids differ", "bug in add of 5dbe01%d9%d", 1 },
	{ "swings between two", NULL, 2 },
	{ "goes around three", NULL, 3 },
	{ "counts", "%d tests fail of 1%d", 0 },
	{ "always something new", NULL, 0 },
};

/* The tree after so many fixes: a number for each content. */
struct fix_kind {
	const char *name;
	int trees[6];
};

static const struct fix_kind fixers[] = {
	{ "does nothing", { 1, 1, 1, 1, 1, 1 } },
	{ "changes something each time", { 1, 2, 3, 4, 5, 6 } },
	{ "swings", { 1, 2, 1, 2, 1, 2 } },
	{ "swings after a start", { 1, 2, 3, 2, 3, 2 } },
	{ "goes around three", { 1, 2, 3, 1, 2, 3 } },
	{ "works once", { 1, 2, 2, 2, 2, 2 } },
	{ "works twice", { 1, 2, 3, 3, 3, 3 } },
	{ "gives up after the fourth", { 1, 2, 3, 4, 5, 5 } },
	{ "works every second time", { 1, 1, 2, 2, 3, 3 } },
};

static char *words_of(const struct review_kind *r, int round)
{
	static const char *const all[] = { "use tabs", "use blanks", "rename it", "split it", "join it", "drop it" };

	if (r->words == NULL)
		return xstrdup(all[(r->period > 0 ? (round - 1) % r->period : round - 1) % 6]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return xasprintf(r->words, round, round + 2);
#pragma GCC diagnostic pop
}

static int means(const struct review_kind *r, int round)
{
	return r->period > 0 ? (round - 1) % r->period : round;
}

/* The loop as the slot goes round it; returns the fixes that were paid. */
static int loop(const struct review_kind *r, const struct fix_kind *f, int max, int limit, enum round_end *end)
{
	char *list = NULL, *next;
	int64_t wasted = 0;

	for (int fix = 0;; fix++) {
		char *words = words_of(r, fix + 1), *tree = xasprintf("t%d", f->trees[fix]), set[FINDING_ID];
		struct finding_row *row = finding(NULL, NULL, words);
		struct judged_round now = { .fix = fix, .review = fix + 1, .tree = tree, .findings = set };
		struct repeat repeat;

		findings_set((const struct finding_row *const *)&row, 1, words, set);
		next = rounds_add(list, &now, wasted, &repeat);
		free(list);
		list = next;
		wasted = repeat.wasted;
		free(repeat.text);
		row_free(ROW_FINDING, row);
		free(tree);
		free(words);
		*end = review_classify(&(struct review_facts){ .verdict = true, .fix = fix, .fixes = max,
		    .stalled = wasted, .stall_limit = limit });
		if (*end == ROUND_FINDINGS)
			continue;
		free(list);
		return fix;
	}
}

/* Whether the round is one that was there before. */
static bool comes_back(const struct review_kind *r, const struct fix_kind *f, int round)
{
	for (int before = 1; before < round; before++)
		if (f->trees[before - 1] == f->trees[round - 1] || means(r, before) == means(r, round))
			return true;
	return false;
}

START_TEST(at_most_two_wasted_fixes)
{
	for (size_t i = 0; i < sizeof(reviewers) / sizeof(reviewers[0]); i++)
		for (size_t k = 0; k < sizeof(fixers) / sizeof(fixers[0]); k++) {
			const struct review_kind *r = &reviewers[i];
			const struct fix_kind *f = &fixers[k];
			enum round_end end;
			int fixes = loop(r, f, 5, 2, &end), wasted = 0, last = 0;

			for (int round = 2; round <= fixes + 1; round++) {
				last = comes_back(r, f, round) ? last + 1 : 0;
				wasted = last > wasted ? last : wasted;
			}
			ck_assert_msg(wasted <= 2, "reviewer %s, fixer %s: %d wasted fixes", r->name, f->name,
			    wasted);
			ck_assert_msg(end == (last > 0 && fixes < 5 ? ROUND_STALLED : ROUND_EXHAUSTED),
			    "reviewer %s, fixer %s: %d fixes", r->name, f->name, fixes);
			/* what never comes back is not cut short, and 0 is no limit */
			ck_assert_msg(fixes == 5 || last > 0, "reviewer %s, fixer %s: %d fixes", r->name,
			    f->name, fixes);
			ck_assert_int_eq(loop(r, f, 5, 0, &end), 5);
		}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { what_is_the_same, any_text, sets_of_findings, rounds_that_come_back,
	    a_dispute_asks_anew, a_human_begins_anew, at_most_two_wasted_fixes };

	return RUN_SUITE("rounds", tests);
}
