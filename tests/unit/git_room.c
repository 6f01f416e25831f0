/* SPDX-License-Identifier: MIT */
/* Rooms: exactly a tree, with a repository of its own, and what is seen of work in them. */
#include "git/gitdir.h"
#include "git/used_room.h"
#include "git_repo.h"

static char *evidence, *room, *head;

static char *may_change[] = { (char *)"*.lock", (char *)"/d/only", NULL };
static char *artifacts[] = { (char *)"review.md", NULL };

static bool displaces = true;

static struct git_op *room_op(enum git_op_kind kind, const char *tree, const char *base)
{
	return git_op_new(&(struct git_op_spec){ .kind = kind, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = tree, .base = base,
	    .commit = kind == GIT_CHECKOUT && head != NULL && head[0] != '\0' ? head : NULL,
	    .dir = kind == GIT_SNAPSHOT || kind == GIT_MEASURE ? NULL : room,
	    .artifacts = artifacts, .may_change = may_change, .name = kind == GIT_SNAPSHOT ? "HEAD" : NULL,
	    .displaces = kind == GIT_CHECKOUT && displaces,
	    .ref = kind == GIT_SNAPSHOT ? "refs/rl/base" : NULL });
}

static char *tree_of(struct git_op *op)
{
	enum step_next next = drive(op);
	char *tree;

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
	return tree;
}

/* The tree at the start, and where HEAD was. */
static char *start(void)
{
	free(evidence);
	free(room);
	free(head);
	evidence = xasprintf("%s/state/evidence/1.git", home);
	room = xasprintf("%s/room", home);
	head = sh("git rev-parse -q --verify HEAD || true");
	return tree_of(room_op(GIT_SNAPSHOT, NULL, NULL));
}

static char *measure(const char *base)
{
	return tree_of(room_op(GIT_MEASURE, base, base));
}

static void make(const char *tree, const char *base)
{
	free(tree_of(room_op(GIT_CHECKOUT, tree, base)));
}

/* What VERIFY says of the room; NULL: unchanged. */
static char *changed(const char *tree)
{
	struct git_op *op = room_op(GIT_VERIFY, tree, NULL);
	enum step_next next = drive(op);
	char *names;

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	names = xstrdup(git_op_changed(op));
	git_op_free(op);
	return names;
}

static void expect_changed(const char *tree, const char *want)
{
	char *names = changed(tree);

	ck_assert_str_eq(names != NULL ? names : "", want);
	free(names);
}

static void expect_sh(const char *script, const char *want)
{
	char *got = sh("cd %s; %s", room, script);

	ck_assert_str_eq(got, want);
	free(got);
}

#define WORK "echo more >>a.c; echo new >n.c; rm -r d; chmod +x .gitignore; ln -s a.c l"

START_TEST(git_works_there)
{
	char *base, *tree, *at;

	SH("git tag -a v1 -m one; echo 2 >two; git add two; git commit -qm second; git tag light");
	base = start();
	SH(WORK "; echo x >review.md");
	tree = measure(base);
	make(tree, base);
	SH("diff -r --no-dereference --exclude=.git --exclude=review.md . ../room >&2");
	at = sh("git rev-parse HEAD");
	expect_sh("git rev-parse HEAD", at);
	expect_sh("git log --format=%s", "second\nbase");
	expect_sh("git describe --tags; git tag", "light\nlight\nv1");
	expect_sh("echo r >review.md; git status --porcelain", "M  .gitignore\nM  a.c\nD  d/b.c\nA  l\nA  n.c");
	expect_sh("git diff; git diff HEAD --name-only", ".gitignore\na.c\nd/b.c\nl\nn.c");
	expect_sh("git write-tree", tree);
	expect_sh("git fsck --full --strict 2>&1; git symbolic-ref -q HEAD || echo detached", "detached");
	expect_sh("find .git -type f -links +1; ls .git/objects/info", "");
	free(at);
	free(tree);
	free(base);
}
END_TEST

/* HEAD is where the work started, whatever was committed then. */
START_TEST(work_alone_is_staged)
{
	static const char *const starts[] = { "echo mine >>a.c; echo mine >mine",
	    "rm -rf .git; git init -q", "rm -rf .git; git init -q; rm -r a.c d .gitignore",
	    ("printf 'x\\r\\n' >crlf; echo '* text=auto eol=crlf' >.gitattributes; git add .; git commit -qm eol; "
	    "git config core.autocrlf true"),
	    "rm -rf .git; git init -q --object-format=sha256; git add .; git commit -qm x" };
	char *base, *tree;

	SH("%s", starts[_i]);
	base = start();
	SH("echo new >n.c");
	tree = measure(base);
	make(tree, base);
	expect_sh("git diff HEAD --name-status; git status --porcelain; git diff", "A\tn.c\nA  n.c");
	expect_sh("git fsck --full 2>&1 | grep -v '^notice' || true", "");
	expect_changed(tree, "");
	free(tree);
	free(base);
}
END_TEST

