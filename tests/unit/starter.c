/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/start_wire.h"
#include "proc/starter.h"
#include "proto/memory.h"
#include "scratch.h"

/* Take a connection and its request, and answer with so many bytes. */
static void serve(int listening, size_t bytes)
{
	struct start_answer answer = { .said = START_ANSWER, .value = 7, .more = 7 };
	struct start_request request;
	int conn = accept(listening, NULL, NULL), fds[START_FDS];

	ck_assert_int_eq(start_receive(conn, &request, sizeof(request), fds), 0);
	if (bytes > 0)
		ck_assert_int_eq(start_send(conn, &answer, bytes, NULL, 0), 0);
	close(conn);
}

/* Only the end of the connection says that nothing was started: otherwise a process might be
 * started twice. */
START_TEST(answers_that_are_not_whole)
{
	static const struct { size_t bytes; int rv; } answers[] = {
		{ 0, -EHOSTDOWN }, { 1, -ETIMEDOUT }, { sizeof(struct start_answer), 0 },
	};
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *envp[] = { NULL }, dir[80];
	int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), lock = open("/dev/null", O_RDONLY);
	struct spawned spawned;
	uid_t uid;
	gid_t gid;

	scratch_make(dir, sizeof(dir), "starter");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/sock", dir);
	ck_assert_int_eq(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listening, 5), 0);
	if (fork() == 0) {
		serve(listening, sizeof(struct start_answer));
		for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
			serve(listening, answers[i].bytes);
		_exit(0);
	}
	ck_assert_int_eq(starter_use(address.sun_path, &uid, &gid), 0);
	ck_assert_uint_eq(uid, 7);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		ck_assert_int_eq(starter_shim("/nowhere", "uuid", lock, envp, 0,
		    &(struct start_limits){ 0 }, &spawned), answers[i].rv);
		ck_assert_int_eq(spawned.conn != -1, answers[i].rv == 0);
	}
	close(spawned.conn);
	wait(NULL);
	close(lock);
	close(listening);
	unlink(address.sun_path);
	rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starter");
	TCase *tc = tcase_create("starter");
	SRunner *runner;
	int failed;

	tcase_add_test(tc, answers_that_are_not_whole);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
