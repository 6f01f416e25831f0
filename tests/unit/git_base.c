/* SPDX-License-Identifier: MIT */
/* The commit that work starts from: what the user has not committed gets in, and
 * nothing of his moves. */
#include "git_last.h"

#define REF "refs/rl/base/42"
#define MESSAGE "rld: uncommitted work at the start of run 42"

static char **artifacts;
static const char *branch;	/* that must not be there */

static struct git_op *base_op(const char *name)
{
	struct git_op_spec spec = { .kind = GIT_BASE, .workspace = repo, .scratch = scratch,
	    .ref = REF, .name = name, .message = MESSAGE, .artifacts = artifacts,
		.branch = branch };

	return git_op_new(&spec);
}

/* All that is the user's: not the object store, nor refs of ours. */
static char *mine(void)
{
	return sh("export GIT_OPTIONAL_LOCKS=0; g=$(git rev-parse --git-dir); cat $g/HEAD; "
	    "git config -l; sha256sum $g/index || :; git for-each-ref | grep -v refs/rl/ || :; git "
	    "stash list 2>/dev/null || :;git rev-parse --is-bare-repository | grep -q true || find . "
	    "-name .git -prune -o -printf '%%p %%y %%m %%s %%T@ %%l\\n' | sort");
}

static void base(const char *name)
{
	char *before = mine();
	struct git_op *op = base_op(name);
	enum step_next next = drive(op);

	take(op);
	ck_assert_msg(next == STEP_NEXT_DONE, "%s", error);
	expect_text(before, mine());
	expect_text(commit, sh("git rev-parse " REF));
	expect_text(tree, sh("git rev-parse " REF "^{tree}"));
	free(before);
}

static void refused(const char *name, const char *sign, const char *remedy)
{
	char *before = mine(), *refs = sh("git for-each-ref refs/rl || :");
	struct git_op *op = base_op(name);

	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	take(op);
	EXPECT_IN(error, sign);
	EXPECT_IN(error, remedy);
	expect_text(before, mine());
	expect_text(refs, sh("git for-each-ref refs/rl || :"));
	free(before);
	free(refs);
}

/* ---- what gets in ---- */

#define SUB "git init -q m; (cd m; echo x >x; git add x; git commit -qm n);"

static const struct { const char *script, *changes; } works[] = {
	{ "echo more >>a.c; mkdir e; echo g >e/g", "M a.c,A e/g," },
	{ "rm a.c; git rm -q d/b.c", "D a.c,D d/b.c," },
	{ "git mv a.c z.c; echo staged >s; git add s; echo more >>s", "D a.c,A s,A z.c," },
	{ "chmod +x a.c; ln -s a.c l; rm d/b.c; ln -s nowhere d/b.c", "M a.c,T d/b.c,A l," },
	{ "rm a.c; mkdir a.c; echo x >a.c/x", "D a.c,A a.c/x," },
	{ "rm -r d; echo x >d", "A d,D d/b.c," },
	{ "mv d e; ln -s e d", "A d,D d/b.c,A e/b.c," },
	{ "git rm -q --cached a.c; echo a.c >>.gitignore", "M .gitignore,D a.c," },
	/* it is still there, and nothing says that it is not wanted */
	{ "git rm -q --cached a.c", "" },
	{ "echo o >x.o; mkdir out; echo o >out/o", "" },
	{ "echo o >x.o; git add -f x.o; echo more >>x.o", "A x.o," },	/* forced in */
	{ "echo x >x; git add -N x; echo -n >gone; git add -N gone; rm gone", "A x," },
	{ "echo 1 >'a*'; echo 4 >':(glob)**'; echo 5 >'!x'; echo 6 >-n; echo 7 >' s p '; "
	    "echo 8 >häß; echo 9 >'\"q\"'; printf x >\"$(printf 'nl\\nx')\"",
	    "A  s p ,A !x,A \"\\\"q\\\"\",A -n,A :(glob)**,A a*,A häß,A \"nl\\nx\"," },
	{ SUB, "A m," },
	{ SUB "git add m 2>/dev/null; git commit -qm m -- m; cd m; echo y >y; git add y; "
	    "git commit -qm y; echo z >z", "M m," },
	{ SUB "git add m 2>/dev/null; git commit -qm m -- m; rm -rf m; mkdir m; echo y >>a.c", "M a.c," },
	{ SUB "git add m 2>/dev/null; git commit -qm m -- m; rm -rf m", "D m," },
	{ "git init -q m; echo x >m/x", "A m/x," },
	{ "git config core.sparseCheckout true; printf '/*\\n!/d\\n' >.git/info/sparse-checkout; "
	    "git read-tree -mu HEAD; test ! -e d; echo x >>a.c", "M a.c," },
	{ "git config core.sparseCheckout true; printf '/*\\n!/d\\n' >.git/info/sparse-checkout; "
	    "git read-tree -mu HEAD; mkdir d; echo new >d/b.c", "M d/b.c," },
	{ "git sparse-checkout set --cone --sparse-index d; "
	    "git sparse-checkout set --cone --sparse-index e; echo x >>a.c", "M a.c," },
	/* git is to keep what it has */
	{ "git update-index --skip-worktree a.c; echo mine >a.c; echo x >>d/b.c", "M d/b.c," },
	{ "git update-index --skip-worktree a.c d/b.c; rm a.c; chmod +x d/b.c; echo x >x", "A x," },
	{ "git update-index --assume-unchanged a.c; echo mine >a.c; echo x >>d/b.c", "M d/b.c," },
	{ "git config core.splitIndex true; git update-index --split-index; echo x >>a.c; "
	    "git add a.c; echo y >>d/b.c", "M a.c,M d/b.c," },
	{ "git config core.safecrlf true; git config core.autocrlf input; printf 'x\\r\\n' >x", "A x," },
	{ "git config filter.f.clean 'tr a-z A-Z'; echo 'f* filter=f' >.gitattributes; "
	    "echo shout >f; rm a.c", "A .gitattributes,D a.c,A f," },
	{ "git checkout -q --detach; echo x >>a.c", "M a.c," },
	{ "echo x >>a.c; git stash -q; echo y >>d/b.c", "M d/b.c," },
	{ "git checkout -qb o; echo o >>a.c; git commit -qam o; git checkout -q main; "
	    "echo n >>d/b.c; git commit -qam n; git merge -q --no-commit o", "M a.c," },
	{ "rm .git/index; echo x >>a.c", "M a.c," },
	{ "touch -d 2001-01-01 a.c", "" },
	{ "git config user.useConfigOnly true; git config --global --unset user.name; "
	    "git config --global --unset user.email; git config commit.gpgsign true; "
	    "git config gpg.program false; echo x >>a.c", "M a.c," },
};

