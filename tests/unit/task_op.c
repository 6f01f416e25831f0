/* SPDX-License-Identifier: MIT */
/* What is asked of a source while a run works: with the scripted bd of tests/fakes, without bd,
 * and of PRD files. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "proto/memory.h"
#include "record/exit_record.h"
#include "task/task_op.h"
#include "task_dump.h"

#define FAKES "tests/fakes"
#define TASKS_AT_ONCE 12
#define SLOTS 6

extern char **environ;

static char *home, *beads, *search;	/* of each test */

static char *in_home(const char *name)
{
	return xasprintf("%s/%s", home, name);
}

static void put(const char *name, const char *text)
{
	char *path = in_home(name);

	ck_assert_int_eq(file_write(AT_FDCWD, path, text, strlen(text), 0644, false), 0);
	free(path);
}

static char *get(const char *name)
{
	char *path = in_home(name), *text;
	size_t size;

	ck_assert_int_eq(file_read(AT_FDCWD, path, 1 << 20, &text, &size), 0);
	free(path);
	return text;
}

static void make_dir(const char *name)
{
	char *path = in_home(name);

	ck_assert_int_eq(file_mkdirs(path, 0755), 0);
	free(path);
}

static void setup(void)
{
	char dir[] = "/tmp/rl-task-XXXXXX", *here = realpath(FAKES, NULL);

	ck_assert_msg(here != NULL, "run it from the top of the source tree");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	home = xstrdup(dir);
	beads = xasprintf("%s/a project", home);
	search = xasprintf("relative::%s/none:%s", home, here);
	make_dir("a project/.beads");
	free(here);
}

static void teardown(void)
{
	const char *argv[] = { "rm", "-rf", home, NULL };
	pid_t pid;

	ck_assert_int_eq(posix_spawnp(&pid, "rm", NULL, NULL, (char *const *)argv, environ), 0);
	waitpid(pid, NULL, 0);
	free(home);
	free(beads);
	free(search);
}

/* ---- as rl-git runs them ---- */

/* In a process of its own, whose result is read. */
static enum step_next run(struct task_op *op)
{
	char dir[] = "/tmp/rl-task-result-XXXXXX";
	enum step_next next = task_op_begin(op);
	int fd, status;
	pid_t pid;

