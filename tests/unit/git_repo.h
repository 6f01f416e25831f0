/* SPDX-License-Identifier: MIT */
/* A repository for each test, and git operations in it: as rl-git runs them, with real git. */
#ifndef TESTS_UNIT_GIT_REPO_H
#define TESTS_UNIT_GIT_REPO_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <sha2.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/step.h"
#include "child/child.h"
#include "git/git_op.h"
#include "proto/memory.h"
#include "scratch.h"

extern char **environ;

/* template: a home with the repository that every test begins with */
static char home[128], template[128];
static char *repo, *scratch, *record;
static int processes;		/* of the last operation */
/* shell text run before the step named in between_step, once */
static const char *between;
static const char *between_step = "";
static bool as_nobody;		/* steps run without root's rights */
static char **nobody_argv;	/* of the last of them */

static int spawn_wait(const char *const argv[], char *const env[], const char *in, const char *out, const char *err)
{
	posix_spawn_file_actions_t fa;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, in, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (err != NULL)
		posix_spawn_file_actions_addopen(&fa, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_eq(posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)argv, env), 0);
	posix_spawn_file_actions_destroy(&fa);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Shell text in the repository; its output. Must succeed. */
__attribute__((format(printf, 1, 2)))
static char *sh(const char *fmt, ...)
{
	char *script = NULL, *out = xasprintf("%s/sh.out", home), *text, *full;
	va_list ap;
	size_t size;
	int status;

	va_start(ap, fmt);
	ck_assert_int_ne(vasprintf(&script, fmt, ap), -1);
	va_end(ap);
	full = xasprintf("set -e; cd %s; %s", repo, script);
	const char *argv[] = { "sh", "-c", full, NULL };

	status = spawn_wait(argv, environ, "/dev/null", out, NULL);
	ck_assert_msg(status == 0, "failed: %s", script);
	ck_assert_int_eq(file_read(AT_FDCWD, out, 64 << 20, &text, &size), 0);
	if (size > 0 && text[size - 1] == '\n')
		text[size - 1] = '\0';
	free(script);
	free(full);
	free(out);
	return text;
}

#define SH(...) free(sh(__VA_ARGS__))

static int budget = -1;		/* processes that are run until rl-git dies; -1: it does not */

/* Before each process of an operation. */
static void before(struct child *child)
{
	ck_assert_int_lt(++processes, 100);
	if (between != NULL && strcmp(child->name, between_step) == 0) {
		const char *text = between;

		if (strncmp(text, "always ", 7) != 0)
			between = NULL;
		else
			text += 7;
		SH("%s", text);
	}
	if (as_nobody && geteuid() == 0) {
		strings_free(nobody_argv);
		nobody_argv = NULL;
		strings_append(&nobody_argv, "setpriv");
		strings_append(&nobody_argv, "--reuid=65534");
		strings_append(&nobody_argv, "--clear-groups");
		for (size_t i = 0; child->argv[i] != NULL; i++)
			strings_append(&nobody_argv, child->argv[i]);
		child->argv = nobody_argv;
	}
}

static void (*before_each)(struct child *child) = before;

/* ... and behind it. */
static void after(void)
{
	if (processes == budget)
		_exit(1);
}

/* The patch of the last operation. */
static int patch_file(void)
{
	char *path = xasprintf("%s/stdout.%016x", record, 0);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ne(fd, -1);
	free(path);
	return fd;
}

/* What rl-git does, with its stdout. */
static enum step_next drive(struct git_op *op)
{
	int out = dup(STDOUT_FILENO), patch, rv;

	fflush(stdout);
	patch = patch_file();
	dup2(patch, STDOUT_FILENO);
	close(patch);
	processes = 0;
	child_before = before_each;
	child_after = after;
	rv = git_op_run(op);
	dup2(out, STDOUT_FILENO);
	close(out);
	return rv == 0 ? STEP_NEXT_DONE : STEP_NEXT_FAILED;
}

