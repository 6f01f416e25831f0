/* SPDX-License-Identifier: MIT */
/* The end of a task's work tree: nothing in it is lost, whatever an agent did to it, and
 * nothing beside it goes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "git/worktree_admin.h"
#include "git_last.h"

#define BRANCH "rl/42/t1"
#define REF "refs/rl/salvage/42/t1"

static char *dir, *start;	/* the work tree; the commit that it was made at */
static char **artifacts;

static struct git_op *op_for(enum git_op_kind kind)
{
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch, .dir = dir,
	    .branch = BRANCH, .commit = start, .ref = kind == GIT_WORKTREE_REMOVE ? REF : NULL,
	    .message = "rld: what was left of t1\n", .artifacts = artifacts };

	return git_op_new(&spec);
}

static enum step_next run(enum git_op_kind kind)
{
	struct git_op *op = op_for(kind);
	enum step_next next = drive(op);

	take(op);
	return next;
}

static void make(void)
{
	free(dir);
	free(start);
	dir = xasprintf("%s/trees/t 1", home);
	start = sh("git rev-parse HEAD");
	ck_assert_msg(run(GIT_WORKTREE_ADD) == STEP_NEXT_DONE, "%s", error);
}

/* Nothing is left of it, and of the user's own nothing has moved. */
static void clear(void)
{
	char *before = sh("git rev-parse HEAD; git status --porcelain --ignored; ls -A; "
	    "git worktree list --porcelain | grep ^worktree | grep -v trees; git stash list");

	ck_assert_msg(run(GIT_WORKTREE_REMOVE) == STEP_NEXT_DONE, "%s", error);
	expect_text(before, sh("git rev-parse HEAD; git status --porcelain --ignored; ls -A; "
	    "git worktree list --porcelain | grep ^worktree; git stash list"));
	expect_text("", sh("ls -A ../trees 2>/dev/null || :; grep -l trees .git/worktrees/*/gitdir 2>/dev/null || :"));
	if (commit != NULL)
		expect_text(commit, sh("git rev-parse " REF));
	else
		expect_text("", sh("git for-each-ref " REF));
	SH("git fsck --no-dangling >/dev/null 2>&1");
	free(before);
}

static void stays(const char *sign, const char *remedy)
{
	char *before = sh("find '%s' | sort; git worktree list; git for-each-ref", dir);

	ck_assert_int_eq(run(GIT_WORKTREE_REMOVE), STEP_NEXT_FAILED);
	EXPECT_IN(error, sign);
	EXPECT_IN(error, remedy);
	expect_text(before, sh("find '%s' | sort; git worktree list; git for-each-ref", dir));
	free(before);
}

/* ---- nothing to save ---- */

static const char *const untouched[] = {
	"true",
	"echo '*.c eol=crlf' >.gitattributes; git add .; git commit -qm crlf",
	"git config core.autocrlf true",
	"git config filter.f.smudge 'tr a-z A-Z'; git config filter.f.clean 'tr A-Z a-z'; git config "
	    "filter.f.required true; echo '*.c filter=f' >.gitattributes; git add .; git commit -qm f",
	"echo '*.c ident' >.gitattributes; echo '$Id$' >i.c; git add .; git commit -qm ident",
	"git config core.sparseCheckout true; printf '/*\\n!/d\\n' >.git/info/sparse-checkout; "
	    "git read-tree -mu HEAD", "git sparse-checkout set --cone --sparse-index e",
	"mkfifo ../f; echo x >'new\n"
	    "line'; ln -s nowhere l; printf x >run; chmod +x run; git add .; git commit -qm names",
};

START_TEST(untouched_leaves_nothing)
{
	SH("%s", untouched[_i]);
	make();
	if (_i % 2 == 1)
		SH("mkdir '%s/empty'; mkfifo '%s/fifo'; touch -d 2001-01-01 '%s/a.c'", dir, dir, dir);
	clear();
	ck_assert_ptr_null(commit);
	expect_text("", sh("git branch --list 'rl/*'; ls -d .git/worktrees 2>/dev/null || :"));
}
END_TEST

