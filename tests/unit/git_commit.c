/* SPDX-License-Identifier: MIT */
/* Commits of what an agent did, in repositories with things of their own: what else is
 * staged, hooks, filters. */
#include "git_repo.h"

#define MESSAGE "rld: do it\n\n# no comment\nRld-Run: 42\n"

static char *base;		/* tree before the work */
static char *error, *commit, *refusal;	/* of the last operation, NULL: none */
static char *since;		/* the commit that the work began at, NULL: it is not told */
static char **artifacts, **others_here;

static bool shared;
static char *evidence;		/* the evidence repository, NULL: none */
static char *unconverted;	/* of the last operation, NULL: none */

static struct git_op *op_for(enum git_op_kind kind, const char *tree, const char *message)
{
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch,
	    .tree = tree, .base = base, .commit = since,
		.message = message, .artifacts = artifacts, .shared_paths = others_here, .shared = shared,
		.evidence = evidence, .attributes_tree = evidence != NULL ? base : NULL };

	return git_op_new(&spec);
}

static struct git_op *commit_op(const char *tree, const char *message)
{
	return op_for(GIT_COMMIT, tree, message);
}

static void take(struct git_op *op)
{
	free(error);
	free(commit);
	free(refusal);
	free(unconverted);
	error = xstrdup(git_op_error(op));
	commit = xstrdup(git_op_commit(op));
	refusal = xstrdup(git_op_refused(op));
	unconverted = xstrdup(git_op_unconverted(op));
	git_op_free(op);
}

static void expect_done(struct git_op *op)
{
	enum step_next next = drive(op);

	take(op);
	ck_assert_msg(next == STEP_NEXT_DONE, "%s", error);
}

static void expect_failed(struct git_op *op)
{
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	take(op);
}

static void expect_refused(struct git_op *op, const char *words)
{
	expect_done(op);
	ck_assert_ptr_nonnull(refusal);
	ck_assert_str_eq(refusal, words);
	ck_assert_ptr_null(commit);
}

static void hook(const char *name, const char *script)
{
	SH("printf '%%s\n' '#!/bin/sh' '%s' >.git/hooks/%s; chmod +x .git/hooks/%s", script, name, name);
}

static void expect_text(const char *want, char *got)
{
	ck_assert_str_eq(got, want);
	free(got);
}

/* The work, from base to what there is now, becomes a commit with those changes. */
static void work(const char *script, const char *changes)
{
	char *tree, *head;

	free(base);
	base = snapshot();
	SH("%s", script);
	tree = snapshot();
	expect_done(commit_op(tree, MESSAGE));
	head = sh("git rev-parse HEAD");
	ck_assert_ptr_nonnull(commit);
	ck_assert_str_eq(commit, head);
	expect_text(changes, sh("git -c core.quotePath=false show --no-renames --format= "
	    "--name-status HEAD | tr '\\t\\n' ' ,'"));
	expect_scratch_empty();
	free(head);
	free(tree);
}

/* ---- what gets in ---- */

/* Staged and unstaged things of the user's that have nothing to do with the work. */
#define MINE \
	"echo s >staged; git add staged; printf '1\\n2\\n' >half; git add half; printf '1\\n2\\n3\\n' " \
	    ">half; echo u >untracked; git rm -q --cached mine; echo -n >.gitkeep; git add -N .gitkeep;"
#define MINE_STATUS " A .gitkeep\nAM half\nD  mine\nA  staged\n?? mine\n?? untracked"

static const struct { const char *before, *script, *changes; } works[] = {
	{ "", "echo more >>a.c; mkdir -p e/f; echo g >e/f/g", "M a.c,A e/f/g," },
	{ "", "rm a.c; git rm -q d/b.c", "D a.c,D d/b.c," },
	{ "", "git mv a.c z.c; mv d/b.c d/c.c", "D a.c,D d/b.c,A d/c.c,A z.c," },
	{ "", "chmod +x a.c; ln -s a.c l; echo '#!/bin/sh' >run; chmod 755 run", "M a.c,A l,A run," },
	{ "", "rm a.c; mkdir a.c; echo x >a.c/x", "D a.c,A a.c/x," },
	{ "", "rm -r d; echo x >d", "A d,D d/b.c," },
	{ "", "mv d e; ln -s e d", "A d,D d/b.c,A e/b.c," },
	{ "", "rm a.c; ln -s d/b.c a.c", "T a.c," },
	/* was in the way before already */
	{ "rm -r d; echo x >d;", "echo more >>d", "A d,D d/b.c," },
	{ "rm a.c; mkdir a.c;", "echo y >a.c/y", "D a.c,A a.c/y," },
	{ "", "git rm -q --cached a.c; echo a.c >>.gitignore", "M .gitignore,D a.c," },
	/* untracked before the work already */
	{ "echo n >new;", "echo more >>new", "A new," },
	/* never committed, and gone */
	{ "echo n >new; git add new;", "git rm -qf new; echo x >x", "A x," },
	{ "echo n >new;", "echo new >>.gitignore", "M .gitignore," },
	{ "echo staged >a.c; git add a.c;", "echo more >>a.c; git add a.c; echo most >>a.c", "M a.c," },
	{ "", "echo x >x; git add -N x; echo y >>a.c; git add a.c", "M a.c,A x," },
	{ "", "echo 1 >'a*'; echo 2 >'?'; echo 3 >'[a].c'; echo 4 >':(glob)**'; echo 5 >'!x'; "
	    "echo 6 >-n; echo 7 >' s p '; echo 8 >häß; echo 9 >'\"q\"'",
	    "A  s p ,A !x,A \"\\\"q\\\"\",A -n,A :(glob)**,A ?,A [a].c,A a*,A häß," },
	{ "", "printf x >\"$(printf 'nl\\nx')\"; printf x >\"$(printf 'bad\\377')\"", "A bad\xff,A \"nl\\nx\"," },
	{ "git init -q m; (cd m; echo x >x; git add x; git commit -qm n); git add m 2>/dev/null; "
	    "git commit -qm m -- m;", "echo x >>a.c", "M a.c," },
	{ "git init -q m; (cd m; echo x >x; git add x; git commit -qm n); git add m 2>/dev/null; "
	    "git commit -qm m -- m;", "cd m; echo y >y; git add y; git commit -qm y", "M m," },
	{ "", "git init -q m; cd m; echo x >x; git add x; git commit -qm n", "A m," },
	{ "git config core.sparseCheckout true; printf '/*\\n!/far\\n' >.git/info/sparse-checkout; "
	    "git read-tree -mu HEAD; test ! -e far;", "echo x >>a.c", "M a.c," },
	{ "git checkout -q --detach;", "echo x >>a.c", "M a.c," },
	{ "git config commit.cleanup strip; git config core.safecrlf true; git config "
	    "commit.verbose true; git config core.splitIndex true;", "echo x >>a.c", "M a.c," },
};

START_TEST(commits_the_work_only)
{
	char *status;

	SH("echo m >mine; mkdir far; echo f >far/f; git add mine far; git commit -qm mine; %s %s",
	    works[_i].before, MINE);
	work(works[_i].script, works[_i].changes);
	status = sh("git status --porcelain -- mine half staged untracked .gitkeep; "
	    "git diff --cached --name-only -- ':!mine' ':!half' ':!staged' ':!.gitkeep'");
	ck_assert_str_eq(status, MINE_STATUS);
	free(status);
	/* The index of what was committed is that of the commit, and so is the work tree. */
	expect_text("", sh("git diff --name-only -- ':!half' ':!.gitkeep'"));
	expect_text("rld: do it\n\n# no comment\nRld-Run: 42", sh("git show -s --format=%%B HEAD | sed '$d'"));
	SH("git fsck --no-dangling >/dev/null 2>&1");
}
END_TEST

