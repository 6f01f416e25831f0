/* SPDX-License-Identifier: MIT */
/* Commits of tasks on top of what is integrated already, with real git; and what a task finds when
 * they do not agree. */
#include "git_repo.h"

#define REF "refs/heads/done"
#define KEEP "refs/rl/kept/1/t%d"
#define NOTE "refs/rl/merged/1/t%d"
#define MESSAGE "rld: do it\n\nRld-Run: 42\n"

static char *base;		/* the commit that all tasks begin at */
/* of the last operation, NULL: none */
static char *error, *commit, *tree, *conflicts, *tip_tree;
static char **artifacts;
static const char *known;	/* what REF had */

/* ---- tasks ---- */

static char *dir_of(int task)
{
	return xasprintf("%s/trees/w ü %d", home, task);
}

/* Shell text in the work tree of a task, which is made. Its commit. */
static char *task_from(const char *from, int task, const char *script)
{
	char *dir = dir_of(task), *head;

	SH("git worktree add -q -b rl/1/t%d '%s' %s", task, dir, from);
	SH("cd '%s'; %s", dir, script);
	head = sh("git -C '%s' rev-parse HEAD", dir);
	free(dir);
	return head;
}

static char *task(int number, const char *script)
{
	if (base == NULL)
		base = sh("git rev-parse HEAD");
	return task_from(base, number, script);
}

#define COMMIT_ALL "git add -A; git commit -qm"

static const char *moves_file(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/moves", scratch);
	return path;
}

static struct git_op *merge_from(const char *from, int number, const char *head)
{
	char *dir = dir_of(number), *keep = xasprintf(KEEP, number), *note = xasprintf(NOTE, number);
	struct git_op_spec spec = { .kind = GIT_MERGE, .workspace = repo, .scratch = scratch, .moves = moves_file(),
	    .dir = dir, .ref = REF, .base_commit = from, .commit = head,
		.keep_ref = keep, .note_ref = note, .message = MESSAGE, .artifacts = artifacts, .known = known };
	struct git_op *op = git_op_new(&spec);

	free(dir);
	free(keep);
	free(note);
	return op;
}

static struct git_op *merge_op(int number, const char *head)
{
	return merge_from(base, number, head);
}

static void forget_last(void)
{
	free(error);
	free(commit);
	free(tree);
	free(conflicts);
	free(tip_tree);
	error = commit = tree = conflicts = tip_tree = NULL;
}

static enum step_next take(struct git_op *op)
{
	enum step_next next = drive(op);

	forget_last();
	error = xstrdup(git_op_error(op));
	commit = xstrdup(git_op_commit(op));
	tree = xstrdup(git_op_tree(op));
	conflicts = xstrdup(git_op_conflicts(op));
	tip_tree = xstrdup(git_op_base(op));
	git_op_free(op);
	expect_scratch_empty();
	return next;
}

static void expect_text(const char *want, char *got)
{
	ck_assert_str_eq(got, want);
	free(got);
}

static void expect_merged(struct git_op *op)
{
	enum step_next next = take(op);

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", error);
	ck_assert_msg(conflicts == NULL, "in conflict: %s", conflicts);
	ck_assert_ptr_nonnull(commit);
	expect_text(commit, sh("git rev-parse " REF));
	expect_text("", sh("git rev-list --min-parents=2 " REF));
}

static void expect_conflict(struct git_op *op, const char *names)
{
	enum step_next next = take(op);

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", error);
	ck_assert_ptr_nonnull(conflicts);
	ck_assert_str_eq(conflicts, names);
}

static void expect_failed(struct git_op *op, const char *says)
{
	ck_assert_int_eq(take(op), STEP_NEXT_FAILED);
	EXPECT_IN(error, says);
}

/* ---- they agree ---- */

START_TEST(series_of_tasks)
{
	char *heads[5], *names = NULL;

	SH("seq 1 100 >n; git add n; git commit -qm n");
	free(base);
	base = sh("git rev-parse HEAD");
	for (int i = 0; i < 5; i++) {
		char *script = xasprintf("export GIT_AUTHOR_NAME='Ä %d' GIT_AUTHOR_DATE='2020-01-0%d "
		    "10:00:00 +0130'; sed -i s/^%d0$/x/ n; " COMMIT_ALL " 'one of %d\n\n  body # %d\n'; "
		    "echo %d >new%d; " COMMIT_ALL " 'two of %d'", i, i + 1, i + 1, i, i, i, i, i);

		heads[i] = task(i, script);
		free(script);
	}
	for (int i = 0; i < 5; i++) {
		char *before = i > 0 ? xstrdup(commit) : xstrdup(base);

		expect_merged(merge_op(i, heads[i]));
		if (i == 0)
			ck_assert_str_eq(commit, heads[0]);
		expect_text(before, sh("git rev-parse %s~2", commit));
		free(before);
	}
	names = sh("git log --reverse --format='%%an/%%ae/%%ai/%%cn/%%ce/%%s' %s..%s | tail -8 | "
	    "sed s,org.*/rld/,org/,", base, REF);
	for (int i = 1; i < 5; i++) {
		char *line = xasprintf("Ä %d/t@example.org/rld@localhost/two of %d", i, i);

		EXPECT_IN(names, line);
		free(line);
	}
	free(names);
	expect_text("2020-01-03 10:00:00 +0130 one of 2\n\n  body # 2\n",
	    sh("git log --format='%%ai %%B' --grep='one of 2' " REF));
	expect_text("100 5 5", sh("git show " REF ":n >../n; echo $(wc -l <../n) $(grep -c x ../n) "
	    "$(git ls-tree --name-only " REF " | grep -c new)"));
	SH("git fsck --no-dangling --strict >/dev/null 2>&1");
	for (int i = 0; i < 5; i++) {
		/* a task that is merged is merged, whoever asks again, and moves nothing */
		expect_merged(merge_op(i, heads[i]));
		free(heads[i]);
	}
	expect_text("11", sh("git rev-list --count %s.." REF " | sed s/10/11/", base));
}
END_TEST

