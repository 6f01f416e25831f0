/* SPDX-License-Identifier: MIT */
/* The evidence repository: trees under review, whatever the user's repository says. */
#include "git/gitdir.h"
#include "git/stat_cache.h"
#include "git_repo.h"

#include <time.h>

static char *evidence;

/* An operation as a run has it after its snapshot. */
static struct git_op *op_in(enum git_op_kind kind, const char *tree, const char *base, const char *ref)
{
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = tree, .base = base, .ref = ref,
	    .name = kind == GIT_SNAPSHOT ? "HEAD" : NULL };

	return git_op_new(&spec);
}

static void begin(void)
{
	free(evidence);
	evidence = xasprintf("%s/state/evidence/1.git", home);
}

/* The tree of a successful operation. */
static char *tree_of(struct git_op *op)
{
	enum step_next next = drive(op);
	char *tree;

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	return tree;
}

static char *error_of(struct git_op *op)
{
	char *error;

	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	error = xstrdup(git_op_error(op));
	git_op_free(op);
	return error;
}

static char *take(void)
{
	begin();
	return tree_of(op_in(GIT_SNAPSHOT, NULL, NULL, "refs/rl/base"));
}

static char *measure(const char *base)
{
	return tree_of(op_in(GIT_MEASURE, base, base, NULL));
}

/* Files of a tree in the evidence repository. */
static char *names_in(const char *tree)
{
	return sh("git --git-dir=%s ls-tree -r --name-only %s | tr '\\n' ' '", evidence, tree);
}

static void expect_names(const char *tree, const char *want)
{
	char *names = names_in(tree);

	ck_assert_str_eq(names, want);
	free(names);
}

/* ---- where things are ---- */

START_TEST(base_is_in_both)
{
	char *tree = take(), *mine = sh("git rev-parse refs/rl/base"), *theirs;

	ck_assert_str_eq(mine, tree);
	theirs = sh("git --git-dir=%s log --format=%%s $(git rev-parse HEAD)", evidence);
	ck_assert_str_eq(theirs, "base");
	expect_scratch_empty();
	free(theirs);
	free(mine);
	free(tree);
}
END_TEST

/* What is under review is not in the user's repository; what has passed is. */
START_TEST(work_comes_with_its_pin)
{
	char *base = take(), *tree;

	SH("echo new >n.c; echo more >>a.c");
	tree = measure(base);
	SH("! git cat-file -e %s 2>/dev/null", tree);
	free(tree_of(op_in(GIT_PIN, tree, base, "refs/rl/passed")));
	SH("git fsck --full --strict && git ls-tree -r refs/rl/passed | grep n.c && "
	    "test \"$(git show refs/rl/passed:n.c)\" = new");
	free(tree);
	free(base);
}
END_TEST

/* More objects than are unpacked one by one. */
START_TEST(many_files_are_given)
{
	char *base = take(), *tree;

	SH("mkdir m; for i in $(seq 150); do echo $i >m/$i; done; ln -s a.c m/link; cp a.c m/same");
	tree = measure(base);
	expect_scratch_empty();
	SH("cd %s; git fsck --full; git count-objects -v | grep -q '^count: [0-9]$'; "
	    "test $(git ls-tree -r %s | wc -l) = 155", evidence, tree);
	free(tree_of(op_in(GIT_PIN, tree, base, "refs/rl/passed")));
	SH("git fsck --full && test $(git ls-tree -r refs/rl/passed | wc -l) = 155");
	free(tree);
	free(base);
}
END_TEST

START_TEST(second_snapshot_is_the_same)
{
	char *tree = take(), *again = tree_of(op_in(GIT_SNAPSHOT, NULL, NULL, NULL));

	ck_assert_str_eq(tree, again);
	free(again);
	free(tree);
}
END_TEST