START_TEST(first_commit)
{
	SH("rm -rf .git; git init -q; echo s >staged; git add staged");
	free(base);
	base = sh("git mktree </dev/null");
	artifacts = NULL;
	char *tree = snapshot();

	/* all that there is, against nothing */
	expect_done(commit_op(tree, MESSAGE));
	expect_text(tree, sh("git rev-parse 'HEAD^{tree}'"));
	expect_text("", sh("git status --porcelain"));
	free(tree);
	SH("rm -rf .git; git init -q; git add staged");
	work("echo x >x", "A x,");
	expect_text("A  staged\n?? .gitignore\n?? a.c\n?? d/", sh("git status --porcelain"));
}
END_TEST

START_TEST(sha256)
{
	SH("rm -rf .git; git init -q --object-format=sha256; git add .");
	work("echo x >x", "A x,");
	work("rm x; echo y >y", "D x,A y,");
}
END_TEST

START_TEST(worktree_of_another_branch)
{
	char *top = repo;

	SH("git worktree add -q ../wt -b other");
	repo = xasprintf("%s/wt", home);
	base = sh("git rev-parse 'HEAD^{tree}'");
	SH("echo x >x");
	char *tree = sh("export GIT_INDEX_FILE=%s/truth; git add -A; git write-tree", home);

	expect_done(commit_op(tree, MESSAGE));
	expect_text("", sh("git status --porcelain"));
	expect_text("other x", sh("echo $(git symbolic-ref --short HEAD) $(git show --format= --name-only HEAD)"));
	free(tree);
	free(repo);
	repo = top;
	expect_text("base", sh("git log -1 --format=%%s main"));
}
END_TEST

START_TEST(nothing_differs)
{
	base = snapshot();
	expect_done(commit_op(base, MESSAGE));
	ck_assert_ptr_null(commit);
	ck_assert_int_eq(processes, 1);
	/* what the agent has committed itself is not committed again */
	SH("echo x >x; git add x; git commit -qm mine");
	char *tree = snapshot(), *before = fingerprint();

	expect_done(commit_op(tree, MESSAGE));
	ck_assert_ptr_null(commit);
	expect_same(before);
	free(before);
	free(tree);
}
END_TEST

/* ---- review artifacts ---- */

START_TEST(artifacts_stay_out)
{
	char *tree;

	strings_append(&artifacts, "review.md");
	strings_append(&artifacts, "logs");
	base = snapshot();
	SH("echo r >review.md; mkdir logs; echo l >logs/t1.json; echo x >x; git add review.md");
	tree = snapshot();	/* of somebody who knows of no artifacts: it has them */
	expect_done(commit_op(tree, MESSAGE));
	expect_text("x", sh("git show --format= --name-only HEAD"));
	expect_text("A  review.md\n?? logs/", sh("git status --porcelain"));
	free(tree);
}
END_TEST

START_TEST(artifact_of_a_hook)
{
	char *tree;

	strings_append(&artifacts, "review.md");
	SH("echo mine >other; git add other");
	base = snapshot();
	SH("printf '#!/bin/sh\\necho r >review.md; echo o >other; git add review.md other\\n' "
	    ">.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >x");
	tree = snapshot();
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, "a hook of the repository adds review files to the commit: other, "
	    "review.md; nothing was committed");
	ck_assert_ptr_null(commit);
	/* his index has what he staged, not what the hook did */
	expect_text("mine", sh("git show :other; git log --format=%%s | grep -v base || true"));
	free(tree);
}
END_TEST

/* ---- hooks, filters, names ---- */

START_TEST(hooks_run)
{
	SH("for h in pre-commit prepare-commit-msg commit-msg post-commit; do printf '#!/bin/sh\\necho "
	    "%%s >>%s/ran; git diff --cached --name-only >>%s/ran\\n' $h >.git/hooks/$h; "
	    "chmod +x .git/hooks/$h; done; echo s >staged; git add staged", home, home);
	work("echo x >x", "A x,");
	expect_text("pre-commit x prepare-commit-msg x commit-msg x post-commit", sh("echo $(cat ../ran)"));
}
END_TEST

#define HEAD_STATE "git rev-parse HEAD; git symbolic-ref HEAD; sha256sum .git/index"

static const struct { const char *name, *script, *words; } noes[] = {
	{ "pre-commit", "echo \"x:1: not pretty\"; echo \"second line\" >&2; exit 1",
	    "pre-commit: x:1: not pretty\nsecond line" },
	{ "prepare-commit-msg", "echo \"$2\"; exit 3", "prepare-commit-msg: message" },
	{ "commit-msg", "grep -q JIRA- \"$1\" || { echo no ticket; exit 1; }", "commit-msg: no ticket" },
	{ "pre-commit", "exit 1", "pre-commit failed without output" },
	{ "pre-commit", "printf \"\\033[31mred\\033[0m\\r\\tx\\n\"; exit 1",
	    "pre-commit: \\x1b[31mred\\x1b[0m\\x0d\tx" },
	{ "pre-commit", "git rev-parse nonsense; exit 128", NULL },
	{ "pre-commit", "sh -c \"kill -11 \\$\\$\"", NULL },
};

/* git would be asked again, had it said this itself. */
START_TEST(hook_runs_once)
{
	base = snapshot();
	SH("printf '#!/bin/sh\\necho >>%s/ran; echo failed to read w/commondir: x >&2; exit 1\\n' "
	    ">.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >x", home);
	expect_done(commit_op(snapshot(), MESSAGE));
	EXPECT_IN(refusal, "commondir");
	expect_text("1", sh("wc -l <%s/ran", home));
}
END_TEST

/* Nothing of the user's has moved, and the words are there for who can do better. */
START_TEST(hook_that_refuses)
{
	char *tree, *state;

	SH("echo s >staged; git add staged");
	base = snapshot();
	hook(noes[_i].name, noes[_i].script);
	SH("echo x >x");
	tree = snapshot();
	state = fingerprint();
	if (noes[_i].words != NULL) {
		expect_refused(commit_op(tree, MESSAGE), noes[_i].words);
	} else {
		expect_done(commit_op(tree, MESSAGE));
		EXPECT_IN(refusal, "pre-commit");
	}
	expect_same(state);
	free(state);
	/* and when it is content */
	SH("rm .git/hooks/%s", noes[_i].name);
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_ptr_null(refusal);
	expect_text("x", sh("git show --format= --name-only HEAD"));
	free(tree);
}
END_TEST

START_TEST(hook_of_many_words)
{
	char *tree;

	base = snapshot();
	hook("pre-commit", "echo first; seq 1 100000; printf ä; seq 1 100000 >&2; echo last; exit 1");
	SH("echo x >x");
	tree = snapshot();
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_int_le(strlen(refusal), 16384);
	EXPECT_IN(refusal, "pre-commit: first\n1\n2\n");
	EXPECT_IN(refusal, "\n[... ");
	EXPECT_IN(refusal, "\n100000\nlast");
	free(tree);
}
END_TEST

static const struct { const char *script, *says; } troubles[] = {
	{ "printf '#!/no/such/program\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
	    "a hook of the repository cannot be run" },
	{ "printf '#!/bin/sh\\nkill -9 $$\\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
	    "a hook of the repository was killed by a signal" },
	{ "mkdir -p .git/refs/heads; : >.git/refs/heads/main.lock", "another git process is at work there" },
	{ ": >.git/HEAD.lock", "another git process is at work there" },
};

