/* SPDX-License-Identifier: MIT */
/* What is of the review stays out of trees, diffs and the user's eyes; trees laid out as files. */
#include "git_repo.h"

#include <sched.h>
#include <sys/mount.h>

#include "git/artifact.h"
#include "git/exclude.h"
#include "git/snapshot.h"
#include "git/unpack.h"

static const char *const artifacts[] = { "review.md", "./.ai-sdd/state/logs/", "d/odd [*].json", NULL };

static struct git_op *op_with(enum git_op_kind kind, const char *tree, const char *ref, const char *const *list)
{
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch,
	    .tree = tree, .ref = ref, .artifacts = (char *const *)list };

	return git_op_new(&spec);
}

static char *done_tree(struct git_op *op)
{
	enum step_next next = drive(op);
	char *tree;

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	return tree;
}

static char *failed(struct git_op *op)
{
	enum step_next next = drive(op);
	char *error;

	ck_assert_int_eq(next, STEP_NEXT_FAILED);
	error = xstrdup(git_op_error(op));
	git_op_free(op);
	return error;
}

/* ---- artifacts ---- */

START_TEST(matching)
{
	const char *const list[] = { "./a/", "b/c", ".", "", "/", NULL };
	char **plain = artifacts_copy((char *const *)list);

	ck_assert_uint_eq(strings_count(plain), 2);
	ck_assert(artifact_has(plain, "a") && artifact_has(plain, "a/x/y") && artifact_has(plain, "b/c"));
	ck_assert(!artifact_has(plain, "ab") && !artifact_has(plain, "b") &&
	    !artifact_has(plain, "x/a") && !artifact_has(plain, "A"));
	ck_assert(!artifact_has(NULL, "a"));
	ck_assert_ptr_null(artifacts_copy(NULL));
	strings_free(plain);
}
END_TEST

#define MAKE_ARTIFACTS \
	"echo r >review.md; mkdir -p .ai-sdd/state/logs/deep; echo l >.ai-sdd/state/logs/t1.json; " \
	    "echo l >.ai-sdd/state/logs/deep/x; echo j >'d/odd [*].json'; git init -q .ai-sdd/state/logs/n"

START_TEST(artifacts_are_in_no_tree)
{
	char *base = snapshot(), *tree, *names;

	SH(MAKE_ARTIFACTS "; echo r >d/review.md; echo l >.ai-sdd/state/logs.txt; echo j >'d/odd x.json'");
	tree = done_tree(op_with(GIT_SNAPSHOT, NULL, NULL, artifacts));
	names = sh("git diff-tree -r --name-only %s %s", base, tree);
	ck_assert_str_eq(names, ".ai-sdd/state/logs.txt\nd/odd x.json\nd/review.md");
	expect_scratch_empty();
	free(base);
	free(tree);
	free(names);
}
END_TEST

START_TEST(artifacts_are_no_change_for_verify)
{
	char *base = done_tree(op_with(GIT_SNAPSHOT, NULL, NULL, artifacts));
	struct git_op *op;

	SH(MAKE_ARTIFACTS "; echo new >n");
	op = op_with(GIT_VERIFY, base, NULL, artifacts);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_str_eq(git_op_appeared(op), "n");
	git_op_free(op);
	SH("test -s review.md; test -s .ai-sdd/state/logs/t1.json; rm review.md");
	op = op_with(GIT_VERIFY, base, NULL, artifacts);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	git_op_free(op);
	free(base);
}
END_TEST

/* What a person changes or removes beside the checkout is told once, and is no part of later trees
 * as long as it stays so: in its place is what the work had. */
