/* SPDX-License-Identifier: MIT */
/* Buffers and lists of strings that daemon and client share. */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/json_memory.h"
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

#ifndef __SANITIZE_ADDRESS__	/* which ends it in its own words */
/* Of more than there can be: in words, and by SIGABRT. */
static void expect_abort(void (*allocate)(void))
{
	char said[64] = "";
	int pipes[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		struct rlimit core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &core);
		dup2(pipes[1], STDERR_FILENO);
		allocate();
		_exit(0);
	}
	close(pipes[1]);
	ck_assert_int_gt(read(pipes[0], said, sizeof(said) - 1), 0);
	ck_assert_str_eq(said, "out of memory\n");
	close(pipes[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void allocate_bytes(void)
{
	xmalloc(PTRDIFF_MAX);
}

static void allocate_json(void)
{
	struct rlimit room = { 64 << 20, 64 << 20 };
	json_t *list;

	json_memory_begin();
	list = json_array();
	setrlimit(RLIMIT_AS, &room);
	for (;;)
		json_array_append_new(list, json_string("a value that would be missing"));
}

START_TEST(what_cannot_be_allocated_ends_it)
{
	expect_abort(allocate_bytes);
	expect_abort(allocate_json);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tc = tcase_create("memory");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, lists_are_separated);
	tcase_add_test(tc, reading_is_bounded);
	tcase_add_test(tc, strings_grow_and_are_copied);
#ifndef __SANITIZE_ADDRESS__
	tcase_add_test(tc, what_cannot_be_allocated_ends_it);
#endif
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
