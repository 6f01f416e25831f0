/* SPDX-License-Identifier: MIT */
/* Git operations against plain git: results compared with git add. */
#include "git/toplevel.h"
#include "git_repo.h"

#include <sys/resource.h>

#include "record/exit_record.h"

static char patch[1 << 20];	/* stdout of the last step */

/* What git add -A would commit, in an index of its own. */
static char *truth(void)
{
	return sh("cp .git/index %s/truth 2>/dev/null || true; export GIT_INDEX_FILE=%s/truth; "
	    "git add -A 2>/dev/null; git write-tree; rm -f %s/truth", home, home, home);
}

static void expect_truth(void)
{
	char *ours = snapshot(), *theirs = truth();

	if (strcmp(ours, theirs) != 0)
		ck_abort_msg("%s", sh("git diff-tree -r %s %s", theirs, ours));
	free(ours);
	free(theirs);
}

/* The error of a snapshot that must fail. */
static char *snapshot_error(void)
{
	struct git_op *op = op_of(GIT_SNAPSHOT, NULL, NULL);
	enum step_next next = drive(op);
	char *error;

	ck_assert_int_eq(next, STEP_NEXT_FAILED);
	error = xstrdup(git_op_error(op));
	git_op_free(op);
	return error;
}

static void read_patch(void)
{
	char *file = xasprintf("%s/stdout.%016x", record, 0), *data;
	size_t size;

	ck_assert_int_eq(file_read(AT_FDCWD, file, sizeof(patch) - 1, &data, &size), 0);
	for (size_t i = 0; i < size; i++)
		patch[i] = data[i] != '\0' ? data[i] : '?';
	patch[size] = '\0';
	free(data);
	free(file);
}

/* ---- snapshot ---- */

START_TEST(clean_tree_is_head)
{
	char *tree = snapshot(), *head = sh("git rev-parse 'HEAD^{tree}'");

	ck_assert_str_eq(tree, head);
	ck_assert_int_eq(processes, 4);
	free(tree);
	free(head);
}
END_TEST

/* Each line is a state of the work tree in which we must agree with git add -A. */
static const char *const states[] = {
	"echo more >>a.c; echo new >n.c; mkdir -p e/f; echo x >e/f/g",
	"echo staged >a.c; git add a.c; echo unstaged >a.c; echo s >s.c; git add s.c",
	"rm a.c; git rm -q d/b.c",
	"rm -r a.c d .gitignore",
	"chmod +x a.c; echo '#!/bin/sh' >run; chmod 755 run; git add a.c; chmod 700 d/b.c",
	"ln -s /etc/passwd abs; ln -s a.c rel; ln -s nowhere broken; ln -s d dir; ln -s ../../.. "
	    "up; printf x >e; ln -s \"$(printf 'nl\\nx')\" odd", "rm a.c; ln -s d/b.c a.c",
	"ln -s a.c l; git add l; git commit -qm l; rm l; cp a.c l",
	"rm a.c; mkdir a.c; echo in >a.c/x", "rm -r d; echo file >d",
	"mv d e; ln -s e d",				/* d/b.c is now behind a link */
	"mkdir -p p/q/r; echo 1 >p/q/r/s; git add p; git commit -qm p; mv p/q z; ln -s ../z p/q",
	"echo 1 >\"$(printf 'new\\nline')\"; echo 2 >\"$(printf 'cr\\r')\"; echo 3 >'\"quoted\"'; "
	    "echo 4 >' lead and trail '; echo 5 >\"$(printf 'tab\\tback\\\\slash')\"",
	"echo 1 >\"$(printf 'latin1 \\344\\366')\"; echo 2 >'häß ☃'; echo 3 >\"$(printf 'bad "
	    "\\377\\376')\"; echo 4 >-n; echo 5 >'? x'; echo 6 >'\\\\'; echo 7 >\"$(printf '\\001\\177')\"",
	"echo 1 >'H 100644 78981922613b2afb6025042ff6bd878ac1994e85 0\tx'",
	"git add -A; echo ita >ita.c; git add -N ita.c; echo gone >gone.c; git add -N gone.c; rm gone.c",
	"git checkout -qb o; echo o >a.c; echo o >only; git add .; git commit -qm o; "
	    "git checkout -q main; echo m >a.c; git rm -q d/b.c; git commit -qam m; "
	    "git merge -q o >/dev/null || true; test -n \"$(git ls-files -u)\"",
	"git checkout -qb o; echo o >d/b.c; git commit -qam o; git checkout -q main; git rm -q d/b.c; git "
	    "commit -qm m; git merge -q o >/dev/null || true; rm -f d/b.c; test -n \"$(git ls-files -u)\"",
	"mkdir out; echo x >out/x; echo x >x.o; echo f >forced.o; git add -f forced.o; "
	    "echo changed >forced.o", "mkdir empty; mkfifo pipe; mkdir -p deep/empty",
	"rm a.c d/b.c .gitignore; git add -A", ": >a.c; : >empty",
	"git update-index --assume-unchanged a.c; cp .git/index .git/i; "
	    "git update-index --no-assume-unchanged a.c; echo x >a.c; cp .git/i .git/index; "
	    "rm .git/i; git update-index --no-assume-unchanged a.c", "git rm -q --cached a.c",
	"git stash -q -u 2>/dev/null || true; echo x >x.c; git add x.c; git stash -q; echo y >y.c",
	"git config core.splitIndex true; git update-index --split-index; echo x >x.c; "
	    "git add x.c; echo y >y.c",
	"git config core.untrackedCache true; git update-index --untracked-cache; "
	    "git status -s >/dev/null; echo y >y.c",
	"git config index.version 4; git update-index --index-version 4; echo y >y.c",
	/* repositories in the repository */
	"git init -q n; cd n; echo x >x; git add x; git commit -qm n",
	"git init -q d/n; cd d/n; echo x >x; git add x; git commit -qm n; echo dirty >x; echo new >y",
	"git init -q n; (cd n; echo x >x; git add x; git commit -qm n); git add n 2>/dev/null; "
	    "git commit -qm n; cd n; echo y >y; git add y; git commit -qm n2",
	"git init -q ../sub; (cd ../sub; echo x >x; git add x; git commit -qm n); "
	    "git submodule -q add ../sub m; git commit -qm m; cd m; git checkout -q --detach; "
	    "echo z >z; git add z; git commit -qm z",
	"git init -q ../sub; (cd ../sub; echo x >x; git add x; git commit -qm n); "
	    "git submodule -q add ../sub m; git commit -qm m; git submodule -q deinit -f m",
	"git init -q ../sub; (cd ../sub; echo x >x; git add x; git commit -qm n); "
	    "git submodule -q add ../sub m; git commit -qm m; rm -rf m",
	"git init -q n; (cd n; echo x >x; git add x; git commit -qm n); git add n 2>/dev/null; "
	    "git commit -qm n; rm -rf n; echo file >n",
	"rm a.c; git init -q a.c; cd a.c; echo x >x; git add x; git commit -qm n",
	"git init -q --bare fixture.git; printf 'gitdir: nowhere\\n' >d/.gitx",
	"git worktree add -q ../wt; cd ../wt; echo x >x",
};