START_TEST(edits_beside_a_checkout)
{
	static const struct { const char *act, *edited, *then, *differs; } edits[] = {
		{ "echo theirs >a.c", "a.c", "echo more >a.c", "a.c" },
		{ "rm a.c", "a.c", "echo back >a.c", "a.c" },
		{ "chmod +x a.c; echo new >n", "a.c", "chmod -x a.c; rm n", "" },
		{ "rm -r d; echo file >d", "d/b.c", "rm d; mkdir d; echo x >d/y", "d/y" },
		{ "rm a.c; mkdir a.c; echo in >a.c/x", "a.c", "rm a.c/x; echo other >a.c/z", "a.c\na.c/z" },
		{ "rm a.c; ln -s d/b.c a.c", "a.c", "rm a.c; ln -s nowhere a.c", "a.c" },
	};
	char *base = snapshot(), *dir = xasprintf("%s/room", home), *beside, *names;
	struct git_op_spec spec = { .kind = GIT_CHECKOUT, .workspace = repo, .scratch = scratch,
	    .tree = base, .dir = dir };
	struct git_op *op = git_op_new(&spec);

	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	git_op_free(op);
	SH("%s", edits[_i].act);
	spec.kind = GIT_VERIFY;
	/* where other slots work as well, it may be theirs */
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(git_op_changed(op) == NULL && git_op_edited(op) == NULL);
	git_op_free(op);
	spec.shared = true;
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_str_eq(git_op_edited(op), edits[_i].edited);
	beside = xstrdup(git_op_appeared_tree(op));
	git_op_free(op);
	/* the second time it is known */
	spec.appeared_tree = beside;
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_edited(op));
	ck_assert_str_eq(git_op_appeared_tree(op), beside);
	git_op_free(op);
	spec.kind = GIT_MEASURE;
	spec.dir = NULL;
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_tree(op), base);
	git_op_free(op);
	/* who goes on with it makes it work */
	SH("%s", edits[_i].then);
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	names = sh("git diff-tree -r --no-renames --name-only %s %s", base, git_op_tree(op));
	ck_assert_str_eq(names, edits[_i].differs);
	free(names);
	git_op_free(op);
	free(beside);
	free(dir);
	free(base);
}
END_TEST

/* A tracked one is refused at the start; one that an agent adds later is passed over, one that
 * it commits is not. */
START_TEST(tracked_artifacts)
{
	char *base = done_tree(op_with(GIT_SNAPSHOT, NULL, NULL, artifacts)), *error, *tree;

	SH("echo r >review.md; git add -f review.md");
	tree = done_tree(op_with(GIT_MEASURE, base, NULL, artifacts));
	ck_assert_str_eq(tree, base);
	free(tree);
	error = failed(op_with(GIT_SNAPSHOT, NULL, NULL, artifacts));
	EXPECT_IN(error, "/review.md is tracked by git");
	EXPECT_IN(error, "`git rm -r --cached -- review.md`");
	EXPECT_IN(error, "another review_file or review_log");
	free(error);
	SH("git commit -qm agent");
	error = failed(op_with(GIT_MEASURE, base, NULL, artifacts));
	EXPECT_IN(error, "/review.md was committed by an agent");
	EXPECT_IN(error, "git commit --amend");
	free(error);
	SH("git reset -q --soft HEAD~1");
	SH("git rm -q --cached review.md; mkdir -p .ai-sdd/state/logs; : >.ai-sdd/state/logs/.gitkeep; "
	    "echo l >.ai-sdd/state/logs/t1.json; git add .ai-sdd/state/logs/.gitkeep");
	error = failed(op_with(GIT_SNAPSHOT, NULL, NULL, artifacts));
	EXPECT_IN(error, "/.ai-sdd/state/logs/.gitkeep is tracked by git");
	free(error);
	SH("git rm -q -r --cached -- .ai-sdd/state/logs/.gitkeep");
	tree = done_tree(op_with(GIT_SNAPSHOT, NULL, NULL, artifacts));
	ck_assert_str_eq(tree, base);
	free(tree);
	free(base);
}
END_TEST

/* Of a repository inside that has no commit, the files are listed one by one. */
START_TEST(artifacts_in_a_repository_inside)
{
	const char *const list[] = { "n/review.md", NULL };
	char *tree, *names;

	SH("git init -q n; cd n; echo x >x; echo r >review.md; git add .");
	tree = done_tree(op_with(GIT_SNAPSHOT, NULL, NULL, list));
	names = sh("git ls-tree -r --name-only %s n", tree);
	ck_assert_str_eq(names, "n/x");
	free(tree);
	free(names);
}
END_TEST