/* Nobody said no: it could not be done. */
START_TEST(trouble_is_no_refusal)
{
	char *tree, *head = sh("git rev-parse HEAD");

	base = snapshot();
	SH("echo x >x; %s", troubles[_i].script);
	tree = snapshot();
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, troubles[_i].says);
	ck_assert_ptr_null(refusal);
	ck_assert_ptr_null(commit);
	expect_text(head, sh("git rev-parse HEAD"));
	free(head);
	free(tree);
}
END_TEST

static const struct { const char *script, *words, *after; } formers[] = {
	{ "sed -i s/ugly/pretty/ x; git add x", "a hook of the repository changed: x", "pretty\nbase" },
	{ "sed -i s/ugly/pretty/ x; git add x; echo 2 >version; git add version",
	    "a hook of the repository changed: version, x", "pretty\nbase" },
	{ "sed -i s/ugly/pretty/ x; echo I put them in form; exit 1",
	    "pre-commit: I put them in form", "pretty\nbase" },
	{ "git rm -q --cached x", "a hook of the repository changed: x", "ugly\nbase" },
};

/* A hook that puts files in form: what was reviewed would not be what is committed. The next round
 * has them in that form. */
START_TEST(hook_that_puts_in_form)
{
	char *tree, *state;

	base = snapshot();
	hook("pre-commit", formers[_i].script);
	SH("echo ugly >x");
	tree = snapshot();
	state = sh(HEAD_STATE);
	expect_refused(commit_op(tree, MESSAGE), formers[_i].words);
	expect_text(formers[_i].after, sh("cat x; git log --format=%%s"));
	expect_text(state, sh(HEAD_STATE));
	free(state);
	free(tree);
	if (_i < 2) {
		tree = snapshot();
		expect_done(commit_op(tree, MESSAGE));
		ck_assert_ptr_null(refusal);
		expect_text("pretty", sh("git show HEAD:x; git status --porcelain"));
		free(tree);
	}
}
END_TEST

/* The commit is what was reviewed; what the hook did beside it stays where it is. */
START_TEST(hook_that_changes_other_things)
{
	hook("pre-commit", "echo log >log; echo more >>a.c; sed -i s/ugly/pretty/ x");
	work("echo ugly >x", "A x,");
	expect_text("ugly\n M a.c\n M x\n?? log", sh("git show HEAD:x; git status --porcelain"));
}
END_TEST

START_TEST(hook_that_edits_the_message)
{
	hook("prepare-commit-msg", "echo \"$2\" >>../ran; echo Issue: 7 >>$1");
	hook("commit-msg", "cat $1 >>../ran; echo Change-Id: I1 >>$1");
	SH("echo x >x");
	base = snapshot();
	SH("echo y >x");
	char *tree = snapshot();

	expect_done(commit_op(tree, MESSAGE));
	expect_text("rld: do it\n\n# no comment\nRld-Run: 42\nIssue: 7\nChange-Id: I1",
	    sh("git show -s --format=%%B HEAD | sed '$d'"));
	expect_text("message\nrld: do it\n\n# no comment\nRld-Run: 42\nIssue: 7", sh("cat ../ran"));
	free(tree);
}
END_TEST

/* What a post-commit hook makes of the commit; the commits that HEAD has then, and paths that are
 * not as reviewed, NULL: none. */
static const struct { const char *script, *log, *other; } afters[] = {
	{ "unset GIT_INDEX_FILE; git -c core.hooksPath=/dev/null commit -q --amend -m other", "other", NULL },
	{ "git -c core.hooksPath=/dev/null commit -q --allow-empty -m empty", "empty\nrld: do it", NULL },
	{ "unset GIT_INDEX_FILE; echo more >>x; git -c core.hooksPath=/dev/null commit -q --amend -a --no-edit",
	    "rld: do it", "x" },
	{ "unset GIT_INDEX_FILE; [ -e v ] || { echo 1 >v; git add v; "
	    "git -c core.hooksPath=/dev/null commit -qm version; }", "version\nrld: do it", "v" },
	{ "t=$(printf \"100644 blob %s\\tx\\n\" $(echo no | git hash-object -w --stdin) | git mktree); "
	    "git update-ref HEAD $(git commit-tree -p HEAD -m plumbing $t)", "plumbing\nrld: do it",
	    ".gitignore, a.c, d/b.c and 1 more" },
	{ "git reset -q --soft HEAD^", "", "x" },
};

/* HEAD is the recorded commit, or the new content is told, and reviewed before it is recorded. */
START_TEST(hook_after_the_commit)
{
	char *tree, *words, *head;

	base = snapshot();
	since = sh("git rev-parse HEAD");
	SH("echo x >x");
	tree = snapshot();
	hook("post-commit", afters[_i].script);
	expect_done(commit_op(tree, MESSAGE));
	head = sh("git rev-parse HEAD");
	ck_assert_str_eq(commit, head);
	expect_text(afters[_i].log, sh("git log --format=%%s %s..", since));
	if (afters[_i].other == NULL) {
		ck_assert_ptr_null(refusal);
		expect_scratch_empty();
	} else {
		words = xasprintf("after the commit, a hook of the repository set HEAD to %.12s, which has "
		    "other content: %s", head, afters[_i].other);
		ck_assert_ptr_nonnull(refusal);
		ck_assert_str_eq(refusal, words);
		free(words);
	}
	free(head);
	free(tree);
	if (_i != 2 && _i != 3)
		return;
	/* reviewed in that form, it is the result: the hook does not run on it again */
	tree = sh("git rev-parse HEAD^{tree}");
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_ptr_null(refusal);
	head = sh("git rev-parse HEAD");
	ck_assert_str_eq(commit, head);
	expect_text(afters[_i].log, sh("git log --format=%%s %s..", since));
	expect_scratch_empty();
	free(head);
	free(tree);
}
END_TEST

/* ---- conversions ---- */

#define KEPT "git add .; git commit -qm kept; "

/* Before the submit; the work; what an agent does beside; what the commit has of the file x; of
 * which files it would have something else by the attributes of the work. */