START_TEST(agrees_with_git_add)
{
	SH("%s", states[_i]);
	expect_truth();
	SH("rm -rf ../wt ../sub");
}
END_TEST

START_TEST(worktree)
{
	char *top = repo, *tree, *want;

	SH("git worktree add -q ../wt; echo x >../wt/x");
	repo = xasprintf("%s/wt", home);
	tree = snapshot();
	want = sh("export GIT_INDEX_FILE=%s/truth; git add -A; git write-tree", home);
	ck_assert_str_eq(tree, want);
	free(tree);
	free(want);
	free(repo);
	repo = top;
}
END_TEST

START_TEST(sparse_checkout_keeps_what_is_not_there)
{
	char *tree, *head;

	SH("git sparse-checkout set --no-cone '/a.c' '/.gitignore'; test ! -e d/b.c");
	tree = snapshot();
	head = sh("git rev-parse 'HEAD^{tree}'");
	ck_assert_str_eq(tree, head);
	free(tree);
	free(head);
	SH("git sparse-checkout set --cone --sparse-index d; test -e d/b.c; echo x >d/x");
	expect_truth();
}
END_TEST

START_TEST(no_commit_yet)
{
	char *tree;

	SH("rm -rf .git .gitignore a.c d; git init -q");
	tree = snapshot();
	ck_assert_str_eq(tree, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
	SH("git cat-file -e %s", tree);
	free(tree);
	SH("echo x >x");
	expect_truth();
}
END_TEST

START_TEST(sha256_repository)
{
	char *tree;

	SH("rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm x; echo new >new; ln -s new l");
	expect_truth();
	tree = snapshot();
	ck_assert_uint_eq(strlen(tree), 64);
	free(tree);
}
END_TEST

/* git add refuses what is neither file nor link; ls-files passes over it when it is not tracked. */
START_TEST(pipe_in_place_of_a_file)
{
	char *tree, *names;

	SH("mkfifo p; rm a.c; mkfifo a.c");
	tree = snapshot();
	names = sh("git ls-tree -r --name-only %s", tree);
	ck_assert_str_eq(names, ".gitignore\nd/b.c");
	free(tree);
	free(names);
}
END_TEST

/* A repository inside without a commit: git add refuses it, we take its files. */
START_TEST(unborn_repository_inside)
{
	char *tree, *names;

	SH("git init -q n; cd n; mkdir s; echo x >x; git add x; echo y >s/y; "
	    "printf 'z\\n' >.gitignore; echo z >z; git init -q deep; echo q >deep/q");
	tree = snapshot();
	names = sh("git ls-tree -r --name-only %s", tree);
	ck_assert_str_eq(names, ".gitignore\na.c\nd/b.c\nn/.gitignore\nn/deep/q\nn/s/y\nn/x");
	free(tree);
	free(names);
}
END_TEST

START_TEST(nothing_of_the_repository_runs)
{
	char *tree;

	SH("printf '#!/bin/sh\\necho \"$0\" >>%s/canary\\ncat\\n' >../run; chmod +x ../run;"
	   "for h in pre-commit post-index-change reference-transaction post-checkout "
	   "fsmonitor-watchman; do cp ../run .git/hooks/$h; done;"
	   "git config core.fsmonitor ../run; git config filter.f.clean ../run; "
	   "git config filter.f.smudge ../run; git config filter.f.process ../run;"
	   "git config filter.f.required true; git config diff.external ../run; "
	   "git config diff.f.textconv ../run; git config diff.f.command ../run;"
	   "git config core.pager ../run; git config core.editor ../run; "
	   "git config core.sshCommand ../run; git config gpg.program ../run;"
	   "printf '* filter=f diff=f\\n' >.gitattributes; echo x >>a.c; rm -f %s/canary", home, home);
	tree = snapshot();
	for (int kind = GIT_MEASURE; kind <= GIT_PIN; kind++) {
		char *base = sh("GIT_CONFIG_PARAMETERS= git -c core.fsmonitor=false -c "
		    "core.hooksPath=/dev/null rev-parse 'HEAD^{tree}'");
		struct git_op *op = op_of((enum git_op_kind)kind, kind == GIT_PIN ? tree : base, "refs/rl/passed/1/t1");

		ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		git_op_free(op);
		free(base);
	}
	free(tree);
	SH("test ! -e %s/canary", home);
	/* and the canary can sing: */
	SH("git -c filter.f.process= add a.c || true; test -e %s/canary", home);
}
END_TEST

START_TEST(filters_are_not_applied)
{
	char *tree, *bytes;

	SH("git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' >crlf; echo '* text=auto ident' >.gitattributes");
	tree = snapshot();
	bytes = sh("git cat-file blob %s:crlf | od -An -c | tr -d ' \\n'", tree);
	ck_assert_str_eq(bytes, "a\\r\\nb\\r\\n");
	free(tree);
	free(bytes);
}
END_TEST

START_TEST(replaced_objects_do_not_show)
{
	char *base = snapshot();
	struct git_op *op;

	SH("git replace $(git rev-parse HEAD:a.c) $(echo other | git hash-object -w --stdin); echo mine >a.c");
	op = op_of(GIT_MEASURE, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	read_patch();
	EXPECT_IN(patch, "\n-one\n+mine\n");
	git_op_free(op);
	free(base);
}
END_TEST

START_TEST(many_files)
{
	/* Almost all are empty: it is the listing that matters, and few objects spare the disk. */
	SH("mkdir many; cd many; seq 0 99 | xargs mkdir; for d in *; do (cd $d; "
	    "seq 1000 | xargs touch; echo $d >500); done");
	expect_truth();
	ck_assert_int_eq(processes, 4);
}
END_TEST

START_TEST(large_file)
{
	SH("git config core.bigFileThreshold 1m; head -c 3000000 /dev/urandom >big; truncate -s 5M hole");
	expect_truth();
}
END_TEST

/* ---- a work tree that moves ---- */

START_TEST(vanishing_once_is_looked_at_again)
{
	char *ours, *theirs;
	struct git_op *op = op_of(GIT_SNAPSHOT, NULL, NULL);

	SH("echo x >here; echo x >there");
	between = "rm here";
	between_step = "hash-object";
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_int_eq(processes, 6);
	ours = xstrdup(git_op_tree(op));
	theirs = truth();
	ck_assert_str_eq(ours, theirs);
	git_op_free(op);
	free(ours);
	free(theirs);
}
END_TEST

START_TEST(changing_once_is_looked_at_again)
{
	char *ours, *theirs;
	struct git_op *op = op_of(GIT_SNAPSHOT, NULL, NULL);

	between = "echo longer than before >>a.c";
	between_step = "hash-object";
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_int_eq(processes, 6);
	ours = xstrdup(git_op_tree(op));
	theirs = truth();
	ck_assert_str_eq(ours, theirs);
	git_op_free(op);
	free(ours);
	free(theirs);
}
END_TEST

START_TEST(changing_always_is_an_error)
{
	char *error;

	between = "always echo more >>d/b.c";
	between_step = "hash-object";
	error = snapshot_error();
	EXPECT_IN(error, "d/b.c changes while git reads it");
	EXPECT_IN(error, ".gitignore");
	free(error);
}
END_TEST

START_TEST(vanishing_always_is_an_error)
{
	char *error;

	SH("echo x >here1; echo x >here2");
	between = "always rm -f \"$(ls here* | head -n 1)\"";
	between_step = "hash-object";
	error = snapshot_error();
	EXPECT_IN(error, "here2");
	free(error);
}
END_TEST

START_TEST(unreadable_file_is_named)
{
	char *error;

	SH("echo x >d/secret; chmod 000 d/secret; if [ $(id -u) = 0 ]; then chown -R 65534 .; fi");
	as_nobody = true;
	error = snapshot_error();
	EXPECT_IN(error, "d/secret");
	EXPECT_IN(error, "Permission denied");
	EXPECT_IN(error, "make it readable");
	free(error);
}
END_TEST

START_TEST(unreadable_directory_is_named)
{
	char *error;

	SH("mkdir d/shut; echo x >d/shut/x; chmod 000 d/shut; if [ $(id -u) = 0 ]; then chown -R 65534 .; fi");
	as_nobody = true;
	error = snapshot_error();
	EXPECT_IN(error, "d/shut");
	EXPECT_IN(error, "make it readable");
	free(error);
	SH("echo d/shut >>.gitignore");
	expect_truth();
	SH("chmod 700 d/shut");
}
END_TEST

START_TEST(broken_repository)
{
	char *error;

	SH("echo rubbish >.git/index");
	error = snapshot_error();
	EXPECT_IN(error, "git ls-files");
	EXPECT_IN(error, "git status");
	free(error);
	SH("rm -rf .git");
	error = snapshot_error();
	EXPECT_IN(error, "not a git repository");
	EXPECT_IN(error, repo);
	free(error);
}
END_TEST

/* How a git has ended that has not said a word: one of that name is first on PATH. */
static const struct {
	const char *script;	/* NULL: there is none on PATH */
	const char *said;
} silences[] = {
	{ NULL, "exec git: No such file or directory" },
	{ "exit 129", "exited with status 129 without output" },
	{ "kill -9 $$", "was killed by signal 9 without output" },
};

START_TEST(silent_failure)
{
	struct git_op *op = op_of(GIT_SNAPSHOT, NULL, NULL);
	char *path = xstrdup(getenv("PATH")), *first;

	if (silences[_i].script != NULL)
		SH("mkdir ../first; printf '#!/bin/sh\n%s\n' >../first/git; chmod +x ../first/git",
		    silences[_i].script);
	first = silences[_i].script != NULL ? xasprintf("%s/first:%s", home, path) : xasprintf("%s/first", home);
	setenv("PATH", first, 1);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	setenv("PATH", path, 1);
	EXPECT_IN(git_op_error(op), silences[_i].said);
	git_op_free(op);
	free(first);
	free(path);
}
END_TEST

/* Its shim has ended it. */
START_TEST(too_late)
{
	static const struct exit_record late = { .how = EXIT_BY_SIGNAL, .status = 15, .by = EXIT_WALL };
	struct git_op *op = op_of(GIT_SNAPSHOT, NULL, NULL);
	int dirfd = open(record, O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(exit_record_write(dirfd, &late, false), 0);
	ck_assert_int_eq(git_op_result(op, dirfd), 0);
	EXPECT_IN(git_op_error(op), "timed out and was killed");
	close(dirfd);
	git_op_free(op);
}
END_TEST

START_TEST(left_lock_does_no_harm)
{
	char *file = xasprintf("%s/index.lock", scratch), *tree;

	ck_assert_int_eq(file_write(AT_FDCWD, file, "", 0, 0600, false), 0);
	tree = snapshot();
	free(tree);
	free(file);
}
END_TEST

/* ---- measure, verify, pin ---- */

START_TEST(measure_leaves_the_patch)
{
	char *base = snapshot(), *before, *want;
	struct git_op *op;

	SH("echo changed >>a.c; echo new >'häß.c'; git mv d/b.c d/moved.c; ln -s x l; printf "
	    "'a\\0b' >bin; chmod +x a.c; git config diff.noprefix true; git config color.ui always");
	before = fingerprint();
	op = op_of(GIT_MEASURE, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_int_eq(processes, 7);
	expect_same(before);
	read_patch();
	EXPECT_IN(patch, "--- a/a.c\n+++ b/a.c\n");
	EXPECT_IN(patch, "old mode 100644\nnew mode 100755\n");
	EXPECT_IN(patch, "+changed\n");
	EXPECT_IN(patch, "+++ b/häß.c\n");
	EXPECT_IN(patch, "rename from d/b.c\nrename to d/moved.c\n");
	EXPECT_IN(patch, "new file mode 120000\n");
	EXPECT_IN(patch, "--- /dev/null\n+++ b/bin\n@@ -0,0 +1 @@\n+a?b\n");
	want = truth();
	ck_assert_str_eq(git_op_tree(op), want);
	git_op_free(op);
	/* The patch makes the tree out of the base. */
	SH("git read-tree --index-output=%s/i %s; GIT_INDEX_FILE=%s/i git diff --cached --quiet %s",
	    home, base, home, base);
	free(base);
	free(before);
	free(want);
}
END_TEST

/* Nothing that the repository is configured with turns a change into "Binary files differ". */
START_TEST(a_patch_is_text)
{
	static const char *const ways[] = {
		"mkdir -p .git/info; echo '* -diff' >.git/info/attributes",
		"git config core.bigFileThreshold 1",
		"echo '* -diff' >.git/own; git config core.attributesFile \"$PWD/.git/own\"",
		"git config diff.x.binary true; mkdir -p .git/info; echo '* diff=x' >.git/info/attributes",
		"echo '*.c -diff' >.gitattributes",
		"printf 'NUL\\0\\n' >>a.c",
		"git config diff.renameLimit 1; git config diff.context 0; git config diff.noprefix true",
		"cp a.c was; printf 'x\\0' >a.c; mv was a.c",
	};
	char *base = snapshot();
	struct git_op *op;

	SH("%s; echo EVIL >>a.c", ways[_i]);
	op = op_of(GIT_MEASURE, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	read_patch();
	EXPECT_IN(patch, "\n+EVIL\n");
	ck_assert_ptr_null(strstr(patch, "Binary files"));
	ck_assert_ptr_null(strstr(patch, "Not in this diff"));
	git_op_free(op);
	free(base);
}
END_TEST

/* A file that was binary before is named, with its sizes; so are the largest of a change that is
 * too large. The rest of the patch is complete, and git apply takes it. */
START_TEST(a_patch_names_what_it_leaves_out)
{
	char *base, *tree, *want;
	struct git_op *op;

	SH("printf 'a\\0b' >logo; printf 'c\\0d' >gone; printf 'e\\0f' >'to\nmove'; printf 'g\\0h' >kept; "
	    "printf 'i\\0j' >text; echo x >bin; seq 9999 >moved");
	base = snapshot();
	SH("printf 'a\\0bcd' >logo; rm gone; mv 'to\nmove' 'new\nplace'; chmod +x kept; echo text >text; "
	    "printf 'x\\0y' >bin; mv moved there; echo new >>a.c; "
	    "yes | head -c 14000000 >large; yes no | head -c 12000000 >small; git config core.bigFileThreshold 1");
	op = op_of(GIT_MEASURE, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	want = sh("export GIT_INDEX_FILE=%s/i; cd %s; git --git-dir=%s/.git read-tree %s; "
	    "git --git-dir=%s/.git apply --cached stdout.*0; git --git-dir=%s/.git diff --cached --name-only %s; "
	    "grep -a '^Not in' stdout.*0; grep -ac '^Binary' stdout.*0 || true", home, record, repo, base, repo,
	    repo, tree);
	ck_assert_str_eq(want, "gone\nlarge\nlogo\ntext\n"
	    "Not in this diff (binary, 3 bytes before, 0 bytes now): gone\n"
	    "Not in this diff (large, 0 bytes before, 14000000 bytes now): large\n"
	    "Not in this diff (binary, 3 bytes before, 5 bytes now): logo\n"
	    "Not in this diff (binary, 3 bytes before, 5 bytes now): text\n0");
	free(want);
	free(tree);
	free(base);
}
END_TEST

START_TEST(measure_without_change_is_empty)
{
	char *base = snapshot();
	struct git_op *op = op_of(GIT_MEASURE, base, NULL);

	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_int_eq(processes, 4);
	read_patch();
	ck_assert_str_eq(patch, "");
	ck_assert_str_eq(git_op_tree(op), base);
	git_op_free(op);
	free(base);
}
END_TEST

START_TEST(verify_untouched)
{
	char *base, *before;
	struct git_op *op;

	SH("echo mine >>a.c; echo new >new.c");
	base = snapshot();
	SH("mkdir out; echo built >out/x; echo o >x.o; touch a.c; git add new.c");
	before = fingerprint();
	op = op_of(GIT_VERIFY, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_int_eq(processes, 4);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_ptr_null(git_op_appeared(op));
	ck_assert_str_eq(git_op_tree(op), base);
	expect_same(before);
	git_op_free(op);
	free(before);
	free(base);
}
END_TEST

/* What appeared stays where it is, is told once, and is no work as long as it is as it was. */
START_TEST(verify_leaves_what_is_new)
{
	char *base, *before, *beside, *tree, *names;
	struct git_op *op;

	SH("echo mine >new.c; mkdir keep");
	base = snapshot();
	SH("echo n >notes.md; mkdir -p r/s keep; echo r >r/s/t; ln -s /etc l; echo k >keep/k; "
	   "printf x >\"$(printf 'nl\\nx')\"; chmod +x notes.md;"
	   "git init -q n; cd n; echo x >x; git add x; git commit -qm n");
	before = fingerprint();
	op = op_of(GIT_VERIFY, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_str_eq(git_op_appeared(op), "keep/k, l, n, nl\\nx, notes.md, r/s/t");
	expect_same(before);
	beside = xstrdup(git_op_appeared_tree(op));
	git_op_free(op);
	names = sh("git ls-tree -r --name-only %s | tr '\\n' ' '", beside);
	ck_assert_str_eq(names, "keep/k l n \"nl\\nx\" notes.md r/s/t ");
	free(names);
	/* the next measure has it not, not even staged, unless it was worked on */
	SH("git add notes.md; echo work >>a.c; echo worked >>r/s/t");
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_MEASURE, .workspace = repo,
	    .scratch = scratch, .tree = base, .appeared_tree = beside });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	names = sh("git diff-tree -r --name-only %s %s", base, tree);
	ck_assert_str_eq(names, "a.c\nr/s/t");
	free(names);
	/* known before, and not told again; one that has gone is forgotten, one that is new
	 * or changed is told */
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_VERIFY, .workspace = repo,
	    .scratch = scratch, .tree = tree, .appeared_tree = beside });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_ptr_null(git_op_appeared(op));
	free(beside);
	beside = xstrdup(git_op_appeared_tree(op));
	git_op_free(op);
	SH("rm -r l n keep; echo more >>notes.md; echo o >other.md");
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_VERIFY, .workspace = repo,
	    .scratch = scratch, .tree = tree, .appeared_tree = beside });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_appeared(op), "notes.md, other.md");
	names = sh("git ls-tree -r --name-only %s | tr '\\n' ' '", git_op_appeared_tree(op));
	ck_assert_str_eq(names, "\"nl\\nx\" notes.md other.md ");
	free(names);
	free(beside);
	beside = xstrdup(git_op_appeared_tree(op));
	git_op_free(op);
	SH("rm nl* notes.md other.md");
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_VERIFY, .workspace = repo,
	    .scratch = scratch, .tree = tree, .appeared_tree = beside });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_appeared(op));
	ck_assert_ptr_null(git_op_appeared_tree(op));
	git_op_free(op);
	free(beside);
	free(tree);
	free(base);
	free(before);
}
END_TEST