/* A filter's form of a file that the branch has got since, and one that it has not. */
START_TEST(committed_work_is_not_saved_again)
{
	SH("echo '*.c eol=crlf' >.gitattributes; git add .; git commit -qm crlf");
	make();
	SH("cd '%s'; echo new >n; git add n; git commit -qm n", dir);
	clear();
	ck_assert_ptr_null(commit);
	expect_text("n", sh("git log -1 --format=%%s " BRANCH));
}
END_TEST

/* ---- what is saved ---- */

static const struct { const char *script, *changes; } works[] = {
	{ "echo u >u; mkdir -p x/y; echo z >x/y/z", "A u,A x/y/z," },
	{ "echo o >x.o; mkdir out; echo o >out/o", "A out/o,A x.o," },		/* ignored */
	{ "echo more >>a.c", "M a.c," },
	{ "echo more >>a.c; git add a.c", "M a.c," },
	{ "rm a.c; git rm -q d/b.c", "D a.c,D d/b.c," },
	{ "chmod +x a.c; ln -s ../../keep l; rm d/b.c; ln -s nowhere d/b.c", "M a.c,T d/b.c,A l," },
	{ "rm -r d; ln -s ../../keep d", "A d,D d/b.c," },
	{ "rm a.c; mkdir a.c; echo x >a.c/x", "D a.c,A a.c/x," },
	{ "echo c >c; git add c; git commit -qm c; echo u >u", "A u," },
	{ "git rm -q --cached a.c; git commit -qm c", "A a.c," },
	{ "echo hidden >a.c; git update-index --assume-unchanged a.c; echo hidden >d/b.c; "
	    "git update-index --skip-worktree d/b.c", "M a.c,M d/b.c," },
	{ "echo u >u; touch $(git rev-parse --git-dir)/index.lock $(git rev-parse --git-dir)/HEAD.lock", "A u," },
	{ "echo more >>a.c; echo broken >$(git rev-parse --git-dir)/index", "M a.c," },
	{ "echo u >u; rm $(git rev-parse --git-dir)/index", "A u," },
	{ "echo u >u; rm .git", "A u," },
	{ "echo u >u; echo gitdir: /nowhere >.git", "A u," },
	{ "echo u >u; git init -q --bare ../../evil; echo gitdir: $(realpath ../../evil) >.git", "A u," },
	{ "echo u >u; git clone -q --bare ../../repo ../../evil; "
	    "realpath ../../evil >$(git rev-parse --git-dir)/commondir", "A u," },
	{ "echo u >u; rm -r $(git rev-parse --git-dir)", "A u," },
	{ "echo u >u; rm .git; rm -r ../../repo/.git/worktrees", "A u," },
	{ "echo u >u; echo broken >$(git rev-parse --git-dir)/HEAD", "A u," },
	{ "echo u >u; rm $(git rev-parse --git-dir)/HEAD", "A u," },
	{ "echo u >u; git checkout -q --orphan x", "A u," },
	{ "echo more >>a.c; git stash -q; echo u >u", "A u," },
	{ "git checkout -q --detach; echo u >u", "A u," },
	{ "echo 1 >'a*'; echo 6 >-n; echo 7 >' s p '; echo 8 >häß; echo 9 >'\"q\"'; "
	    "printf x >\"$(printf 'nl\\nx')\"; printf x >\"$(printf 'bad\\377')\"",
	    "A  s p ,A \"\\\"q\\\"\",A -n,A a*,A bad\xff,A häß,A \"nl\\nx\"," },
	{ "printf 'a.c -text filter=f\\n' >.gitattributes; git config filter.f.clean 'touch "
	    "../../canary'; printf 'x\\r\\n\\0' >a.c", "A .gitattributes,M a.c," },
	{ "mkdir -p bare/objects bare/refs; echo ref: refs/heads/x >bare/HEAD; echo x >bare/objects/x",
	    "A bare/HEAD,A bare/objects/x," },
	{ "mkfifo f; chmod 0555 d; echo u >u; chmod 0500 .", "A u," },
	{ "git config user.useConfigOnly true; git config --global --unset user.name; "
	    "git config --global --unset user.email; echo u >u", "A u," },
	{ "echo y >'back\\slash'; echo z >con; mkdir .GITx; echo x >.GITx/x", "A .GITx/x,A \"back\\\\slash\",A con," },
	{ "git update-ref refs/worktree/rl/tree $(git rev-parse HEAD:d); echo u >u", "A u," },
	{ "git update-ref -d refs/worktree/rl/tree; echo u >u", "A u," },
};