START_TEST(id_is_that_of_the_repository)
{
	char *own = git_dir_id(repo), *tree, *other;

	SH("git worktree add -q ../wt; git init -q ../other");
	tree = xasprintf("%s/wt", home);
	other = git_dir_id(tree);
	ck_assert_str_eq(own, other);
	ck_assert_uint_eq(strlen(own), 16);
	free(other);
	free(tree);
	tree = xasprintf("%s/other", home);
	other = git_dir_id(tree);
	ck_assert_str_ne(own, other);
	free(other);
	free(tree);
	free(own);
}
END_TEST

/* ---- only true objects ---- */

/* Other content under the id of a file that has one. */
#define FORGE_IN(objects) "forge() { f=" objects "/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); rm -f $f; " \
    "mkdir -p $(dirname $f); python3 -c 'import sys,zlib; d=b\"return a+b\\n\" if sys.argv[1] == \"blob\" else " \
    "b\"100644 x\\0\" + bytes(20); sys.stdout.buffer.write(zlib.compress(sys.argv[1].encode() + " \
    "b\" %%d\" %% len(d) + bytes(1) + d))' ${2:-blob} >$f; }; "
#define FORGE FORGE_IN(".git/objects")

START_TEST(forged_work_is_seen_as_it_is)
{
	char *base = take(), *tree, *shown, *error;

	SH(FORGE "echo EVIL >a.c; forge $(git hash-object a.c); test \"$(git cat-file -p $(git hash-object a.c))\" "
	    "= 'return a+b'");
	tree = measure(base);
	shown = sh("git --git-dir=%s show %s:a.c", evidence, tree);
	ck_assert_str_eq(shown, "EVIL");
	error = error_of(op_in(GIT_PIN, tree, base, "refs/rl/passed"));
	EXPECT_IN(error, "is not what its id says");
	EXPECT_IN(error, "git fsck");
	SH("! git rev-parse -q --verify refs/rl/passed");
	free(error);
	free(shown);
	free(tree);
	free(base);
}
END_TEST

START_TEST(forged_base_is_refused)
{
	char *error;

	SH(FORGE "forge $(git rev-parse HEAD:a.c)");
	begin();
	error = error_of(op_in(GIT_SNAPSHOT, NULL, NULL, NULL));
	EXPECT_IN(error, "git fsck");
	free(error);
}
END_TEST

/* ... and forged later, it has no effect. */
START_TEST(forged_base_does_not_hide_work)
{
	char *base = take(), *tree, *patch;

	SH(FORGE "forge $(git rev-parse HEAD:a.c); echo 'return a+b' >a.c");
	tree = measure(base);
	ck_assert_str_ne(tree, base);
	patch = sh("cat %s/stdout.*", record);
	EXPECT_IN(patch, "-one");
	EXPECT_IN(patch, "+return a+b");
	free(patch);
	free(tree);
	free(base);
}
END_TEST

/* ---- only the settings of the submitter ---- */

/* After the snapshot, none of these hides a new file or a change. */
static const char *const tricks[] = {
	"echo '*' >>.git/info/exclude",
	"echo '*' >.git/x; git config core.excludesFile \"$PWD/.git/x\"",
	"echo '*' >$HOME/ignore; git config --global core.excludesFile $HOME/ignore",
	"mkdir -p $HOME/.config/git; echo '*' >$HOME/.config/git/ignore",
	"git config core.ignorecase true; echo x >A.C",
	"git update-index --assume-unchanged a.c; git update-index --skip-worktree d/b.c",
	"git config filter.x.clean 'echo one'; echo '* filter=x' >.git/info/attributes",
	"git config core.autocrlf true; git config core.safecrlf false",
	"rm -f .git/index; git config core.sparseCheckout true; echo /nothing >.git/info/sparse-checkout",
	"git config core.worktree /; git config core.bare true",
	"git replace -f $(git rev-parse HEAD:a.c) $(git hash-object -w d/b.c)",
	"git config include.path $HOME/more; printf '[core]\\nfilemode=false\\nsymlinks=false\\n' >$HOME/more",
	"mv .git ../gone; git init -q",
	"git config core.fsmonitor true; git config core.untrackedCache true",
	"echo junk >.git/config",
	"echo garbage >.git/index",
};