START_TEST(verify_tells_a_bounded_list)
{
	char *base = snapshot();
	struct git_op *op;

	SH("seq -f n%%02g 30 | xargs touch");
	op = op_of(GIT_VERIFY, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	EXPECT_IN(git_op_appeared(op), "n01, n02");
	EXPECT_IN(git_op_appeared(op), "n19, n20 and 10 more");
	git_op_free(op);
	free(base);
}
END_TEST

/* An output that was cut to nothing is no empty tree. */
START_TEST(nothing_is_listed)
{
	static const enum git_op_kind kinds[] = { GIT_SNAPSHOT, GIT_MEASURE, GIT_VERIFY };
	char *base = snapshot(), *empty = sh("git hash-object -t tree /dev/null");
	struct git_op *op;

	/* as if it had been: the index is emptied, and all that is there is ignored */
	SH("echo '*' >.git/info/exclude; cp .git/index ../index");
	if (_i > 0)
		SH("git rm -q -r --cached .");
	else
		SH("mkdir ../bin; printf '#!/bin/sh\\ncase \"$*\" in *ls-files*) exit 0;"
		    "; esac\\nPATH=${PATH#*:} exec git \"$@\"\\n' >../bin/git; chmod +x ../bin/git");
	if (_i == 0) {
		char *path = xasprintf("%s/bin:%s", home, getenv("PATH"));

		setenv("PATH", path, 1);
		free(path);
	}
	op = op_of(kinds[_i], _i > 0 ? base : NULL, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	ck_assert_int_eq(processes, 2);	/* it looks twice */
	EXPECT_IN(git_op_error(op), "no output for ");
	git_op_free(op);
	if (_i > 0) {
		/* what had nothing may have nothing */
		op = op_of(kinds[_i], empty, NULL);
		ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		git_op_free(op);
		SH("find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -r {} +");
		op = op_of(kinds[_i], base, NULL);
		ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		ck_assert_str_eq(git_op_tree(op), empty);
		git_op_free(op);
	}
	free(empty);
	free(base);
}
END_TEST

START_TEST(verify_names_what_changed)
{
	char *base = snapshot();
	struct git_op *op;

	SH("echo x >>a.c; rm d/b.c; chmod +x .gitignore; echo n >n.c");
	op = op_of(GIT_VERIFY, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_changed(op), ".gitignore, a.c, d/b.c");
	ck_assert_str_eq(git_op_appeared(op), "n.c");
	git_op_free(op);
	free(base);
}
END_TEST

/* What others keep in the work tree and write meanwhile is as it is of the work, and whoever
 * changes anything else is seen. */
START_TEST(others_write)
{
	char *others[] = { (char[]){ "list.json" }, (char[]){ "kept" }, (char[]){ "-none" }, NULL };
	struct git_op_spec spec = { .kind = GIT_MEASURE, .workspace = repo, .scratch = scratch,
	    .shared_paths = others };
	struct git_op *op;
	char *base, *head_tree, *tree;

	SH("echo 1 >list.json; mkdir kept; echo k >kept/a; echo k >kept/b; "
	    "echo 2 >'list.json.tmp'; git add list.json kept/a");
	base = snapshot();
	SH("echo 11 >list.json; rm kept/a; echo n >kept/n; echo t >list.json.tmp42; "
	    "echo work >>a.c; git add list.json");
	spec.tree = base;
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	read_patch();
	ck_assert_ptr_nonnull(strstr(patch, "+work"));
	ck_assert(strstr(patch, "list.json") == NULL && strstr(patch, "kept") == NULL);
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	/* what was of the work before they came stays of it */
	head_tree = sh("git rev-parse HEAD^{tree}");
	spec.tree = head_tree;
	spec.shared_paths_tree = tree;
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_tree(op), tree);
	git_op_free(op);
	spec = (struct git_op_spec){ .kind = GIT_VERIFY, .workspace = repo, .scratch = scratch,
	    .shared_paths = others, .tree = tree };
	SH("echo 111 >list.json; rm -r kept; echo x >kept; rm list.json.tmp42");
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_ptr_null(git_op_appeared(op));
	git_op_free(op);
	SH("echo x >>a.c; echo n >n.c; echo y >>list.json.tmp");
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_changed(op), "a.c, list.json.tmp");
	ck_assert_str_eq(git_op_appeared(op), "n.c");
	git_op_free(op);
	free(tree);
	free(head_tree);
	free(base);
}
END_TEST

