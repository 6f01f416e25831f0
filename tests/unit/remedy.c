/* SPDX-License-Identifier: MIT */
/* What a clean checkout lacks, and the settings that bring it. */
#include "core.h"
#include "core/remedy.h"
#include "proto/memory.h"

static char name_env[] = ".env", name_deps[] = "node_modules/", name_local[] = "config/local.json",
    name_log[] = "a.log", name_odd[] = ".env\"\n", name_npm[] = "package-lock.json", name_yarn[] = "yarn.lock";

static void check_text(char *const *ignored, char *const *manifests, bool sets_up, char *const *copies,
    const char *expected)
{
	char *text = remedy_text(ignored, manifests, sets_up, copies);

	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(names_what_is_ignored_and_the_settings)
{
	char *const ignored[] = { name_env, name_deps, NULL }, *const npm[] = { name_npm, NULL };
	char *const both[] = { name_npm, name_yarn, NULL }, *const log[] = { name_log, NULL };
	char *const env[] = { name_env, NULL };
	char *const files[] = { name_local, name_log, NULL };

	check_text(ignored, npm, false, NULL,
	    "ignored there: node_modules/, .env. Add to .rld.toml: setup = [\"npm ci\"], "
	    "copy = [\".env\"], or workspace = \"same\"");
	check_text(ignored, both, false, NULL,
	    "ignored there: node_modules/, .env. Add to .rld.toml: "
	    "setup = [\"yarn install --frozen-lockfile\"], copy = [\".env\"], or workspace = \"same\"");
	check_text(ignored, npm, true, NULL,
	    "ignored there: node_modules/, .env. Add to .rld.toml: "
	    "copy = [\".env\"], or workspace = \"same\"");
	check_text(files, NULL, false, NULL,
	    "ignored there: config/local.json, a.log. Add to .rld.toml: "
	    "copy = [\"config/local.json\"], or workspace = \"same\"");
	check_text(ignored, npm, true, env,
	    "ignored there: node_modules/, .env. Add to .rld.toml: "
	    "setup, copy, or workspace = \"same\"");
	check_text(log, NULL, false, NULL,
	    "ignored there: a.log. Add to .rld.toml: setup, copy, or workspace = \"same\"");
}
END_TEST

START_TEST(those_of_a_directory)
{
	static char inside[] = "sub/.env", deeper[] = "sub/config/local.json";
	static char itself[] = "sub/", beside[] = "subject/x";
	char *const names[] = { name_env, inside, deeper, itself, beside, NULL };
	char **below = remedy_below(names, "sub");

	ck_assert_uint_eq(strings_count(below), 2);
	ck_assert_str_eq(below[0], ".env");
	ck_assert_str_eq(below[1], "config/local.json");
	strings_free(below);
	below = remedy_below(names, "");
	ck_assert_uint_eq(strings_count(below), 5);
	strings_free(below);
	ck_assert_ptr_null(remedy_below(NULL, NULL));
	ck_assert(remedy_is_manifest("sub/package-lock.json") && remedy_is_manifest("yarn.lock"));
	ck_assert(!remedy_is_manifest("package-lock.json/x") && !remedy_is_manifest("my-yarn.lock"));
}
END_TEST

START_TEST(nothing_is_ignored)
{
	char *const none[] = { NULL };

	ck_assert_ptr_null(remedy_text(NULL, NULL, false, NULL));
	ck_assert_ptr_null(remedy_text(none, NULL, false, NULL));
}
END_TEST

/* A name that would end the string, or the line, is told safely and not proposed. */
START_TEST(odd_and_many_names)
{
	char *const odd[] = { name_odd, NULL };
	char *const many[] = { name_log, name_log, name_log, name_log, name_log, name_log, name_log, name_log,
	    name_log, name_log, NULL };
	char *text = remedy_text(odd, NULL, false, NULL);

	ck_assert_ptr_null(strchr(text, '\n'));
	ck_assert_ptr_null(strstr(text, "copy = ["));
	free(text);
	text = remedy_text(many, NULL, false, NULL);
	ck_assert_ptr_nonnull(strstr(text, "a.log and 2 more. Add"));
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { names_what_is_ignored_and_the_settings, those_of_a_directory,
	    nothing_is_ignored, odd_and_many_names };

	return RUN_SUITE("remedy", tests);
}
