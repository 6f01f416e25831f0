/* SPDX-License-Identifier: MIT */
/* The table of profiles, and the names of a plan. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan.h"
#include "core/profile.h"
#include "proto/memory.h"

#define HOUR 3600000

/* The table of profiles, cell by cell. */
static const struct row {
	const char *name;
	enum carrier carrier;
	const char *pass, *findings, *file, *log;
	int64_t max_fixes, stall_limit, timeout_ms;
	int64_t malformed, reviewer_fails, exhausted;
	int64_t fixer, scope, commit, strictness;
	bool read_only, no_task, change_warns;
	unsigned reviewer_is_given;
} rows[] = {
	{ "verdict", CARRIER_VERDICT, "pass", "drift", NULL, NULL, 5, 2, HOUR, BAD_END_FAIL, BAD_END_FAIL, BAD_END_FAIL,
	    FIXER_FRESH, SCOPE_TASK, COMMIT_MODE_NONE, STRICTNESS_SAME, false, false, false,
	    PART_TASK | PART_ANSWER | PART_DIFF | PART_FOLLOW_UP | PART_GUIDELINES },
	{ "decision", CARRIER_DECISION, "GO", "NO_GO", NULL, ".ai-sdd/state/review-logs", 2, 2,
	    HOUR, BAD_END_FAIL, BAD_END_FAIL, BAD_END_HOLD,
	    FIXER_IMPLEMENTER, SCOPE_TASK, COMMIT_MODE_NONE, STRICTNESS_SAME, false, false, false,
	    PART_TASK | PART_ANSWER | PART_DIFF | PART_GUIDELINES | PART_HISTORY },
	{ "file", CARRIER_FILE, "pass", "issues", "autom8_review.md", NULL, 2, 2, HOUR,
	    BAD_END_FAIL, BAD_END_FAIL, BAD_END_FAIL,
	    FIXER_CORRECTOR, SCOPE_RUN, COMMIT_MODE_AUTO, STRICTNESS_BY_ROUND, false, false, false,
	    PART_PROJECT | PART_STORIES | PART_ROUND | PART_GUIDELINES | PART_DIFF },
	{ "exit", CARRIER_EXIT, "accept", "retry", NULL, NULL, 4, 0, 120000, BAD_END_ACCEPT,
	    BAD_END_ACCEPT, BAD_END_ACCEPT,
	    FIXER_RESUME, SCOPE_TASK, COMMIT_MODE_NONE, STRICTNESS_SAME, false, false, true, 0 },
	{ "comments", CARRIER_COMMENTS, "pass", "must-fix", "review-comments.json", NULL, 2, 2,
	    HOUR, BAD_END_FAIL, BAD_END_FAIL, BAD_END_KNOWN_ISSUES, FIXER_PER_FINDING, SCOPE_RUN,
	    COMMIT_MODE_NONE, STRICTNESS_SAME, true, true, false, PART_DIFF | PART_CONVENTIONS },
};

static void expect_text(const char *name, const char *cell, const char *want)
{
	ck_assert_msg((cell == NULL) == (want == NULL) && (cell == NULL || strcmp(cell, want) == 0),
	    "%s: %s, expected %s", name, cell ? cell : "nothing", want ? want : "nothing");
}

START_TEST(every_cell)
{
	ck_assert_int_eq(profiles_count, sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *want = &rows[i];
		const struct profile *p = profile_find(want->name);

		ck_assert_ptr_nonnull(p);
		ck_assert_int_eq(p->carrier, want->carrier);
		expect_text(want->name, p->pass_word, want->pass);
		expect_text(want->name, p->findings_word, want->findings);
		expect_text(want->name, p->carrier_file, want->file);
		expect_text(want->name, p->review_log, want->log);
#define CELL(member, cell) \
	ck_assert_msg((int64_t)p->member == (int64_t)want->cell, "%s: " #member " is %lld, expected %lld", want->name, \
		    (long long)p->member, (long long)want->cell)
		CELL(max_fixes, max_fixes);
		CELL(stall_limit, stall_limit);
		CELL(review_timeout_ms, timeout_ms);
		CELL(on_malformed, malformed);
		CELL(on_reviewer_error, reviewer_fails);
		CELL(on_exhausted, exhausted);
		CELL(fixer, fixer);
		CELL(scope, scope);
		CELL(commit, commit);
		CELL(strictness, strictness);
		CELL(read_only, read_only);
		CELL(no_task, no_task);
		CELL(change_warns, change_warns);
		CELL(review_sees, reviewer_is_given);
#undef CELL
	}
}
END_TEST