static const struct { const char *before, *work, *beside, *file, *content, *unconverted; } conversions[] = {
	{ "", "echo GOOD >x.py", "git config filter.z.clean 'sed s/GOOD/EVIL/'; "
	    "echo '*.py filter=z' >.git/info/attributes", "x.py", "GOOD", NULL },
	{ "", "echo GOOD >x.py", "git config --global filter.z.clean 'sed s/GOOD/EVIL/'; "
	    "git config --global core.attributesFile ~/a; echo '*.py filter=z' >~/a", "x.py", "GOOD", NULL },
	/* the attribute is part of the work, the filter is not */
	{ "", "echo GOOD >x.py; echo '*.py filter=z' >.gitattributes",
	    "git config filter.z.clean 'sed s/GOOD/EVIL/'; git config filter.z.required true", "x.py", "GOOD", NULL },
	{ "echo '*.bin filter=lfs' >.gitattributes; git config filter.lfs.clean 'echo pointer: $(wc -c)'; " KEPT,
	    "echo big >x.bin", "git config filter.lfs.clean 'echo EVIL'", "x.bin", "pointer: 4", NULL },
	{ "git config filter.lfs.clean 'git config lfs.storage'; echo '*.bin filter=lfs' >.git/info/attributes",
	    "echo big >x.bin", "rm .git/info/attributes", "x.bin", "/repo/.git/lfs", NULL },
	{ "git config filter.lfs.clean 'git config lfs.storage'; git config lfs.storage 'my \"x\\'; "
	    "echo '*.bin filter=lfs' >.gitattributes", "echo big >x.bin", "", "x.bin", "/repo/.git/my \"x\\", NULL },
	{ "git config core.autocrlf input", "printf 'a\\r\\nb\\r\\n' >x", "git config core.autocrlf false",
	    "x", "a\nb", NULL },
	{ "", "printf 'a\\r\\nb\\r\\n' >x", "git config core.autocrlf input", "x", "a\r\nb\r", NULL },
	{ "", "printf 'a\\r\\n' >x.t", "git config core.eol crlf; echo '*.t text' >.git/info/attributes", "x.t",
	    "a\r", NULL },
	{ "git config --global core.attributesFile ~/a; echo '*.t text' >~/a", "printf 'a\\r\\n' >x.t",
	    "echo >~/a", "x.t", "a", NULL },
	{ "mkdir -p ~/.config/git; echo '*.t text' >~/.config/git/attributes", "printf 'a\\r\\n' >x.t",
	    "rm ~/.config/git/attributes", "x.t", "a", NULL },
	{ "echo '*.i ident' >.gitattributes; " KEPT, "echo '$Id: 123 $' >x.i", "", "x.i", "$Id$", NULL },
	{ "mkdir s; echo '*.u working-tree-encoding=UTF-16LE' >s/.gitattributes; " KEPT,
	    "mkdir -p s; printf 'a\\000b\\000' >s/x.u", "", "s/x.u", "ab", NULL },
	/* a program of the tree */
	{ "mkdir tools; printf '#!/bin/sh\\ntr a-z A-Z\\n' >tools/up; chmod +x tools/up; "
	    "git config filter.up.clean tools/up; echo '*.up filter=up' >.gitattributes; " KEPT,
	    "echo abc >x.up", "git config filter.up.clean 'tr a-z 0-9'", "x.up", "ABC", NULL },
	/* ... which is part of the work, too */
	{ "mkdir tools; printf '#!/bin/sh\\ntr a-z A-Z\\n' >tools/up; chmod +x tools/up; "
	    "git config filter.up.clean ./tools/up; echo '*.up filter=up' >.gitattributes; " KEPT,
	    "echo abc >x.up; printf '#!/bin/sh\\necho EVIL\\n' >tools/up", "", "x.up", "ABC", NULL },
	{ "mkdir tools; printf '#!/bin/sh\\ntr a-z A-Z\\n' >tools/up; chmod +x tools/up; "
	    "git config filter.up.clean ./tools/up; echo '*.up filter=up' >.gitattributes; " KEPT,
	    "echo abc >x.up; rm -r tools; echo x >tools", "", "x.up", "ABC", NULL },
	/* attributes of the work */
	{ "", "printf 'a\\000b\\000' >x.u; echo '*.u working-tree-encoding=UTF-16LE' >.gitattributes", "",
	    "x.u | od -An -c | tr -d ' \\n'", "a\\0b\\0", "x.u" },
	{ "", "printf 'a\\r\\n' >x.t; printf 'a\\n' >y.t; echo '*.t text eol=crlf' >.gitattributes", "", "x.t", "a\r",
	    "x.t" },
	{ "", "echo '$Id: 123 $' >x.i; echo '*.i ident' >.gitattributes", "", "x.i", "$Id: 123 $", "x.i" },
	{ "", "mkdir -p s; echo '$Id: 123 $' >s/x.i; echo '*.i ident' >s/.gitattributes", "", "s/x.i", "$Id: 123 $",
	    "s/x.i" },
	/* ... that an agent has committed */
	{ "", "printf 'a\\r\\n' >x.t; echo '*.t text' >.gitattributes", "git add .; git commit -qm agent", "x.t",
	    "a\r", "x.t" },
	{ "", "printf 'a\\r\\n' >x.t", "echo '*.t text' >.gitattributes; git add .; git commit -qm agent", "x.t",
	    "a\r", "x.t" },
	/* ... that convert nothing */
	{ "", "printf 'a\\n' >x.t; echo '*.t text eol=lf' >.gitattributes", "", "x.t", "a", NULL },
	{ "", "printf 'a\\r\\n' >x.t; echo '*.t diff=t -merge' >.gitattributes", "", "x.t", "a\r", NULL },
	/* ... in place of those of the base, which count, also for themselves */
	{ "echo '*.i ident' >.gitattributes; " KEPT, "echo '$Id: 123 $' >x.i; echo '*.i -ident' >.gitattributes", "",
	    "x.i", "$Id$", "x.i" },
	{ "echo '*.i ident' >.gitattributes; " KEPT, "echo '$Id: 123 $' >x.i; rm .gitattributes", "", "x.i", "$Id$",
	    "x.i" },
	{ "echo '*.i ident' >.gitattributes; " KEPT, "echo '$Id: 123 $' >x.i; ln -sf a .gitattributes", "", "x.i",
	    "$Id$", "x.i" },
	{ "echo '*.i ident' >.gitattributes; " KEPT, "echo '$Id: 123 $' >x.i; rm .gitattributes; mkdir .gitattributes; "
	    "echo x >.gitattributes/x", "", "x.i", "$Id: 123 $", NULL },
	{ "mkdir s; echo '*.i ident' >s/.gitattributes; " KEPT, "rm -r s; echo '$Id: 123 $' >s", "", "s",
	    "$Id: 123 $", NULL },
	{ "git config core.autocrlf true; printf '*.i ident\\r\\n' >.gitattributes; " KEPT,
	    "printf '*.j ident\\r\\n' >.gitattributes", "", ".gitattributes", "*.j ident", NULL },
};

/* The tree of an operation with an evidence repository; was: the base, NULL: this is to be it. */
static char *evidence_tree(enum git_op_kind kind, const char *was)
{
	struct git_op *op;
	char *tree;

	if (evidence == NULL)
		evidence = xasprintf("%s/state/evidence/1.git", home);
	op = git_op_new(&(struct git_op_spec){ .kind = kind, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = was });
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	return tree;
}

/* Files are committed as at submit, whatever an agent makes of the settings. */
START_TEST(conversions_of_the_submit)
{
	char *want, *tree;

	SH("%s", conversions[_i].before);
	base = evidence_tree(GIT_SNAPSHOT, NULL);
	SH("%s; %s", conversions[_i].work, conversions[_i].beside);
	tree = evidence_tree(GIT_MEASURE, base);
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_ptr_nonnull(commit);
	ck_assert_ptr_null(refusal);
	ck_assert_pstr_eq(unconverted, conversions[_i].unconverted);
	want = conversions[_i].content[0] == '/' ? xasprintf("%s%s", home, conversions[_i].content) :
	    xstrdup(conversions[_i].content);
	expect_text(want, sh("git cat-file blob HEAD:%s", conversions[_i].file));
	expect_scratch_empty();
	free(want);
	free(tree);
	free(evidence);
	evidence = NULL;
}
END_TEST

/* Under the id of what the commit is to have lies something else. */
START_TEST(forged_object_is_refused)
{
	char *tree, *head;

	SH("git config core.autocrlf input");
	base = snapshot();
	SH("printf 'good\\r\\n' >x");
	tree = snapshot();
	SH("good=$(echo good | git hash-object --stdin | sed 's|..|.git/objects/&/|'); "
	    "evil=$(echo evil | git hash-object -w --stdin | sed 's|..|.git/objects/&/|'); "
	    "mkdir -p $(dirname $good); cp $evil $good");
	head = sh("git rev-parse HEAD");
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, "git fsck");
	expect_text(head, sh("git rev-parse HEAD"));
	free(head);
	free(tree);
}
END_TEST

