/* SPDX-License-Identifier: MIT */
/* Where a process lives, from texts of /proc/PID/cgroup. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/logout.h"

#define V1 "12:pids:/user.slice/user-1000.slice/session-3.scope\n5:memory:/user@7.service\n"

static const struct {
	const char *name, *text;
	enum logout_place place;
	uid_t uid;
} cases[] = {
	{ "a unit of a user", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/rld.service\n",
	    LOGOUT_MANAGER, 1000 },
	{ "version 1 beside it", "9:name=systemd:/user.slice/user-7.slice/user@7.service/init.scope\n8:pids:/\n0::/\n",
	    LOGOUT_MANAGER, 7 },
	{ "both", "1:name=systemd:/\n0::/user.slice/user-0.slice/user@0.service/app.slice/rld.service\n",
	    LOGOUT_MANAGER, 0 },
	{ "a login session", "0::/user.slice/user-1000.slice/session-3.scope\n", LOGOUT_SESSION, 0 },
	{ "the first session after a boot", "0::/user.slice/user-1000.slice/session-c1.scope\n", LOGOUT_SESSION, 0 },
	{ "the outermost unit decides", "0::/user.slice/session-3.scope/user@5.service\n", LOGOUT_SESSION, 0 },
	{ "the system's unit", "0::/system.slice/rld.service\n", LOGOUT_APART, 0 },
	{ "an instance of it", "0::/system.slice/system-rld.slice/rld@ann.service\n", LOGOUT_APART, 0 },
	{ "the root", "0::/\n", LOGOUT_APART, 0 },
	{ "a container", "0::/../../init.scope\n", LOGOUT_APART, 0 },
	{ "other hierarchies do not count", V1 "0::/\n", LOGOUT_APART, 0 },
	{ "no new line at the end", "0::/user@4294967295.service", LOGOUT_MANAGER, 4294967295U },
	{ "a uid that is too large", "0::/user@4294967296.service\n", LOGOUT_APART, 0 },
	{ "a template without a uid", "0::/user@.service\n", LOGOUT_APART, 0 },
	{ "no number", "0::/user@ann.service\n", LOGOUT_APART, 0 },
	{ "more after the number", "0::/user@7.service.d\n", LOGOUT_APART, 0 },
	{ "less after the number", "0::/user@7.serv\n", LOGOUT_APART, 0 },
	{ "a session without a name", "0::/session-.scope\n", LOGOUT_APART, 0 },
	{ "a scope of another program", "0::/run-u7.scope\n", LOGOUT_APART, 0 },
	{ "no path", "0:\n\n:\n::\n", LOGOUT_APART, 0 },
	{ "nothing", "", LOGOUT_APART, 0 },
};

START_TEST(test_places)
{
	uid_t uid = 0;

	ck_assert_msg(logout_place(cases[_i].text, &uid) == cases[_i].place, "%s", cases[_i].name);
	ck_assert_msg(uid == cases[_i].uid, "%s: uid %u", cases[_i].name, (unsigned)uid);
}
END_TEST

/* The command names the user. */
START_TEST(test_remedy)
{
	struct logout logout = { .place = LOGOUT_MANAGER, .ends = true, .user = (char *)(uintptr_t)"ann" };
	char *remedy = logout_remedy(&logout);

	ck_assert_str_eq(remedy, "loginctl enable-linger ann");
	free(remedy);
}
END_TEST

/* Whatever this process is in: nothing is left, and only a manager's unit has a user. */
START_TEST(test_ourselves)
{
	struct logout logout;

	logout_look(&logout);
	ck_assert(logout.place == LOGOUT_MANAGER ? logout.user != NULL : logout.user == NULL && !logout.ends);
	logout_release(&logout);
	ck_assert_ptr_null(logout.user);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("logout");
	TCase *tcase = tcase_create("logout");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, test_places, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, test_remedy);
	tcase_add_test(tcase, test_ourselves);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