	if (next != STEP_NEXT_RUN)
		return next;
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		task_op_run(op);
		_exit(task_op_write(op, fd) == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(task_op_result(op, fd), 0);
	unlinkat(fd, "result", 0);
	close(fd);
	rmdir(dir);
	return task_op_error(op) != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
}

static struct task_op *op_of(enum task_op_kind kind, const char *task, const char *actor)
{
	return task_op_new(&(struct task_op_spec){ .kind = kind, .source = SOURCE_BEADS, .path = beads,
	    .search = search, .task = task, .actor = actor, .reason = "--passed its review" });
}

/* "done", "taken: X" or the error. */
static char *outcome(enum task_op_kind kind, const char *task, const char *actor)
{
	struct task_op *op = op_of(kind, task, actor);
	enum step_next next = run(op);
	char *text;

	if (next == STEP_NEXT_FAILED)
		text = xstrdup(task_op_error(op));
	else if (task_op_taken(op) != NULL)
		text = xasprintf("taken: %s", task_op_taken(op));
	else
		text = kind == TASK_OP_LOAD ? dump_list(task_op_list(op)) : xstrdup("done");
	ck_assert((next == STEP_NEXT_FAILED) == (task_op_error(op) != NULL));
	task_op_free(op);
	return text;
}

static void expect(enum task_op_kind kind, const char *task, const char *actor, const char *want)
{
	char *got = outcome(kind, task, actor);

	ck_assert_msg(want[0] == '~' ? strstr(got, want + 1) != NULL : strcmp(got, want) == 0,
	    "%s %s: %s", task_op_names[kind], task != NULL ? task : "", got);
	free(got);
}

#define EXPORT \
	"{\"id\":\"x-1\",\"title\":\"one\",\"priority\":1}\n" \
	    "{\"id\":\"x-2\",\"title\":\"two\",\"priority\":0," \
	    "\"dependencies\":[{\"issue_id\":\"x-2\",\"depends_on_id\":\"x-1\",\"type\":\"blocks\"}]}\n"

/* ---- with bd ---- */

START_TEST(claims_and_closes)
{
	struct task_op *op;
	char *log, *issues;

	put("a project/.beads/issues.jsonl", EXPORT);
	expect(TASK_OP_LOAD, NULL, "rld-1",
	    "x-2 title=two status=open p=0 <-x-1 !x-1; x-1 title=one status=open p=1 ready");
	op = op_of(TASK_OP_LOAD, NULL, "rld-1");
	ck_assert_int_eq(run(op), STEP_NEXT_DONE);
	ck_assert(task_op_has_bd(op));
	task_op_free(op);
	expect(TASK_OP_CLAIM, "x-1", "rld-1", "done");
	expect(TASK_OP_CLAIM, "x-1", "rld-1", "done");		/* the daemon has died in between */
	expect(TASK_OP_CLAIM, "x-1", "rld-2", "taken: rld-1");
	expect(TASK_OP_LOAD, NULL, "rld-2", "x-2 title=two status=open p=0 <-x-1 !x-1");
	expect(TASK_OP_CLOSE, "x-2", "rld-2", "~bd close x-2 in ");
	expect(TASK_OP_CLOSE, "x-2", "rld-2",
	    "~blocked by open issues [x-1] (use --force to override); close those first");
	expect(TASK_OP_CLOSE, "x-1", "rld-1", "done");
	expect(TASK_OP_CLOSE, "x-1", "rld-1", "done");
	expect(TASK_OP_CLAIM, "x-1", "rld-1", "~taken: ");	/* another run's list was older */
	expect(TASK_OP_LOAD, NULL, "rld-2", "x-2 title=two status=open p=0 <-x-1 ready");
	issues = get("a project/.beads/fake.json");
	ck_assert_ptr_nonnull(strstr(issues, "\"close_reason\": \"--passed its review\""));
	log = get("a project/.beads/fake.log");
	ck_assert_ptr_nonnull(strstr(log, "rld-1 0 update "));
	ck_assert_ptr_nonnull(strstr(log, "rld-2 1 update "));
	free(issues);
	free(log);
	/* the export is not ours */
	issues = get("a project/.beads/issues.jsonl");
	ck_assert_str_eq(issues, EXPORT);
	free(issues);
}
END_TEST

START_TEST(claim_of_what_is_closed)
{
	put("a project/.beads/issues.jsonl", "{\"id\":\"x-1\",\"status\":\"closed\"}\n"
	    "{\"id\":\"x-2\",\"status\":\"open\",\"assignee\":\"eve\\u001b\"}\n");
	expect(TASK_OP_CLAIM, "x-1", "rld-1", "taken: not claimed, but it has status closed");
	expect(TASK_OP_CLAIM, "x-2", "rld-1", "taken: eve\\x1b");
	expect(TASK_OP_CLAIM, "x-9", "rld-1", "~Issue x-9 not found; ");
}
END_TEST

START_TEST(releases)
{
	put("a project/.beads/issues.jsonl", EXPORT "{\"id\":\"x-3\",\"status\":\"in_progress\","
	    "\"assignee\":\"eve\"}\n{\"id\":\"x-4\",\"status\":\"closed\",\"assignee\":\"rld-1\"}\n");
	expect(TASK_OP_CLAIM, "x-1", "rld-1", "done");
	expect(TASK_OP_RELEASE, "x-1", "rld-1", "done");
	expect(TASK_OP_CLAIM, "x-1", "rld-2", "done");
	/* what somebody else has by now stays theirs */
	expect(TASK_OP_RELEASE, "x-1", "rld-1", "done");
	expect(TASK_OP_CLAIM, "x-1", "rld-3", "taken: rld-2");
	expect(TASK_OP_RELEASE, "x-3", "rld-1", "done");
	expect(TASK_OP_CLAIM, "x-3", "rld-1", "taken: eve");
	/* whoever picked it, when nobody is named */
	expect(TASK_OP_RELEASE, "x-3", NULL, "done");
	expect(TASK_OP_CLAIM, "x-3", "rld-1", "done");
	/* what its agent has closed and no review has passed */
	expect(TASK_OP_RELEASE, "x-4", "rld-1", "done");
	expect(TASK_OP_CLAIM, "x-4", "rld-2", "done");
	expect(TASK_OP_RELEASE, "x-9", "rld-1", "~bd show x-9 in ");
}
END_TEST

START_TEST(bd_fails)
{
	expect(TASK_OP_CLAIM, "-x", "rld-1", "~begins with a dash");
	put("a project/.beads/issues.jsonl", EXPORT);
	put("a project/.beads/fake.fail", "ready\nclose x-1\nupdate x-1\n");
	expect(TASK_OP_LOAD, NULL, "rld-1", "~bd ready in ");
	expect(TASK_OP_LOAD, NULL, "rld-1",
	    "~database is locked; find out which other program keeps its database busy");
	expect(TASK_OP_CLAIM, "x-1", "rld-1", "~bd update x-1 in ");
	expect(TASK_OP_CLOSE, "x-1", "rld-1", "~database is locked");
	put("a project/.beads/redirect", "/nonexistent");
	expect(TASK_OP_LOAD, NULL, "rld-1", "~bd ready in ");
}
END_TEST

/* Programs named bd that answer oddly. */
static const struct {
	enum task_op_kind kind;
	const char *script, *want;
} odd[] = {
	{ TASK_OP_LOAD, "echo '{\"schema_version\":1,\"data\":[{\"id\":\"x\"}]}'", "x status=open ready" },
	{ TASK_OP_LOAD, "echo '{\"error\":\"no space left\"}'; exit 1", "~no space left; see " },
	{ TASK_OP_LOAD, "echo '{\"error\":\"no space left\"}'", "~no space left" },
	{ TASK_OP_LOAD, "true", "~bd printed nothing" },
	{ TASK_OP_LOAD, "echo hello", "~it is not valid JSON" },
	{ TASK_OP_LOAD, "echo '[{}]'", "~issue 1 in the output of bd: it has no \"id\"" },
	{ TASK_OP_LOAD, "echo 'Error: unknown flag: --limit' >&2; exit 1", "~install a newer bd" },
	{ TASK_OP_LOAD, "echo 'Error: no beads database found' >&2; exit 1", "~run `bd init` there" },
	{ TASK_OP_LOAD, "head -c 67108865 /dev/zero", "~bd printed more than 64 MiB" },
	{ TASK_OP_LOAD, "exit 3", "~bd printed nothing" },
	{ TASK_OP_LOAD, "kill -9 $$", "~bd printed nothing" },
	{ TASK_OP_CLAIM, "true", "~bd printed nothing" },
	{ TASK_OP_CLAIM, "echo '[]'", "~it did not confirm that the issue is in progress" },
	{ TASK_OP_CLAIM, "echo '[{\"id\":\"x\",\"status\":\"open\"}]'", "~it did not confirm" },
	{ TASK_OP_CLAIM, "echo '[{\"id\":\"y\",\"status\":\"in_progress\"}]'", "~it did not confirm" },
	{ TASK_OP_CLAIM, "echo '[{\"id\":\"x\",\"status\":\"in_progress\"}]'", "done" },
	{ TASK_OP_CLAIM, "echo '[{\"id\":\"x\",\"status\":\"in_progress\"}]'; exit 1", "~it failed without output" },
	{ TASK_OP_CLAIM, "echo warning >&2; echo 'Error claiming x: "
	    "issue already claimed by eve' >&2; echo hint >&2; exit 1", "taken: eve" },
	{ TASK_OP_CLAIM, "echo 'Error claiming x: issue already claimed by rld-1' >&2; exit 1", "done" },
	{ TASK_OP_CLAIM, "head -c 100000 /dev/zero >&2; exit 1", "~bd update x in " },
	{ TASK_OP_CLOSE, "echo '[{\"id\":\"x\",\"status\":\"open\"}]'",
	    "~it did not confirm that the issue is closed" },
	{ TASK_OP_CLOSE, "test $1 = show && echo '[{\"id\":\"x\",\"status\":\"closed\"}]'", "done" },
	{ TASK_OP_RELEASE, "echo '[{\"id\":\"x\",\"status\":\"open\"}]'; test $1 = show", "done" },
	{ TASK_OP_RELEASE, "echo '[{\"id\":\"x\",\"status\":\"closed\"}]'",
	    "~it did not confirm that the issue is open" },
	{ TASK_OP_RELEASE, "echo '[]'", "~it did not show the issue" },
	{ TASK_OP_CLOSE, "[ \"$PWD $BD_ACTOR $BEADS_ACTOR $PATH\" = \"$HERE\" ] && echo "
	    "'[{\"id\":\"x\",\"status\":\"closed\"}]'", "done" },
};

START_TEST(odd_table)
{
	char *script =
	    xasprintf("#!/bin/sh\nPWD=$(/bin/pwd)\nHERE='%s rld-1 rld-1 %s/bin:/bin:/usr/bin'\n%s\n",
	    beads, home, odd[_i].script), *path = in_home("bin/bd");

	free(search);
	search = xasprintf("%s/bin:/bin:/usr/bin", home);
	make_dir("bin");
	put("bin/bd", script);
	ck_assert_int_eq(chmod(path, 0755), 0);
	expect(odd[_i].kind, odd[_i].kind == TASK_OP_LOAD ? NULL : "x", "rld-1", odd[_i].want);
	free(script);
	free(path);
}
END_TEST

/* What bd says of a failure, and whether the same again may come to something else. */
static const struct {
	const char *script;
	enum task_trouble trouble;
	int fault;
} troubles[] = {
	{ "echo 'Error: database is locked' >&2; exit 1", TROUBLE_PASSES, 0 },
	{ "echo '{\"error\":\"dolt: connection refused\"}'; exit 1", TROUBLE_PASSES, 0 },
	{ "echo 'Error: context deadline exceeded' >&2; exit 1", TROUBLE_PASSES, 0 },
	{ "echo 'Error: unknown flag: --limit' >&2; exit 1", TROUBLE_LASTS, 0 },
	{ "echo '{\"error\":\"no issues found matching the provided IDs\"}'; exit 1", TROUBLE_LASTS, 0 },
	{ "echo 'Error: no beads database found' >&2; exit 1", TROUBLE_LASTS, 0 },
	{ "exit 1", TROUBLE_UNCLEAR, 0 },
	{ "echo what; exit 0", TROUBLE_UNCLEAR, 0 },
	{ "echo 'Error: database or disk is full' >&2; exit 1", TROUBLE_PASSES, ENOSPC },
	{ "echo 'Error: open .beads/beads.db: Too many open files' >&2; exit 1", TROUBLE_UNCLEAR, EMFILE },
};

START_TEST(trouble_table)
{
	char *script = xasprintf("#!/bin/sh\n%s\n", troubles[_i].script), *path = in_home("bin/bd");
	struct task_op *op;

	free(search);
	search = xasprintf("%s/bin:/bin:/usr/bin", home);
	make_dir("bin");
	put("bin/bd", script);
	ck_assert_int_eq(chmod(path, 0755), 0);
	op = op_of(TASK_OP_LOAD, NULL, "rld-1");
	ck_assert_int_eq(run(op), STEP_NEXT_FAILED);
	ck_assert_int_eq(task_op_trouble(op), troubles[_i].trouble);
	ck_assert_int_eq(task_op_fault(op), troubles[_i].fault);
	task_op_free(op);
	free(script);
	free(path);
}
END_TEST

/* One that hangs is ended by its shim, and what it has said until then is not why it failed. */
START_TEST(bd_hangs)
{
	static const struct exit_record late = { .how = EXIT_BY_SIGNAL, .status = 15,
	    .by = EXIT_WALL, .tree_empty = true };
	struct task_op *op = op_of(TASK_OP_LOAD, NULL, "rld-1");
	char *dir = in_home("record");
	int fd;

	make_dir("record");
	ck_assert_int_eq(task_op_begin(op), STEP_NEXT_RUN);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(exit_record_write(fd, &late, false), 0);
	ck_assert_int_eq(task_op_result(op, fd), 0);
	ck_assert_ptr_nonnull(strstr(task_op_error(op), " timed out and was killed; "));
	ck_assert_int_eq(task_op_trouble(op), TROUBLE_PASSES);
	close(fd);
	task_op_free(op);
	free(dir);
}
END_TEST

/* bd is a program in an absolute directory of the PATH. */
START_TEST(which_bd)
{
	static const char *const searches[] = { "", ":", ".", FAKES ":" FAKES "/", NULL, "/nonexistent" };
	struct task_op *op;

	put("a project/.beads/issues.jsonl", EXPORT);
	make_dir("dir/bd");
	make_dir("plain");
	put("plain/bd", "not executable");
	for (size_t i = 0; i < 8; i++) {
		free(search);
		search = i < 6 ? xstrdup(searches[i]) : xasprintf("%s/%s", home, i == 6 ? "dir" : "plain");
		op = op_of(TASK_OP_LOAD, NULL, "rld-1");
		ck_assert_int_eq(run(op), STEP_NEXT_DONE);
		ck_assert(!task_op_has_bd(op));
		task_op_free(op);
		expect(TASK_OP_LOAD, NULL, "rld-1",
		    "x-2 title=two status=open p=0 <-x-1 !x-1; x-1 title=one status=open p=1 ready");
		expect(TASK_OP_CLAIM, "x-1", "rld-1", "done");
		expect(TASK_OP_CLOSE, "x-1", "rld-1", "done");
		expect(TASK_OP_RELEASE, "x-1", "rld-1", "done");
	}
}
END_TEST

START_TEST(no_export)
{
	free(search);
	search = NULL;
	expect(TASK_OP_LOAD, NULL, "rld-1", "~bd is not on the PATH of the agents, and ");
	expect(TASK_OP_LOAD, NULL, "rld-1", "~/.beads/issues.jsonl does not exist; install bd, or create that file");
	put("a project/.beads/issues.jsonl", "{\"id\":\"a\"}\nx\n");
	expect(TASK_OP_LOAD, NULL, "rld-1", "~.beads/issues.jsonl:2: it is not valid JSON");
	make_dir("b/.beads/issues.jsonl");
	free(beads);
	beads = in_home("b");
	expect(TASK_OP_LOAD, NULL, "rld-1", "~is not a regular file");
}
END_TEST

/* Claims of many at once: each task is somebody's, and nobody else's. */
static int owner[TASKS_AT_ONCE];
static pthread_mutex_t owner_mutex = PTHREAD_MUTEX_INITIALIZER;

static void *claim_all(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < TASKS_AT_ONCE; i++) {
		int number = (i * 7 + me * 5) % TASKS_AT_ONCE;
		char *task = xasprintf("t%d", number), *actor = xasprintf("rld-%d", me),
		    *got = outcome(TASK_OP_CLAIM, task, actor);

		if (strcmp(got, "done") == 0) {
			pthread_mutex_lock(&owner_mutex);
			ck_assert_int_eq(owner[number], 0);
			owner[number] = me;
			pthread_mutex_unlock(&owner_mutex);
		} else {
			ck_assert_msg(strncmp(got, "taken: rld-", 11) == 0, "%s", got);
		}
		free(task);
		free(actor);
		free(got);
	}
	return NULL;
}