START_TEST(base_is_pinned)
{
	char *tree, *got;

	SH("echo uncommitted >new");
	tree = done_tree(op_with(GIT_SNAPSHOT, NULL, "refs/rl/base/7", NULL));
	ck_assert_int_eq(processes, 5);
	SH("rm new; git gc -q --prune=now");
	got = sh("git rev-parse refs/rl/base/7; git show refs/rl/base/7:new");
	ck_assert_int_eq(strncmp(got, tree, strlen(tree)), 0);
	EXPECT_IN(got, "uncommitted");
	free(got);
	free(tree);
	/* begun again: it points to what there is now */
	tree = done_tree(op_with(GIT_SNAPSHOT, NULL, "refs/rl/base/7", NULL));
	got = sh("git rev-parse refs/rl/base/7");
	ck_assert_str_eq(got, tree);
	free(got);
	free(tree);
}
END_TEST

START_TEST(a_submodule_cannot_be_overlooked)
{
	char *base;
	struct git_op *op;

	SH("git init -q ../sub; (cd ../sub; echo x >x; git add x; git commit -qm n); "
	   "git submodule -q add ../sub m; git config -f .gitmodules submodule.m.ignore all;"
	   "git config diff.ignoreSubmodules all; git add .; git commit -qm m");
	base = snapshot();
	SH("cd m; echo z >z; git add z; git commit -qm z");
	op = op_with(GIT_VERIFY, base, NULL, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_changed(op), "m");
	git_op_free(op);
	free(base);
}
END_TEST

/* ---- info/exclude ---- */

static char *exclude_error(const char *workspace, const char *const *list)
{
	char *error = NULL;

	ck_assert_int_eq(git_exclude(workspace, (char *const *)list, NULL, &error), -1);
	ck_assert_ptr_nonnull(error);
	return error;
}

static void exclude(const char *workspace, const char *const *list)
{
	char *error = NULL;
	int rv = git_exclude(workspace, (char *const *)list, NULL, &error);

	ck_assert_msg(rv == 0, "%s", error);
	ck_assert_ptr_null(error);
}

/* Names that mean something else to git when they are not escaped, and a neighbour of each that
 * must stay visible. */
static const struct { const char *artifact; const char *neighbour; } odd[] = {
	{ "review.md", "d/review.md" },
	{ "a*b", "axb" },
	{ "a?b", "a1b" },
	{ "[ab]", "a" },
	{ "#x", "d/#x" },
	{ "!x", "d/!x" },
	{ "trail  ", "trail" },
	{ " lead", "lead" },
	{ "back\\slash", "backslash" },
	{ "end\\", "end" },
	{ "häß", "hä" },
	{ "nl\nx", "nl" },
	{ "cr\r", "cr" },
	{ "sub/logs", "sub/logs2" },
};

START_TEST(excluded_and_nothing_else)
{
	const char *const list[] = { odd[_i].artifact, NULL };
	char *path = xasprintf("%s/%s", repo, odd[_i].artifact), *got, *want;

	SH("git config core.quotePath false; mkdir -p sub; echo x >'%s'", odd[_i].neighbour);
	ck_assert_int_eq(file_write(AT_FDCWD, path, "x", 1, 0644, false), 0);
	want = sh("git ls-files -o --exclude-standard -z | tr '\\0' '|'");
	ck_assert_ptr_nonnull(strchr(strchr(want, '|') + 1, '|'));	/* both show before */
	free(want);
	exclude(repo, list);
	got = sh("git ls-files -o --exclude-standard -z | tr '\\0' '|'");
	want = xasprintf("%s|", odd[_i].neighbour);
	ck_assert_str_eq(got, want);
	free(want);
	free(got);
	/* once is enough */
	want = sh("cat .git/info/exclude; stat -c %%i .git/info/exclude");
	exclude(repo, list);
	got = sh("cat .git/info/exclude; stat -c %%i .git/info/exclude");
	ck_assert_str_eq(got, want);
	free(got);
	free(want);
	free(path);
}
END_TEST

