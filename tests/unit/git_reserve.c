/* SPDX-License-Identifier: MIT */
/* A branch of a run in a repository where others number their runs alike: the short name when it is
 * free or ours, else the one with our instance behind it, and never one that another has. */
#include "git_repo.h"

#define OURS "aaaa0000"
#define OTHER "bbbb1111"
#define NAME "rl/1/t1"
#define LONG NAME "-" OURS
#define CLAIM(instance) "git config --add branch." NAME ".rldInstance " instance "; "
#define CLAIMS "branch." NAME ".rldInstance"

static const enum git_op_kind kinds[] = { GIT_BASE, GIT_WORKTREE_ADD };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static char *head, *dir;

static struct git_op *op_at(enum git_op_kind kind, const char *branch)
{
	struct git_op_spec spec = { .kind = kind, .workspace = repo, .scratch = scratch,
	    .instance = OURS, .branch = branch, .dir = dir, .commit = head,
		.ref = kind == GIT_BASE ? "refs/rl/" OURS "/base/1" : "refs/rl/" OURS "/salvage/1/t1",
		    .message = "saved\n" };

	return git_op_new(&spec);
}

static void prepare(void)
{
	head = sh("git rev-parse HEAD");
	dir = xasprintf("%s-work", repo);
}

/* What the operation made of NAME; it is freed. */
static char *name_of(struct git_op *op)
{
	enum step_next next = drive(op);
	char *name = xstrdup(git_op_branch(op));

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	git_op_free(op);
	return name;
}

static void expect(const char *want, char *got)
{
	ck_assert_str_eq(got, want);
	free(got);
}

/* It is at head, and says whose it is. */
static void expect_reserved(const char *want, char *got)
{
	expect(head, sh("git rev-parse --verify refs/heads/%s", want));
	expect(OURS, sh("git config --get-all branch.%s.rldInstance", want));
	expect(want, got);
}

static const struct {
	const char *there;		/* shell text: what is in the repository before */
	const char *name;		/* that is taken */
	const char *claims;		/* of the short one, afterwards */
} scenes[] = {
	{ ":", NAME, OURS },
	{ "git branch " NAME, LONG, "" },
	{ CLAIM(OTHER) "git branch " NAME, LONG, OTHER },
	/* begun before, and ended behind the creation */
	{ CLAIM(OURS) "git branch " NAME, NAME, OURS },
	{ CLAIM(OURS), NAME, OURS },
	/* both have claimed it before, one has created it: nobody knows who */
	{ CLAIM(OURS) CLAIM(OTHER) "git branch " NAME, LONG, OTHER },
	/* it is ours by name, and somebody has worked on it */
	{ CLAIM(OURS) "git branch " NAME " $(git commit-tree -m x HEAD^{tree})", LONG, "" },
	{ "git branch " NAME "/x", LONG, "" },
	/* a git of ours that was killed */
	{ CLAIM(OURS) "mkdir -p .git/refs/heads/rl/1; touch .git/refs/heads/" NAME ".lock", NAME, OURS },
	{ CLAIM(OTHER) "mkdir -p .git/refs/heads/rl/1; touch .git/refs/heads/" NAME ".lock", LONG, OTHER },
};

START_TEST(scene)
{
	size_t i = (size_t)_i / KINDS;

	prepare();
	SH("%s", scenes[i].there);
	expect(scenes[i].name, name_of(op_at(kinds[(size_t)_i % KINDS], NAME)));
	expect(head, sh("git rev-parse --verify refs/heads/%s", scenes[i].name));
	expect(OURS, sh("git config --get-all branch.%s.rldInstance", scenes[i].name));
	if (strcmp(scenes[i].name, NAME) != 0 || strcmp(scenes[i].claims, OURS) == 0)
		expect(scenes[i].claims, sh("git config --get-all " CLAIMS " || :"));
}
END_TEST