START_TEST(claims_at_once)
{
	pthread_t threads[SLOTS];
	int names[SLOTS];
	struct buf b = { 0 };

	memset(owner, 0, sizeof(owner));
	for (int i = 0; i < TASKS_AT_ONCE; i++)
		buf_addf(&b, "{\"id\":\"t%d\"}\n", i);
	put("a project/.beads/issues.jsonl", b.data);
	buf_release(&b);
	for (int i = 0; i < SLOTS; i++) {
		names[i] = i + 1;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, claim_all, &names[i]), 0);
	}
	for (int i = 0; i < SLOTS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TASKS_AT_ONCE; i++)
		ck_assert_int_ne(owner[i], 0);
}
END_TEST

/* ---- stories ---- */

static enum step_next pass(const char *path, const char *id, char **error)
{
	struct task_op *op = task_op_new(&(struct task_op_spec){ .kind = TASK_OP_CLOSE,
	    .source = SOURCE_STORIES, .path = path, .task = id });
	enum step_next next = task_op_begin(op);

	if (error != NULL)
		*error = xstrdup(task_op_error(op));
	task_op_free(op);
	return next;
}

START_TEST(story_passes)
{
	char *path = in_home("prd.json"), *link = in_home("link.json"), *text, *error;
	struct stat before, after;
	mode_t mask = umask(077);

	put("prd.json", "{\"userStories\": [{\"id\": \"a\", \"passes\": false}, {\"id\": \"b\"}]}\n");
	ck_assert_int_eq(chmod(path, 0664), 0);
	ck_assert_int_eq(symlink("prd.json", link), 0);
	ck_assert_int_eq(pass(link, "a", NULL), STEP_NEXT_DONE);
	text = get("prd.json");
	ck_assert_str_eq(text, "{\"userStories\": [{\"id\": \"a\", \"passes\": true}, {\"id\": \"b\"}]}\n");
	free(text);
	ck_assert_int_eq(lstat(link, &after), 0);
	ck_assert(S_ISLNK(after.st_mode));
	ck_assert_int_eq(stat(path, &before), 0);
	ck_assert_int_eq(before.st_mode & 07777, 0664);
	/* again is not worth a write */
	ck_assert_int_eq(pass(path, "a", NULL), STEP_NEXT_DONE);
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	ck_assert_int_eq(pass(path, "zz", &error), STEP_NEXT_FAILED);
	ck_assert_ptr_nonnull(strstr(error, "prd.json: the PRD: it no longer contains story \"zz\""));
	free(error);
	put("prd.json", "{");
	ck_assert_int_eq(pass(path, "a", &error), STEP_NEXT_FAILED);
	ck_assert_ptr_nonnull(strstr(error, "set \"passes\": true manually"));
	free(error);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(pass(link, "a", &error), STEP_NEXT_FAILED);
	ck_assert_ptr_nonnull(strstr(error, "link.json: does not exist"));
	free(error);
	ck_assert_int_eq(pass(NULL, "a", NULL), STEP_NEXT_DONE);
	umask(mask);
	free(path);
	free(link);
}
END_TEST