START_TEST(exclude_keeps_what_is_there)
{
	const char *const list[] = { "review.md", "logs/", "review.md", NULL };
	char *got;

	SH("printf '# mine\\n*.tmp\\n/review.mdx' >.git/info/exclude; chmod 664 .git/info/exclude");
	exclude(repo, list);
	got = sh("cat .git/info/exclude; stat -c %%a .git/info/exclude; ls -A .git/info");
	ck_assert_str_eq(got, "# mine\n*.tmp\n/review.mdx\n/review.md\n/logs\n664\nexclude");
	free(got);
	SH("mv .git/info/exclude ../mine; ln -s ../../../mine .git/info/exclude; echo '/review.md' >../mine");
	exclude(repo, list);
	got = sh("test -L .git/info/exclude; cat ../mine");
	ck_assert_str_eq(got, "/review.md\n/logs");
	free(got);
	SH("rm -rf .git/info");
	exclude(repo, list);
	got = sh("cat .git/info/exclude");
	ck_assert_str_eq(got, "/review.md\n/logs");
	free(got);
	exclude(repo, NULL);
}
END_TEST

START_TEST(exclude_of_worktree_and_submodule)
{
	const char *const list[] = { "review.md", NULL };
	char *dir, *got;

	SH("git worktree add -q ../wt; echo r >../wt/review.md; git init -q ../sub; (cd ../sub; echo x "
	    ">x; git add x; git commit -qm n); git submodule -q add ../sub m; echo r >m/review.md");
	dir = xasprintf("%s/wt", home);
	exclude(dir, list);
	free(dir);
	dir = xasprintf("%s/m", repo);
	exclude(dir, list);
	free(dir);
	got = sh("git -C ../wt status -s; git -C m status -s; grep -c review .git/info/exclude "
	    ".git/modules/m/info/exclude; test ! -e ../wt/.git/info");
	ck_assert_str_eq(got, ".git/info/exclude:1\n.git/modules/m/info/exclude:1");
	free(got);
}
END_TEST

START_TEST(exclude_that_cannot_be_written)
{
	const char *const list[] = { "review.md", "logs", NULL };
	char *error;

	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	else
		SH("chmod 555 .git/info; chmod 444 .git/info/exclude");
	error = exclude_error(repo, list);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
	else
		SH("chmod -R u+w .git");
	EXPECT_IN(error, "/.git/info/exclude: Permission denied");
	EXPECT_IN(error, "make it writable");
	EXPECT_IN(error, "/review.md\\n/logs");
	free(error);
	SH("rm -rf .git");
	error = exclude_error(repo, list);
	EXPECT_IN(error, "/.git: No such file");
	free(error);
	SH("echo rubbish >.git");
	error = exclude_error(repo, list);
	EXPECT_IN(error, "git status");
	free(error);
}
END_TEST

/* ---- checkout ---- */

static struct git_op *checkout_op(const char *tree, const char *dir)
{
	struct git_op_spec spec = { .kind = GIT_CHECKOUT, .workspace = repo, .scratch = scratch,
	    .tree = tree, .dir = dir };

	return git_op_new(&spec);
}

/* tree laid out in home/out; the repository does not notice. */
static void checkout(const char *tree)
{
	char *dir = xasprintf("%s/out", home), *before = fingerprint(), *same;

	same = done_tree(checkout_op(tree, dir));
	ck_assert_str_eq(same, tree);
	expect_same(before);
	expect_scratch_empty();
	free(same);
	free(before);
	free(dir);
}

static char *checkout_error(const char *tree)
{
	char *dir = xasprintf("%s/out", home), *error = failed(checkout_op(tree, dir));

	free(dir);
	return error;
}