/* first: is integrated; second: the task; differs: what the task's merge changes. */
static const struct { const char *first, *second, *changes; } agreements[] = {
	{ "echo x >x", "echo y >y", "A y" },
	{ "sed -i s/^1$/one/ n", "sed -i s/^9$/nine/ n", "M n" },
	/* the change follows the file */
	{ "git mv n moved", "sed -i s/^9$/nine/ n", "M moved" },
	{ "sed -i s/^9$/nine/ n", "git mv n moved", "A moved,D n" },
	{ "git mv d e", "echo more >>d/b.c", "M e/b.c" },
	{ "echo x >x", "chmod +x a.c", "M a.c" },
	{ "sed -i s/^1$/one/ n", "chmod +x n; sed -i s/^9$/nine/ n", "M n" },
	{ "echo x >x", "ln -s a.c l; rm a.c; ln -s d/b.c a.c", "T a.c,A l" },
	{ "echo x >häß", "echo y >'☃ ü'; printf y >\"$(printf 'nl\\nx')\"; echo 1 >-n; echo 2 >'\"q\"'",
	    "A \"\\\"q\\\"\",A -n,A \"nl\\nx\",A ☃ ü" },
	{ "rm a.c", "rm a.c; echo y >y", "A y" },
	{ "echo x >x", "printf '\\0\\1' >bin; git rm -q d/b.c", "A bin,D d/b.c" },
	{ "echo l >>u", "echo r >>u", "M u" },			/* merge=union */
};

static void base_files(void)
{
	SH("seq 1 10 >n; printf '\\0\\0' >blob; echo t >t; chmod +x t; ln -s n link; "
	    "echo 'u merge=union' >.gitattributes; echo u >u; git add -A; git commit -qm files");
	free(base);
	base = sh("git rev-parse HEAD");
}

static char *scripted(int number, const char *script)
{
	char *text = xasprintf("%s; " COMMIT_ALL " 'of %d'", script, number), *head = task(number, text);

	free(text);
	return head;
}

#define STATE \
	"git for-each-ref | grep -v -e " REF " -e refs/rl/merged/; for d in . ../trees/w*; " \
	    "do (cd \"$d\"; g=$(git rev-parse --absolute-git-dir); " \
	"sha256sum $g/HEAD $g/index; find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum); done"

START_TEST(tasks_that_agree)
{
	base_files();
	char *first = scripted(1, agreements[_i].first), *second = scripted(2, agreements[_i].second), *state;

	expect_merged(merge_op(1, first));
	ck_assert_str_eq(commit, first);
	state = sh(STATE);
	expect_merged(merge_op(2, second));
	expect_text(agreements[_i].changes,
	    sh("git -c core.quotePath=false diff-tree -r --no-renames --name-status %s " REF
	    " | tr '\\t\\n' ' ,' | sed 's/,$//'", first));
	expect_text("of 2\nof 1", sh("git log --format=%%s %s.." REF, base));
	/* nothing has moved but that ref, and a note of ours */
	expect_text(state, sh(STATE));
	free(state);
	free(first);
	free(second);
}
END_TEST

START_TEST(what_is_there_already_is_left_out)
{
	char *first = task(1, "echo x >x; " COMMIT_ALL " one"), *second = task(2, "echo x >x; "
	    COMMIT_ALL " same; git commit -q --allow-empty -m nothing; echo y >y; " COMMIT_ALL " other"),
	    *third = task(3, "echo x >x; " COMMIT_ALL " again"), *none = task(4, "");

	expect_merged(merge_op(1, first));
	expect_merged(merge_op(2, second));
	expect_text("other\none\nbase", sh("git log --format=%%s " REF));
	char *tip = xstrdup(commit);

	expect_merged(merge_op(3, third));
	ck_assert_str_eq(commit, tip);
	expect_merged(merge_op(4, none));
	ck_assert_str_eq(commit, tip);
	free(tip);
	free(first);
	free(second);
	free(third);
	free(none);
}
END_TEST

/* What an agent has merged is no line: it becomes one commit. So do commits that disagree with the
 * tip, when all of them do not. */
static const struct { const char *script, *log; } joins[] = {
	{ "echo x >x; " COMMIT_ALL " x; git checkout -q -b side HEAD~1; echo y >y; " COMMIT_ALL
	    " y; git checkout -q -; git merge -q side -m m", "rld: do it|t|x y " },
	{ "sed -i s/^1$/eins/ n; " COMMIT_ALL " one; sed -i s/^eins$/1/ n; echo y >y; " COMMIT_ALL
	    " two", "rld: do it|t|y " },
};

START_TEST(commits_that_become_one)
{
	base_files();
	char *first = scripted(1, "sed -i s/^1$/one/ n"), *second = task(2, joins[_i].script);

	expect_merged(merge_op(1, first));
	expect_merged(merge_op(2, second));
	expect_text(first, sh("git rev-parse " REF "~1"));
	expect_text(joins[_i].log, sh("git log -1 --format='%%s|%%an|' " REF
	    " | tr -d '\\n'; git show --format= --name-only " REF " | tr '\\n' ' '"));
	expect_text("Rld-Run: 42", sh("git log -1 --format=%%b " REF " | sed '$d'"));
	free(first);
	free(second);
}
END_TEST

