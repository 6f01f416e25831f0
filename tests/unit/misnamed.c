/* SPDX-License-Identifier: MIT */
/* Files of nearly the name of the review file: what is found, and what is no answer. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "job/misnamed.h"
#include "proto/memory.h"

static char home[] = "/tmp/misnamed-XXXXXX";
static char *tree, *review, *note;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(home));
	tree = xasprintf("%s/tree", home);
	review = xasprintf("%s/autom8_review.md", tree);
	note = xasprintf("%s/note", home);
	ck_assert_int_eq(mkdir(tree, 0700), 0);
}

static void teardown(void)
{
	file_remove_tree(home);
	free(note);
	free(review);
	free(tree);
}

static void make(const char *name)
{
	char *path = xasprintf("%s/%s", tree, name);

	ck_assert_int_eq(file_write(AT_FDCWD, path, "x", 1, 0600, false), 0);
	free(path);
}

static char *find(int expected)
{
	char *found = NULL;

	ck_assert_int_eq(misnamed_find(tree, "/nothing", review, note, &found), expected);
	return found;
}

START_TEST(what_is_new_is_found)
{
	char *found;

	make("autom8-review.md");
	ck_assert_int_eq(misnamed_note(tree, "/nothing", review, note), 0);
	make("autom8_review.md");
	make("review.md");
	ck_assert_ptr_null(find(0));
	make("AUTOM8 review.md");
	found = find(0);
	ck_assert_str_eq(found, "AUTOM8 review.md");
	free(found);
}
END_TEST

START_TEST(what_was_never_noted_is_not_looked_for)
{
	make("autom8-review.md");
	ck_assert_ptr_null(find(0));
}
END_TEST

/* Without descriptors nothing can be read: that is not "there is none". */
START_TEST(a_fault_of_the_host_is_no_answer)
{
	struct rlimit limit, none;
	char *found;

	ck_assert_int_eq(misnamed_note(tree, "/nothing", review, note), 0);
	make("autom8-review.md");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	found = find(-EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_ptr_null(found);
	found = find(0);
	ck_assert_str_eq(found, "autom8-review.md");
	free(found);
}
END_TEST

/* An agent may make so many that they cannot be remembered: those are not forgotten,
 * but an error. */
START_TEST(too_many)
{
	char deep[3600], name[300];
	char *dir;

	for (size_t i = 0; i < sizeof(deep); i++)
		deep[i] = i % 200 == 199 ? '/' : 'd';
	deep[sizeof(deep) - 1] = '\0';
	dir = xasprintf("%s/%s", tree, deep);
	ck_assert_int_eq(file_mkdirs(dir, 0700), 0);
	for (int before = 0; before < 35; before++) {
		for (int after = 0; after < 35; after++) {
			char *path;

			snprintf(name, sizeof(name), "autom8%.*sreview.md%.*s", before,
			    "-----------------------------------", after,
			    "-----------------------------------");
			path = xasprintf("%s/%s", dir, name);
			close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
			free(path);
		}
	}
	free(dir);
	ck_assert_int_eq(misnamed_note(tree, "/nothing", review, note), -EFBIG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("misnamed");
	TCase *tc = tcase_create("files");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_new_is_found);
	tcase_add_test(tc, what_was_never_noted_is_not_looked_for);
	tcase_add_test(tc, a_fault_of_the_host_is_no_answer);
	tcase_add_test(tc, too_many);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
