/* SPDX-License-Identifier: MIT */
/* The datagrams to the service manager, received by a socket of the test's own. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/notify.h"

static char directory[64];
static char path[100];
static int fd;

/* name begins with "@" for an abstract socket */
static void listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(name);

	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)), 0);
}

static void setup(void)
{
	snprintf(directory, sizeof(directory), "/tmp/rld-notify-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/notify", directory);
	listen_at(path);
}

static void teardown(void)
{
	close(fd);
	unlink(path);
	rmdir(directory);
}

/* A datagram is there as soon as the sender returns: no waiting. */
static const char *received(void)
{
	static char text[4096];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	ck_assert_msg(n >= 0, "nothing was sent: %s", strerror(errno));
	text[n] = '\0';
	return text;
}

START_TEST(test_words)
{
	ck_assert_int_eq(notify_ready(path, NULL), 0);
	ck_assert_str_eq(received(), "READY=1\n");
	ck_assert_int_eq(notify_ready(path, "2 attempts running"), 0);
	ck_assert_str_eq(received(), "READY=1\nSTATUS=2 attempts running\n");
	ck_assert_int_eq(notify_stopping(path), 0);
	ck_assert_str_eq(received(), "STOPPING=1\n");
}
END_TEST

START_TEST(test_status_stays_one_line)
{
	ck_assert_int_eq(notify_ready(path, "a\nSTOPPING=1"), 0);
	ck_assert_str_eq(received(), "READY=1\nSTATUS=a\n");
}
END_TEST

START_TEST(test_reloading_tells_the_time)
{
	struct timespec before, after;
	int64_t said;
	char end;

	clock_gettime(CLOCK_MONOTONIC, &before);
	ck_assert_int_eq(notify_reloading(path), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_eq(sscanf(received(), "RELOADING=1\nMONOTONIC_USEC=%" SCNd64 "%c", &said, &end), 2);
	ck_assert_int_eq(end, '\n');
	ck_assert_int_ge(said, (int64_t)before.tv_sec * 1000000 + before.tv_nsec / 1000);
	ck_assert_int_le(said, (int64_t)after.tv_sec * 1000000 + after.tv_nsec / 1000);
}
END_TEST

START_TEST(test_abstract)
{
	char name[64];

	close(fd);
	snprintf(name, sizeof(name), "@rld-notify-%d", (int)getpid());
	listen_at(name);
	ck_assert_int_eq(notify_ready(name, NULL), 0);
	ck_assert_str_eq(received(), "READY=1\n");
}
END_TEST

START_TEST(test_nobody_asked)
{
	ck_assert_int_eq(notify_ready(NULL, "x"), 0);
	ck_assert_int_eq(notify_ready("", "x"), 0);
}
END_TEST

START_TEST(test_refused)
{
	char longer[300];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_int_eq(notify_stopping(longer), -ENAMETOOLONG);
	ck_assert_int_eq(notify_stopping("relative"), -EAFNOSUPPORT);
	ck_assert_int_eq(notify_stopping("/nonexistent/socket"), -ENOENT);
}
END_TEST

/* A manager that never reads must not stop the daemon. */
START_TEST(test_full)
{
	int rv = 0;

	for (int i = 0; i < 100000 && rv == 0; i++)
		rv = notify_ready(path, "again");
	ck_assert_int_eq(rv, -EAGAIN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("notify");
	TCase *tcase = tcase_create("datagrams");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_words);
	tcase_add_test(tcase, test_status_stays_one_line);
	tcase_add_test(tcase, test_reloading_tells_the_time);
	tcase_add_test(tcase, test_abstract);
	tcase_add_test(tcase, test_nobody_asked);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_full);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