START_TEST(saves_all)
{
	char *parent, *there, *saved;

	SH("mkdir ../keep; echo keep >../keep/file");
	make();
	SH("cd '%s'; %s", dir, works[_i].script);
	parent = sh("git rev-parse " BRANCH);
	there = sh("cd '%s'; find . -name .git -prune -o \\( -type f -o -type l \\) -printf '%%p %%l\\n' | "
	    "sort; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum", dir);
	clear();
	ck_assert_ptr_nonnull(commit);
	expect_text(works[_i].changes, sh("git -c core.quotePath=false diff-tree -r --no-renames "
	    "--name-status %s^ %s | tr '\\t\\n' ' ,'", commit, commit));
	expect_text(parent, sh("git rev-parse %s^", commit));
	expect_text("rld: what was left of t1", sh("git log -1 --format=%%s %s", commit));
	expect_text("file", sh("ls ../keep; test ! -e ../canary"));
	/* byte for byte */
	saved = sh("mkdir ../back; cd ../back; git init -q .; echo '* -text -filter -ident' "
	    ">.git/info/attributes; git fetch -q %s %s; git -c core.autocrlf=false checkout -q FETCH_HEAD;"
	    "find . -name .git -prune -o \\( -type f -o -type l \\) -printf '%%p %%l\\n' | sort; "
	    "find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum", repo, REF);
	ck_assert_str_eq(saved, there);
	free(saved);
	free(there);
	free(parent);
}
END_TEST

/* Of a tree with filters only what is new is news, and that is saved as it is. */
START_TEST(filtered_and_changed)
{
	SH("git config filter.f.smudge 'tr a-z A-Z'; git config filter.f.clean 'tr A-Z a-z'; "
	    "echo '*.c filter=f' >.gitattributes; git add .; git commit -qm f; echo two >z.c; "
	    "git add z.c; git commit -qm z");
	make();
	SH("echo Mixed >>'%s/a.c'", dir);
	clear();
	ck_assert_ptr_nonnull(commit);
	expect_text("ONE Mixed", sh("echo $(git show %s:a.c)", commit));
}
END_TEST

START_TEST(loose_commits_are_kept)
{
	char *tip;

	make();
	SH("cd '%s'; git checkout -q --detach; echo l >l; git add l; git commit -qm loose", dir);
	tip = sh("git -C '%s' rev-parse HEAD", dir);
	clear();
	ck_assert_ptr_nonnull(commit);
	expect_text(tip, sh("git rev-parse %s^; git branch --list 'rl/*'", commit));
	free(tip);
	/* those of another branch are not lost */
	SH("git update-ref -d " REF);
	make();
	SH("cd '%s'; git checkout -qb mine; echo l >l; git add l; git commit -qm mine", dir);
	clear();
	ck_assert_ptr_null(commit);
	SH("git rev-parse -q --verify mine");
}
END_TEST

START_TEST(artifacts_are_not_work)
{
	strings_append(&artifacts, "review.md");
	strings_append(&artifacts, "logs");
	make();
	SH("cd '%s'; echo r >review.md; mkdir logs; echo l >logs/l", dir);
	clear();
	ck_assert_ptr_null(commit);
	make();
	SH("cd '%s'; echo r >review.md; git add -f review.md; git commit -qm r; echo u >u", dir);
	clear();
	expect_text("u", sh("git diff-tree -r --name-only --diff-filter=A %s^ %s", commit, commit));
	strings_free(artifacts);
	artifacts = NULL;
}
END_TEST

START_TEST(sha256_repository)
{
	SH("rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm base");
	make();
	SH("echo u >'%s/u'", dir);
	clear();
	expect_text("u", sh("git show %s:u", commit));
}
END_TEST

/* ---- what cannot be saved ---- */