/* The clean filter is the user's word on what his repository has: without it the commit would hold
 * other bytes than his own commits do. Nothing else runs. */
START_TEST(only_filter_and_hooks_run)
{
	SH("printf '#!/bin/sh\\necho \"$0 $*\" >>%s/canary\\ncat\\n' >../run; chmod +x ../run;"
	   "git config core.fsmonitor ../run; git config filter.f.clean 'tr a-z A-Z'; "
	   "git config filter.f.smudge ../run; git config diff.external ../run;"
	   "git config diff.f.textconv ../run; git config diff.f.command ../run; "
	   "git config core.pager ../run; git config core.editor ../run;"
	   "git config core.askPass ../run; git config sequence.editor ../run; git config "
	   "merge.f.driver ../run; git config log.showSignature true; git config gpg.program ../run;"
	   "printf 'f* filter=f\\n* diff=f merge=f\\n' >.gitattributes; rm -f %s/canary", home, home);
	work("echo x >x; echo shout >f", "A f,A x,");
	SH("test ! -e %s/canary", home);
	expect_text("SHOUT", sh("git -c core.fsmonitor=false show HEAD:f"));
	expect_text("?? .gitattributes", sh("git -c core.fsmonitor=false status --porcelain"));
}
END_TEST

START_TEST(signing_that_fails_does_not_hang)
{
	char *tree, *status;

	setenv("DISPLAY", ":7", 1);
	setenv("GPG_TTY", "/dev/pts/7", 1);
	SH("git config commit.gpgsign true; git config gpg.program ../gpg; printf '#!/bin/sh\\necho "
	    "\"[$GPG_TTY$DISPLAY]\" >%s/asked; exit 2\\n' >../gpg; chmod +x ../gpg", home);
	base = snapshot();
	SH("echo x >x");
	tree = snapshot();
	status = sh("sha256sum .git/index; git rev-parse HEAD");
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, "gpg failed to sign");
	EXPECT_IN(error, "commit.gpgsign=false");
	expect_text(status, sh("sha256sum .git/index; git rev-parse HEAD"));
	free(status);
	expect_text("[]", sh("cat ../asked"));
	free(tree);
}
END_TEST

START_TEST(names_of_the_commit)
{
	work("echo x >x", "A x,");
	expect_text("t t@example.org t t@example.org", sh("git log -1 --format='%%an %%ae %%cn %%ce'"));
	SH("git config --global --unset user.name; git config --global --unset user.email; "
	    "git config --global user.useConfigOnly true");
	work("echo y >y", "A y,");
	expect_text("rld rld@localhost rld rld@localhost", sh("git log -1 --format='%%an %%ae %%cn %%ce'"));
	SH("git config user.name mine; git config user.email m@e");
	work("echo z >z", "A z,");
	expect_text("mine m@e mine m@e", sh("git log -1 --format='%%an %%ae %%cn %%ce'"));
}
END_TEST

/* ---- what is in the way ---- */

static const struct { const char *script, *says; } obstacles[] = {
	{ "git checkout -qb o; echo o >o; git add o; git commit -qm o; git checkout -q main; "
	    "git merge -q --no-commit --no-ff o", "a merge is in progress" },
	{ "git checkout -qb o; echo o >a.c; git commit -qam o; git checkout -q main; echo m >a.c; "
	    "git commit -qam m; git cherry-pick o >/dev/null 2>&1 || true; git checkout -q HEAD a.c",
	    "a cherry-pick is in progress" },
	{ "git revert --no-commit HEAD", "a revert is in progress" },
	{ "GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -qi --root >/dev/null 2>&1",
	    "a rebase is in progress" },
	{ ": >.git/index.lock", "another git process is at work there" },
};

START_TEST(something_is_under_way)
{
	char *tree, *head, *before;

	SH("echo 2 >two; git add two; git commit -qm two; %s", obstacles[_i].script);
	base = snapshot();
	SH("echo x >x");
	tree = snapshot();
	head = sh("git rev-parse HEAD");
	before = fingerprint();
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, obstacles[_i].says);
	EXPECT_IN(error, "then commit the work tree");
	expect_text(head, sh("git rev-parse HEAD"));
	expect_same(before);
	free(before);
	free(head);
	free(tree);
}
END_TEST

START_TEST(own_index_is_garbage)
{
	char *tree, *head = sh("git rev-parse HEAD");

	base = evidence_tree(GIT_SNAPSHOT, NULL);
	SH("echo x >x");
	tree = evidence_tree(GIT_MEASURE, base);
	SH("echo broken >.git/index");
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, "see what `git status` says there");
	expect_text(head, sh("git rev-parse HEAD"));
	free(head);
	free(tree);
	free(evidence);
	evidence = NULL;
}
END_TEST

/* A power cut has ended who had them. */
START_TEST(locks_of_an_earlier_boot)
{
	char *tree;

	base = snapshot();
	SH("echo x >x");
	tree = snapshot();
	SH("touch -d @1000000000 .git/index.lock .git/HEAD.lock .git/refs/heads/main.lock");
	expect_done(commit_op(tree, MESSAGE));
	SH("test -z \"$(find .git -name '*.lock')\"; test \"$(git show HEAD:x)\" = x");
	free(tree);
}
END_TEST

static const char *const later[] = {
	"echo changed >>x", "rm x", "chmod +x x", "rm x; ln -s a.c x", "rm x; mkdir x; echo y >x/y",
	"rm x; git init -q x; echo y >x/y", "rm l; ln -s d l",
};

/* What was reviewed is what is committed: the user may have gone on. What he edits meanwhile stays
 * on the disk, uncommitted. */
START_TEST(work_tree_has_moved_on)
{
	char *tree, *before, *after;

	base = snapshot();
	SH("echo x >x; ln -s a.c l");
	tree = snapshot();
	SH("%s; echo mine >>a.c; echo y >y", later[_i]);
	before = sh("ls -lR x l a.c y 2>/dev/null || :; cat x l a.c y 2>/dev/null || :");
	expect_done(commit_op(tree, MESSAGE));
	expect_text("l x", sh("echo $(git show --format= --name-only HEAD)"));
	expect_text(tree, sh("git rev-parse HEAD^{tree}"));
	after = sh("ls -lR x l a.c y 2>/dev/null || :; cat x l a.c y 2>/dev/null || :");
	ck_assert_str_eq(before, after);
	free(after);
	free(before);
	free(tree);
}
END_TEST

/* What others write meanwhile is committed as it was reviewed, and stays on the disk as they have
 * it; a commit of an agent's own keeps what it has of that. */
START_TEST(others_write_meanwhile)
{
	char *others[] = { (char[]){ "list" }, (char[]){ "gone" }, NULL };
	char *tree;

	SH("echo 1 >list; echo g >gone; git add .; git commit -qm base");
	since = sh("git rev-parse HEAD");
	base = snapshot();
	SH("echo 2 >list; rm gone; echo x >x");
	tree = snapshot();
	SH("echo 3 >list; echo back >gone");
	others_here = others;
	expect_done(commit_op(tree, MESSAGE));
	expect_text("gone list x", sh("echo $(git show --format= --name-only HEAD)"));
	expect_text("2", sh("git show HEAD:list"));
	expect_text("3 back", sh("echo $(cat list gone)"));
	expect_text("M list ?? gone", sh("echo $(git status --porcelain)"));
	free(since);
	since = sh("git rev-parse HEAD");
	free(base);
	base = snapshot();
	SH("echo y >x; echo 4 >list; git commit -qam agents; echo 5 >list; echo z >z");
	free(tree);
	tree = sh("export GIT_INDEX_FILE=%s/t; git read-tree %s; git add x z; git write-tree", home, base);
	expect_done(commit_op(tree, "more\n\nRld-Run: 43\n"));
	expect_text("z", sh("echo $(git show --format= --name-only HEAD)"));
	expect_text("4 5", sh("git show HEAD:list | tr '\\n' ' '; cat list"));
	others_here = NULL;
	free(tree);
	free(since);
	since = NULL;
}
END_TEST

