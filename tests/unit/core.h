/* SPDX-License-Identifier: MIT */
/* What the suites of the pure core have in common: one test case of a list of tests,
 * run and counted. */
#ifndef UNIT_CORE_H
#define UNIT_CORE_H

#include <check.h>
#include <stdlib.h>

static int run_suite(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	/* none of them waits for anything, but the machine may have other work */
	tcase_set_timeout(tcase, 60);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define RUN_SUITE(name, tests) run_suite(name, tests, sizeof(tests) / sizeof((tests)[0]))

#endif
