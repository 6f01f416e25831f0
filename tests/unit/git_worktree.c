/* SPDX-License-Identifier: MIT */
/* A work tree of a task's own: made, begun again, and refused where it could not work. */
#include "git_last.h"

#define BRANCH "rl/42/t-1"
#define REF "refs/rl/salvage/42/t-1"

static char *dir;			/* of the task */

static struct git_op *worktree_op(const char *branch, const char *from)
{
	struct git_op_spec spec = { .kind = GIT_WORKTREE_ADD, .workspace = repo, .scratch = scratch,
	    .dir = dir, .branch = branch, .commit = from };

	return git_op_new(&spec);
}

static struct git_op *clear_op(const char *from)
{
	struct git_op_spec spec = { .kind = GIT_WORKTREE_REMOVE, .workspace = repo, .scratch = scratch,
	    .dir = dir, .branch = BRANCH, .commit = from, .ref = REF, .message = "saved\n" };

	return git_op_new(&spec);
}

static void done(struct git_op *op)
{
	enum step_next next = drive(op);

	take(op);
	ck_assert_msg(next == STEP_NEXT_DONE, "%s", error);
}

static void refused(struct git_op *op, const char *sign, const char *remedy)
{
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	take(op);
	EXPECT_IN(error, sign);
	EXPECT_IN(error, remedy);
}

/* It is on its branch, as if git had made it, and the user's own tree has not moved. */
static void make(const char *from)
{
	char *before = sh("cat HEAD .git/HEAD 2>/dev/null || :; git rev-parse -q --verify HEAD || :; "
	    "git rev-parse --is-bare-repository | grep -q true || git status --porcelain --ignored");

	done(worktree_op(BRANCH, from));
	expect_text(before, sh("cat HEAD .git/HEAD 2>/dev/null || :; git rev-parse -q --verify HEAD || :; "
	    "git rev-parse --is-bare-repository | grep -q true || git status --porcelain --ignored"));
	expect_text("refs/heads/" BRANCH, sh("git -C '%s' symbolic-ref HEAD", dir));
	expect_text(commit, sh("git -C '%s' rev-parse HEAD", dir));
	if (from != NULL)
		ck_assert_str_eq(commit, from);
	expect_text("", sh("git -C '%s' status --porcelain --ignored", dir));
	expect_text("a task of rld works here", sh("git worktree list --porcelain | sed -n 's/^locked //p'"));
	free(before);
}

static void prepare(void)
{
	dir = xasprintf("%s/trees/%s", home, "t 1 ä");
}

/* ---- made ---- */

static const struct { const char *script; bool same; } makes[] = {
	{ "", true },
	/* uncommitted work stays where it is */
	{ "echo mine >>a.c; git add a.c; echo u >u; echo o >x.o", true },
	{ "git checkout -q --detach", true },
	{ "git worktree add -q ../wt -b other; mkdir -p ../trees/rest", true },
	{ "git config branch.autoSetupMerge always; git config worktree.guessRemote true; "
	    "git config submodule.recurse true; git config checkout.defaultRemote x", true },
	{ "echo '*.c eol=crlf' >.gitattributes; git add .; git commit -qm crlf", false },
	{ "git config core.autocrlf true", false },
	{ "git config filter.f.smudge 'tr a-z A-Z'; git config filter.f.clean 'tr A-Z a-z'; "
	    "echo '*.c filter=f' >.gitattributes; git add .; git commit -qm f", false },
	{ "git config core.sparseCheckout true; printf '/*\\n!/d\\n' >.git/info/sparse-checkout; "
	    "git read-tree -mu HEAD", true },
	{ "echo x >'new\nline'; echo x >häß; ln -s nowhere l; printf '#!/bin/sh' >run; "
	    "chmod +x run; git add .; git commit -qm names", true },
	{ "printf '/review.md\\n' >>.git/info/exclude", true },
	{ "mkdir ../trees; mkdir '../trees/t 1 ä'", true },		/* made for us */
	{ "git pack-refs --all", true },
};