static const struct { const char *script, *sign; } nested[] = {
	{ "git init -q m; cd m; echo x >x; git add x; git commit -qm n",
	    "m cannot be saved because it is a separate repository" },
	{ "git init -q m; echo x >m/x", "m cannot be saved" },
	{ "mkdir -p out/m; cd out/m; git init -q; echo x >x; git add x; git commit -qm n", "out/m cannot be saved" },
	{ "git init -q m; cd m; echo x >x; git add x; git commit -qm n; cd ..; "
	    "git add m 2>/dev/null; git commit -qm m; echo y >m/y", "m cannot be saved" },
	{ "git worktree add -q sub -b sub; echo x >sub/x", "sub cannot be saved" },
	{ "echo x >'git~1'", "git~1 cannot be saved" },
	{ "mkdir .GIT; echo x >.GIT/x", ".GIT/x cannot be saved" },
	{ "mkdir -p m/.git; echo notes >m/.git/notes", "m cannot be saved" },
	{ "rm .git; git init -q; echo x >x; git add x; git commit -qm own", ".git cannot be saved" },
	{ "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),g; git commit -qm g; "
	    "mkdir -p g; echo x >g/x", "g/x" },
};

START_TEST(stays_when_it_cannot_be_saved)
{
	make();
	SH("cd '%s'; echo u >u; %s", dir, nested[_i].script);
	stays(nested[_i].sign, "copy what you need from it");
}
END_TEST

START_TEST(stays_when_it_cannot_be_read)
{
	make();
	SH("umask 0; cd '%s'; mkdir x; echo y >x/y; chmod 0 x; chmod -R a+rwX %s/.git '%s'", dir, repo, dir);
	SH("chmod 0 '%s/x'", dir);
	as_nobody = true;
	stays("x", "make it readable");
	as_nobody = false;
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	make();
	SH("mkdir ../keep; echo keep >../keep/file; mv '%s' ../moved; ln -s ../keep '%s'", dir, dir);
	stays("is no longer a directory", "inspect it");
	expect_text("keep", sh("cat ../keep/file; ls ../moved | grep -q a.c"));
}
END_TEST

/* ---- the branch, and who else has something ---- */

START_TEST(branches)
{
	make();
	SH("cd '%s'; git checkout -q --detach; cd ..; git -C ../repo worktree add -q ../other " BRANCH, dir);
	clear();
	/* somebody has it checked out */
	expect_text(BRANCH, sh("git branch --list --format='%%(refname:short)' 'rl/*'"));
	SH("git worktree remove ../other; git branch -D " BRANCH "; git branch keep-me");
	make();
	SH("git worktree add -q ../stale; rm -r ../stale");
	clear();
	expect_text("keep-me main stale", sh("echo $(git branch --format='%%(refname:short)')"));
	SH("git worktree list | grep -q stale");		/* not ours to prune */
}
END_TEST

START_TEST(of_a_linked_and_a_bare_repository)
{
	char *top = repo;

	SH("git clone -q --bare . ../bare.git; git worktree add -q ../wt -b other");
	repo = xasprintf("%s/wt", home);
	make();
	SH("echo u >'%s/u'", dir);
	ck_assert_int_eq(run(GIT_WORKTREE_REMOVE), STEP_NEXT_DONE);
	expect_text("u", sh("git show " REF ":u; test ! -e '%s'", dir));
	free(repo);
	repo = xasprintf("%s/bare.git", home);
	make();
	SH("echo u >'%s/u'; rm '%s/.git'; rm -r worktrees", dir, dir);
	ck_assert_int_eq(run(GIT_WORKTREE_REMOVE), STEP_NEXT_DONE);
	expect_text("u", sh("git show " REF ":u; test ! -e '%s'", dir));
	free(repo);
	repo = top;
}
END_TEST

/* ---- begun again ---- */

START_TEST(gone_already)
{
	make();
	SH("rm -r '%s'", dir);
	clear();
	ck_assert_ptr_null(commit);
	expect_text("", sh("git branch --list 'rl/*'"));
	clear();
	ck_assert_ptr_null(commit);
	SH("git update-ref " REF " HEAD");
	clear();
	expect_text(start, sh("echo %s", commit));
}
END_TEST