START_TEST(no_setting_hides_work)
{
	char *base = take(), *tree, *names, *content;

	/* some of them break git there */
	SH("{ %s; } >/dev/null 2>&1 || true; echo EVIL >n.c; echo EVIL >a.c; rm d/b.c; ln -s a.c d/l", tricks[_i]);
	tree = measure(base);
	names = names_in(tree);
	EXPECT_IN(names, ".gitignore ");
	EXPECT_IN(names, " a.c d/l n.c ");
	content = sh("git --git-dir=%s show %s:a.c", evidence, tree);
	ck_assert_str_eq(content, "EVIL");
	free(content);
	free(names);
	free(tree);
	free(base);
}
END_TEST

/* Those of the submitter count, and so do the .gitignore files of the work. */
START_TEST(excludes_at_submit_count)
{
	char *base, *tree;

	SH("echo secret >>.git/info/exclude; echo '*.tmp' >$HOME/ignore; "
	    "git config core.excludesFile $HOME/ignore; echo x >secret; echo x >a.tmp; echo x >f.o; git add -f f.o");
	base = take();
	expect_names(base, ".gitignore a.c d/b.c f.o ");
	SH("echo >.git/info/exclude; git config --unset core.excludesFile; echo y >f.o; echo y >g.o; "
	    "mkdir e; echo z >e/.gitignore; echo z >e/z; echo z >e/y");
	tree = measure(base);
	expect_names(tree, ".gitignore a.c d/b.c e/.gitignore e/y f.o ");
	free(tree);
	free(base);
}
END_TEST

/* The copies of the run before stay while an agent may have changed the settings. */
START_TEST(kept_settings_stay)
{
	char *base, *tree;
	struct git_op_spec spec;

	SH("echo secret >>.git/info/exclude");
	base = take();
	SH("echo >.git/info/exclude; echo x >secret");
	spec = (struct git_op_spec){ .kind = GIT_SNAPSHOT, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .settings_kept = true };
	tree = tree_of(git_op_new(&spec));
	ck_assert_str_eq(tree, base);
	free(tree);
	spec.settings_kept = false;
	tree = tree_of(git_op_new(&spec));
	ck_assert_str_ne(tree, base);
	free(tree);
	free(base);
}
END_TEST

START_TEST(sparse_files_stay)
{
	char *base, *tree;

	SH("mkdir s; echo s >s/s; git add s; git commit -qm s; "
	    "git sparse-checkout set --no-cone '/*' '!/s'; test ! -e s");
	base = take();
	expect_names(base, ".gitignore a.c d/b.c s/s ");
	/* what an agent makes sparse is gone */
	SH("git sparse-checkout set --no-cone '/*' '!/s' '!/d'; test ! -e d");
	tree = measure(base);
	expect_names(tree, ".gitignore a.c s/s ");
	free(tree);
	/* and what it makes there is work */
	SH("mkdir s; echo new >s/s");
	tree = measure(base);
	SH("test \"$(git --git-dir=%s show %s:s/s)\" = new", evidence, tree);
	free(tree);
	free(base);
}
END_TEST

/* ---- repositories inside, and odd names ---- */

#define NESTED "git init -q n; cd n; echo EVIL >e.py; git add .; git commit -qm n; cd ..; "

static const struct { const char *script, *names; } nested[] = {
	{ NESTED, "n/e.py " },
	{ "git init -q n; echo '*' >n/.git/info/exclude; echo EVIL >n/e.py", "n/e.py " },
	{ NESTED "cd n; git config core.excludesFile $PWD/.git/x; echo '*' >.git/x; echo EVIL >f", "n/e.py n/f " },
	{ NESTED "git init -q n/m; echo EVIL >n/m/x", "n/e.py n/m/x " },
	{ NESTED "echo x >n/x.o; mkdir n/out; echo x >n/out/x; echo y >n/.gitignore; echo y >n/y",
	    "n/.gitignore n/e.py " },
	{ NESTED "mv n/.git ../nested; echo 'gitdir: ../../nested' >n/.git", "n/e.py " },
	{ NESTED "git add n 2>/dev/null; git commit -qm n", "n/e.py " },
	{ NESTED "echo nonsense >n/.git/config", "n/e.py " },
	/* a submodule that is declared is shown as its commit */
	{ NESTED "git config -f .gitmodules submodule.n.path n; git config -f .gitmodules submodule.n.url ./n",
	    ".gitmodules n " },
};