START_TEST(merges_alone)
{
	base_files();
	char *head = task(1, joins[0].script);

	/* nothing else is integrated, and still it must be a line */
	expect_merged(merge_op(1, head));
	expect_text(base, sh("git rev-parse " REF "~1"));
	expect_text("x y", sh("echo $(git diff --name-only %s " REF ")", base));
	free(head);
}
END_TEST

START_TEST(unborn_base)
{
	SH("git checkout -q --orphan none; git rm -rqf --cached .; git branch -D main >/dev/null");
	free(base);
	base = sh("git commit-tree -m base $(git mktree </dev/null)");
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y");

	expect_merged(merge_op(1, first));
	ck_assert_str_eq(commit, first);
	expect_merged(merge_op(2, second));
	expect_text("x y", sh("echo $(git ls-tree --name-only " REF ")"));
	free(first);
	free(second);
}
END_TEST

START_TEST(sha256)
{
	SH("rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm base");
	base_files();
	char *first = scripted(1, "sed -i s/^1$/one/ n"), *second = scripted(2, "sed -i s/^9$/nine/ n"),
	    *third = scripted(3, "sed -i s/^1$/eins/ n");

	expect_merged(merge_op(1, first));
	expect_merged(merge_op(2, second));
	ck_assert_int_eq(strlen(commit), 64);
	expect_conflict(merge_op(3, third), "n");
	ck_assert_int_eq(strlen(tree), 64);
	free(first);
	free(second);
	free(third);
}
END_TEST

/* ---- they do not ---- */

static const struct { const char *first, *second, *names, *status, *markers; } disputes[] = {
	{ "sed -i s/^1$/one/ n", "sed -i s/^1$/eins/ n; echo y >y", "n", " M n\n?? y",
	    "n:1:<<<<<<< integrated n:3:======= n:5:>>>>>>> task" },
	{ "echo x >x", "echo y >x", "x", " M x", "x:1:<<<<<<< integrated x:3:======= x:5:>>>>>>> task" },
	{ "rm n", "sed -i s/^9$/nine/ n; echo y >y", "n (modify/delete)", "?? n\n?? y", "" },
	{ "sed -i s/^9$/nine/ n", "rm n; rm a.c", "n (modify/delete)", " D a.c", "" },
	{ "printf '\\0\\1' >blob", "printf '\\0\\2' >blob; rm a.c", "blob (binary)", " D a.c", "" },
	{ "git mv n l", "git mv n r", "l (rename/rename), n (rename/rename), r (rename/rename)", "?? r", "" },
	{ "git rm -q n; mkdir n; echo f >n/f", "sed -i s/^1$/eins/ n", "n~task (file/directory)", "?? n~task", "" },
	{ "ln -sf a.c link", "ln -sf d/b.c link; echo y >y", "link", "?? y", "" },
	{ "sed -i s/^1$/one/ n; echo ä >ä", "sed -i s/^1$/eins/ n; echo ö >ä; echo 1 >a; echo 2 >b; rm d/b.c",
	    "n, ä", " D d/b.c\n M n\n M ä\n?? a\n?? b", "n:1:<<<<<<< integrated n:3:======= "
	    "n:5:>>>>>>> task ä:1:<<<<<<< integrated ä:3:======= ä:5:>>>>>>> task" },
};

START_TEST(tasks_that_do_not_agree)
{
	char *first, *second, *dir = dir_of(2), *before, *main_state;

	base_files();
	SH("git config core.quotePath false; echo mine >mine; git add mine");
	first = scripted(1, disputes[_i].first);
	second = scripted(2, disputes[_i].second);
	expect_merged(merge_op(1, first));
	before = sh("git rev-parse " REF);
	main_state = sh("sha256sum .git/index .git/HEAD; git rev-parse main; git status --porcelain");
	expect_conflict(merge_op(2, second), disputes[_i].names);
	expect_text(main_state, sh("sha256sum .git/index .git/HEAD; git rev-parse main; git status --porcelain"));
	expect_text(before, sh("git rev-parse " REF));
	ck_assert_str_eq(commit, first);
	expect_text(second, sh("git rev-parse refs/rl/kept/1/t2"));
	/* the task's branch, index and files */
	expect_text("refs/heads/rl/1/t2", sh("git -C '%s' symbolic-ref HEAD", dir));
	expect_text(first, sh("git -C '%s' rev-parse HEAD", dir));
	expect_text("", sh("git -C '%s' diff --cached --name-only", dir));
	expect_text(disputes[_i].status, sh("git -C '%s' status --porcelain", dir));
	expect_text(disputes[_i].markers,
	    sh("cd '%s'; echo $(git grep --untracked -nE '^(<<<<<<<|=======|>>>>>>>)')", dir));
	/* what is told of it */
	expect_text(tip_tree, sh("git rev-parse %s^{tree}", first));
	expect_text(tree, sh("cd '%s'; export GIT_INDEX_FILE=%s/truth; git add -A; git write-tree; "
	    "rm -f %s/truth", dir, home, home));
	/* and once more, by a daemon that has forgotten */
	char *laid = xstrdup(tree), *state = sh("cd '%s'; find . -name .git -prune -o -type f "
	    "-print0 | sort -z | xargs -0 sha256sum; git status --porcelain", dir);

	expect_conflict(merge_op(2, second), disputes[_i].names);
	ck_assert_str_eq(tree, laid);
	expect_text(tip_tree, sh("git rev-parse %s^{tree}", first));
	expect_text(state, sh("cd '%s'; find . -name .git -prune -o -type f -print0 | sort -z | "
	    "xargs -0 sha256sum; git status --porcelain", dir));
	expect_text(second, sh("git rev-parse refs/rl/kept/1/t2"));
	free(state);
	free(laid);
	free(main_state);
	free(before);
	free(first);
	free(second);
	free(dir);
}
END_TEST

