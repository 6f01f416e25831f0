/* SPDX-License-Identifier: MIT */
/* A new work tree or room gets ignored files, and its tracked files back. */
#include "git_repo.h"

#include <sys/stat.h>

static char *dir;

static struct git_op *prepare(const char *tree, const char *const *patterns, const char *const *artifacts)
{
	struct git_op *op = git_op_new(&(struct git_op_spec){ .kind = GIT_PREPARE, .workspace = repo,
	    .scratch = scratch, .tree = tree, .dir = dir, .copy = (char *const *)patterns,
	    .artifacts = (char *const *)artifacts });

	return op;
}

/* A room with the work tree's content. */
static char *room(void)
{
	char *tree = snapshot();
	struct git_op *op;

	dir = xasprintf("%s/out", home);
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_CHECKOUT, .workspace = repo, .scratch = scratch,
	    .tree = tree, .dir = dir });
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	git_op_free(op);
	return tree;
}

static void expect_out(const char *command, const char *want)
{
	char *got = sh("cd ../out; %s", command);

	ck_assert_str_eq(got, want);
	free(got);
}

/* Only what is ignored and named comes along, with its mode; a link as a link. */
START_TEST(ignored_files_are_copied)
{
	static const char *const patterns[] = { ".env", "config/local.*", "deps", "**/deep.key", "a.c",
	    "none/*", NULL };
	static const char *const artifacts[] = { "deps/state", NULL };
	char *tree, *before;
	struct git_op *op;

	SH("printf '.env\nlocal.*\ndeps\n*.key\n' >.gitignore; git add .; git commit -qm i; "
	   "echo secret >.env; chmod 600 .env; mkdir -p config/x deps/bin deps/state q/r; "
	   "echo l >config/local.toml; echo no >config/x/local.toml; echo run >deps/bin/tool; "
	   "chmod 755 deps/bin/tool; ln -s ../../.env deps/bin/l; "
	   "echo s >deps/state/db; echo k >q/r/deep.key; mkfifo deps/p; echo u >untracked; git init -q deps/nested; "
	   "echo x >deps/nested/f");
	tree = room();
	before = fingerprint();
	op = prepare(tree, patterns, artifacts);
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_ptr_null(git_op_changed(op));
	git_op_free(op);
	expect_same(before);
	expect_out("find . -path ./d -prune -o ! -type d -printf '%y %m %P\n' | sort",
	    "f 600 .env\nf 644 .gitignore\nf 644 a.c\nf 644 config/local.toml\nf 644 q/r/deep.key\n"
	    "f 644 untracked\nf 755 deps/bin/tool\nl 777 deps/bin/l");
	/* again, after the user has put something right */
	SH("echo more >.env; rm -rf ../out/deps; mkdir ../out/deps");
	op = prepare(tree, patterns, artifacts);
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	git_op_free(op);
	expect_out("cat .env deps/bin/tool", "more\nrun");
	free(before);
	free(tree);
}
END_TEST

static char *copied_now(const char *const *patterns)
{
	char *head = sh("git rev-parse HEAD^{tree}"), *copied;
	struct git_op *op = git_op_new(&(struct git_op_spec){ .kind = GIT_MEASURE, .workspace = repo,
	    .scratch = scratch, .tree = head, .copy = (char *const *)patterns });

	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	copied = xstrdup(git_op_copied(op));
	git_op_free(op);
	free(head);
	return copied;
}

/* Contents, modes, names and links count; and what is to be copied has the hash of what was. */
START_TEST(copies_have_a_hash)
{
	static const char *const patterns[] = { ".env", "k", NULL };
	static const char *const changes[] = { "echo 2 >.env", "chmod 600 .env", "mv k/a k/b",
	    "ln -sfn nowhere k/l", "rm k/l", "echo '1' >.env; chmod 644 .env; mv k/b k/a; ln -s a k/l" };
	char *first, *before, *tree;
	struct git_op *op;

	SH("printf '.env\nk\n' >.gitignore; git add .; git commit -qm i; echo 1 >.env; mkdir k; echo a >k/a; "
	   "ln -s a k/l");
	first = copied_now(patterns);
	before = xstrdup(first);
	ck_assert_ptr_null(copied_now(NULL));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		char *now;

		SH("%s", changes[i]);
		now = copied_now(patterns);
		ck_assert_str_ne(now, before);
		free(before);
		before = now;
	}
	ck_assert_str_eq(before, first);
	tree = room();
	op = prepare(tree, patterns, NULL);
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_str_eq(git_op_copied(op), first);
	git_op_free(op);
	free(before);
	free(first);
	free(tree);
}
END_TEST

