/* SPDX-License-Identifier: MIT */
/* Work that touches protected paths, or the files by which reviews go; and the patterns of both. */
#include "git/path_pattern.h"
#include "git_repo.h"

static char *protect[] = { (char *)"tests/**", (char *)"Makefile", NULL };
static char *judging[] = { (char *)".ai/reviewer.md", (char *)".rld.toml", NULL };

/* ---- patterns ---- */

static const struct {
	const char *pattern, *path;
	bool matches, touches, leads;
} patterns[] = {
	/* a name is that of a file anywhere, and to be touched of a directory, too */
	{ "Makefile", "Makefile", true, true, true },
	{ "Makefile", "a/b/Makefile", true, true, true },
	{ "Makefile", "Makefile.in", false, false, false },
	{ "*.mk", "a/rules.mk", true, true, true },
	{ "tests", "a/tests/x", false, true, true },
	{ "tests/", "tests/a/x", false, true, true },
	{ "tests/", "tests", false, true, true },
	{ "tests//", "tests/x", false, true, true },
	/* with a slash it is a path from the top */
	{ "/Makefile", "Makefile", true, true, true },
	{ "/Makefile", "a/Makefile", false, false, false },
	{ "a/*.c", "a/x.c", true, true, true },
	{ "a/*.c", "a/b/x.c", false, false, false },
	{ "a/*.c", "b/a/x.c", false, false, false },
	{ "a/*", "a/b/c", false, true, true },
	/* two stars are any number of directories */
	{ "tests/**", "tests/x", true, true, true },
	{ "tests/**", "tests/a/b/x", true, true, true },
	{ "tests/**", "tests", false, false, true },
	{ "tests/**", "test", false, false, false },
	{ "tests/**", "a/tests/x", false, false, false },
	{ "**/tests/**", "tests/x", true, true, true },
	{ "**/tests/**", "a/b/tests/c/x", true, true, true },
	{ "**/tests/**", "a/b/tests", false, false, true },
	{ "**/tests/**", "a/b", false, false, false },
	{ "**/x.c", "x.c", true, true, true },
	{ "**/x.c", "a/b/x.c", true, true, true },
	{ "**/x.c", "a/b", false, false, false },
	{ "a/**/x.c", "a/x.c", true, true, true },
	{ "a/**/x.c", "a/b/c/x.c", true, true, true },
	{ "a/**/x.c", "b/a/x.c", false, false, false },
	{ "a/**/x.c", "a", false, false, true },
	{ "a/**/b/**/c", "a/b/x/b/c", true, true, true },
	{ "a/**/b/**/c", "a/x/c", false, false, false },
	{ "**", "a", true, true, true },
	{ "**", "a/b", true, true, true },
	/* a part of a name is no directory */
	{ "a**b/x", "axb/x", true, true, true },
	{ "a**b/x", "a/b/x", false, false, false },
	/* a link or a nested repository in place of a directory above */
	{ "a/b/c.txt", "a", false, false, true },
	{ "a/b/c.txt", "a/b", false, false, true },
	{ "a/b/c.txt", "a/c", false, false, false },
	{ "a/b/c.txt", "a/b/c.txt/d", false, true, true },
	{ "/tests/**", "tests", false, false, true },
	{ "src/*/tests/**", "src/one", false, false, true },
	/* as in gitignore(5): a leading dot is nothing special, a bracket is a set */
	{ "*", ".hidden", true, true, true },
	{ "[ab].c", "b.c", true, true, true },
	{ "/", "a", false, true, true },
};

START_TEST(what_a_pattern_is_for)
{
	char *const list[] = { (char *)(uintptr_t)"no/such", (char *)(uintptr_t)patterns[_i].pattern, NULL };

	ck_assert_msg(path_matches(patterns[_i].path, list) == patterns[_i].matches, "%s matches %s",
	    patterns[_i].pattern, patterns[_i].path);
	ck_assert_msg(path_touches(patterns[_i].path, false, list) == patterns[_i].touches, "%s touches %s",
	    patterns[_i].pattern, patterns[_i].path);
	ck_assert_msg(path_touches(patterns[_i].path, true, list) == patterns[_i].leads, "%s leads to %s",
	    patterns[_i].pattern, patterns[_i].path);
}
END_TEST

START_TEST(no_pattern_is_for_nothing)
{
	ck_assert(!path_matches("a", NULL) && !path_touches("a", true, NULL));
	ck_assert(!path_matches("a", (char *const[]){ NULL }) && !path_touches("a", true, (char *const[]){ NULL }));
}
END_TEST

/* Time must not grow with the number of ways to match. */
START_TEST(many_stars)
{
	struct buf pattern = { 0 }, path = { 0 };
	char *list[] = { NULL, NULL };

	for (int i = 0; i < 200; i++) {
		buf_adds(&pattern, "**/a/");
		buf_adds(&path, "a/a/a/");
	}
	buf_adds(&pattern, "z");
	buf_adds(&path, "x");
	list[0] = pattern.data;
	ck_assert(!path_matches(path.data, list) && !path_touches(path.data, false, list));
	buf_release(&pattern);
	buf_release(&path);
}
END_TEST