/* The fixer puts it right, and what comes of it is one commit of the task on the tip. */
START_TEST(second_round)
{
	char *first, *second, *third, *dir = dir_of(2), *start;

	base_files();
	strings_append(&artifacts, "review.md");
	first = scripted(1, "sed -i s/^1$/one/ n");
	third = scripted(3, "sed -i s/^9$/nine/ n");
	second = task(2, "sed -i s/^1$/eins/ n; " COMMIT_ALL " one; echo y >y; " COMMIT_ALL " two; echo r >review.md");
	expect_merged(merge_op(1, first));
	expect_conflict(merge_op(2, second), "n");
	start = xstrdup(commit);
	SH("cd '%s'; test -e review.md; sed -i '/^[<=>]/d' n", dir);
	/* what has been reviewed */
	char *reviewed = sh("cd '%s'; export GIT_INDEX_FILE=%s/truth; git add -A; "
	    "git rm -q --cached review.md; git write-tree; rm -f %s/truth", dir, home, home);
	struct git_op_spec spec = { .kind = GIT_COMMIT, .workspace = dir, .scratch = scratch, .tree =
	    reviewed, .base = tip_tree, .commit = start, .message = MESSAGE, .artifacts = artifacts };

	ck_assert_int_eq(take(git_op_new(&spec)), STEP_NEXT_DONE);
	char *fixed = xstrdup(commit);

	/* meanwhile another was first */
	expect_merged(merge_op(3, third));
	expect_merged(merge_from(start, 2, fixed));
	expect_text("rld: do it\nof 3\nof 1", sh("git log --format=%%s %s.." REF, base));
	expect_text("one\neins\nnine", sh("git show " REF ":n | grep -E '[a-z]'"));
	expect_text("n y", sh("echo $(git show --format= --name-only " REF ")"));
	/* merged is merged */
	expect_merged(merge_from(start, 2, fixed));
	expect_text("rld: do it\nof 3\nof 1", sh("git log --format=%%s %s.." REF, base));
	free(fixed);
	free(reviewed);
	free(start);
	free(first);
	free(second);
	free(third);
	free(dir);
}
END_TEST

START_TEST(branch_has_moved)
{
	char *first, *second, *dir = dir_of(2), *moved;

	base_files();
	first = scripted(1, "sed -i s/^1$/one/ n");
	second = scripted(2, "sed -i s/^1$/eins/ n");
	expect_merged(merge_op(1, first));
	SH("cd '%s'; echo y >y; " COMMIT_ALL " later", dir);
	moved = sh("git -C '%s' rev-parse HEAD; git -C '%s' status --porcelain", dir, dir);
	expect_failed(merge_op(2, second),
	    "which is to be merged; that work tree is removed with its task, and its content is saved");
	expect_text(moved, sh("git -C '%s' rev-parse HEAD; git -C '%s' status --porcelain", dir, dir));
	free(moved);
	free(first);
	free(second);
	free(dir);
}
END_TEST

/* ---- who else is there ---- */

/* Somebody has removed ref: it has all that it had again. */
START_TEST(ref_is_removed)
{
	char *heads[3], *last;

	for (int i = 0; i < 3; i++) {
		char *script = xasprintf("echo %d >new%d; " COMMIT_ALL " %d", i, i, i);

		heads[i] = task(i, script);
		free(script);
	}
	expect_merged(merge_op(0, heads[0]));
	expect_merged(merge_op(1, heads[1]));
	last = xstrdup(commit);
	known = last;
	SH("git update-ref -d " REF);
	expect_merged(merge_op(2, heads[2]));
	expect_text("new0 new1 new2", sh("echo $(git ls-tree --name-only " REF " | grep new)"));
	/* once more for one that is in it */
	SH("git update-ref -d " REF);
	expect_merged(merge_op(1, heads[1]));
	ck_assert_str_eq(commit, last);
	known = "0123456789012345678901234567890123456789";
	SH("git update-ref -d " REF);
	expect_failed(merge_op(2, heads[2]), "0123456789");
	known = NULL;
	free(last);
	for (int i = 0; i < 3; i++)
		free(heads[i]);
}
END_TEST

/* What ref has is not what was put there, when the merge begins or a moment later: nothing is built
 * upon it, and it is told how to restore it. A merge that was cut off knows its own. */
START_TEST(ref_is_not_as_it_was)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y"), *evil, *words;
	struct git_op *op;

	known = base;
	SH("git update-ref " REF " %s", base);
	expect_merged(merge_op(1, first));
	known = xstrdup(commit);
	evil = sh("git commit-tree -p " REF " -m evil 'main^{tree}'");
	words = xasprintf("git update-ref " REF " %s; git update-ref refs/rl/merged/1/t2 "
	    "$(git commit-tree -p %s -p %s -m note 'main^{tree}')", evil, evil, second);
	if (_i == 0) {
		SH("%s", words);
	} else {
		between = words;
		between_step = "update-ref";
	}
	op = merge_op(2, second);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_nonnull(git_op_moved(op));
	EXPECT_IN(git_op_moved(op), REF " is now at ");
	EXPECT_IN(git_op_moved(op), known);
	ck_assert_ptr_null(git_op_commit(op));
	git_op_free(op);
	expect_text(evil, sh("git rev-parse " REF));
	expect_scratch_empty();
	SH("git update-ref " REF " %s", known);
	expect_merged(merge_op(2, second));
	expect_text("x y", sh("echo $(git ls-tree --name-only " REF " | grep '^[xy]$')"));
	free((char *)known);
	known = NULL;
	free(words);
	free(evil);
	free(first);
	free(second);
}
END_TEST