static void *pass_some(void *arg)
{
	char *path = in_home("prd.json");

	for (int i = *(int *)arg; i < TASKS_AT_ONCE; i += SLOTS) {
		char *id = xasprintf("US-%d", i);

		ck_assert_int_eq(pass(path, id, NULL), STEP_NEXT_DONE);
		free(id);
	}
	free(path);
	return NULL;
}

/* Slots that pass at the same time lose none of each other's words. */
START_TEST(stories_at_once)
{
	pthread_t threads[SLOTS];
	int names[SLOTS];
	struct task_list list;
	struct buf b = { 0 };
	char *text, *error;

	buf_adds(&b, "{\"userStories\": [");
	for (int i = 0; i < TASKS_AT_ONCE; i++)
		buf_addf(&b, "%s\n  {\"id\": \"US-%d\", \"passes\": false}", i > 0 ? "," : "", i);
	buf_adds(&b, "\n]}\n");
	put("prd.json", b.data);
	buf_release(&b);
	for (int i = 0; i < SLOTS; i++) {
		names[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, pass_some, &names[i]), 0);
	}
	for (int i = 0; i < SLOTS; i++)
		pthread_join(threads[i], NULL);
	text = get("prd.json");
	ck_assert_int_eq(stories_read(text, strlen(text), &list, &error), 0);
	for (size_t i = 0; i < list.count; i++)
		ck_assert_msg(list.items[i].done, "%s", list.items[i].id);
	task_list_release(&list);
	free(text);
}
END_TEST