/* ---- what MEASURE says ---- */

#define BASE_FILES "mkdir -p tests/deep lib .ai; echo 1 >tests/one; echo 2 >tests/deep/two; ln -s one tests/link; " \
	"echo m >Makefile; echo r >.ai/reviewer.md; echo x >lib/x; git add -A; git commit -qm base"

static const struct {
	const char *work, *protected, *judging;		/* NULL: nothing */
} works[] = {
	{ "echo x >a.c", NULL, NULL },
	{ "echo 1 >>tests/one", "tests/one", NULL },
	{ "echo 3 >tests/deep/new", "tests/deep/new", NULL },
	{ "rm tests/deep/two", "tests/deep/two", NULL },
	{ "chmod +x tests/one", "tests/one", NULL },
	{ "ln -sf deep/two tests/link", "tests/link", NULL },
	{ "rm tests/link; echo 1 >tests/link", "tests/link", NULL },
	{ "mv tests/one lib/one", "tests/one", NULL },
	{ "mv lib/x tests/x", "tests/x", NULL },
	{ "mv tests old; ln -s old tests", "tests, tests/deep/two, tests/link and 1 more", NULL },
	{ "rm -r tests; echo file >tests", "tests/deep/two, tests/link, tests/one", NULL },
	{ "echo t >>Makefile; echo o >>lib/x", "Makefile", NULL },
	{ "rm Makefile; mkdir Makefile; echo 1 >Makefile/x", "Makefile, Makefile/x", NULL },
	{ "echo 2 >>tests/one; git add -A; git commit -qm theirs", "tests/one", NULL },
	{ "echo 2 >>tests/one; git update-index --skip-worktree tests/one", "tests/one", NULL },
	{ "echo 2 >>tests/one; echo 'tests/' >>.git/info/exclude; git rm -rq --cached tests", "tests/one", NULL },
	{ "echo '*.new' >>.git/info/exclude; echo 1 >tests/x.new", "tests/x.new", NULL },
	{ "echo more >>.ai/reviewer.md", NULL, ".ai/reviewer.md" },
	{ "rm .ai/reviewer.md", NULL, ".ai/reviewer.md" },
	{ "echo n >.rld.toml", NULL, ".rld.toml" },
	{ "mv .ai away; ln -s away .ai", NULL, ".ai, .ai/reviewer.md" },
	{ "echo more >.ai/other.md; echo x >.rld.toml.bak", NULL, NULL },
	/* nothing that is in a tree */
	{ "echo 1 >>tests/one; git add tests/one; git checkout -q HEAD tests/one", NULL, NULL },
};

START_TEST(what_work_touches)
{
	char *evidence = xasprintf("%s/state/evidence/1.git", home), *base;
	struct git_op *op;

	SH(BASE_FILES);
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_SNAPSHOT, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .name = "HEAD", .ref = "refs/rl/base" });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	base = xstrdup(git_op_tree(op));
	git_op_free(op);
	SH("%s", works[_i].work);
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_MEASURE, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = base, .base = base, .protect = protect, .judging = judging });
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_pstr_eq(git_op_protected(op), works[_i].protected);
	ck_assert_pstr_eq(git_op_judging(op), works[_i].judging);
	git_op_free(op);
	free(evidence);
	free(base);
}
END_TEST

/* A link or a nested repository where the base has nothing. */
START_TEST(what_leads_elsewhere)
{
	static const char *const new[] = { "mkdir away; echo 1 >away/x; ln -s away tests", "ln -s nowhere tests",
	    "ln -s Makefile.real Makefile" };
	char *evidence = xasprintf("%s/state/evidence/1.git", home), *base;
	struct git_op *op;

	op = git_op_new(&(struct git_op_spec){ .kind = GIT_SNAPSHOT, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .name = "HEAD", .ref = "refs/rl/base" });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	base = xstrdup(git_op_tree(op));
	git_op_free(op);
	SH("%s", new[_i]);
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_MEASURE, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = base, .base = base, .protect = protect });
	ck_assert_int_eq(drive(op), STEP_NEXT_DONE);
	ck_assert_pstr_eq(git_op_protected(op), _i == 2 ? "Makefile" : "tests");
	ck_assert_ptr_null(git_op_judging(op));
	git_op_free(op);
	free(evidence);
	free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("touched");

	tcase_add_loop_test(tc, what_a_pattern_is_for, 0, sizeof(patterns) / sizeof(patterns[0]));
	tcase_add_test(tc, no_pattern_is_for_nothing);
	tcase_add_test(tc, many_stars);
	tcase_add_loop_test(tc, what_work_touches, 0, sizeof(works) / sizeof(works[0]));
	tcase_add_loop_test(tc, what_leads_elsewhere, 0, 3);
	return run_tests("git_touched", tc);
}