/* The excludes are those of the submitter. */
START_TEST(what_is_ignored_there)
{
	char *base, *tree;

	SH("echo '*.mine' >.git/info/exclude");
	base = start();
	SH("echo '*' >.git/info/exclude; echo x >x");
	tree = measure(base);
	make(tree, base);
	expect_sh("touch a.mine b.o other; git status --porcelain", "A  x\n?? other");
	free(tree);
	free(base);
}
END_TEST

/* What is done in a room reaches nothing else, and is not seen by the next. */
START_TEST(what_is_done_there)
{
	char *base = start(), *tree, *refs, *after, *objects, *objects_after;

	SH(WORK);
	tree = measure(base);
	make(tree, base);
	refs = sh("git for-each-ref; git rev-parse HEAD");
	objects = sh("cd %s/objects; find . -type f | sort | xargs sha1sum", evidence);
	expect_sh("git -c user.name=r -c user.email=r@r commit -qm evil; git checkout -q -b zz; git gc -q; "
	    "git tag v9; mkdir .git/hooks; printf '#!/bin/sh\\ntouch ../ran\\n' >.git/hooks/post-checkout; "
	    "chmod +x .git/hooks/post-checkout; git config core.fsmonitor 'touch ../ran;'; git log --format=%s",
	    "evil\nbase");
	expect_changed(tree, "");
	after = sh("git for-each-ref; git rev-parse HEAD");
	ck_assert_str_eq(after, refs);
	SH("rm -f ../ran");
	make(tree, base);
	objects_after = sh("cd %s/objects; find . -type f | sort | xargs sha1sum", evidence);
	ck_assert_str_eq(objects_after, objects);
	SH("test ! -e ../ran");
	expect_sh("git log --format=%s; git branch --list zz; git config core.fsmonitor || test ! -e .git/hooks",
	    "base");
	free(objects_after);
	free(objects);
	free(after);
	free(refs);
	free(tree);
	free(base);
}
END_TEST

static const struct { const char *script, *names; } changes[] = {
	{ "true", "" },
	{ "touch new; mkdir -p d/e; echo x >d/e/f; rm -rf .git", "" },
	{ "cp a.c x; mv x a.c; touch -d '2001-01-01' .gitignore; chmod 600 a.c", "" },
	{ "echo x >>a.c", "a.c" },
	{ "s=$(stat -c %y a.c); sed -i 's/./X/' a.c; touch -d \"$s\" a.c", "a.c" },
	{ "chmod +x a.c", "a.c" },
	{ "rm a.c", "a.c" },
	{ "rm a.c; mkdir a.c", "a.c" },
	{ "mv a.c b; ln -s b a.c", "a.c" },
	{ "rm l; ln -s b l", "l" },
	{ "rm l; cp a.c l", "l" },
	{ "rm -r d", "d/b.c" },
	{ "mv d ../elsewhere; ln -s ../elsewhere d", "d/b.c" },
	{ "rm -r d; echo x >d", "d/b.c" },
	{ "rm -r n; echo x >n", "n" },
	{ "rmdir n", "" },
	{ "rm a.c; mkfifo a.c", "a.c" },
	{ "rm .gitignore a.c d/b.c l", ".gitignore, a.c, d/b.c and 1 more" },
	{ "cd ..; rm -r room", "." },
	{ "echo x >x.lock; echo x >>d/x.lock; rm d/only", "" },
	{ "echo x >only; rm d/b.c d/x.lock", "d/b.c, only" },
};

/* Whether or not the times of its files are known. */
START_TEST(what_a_reviewer_changes)
{
	char *base, *tree;

	SH("rm -rf ../elsewhere; touch d/x.lock only d/only; ln -s a.c l; "
	    "git init -q n; cd n; echo x >x; git add x; git commit -qm n; cd ..; "
	    "git -c advice.addEmbeddedRepo=false add .; git commit -qm more");
	base = start();
	for (int known = 0; known < 2; known++) {
		tree = measure(base);
		make(tree, base);
		if (known == 0)
			SH("rm %s/rld/stat-*", evidence);
		SH("cd ../room; %s", changes[_i].script);
		expect_changed(tree, changes[_i].names);
		SH("rm -rf ../elsewhere");
		free(tree);
	}
	free(base);
}
END_TEST