START_TEST(makes_one)
{
	char *head, *want;

	prepare();
	SH("%s", makes[_i].script);
	head = sh("git rev-parse HEAD");
	make(head);
	want = sh("git rev-parse HEAD^{tree}");
	ck_assert_int_eq(strcmp(tree, want) == 0, makes[_i].same);
	expect_text("", sh("git config --get-regexp '^branch\\..*\\.' || :"));
	SH("git worktree prune --expire now; test -e '%s/.gitignore'; git -C '%s' status >/dev/null", dir, dir);
	free(want);
	free(head);
}
END_TEST

START_TEST(the_tree_is_what_the_disk_has)
{
	char *head;

	prepare();
	SH("printf '*.c eol=crlf\\n' >.gitattributes; git add .; git commit -qm crlf");
	head = sh("git rev-parse HEAD");
	make(head);
	expect_text("one\r", sh("git show %s:a.c", tree));
	expect_text("one", sh("git show HEAD:a.c"));
	free(head);
}
END_TEST

START_TEST(bare_and_linked)
{
	char *top = repo, *head =
	    sh("git rev-parse HEAD; git clone -q --bare . ../bare.git; git worktree add -q ../wt -b other");

	prepare();
	repo = xasprintf("%s/bare.git", home);
	make(head);
	SH("git worktree remove -f -f '%s'", dir);
	free(repo);
	repo = xasprintf("%s/wt", home);
	make(head);
	free(repo);
	repo = top;
	free(head);
}
END_TEST

START_TEST(two_beside_each_other)
{
	char *head = sh("git rev-parse HEAD"), *first = xasprintf("%s/a/t", home);

	dir = first;
	make(head);
	dir = xasprintf("%s/b/t", home);
	done(worktree_op("rl/42/t-2", head));
	expect_text("rl/42/t-1 rl/42/t-2",
	    sh("echo $(git -C %s symbolic-ref --short HEAD) $(git -C %s symbolic-ref --short HEAD)",
	    first, dir));
	expect_text("3", sh("git worktree list | wc -l"));
	free(first);
	free(head);
}
END_TEST

/* ---- on a branch that is there ---- */

START_TEST(of_a_branch)
{
	char *head;

	prepare();
	refused(worktree_op(BRANCH, NULL), "no longer exists", "git reflog");
	SH("git checkout -qb " BRANCH "; echo w >w; git add w; git commit -qm work; git checkout -q main");
	head = sh("git rev-parse " BRANCH);
	make(NULL);
	ck_assert_str_eq(commit, head);
	SH("test -e '%s/w'", dir);
	free(head);
}
END_TEST

START_TEST(of_a_branch_that_is_elsewhere)
{
	char *head = sh("git rev-parse HEAD");

	prepare();
	SH("git checkout -qb " BRANCH "; echo w >w; git add w; git commit -qm work; git checkout -q main");
	char *before = fingerprint();

	refused(worktree_op(BRANCH, head), "exists already with other commits", "git branch -m");
	expect_same(before);
	SH("test ! -e '%s'; git checkout -q " BRANCH, dir);
	refused(worktree_op(BRANCH, NULL), "checked out", "git worktree remove");
	refused(worktree_op("-f", head), "not a valid branch name", "");
	SH("git checkout -q main; git branch -D " BRANCH "; git branch rl");
	refused(worktree_op(BRANCH, head), "refs/heads/rl' exists", "git branch -m");
	SH("test ! -e '%s'", dir);
	free(before);
	free(head);
}
END_TEST

START_TEST(submodules)
{
	char *head = sh("git init -q ../sub; (cd ../sub; echo s >s; git add s; git commit -qm s); "
	    "git submodule add -q ../sub 'my sub' 2>/dev/null; git commit -qm sub; git rev-parse HEAD");

	prepare();
	refused(worktree_op(BRANCH, head), "checked out submodules (my sub)", "--isolation shared");
	SH("git submodule deinit -q -f 'my sub'; test ! -e '%s'", dir);
	make(head);
	free(head);
}
END_TEST