/* A file that gave way to a directory, and the other way round: gone and new. */
START_TEST(verify_sees_types)
{
	char *base = snapshot();
	struct git_op *op;

	SH("rm a.c; mkdir a.c; echo x >a.c/x; rm -r d; ln -s /tmp d");
	op = op_of(GIT_VERIFY, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_changed(op), "a.c, d/b.c");
	ck_assert_str_eq(git_op_appeared(op), "a.c/x, d");
	git_op_free(op);
	free(base);
}
END_TEST

START_TEST(pin_keeps_a_tree)
{
	struct git_op *op;
	char *tree, *got;

	SH("echo passed >new.c");
	tree = snapshot();
	op = op_of(GIT_PIN, tree, "refs/rl/passed/7/t1");
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_int_eq(processes, 1);
	ck_assert_str_eq(git_op_tree(op), tree);
	git_op_free(op);
	SH("rm new.c; git gc -q --prune=now");
	got = sh("git rev-parse refs/rl/passed/7/t1; git show refs/rl/passed/7/t1:new.c");
	ck_assert_int_eq(strncmp(got, tree, strlen(tree)), 0);
	EXPECT_IN(got, "passed");
	free(got);
	SH("mkdir -p .git/refs/rl/passed/7; touch .git/refs/rl/passed/7/t1.lock");
	op = op_of(GIT_PIN, tree, "refs/rl/passed/7/t1");	/* again, as after a crash */
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	git_op_free(op);
	op = op_of(GIT_PIN, "0123456789012345678901234567890123456789", "refs/rl/passed/8/t1");
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	EXPECT_IN(git_op_error(op), "git update-ref");
	git_op_free(op);
	free(tree);
}
END_TEST