/* Another creates it when we have seen that it is free. */
START_TEST(lost_race)
{
	prepare();
	between = CLAIM(OTHER) "git branch " NAME;
	between_step = "config";
	expect_reserved(LONG, name_of(op_at(kinds[_i], NAME)));
	expect(OTHER, sh("git config --get-all " CLAIMS));
	expect(head, sh("git rev-parse refs/heads/" NAME));
}
END_TEST

/* The daemon dies behind any process: the name is the same, and no other branch is left. */
START_TEST(again_after_any_step)
{
	enum git_op_kind kind = kinds[(size_t)_i % KINDS];
	bool other = (size_t)_i >= KINDS;

	prepare();
	for (int n = 0;; n++) {
		struct git_op *op = op_at(kind, NAME);
		bool over;

		SH(other ? "git branch " NAME "; " CLAIM(OTHER) : ":");
		over = drive_steps(op, n);
		git_op_free(op);
		if (!over)
			expect_reserved(other ? LONG : NAME, name_of(op_at(kind, NAME)));
		expect(other ? "main rl/1/t1 " LONG : "main rl/1/t1",
		    sh("echo $(git for-each-ref --format='%%(refname:short)' refs/heads)"));
		if (over)
			break;
		SH("test ! -d '%s' || git worktree remove -f -f '%s'; git for-each-ref "
		    "--format='%%(refname:short)' refs/heads/rl | xargs git branch -q -D; "
		    "git config --unset-all " CLAIMS " || :", dir, dir);
	}
}
END_TEST

START_TEST(both_are_taken)
{
	struct git_op *op;

	prepare();
	SH("git branch " NAME "; git branch " LONG);
	op = op_at(kinds[_i], NAME);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	EXPECT_IN(git_op_error(op), "branch " LONG);
	EXPECT_IN(git_op_error(op), "git branch -m");
	git_op_free(op);
}
END_TEST

/* Nothing is claimed, which costs no more than the short name after a death. */
START_TEST(configuration_is_locked)
{
	prepare();
	SH("touch .git/config.lock");
	expect(NAME, name_of(op_at(kinds[_i], NAME)));
	expect(head, sh("git rev-parse --verify refs/heads/" NAME));
	SH("rm .git/config.lock");
}
END_TEST

/* A branch that is removed is ours, and what the configuration said of it goes with it. */
START_TEST(cleared)
{
	prepare();
	expect_reserved(NAME, name_of(op_at(GIT_WORKTREE_ADD, NAME)));
	free(name_of(op_at(GIT_WORKTREE_REMOVE, NAME)));
	expect("main", sh("git for-each-ref --format='%%(refname:short)' refs/heads"));
	expect("", sh("git config --get-regexp '^branch\\.rl' || :"));
	SH(CLAIM(OTHER) "git branch " NAME);
	expect_reserved(LONG, name_of(op_at(GIT_WORKTREE_ADD, NAME)));
	expect(LONG, name_of(op_at(GIT_WORKTREE_REMOVE, NAME)));
	expect(NAME, sh("git for-each-ref --format='%%(refname:short)' refs/heads/rl"));
	/* it was ended before a work tree was made: the branch of that name is another's */
	free(name_of(op_at(GIT_WORKTREE_REMOVE, NAME)));
	expect(NAME, sh("git for-each-ref --format='%%(refname:short)' refs/heads/rl"));
	expect(OTHER, sh("git config --get-all " CLAIMS));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("reserve");

	tcase_add_loop_test(tc, scene, 0, (int)(sizeof(scenes) / sizeof(scenes[0]) * KINDS));
	tcase_add_loop_test(tc, lost_race, 0, KINDS);
	tcase_add_loop_test(tc, again_after_any_step, 0, 2 * KINDS);
	tcase_add_loop_test(tc, both_are_taken, 0, KINDS);
	tcase_add_loop_test(tc, configuration_is_locked, 0, KINDS);
	tcase_add_test(tc, cleared);
	return run_tests("git_reserve", tc);
}