START_TEST(takes_uncommitted_work)
{
	char *head, *truth;

	SH("%s", works[_i].script);
	head = sh("git rev-parse HEAD");
	base(NULL);
	expect_text(works[_i].changes, sh("git -c core.quotePath=false diff-tree -r --no-renames "
	    "--name-status %s %s | tr '\\t\\n' ' ,'", head, commit));
	if (works[_i].changes[0] != '\0')
		expect_text(head, sh("git rev-parse %s^", commit));
	else
		ck_assert_str_eq(commit, head);
	/* git's own word, from the same start */
	if (strstr(works[_i].script, "sparse") == NULL && strstr(works[_i].script, "init -q m; echo") == NULL) {
		truth = sh("cp .git/index %s/truth 2>/dev/null || :; export GIT_INDEX_FILE=%s/truth; git "
		    "-c core.splitIndex=false -c core.safecrlf=false add -A 2>/dev/null; git write-tree",
		    home, home);
		ck_assert_str_eq(tree, truth);
		free(truth);
	}
	SH("git fsck --no-dangling >/dev/null 2>&1");
	free(head);
}
END_TEST

START_TEST(nothing_uncommitted)
{
	char *head = sh("git rev-parse HEAD");

	base(NULL);
	ck_assert_str_eq(commit, head);
	SH("git worktree add -q ../wt -b other; echo x >>a.c");
	char *top = repo;

	/* of a work tree of its own, and what is elsewhere is none of its business */
	repo = xasprintf("%s/wt", home);
	base(NULL);
	ck_assert_str_eq(commit, head);
	SH("echo y >y");
	base(NULL);
	expect_text("A y,", sh("git diff-tree -r --name-status HEAD %s | tr '\\t\\n' ' ,'", commit));
	free(repo);
	repo = top;
	free(head);
}
END_TEST

START_TEST(who_and_what)
{
	SH("echo x >x");
	base(NULL);
	expect_text("1", sh("git cat-file commit %s | sed '1,/^$/d' | wc -l", commit));
	expect_text("t t@example.org rld: uncommitted work at the start of run 42",
	    sh("git log -1 --format='%%an %%ce %%s' %s", commit));
	SH("git config user.useConfigOnly true; git config --global --unset user.name; "
	    "git config --global --unset user.email; echo y >y");
	base(NULL);
	expect_text("rld rld@localhost", sh("git log -1 --format='%%an %%ce' %s", commit));
}
END_TEST