static char *top_of(const char *dir)
{
	char *top;

	ck_assert_int_eq(git_toplevel(dir, &top), 0);
	return top;
}

START_TEST(finds_the_top)
{
	char *deep, *top, *root;

	SH("mkdir -p d/e; git worktree add -q ../wt; mkdir -p ../wt/x ../plain/.git/x d/e/.git; ln -s repo/d ../link");
	deep = xasprintf("%s/d/e", repo);
	top = top_of(deep);
	ck_assert_str_eq(top, repo);
	free(top);
	free(deep);
	deep = xasprintf("%s/link", home);
	top = top_of(deep);
	ck_assert_str_eq(top, repo);
	free(top);
	free(deep);
	deep = xasprintf("%s/wt/x", home);
	root = xasprintf("%s/wt", home);
	top = top_of(deep);
	ck_assert_str_eq(top, root);
	free(top);
	free(deep);
	free(root);
	deep = xasprintf("%s/.git/refs", repo);
	ck_assert_ptr_null(top_of(deep));
	free(deep);
	deep = xasprintf("%s/plain/.git/x", home);
	ck_assert_ptr_null(top_of(deep));
	free(deep);
	ck_assert_ptr_null(top_of("/nonexistent"));
	ck_assert_ptr_null(top_of("/"));
}
END_TEST

