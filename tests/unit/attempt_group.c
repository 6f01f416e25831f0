/* SPDX-License-Identifier: MIT */
/* Cgroups of attempts, in a directory that looks like the kernel's. */
#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/start_wire.h"
#include "proto/memory.h"
#include "record/own_group.h"
#include "scratch.h"
#include "starter/attempt_group.h"

#define CAN_ALL (START_CAN_GROUP | START_CAN_MEMORY | START_CAN_PROCESSES)
#define CONTROL "cgroup.subtree_control"

static char at[80];

static void setup(void)
{
	scratch_make(at, sizeof(at), "group");
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void teardown(void)
{
	nftw(at, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void spit(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", at, name);
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

/* Until the next call. */
static const char *slurp(const char *name)
{
	static char text[256];
	char *path = xasprintf("%s/%s", at, name);
	FILE *file = fopen(path, "re");

	text[file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0] = '\0';
	if (file != NULL)
		fclose(file);
	free(path);
	return text;
}

static void below(const char *name)
{
	char *path = xasprintf("%s/%s", at, name);

	ck_assert_int_eq(mkdir(path, 0755), 0);
	free(path);
}

static void group(const char *controllers, const char *on)
{
	spit("cgroup.controllers", controllers);
	spit(CONTROL, on);
	spit("cgroup.procs", "1234\n");
}

/* The files of a group that the kernel makes. */
static void attempt(const char *name)
{
	static const char *const files[] = { "memory.max", "memory.swap.max", "pids.max", "cgroup.procs" };

	below(name);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path = xasprintf("%s/%s", name, files[i]);

		spit(path, "");
		free(path);
	}
}

static const struct {
	const char *controllers;
	unsigned can;
} hosts[] = {
	{ "cpuset cpu io memory hugetlb pids rdma misc\n", CAN_ALL },
	{ "memory\n", START_CAN_GROUP | START_CAN_MEMORY },
	{ "cpu pids\n", START_CAN_GROUP | START_CAN_PROCESSES },
	{ "cpu io memoryx\n", START_CAN_GROUP },
	{ "\n", START_CAN_GROUP },
};

/* Only what is there is turned on, and only then rl-start leaves the group. */
START_TEST(controllers_of_the_host)
{
	char *path = xasprintf("%s/main", at);

	group(hosts[_i].controllers, "");
	ck_assert_uint_eq(attempt_groups_limit(at), hosts[_i].can);
	ck_assert_int_eq(access(path, F_OK) == 0, hosts[_i].can != START_CAN_GROUP);
	ck_assert_int_eq(slurp(CONTROL)[0] == '+', hosts[_i].can != START_CAN_GROUP);
	free(path);
}
END_TEST

START_TEST(no_groups)
{
	ck_assert_uint_eq(attempt_groups_limit(NULL), 0);
	attempt_group_enter(NULL, "uuid", &(struct start_limits){ 1, 1 }, 0);
}
END_TEST

START_TEST(limits_are_set)
{
	const struct start_limits limits = { .memory = 1 << 30, .processes = 99 };

	attempt("attempt-a");
	attempt_group_enter(at, "a", &limits, CAN_ALL);
	ck_assert_str_eq(slurp("attempt-a/memory.max"), "1073741824");
	ck_assert_str_eq(slurp("attempt-a/memory.swap.max"), "0");
	ck_assert_str_eq(slurp("attempt-a/pids.max"), "99");
	ck_assert_str_eq(slurp("attempt-a/cgroup.procs"), "0");
	attempt("attempt-b");
	attempt_group_enter(at, "b", &(struct start_limits){ 0 }, CAN_ALL);
	ck_assert_str_eq(slurp("attempt-b/memory.max"), "");
	ck_assert_str_eq(slurp("attempt-b/pids.max"), "");
	attempt("attempt-c");
	attempt_group_enter(at, "c", &limits, START_CAN_GROUP | START_CAN_PROCESSES);
	ck_assert_str_eq(slurp("attempt-c/memory.max"), "");
	ck_assert_str_eq(slurp("attempt-c/pids.max"), "99");
}
END_TEST

/* Another request ends while it is still empty, and tidies it away. */
START_TEST(one_that_is_tidied_away_is_made_again)
{
	char *dir = xasprintf("%s/attempt-a", at);
	pid_t pid = fork();

	if (pid == 0) {
		while (rmdir(dir) == -1)
			;
		while (access(dir, F_OK) == -1)
			;
		spit("attempt-a/cgroup.procs", "");
		_exit(0);
	}
	attempt_group_enter(at, "a", &(struct start_limits){ 0 }, START_CAN_GROUP);
	ck_assert_str_eq(slurp("attempt-a/cgroup.procs"), "0");
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	free(dir);
}
END_TEST

/* The files of a group come anew with the controllers. */
START_TEST(limits_outlive_a_restart)
{
	attempt("attempt-a");
	attempt("attempt-b");
	attempt_group_enter(at, "a", &(struct start_limits){ .memory = 1 << 30, .processes = 99 }, CAN_ALL);
	spit("attempt-a/memory.max", "");
	spit("attempt-a/pids.max", "");
	group("memory pids\n", "");
	ck_assert_uint_eq(attempt_groups_limit(at), CAN_ALL);
	ck_assert_str_eq(slurp("attempt-a/memory.max"), "1073741824");
	ck_assert_str_eq(slurp("attempt-a/pids.max"), "99");
	ck_assert_str_eq(slurp("attempt-b/memory.max"), "");
}
END_TEST

/* A fault of the host: whether the group is empty is not known, and it is killed. */
START_TEST(one_that_cannot_be_read_is_killed)
{
	char *kill = xasprintf("%s/attempt-a/cgroup.kill", at), *events = xasprintf("%s/attempt-a/cgroup.events", at);
	char text[8] = "";
	pid_t pid;

	attempt("attempt-a");
	below("attempt-a/cgroup.events");	/* EISDIR */
	ck_assert_int_eq(mkfifo(kill, 0600), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(kill, O_RDWR | O_CLOEXEC);

		if (read(fd, text, sizeof(text)) == 1)
			rmdir(events);
		_exit(0);
	}
	ck_assert_int_eq(attempt_group_kill(at, "a"), 1);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(attempt_group_kill(at, "a"), 0);
	free(events);
	free(kill);
}
END_TEST

START_TEST(controllers_are_turned_off)
{
	group("memory pids\n", "memory pids\n");
	attempt_groups_release_at(at);
	ck_assert_int_eq(slurp(CONTROL)[0], '-');
}
END_TEST

START_TEST(systemd_has_a_group_for_us)
{
	group("memory pids\n", "memory pids\n");
	below("starter");
	attempt_groups_release_at(at);
	ck_assert_str_eq(slurp(CONTROL), "memory pids\n");
}
END_TEST

static const struct {
	const char *memory, *max, *pids;
	int64_t kills, most, refused;
} events[] = {
	{ "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\noom_group_kill 0\n", "67108864\n", "max 0\n", 2, 67108864, 0 },
	/* a limit further up */
	{ "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n", "67108864\n", "max 0\n", 1, 0, 0 },
	{ "low 0\nhigh 0\nmax 0\noom 1\noom_kill 1\n", "max\n", "max 0\n", 1, 0, 0 },
	/* nothing was killed: memory was found */
	{ "low 0\nhigh 0\nmax 700\noom 1\noom_kill 0\n", "67108864\n", "max 31\n", 0, 0, 31 },
	{ "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n", "67108864\n", "max 0\n", 0, 0, 0 },
	{ "", "", "", 0, 0, 0 },
};

START_TEST(what_limits_did)
{
	struct exit_record record = { .memory_kills = 7, .memory_max = 7, .refused_forks = 7 };

	spit("memory.events", events[_i].memory);
	spit("memory.max", events[_i].max);
	spit("pids.events", events[_i].pids);
	group_tell(at, &record);
	ck_assert_int_eq(record.memory_kills, events[_i].kills);
	ck_assert_int_eq(record.memory_max, events[_i].most);
	ck_assert_int_eq(record.refused_forks, events[_i].refused);
}
END_TEST

/* This one is no attempt's. */
START_TEST(another_group_tells_nothing)
{
	struct exit_record record = { 0 };

	own_group_tell("uuid", &record);
	ck_assert_int_eq(record.memory_kills + record.memory_max + record.refused_forks, 0);
	ck_assert_int_eq(group_number(at, "nothing", NULL), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attempt_group");
	TCase *tc = tcase_create("attempt_group");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, controllers_of_the_host, 0, sizeof(hosts) / sizeof(hosts[0]));
	tcase_add_test(tc, no_groups);
	tcase_add_test(tc, limits_are_set);
	tcase_add_test(tc, one_that_is_tidied_away_is_made_again);
	tcase_add_test(tc, limits_outlive_a_restart);
	tcase_add_test(tc, one_that_cannot_be_read_is_killed);
	tcase_add_test(tc, controllers_are_turned_off);
	tcase_add_test(tc, systemd_has_a_group_for_us);
	tcase_add_loop_test(tc, what_limits_did, 0, sizeof(events) / sizeof(events[0]));
	tcase_add_test(tc, another_group_tells_nothing);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
