/* SPDX-License-Identifier: MIT */
/* Places of system and user instances, from tables of environments. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

/* The environment of the case at hand: pairs of name and value. */
static const char *const *variables;

static char *environment(const char *name)
{
	for (size_t i = 0; variables != NULL && variables[i] != NULL; i += 2) {
		if (strcmp(variables[i], name) == 0)
			return (char *)(uintptr_t)variables[i + 1];
	}
	return NULL;
}

#define ENV(...) (const char *const[]){ __VA_ARGS__, NULL }
#define LONG_20 "/aaaaaaaaaaaaaaaaaaa"
#define LONG_100 LONG_20 LONG_20 LONG_20 LONG_20 LONG_20

static const struct {
	const char *name;
	const char *const *env;
	struct places_given given;
	bool system;
	const char *file, *dir, *state, *socket0, *socket1;
} good[] = {
	{ "user", ENV("HOME", "/home/u", "XDG_RUNTIME_DIR", "/run/user/7"), { 0 }, false,
	    "/home/u/.config/rld/rld.toml", "/home/u/.config/rld", "/home/u/.local/state/rld",
	    "/run/user/7/rld.sock", "/home/u/.local/state/rld/rld.sock" },
	{ "user, XDG set", ENV("HOME", "/home/u", "XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s",
	    "XDG_RUNTIME_DIR", "/r"), { 0 }, false,
	    "/c/rld/rld.toml", "/c/rld", "/s/rld", "/r/rld.sock", "/s/rld/rld.sock" },
	{ "relative XDG is ignored", ENV("HOME", "/home/u", "XDG_CONFIG_HOME", "c",
	    "XDG_STATE_HOME", "s", "XDG_RUNTIME_DIR", "r"), { 0 }, false,
	    "/home/u/.config/rld/rld.toml", "/home/u/.config/rld", "/home/u/.local/state/rld",
	    "/home/u/.local/state/rld/rld.sock", NULL },
	{ "user without a runtime directory", ENV("HOME", "/home/u"), { 0 }, false,
	    "/home/u/.config/rld/rld.toml", "/home/u/.config/rld", "/home/u/.local/state/rld",
	    "/home/u/.local/state/rld/rld.sock", NULL },
	{ "--system", ENV("HOME", "/root", "XDG_RUNTIME_DIR", "/run/user/0"), { .system = true }, true,
	    "/etc/rld/rld.toml", "/etc/rld", "/var/lib/rld", "/run/rld/rld.sock", NULL },
	{ "under systemd", ENV("STATE_DIRECTORY", "/var/lib/private/rld", "RUNTIME_DIRECTORY", "/run/x"), { 0 }, true,
	    "/etc/rld/rld.toml", "/etc/rld", "/var/lib/private/rld", "/run/x/rld.sock", NULL },
	{ "several directories", ENV("STATE_DIRECTORY", "/v/a:/v/b", "RUNTIME_DIRECTORY", "/r/a:/r/b"), { 0 }, true,
	    "/etc/rld/rld.toml", "/etc/rld", "/v/a", "/r/a/rld.sock", NULL },
	{ "an empty STATE_DIRECTORY says nothing", ENV("HOME", "/h", "STATE_DIRECTORY", ""), { 0 }, false,
	    "/h/.config/rld/rld.toml", "/h/.config/rld", "/h/.local/state/rld", "/h/.local/state/rld/rld.sock", NULL },
	{ "all given", ENV("HOME", "/h", "XDG_RUNTIME_DIR", "/r"),
	    { .config = "/x/my.toml", .state_dir = "/y", .socket = "/z/s" }, false,
	    "/x/my.toml", "/x", "/y", "/z/s", "/y/rld.sock" },
	{ "the socket beside the state is the given one", ENV("HOME", "/h", "XDG_RUNTIME_DIR", "/r"),
	    { .state_dir = "/y", .socket = "/y/rld.sock" }, false,
	    "/h/.config/rld/rld.toml", "/h/.config/rld", "/y", "/y/rld.sock", NULL },
	{ "given to a system instance", ENV("HOME", "/h"),
	    { .system = true, .state_dir = "/y", .socket = "/z/s" }, true,
	    "/etc/rld/rld.toml", "/etc/rld", "/y", "/z/s", NULL },
	{ "config in the root directory", ENV("HOME", "/h"), { .config = "/rld.toml" }, false,
	    "/rld.toml", "/", "/h/.local/state/rld", "/h/.local/state/rld/rld.sock", NULL },
	{ "no home needed when all is given", ENV("HOME", "relative"), { .config = "/c/f", .state_dir = "/s" }, false,
	    "/c/f", "/c", "/s", "/s/rld.sock", NULL },
};

START_TEST(test_good)
{
	struct places p;
	char error[512] = "";

	variables = good[_i].env;
	ck_assert_msg(places_find(&p, &good[_i].given, environment, error) == 0, "%s: %s", good[_i].name, error);
	ck_assert_msg(p.system == good[_i].system, "%s", good[_i].name);
	ck_assert_str_eq(p.config_file, good[_i].file);
	ck_assert_str_eq(p.config_dir, good[_i].dir);
	ck_assert_str_eq(p.state_dir, good[_i].state);
	ck_assert_str_eq(p.socket[0], good[_i].socket0);
	ck_assert_pstr_eq(p.socket[1], good[_i].socket1);
	places_release(&p);
	ck_assert_ptr_null(p.config_file);
}
END_TEST

START_TEST(test_relative)
{
	char here[4096], want[4200], error[512];
	struct places p;

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_int_eq(chdir("/usr/lib"), 0);
	variables = ENV("HOME", "/h");
	ck_assert_int_eq(places_find(&p, &(struct places_given){ .config = "a/b.toml",
	    .state_dir = "s", .socket = "k" }, environment, error), 0);
	ck_assert_str_eq(p.config_file, "/usr/lib/a/b.toml");
	ck_assert_str_eq(p.config_dir, "/usr/lib/a");
	ck_assert_str_eq(p.state_dir, "/usr/lib/s");
	ck_assert_str_eq(p.socket[0], "/usr/lib/k");
	snprintf(want, sizeof(want), "%s/rld.sock", p.state_dir);
	ck_assert_str_eq(p.socket[1], want);
	places_release(&p);
	ck_assert_int_eq(chdir(here), 0);
}
END_TEST

/* An address holds 107 bytes and a NUL: the last length that fits, and the first that does not. */
START_TEST(test_socket_length)
{
	char path[200], error[512];
	struct places p;

	variables = ENV("HOME", "/h");
	for (int length = 107; length <= 108; length++) {
		memset(path, 'x', sizeof(path));
		path[0] = '/';
		path[length] = '\0';
		ck_assert_int_eq(places_find(&p, &(struct places_given){ .system = true, .socket = path },
		    environment, error), length == 107 ? 0 : -1);
		if (length == 107)
			places_release(&p);
	}
	ck_assert_ptr_nonnull(strstr(error, "longer than 107 bytes"));
	ck_assert_ptr_nonnull(strstr(error, "--socket"));
	ck_assert_ptr_null(p.state_dir);
	ck_assert_int_eq(places_find(&p,
	    &(struct places_given){ .state_dir = LONG_100, .socket = "/s" }, environment, error), -1);
	ck_assert_ptr_nonnull(strstr(error, LONG_100 "/rld.sock"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("path");
	TCase *tcase = tcase_create("places");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tcase, test_good, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_test(tcase, test_relative);
	tcase_add_test(tcase, test_socket_length);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