/* Neither a link in the user's directory nor one in the room leads anywhere else. */
START_TEST(links_lead_nowhere)
{
	static const char *const patterns[] = { "in/**", "out/**", NULL };
	struct git_op *op;
	char *tree;

	SH("printf '/in/\n/out/\n' >.gitignore; mkdir ../safe out; echo safe >../safe/f; ln -s ../safe in; "
	   "echo o >out/f");
	tree = room();
	SH("ln -s ../safe ../out/out");
	op = prepare(tree, patterns, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	EXPECT_IN(git_op_error(op), "out/f: ");
	git_op_free(op);
	expect_out("cat ../safe/f", "safe");
	expect_out("test ! -e in/f || test -L in && echo none", "none");
	free(tree);
}
END_TEST

/* What a set-up has changed is as in the tree again; what it has made stays. */
START_TEST(tracked_files_are_restored)
{
	struct git_op *op;
	char *tree;

	SH("echo '#!/bin/sh' >run; chmod 755 run; ln -s a.c l; mkdir e; echo lock >e/lock; printf 'x\r\n' >crlf; "
	   "echo '* text=auto eol=lf' >.gitattributes; git add .; git commit -qm r");
	tree = room();
	SH("cd ../out; echo other >run; chmod 644 run; rm l; echo no >l; rm -r e; rm crlf; "
	   "ln -s /etc/passwd crlf; echo n >new");
	op = prepare(tree, NULL, NULL);
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_str_eq(git_op_changed(op), "crlf, e/lock, l and 1 more");
	git_op_free(op);
	SH("rm ../out/new; diff -r --no-dereference --exclude=.git . ../out; test -x ../out/run");
	op = prepare(tree, NULL, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	git_op_free(op);
	SH("rm ../out/run; mkdir -p ../out/run/x; rm -r ../out/e; ln -s /etc ../out/e");
	op = prepare(tree, NULL, NULL);
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_str_eq(git_op_changed(op), "e/lock, run");
	git_op_free(op);
	SH("diff -r --no-dereference --exclude=.git . ../out; test -x ../out/run; test ! -e /etc/lock");
	SH("rm -r ../out/e; echo file >../out/e");
	op = prepare(tree, NULL, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	git_op_free(op);
	SH("diff -r --no-dereference --exclude=.git . ../out; rm -rf ../out");
	op = prepare(tree, NULL, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	EXPECT_IN(git_op_error(op), "no longer exists: its set-up removed it; change run.setup");
	git_op_free(op);
	free(tree);
}
END_TEST

/* Of a work tree, the tree is noted there. */
START_TEST(work_trees_are_prepared)
{
	static const char *const patterns[] = { "*.key", NULL };
	char *head = sh("git rev-parse HEAD");
	struct git_op *op;

	SH("echo '*.key' >.git/info/exclude; echo k >a.key");
	dir = xasprintf("%s/out", home);
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_WORKTREE_ADD, .workspace = repo, .scratch = scratch,
	    .dir = dir, .branch = "b", .commit = head });
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	git_op_free(op);
	SH("echo x >../out/a.c");
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_PREPARE, .workspace = dir, .repository = repo,
	    .scratch = scratch, .dir = dir, .branch = "b", .copy = (char *const *)patterns });
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_str_eq(git_op_changed(op), "a.c");
	git_op_free(op);
	expect_out("cat a.key; git status --porcelain", "k");
	free(head);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("prepare");

	tcase_add_test(tc, ignored_files_are_copied);
	tcase_add_test(tc, copies_have_a_hash);
	tcase_add_test(tc, links_lead_nowhere);
	tcase_add_test(tc, tracked_files_are_restored);
	tcase_add_test(tc, work_trees_are_prepared);
	return run_tests("git_prepare", tc);
}