static const char *const done_there[] = {
	"true",
	"cp same.c x; touch -r same.c x; mv x same.c",
	"echo new >>same.c; touch -d '2001-01-01' same.c",
	"ln same.c ../linked",
	"chmod 600 same.c; setfacl -m u:1:rw same.c 2>/dev/null || true",
	"rm same.c; ln -s a.c same.c",
	"mv d ../moved; ln -s ../moved d; rm -r ../moved",
	"mv d e; mkdir d; ln -s ../../repo/a.c d/b.c",
	"chmod 0 d",
	"setfacl -d -m u:1:rw d/. 2>/dev/null || true; touch -r a.c d/.",
	"touch d/x; rm d/x; touch -d '2001-01-01' d",
	"echo x >>d/b.c",
	"echo x >new; mkdir -p d/f; echo x >d/f/x; mkfifo d/p",
	"rm -rf * .git .gitignore",
};

/* The next room is the same as without it, wherever the used one is. */
START_TEST(a_used_room)
{
	const char *script = done_there[_i];
	char *base, *tree, *next, *list, *want, *file, *dir;

	SH("mkdir e f; for i in 1 2 3; do echo $i | tee $i.c e/$i >f/$i; done; echo same >same.c; "
	    "git add .; git commit -qm more");
	for (int kept = 0; kept < 2; kept++) {
		base = start();
		free(room);
		room = xasprintf("%s/runs/7/tree-1-1", home);
		tree = measure(base);
		make(tree, base);
		file = sh("stat -c %%i %s/1.c", room);
		dir = sh("stat -c %%i %s/d", room);
		SH("cd %s; rm -rf ../linked ../moved; %s; rm -f ../linked", room, script);
		SH("echo other >>a.c; chmod +x 2.c; rm 3.c e/2; echo n | tee n.c >f/2");
		next = measure(base);
		if (kept == 1) {
			used_room_keep(room, evidence);
			SH("find %s/rld/rooms -name same.c -o -name '[123a].c' -o -path '*/[ef]/[123]' -o -name b.c "
			    "-o -name .gitignore -o -type d -o -name files "
			    "-o -print | grep . && exit 1 || true", evidence);
			free(room);
			room = xasprintf("%s/runs/8/tree-1-1", home);
			SH("mkdir -p ../runs/8");
		}
		make(next, base);
		list = sh("cd %s; find . -name .git -prune -o -printf '%%y %%#m %%p %%l\n' | sort; "
		    "cd ../; ls", room);
		SH("rm -rf ../fresh; mkdir -m 700 ../fresh; export GIT_INDEX_FILE=../i GIT_DIR=%s; git read-tree %s; "
		    "umask 022; git --work-tree=. checkout-index -a --prefix=../fresh/; rm ../i", evidence, next);
		want = sh("cd ../fresh; find . -printf '%%y %%#m %%p %%l\n' | sort; echo tree-1-1");
		ck_assert_str_eq(list, want);
		SH("diff -r --exclude=.git ../fresh %s", room);
		expect_changed(next, "");
		free(want);
		want = sh("stat -c %%i %s/1.c", room);
		/* the number of a removed file may be that of a new one */
		ck_assert_msg(strcmp(file, want) == 0 || strncmp(script, "rm -r", 5) == 0,
		    "kept %d: %s, %s", kept, file, want);
		free(want);
		want = sh("stat -c %%i %s/d", room);
		ck_assert_msg(strncmp(script, "rm -r", 5) == 0 || (strcmp(dir, want) == 0) ==
		    (strstr(script, "d/") == NULL && strncmp(script, "mv d", 4) != 0 &&
		    strncmp(script, "chmod 0 d", 9) != 0), "%s, kept %d: the directory %s is %s",
		    script, kept, dir, want);
		free(dir);
		SH("git checkout -q .; rm n.c; ! ls %s/rld/rooms/*", evidence);
		free(want);
		free(list);
		free(file);
		free(next);
		free(tree);
		free(base);
	}
}
END_TEST