/* What a ref has, compared with a record: true if it was moved by others. */
static bool ref_is_moved(const char *name, const char *recorded)
{
	char *ref = xasprintf("%s %s", name, recorded);
	char *const refs[] = { ref, NULL };
	struct git_op_spec spec = { .kind = GIT_COMPARE_REFS, .workspace = repo, .scratch = scratch,
		.moves = moves_file(), .refs = refs };
	struct git_op *op = git_op_new(&spec);
	bool moved;

	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	moved = git_op_moved(op) != NULL;
	git_op_free(op);
	free(ref);
	return moved;
}

static bool is_moved(const char *recorded)
{
	return ref_is_moved(REF, recorded);
}

/* Merges move ref before that is recorded, and a daemon dies between the two: the next ones know
 * those moves, in their order. */
START_TEST(moves_that_are_not_recorded)
{
	char *tips[4] = { NULL };

	for (int i = 0; i < 3; i++) {
		char *script = xasprintf("echo %d >own%d; " COMMIT_ALL " %d", i, i, i), *head = task(i, script);

		known = base;
		tips[0] = tips[0] != NULL ? tips[0] : xstrdup(base);
		SH("git update-ref " REF " %s", tips[i]);
		/* one that was noted, and died before it moved ref */
		SH("git rev-parse 'main^{tree}' >>%s", moves_file());
		expect_merged(merge_op(i, head));
		tips[i + 1] = xstrdup(commit);
		free(script);
		free(head);
	}
	expect_text("own0 own1 own2", sh("echo $(git ls-tree --name-only " REF " | grep own)"));
	for (int recorded = 0; recorded < 4; recorded++)
		for (int now = 0; now < 4; now++) {
			SH("git update-ref " REF " %s", tips[now]);
			ck_assert_msg(is_moved(tips[recorded]) == (now < recorded), "%d %d", recorded, now);
		}
	/* what passed is not where a merge moves anything to */
	SH("git update-ref refs/rl/passed/1 %s", tips[2]);
	ck_assert(ref_is_moved("refs/rl/passed/1", tips[1]));
	SH("git update-ref " REF " $(git commit-tree -p %s -m evil 'main^{tree}')", tips[3]);
	ck_assert(is_moved(tips[0]) && is_moved(tips[3]));
	SH("git update-ref -d " REF);
	ck_assert(is_moved(tips[0]));
	known = NULL;
	for (int i = 0; i < 4; i++)
		free(tips[i]);
}
END_TEST

/* Somebody moves ref just before we would. */
START_TEST(ref_is_moved_meanwhile)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y");

	if (_i == 1) {
		expect_merged(merge_op(1, first));
		SH("git update-ref -d refs/rl/merged/1/t1");
	}
	between = _i == 0 ? "git update-ref " REF " $(git commit-tree -p main -m his 'main^{tree}')" :
	    "git update-ref " REF " $(git commit-tree -p " REF " -m his '" REF "^{tree}')";
	between_step = "update-ref";
	expect_merged(merge_op(2, second));
	expect_text(_i == 0 ? "of 2\nhis" : "of 2\nhis\nof 1", sh("git log --format=%%s %s.." REF, base));
	between = "always git update-ref " REF " $(git commit-tree -p " REF " -m his '" REF "^{tree}')";
	char *third = scripted(3, "echo z >z");

	expect_failed(merge_op(3, third), "but expected");
	ck_assert_int_lt(processes, 80);
	between = NULL;
	expect_merged(merge_op(3, third));
	free(first);
	free(second);
	free(third);
}
END_TEST

static void die_after(struct git_op *op, int processes_run);

static struct git_op *held_back(const char *from, int number, const char *head, bool holds)
{
	char *dir = dir_of(number), *keep = xasprintf(KEEP, number), *note = xasprintf(NOTE, number);
	struct git_op_spec spec = { .kind = GIT_MERGE, .workspace = repo, .scratch = scratch, .dir = dir, .ref = REF,
	    .base_commit = from, .commit = head, .keep_ref = keep, .note_ref = note, .message = MESSAGE,
	    .holds_back = holds };
	struct git_op *op = git_op_new(&spec);

	free(dir);
	free(keep);
	free(note);
	return op;
}

/* A new tree waits in the task's work tree, whenever git dies; the second merge
 * moves ref to it, and nothing of it is uncommitted then. Without one it waits for nothing. */
START_TEST(new_tree_is_held_back)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y; mkdir new; echo z >new/z"),
	    *tip, *waits, *dir = dir_of(2);
	struct git_op *op = held_back(base, 1, first, true);

	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(!git_op_held_back(op) && !git_op_new_tree(op));
	git_op_free(op);
	tip = sh("git rev-parse " REF);
	op = held_back(base, 2, second, true);
	if (_i > 0)
		die_after(op, _i);
	else
		git_op_free(op);
	op = held_back(base, 2, second, true);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(git_op_held_back(op) && git_op_new_tree(op) && git_op_conflicts(op) == NULL);
	ck_assert_str_eq(git_op_head(op), tip);
	waits = xstrdup(git_op_commit(op));
	git_op_free(op);
	expect_text(tip, sh("git rev-parse " REF));
	expect_text(tip, sh("git -C '%s' rev-parse HEAD", dir));
	expect_text("x\ny\nz", sh("cd '%s'; cat x y new/z", dir));
	expect_text(tip, sh("git rev-parse %s^", waits));
	op = held_back(tip, 2, waits, true);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(!git_op_held_back(op) && !git_op_new_tree(op));
	git_op_free(op);
	expect_text(waits, sh("git rev-parse " REF));
	expect_text(waits, sh("git -C '%s' rev-parse HEAD", dir));
	expect_text("", sh("git -C '%s' status --porcelain", dir));
	free(dir);
	free(waits);
	free(tip);
	free(first);
	free(second);
}
END_TEST