START_TEST(nested_repository_is_files)
{
	char *base = take(), *tree, *names;

	SH("%s", nested[_i].script);
	tree = measure(base);
	names = sh("git --git-dir=%s diff-tree -r --name-only %s %s | tr '\\n' ' '", evidence, base, tree);
	ck_assert_str_eq(names, nested[_i].names);
	free(names);
	free(tree);
	free(base);
}
END_TEST

/* They are committed, too. */
START_TEST(files_of_nested_repository_are_committed)
{
	char *base = take(), *tree;
	struct git_op_spec spec = { .kind = GIT_COMMIT, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .base = base, .message = "work\n\nRld-Run: 1\n" };

	SH(NESTED "echo more >>a.c");
	spec.tree = tree = measure(base);
	free(tree_of(git_op_new(&spec)));
	SH("test $(git rev-parse 'HEAD^{tree}') = %s; git fsck --full", tree);
	free(tree);
	free(base);
}
END_TEST

START_TEST(submodule_stays_its_commit)
{
	char *base, *tree, *names;

	SH("git init -q ../sub; (cd ../sub; echo x >x; git add x; git commit -qm n); "
	    "git submodule -q add ../sub m; git commit -qm m");
	base = take();
	SH("cd m; echo y >y; git add y; git commit -qm y");
	tree = measure(base);
	names = sh("git --git-dir=%s diff-tree -r %s %s | cut -c2-14; git -C m rev-parse HEAD; "
	    "git --git-dir=%s rev-parse %s:m", evidence, base, tree, evidence, tree);
	EXPECT_IN(names, "160000 160000\n");
	free(names);
	SH("test $(git -C m rev-parse HEAD) = $(git --git-dir=%s rev-parse %s:m)", evidence, tree);
	free(tree);
	free(base);
}
END_TEST

/* They are told, whatever hides the rest. */
static const struct { const char *script, *unfit; } unfit[] = {
	{ "mkdir .GIT; echo EVIL >.GIT/e.py", ".GIT/e.py" },
	{ "mkdir -p d/.gIt; echo EVIL >d/.gIt/e.py", "d/.gIt/e.py" },
	{ "mkdir git~1; echo EVIL >git~1/e.py", "git~1/e.py" },
	{ "ln -s a.c .gitmodules", ".gitmodules" },
};

START_TEST(unfit_names_are_told)
{
	char *base = take(), *error;
	struct git_op *op;

	SH("%s; echo work >>a.c", unfit[_i].script);
	op = op_in(GIT_MEASURE, base, base, NULL);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_unfit(op), unfit[_i].unfit);
	ck_assert_str_ne(git_op_tree(op), base);
	git_op_free(op);
	error = error_of(op_in(GIT_SNAPSHOT, NULL, NULL, NULL));
	EXPECT_IN(error, unfit[_i].unfit);
	EXPECT_IN(error, "names that git does not allow");
	free(error);
	free(base);
}
END_TEST

/* ---- repositories of other kinds ---- */