/* A few are kept, none for ever. */
START_TEST(used_rooms_are_few)
{
	char *base = start(), *names;

	SH("mkdir -p ../runs");
	for (int i = 1; i < 8; i++) {
		free(room);
		room = xasprintf("%s/runs/%d/tree-1-1", home, i);
		make(base, base);
	}
	for (int i = 1; i < 8; i++) {
		char *one = xasprintf("%s/runs/%d/tree-1-1", home, i);

		used_room_keep(one, evidence);
		SH("touch -d \"$(date -d '-%d minutes')\" %s/rld/rooms/%d-tree-1-1", 10 - i, evidence, i);
		free(one);
	}
	names = sh("ls %s/rld/rooms; ls ../runs/*", evidence);
	ck_assert_str_eq(names, "4-tree-1-1\n5-tree-1-1\n6-tree-1-1\n7-tree-1-1\n../runs/1:\n\n../runs/2:\n\n"
	    "../runs/3:\n\n../runs/4:\n\n../runs/5:\n\n../runs/6:\n\n../runs/7:");
	free(names);
	SH("touch -d '-15 days' %s/rld/rooms/[4567]*", evidence);
	make(base, base);
	used_room_keep(room, evidence);
	names = sh("ls %s/rld/rooms", evidence);
	ck_assert_str_eq(names, "7-tree-1-1");
	free(names);
	names = xasprintf("%s/state", home);
	ck_assert(used_rooms_remove(names) && !used_rooms_remove(names));
	SH("! ls %s/rld/rooms", evidence);
	free(names);
	make(base, base);
	used_room_keep(room, NULL);
	SH("! ls %s %s/rld/rooms", room, evidence);
	free(base);
}
END_TEST

/* What git believes is hashed again. */
START_TEST(forged_objects_are_refused)
{
	char *base = start(), *tree, *id;
	struct git_op *op;

	SH("echo good >n.c");
	tree = measure(base);
	id = sh("git hash-object n.c");
	SH("cd %s/objects; o=%.2s/%s; chmod u+w $o; "
	    "python3 -c 'import sys, zlib; open(sys.argv[1], \"wb\").write(zlib.compress(b\"blob 5\\0evil\\n\"))' $o",
	    evidence, id, id + 2);
	op = room_op(GIT_CHECKOUT, tree, base);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	ck_assert_ptr_nonnull(strstr(git_op_error(op), "is not what its id says"));
	git_op_free(op);
	free(id);
	free(tree);
	free(base);
}
END_TEST

/* A run of many iterations keeps no more rooms than it has slots. */
START_TEST(earlier_rooms_go)
{
	char *base = start();

	free(room);
	room = xasprintf("%s/tree-10-1", home);
	SH("cd ..; mkdir -p tree-9-1/x tree-9-2 tree-11-1 tree-9-1x tree-10-1/old; chmod 0 tree-9-1/x");
	make(base, base);
	expect_sh("ls; cd ..; echo tree-*", "a.c\nd\ntree-10-1 tree-11-1 tree-9-1x");
	free(base);
}
END_TEST

/* What may have been made since the operation was asked for: the review of the run as a whole, and
 * beside the check of the base and votes any slot. */
START_TEST(rooms_made_meanwhile_stay)
{
	char *base = start();

	free(room);
	room = xasprintf("%s/tree-10-3", home);
	SH("cd ..; mkdir -p tree-9-0 tree-10-0 tree-10-1 tree-10-2 tree-10-65535");
	make(base, base);
	expect_sh("cd ..; echo tree-*", "tree-10-0 tree-10-3 tree-10-65535");
	free(room);
	room = xasprintf("%s/tree-10-65535", home);
	SH("cd ..; mkdir -p tree-9-4 tree-10-2");
	displaces = false;
	make(base, base);
	displaces = true;
	expect_sh("cd ..; echo tree-*", "tree-10-0 tree-10-2 tree-10-3 tree-10-65535");
	free(base);
}
END_TEST

/* It may die anywhere, and begin again. */
START_TEST(a_room_can_begin_again)
{
	char *base = start(), *tree;
	bool done = false;

	SH(WORK);
	tree = measure(base);
	for (int n = 1; !done; n++) {
		struct git_op *op = room_op(GIT_CHECKOUT, tree, base);

		done = drive_steps(op, n);
		git_op_free(op);
	}
	expect_sh("git status --porcelain; git fsck --full 2>&1",
	    "M  .gitignore\nM  a.c\nD  d/b.c\nA  l\nA  n.c");
	expect_changed(tree, "");
	free(tree);
	free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("rooms");

	tcase_add_test(tc, git_works_there);
	tcase_add_loop_test(tc, work_alone_is_staged, 0, 5);
	tcase_add_test(tc, what_is_ignored_there);
	tcase_add_test(tc, what_is_done_there);
	tcase_add_loop_test(tc, what_a_reviewer_changes, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_loop_test(tc, a_used_room, 0, sizeof(done_there) / sizeof(done_there[0]));
	tcase_add_test(tc, used_rooms_are_few);
	tcase_add_test(tc, forged_objects_are_refused);
	tcase_add_test(tc, earlier_rooms_go);
	tcase_add_test(tc, rooms_made_meanwhile_stay);
	tcase_add_test(tc, a_room_can_begin_again);
	return run_tests("git_room", tc);
}