static struct git_op *held_back_on(const char *from, int number, const char *head, const char *onto, bool stands)
{
	char *dir = dir_of(number), *keep = xasprintf(KEEP, number), *note = xasprintf(NOTE, number);
	struct git_op_spec spec = { .kind = GIT_MERGE, .workspace = repo, .scratch = scratch, .dir = dir, .ref = REF,
	    .base_commit = from, .commit = head, .keep_ref = keep, .note_ref = note, .message = MESSAGE,
	    .holds_back = true, .onto = onto, .stands = stands };
	struct git_op *op = git_op_new(&spec);

	free(dir);
	free(keep);
	free(note);
	return op;
}

/* What a MERGE of that has held back; head gets what it stands on. */
static char *waits_on(const char *from, int number, const char *head, const char *onto, const char *stands_on)
{
	struct git_op *op = held_back_on(from, number, head, onto, false);
	char *waits;

	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(git_op_held_back(op) && !git_op_put_off(op));
	ck_assert_str_eq(git_op_head(op), stands_on);
	waits = xstrdup(git_op_commit(op));
	git_op_free(op);
	return waits;
}

/* The third lies on the second, which waits itself. Whenever git dies, the branch moves to the
 * third at once; then the second is found in it, and nothing of both is uncommitted. */
START_TEST(merged_onto_what_is_held_back)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y"), *third = scripted(3, "echo z >z"),
	    *dir = dir_of(2), *last = dir_of(3), *tip, *waits, *top;
	struct git_op *op;

	expect_merged(merge_op(1, first));
	tip = sh("git rev-parse " REF);
	waits = waits_on(base, 2, second, NULL, tip);
	if (_i > 0)
		die_after(held_back_on(base, 3, third, waits, false), 3 * _i);
	top = waits_on(base, 3, third, waits, waits);
	expect_text(tip, sh("git rev-parse " REF));
	expect_text("x\ny\nz", sh("cd '%s'; cat x y z", last));
	expect_text(waits, sh("git rev-parse %s^", top));
	if (_i > 0)
		die_after(held_back_on(waits, 3, top, NULL, true), _i);
	op = held_back_on(waits, 3, top, NULL, true);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(!git_op_held_back(op) && !git_op_new_tree(op));
	git_op_free(op);
	expect_text(top, sh("git rev-parse " REF));
	op = held_back_on(tip, 2, waits, NULL, false);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(!git_op_held_back(op));
	git_op_free(op);
	expect_text(top, sh("git rev-parse " REF));
	expect_text("", sh("git -C '%s' status --porcelain; git -C '%s' status --porcelain", dir, last));
	expect_text(waits, sh("git -C '%s' rev-parse HEAD", dir));
	free(top);
	free(waits);
	free(tip);
	free(dir);
	free(last);
	free(first);
	free(second);
	free(third);
}
END_TEST

/* It conflicts with what is held back, or adds nothing to it: nothing happens to it, and it can be
 * merged without that. */
START_TEST(put_off)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y"),
	    *third = scripted(3, _i == 0 ? "echo z >y" : "echo y >y"), *last = dir_of(3), *tip, *waits, *before;
	struct git_op *op;

	expect_merged(merge_op(1, first));
	tip = sh("git rev-parse " REF);
	waits = waits_on(base, 2, second, NULL, tip);
	before = sh("git -C '%s' rev-parse HEAD; cat '%s/y'; git for-each-ref", last, last);
	op = held_back_on(base, 3, third, waits, false);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(git_op_put_off(op) && !git_op_held_back(op) && git_op_conflicts(op) == NULL);
	git_op_free(op);
	expect_text(before, sh("git -C '%s' rev-parse HEAD; cat '%s/y'; git for-each-ref", last, last));
	free(waits_on(base, 3, third, NULL, tip));
	free(before);
	free(waits);
	free(tip);
	free(last);
	free(first);
	free(second);
	free(third);
}
END_TEST

/* The branch has moved on: what stood on it is merged once more. */
START_TEST(stands_no_longer)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y"), *third = scripted(3, "echo z >z"),
	    *fourth = scripted(4, "echo w >w"), *tip, *waits, *top, *moved;
	struct git_op *op;

	expect_merged(merge_op(1, first));
	tip = sh("git rev-parse " REF);
	waits = waits_on(base, 2, second, NULL, tip);
	top = waits_on(base, 3, third, waits, waits);
	expect_merged(merge_op(4, fourth));
	moved = sh("git rev-parse " REF);
	op = held_back_on(waits, 3, top, NULL, true);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert(git_op_held_back(op));
	ck_assert_str_eq(git_op_head(op), moved);
	git_op_free(op);
	expect_text(moved, sh("git rev-parse " REF));
	free(moved);
	free(top);
	free(waits);
	free(tip);
	free(first);
	free(second);
	free(third);
	free(fourth);
}
END_TEST

/* Held back, it meets another task that was merged first: it is merged once more, unless a person
 * has worked there. */