/* Somebody commits between the look at HEAD and the commit: what he did would be undone by it. */
START_TEST(head_moves)
{
	char *tree;

	base = snapshot();
	SH("echo x >x");
	tree = snapshot();
	between = "echo his >his; git add his; git commit -qm his";
	between_step = "commit";
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, "contains more than the work: his; a hook of the repository or another program");
	free(tree);
}
END_TEST

START_TEST(own_index_is_locked)
{
	char *tree;

	base = snapshot();
	SH("echo x >x");
	tree = snapshot();
	between = ": >.git/index.lock";
	between_step = "commit";
	expect_failed(commit_op(tree, MESSAGE));
	EXPECT_IN(error, "the commit was made, but your index was not updated: run `git reset -q`");
	ck_assert_ptr_nonnull(commit);
	SH("rm .git/index.lock; git reset -q; test -z \"$(git status --porcelain)\"");
	free(tree);
}
END_TEST

/* ---- begun again ---- */

/* So many processes have run, then rl-git died. */
static void die_after(struct git_op *op, int after)
{
	drive_steps(op, after);
	git_op_free(op);
}

/* A daemon that dies anywhere and begins again: one commit, a whole index. */
START_TEST(dies_after_each_process)
{
	char *tree, *first;

	SH("echo s >staged; git add staged");
	base = snapshot();
	SH("echo x >x; rm a.c");
	tree = snapshot();
	die_after(commit_op(tree, MESSAGE), _i);
	expect_done(commit_op(tree, MESSAGE));
	first = xstrdup(commit);
	expect_text("2 a.c x A staged", sh("echo $(git rev-list --count HEAD) $(git show --format= "
	    "--name-only HEAD) $(git status --porcelain)"));
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_str_eq(commit, first);
	free(first);
	free(tree);
}
END_TEST

/* The same, with a hook that puts files in form: the daemon may have died behind it. */
START_TEST(dies_with_a_hook)
{
	char *tree;

	base = snapshot();
	hook("pre-commit", "sed -i s/ugly/pretty/ x; git add x");
	SH("echo ugly >x");
	tree = snapshot();
	die_after(commit_op(tree, MESSAGE), _i);
	expect_refused(commit_op(tree, MESSAGE), "a hook of the repository changed: x");
	free(tree);
	tree = snapshot();
	die_after(commit_op(tree, MESSAGE), _i);
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_ptr_null(refusal);
	expect_text("pretty\n2", sh("git show HEAD:x; git rev-list --count HEAD"));
	free(tree);
}
END_TEST

/* HEAD has the work, but it is another's commit: nothing of ours is told. */
START_TEST(whose_commit)
{
	static const struct { const char *text, *message; bool ours; } rows[] = {
		{ "do\n\nRld-Run: 42\n", MESSAGE, true },
		{ "changed by a hook\n\nChange-Id: I1\nRld-Run: 42\nSigned-off-by: x\n", MESSAGE, true },
		{ "do\n\nRld-Run: 421\n", MESSAGE, false },
		{ "do\n\nX Rld-Run: 42\n", MESSAGE, false },
		{ "Rld-Run: 42 is good\n", MESSAGE, false },
		{ "do\n", MESSAGE, false },
		{ "do\n\nRld-Run: 42\nRld-Task: t1\n", "m\n\nRld-Run: 42\nRld-Task: t2\n", false },
		{ "do\n\nRld-Task: t2\nRld-Run: 42\n", "m\n\nRld-Run: 42\nRld-Task: t2", true },
		{ "do\n\nRld-Run: 42\n", "no trailer", false },
	};
	char *tree, *head;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		free(base);
		base = snapshot();
		SH("echo %zu >x; git add x; git commit -qm '%s'", i, rows[i].text);
		tree = snapshot();
		head = sh("git rev-parse HEAD");
		expect_done(commit_op(tree, rows[i].message));
		if (rows[i].ours)
			ck_assert_str_eq(commit, head);
		else
			ck_assert_msg(commit == NULL, "%zu", i);
		free(head);
		free(tree);
	}
}
END_TEST

/* ---- an agent that commits ---- */

/* A work tree of its own on a branch of its own, as a task has it. */
static void enter_worktree(void)
{
	char *top = repo;

	SH("git worktree add -q ../wt -b rl/1/t");
	repo = xasprintf("%s/wt", home);
	free(top);
	since = sh("git rev-parse HEAD");
	base = sh("git rev-parse 'HEAD^{tree}'");
}

static char *files(void)
{
	return sh("export GIT_INDEX_FILE=%s/truth; git read-tree --empty; git add -A; git reset -q "
	    "-- review.md 2>/dev/null || git rm -q --cached --ignore-unmatch review.md; "
	    "git write-tree; rm -f %s/truth", home, home);
}

#define COMMIT_ALL "git add -A; git commit -qm"

/* What the agent does; what git then has above since, newest first, with their files; whether
 * the last is ours. */
static const struct { const char *script, *log; bool ours; } agents[] = {
	{ "echo x >x", "rld: do it: x", true },
	{ "echo x >x; " COMMIT_ALL " mine", "mine: x", false },
	{ "echo x >x; " COMMIT_ALL " one; echo y >y; " COMMIT_ALL " two; echo z >z",
	    "rld: do it: z|two: y|one: x", true },
	/* the tree is as it was, and HEAD is not */
	{ "echo x >x; " COMMIT_ALL " one; rm x", "rld: do it: x|one: x", true },
	{ "echo x >>a.c; " COMMIT_ALL " one; git checkout -q HEAD~1 -- a.c; echo y >y",
	    "rld: do it: a.c y|one: a.c", true },
	{ "echo x >x; " COMMIT_ALL " one; git rm -q --cached x; echo /x >>.gitignore",
	    "rld: do it: .gitignore x|one: x", true },
	{ "echo x >x; " COMMIT_ALL " one; git revert --no-edit HEAD >/dev/null", "Revert \"one\": x|one: x", false },
	{ "git mv a.c b.c; " COMMIT_ALL " one; git mv b.c ä.c; chmod +x ä.c",
	    "rld: do it: b.c ä.c|one: a.c b.c", true },
	{ "git checkout -q --detach; echo x >x; " COMMIT_ALL " one; echo y >y", "rld: do it: y|one: x", true },
	{ "", "", false },
};

