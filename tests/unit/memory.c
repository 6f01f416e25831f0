/* SPDX-License-Identifier: MIT */
/* Buffers and lists of strings that daemon and client share. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/memory.h"

START_TEST(lists_are_separated)
{
	struct buf b = { 0 };
	char *text;

	for (int i = 1; i <= 3; i++) {
		buf_separate(&b, ", ");
		buf_addf(&b, "%d", i);
	}
	text = buf_take(&b, NULL);
	ck_assert_str_eq(text, "1, 2, 3");
	free(text);
	text = buf_take(&b, NULL);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

/* What a reader of a pipe gets: all of it up to the limit, and no byte more. */
START_TEST(reading_is_bounded)
{
	const size_t max = 100000;
	char *data = xcalloc(max + 1, 1);

	memset(data, 'x', max + 1);
	for (size_t size = max - 1; size <= max + 1; size++) {
		struct buf b = { 0 };
		FILE *file = tmpfile();
		int rv;

		ck_assert_uint_eq(fwrite(data, 1, size, file), size);
		rewind(file);
		rv = buf_read(&b, fileno(file), max);
		ck_assert_int_eq(rv, size > max ? -EFBIG : 0);
		ck_assert(size > max ? b.size <= max : b.size == size && b.data[size] == '\0');
		buf_release(&b);
		fclose(file);
	}
	ck_assert_int_eq(buf_read(&(struct buf){ 0 }, -1, 1), -EBADF);
	free(data);
}
END_TEST

START_TEST(strings_grow_and_are_copied)
{
	char **list = NULL, **copy;

	ck_assert(!strings_contain(list, "a") && strings_count(list) == 0);
	strings_append(&list, "a");
	strings_append(&list, "b");
	copy = strings_copy(list);
	strings_wipe(list);
	ck_assert(strings_count(copy) == 2 && strings_contain(copy, "b") && !strings_contain(copy, ""));
	strings_free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tc = tcase_create("memory");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, lists_are_separated);
	tcase_add_test(tc, reading_is_bounded);
	tcase_add_test(tc, strings_grow_and_are_copied);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