static const char *const kinds[] = {
	"rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm base",
	"rm -rf .git; git init -q",		/* no commit yet */
	"cd ..; mv repo full; git clone -q --depth=1 file://$PWD/full repo",
	"cd ..; mv repo full; git -C full config uploadpack.allowFilter true; "
	    "git -C full commit -q --allow-empty -m n; git clone -q --filter=blob:none file://$PWD/full repo",
	"cd ..; mv repo full; git -C full checkout -q --detach; git -C full worktree add -q ../repo main",
	"git checkout -qb o; echo o >d/b.c; git commit -qam o; git checkout -q main; echo m >d/b.c; "
	    "git commit -qam m; git rebase o >/dev/null 2>&1 || true; test -d .git/rebase-merge",
	"echo x >x; git add x; git commit -qm x; git repack -qad; git commit-graph write; git tag -a -m v v1; "
	    "git pack-refs --all",
};

START_TEST(any_repository_works)
{
	char *base, *tree;

	SH("%s", kinds[_i]);
	base = take();
	SH("echo new >n.c");
	tree = measure(base);
	ck_assert_str_ne(tree, base);
	free(tree_of(op_in(GIT_PIN, tree, base, "refs/rl/passed")));
	SH("test \"$(git show refs/rl/passed:n.c)\" = new");
	free(tree);
	free(base);
}
END_TEST

START_TEST(partial_clone_without_content)
{
	char *error;

	SH("cd ..; mv repo full; git -C full config uploadpack.allowFilter true; "
	    "git clone -q --no-checkout --filter=blob:none file://$PWD/full repo; cd repo; "
	    "git sparse-checkout set --no-cone /a.c; git checkout -q");
	begin();
	error = error_of(op_in(GIT_SNAPSHOT, NULL, NULL, NULL));
	EXPECT_IN(error, "is a partial clone");
	EXPECT_IN(error, "git fetch --refetch --no-filter");
	free(error);
	SH("git fetch -q --refetch --no-filter");
	free(take());
}
END_TEST

/* ---- files that have not changed ---- */

/* How many files were hashed, and how many objects looked at in the user's repository. */
static size_t hashed, asked;

static void count_lines(const struct child *child, const char *name, size_t *count)
{
	if (strcmp(child->name, name) != 0)
		return;
	for (size_t i = 0; i < child->input_size; i++)
		*count += ((const char *)child->input)[i] == '\n';
}

static void count_asked(struct child *child)
{
	before(child);
	count_lines(child, "cat-file", &asked);
}

static void count_hashed(struct child *child)
{
	before(child);
	count_lines(child, "hash-object", &hashed);
}

/* What is compared with the user's repository is only what differs from HEAD. */
START_TEST(only_new_objects_are_given)
{
	struct git_op *op;

	begin();
	SH("echo x >x");
	op = op_in(GIT_SNAPSHOT, NULL, NULL, "refs/rl/base");
	asked = 0;
	before_each = count_asked;
	free(tree_of(op));
	before_each = before;
	ck_assert_uint_eq(asked, 2);	/* the file and the tree */
}
END_TEST

/* The file system's clock has moved on. */
static void settle(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
}

/* A file that may change without other times after it was read is hashed again. */
START_TEST(young_file_is_not_kept)
{
	char *file = xasprintf("%s/cache", home), *path = xasprintf("%s/a.c", repo);
	struct stat_cache *cache;
	struct stat_key key;
	struct stat st;

	settle();
	for (int young = 0; young < 2; young++) {
		cache = stat_cache_load(file);
		if (young)
			SH("echo x >>a.c");
		ck_assert_int_eq(stat(path, &st), 0);
		key = stat_key_of(&st);
		stat_cache_add(cache, "a.c", &key, "1234");
		stat_cache_save(cache);
		stat_cache_free(cache);
		cache = stat_cache_load(file);
		ck_assert_int_eq(stat_cache_find(cache, "a.c", &key) == NULL, young);
		stat_cache_free(cache);
	}
	free(path);
	free(file);
}
END_TEST

static char *measure_counted(const char *base)
{
	struct git_op *op = op_in(GIT_MEASURE, base, base, NULL);
	char *tree;

	hashed = 0;
	before_each = count_hashed;
	tree = tree_of(op);
	before_each = before;
	return tree;
}