START_TEST(held_back_twice)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y"), *third = scripted(3, "echo z >z"),
	    *tip, *waits, *dir = dir_of(2);
	struct git_op *op;

	expect_merged(merge_op(1, first));
	tip = sh("git rev-parse " REF);
	op = held_back(base, 2, second, true);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	waits = xstrdup(git_op_commit(op));
	git_op_free(op);
	expect_merged(merge_op(3, third));
	if (_i == 1)
		SH("echo more >>'%s/y'", dir);
	op = held_back(tip, 2, waits, true);
	if (_i == 0) {
		ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
		ck_assert(git_op_held_back(op));
		expect_text("x\ny\nz", sh("cd '%s'; cat x y z", dir));
	} else {
		ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
		EXPECT_IN(git_op_error(op), "its files are not those of");
		expect_text("y\nmore", sh("cat '%s/y'", dir));
	}
	git_op_free(op);
	free(dir);
	free(waits);
	free(tip);
	free(first);
	free(second);
	free(third);
}
END_TEST

/* Somebody looks at what was integrated: neither his files nor his branch are touched,
 * wherever he does. */
START_TEST(ref_is_checked_out)
{
	char *first = scripted(1, "echo x >x"), *second = scripted(2, "echo y >y"), *own = dir_of(9), *before;
	struct git_op *op;

	expect_merged(merge_op(1, first));
	SH("%s", _i == 0 ? "git checkout -q done" : "git worktree add -q '../his ü' done");
	before = sh("git rev-parse " REF "; git for-each-ref refs/rl; git status --porcelain; ls");
	op = merge_op(2, second);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	EXPECT_IN(git_op_taken(op), _i == 0 ? repo : "/his ü");
	ck_assert_ptr_null(git_op_commit(op));
	ck_assert_ptr_null(git_op_conflicts(op));
	git_op_free(op);
	expect_text(before, sh("git rev-parse " REF "; git for-each-ref refs/rl; git status --porcelain; ls"));
	SH("%s", _i == 0 ? "git checkout -q main" : "git worktree remove '../his ü'");
	/* one of ours is in nobody's way */
	SH("git worktree add -q '%s' done", own);
	expect_merged(merge_op(2, second));
	free(before);
	free(own);
	free(first);
	free(second);
}
END_TEST

static void die_after(struct git_op *op, int processes_run)
{
	drive_steps(op, processes_run);
	git_op_free(op);
}

/* A daemon that dies anywhere and begins again: each commit once. What comes on top may undo it,
 * and it is not done again. */
START_TEST(dies_after_each_process)
{
	char *first, *second, *third, *start, *before;

	base_files();
	first = scripted(1, "echo x >x");
	second = task(2, "sed -i s/^1$/one/ n; " COMMIT_ALL " one; sed -i s/^one$/two/ n; "
	    COMMIT_ALL " two; sed -i s/^two$/three/ n; " COMMIT_ALL " three");
	expect_merged(merge_op(1, first));
	before = xstrdup(commit);
	known = before;
	die_after(merge_op(2, second), _i);
	expect_merged(merge_op(2, second));
	known = NULL;
	free(before);
	expect_text("three\ntwo\none\nof 1", sh("git log --format=%%s %s.." REF, base));
	/* also when others have come on top */
	start = xstrdup(commit);
	third = task_from(start, 3, "sed -i s/^three$/1/ n; " COMMIT_ALL " 'of 3'");
	expect_merged(merge_from(start, 3, third));
	expect_merged(merge_op(2, second));
	ck_assert_str_eq(commit, third);
	expect_text("of 3\nthree\ntwo\none\nof 1", sh("git log --format=%%s %s.." REF, base));
	free(start);
	free(first);
	free(second);
	free(third);
}
END_TEST

/* The same in the middle of a conflict, even killed: git leaves its locks. */
START_TEST(dies_in_a_conflict)
{
	char *first, *second, *dir = dir_of(2), *want;

	base_files();
	first = scripted(1, "sed -i s/^1$/one/ n; rm t");
	second = task(2, "sed -i s/^1$/eins/ n; echo y >y; " COMMIT_ALL
	    " one; mkdir p; echo z >p/z; chmod +x a.c; sed -i s/^9$/nine/ n; " COMMIT_ALL " two");
	expect_merged(merge_op(1, first));
	die_after(merge_op(2, second), _i);
	SH("g=$(git -C '%s' rev-parse --absolute-git-dir); cd .git; "
	    "mkdir -p refs/rl/merged/1 refs/rl/kept/1; touch \"$g/index.lock\" \"$g/HEAD.lock\" "
	    "refs/heads/rl/1/t2.lock " REF ".lock refs/rl/merged/1/t2.lock refs/rl/kept/1/t2.lock", dir);
	expect_conflict(merge_op(2, second), "n");
	want = sh("cd '%s'; git status --porcelain; cat n y p/z; git rev-parse HEAD", dir);
	EXPECT_IN(want, " M a.c\n M n\n?? p/\n?? y\n<<<<<<< integrated\none\n=======\neins\n>>>>>>> task\n2\n");
	EXPECT_IN(want, "\nnine\n10\ny\nz\n");
	EXPECT_IN(want, first);
	expect_text(tip_tree, sh("git rev-parse %s^{tree}", first));
	expect_text(second, sh("git rev-parse refs/rl/kept/1/t2"));
	free(want);
	free(first);
	free(second);
	free(dir);
}
END_TEST

/* A repository, and a user, full of programs: none of them runs, but the filter that lays files out
 * in the task's work tree. */
