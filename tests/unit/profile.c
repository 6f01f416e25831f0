/* SPDX-License-Identifier: MIT */
/* The table of profiles, and the names of a plan. */
#include <check.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/plan.h"
#include "core/profile.h"

START_TEST(verdict_row)
{
	const struct profile *p = profile_find("verdict");

	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(p->carrier, CARRIER_VERDICT);
	ck_assert_str_eq(p->pass_word, "pass");
	ck_assert_str_eq(p->findings_word, "drift");
	ck_assert_int_eq(p->max_fixes, 5);
	ck_assert_int_eq(p->stall_limit, 2);
	ck_assert_int_eq(p->review_timeout_ms, 3600000);
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
	plan.developer_prompt = xstrdup("/a");
	plan.reviewer_prompt = xstrdup("/b");
	strings_append(&plan.env, "A=B");
	plan_release(&plan);
	ck_assert_ptr_null(plan.env);
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

	tcase_add_test(tcase, verdict_row);
	tcase_add_test(tcase, find);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, release);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