START_TEST(nothing_committed_yet)
{
	SH("rm -rf .git; git init -q; git add a.c");
	base(NULL);
	expect_text(".gitignore a.c d/b.c",
	    sh("echo $(git ls-tree -r --name-only %s); git rev-list %s | sed 1d", commit, commit));
	SH("rm -rf .git; git init -q --object-format=sha256; rm -r .gitignore a.c d");
	base(NULL);
	expect_text("", sh("git ls-tree %s; git rev-list %s | sed 1d", commit, commit));
	refused("main", "has no commit yet", "leave --base out");
}
END_TEST

START_TEST(bare)
{
	char *top = repo, *head = sh("git rev-parse HEAD; git clone -q --bare . ../bare.git");

	repo = xasprintf("%s/bare.git", home);
	base(NULL);
	ck_assert_str_eq(commit, head);
	SH("cd ..; rm -rf bare.git; git init -q --bare bare.git");
	refused(NULL, "neither a commit nor a work tree", "push something there");
	free(repo);
	repo = top;
	free(head);
}
END_TEST

START_TEST(a_repository_without_commit_inside)
{
	SH("git init -q m; echo x >m/x; git init -q e; echo y >>a.c");
	base(NULL);
	expect_text("a.c m/x", sh("echo $(git diff-tree -r --name-only HEAD %s)", commit));
}
END_TEST

/* ---- another branch ---- */

START_TEST(of_another_branch)
{
	char *fork = sh("git rev-parse HEAD");

	SH("git checkout -qb topic; echo t >t; git add t; git commit -qm t; git checkout -q main; "
	    "echo m >m; git add m; git commit -qm m; git tag -am v v1; git checkout -q topic; echo u >u");
	base("main");
	ck_assert_str_eq(commit, fork);
	base("v1");
	ck_assert_str_eq(commit, fork);
	base("main~1");
	ck_assert_str_eq(commit, fork);
	base("topic");
	expect_text(commit, sh("git rev-parse HEAD"));
	refused("nowhere", "'nowhere' is not a branch or commit", "git branch -a");
	refused("--all", "'--all' is not a valid name", "git branch -a");
	refused("-h", "'-h' is not a valid name", "git branch -a");
	refused("", "'' is not a valid name", "git branch -a");
	refused("HEAD:a.c", "is not a branch or commit", "git branch -a");
	SH("git checkout -q --orphan alone; git commit -qm alone");
	refused("main", "no common ancestor", "name the branch that HEAD was created from");
	free(fork);
}
END_TEST

START_TEST(shallow)
{
	char *top = repo;

	SH("git checkout -qb topic; echo t >t; git add t; git commit -qm t; git checkout -q main; "
	    "echo m >m; git add m; git commit -qm m");
	SH("cd ..; git clone -q --depth 1 --no-single-branch file://%s shallow", repo);
	repo = xasprintf("%s/shallow", home);
	SH("git update-ref refs/heads/topic origin/topic; echo x >>a.c");
	base(NULL);
	expect_text("M a.c,", sh("git diff-tree -r --name-status HEAD %s | tr '\\t\\n' ' ,'; "
	    "git fsck --no-dangling >/dev/null 2>&1", commit));
	SH("git update-ref -d " REF);
	refused("topic", "no common ancestor", "git fetch --unshallow");
	free(repo);
	repo = top;
}
END_TEST

/* ---- refusals ---- */

START_TEST(branch_of_another)
{
	branch = "rl/1-result";
	SH("git branch rl/1-result-2; git branch x/rl/1-result; git tag rl/1-result; git branch rl/1");
	base(NULL);
	SH("git branch -D rl/1 >/dev/null; git branch rl/1-result");
	refused(NULL, "branch rl/1-result", "git branch -m");
	refused("main", "branch rl/1-result", "git branch -m");
	SH("git branch -m rl/1-result old");
	base(NULL);
	SH("git branch rl/1-result/x");
	refused(NULL, "branch rl/1-result", "git branch -m");
	branch = NULL;
	base(NULL);
}
END_TEST

START_TEST(conflicts)
{
	SH("git checkout -qb o; echo o >a.c; git commit -qam o; git checkout -q main; echo n >a.c; "
	    "git commit -qam n; git merge o >/dev/null || :");
	refused(NULL, "has unresolved conflicts", "git merge --abort");
	SH("echo both >a.c; git add a.c");
	base(NULL);
	expect_text("both", sh("git show %s:a.c", commit));
}
END_TEST

START_TEST(tracked_artifact)
{
	SH("echo r >review.md; mkdir logs; echo l >logs/l; echo x >x");
	strings_append(&artifacts, "review.md");
	strings_append(&artifacts, "logs");
	base(NULL);
	expect_text("x", sh("git diff-tree -r --name-only HEAD %s", commit));
	SH("git update-ref -d " REF "; git add logs/l");
	refused(NULL, "logs/l is tracked by git", "git rm -r --cached");
	strings_free(artifacts);
	artifacts = NULL;
}
END_TEST

