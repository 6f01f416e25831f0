/* SPDX-License-Identifier: MIT */
/* Prepared rooms: made once on a base, and cloned for later rooms. */
#include "git/prepared_room.h"

#include <sys/file.h>

#include "git_repo.h"

static char *evidence, *room, *store;
static const char *key = "k1", *const *copies, *inputs[] = { "*.lock", NULL };

static void run(struct git_op *op)
{
	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
}

static char *take(enum git_op_kind kind, const char *tree)
{
	struct git_op *op = git_op_new(&(struct git_op_spec){ .kind = kind, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = tree, .dir = kind == GIT_CHECKOUT ? room : NULL,
	    .name = kind == GIT_SNAPSHOT ? "HEAD" : NULL, .ref = kind == GIT_SNAPSHOT ? "refs/rl/base" : NULL });
	char *its;

	run(op);
	its = xstrdup(git_op_tree(op));
	git_op_free(op);
	return its;
}

static char *start(void)
{
	evidence = xasprintf("%s/state/evidence/1.git", home);
	room = xasprintf("%s/room", home);
	store = xasprintf("%s/rld/prepared", evidence);
	return take(GIT_SNAPSHOT, NULL);
}

static struct git_op *prepare_op(const char *tree, const char *base, bool keep, const char *copied)
{
	return git_op_new(&(struct git_op_spec){ .kind = GIT_PREPARE, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = tree, .base = base, .dir = room, .setup = key, .keep = keep,
	    .copy = keep ? NULL : (char *const *)copies, .copied = copied, .setup_inputs = (char *const *)inputs });
}

/* 'r'eady, to be set up 'a'gain, 'u'nprepared (nothing was cloned), or one of the 'b'ase. */
static char prepare(const char *tree, const char *base)
{
	struct git_op *op;
	char how;

	free(take(GIT_CHECKOUT, tree));
	op = prepare_op(tree, base, false, NULL);
	run(op);
	how = git_op_ready(op) ? 'r' : git_op_unprepared(op) ? 'u' : strcmp(tree, base) == 0 ? 'b' : 'a';
	git_op_free(op);
	return how;
}

/* The room has been set up. */
static void keep(const char *tree, const char *base)
{
	struct git_op *op = prepare_op(tree, base, true, NULL);

	run(op);
	git_op_free(op);
}

/* A room of the base, set up by that script, is kept. */
static void make(const char *base, const char *script)
{
	free(take(GIT_CHECKOUT, base));
	SH("cd %s; %s", room, script);
	keep(base, base);
}

static void expect(const char *want, const char *script)
{
	char *got = sh("cd %s; %s", room, script);

	ck_assert_str_eq(got, want);
	free(got);
}

static void expect_kept(int want)
{
	char *got = sh("ls -A %s | wc -l", store), *number = xasprintf("%d", want);

	ck_assert_str_eq(got, number);
	free(number);
	free(got);
}

#define LIST "find . -path ./.git -prune -o ! -name . -printf '%y %m %P %l\\n' | sort -k3"

/* All that a set-up made comes along; what git has is the product's. */
START_TEST(what_was_set_up_is_cloned)
{
	char *base, *tree;

	SH("printf 'deps\nbuild/\n*.o\n' >.gitignore; mkdir src; echo c >src/m.c; git add .; git commit -qm i");
	base = start();
	ck_assert_int_eq(prepare(base, base), 'b');
	SH("cd ../room; mkdir -p deps/bin deps/empty deps/ro build; echo tool >deps/bin/tool; "
	   "chmod 755 deps/bin/tool; "
	   "echo r >deps/ro/f; chmod 444 deps/ro/f; chmod 555 deps/ro; ln -s ../ro/f deps/bin/l; "
	   "ln -s /nowhere deps/x; "
	   "echo o >src/m.o; touch -d 2001-02-03 src/m.o; echo new >untracked; mkfifo deps/p; echo b >build/out; "
	   "echo s >extra; mkdir later; echo l >later/was-ignored; echo more >>a.c; "
	   "mkdir deps/.git; echo g >deps/.git/HEAD");
	keep(base, base);
	expect_kept(1);
	SH("echo 2 >a.c; mkdir extra; echo p >extra/of-product; echo p >later; git rm -q --cached src/m.c; rm -r src; "
	   "echo x >build; sed -i /build/d .gitignore");
	tree = take(GIT_MEASURE, base);
	ck_assert_int_eq(prepare(tree, base), 'r');
	expect("f 644 .gitignore \nf 644 a.c \nf 644 build \nd 755 d \nf 644 d/b.c \nd 755 deps \n"
	    "d 755 deps/.git \n"
	    "f 644 deps/.git/HEAD \nd 755 deps/bin \nl 777 deps/bin/l ../ro/f\nf 755 deps/bin/tool \n"
	    "d 755 deps/empty \n"
	    "d 555 deps/ro \nf 444 deps/ro/f \nl 777 deps/x /nowhere\nd 755 extra \nf 644 extra/of-product \n"
	    "f 644 later \nd 755 src \nf 644 src/m.o \nf 644 untracked ", LIST);
	expect("2\np\np\nx\n2001-02-03", "cat a.c extra/of-product later build; date -r src/m.o +%F");
	/* it is a copy */
	SH("cd ../room; echo evil >deps/bin/tool; chmod 755 deps/ro; rm -f deps/ro/f");
	ck_assert_int_eq(prepare(tree, base), 'r');
	expect("tool\nr", "cat deps/bin/tool deps/ro/f");
	/* also where there was another content */
	ck_assert_int_eq(prepare(base, base), 'r');
	expect("c\nb\ns\nl", "cat src/m.c build/out extra later/was-ignored");
	SH("chmod -R u+w ../room");
	free(tree);
	free(base);
}
END_TEST