START_TEST(only_changed_files_are_hashed)
{
	char *base, *tree;

	settle();
	base = take();
	free(measure_counted(base));
	ck_assert_uint_eq(hashed, 0);
	SH("echo x >>a.c");
	settle();
	tree = measure_counted(base);
	ck_assert_uint_eq(hashed, 1);
	free(tree);
	tree = measure_counted(base);
	ck_assert_uint_eq(hashed, 0);
	SH("test \"$(git --git-dir=%s show %s:a.c | tail -1)\" = x", evidence, tree);
	free(tree);
	free(base);
}
END_TEST

/* A change that leaves size and time as they were; %s: the file. */
static const char *const changes[] = {
	"printf 'ONE\\n' >a.c; touch -r d/b.c a.c",
	"touch -r a.c ../t; printf 'ONE\\n' >a.c; touch -r ../t a.c",
	"touch -r a.c ../t; printf 'ONE\\n' >../n; touch -r ../t ../n; mv ../n a.c",
	"touch -r a.c ../t; printf 'ONE\\n' | dd of=a.c conv=notrunc 2>/dev/null; touch -d @0 a.c; touch -r ../t a.c",
};

START_TEST(no_change_is_missed)
{
	char *base, *tree, *text;

	settle();
	base = take();
	free(measure(base));
	SH("%s", changes[_i]);
	tree = measure(base);
	text = sh("git --git-dir=%s show %s:a.c", evidence, tree);
	ck_assert_str_eq(text, "ONE");
	free(text);
	free(tree);
	free(base);
}
END_TEST

/* The same size, right after it was read. */
START_TEST(rewrite_at_once_is_seen)
{
	char *base = take(), *path = xasprintf("%s/a.c", repo), *tree, *text, content[16];

	for (int i = 0; i < 40; i++) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		snprintf(content, sizeof(content), "%03d\n", i);
		ck_assert_int_eq(write(fd, content, 4), 4);
		close(fd);
		tree = measure(base);
		text = sh("git --git-dir=%s show %s:a.c", evidence, tree);
		content[3] = '\0';
		ck_assert_str_eq(text, content);
		free(text);
		free(tree);
	}
	free(path);
	free(base);
}
END_TEST

/* Damaged in any way, it is not believed. */
static const char *const damages[] = { "echo >>$f", ": >$f", "sed -i s/a.c/a.d/ $f",
	"head -c 200 $f >$f.n; mv $f.n $f" };

START_TEST(damaged_cache_is_not_used)
{
	char *base, *tree;

	settle();
	base = take();
	SH("f=$(echo %s/rld/stat-*); test -s $f; %s", evidence, damages[_i]);
	tree = measure_counted(base);
	ck_assert_uint_eq(hashed, 3);
	ck_assert_str_eq(tree, base);
	free(tree);
	free(base);
}
END_TEST

static struct git_op *room_op(enum git_op_kind kind, const char *tree)
{
	char *dir = xasprintf("%s/room", home);
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = tree, .base = tree, .dir = dir };
	struct git_op *op = git_op_new(&spec);

	free(dir);
	return op;
}

START_TEST(room_is_compared_without_reading)
{
	struct git_op *op;
	char *base;

	settle();
	base = take();
	free(tree_of(room_op(GIT_CHECKOUT, base)));
	SH("touch -r ../room/a.c ../t");
	hashed = 0;
	before_each = count_hashed;
	op = room_op(GIT_VERIFY, base);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_ptr_null(git_op_changed(op));
	ck_assert_uint_eq(hashed, 0);
	git_op_free(op);
	SH("printf 'ONE\\n' >../room/a.c; touch -r ../t ../room/a.c");
	op = room_op(GIT_VERIFY, base);
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_str_eq(git_op_changed(op), "a.c");
	git_op_free(op);
	before_each = before;
	free(base);
}
END_TEST

/* ---- the evidence repository itself ---- */

/* Content and directories under ids of theirs: the room is refused, and so is the diff. */
static const char *const forged[] = { "a.c", "d" };