static void begin_again(const char *script, const char *changes)
{
	bool ended = false;

	for (int n = 1; !ended; n++) {
		struct git_op *op;

		make();
		SH("cd '%s'; %s", dir, script);
		op = op_for(GIT_WORKTREE_REMOVE);
		ended = drive_steps(op, n);
		git_op_free(op);
		clear();
		ck_assert_int_eq(commit != NULL, changes[0] != '\0');
		if (commit != NULL)
			expect_text(changes, sh("git rev-list --parents -1 %s | wc -w; git diff-tree "
			    "-r --name-status %s^ %s | tr '\\t\\n' ' ,'", commit, commit, commit));
		clear();
		SH("git update-ref -d " REF "; test -z \"$(git branch --list 'rl/*')\"");
		ck_assert_int_lt(n, 30);
	}
}

START_TEST(again_after_any_step)
{
	begin_again("true", "");
	begin_again("echo u >u; rm a.c", "2\nD a.c,A u,");
	begin_again("echo u >u; rm .git; rm -r ../../repo/.git/worktrees", "2\nA u,");
}
END_TEST

/* It died while it removed files: what is left is no work, and what was saved stays saved. */
START_TEST(again_in_the_middle_of_removing)
{
	for (int work = 0; work <= 1; work++) {
		struct git_op *op;
		char *first = NULL;

		make();
		if (work == 1) {
			SH("echo u >'%s/u'", dir);
			for (int n = 10; first == NULL || first[0] == '\0'; n++) {
				op = op_for(GIT_WORKTREE_REMOVE);
				ck_assert(!drive_steps(op, n));
				git_op_free(op);
				free(first);
				first = sh("git for-each-ref --format='%%(objectname)' " REF);
			}
		}
		SH("mv '%s' '%s.cleared'; rm '%s.cleared/a.c'", dir, dir, dir);
		clear();
		ck_assert_int_eq(commit != NULL, work == 1);
		if (work == 1)
			ck_assert_str_eq(commit, first);
		free(first);
	}
}
END_TEST

/* What git knows of it went last, and of that the name of what it is of. */
START_TEST(again_behind_the_files)
{
	make();
	SH("rm -r '%s'; cd .git/worktrees/*; find . -mindepth 1 ! -name gitdir -delete", dir);
	clear();
	ck_assert_ptr_null(commit);
	expect_text("", sh("ls -A .git/worktrees 2>/dev/null || :; git branch --list 'rl/*'"));
}
END_TEST

/* It is gone for git at once, and its files are deleted afterwards, whatever their modes. */
START_TEST(a_large_one)
{
	struct git_op *op;

	make();
	SH("cd '%s' && mkdir -p a/b/c d && (cd a/b/c && seq 1500 | xargs touch) && (cd d && seq 1500 | xargs touch) && "
	    "echo u >d/u && chmod 500 a/b/c a/b d", dir);
	for (int i = 0; i < 2; i++) {
		op = op_for(GIT_WORKTREE_REMOVE);
		ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		ck_assert(git_op_rest(op) && git_op_commit(op) != NULL);
		git_op_free(op);
		expect_text("t 1.cleared", sh("ls -A ../trees | cat; ls -A .git/worktrees 2>/dev/null || :"));
		expect_text("", sh("git branch --list 'rl/*'"));
	}
	expect_text("u", sh("git show " REF ":d/u"));
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(run(GIT_WORKTREE_DELETE) == STEP_NEXT_DONE, "%s", error);
		expect_text("", sh("ls -A ../trees 2>/dev/null || :"));
	}
}
END_TEST

START_TEST(locks_of_a_killed_git)
{
	make();
	SH("echo u >'%s/u'; mkdir -p .git/refs/rl/salvage/42; touch .git/refs/heads/" BRANCH
	    ".lock .git/" REF ".lock", dir);
	clear();
	ck_assert_ptr_nonnull(commit);
	expect_text("", sh("git branch --list 'rl/*'; find .git -name '*.lock'"));
}
END_TEST

static int calls_left;

static void other_is_made(struct child *child)
{
	before(child);
	if (child->name != NULL && strcmp(child->name, "for-each-ref") == 0 && --calls_left == 0)
		SH("echo ../.. >.git/worktrees/other/commondir");
}

/* git does not make a work tree at once: another git that looks at all of them dies. */
START_TEST(another_is_being_made)
{
	make();
	SH("cd .git/worktrees; mkdir other; cd other; echo /nowhere/.git >gitdir; echo ref: refs/heads/o >HEAD; "
	    ">commondir");
	calls_left = 4;
	before_each = other_is_made;
	ck_assert_msg(run(GIT_WORKTREE_REMOVE) == STEP_NEXT_DONE, "%s", error);
	before_each = before;
	ck_assert_int_le(calls_left, 0);
}
END_TEST