/* What is not to be told is in no prompt: neither reviewer nor fixers of "comments" see the task,
 * whatever it is part of. */
START_TEST(comments_never_see_the_task)
{
	static const unsigned of_the_task = PART_TASK | PART_PROJECT | PART_ANSWER;

	for (int i = 0; i < profiles_count; i++)
		if (profiles[i].no_task)
			ck_assert_uint_eq((profiles[i].review_sees | profiles[i].fix_sees) & of_the_task, 0);
	ck_assert_uint_ne(profile_find("comments")->fix_sees & PART_FOLLOW_UP, 0);
}
END_TEST

START_TEST(find)
{
	ck_assert_int_ge(profiles_count, 1);
	for (int i = 0; i < profiles_count; i++) {
		ck_assert_ptr_eq(profile_find(profiles[i].name), &profiles[i]);
		ck_assert_ptr_nonnull(profiles[i].help);
	}
	ck_assert_ptr_null(profile_find(""));
	ck_assert_ptr_null(profile_find("Verdict"));
	ck_assert_ptr_null(profile_find("verdicts"));
}
END_TEST

START_TEST(names)
{
	ck_assert_int_eq(state_value(&prompt_via_names, "stdin"), PROMPT_STDIN);
	ck_assert_int_eq(state_value(&prompt_via_names, "arg"), PROMPT_ARG);
	ck_assert_int_eq(state_value(&prompt_via_names, "file"), PROMPT_FILE);
	ck_assert_uint_eq(prompt_via_names.count, PROMPT_VIAS);
	ck_assert_int_eq(state_value(&reader_names, "text"), READER_TEXT);
	ck_assert_int_eq(state_value(&reader_names, "claude"), READER_CLAUDE);
	ck_assert_uint_eq(reader_names.count, READER_KINDS);
	ck_assert_int_eq(state_value(&reader_names, "json"), -1);
}
END_TEST

/* A sanitizer tells when something stays behind or goes twice. */
START_TEST(release)
{
	struct plan plan = { .review = true, .max_fixes = 3 };

	for (int role = 0; role < ROLES; role++) {
		plan.agents[role].name = xstrdup("a");
		strings_append(&plan.agents[role].command, "true");
		strings_append(&plan.agents[role].set, "K=V");
		strings_append(&plan.agents[role].env, "NAME");
		plan.agents[role].model = role == ROLE_REVIEW ? NULL : xstrdup("m");
	}
	plan.skip_reason = xstrdup("no");
	strings_append(&plan.agents[ROLE_FIX].resume, "{session}");
	strings_append(&plan.agents[ROLE_REVIEW].writable, "~/.a");
	plan.profile_name = xstrdup("mine");
	strings_append(&plan.checks, "make");
	strings_append(&plan.guidelines, "a.md");
	strings_append(&plan.conventions, "b.md");
	plan.review_file = xstrdup("f");
	plan.review_log = xstrdup("d");
	plan.reviewer = xstrdup("r");
	plan.report = xstrdup("/r");
	strings_append(&plan.on_hold, "h");
	strings_append(&plan.on_pass, "p");
	strings_append(&plan.on_end, "e");
	plan.developer_prompt = xstrdup("/a");
	plan.reviewer_prompt = xstrdup("/b");
	strings_append(&plan.env, "A=B");
	plan_release(&plan);
	ck_assert_ptr_null(plan.env);
	ck_assert_ptr_null(plan.checks);
	ck_assert_ptr_null(plan.on_end);
	ck_assert_ptr_null(plan.agents[ROLE_FIX].command);
	ck_assert(!plan.review);
	plan_release(&plan);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tcase = tcase_create("profile");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, every_cell);
	tcase_add_test(tcase, comments_never_see_the_task);
	tcase_add_test(tcase, find);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, release);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