START_TEST(agent_that_commits)
{
	enter_worktree();
	SH("git config core.quotePath false; %s", agents[_i].script);
	char *tree = files();

	expect_done(commit_op(tree, MESSAGE));
	expect_text(agents[_i].log,
	    sh("for c in $(git rev-list %s..HEAD); do printf '%%s: %%s|' \"$(git show -s --format=%%s $c)\" "
	    "\"$(echo $(git show --no-renames --format= --name-only $c))\"; done | sed 's/|$//'", since));
	expect_text(tree, sh("git rev-parse 'HEAD^{tree}'"));
	expect_text("", sh("git status --porcelain"));
	if (agents[_i].log[0] != '\0')
		expect_text(commit, sh("git rev-parse HEAD"));
	else
		ck_assert_ptr_null(commit);
	expect_scratch_empty();
	/* begun again by a daemon that has forgotten; the other operation says the same, and has
	 * nothing more to do */
	char *first = xstrdup(commit);

	for (int i = 0; i < 2; i++) {
		expect_done(op_for(i == 0 ? GIT_COMMIT : GIT_ADOPT_COMMITS, tree, MESSAGE));
		if (first != NULL)
			ck_assert_str_eq(commit, first);
		expect_text(first != NULL ? first : since, sh("git rev-parse HEAD"));
	}
	free(first);
	free(tree);
}
END_TEST

/* Somebody commits in the same tree when the work is known: that is none of it, and stays. */
static const char *const persons[] = {
	"echo p >p; git add p; git commit -qm person -- p",
	"echo p >>a.c; git commit -qm person -- a.c",
	"git rm -q a.c; git commit -qm person -- a.c",
	"git mv a.c b.c; git commit -qm person -- a.c b.c",
	"echo p >>a.c; git add a.c; git commit -q --amend --no-edit -- a.c",
};

START_TEST(persons_commit_too)
{
	char *tree, *theirs, *first;

	enter_worktree();
	shared = true;
	/* an agent has taken out again what it had put in, but for x */
	SH("git config user.name u; git config user.email u@localhost; echo x >x; echo y >y; "
	    COMMIT_ALL " one; rm y; echo more >>x");
	tree = files();
	SH("%s", persons[_i]);
	theirs = sh("git ls-tree -r HEAD | grep -v -e '\tx$' -e '\ty$'");
	expect_done(commit_op(tree, MESSAGE));
	expect_text(commit, sh("git rev-parse HEAD"));
	expect_text(theirs, sh("git ls-tree -r HEAD | grep -v '\tx$'"));
	expect_text("x\nmore", sh("git show HEAD:x"));
	first = xstrdup(commit);
	expect_done(commit_op(tree, MESSAGE));
	ck_assert_str_eq(commit, first);
	free(first);
	free(theirs);
	free(tree);
}
END_TEST

START_TEST(commit_agent)
{
	enter_worktree();
	SH("git config core.quotePath false; %s", agents[_i].script);
	char *tree = files();

	expect_done(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE));
	expect_text(agents[_i].log,
	    sh("for c in $(git rev-list %s..HEAD); do printf '%%s: %%s|' \"$(git show -s --format=%%s $c)\" "
	    "\"$(echo $(git show --no-renames --format= --name-only $c))\"; done | sed 's/|$//'", since));
	expect_text(tree, sh("git rev-parse 'HEAD^{tree}'"));
	if (agents[_i].log[0] != '\0')
		expect_text(commit, sh("git rev-parse HEAD"));
	else
		ck_assert_ptr_null(commit);
	expect_scratch_empty();
	free(tree);
}
END_TEST

/* commit: also an error of COMMIT. */
static const struct { const char *script, *says; bool commit; } wrongs[] = {
	{ "echo x >x; echo r >review.md; git add -f review.md x; git commit -qm one",
	    "was made by an agent and contains review.md, but review files", true },
	{ "echo x >x; echo r >review.md; git add -f review.md x; git commit -qm one; git rm -q "
	    "--cached review.md; git commit -qm two", "was made by an agent and contains review.md", true },
	{ "git commit -q --allow-empty --amend -m other; echo x >x",
	    "an agent rewrote history; fix it with `git reset --soft", true },
	{ "git reset -q --soft HEAD~1; echo x >x; git add -A; git commit -qm one",
	    "an agent rewrote history", true },
	{ "git reset -q --soft HEAD~1; echo x >x", "an agent rewrote history", true },
	{ "git checkout -q --orphan o; git commit -qm o; echo x >x", "an agent rewrote history", true },
	{ "git checkout -q --orphan o; echo x >x", "its branch no longer has a commit", true },
	{ "git checkout -q -b side; echo s >s; git add -A; git commit -qm s; git checkout -q -; echo x "
	    ">x; git add -A; git commit -qm one; git merge -q side", "they contain a merge", false },
};

START_TEST(agent_that_commits_what_it_must_not)
{
	char *tree, *head;

	SH("echo 2 >two; git add two; git commit -qm two");
	enter_worktree();
	strings_append(&artifacts, "review.md");
	SH("%s", wrongs[_i].script);
	tree = files();
	head = sh("git rev-parse -q --verify HEAD || true");
	expect_failed(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE));
	EXPECT_IN(error, wrongs[_i].says);
	if (wrongs[_i].commit) {
		expect_failed(commit_op(tree, MESSAGE));
		EXPECT_IN(error, wrongs[_i].says);
		expect_text(head, sh("git rev-parse -q --verify HEAD || true"));
	} else {
		/* who was not told to commit may merge: what counts is the tree */
		expect_done(commit_op(tree, MESSAGE));
		expect_text(commit, sh("git rev-parse HEAD"));
	}
	free(head);
	free(tree);
}
END_TEST

START_TEST(commit_agent_that_changes_things)
{
	enter_worktree();
	strings_append(&artifacts, "review.md");
	SH("echo x >x");
	char *tree = files();

	SH("echo r >review.md; echo more >>x; rm a.c; git add x; git commit -qm one");
	expect_failed(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE));
	EXPECT_IN(error, "the commit agent changed a.c, x, which differs from what was reviewed");
	ck_assert_ptr_null(commit);
	SH("git reset -q --soft HEAD~1; git checkout -q HEAD a.c; echo x >x");
	expect_done(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE));
	expect_text("?? review.md\nx", sh("git status --porcelain; git show --format= --name-only HEAD"));
	free(tree);
}
END_TEST

/* In a repository that had no commit. */
START_TEST(commit_agent_makes_the_first)
{
	SH("rm -rf .git; git init -q");
	base = sh("git mktree </dev/null");
	SH("git add a.c; git commit -qm one; git add d; git commit -qm two");
	char *tree = snapshot();

	expect_done(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE));
	expect_text("rld: do it\ntwo\none", sh("git log --format=%%s"));
	expect_text(tree, sh("git rev-parse 'HEAD^{tree}'"));
	expect_text(commit, sh("git rev-parse HEAD"));
	free(tree);
}
END_TEST

/* Where HEAD was is not told, and others have merged long before. */
START_TEST(commit_agent_somewhere)
{
	SH("git checkout -qb side; echo s >s; git add s; git commit -qm s; git checkout -q main; "
	    "echo m >m; git add m; git commit -qm m; git merge -q side -m merged");
	base = snapshot();
	SH("echo x >x; git add x; git commit -qm one; echo y >y");
	char *tree = snapshot();

	for (int i = 0; i < 2; i++) {
		expect_done(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE));
		expect_text(commit, sh("git rev-parse HEAD"));
		expect_text("rld: do it\none\nmerged", sh("git log --format=%%s --first-parent -3"));
	}
	free(base);
	base = xstrdup(tree);
	expect_done(op_for(GIT_ADOPT_COMMITS, tree, "another\n\nRld-Run: 43\n"));
	ck_assert_ptr_null(commit);
	free(tree);
}
END_TEST