/* Whatever of it cannot be removed, and in whichever order it is read, the file by which
 * it is found stays. */
START_TEST(cut_short_it_is_found_again)
{
	char *common = xasprintf("%s/.git", repo), *registration;
	struct rlimit before, few;
	int next;

	make();
	registration = worktree_admin_find(common, dir);
	getrlimit(RLIMIT_NOFILE, &before);
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(next);
	few = (struct rlimit){ (rlim_t)next + 2, before.rlim_max };
	for (int i = 0; i < 20; i++) {
		SH("cd '%s'; find . -mindepth 1 ! -name gitdir -delete; mkdir d%d", registration, i);
		setrlimit(RLIMIT_NOFILE, &few);
		ck_assert_int_eq(worktree_admin_remove(common, registration), -EMFILE);
		setrlimit(RLIMIT_NOFILE, &before);
		expect_text(registration, worktree_admin_find(common, dir));
	}
	clear();
	expect_text("", sh("ls -A .git/worktrees 2>/dev/null || :"));
	free(registration);
	free(common);
}
END_TEST

/* A git that was killed while it registered a work tree of the name, or while it took back what it
 * had registered; what is younger, or further, is somebody's. */
START_TEST(what_a_killed_git_has_begun)
{
	const char *base;

	make();
	base = strrchr(dir, '/') + 1;
	SH("cd .git/worktrees; for name in '%s7' '%s8' '%s9' '%sx'; do mkdir \"$name\"; "
	   "echo initializing > \"$name/locked\"; done; echo 'ref: refs/heads/main' > '%s9/HEAD';"
	   " mkdir '%s5' '%s6'; echo 1 | tee '%s5/HEAD' '%s5/index' '%s6/HEAD';"
	   " touch -d '1 minute ago' '%s5' '%s7' '%s9' '%sx'", base, base, base, base, base, base, base, base, base,
	   base, base, base, base, base);
	clear();
	expect_text("t 16\nt 18\nt 19\nt 1x", sh("ls .git/worktrees"));
}
END_TEST

/* What was saved under that name before is not lost with the ref. */
START_TEST(a_second_time)
{
	char *first;

	make();
	SH("echo one >'%s/u'", dir);
	clear();
	first = xstrdup(commit);
	make();
	SH("echo two >'%s/u'", dir);
	clear();
	ck_assert_str_ne(commit, first);
	expect_text(first, sh("git rev-parse %s^2", commit));
	expect_text("two", sh("git show %s:u", commit));
	free(first);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("clear");

	tcase_add_loop_test(tc, untouched_leaves_nothing, 0, sizeof(untouched) / sizeof(untouched[0]));
	tcase_add_test(tc, committed_work_is_not_saved_again);
	tcase_add_loop_test(tc, saves_all, 0, sizeof(works) / sizeof(works[0]));
	tcase_add_test(tc, filtered_and_changed);
	tcase_add_test(tc, loose_commits_are_kept);
	tcase_add_test(tc, artifacts_are_not_work);
	tcase_add_test(tc, sha256_repository);
	tcase_add_loop_test(tc, stays_when_it_cannot_be_saved, 0, sizeof(nested) / sizeof(nested[0]));
	tcase_add_test(tc, stays_when_it_cannot_be_read);
	tcase_add_test(tc, a_link_is_not_followed);
	tcase_add_test(tc, branches);
	tcase_add_test(tc, of_a_linked_and_a_bare_repository);
	tcase_add_test(tc, gone_already);
	tcase_add_test(tc, again_after_any_step);
	tcase_add_test(tc, again_in_the_middle_of_removing);
	tcase_add_test(tc, again_behind_the_files);
	tcase_add_test(tc, a_large_one);
	tcase_add_test(tc, locks_of_a_killed_git);
	tcase_add_test(tc, another_is_being_made);
	tcase_add_test(tc, cut_short_it_is_found_again);
	tcase_add_test(tc, what_a_killed_git_has_begun);
	tcase_add_test(tc, a_second_time);
	return run_tests("git_worktree_remove", tc);
}
