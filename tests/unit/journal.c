/* SPDX-License-Identifier: MIT */
/* Lines of the log in the journal, with fields. */
#include <check.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/journal.h"
#include "base/log.h"
#include "proto/memory.h"

static char *place;

/* Bound to place. */
static int listener(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	place = xasprintf("/tmp/rl-journal-%d", (int)getpid());
	unlink(place);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", place);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void expect(int fd, const char *want)
{
	char data[4096] = "";
	ssize_t size = recv(fd, data, sizeof(data) - 1, MSG_DONTWAIT);

	ck_assert_int_ge(size, 0);
	ck_assert_str_eq(data, want);
}

static char *stream_of(int fd)
{
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	return xasprintf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
}

START_TEST(lines_have_fields)
{
	int journal = listener(), fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char *stream = stream_of(fd);

	log_set_journal(journal_open(stream, fd, place));
	log_about(LOG_LEVEL_WARN, 12, 0, "run %d held: a\nb", 12);
	expect(journal, "MESSAGE=run 12 held: a\\nb\nPRIORITY=4\nSYSLOG_IDENTIFIER=rld\nRLD_RUN=12\n");
	log_about(LOG_LEVEL_INFO, 12, 345, "attempt 345");
	expect(journal, "MESSAGE=attempt 345\nPRIORITY=6\nSYSLOG_IDENTIFIER=rld\nRLD_RUN=12\nRLD_ATTEMPT=345\n");
	log_error("x");
	expect(journal, "MESSAGE=x\nPRIORITY=3\nSYSLOG_IDENTIFIER=rld\n");
	log_bug("y");
	expect(journal, "MESSAGE=bug: y\nPRIORITY=3\nSYSLOG_IDENTIFIER=rld\n");
	free(stream);
	unlink(place);
}
END_TEST

START_TEST(only_the_journal_is_one)
{
	int journal = listener(), fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char *stream = stream_of(fd);

	ck_assert_int_eq(journal_open(NULL, fd, place), -1);
	ck_assert_int_eq(journal_open("1:2", fd, place), -1);
	ck_assert_int_eq(journal_open(stream, journal, place), -1);
	ck_assert_int_eq(journal_open(stream, fd, "/nowhere/socket"), -1);
	free(stream);
	unlink(place);
}
END_TEST

/* One that has gone, or is full, loses no line. */
START_TEST(what_it_does_not_take_is_on_stderr)
{
	int journal = listener(), fd = open("/dev/null", O_WRONLY | O_CLOEXEC), file, before = dup(STDERR_FILENO);
	char *stream = stream_of(fd), text[64] = "";
	char name[] = "/tmp/rl-journal-XXXXXX";

	log_set_journal(journal_open(stream, fd, place));
	close(journal);
	file = mkstemp(name);
	dup2(file, STDERR_FILENO);
	log_about(LOG_LEVEL_INFO, 1, 0, "run 1 succeeded");
	dup2(before, STDERR_FILENO);
	ck_assert_int_ge(pread(file, text, sizeof(text) - 1, 0), 0);
	ck_assert_str_eq(text, "<6>run 1 succeeded\n");
	unlink(name);
	unlink(place);
	free(stream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("journal");
	TCase *tcase = tcase_create("journal");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, lines_have_fields);
	tcase_add_test(tcase, only_the_journal_is_one);
	tcase_add_test(tcase, what_it_does_not_take_is_on_stderr);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