/* ---- the table ---- */

START_TEST(other_sources_do_nothing)
{
	for (int source = 0; source < SOURCES; source++) {
		ck_assert_int_eq(source_find(sources[source].name), source);
		for (int kind = 0; kind < TASK_OPS; kind++) {
			struct task_op *op =
			    task_op_new(&(struct task_op_spec){ .kind = (enum task_op_kind)kind,
			    .source = (enum source_kind)source, .task = "a", .search = search });
			ck_assert_int_eq(task_op_begin(op), STEP_NEXT_DONE);
			ck_assert_uint_eq(task_op_list(op)->count, 0);
			ck_assert_ptr_null(task_op_taken(op));
			task_op_free(op);
		}
	}
	ck_assert_int_eq(source_find("bead"), -1);
	ck_assert(sources[SOURCE_BEADS].claims && sources[SOURCE_BEADS].reloads && sources[SOURCE_BEADS].markers);
	ck_assert(sources[SOURCE_STORIES].claims && !sources[SOURCE_STORIES].reloads &&
	    sources[SOURCE_STORIES].markers);
	ck_assert(!sources[SOURCE_WORKFLOW].markers && !sources[SOURCE_PROMPT].markers);
	task_op_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task_op");
	TCase *tcase = tcase_create("task_op");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, claims_and_closes);
	tcase_add_test(tcase, claim_of_what_is_closed);
	tcase_add_test(tcase, releases);
	tcase_add_test(tcase, bd_fails);
	tcase_add_loop_test(tcase, odd_table, 0, sizeof(odd) / sizeof(odd[0]));
	tcase_add_loop_test(tcase, trouble_table, 0, sizeof(troubles) / sizeof(troubles[0]));
	tcase_add_test(tcase, bd_hangs);
	tcase_add_test(tcase, which_bd);
	tcase_add_test(tcase, no_export);
	tcase_add_test(tcase, claims_at_once);
	tcase_add_test(tcase, story_passes);
	tcase_add_test(tcase, stories_at_once);
	tcase_add_test(tcase, other_sources_do_nothing);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