static const char *const layouts[] = {
	"true",
	"echo '#!/bin/sh' >run; chmod 755 run; ln -s a.c l; ln -s /etc/passwd abs; "
	    "ln -s nowhere broken; ln -s d dir; : >empty; printf 'no newline' >n",
	"printf 'a\\r\\nb\\r\\n' >crlf; printf 'a\\nb\\n$Id$\\n' >lf; echo '* text=auto eol=crlf "
	    "ident working-tree-encoding=UTF-16' >.gitattributes; git config core.autocrlf true",
	"mkdir -p p/q/r/s p.d; echo 1 >p/q/r/s/t; echo 2 >p.d/x; echo 3 >p/z; echo 4 >p.c; "
	    "echo 5 >\"$(printf 'nl\\nx\\377')\"; echo 6 >' odd \"name\\ '",
	"head -c 300000 /dev/urandom >r1; head -c 65536 /dev/zero >r2; "
	    "head -c 65535 /dev/zero >r3; cp r1 r4; head -c 70000 /dev/zero | tr '\\0' '\\n' >r5",
	"mkdir many; cd many; for i in $(seq 500); do echo $i >f$i; done", "rm -rf a.c d .gitignore",
};

START_TEST(checkout_is_exact)
{
	char *tree, *programs;

	SH("%s", layouts[_i]);
	tree = snapshot();
	checkout(tree);
	/* types, link texts and bytes; then what may be executed */
	SH("mkdir -p ../out; diff -r --no-dereference --exclude=.git . ../out");
	programs = sh("find . -path ./.git -prune -o -type f -perm -100 -print; cd ../out; find . "
	    "-path ./.git -prune -o -type f -perm 755 -print");
	ck_assert_str_eq(programs, _i == 1 ? "./run\n./run" : "");
	free(programs);
	free(tree);
}
END_TEST

START_TEST(checkout_of_repositories)
{
	char *tree, *got;

	SH("git init -q n; cd n; echo x >x; git add x; git commit -qm n");
	tree = snapshot();
	checkout(tree);
	got = sh("cd ../out; find . -printf '%%y %%m %%P\\n' | sort");
	ck_assert_str_eq(got, "d 700 \nd 755 d\nd 755 n\nf 644 .gitignore\nf 644 a.c\nf 644 d/b.c");
	free(got);
	free(tree);
}
END_TEST

START_TEST(checkout_of_a_sha256_repository)
{
	char *tree;

	SH("rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm x");
	tree = snapshot();
	checkout(tree);
	SH("diff -r --exclude=.git . ../out");
	free(tree);
}
END_TEST

START_TEST(checkout_empties_first)
{
	char *tree = snapshot(), *got;
	mode_t old = umask(077);

	SH("mkdir -p ../out/x/y/z ../out/shut ../safe; echo keep >../safe/keep; ln -s ../safe "
	   "../out/link; ln -s ../../safe ../out/x/link; ln ../safe/keep ../out/hard; mkfifo ../out/p;"
	   "echo 1 >../out/x/y/z/f; echo 2 >../out/shut/f; mkdir ../out/0 ../out/1; "
	   "echo 3 >../out/1/3; : >../out/2; ln -s a.c ../out/d; mkdir ../out/a.c; "
	   "chmod 000 ../out/shut; chmod 555 ../out/x/y; chmod 500 ../out");
	checkout(tree);
	umask(old);
	got = sh("diff -r --exclude=.git . ../out; cat ../safe/keep; stat -c %%a ../out ../out/d ../out/a.c ../safe");
	ck_assert_str_eq(got, "keep\n700\n755\n644\n700");
	free(got);
	free(tree);
}
END_TEST