/* rl-git dies behind process n of the operation. True: it came to its end before. */
__attribute__((unused))
static bool drive_steps(struct git_op *op, int n)
{
	int dirfd = open(record, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		budget = n;
		drive(op);
		_exit(git_op_write(op, dirfd) == 0 ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	if (WEXITSTATUS(status) == 0)
		ck_assert_int_eq(git_op_result(op, dirfd), 0);
	close(dirfd);
	return WEXITSTATUS(status) == 0;
}

__attribute__((unused))
static struct git_op *op_of(enum git_op_kind kind, const char *tree, const char *ref)
{
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch, .tree = tree, .ref = ref };

	return git_op_new(&spec);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* What a link says, and a digest of a file. */
static void add_content(struct buf *b, const FTSENT *e)
{
	char link[4096], hex[SHA256_DIGEST_STRING_LENGTH];
	ssize_t n = e->fts_info == FTS_SL || e->fts_info == FTS_SLNONE ?
	    readlink(e->fts_accpath, link, sizeof(link)) : 0;

	buf_add(b, link, n > 0 ? (size_t)n : 0);
	if (e->fts_info != FTS_F)
		return;
	ck_assert_ptr_nonnull(SHA256File(e->fts_accpath, hex));
	buf_adds(b, hex);
}

/* Everything of the user's, but the object store: names, types, modes, times, link texts and bytes.
 * (git itself touches the time of a shared index that it reads.) */
static char *fingerprint(void)
{
	char *roots[] = { repo, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	struct buf b = { 0 };
	FTSENT *e;

	while ((e = fts_read(fts)) != NULL) {
		const struct stat *st = e->fts_statp;
		const char *path = e->fts_path + strlen(repo);

		if (strcmp(path, "/.git/objects") == 0) {
			fts_set(fts, e, FTS_SKIP);
			continue;
		}
		if (e->fts_info == FTS_DP || strncmp(e->fts_name, "sharedindex.", strlen("sharedindex.")) == 0)
			continue;
		buf_addf(&b, "%s %o %lld %lld.%09ld ", path, st->st_mode, (long long)st->st_size,
		    (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
		add_content(&b, e);
		buf_adds(&b, "\n");
	}
	fts_close(fts);
	return buf_take(&b, NULL);
}

static void expect_same(const char *before)
{
	char *after = fingerprint();

	ck_assert_str_eq(before, after);
	free(after);
}

/* But for notes that a repeated operation reads, and the index that the next one begins with. */
static void expect_scratch_empty(void)
{
	char *left = sh("ls -A -I moves -I left -I index.base -I index.base-name %s", scratch);

	ck_assert_str_eq(left, "");
	free(left);
}

/* Tree id of a snapshot; the user's things must not have moved. */
__attribute__((unused))
static char *snapshot(void)
{
	struct git_op *op = op_of(GIT_SNAPSHOT, NULL, NULL);
	char *before = fingerprint(), *tree;
	enum step_next next = drive(op);

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	expect_same(before);
	expect_scratch_empty();
	free(before);
	return tree;
}

#define EXPECT_IN(text, part) ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in: %s", part, text)

/* The same files at another place, with their modes. */
static void copy_tree(const char *from, const char *to)
{
	char *roots[] = { (char *)from, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while ((e = fts_read(fts)) != NULL) {
		char *path = xasprintf("%s%s", to, e->fts_path + strlen(from)), *data;
		size_t size;

		if (e->fts_info == FTS_D && e->fts_level > 0) {
			ck_assert_int_eq(mkdir(path, e->fts_statp->st_mode & 07777), 0);
		} else if (e->fts_info == FTS_F) {
			ck_assert_int_eq(file_read(AT_FDCWD, e->fts_accpath, 1 << 30, &data, &size), 0);
			ck_assert_int_eq(file_write(AT_FDCWD, path, data, size,
			    e->fts_statp->st_mode & 07777, false), 0);
			free(data);
		}
		free(path);
	}
	fts_close(fts);
}

static void enter_home(void)
{
	ck_assert_int_eq(chmod(home, 0755), 0);
	free(repo);	/* of the template */
	free(scratch);
	free(record);
	repo = xasprintf("%s/repo", home);
	scratch = xasprintf("%s/scratch", home);
	record = xasprintf("%s/record", home);
	setenv("HOME", home, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
}

/* Once for all tests, in the process that forks them. */
static void make_template(void)
{
	scratch_make(home, sizeof(home), "rl-git");
	snprintf(template, sizeof(template), "%s", home);
	enter_home();
	mkdir(repo, 0755);
	mkdir(scratch, 0755);
	ck_assert_int_eq(chmod(scratch, 0777), 0);
	mkdir(record, 0755);
	SH("git config --global user.name t; git config --global user.email t@example.org; git "
	   "config --global init.defaultBranch main;git config --global protocol.file.allow always; "
	   "git config --global safe.directory '*'; git config --global maintenance.auto false;"
	   "git init -q; echo one >a.c; mkdir d; echo two >d/b.c; "
	   "printf 'out/\\n*.o\\n' >.gitignore; git add .; git commit -qm base");
}

/* The index knows the files by their inodes: those of the copy are others. */
static void setup(void)
{
	scratch_make(home, sizeof(home), "rl-git");
	enter_home();
	copy_tree(template, home);
	ck_assert_int_eq(chmod(scratch, 0777), 0);
	between = NULL;
	as_nobody = false;
	budget = -1;
	SH("git update-index -q --refresh");
}

static void teardown(void)
{
	const char *open[] = { "chmod", "-R", "u+rwX", home, NULL }, *gone[] = { "rm", "-rf", home, NULL };

	if (geteuid() != 0)
		spawn_wait(open, environ, "/dev/null", "/dev/null", NULL);
	spawn_wait(gone, environ, "/dev/null", "/dev/null", NULL);
	free(repo);
	free(scratch);
	free(record);
}

static void remove_template(void)
{
	const char *gone[] = { "rm", "-rf", template, NULL };

	spawn_wait(gone, environ, "/dev/null", "/dev/null", NULL);
}

static int run_tests(const char *name, TCase *tc)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	umask(022);	/* whatever the caller's is: another user enters what is made here */
	tcase_add_unchecked_fixture(tc, make_template, remove_template);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 240);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