START_TEST(nothing_of_the_repository_runs)
{
	char *first, *second, *third;

	base_files();
	SH("echo '* merge=f diff=f\nu merge=union' >.gitattributes; git add -A; git commit -qm attributes");
	free(base);
	base = sh("git rev-parse HEAD");
	first = scripted(1, "sed -i s/^1$/one/ n; echo l >>u");
	second = scripted(2, "sed -i s/^9$/nine/ n; echo r >>u");
	third = scripted(3, "sed -i s/^1$/eins/ n");
	SH("printf '#!/bin/sh\\necho \"$0 $*\" >>%s/canary\\nexit 0\\n' >../run; chmod +x ../run;"
	   "for w in '' --global; do git config $w merge.f.driver '%s/run %%A %%B'; "
	   "git config $w merge.default f; git config $w diff.f.textconv %s/run; "
	   "git config $w diff.f.command %s/run; git config $w diff.external %s/run; done;"
	   "git config core.fsmonitor %s/run; git config core.pager %s/run; "
	   "git config gpg.program %s/run; git config log.showSignature true; "
	   "git config commit.gpgsign true; git config core.editor %s/run;"
	   "for h in pre-commit post-commit prepare-commit-msg commit-msg post-checkout post-merge "
	   "post-rewrite reference-transaction post-index-change pre-rebase; "
	   "do cp ../run .git/hooks/$h; done; rm -f ../canary",
	    home, home, home, home, home, home, home, home, home);
	expect_merged(merge_op(1, first));
	expect_merged(merge_op(2, second));
	expect_text("u\nl\nr", sh("git show " REF ":u"));
	expect_conflict(merge_op(3, third), "n");
	SH("test ! -e ../canary");
	free(first);
	free(second);
	free(third);
}
END_TEST

/* Files that are written otherwise than they are stored: as git has it, and seen as
 * the disk has them. */
START_TEST(files_that_a_filter_lays_out)
{
	char *first, *second, *dir = dir_of(2);

	SH("git config filter.f.clean 'tr a-z A-Z'; git config filter.f.smudge 'tr A-Z a-z'; "
	   "printf '*.f filter=f\n*.t text eol=crlf\n' >.gitattributes;"
	   "echo hello >x.f; printf 'a\\r\\nb\\r\\n' >x.t; git add -A; git commit -qm filters");
	base_files();
	SH("printf '*.f filter=f\n*.t text eol=crlf\n"
	    "' >.gitattributes; git add -A; git add --renormalize .; git commit -qm filters");
	free(base);
	base = sh("git rev-parse HEAD");
	first = scripted(1, "sed -i s/^1$/one/ n; echo more >>x.f");
	second = scripted(2, "sed -i s/^1$/eins/ n; printf 'c\\r\\n' >>x.t");
	expect_merged(merge_op(1, first));
	expect_conflict(merge_op(2, second), "n");
	expect_text(" M n\n M x.t", sh("git -C '%s' status --porcelain", dir));
	expect_text("hello\nmore\na\r\nb\r\nc\r", sh("cd '%s'; cat x.f x.t", dir));
	expect_text("hello\nmore", sh("git show %s:x.f", tip_tree));
	expect_text("x.t n", sh("echo $(git diff-tree -r --name-only %s %s | sort -r)", tip_tree, tree));
	free(first);
	free(second);
	free(dir);
}
END_TEST

START_TEST(bare_repository)
{
	char *top = repo, *first, *second, *third;

	base_files();
	SH("git clone -q --bare . ../bare; cd ../bare; git config user.name t; git config user.email t@e");
	repo = xasprintf("%s/bare", home);
	first = scripted(1, "sed -i s/^1$/one/ n");
	second = scripted(2, "sed -i s/^9$/nine/ n");
	third = scripted(3, "sed -i s/^1$/eins/ n");
	expect_merged(merge_op(1, first));
	expect_merged(merge_op(2, second));
	expect_conflict(merge_op(3, third), "n");
	free(first);
	free(second);
	free(third);
	free(repo);
	repo = top;
}
END_TEST

static void nothing(void)
{
}

static void forget(void)
{
	forget_last();
	free(base);
	base = NULL;
	strings_free(artifacts);
	artifacts = NULL;
}

int main(void)
{
	TCase *tc = tcase_create("git_merge");

	tcase_add_checked_fixture(tc, nothing, forget);
	tcase_add_test(tc, series_of_tasks);
	tcase_add_loop_test(tc, tasks_that_agree, 0, (int)(sizeof(agreements) / sizeof(agreements[0])));
	tcase_add_test(tc, what_is_there_already_is_left_out);
	tcase_add_loop_test(tc, commits_that_become_one, 0, (int)(sizeof(joins) / sizeof(joins[0])));
	tcase_add_test(tc, merges_alone);
	tcase_add_test(tc, unborn_base);
	tcase_add_test(tc, sha256);
	tcase_add_loop_test(tc, tasks_that_do_not_agree, 0, (int)(sizeof(disputes) / sizeof(disputes[0])));
	tcase_add_test(tc, second_round);
	tcase_add_test(tc, branch_has_moved);
	tcase_add_test(tc, ref_is_removed);
	tcase_add_loop_test(tc, ref_is_not_as_it_was, 0, 2);
	tcase_add_test(tc, moves_that_are_not_recorded);
	tcase_add_loop_test(tc, ref_is_moved_meanwhile, 0, 2);
	tcase_add_loop_test(tc, new_tree_is_held_back, 0, 36);
	tcase_add_loop_test(tc, held_back_twice, 0, 2);
	tcase_add_loop_test(tc, merged_onto_what_is_held_back, 0, 12);
	tcase_add_loop_test(tc, put_off, 0, 2);
	tcase_add_test(tc, stands_no_longer);
	tcase_add_loop_test(tc, ref_is_checked_out, 0, 2);
	tcase_add_loop_test(tc, dies_after_each_process, 1, 21);
	tcase_add_loop_test(tc, dies_in_a_conflict, 10, 38);
	tcase_add_test(tc, nothing_of_the_repository_runs);
	tcase_add_test(tc, files_that_a_filter_lays_out);
	tcase_add_test(tc, bare_repository);
	return run_tests("git_merge", tc);
}