START_TEST(filter_that_fails)
{
	SH("git config filter.f.clean false; git config filter.f.required true; "
	    "echo 'f* filter=f' >.gitattributes; echo x >f");
	refused(NULL, "clean filter 'f' failed", "make that filter work");
}
END_TEST

START_TEST(not_writable)
{
	/* The index knows the times that chmod has made: git would else look at each file anew, and
	 * write what it finds. */
	SH("echo x >>a.c; chmod -R a+rX .; git update-index -q --refresh || :; chmod -R a-w .git");
	as_nobody = true;
	SH("rm -f .git/x");
	refused(NULL, "insufficient permission", "make its .git writable");
	SH("chmod -R u+w .git; git checkout -q a.c; chmod -R a-w .git");
	refused(NULL, "cannot lock ref", "make its .git writable");
	as_nobody = false;
}
END_TEST

START_TEST(unreadable)
{
	SH("echo x >x; chmod 0 x; chmod -R a+rwX .git; umask 0; echo y >y; chmod 000 x");
	as_nobody = true;
	refused(NULL, "Permission denied", "add it to .gitignore");
	as_nobody = false;
}
END_TEST

START_TEST(no_repository)
{
	char *top = repo;
	struct git_op *op;

	repo = xasprintf("%s/empty", home);
	mkdir(repo, 0755);
	op = base_op(NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	take(op);
	EXPECT_IN(error, "not a git repository");
	free(repo);
	repo = top;
}
END_TEST

/* ---- begun again ---- */

/* A file as large as before, written in the second in which git looked at it: only the
 * index's own time tells. */
START_TEST(written_in_the_same_second)
{
	SH("git config core.trustctime false; printf 1 >now; touch -d 2001-01-01 now; git add now; "
	    "touch -d 2001-01-01 .git/index; printf 2 >now; touch -d 2001-01-01 now");
	base(NULL);
	expect_text("2", sh("git show %s:now", commit));
}
END_TEST

START_TEST(vanishing_file)
{
	SH("git config filter.f.clean 'cat'; echo 'f* filter=f' >.gitattributes; echo x >f; "
	    "mkdir deep; echo y >deep/y");
	between_step = "update-index";
	between = "rm -r deep";
	struct git_op *op = base_op(NULL);

	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	take(op);
	expect_text(".gitattributes f", sh("echo $(git diff-tree -r --name-only HEAD %s)", commit));
}
END_TEST

START_TEST(again_after_any_step)
{
	char *first;
	bool ended;

	SH("echo x >x; rm a.c; echo y >>d/b.c");
	for (int n = 1; ; n++) {
		struct git_op *op = base_op(NULL);

		SH("git update-ref -d " REF);
		ended = drive_steps(op, n);
		git_op_free(op);
		base(NULL);
		expect_text("D a.c,M d/b.c,A x,",
		    sh("git diff-tree -r --name-status HEAD %s | tr '\\t\\n' ' ,'", commit));
		first = xstrdup(commit);
		base(NULL);		/* the ref is there: it is that commit */
		ck_assert_str_eq(commit, first);
		free(first);
		if (ended)
			break;
		ck_assert_int_lt(n, 30);
	}
	/* What is there is another's by now. */
	first = xstrdup(commit);
	SH("echo z >z");
	base(NULL);
	ck_assert_str_ne(commit, first);
	expect_text("", sh("git diff-tree -r %s %s -- a.c d x", commit, first));
	free(first);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("base");

	tcase_add_loop_test(tc, takes_uncommitted_work, 0, sizeof(works) / sizeof(works[0]));
	tcase_add_test(tc, nothing_uncommitted);
	tcase_add_test(tc, who_and_what);
	tcase_add_test(tc, nothing_committed_yet);
	tcase_add_test(tc, bare);
	tcase_add_test(tc, a_repository_without_commit_inside);
	tcase_add_test(tc, of_another_branch);
	tcase_add_test(tc, shallow);
	tcase_add_test(tc, branch_of_another);
	tcase_add_test(tc, conflicts);
	tcase_add_test(tc, tracked_artifact);
	tcase_add_test(tc, filter_that_fails);
	tcase_add_test(tc, not_writable);
	tcase_add_test(tc, unreadable);
	tcase_add_test(tc, no_repository);
	tcase_add_test(tc, written_in_the_same_second);
	tcase_add_test(tc, vanishing_file);
	tcase_add_test(tc, again_after_any_step);
	return run_tests("git_base", tc);
}