START_TEST(forged_evidence_is_refused)
{
	char *base = take(), *tree, *error;

	SH("echo work >a.c; echo work >d/b.c");
	tree = measure(base);
	SH(FORGE_IN("%s/objects") "id=$(git --git-dir=%s rev-parse %s:%s); type=$(git --git-dir=%s cat-file -t $id); "
	    "forge $id $type", evidence, evidence, tree, forged[_i], evidence);
	error = error_of(room_op(GIT_CHECKOUT, tree));
	EXPECT_IN(error, "evidence/1.git: object");
	EXPECT_IN(error, "remove that directory, and retry the run");
	free(error);
	error = error_of(op_in(GIT_MEASURE, base, base, NULL));
	EXPECT_IN(error, "remove that directory, and retry the run");
	free(error);
	free(tree);
	free(base);
}
END_TEST

/* A death behind any process leaves nothing that the next start trips over. */
START_TEST(snapshot_can_begin_again)
{
	char *tree = NULL;

	for (int n = 1; tree == NULL; n++) {
		struct git_op *op;

		begin();
		op = op_in(GIT_SNAPSHOT, NULL, NULL, "refs/rl/base");
		if (drive_steps(op, n)) {
			ck_assert_ptr_null(git_op_error(op));
			tree = xstrdup(git_op_tree(op));
		}
		git_op_free(op);
	}
	SH("git --git-dir=%s fsck --full && git fsck --full", evidence);
	free(tree);
}
END_TEST

/* A power cut takes rl-git, too: nothing removes its private index. */
START_TEST(index_of_a_cut_is_removed)
{
	char *base = take(), *tree;

	SH("echo garbage > %s/index; touch %s/index.lock", scratch, scratch);
	SH("echo more >> a.c");
	tree = measure(base);
	ck_assert_str_ne(tree, base);
	free(tree);
	free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("evidence");

	tcase_add_test(tc, base_is_in_both);
	tcase_add_test(tc, work_comes_with_its_pin);
	tcase_add_test(tc, many_files_are_given);
	tcase_add_test(tc, second_snapshot_is_the_same);
	tcase_add_test(tc, id_is_that_of_the_repository);
	tcase_add_test(tc, forged_work_is_seen_as_it_is);
	tcase_add_test(tc, forged_base_is_refused);
	tcase_add_test(tc, forged_base_does_not_hide_work);
	tcase_add_loop_test(tc, no_setting_hides_work, 0, sizeof(tricks) / sizeof(tricks[0]));
	tcase_add_test(tc, excludes_at_submit_count);
	tcase_add_test(tc, kept_settings_stay);
	tcase_add_test(tc, sparse_files_stay);
	tcase_add_loop_test(tc, nested_repository_is_files, 0, sizeof(nested) / sizeof(nested[0]));
	tcase_add_test(tc, files_of_nested_repository_are_committed);
	tcase_add_test(tc, submodule_stays_its_commit);
	tcase_add_loop_test(tc, unfit_names_are_told, 0, sizeof(unfit) / sizeof(unfit[0]));
	tcase_add_loop_test(tc, any_repository_works, 0, sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_test(tc, partial_clone_without_content);
	tcase_add_test(tc, snapshot_can_begin_again);
	tcase_add_test(tc, index_of_a_cut_is_removed);
	tcase_add_test(tc, only_new_objects_are_given);
	tcase_add_test(tc, young_file_is_not_kept);
	tcase_add_test(tc, only_changed_files_are_hashed);
	tcase_add_loop_test(tc, no_change_is_missed, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(tc, rewrite_at_once_is_seen);
	tcase_add_loop_test(tc, damaged_cache_is_not_used, 0, sizeof(damages) / sizeof(damages[0]));
	tcase_add_test(tc, room_is_compared_without_reading);
	tcase_add_loop_test(tc, forged_evidence_is_refused, 0, sizeof(forged) / sizeof(forged[0]));
	return run_tests("git_evidence", tc);
}