START_TEST(smudge_that_fails)
{
	char *head = sh("git config filter.f.smudge false; git config filter.f.clean cat; "
	    "git config filter.f.required true; echo '*.c filter=f' >.gitattributes; "
	    "git add .gitattributes; git commit -qm f; git rev-parse HEAD");

	prepare();
	refused(worktree_op(BRANCH, head), "smudge filter f failed", "make that filter work");
	SH("git config filter.f.smudge cat");
	make(head);
	free(head);
}
END_TEST

START_TEST(not_writable)
{
	char *head = sh("git rev-parse HEAD; chmod -R a+rX,a-w .git");

	prepare();
	as_nobody = true;
	refused(worktree_op(BRANCH, head), "cannot lock ref", "make its .git writable");
	as_nobody = false;
	SH("test ! -e '%s'", dir);
	free(head);
}
END_TEST

/* ---- begun again ---- */

START_TEST(again_after_any_step)
{
	char *head = sh("echo '*.c eol=crlf' >.gitattributes; git add .; git commit -qm crlf; "
	    "git rev-parse HEAD"), *want = NULL;
	bool ended = false;

	prepare();
	for (int n = 1; !ended; n++) {
		struct git_op *op = worktree_op(BRANCH, head);

		ended = drive_steps(op, n);
		git_op_free(op);
		make(head);
		if (want == NULL)
			want = xstrdup(tree);
		ck_assert_str_eq(tree, want);
		expect_text("2", sh("git worktree list | wc -l"));
		SH("git worktree remove -f -f '%s'; git branch -D " BRANCH, dir);
		ck_assert_int_lt(n, 30);
	}
	free(want);
	free(head);
}
END_TEST

/* What a git that was killed leaves. %s: the directory of the tree. */
static const char *const rests[] = {
	"git worktree add -q --lock -b " BRANCH " '%s'",
	"git worktree add -q --lock -b " BRANCH " '%s'; rm -r .git/worktrees/*/index '%s'/a.c",
	"git worktree add -q --lock -b " BRANCH " '%s'; rm -r '%s'; rm .git/worktrees/*/HEAD",
	"git worktree add -q --lock -b " BRANCH
	    " '%s'; rm '%s'/.git; for r in .git/worktrees/*; do touch $r/index.lock; done",
	"git worktree add -q --lock --detach '%s'; rm -r '%s'/d; mkdir -p '%s'/../x; ln -s ../x '%s'/d",
	"git branch " BRANCH "; mkdir -p '%s'",
	"git branch " BRANCH "; touch .git/refs/heads/" BRANCH ".lock",
	"git branch " BRANCH "x; touch .git/refs/heads/" BRANCH ".lock",
	("mkdir -p .git/worktrees/t; echo '%s/.git' >.git/worktrees/t/gitdir; "
	    "echo initializing >.git/worktrees/t/locked"),
};

START_TEST(again_after_a_killed_git)
{
	char *head = sh("git rev-parse HEAD; mkdir -p ../trees; echo keep >../trees/keep");

	prepare();
	/* more arguments than some of them have */
	char *script = xstrdup(rests[_i]);

	for (char *p; (p = strstr(script, "%s")) != NULL; ) {
		char *next = xasprintf("%.*s%s%s", (int)(p - script), script, dir, p + 2);

		free(script);
		script = next;
	}
	SH("%s", script);
	make(head);
	expect_text("2", sh("git worktree list | wc -l"));
	expect_text("keep", sh("cat ../trees/keep"));
	free(script);
	free(head);
}
END_TEST

/* What a power cut leaves of one that was being made: names without bytes, bytes that nothing leads
 * to, or all but some files. */