/* Where the product changes what the set-up depends on, it runs again, in the clone. */
START_TEST(its_inputs_are_those_of_the_base)
{
	char *base, *tree;

	SH("mkdir w; echo 1 >w/x.lock; echo k >.gitignore; git add .; git commit -qm i");
	base = start();
	make(base, "echo k >k");
	SH("echo 2 >a.c; echo other >w/lock");
	tree = take(GIT_MEASURE, base);
	ck_assert_int_eq(prepare(tree, base), 'r');
	SH("echo 2 >w/x.lock");
	free(tree);
	tree = take(GIT_MEASURE, base);
	ck_assert_int_eq(prepare(tree, base), 'a');
	expect("k\n2", "cat k w/x.lock");
	/* its own room is no base */
	keep(tree, base);
	expect_kept(1);
	SH("rm w/x.lock");
	free(tree);
	tree = take(GIT_MEASURE, base);
	ck_assert_int_eq(prepare(tree, base), 'a');
	free(tree);
	free(base);
}
END_TEST

START_TEST(another_key_is_another_room)
{
	static const char *const env[] = { ".env", NULL };
	char *base, *tree, *now;
	struct git_op *op;

	SH("echo .env >.gitignore; git add .; git commit -qm i; echo 1 >.env");
	base = start();
	SH("echo 2 >a.c");
	tree = take(GIT_MEASURE, base);
	ck_assert_int_eq(prepare(tree, base), 'u');
	/* a room of the work is none for others */
	keep(tree, base);
	expect_kept(0);
	make(base, "echo k >k");
	ck_assert_int_eq(prepare(tree, base), 'r');
	ck_assert_int_eq(prepare(base, tree), 'u');
	key = "k2";
	ck_assert_int_eq(prepare(tree, base), 'u');
	expect("none", "test -e k || echo none");
	copies = env;
	free(take(GIT_CHECKOUT, base));
	op = prepare_op(base, base, false, NULL);
	run(op);
	now = xstrdup(git_op_copied(op));
	git_op_free(op);
	op = prepare_op(base, base, true, now);
	run(op);
	git_op_free(op);
	ck_assert_int_eq(prepare(tree, base), 'r');
	expect("1", "cat .env");
	SH("echo 2 >.env");
	ck_assert_int_eq(prepare(tree, base), 'u');
	expect("2", "cat .env");
	SH("echo 1 >.env; chmod 600 .env");
	ck_assert_int_eq(prepare(tree, base), 'u');
	copies = NULL;
	key = "k1";
	free(now);
	free(tree);
	free(base);
}
END_TEST

/* What names the place where it was made is of use only there. */
START_TEST(some_have_a_place)
{
	static const char *const makes[] = { "echo '#!'$PWD/bin/python >k", "ln -s $PWD/a.c k",
		"head -c 262140 /dev/zero >k; echo $PWD >>k" };
	char *base, *tree, *here;

	base = start();
	SH("echo 2 >a.c");
	tree = take(GIT_MEASURE, base);
	here = room;
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		SH("rm -rf %s", store);
		make(base, makes[i]);
		ck_assert_int_eq(prepare(tree, base), 'r');
		room = xasprintf("%s-elsewhere", here);
		ck_assert_int_eq(prepare(tree, base), 'u');
		/* its own is made beside it */
		make(base, makes[i]);
		expect_kept(2);
		ck_assert_int_eq(prepare(tree, base), 'r');
		SH("rm -r %s", room);
		free(room);
		room = here;
		prepared_prune(evidence);
		expect_kept(1);
		ck_assert_int_eq(prepare(tree, base), 'r');
	}
	free(tree);
	free(base);
}
END_TEST