/* More levels than a process may have open files, and than a path may have bytes. */
START_TEST(emptying_knows_no_depth)
{
	char *dir = xasprintf("%s/deep", home);
	struct unpack *unpack;
	int at;

	mkdir(dir, 0700);
	at = open(dir, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 3000; i++) {
		int next;

		ck_assert_int_eq(mkdirat(at, "level", 0755), 0);
		next = openat(at, "level", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(openat(at, "file", O_WRONLY | O_CREAT, 0644));
	close(at);
	ck_assert_int_eq(unpack_new(dir, &unpack), 0);
	unpack_free(unpack);
	ck_assert_int_eq(rmdir(dir), 0);
	free(dir);
}
END_TEST

START_TEST(checkout_does_not_leave_its_directory)
{
	char *tree = snapshot(), *error;

	SH("mkdir ../safe; ln -s safe ../out");
	error = checkout_error(tree);
	EXPECT_IN(error, "/out: Not a directory");
	EXPECT_IN(error, "remove it");
	free(error);
	free(tree);
	SH("rm ../out; test -z \"$(ls -A ../safe)\"");
}
END_TEST

/* Trees that git itself does not make. */
static const struct { const char *entries, *says; } hostile[] = {
	{ "120000 blob $l\\ta\\n040000 tree $t\\ta\\n", "/a/x: the tree contains this name below a file or link" },
	{ "100644 blob $b\\ta\\n040000 tree $t\\ta\\n", "/a/x: the tree contains this name below a file or link" },
	{ "040000 tree $t\\ta\\n120000 blob $l\\ta\\n", "/a: the tree contains this name twice" },
	{ "100644 blob $b\\ta\\n100644 blob $b\\ta\\n", "/a: the tree contains this name twice" },
	{ "120000 blob $l\\ta\\n100644 blob $b\\ta\\n", "/a: the tree contains this name twice" },
	{ "100644 blob $b\\t.git\\n", "the name .git, which git does not allow" },
	{ "040000 tree $t\\t.GIT\\n", "the name .GIT/x, which git does not allow" },
	{ "040000 tree $t\\t..\\n", "the name ../x, which git does not allow" },
	{ "100644 blob $b\\t.\\n", "the name ., which git does not allow" },
	{ "100644 blob $b\\t../x\\n", "the name ../x, which git does not allow" },
	{ "100644 blob $b\\t/x\\n", "the name /x, which git does not allow" },
	{ "100644 blob 0123456789012345678901234567890123456789\\tgone\\n",
	    "/gone: git cat-file did not return all of it" },
	{ "100644 blob $t\\tkind\\n", "/kind: git cat-file did not return all of it" },
};

START_TEST(hostile_trees)
{
	char *tree, *error;

	/* mktree sorts and takes no slash: the bytes of the tree are made here. */
	tree = sh("mkdir -p ../safe; l=$(printf ../safe | git hash-object -w --stdin); b=$(echo "
	    "blob | git hash-object -w --stdin); t=$(printf \"100644 blob $b\\tx\\n\" | git mktree);"
	    "printf \"%s\" | perl -ne 'chomp; my ($h, $n) = split /\\t/, $_, 2; my ($m, $k, "
	    "$i) = split / /, $h; $m =~ s/^0//; print \"$m $n\\0\", pack(\"H*\", $i)' >../tree;"
	    "git hash-object -w --literally -t tree ../tree", hostile[_i].entries);
	error = checkout_error(tree);
	EXPECT_IN(error, hostile[_i].says);
	SH("test -z \"$(ls -A ../safe)\"; test ! -e ../x");
	free(error);
	free(tree);
}
END_TEST

START_TEST(nothing_runs_at_a_checkout)
{
	char *tree;

	SH("printf '#!/bin/sh\\necho \"$0\" >>%s/canary\\ncat\\n' >../run; chmod +x ../run;"
	   "for h in post-checkout post-index-change reference-transaction; do cp ../run .git/hooks/$h; done;"
	   "git config core.fsmonitor ../run; git config filter.f.clean ../run; "
	   "git config filter.f.smudge ../run; git config filter.f.process ../run;"
	   "git config filter.f.required true; git config diff.f.textconv ../run; "
	   "printf '* filter=f diff=f\\n' >.gitattributes; rm -f %s/canary", home, home);
	tree = snapshot();
	checkout(tree);
	SH("test ! -e %s/canary; diff -r --exclude=.git . ../out", home);
	free(tree);
}
END_TEST

/* A file of which git cat-file has delivered all. */
START_TEST(no_space_is_a_fault_of_the_host)
{
	char *dir = xasprintf("%s/small", home), *tree, *error;
	struct git_op *op;

	SH("mkdir %s; head -c 40000 /dev/zero >zeros; git add zeros", dir);
	tree = sh("git write-tree");
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("tmpfs", dir, "tmpfs", 0, "size=32k") == 0) {
		char *room = xasprintf("%s/room", dir);

		op = git_op_new(&(struct git_op_spec){ .kind = GIT_CHECKOUT, .workspace = repo,
		    .scratch = scratch, .tree = tree, .dir = room });
		ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
		ck_assert_int_eq(git_op_fault(op), ENOSPC);
		error = xasprintf("%s/zeros: No space left on device", room);
		ck_assert_str_eq(git_op_error(op), error);
		git_op_free(op);
		ck_assert_int_eq(umount(dir), 0);
		free(error);
		free(room);
	}
	free(tree);
	free(dir);
}
END_TEST

START_TEST(large_blobs_do_not_fill_memory)
{
	char *tree, *status, *at;
	long before, after;
	size_t size;

	SH("truncate -s 200M hole; git config core.bigFileThreshold 1m");
	tree = done_tree(op_with(GIT_SNAPSHOT, NULL, NULL, NULL));
	ck_assert_int_eq(file_read(AT_FDCWD, "/proc/self/status", 65536, &status, &size), 0);
	at = strstr(status, "VmHWM:");
	before = strtol(at + 6, NULL, 10);
	free(status);
	checkout(tree);
	ck_assert_int_eq(file_read(AT_FDCWD, "/proc/self/status", 65536, &status, &size), 0);
	at = strstr(status, "VmHWM:");
	after = strtol(at + 6, NULL, 10);
	free(status);
	SH("cmp hole ../out/hole");
#ifndef __SANITIZE_ADDRESS__	/* which keeps what was freed */
	ck_assert_int_lt(after - before, 20 * 1024);
#endif
	ck_assert_int_ge(after, before);
	free(tree);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("git_checkout");

	tcase_add_test(tc, matching);
	tcase_add_test(tc, artifacts_are_in_no_tree);
	tcase_add_test(tc, artifacts_are_no_change_for_verify);
	tcase_add_loop_test(tc, edits_beside_a_checkout, 0, 6);
	tcase_add_test(tc, tracked_artifacts);
	tcase_add_test(tc, artifacts_in_a_repository_inside);
	tcase_add_test(tc, base_is_pinned);
	tcase_add_test(tc, a_submodule_cannot_be_overlooked);
	tcase_add_loop_test(tc, excluded_and_nothing_else, 0, (int)(sizeof(odd) / sizeof(odd[0])));
	tcase_add_test(tc, exclude_keeps_what_is_there);
	tcase_add_test(tc, exclude_of_worktree_and_submodule);
	tcase_add_test(tc, exclude_that_cannot_be_written);
	tcase_add_loop_test(tc, checkout_is_exact, 0, (int)(sizeof(layouts) / sizeof(layouts[0])));
	tcase_add_test(tc, checkout_of_repositories);
	tcase_add_test(tc, checkout_of_a_sha256_repository);
	tcase_add_test(tc, checkout_empties_first);
	tcase_add_test(tc, emptying_knows_no_depth);
	tcase_add_test(tc, checkout_does_not_leave_its_directory);
	tcase_add_loop_test(tc, hostile_trees, 0, (int)(sizeof(hostile) / sizeof(hostile[0])));
	tcase_add_test(tc, nothing_runs_at_a_checkout);
	tcase_add_test(tc, no_space_is_a_fault_of_the_host);
	tcase_add_test(tc, large_blobs_do_not_fill_memory);
	return run_tests("git_checkout", tc);
}