/* So it can be told. */
START_TEST(pin_tells_head)
{
	static const char *const names[] = { "HEAD", NULL };
	char *tree = snapshot(), *head = sh("git rev-parse HEAD");

	for (int i = 0; i < 3; i++) {
		struct git_op_spec spec = { .kind = GIT_PIN, .workspace = repo, .scratch = scratch,
		    .tree = tree, .ref = "refs/rl/passed/1/t", .name = names[i == 1] };

		if (i == 2)
			SH("git checkout -q --orphan none");
		expect_done(git_op_new(&spec));
		expect_text(tree, sh("git rev-parse refs/rl/passed/1/t"));
		if (i == 0)
			ck_assert_str_eq(commit, head);
		else
			ck_assert_ptr_null(commit);
	}
	free(head);
	free(tree);
}
END_TEST

#define PASSED "refs/rl/passed/1/"

/* What becomes of refs that rld has set, and what is told of it; NULL: nothing. */
static const struct { const char *script, *words; } moves[] = {
	{ "git pack-refs --all", NULL },
	{ "git update-ref " PASSED "a HEAD", PASSED "a is now at " },
	{ "git update-ref -d " PASSED "b", PASSED "b is gone, but rld set it to " },
	{ "git symbolic-ref " PASSED "b " PASSED "a", PASSED "b is now a link to " PASSED "a" },
	{ "git update-ref -d " PASSED "a; git update-ref " PASSED "a/x HEAD", PASSED "a is gone" },
	{ "for r in a b c d; do git update-ref " PASSED "$r HEAD; done", "; and 1 more" },
};

/* They are compared before another ref is set, and on request; the command that is told restores
 * one. */
START_TEST(refs_that_moved)
{
	char *tree = snapshot(), **refs = NULL, *first, *last;
	const char *names[] = { "a", "b", "c", "d" };

	for (size_t i = 0; i < 4; i++) {
		char *text = xasprintf(PASSED "%s %s", names[i], tree);

		SH("git update-ref " PASSED "%s %s", names[i], tree);
		strings_append(&refs, text);
		free(text);
	}
	SH("%s", moves[_i].script);
	for (int kind = 0; kind < 2; kind++) {
		struct git_op_spec spec = { .kind = kind == 0 ? GIT_PIN : GIT_COMPARE_REFS, .workspace = repo,
		    .scratch = scratch, .tree = tree, .ref = PASSED "e", .refs = refs };
		struct git_op *op = git_op_new(&spec);

		ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		if (moves[_i].words == NULL)
			ck_assert_ptr_null(git_op_moved(op));
		else
			EXPECT_IN(git_op_moved(op), moves[_i].words);
		expect_text(moves[_i].words == NULL ? "1" : "0", sh("git for-each-ref " PASSED "e | wc -l"));
		while (kind == 1 && git_op_moved(op) != NULL) {
			first = strchr(git_op_moved(op), '`');
			last = strchr(first + 1, '`');
			SH("git for-each-ref --format='delete %%(refname)' " PASSED "a/x | git update-ref --stdin; "
			    "%.*s", (int)(last - first - 1), first + 1);
			git_op_free(op);
			op = git_op_new(&spec);
			ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		}
		git_op_free(op);
	}
	strings_free(refs);
	free(tree);
}
END_TEST

START_TEST(commit_agent_and_a_hook)
{
	base = snapshot();
	since = sh("git rev-parse HEAD");
	SH("echo x >x; echo ugly >y; git add x; git commit -qm one");
	hook("pre-commit", "sed -i s/ugly/pretty/ y; git add y");
	char *tree = snapshot(), *head = sh("git rev-parse HEAD");

	die_after(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE), _i);
	expect_refused(op_for(GIT_ADOPT_COMMITS, tree, MESSAGE), "a hook of the repository changed: y");
	expect_text(head, sh("git rev-parse HEAD"));
	free(head);
	free(tree);
}
END_TEST

static void forget(void)
{
	free(refusal);
	free(since);
	refusal = since = NULL;
	free(base);
	free(error);
	free(commit);
	strings_free(artifacts);
	base = error = commit = NULL;
	artifacts = NULL;
}

static void nothing(void)
{
}

int main(void)
{
	TCase *tc = tcase_create("git_commit");

	tcase_add_checked_fixture(tc, nothing, forget);
	tcase_add_loop_test(tc, commits_the_work_only, 0, (int)(sizeof(works) / sizeof(works[0])));
	tcase_add_test(tc, first_commit);
	tcase_add_test(tc, sha256);
	tcase_add_test(tc, worktree_of_another_branch);
	tcase_add_test(tc, nothing_differs);
	tcase_add_test(tc, artifacts_stay_out);
	tcase_add_test(tc, artifact_of_a_hook);
	tcase_add_test(tc, hook_runs_once);
	tcase_add_test(tc, hooks_run);
	tcase_add_loop_test(tc, hook_that_refuses, 0, (int)(sizeof(noes) / sizeof(noes[0])));
	tcase_add_test(tc, hook_of_many_words);
	tcase_add_loop_test(tc, trouble_is_no_refusal, 0, (int)(sizeof(troubles) / sizeof(troubles[0])));
	tcase_add_loop_test(tc, hook_that_puts_in_form, 0, (int)(sizeof(formers) / sizeof(formers[0])));
	tcase_add_test(tc, hook_that_changes_other_things);
	tcase_add_test(tc, hook_that_edits_the_message);
	tcase_add_loop_test(tc, hook_after_the_commit, 0, (int)(sizeof(afters) / sizeof(afters[0])));
	tcase_add_loop_test(tc, conversions_of_the_submit, 0, (int)(sizeof(conversions) / sizeof(conversions[0])));
	tcase_add_test(tc, forged_object_is_refused);
	tcase_add_test(tc, only_filter_and_hooks_run);
	tcase_add_test(tc, signing_that_fails_does_not_hang);
	tcase_add_test(tc, names_of_the_commit);
	tcase_add_test(tc, own_index_is_garbage);
	tcase_add_test(tc, locks_of_an_earlier_boot);
	tcase_add_loop_test(tc, something_is_under_way, 0, (int)(sizeof(obstacles) / sizeof(obstacles[0])));
	tcase_add_test(tc, others_write_meanwhile);
	tcase_add_loop_test(tc, work_tree_has_moved_on, 0, (int)(sizeof(later) / sizeof(later[0])));
	tcase_add_test(tc, head_moves);
	tcase_add_test(tc, own_index_is_locked);
	tcase_add_loop_test(tc, dies_after_each_process, 1, 22);
	tcase_add_loop_test(tc, dies_with_a_hook, 10, 22);
	tcase_add_test(tc, whose_commit);
	tcase_add_loop_test(tc, persons_commit_too, 0, sizeof(persons) / sizeof(persons[0]));
	tcase_add_loop_test(tc, agent_that_commits, 0, (int)(sizeof(agents) / sizeof(agents[0])));
	tcase_add_loop_test(tc, commit_agent, 0, (int)(sizeof(agents) / sizeof(agents[0])));
	tcase_add_loop_test(tc, agent_that_commits_what_it_must_not, 0, (int)(sizeof(wrongs) / sizeof(wrongs[0])));
	tcase_add_test(tc, commit_agent_that_changes_things);
	tcase_add_test(tc, commit_agent_makes_the_first);
	tcase_add_test(tc, commit_agent_somewhere);
	tcase_add_test(tc, pin_tells_head);
	tcase_add_loop_test(tc, refs_that_moved, 0, (int)(sizeof(moves) / sizeof(moves[0])));
	tcase_add_loop_test(tc, commit_agent_and_a_hook, 17, 30);
	return run_tests("git_commit", tc);
}