/* A room that was kept twice, or half: the first whole one counts. */
START_TEST(half_of_one_is_none)
{
	char *base = start(), *name;

	make(base, "echo 1 >k");
	make(base, "echo 2 >k");
	expect_kept(1);
	ck_assert_int_eq(prepare(base, base), 'r');
	expect("1", "cat k");
	name = sh("ls %s", store);
	/* it died before the rename, or while it was removed */
	SH("cd %s; mv %s %s.77", store, name, name);
	ck_assert_int_eq(prepare(base, base), 'b');
	expect("none", "test -e k || echo none");
	SH("cd ../room; echo 3 >k");
	keep(base, base);
	expect_kept(1);
	ck_assert_int_eq(prepare(base, base), 'r');
	expect("3", "cat k");
	free(name);
	free(base);
}
END_TEST

/* rl-git dies before each of its processes: again, it comes to the same. */
START_TEST(it_can_die_at_any_time)
{
	char *base = start();

	for (int n = 0; n < 20; n++) {
		struct git_op *op;
		bool done;

		SH("rm -rf %s", store);
		free(take(GIT_CHECKOUT, base));
		SH("cd ../room; mkdir k; echo k >k/k; echo more >>a.c");
		budget = n;
		op = prepare_op(base, base, true, NULL);
		done = drive(op) == STEP_NEXT_DONE;
		git_op_free(op);
		budget = -1;
		keep(base, base);
		expect_kept(1);
		free(take(GIT_CHECKOUT, base));
		budget = n;
		op = prepare_op(base, base, false, NULL);
		done = drive(op) == STEP_NEXT_DONE && done;
		git_op_free(op);
		budget = -1;
		op = prepare_op(base, base, false, NULL);
		run(op);
		ck_assert(git_op_ready(op));
		git_op_free(op);
		expect("k", "cat k/k; cmp a.c ../repo/a.c");
		if (done)
			break;
		ck_assert_int_lt(n, 19);
	}
	free(base);
}
END_TEST

/* Two weeks, eight of them; not while one is in use. */
START_TEST(old_ones_are_removed)
{
	char *base = start(), *name, *state = xasprintf("%s/state", home), *path;
	int fd;

	make(base, "echo 1 >k");
	name = sh("ls %s", store);
	path = xasprintf("%s/%s", store, name);
	SH("touch -d '-13 days' %s", path);
	prepared_prune(evidence);
	expect_kept(1);
	/* its use makes it new */
	ck_assert_int_eq(prepare(base, base), 'r');
	SH("test $(find %s -maxdepth 0 -mtime -1)", path);
	SH("cd %s; for i in 1 2 3 4 5 6 7 8; do cp -r %s copy$i; touch -d \"-$i hours\" copy$i; done", store, name);
	prepared_prune(evidence);
	expect_kept(8);
	SH("cd %s; test -d %s; test ! -e copy8; touch -d '-15 days' %s", store, name, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(flock(fd, LOCK_SH), 0);
	prepared_prune(evidence);
	expect_kept(8);
	close(fd);
	prepared_prune(evidence);
	expect_kept(7);
	ck_assert(prepared_drop(state));
	expect_kept(0);
	ck_assert(!prepared_drop(state));
	ck_assert_int_eq(prepare(base, base), 'b');
	free(path);
	free(state);
	free(name);
	free(base);
}
END_TEST

/* With less free space than the floor, none is made. */
START_TEST(a_full_disk_has_none)
{
	char *base = start();
	struct git_op *op;

	free(take(GIT_CHECKOUT, base));
	op = git_op_new(&(struct git_op_spec){ .kind = GIT_PREPARE, .workspace = repo, .scratch = scratch,
	    .evidence = evidence, .tree = base, .base = base, .dir = room, .setup = key, .keep = 1,
	    .disk_floor = INT64_MAX });
	run(op);
	git_op_free(op);
	expect_kept(0);
	free(base);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("prepared");

	tcase_add_test(tc, what_was_set_up_is_cloned);
	tcase_add_test(tc, its_inputs_are_those_of_the_base);
	tcase_add_test(tc, another_key_is_another_room);
	tcase_add_test(tc, some_have_a_place);
	tcase_add_test(tc, half_of_one_is_none);
	tcase_add_test(tc, it_can_die_at_any_time);
	tcase_add_test(tc, old_ones_are_removed);
	tcase_add_test(tc, a_full_disk_has_none);
	return run_tests("git_prepared", tc);
}