static const char *const cuts[] = {
	"mkdir -p '%s'; echo x >'%s/a.c'",
	"mkdir -p '%s'; echo x >'%s/a.c'; : >'%s/.git'",
	"git worktree add -q --lock -b " BRANCH " '%s'; cd .git/worktrees; mv * 't 1 ä'; cd 't 1 ä'; "
	    "for f in gitdir HEAD commondir index; do : >$f; done; touch -d '1 minute ago' .",
	"git worktree add -q --lock -b " BRANCH " '%s'; rm -r .git/worktrees",
	"git worktree add -q --lock -b " BRANCH " '%s'; cd '%s'; git update-ref "
	    "refs/worktree/rl/tree HEAD^{tree}; git update-ref refs/worktree/rl/commit HEAD; : >a.c",
};

START_TEST(again_after_a_power_cut)
{
	char *head = sh("git rev-parse HEAD; mkdir -p ../trees"), *script = xstrdup(cuts[_i]),
	    *want = sh("git rev-parse HEAD^{tree}");

	prepare();
	for (char *p; (p = strstr(script, "%s")) != NULL; ) {
		char *next = xasprintf("%.*s%s%s", (int)(p - script), script, dir, p + 2);

		free(script);
		script = next;
	}
	SH("touch '%s.making'; %s", dir, script);
	make(head);
	expect_text(want, xstrdup(tree));
	expect_text("2", sh("git worktree list | wc -l"));
	expect_text("1", sh("ls .git/worktrees | wc -l"));
	SH("test ! -e '%s.making'; cd '%s'; git status --porcelain >../s; test ! -s ../s", dir, dir);
	free(script);
	free(head);
	free(want);
}
END_TEST

/* Somebody may have worked there: nothing of it goes. */
START_TEST(again_when_it_was_complete)
{
	char *head = sh("git rev-parse HEAD");

	prepare();
	make(head);
	SH("cd '%s'; echo w >w; git add w; git commit -qm w; echo precious >u", dir);
	done(worktree_op(BRANCH, NULL));
	expect_text("precious", sh("git show %s:u", tree));
	expect_text(commit, sh("git rev-parse " BRANCH));
	refused(worktree_op("rl/42/other", head), "contains the work of another branch or start",
	    "git worktree remove");
	char *tip = sh("git rev-parse " BRANCH);

	refused(worktree_op(BRANCH, tip), "contains the work of another branch or start", "git worktree remove");
	expect_text("precious", sh("cat '%s/u'", dir));
	/* and its end knows what is not saved */
	done(clear_op(head));
	expect_text("precious", sh("git show %s:u", commit));
	free(tip);
	free(head);
}
END_TEST

START_TEST(what_is_not_ours_stays)
{
	char *head = sh("git rev-parse HEAD");

	prepare();
	SH("mkdir -p '%s'; echo precious >'%s/u'", dir, dir);
	refused(worktree_op(BRANCH, head), "it is not empty", "move it away");
	expect_text("precious", sh("cat '%s/u'", dir));
	SH("rm -r '%s'; ln -s '%s' '%s'", dir, repo, dir);
	refused(worktree_op(BRANCH, head), "in the way", "move it away");
	free(head);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("worktree");

	tcase_add_loop_test(tc, makes_one, 0, sizeof(makes) / sizeof(makes[0]));
	tcase_add_test(tc, the_tree_is_what_the_disk_has);
	tcase_add_test(tc, bare_and_linked);
	tcase_add_test(tc, two_beside_each_other);
	tcase_add_test(tc, of_a_branch);
	tcase_add_test(tc, of_a_branch_that_is_elsewhere);
	tcase_add_test(tc, submodules);
	tcase_add_test(tc, smudge_that_fails);
	tcase_add_test(tc, not_writable);
	tcase_add_test(tc, again_after_any_step);
	tcase_add_loop_test(tc, again_after_a_killed_git, 0, sizeof(rests) / sizeof(rests[0]));
	tcase_add_loop_test(tc, again_after_a_power_cut, 0, sizeof(cuts) / sizeof(cuts[0]));
	tcase_add_test(tc, again_when_it_was_complete);
	tcase_add_test(tc, what_is_not_ours_stays);
	return run_tests("git_worktree", tc);
}