/* What cannot be looked at is neither a repository nor none. */
START_TEST(a_top_that_cannot_be_found_out)
{
	struct rlimit limit;
	char *deep, *top;
	int rv;

	SH("git worktree add -q ../wt; mkdir -p ../wt/x");
	deep = xasprintf("%s/wt/x", home);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	rv = git_toplevel(deep, &top);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(rv, -EMFILE);
	ck_assert_ptr_null(top);
	free(deep);
}
END_TEST

START_TEST(names_are_made_visible)
{
	char *base = snapshot();
	struct git_op *op;

	SH("printf x >\"$(printf 'esc\\033[31m')\"");
	op = op_of(GIT_VERIFY, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_appeared(op), "esc\\x1b[31m");
	git_op_free(op);
	free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("git");

	tcase_add_test(tc, clean_tree_is_head);
	tcase_add_loop_test(tc, agrees_with_git_add, 0, (int)(sizeof(states) / sizeof(states[0])));
	tcase_add_test(tc, worktree);
	tcase_add_test(tc, sparse_checkout_keeps_what_is_not_there);
	tcase_add_test(tc, no_commit_yet);
	tcase_add_test(tc, sha256_repository);
	tcase_add_test(tc, pipe_in_place_of_a_file);
	tcase_add_test(tc, unborn_repository_inside);
	tcase_add_test(tc, nothing_of_the_repository_runs);
	tcase_add_test(tc, filters_are_not_applied);
	tcase_add_test(tc, replaced_objects_do_not_show);
	tcase_add_test(tc, many_files);
	tcase_add_test(tc, large_file);
	tcase_add_test(tc, vanishing_once_is_looked_at_again);
	tcase_add_test(tc, changing_once_is_looked_at_again);
	tcase_add_test(tc, changing_always_is_an_error);
	tcase_add_test(tc, vanishing_always_is_an_error);
	tcase_add_test(tc, unreadable_file_is_named);
	tcase_add_test(tc, unreadable_directory_is_named);
	tcase_add_test(tc, broken_repository);
	tcase_add_test(tc, too_late);
	tcase_add_loop_test(tc, silent_failure, 0, sizeof(silences) / sizeof(silences[0]));
	tcase_add_test(tc, left_lock_does_no_harm);
	tcase_add_test(tc, measure_leaves_the_patch);
	tcase_add_loop_test(tc, a_patch_is_text, 0, 8);
	tcase_add_test(tc, a_patch_names_what_it_leaves_out);
	tcase_add_test(tc, measure_without_change_is_empty);
	tcase_add_test(tc, verify_untouched);
	tcase_add_test(tc, verify_leaves_what_is_new);
	tcase_add_test(tc, verify_tells_a_bounded_list);
	tcase_add_loop_test(tc, nothing_is_listed, 0, 3);
	tcase_add_test(tc, verify_names_what_changed);
	tcase_add_test(tc, others_write);
	tcase_add_test(tc, verify_sees_types);
	tcase_add_test(tc, pin_keeps_a_tree);
	tcase_add_test(tc, finds_the_top);
	tcase_add_test(tc, a_top_that_cannot_be_found_out);
	tcase_add_test(tc, names_are_made_visible);
	return run_tests("git", tc);
}
