/* SPDX-License-Identifier: MIT */
/* A repository that would run programs: every configuration key that names one, every hook, and
 * attributes that ask for them. Each leaves a canary. Of every operation exactly those may sing
 * that git/git_op.h names. */
#include "git_repo.h"

#define REF "refs/rl/x/42"
#define BRANCH "rl/42/t1"
#define MESSAGE "rld: it\n\nRld-Run: 42\nRld-Task: t1\n"

/* %s: the program, which is told the key: the name of its canary. */
static const struct { const char *key, *value; } keys[] = {
	{ "core.fsmonitor", "%s" }, { "core.sshCommand", "%s" }, { "core.editor", "%s" },
	{ "core.pager", "%s" }, { "core.askPass", "%s" },
	{ "core.gitProxy", "%s" }, { "core.alternateRefsCommand", "%s" },
	{ "sequence.editor", "%s" }, { "gpg.program", "%s" },
	{ "gpg.ssh.program", "%s" }, { "gpg.x509.program", "%s" },
	{ "gpg.ssh.defaultKeyCommand", "%s" }, { "credential.helper", "!%s" },
	{ "diff.external", "%s" }, { "diff.d.command", "%s" }, { "diff.d.textconv", "%s" }, { "diff.guitool", "d" },
	{ "filter.f.clean", "%s" }, { "filter.f.smudge", "%s" }, { "filter.p.process", "%s" },
	{ "merge.m.driver", "%s" }, { "merge.default", "m" }, { "mergetool.t.cmd", "%s" },
	{ "merge.tool", "t" }, { "difftool.t.cmd", "%s" },
	{ "uploadpack.packObjectsHook", "%s" }, { "interactive.diffFilter", "%s" },
	{ "submodule.sub.update", "!%s" }, { "submodule.sub.url", "ext::%s" },
	{ "submodule.recurse", "true" }, { "diff.submodule", "log" }, { "status.submoduleSummary", "true" },
	{ "alias.status", "!%s" }, { "alias.ls-files", "!%s" }, { "alias.x", "!%s" },
	{ "pager.ls-files", "%s" }, { "pager.ls-tree", "%s" }, { "pager.diff-tree", "%s" },
	{ "pager.commit-tree", "%s" }, { "pager.rev-parse", "%s" },
	{ "pager.worktree", "%s" }, { "pager.for-each-ref", "%s" }, { "pager.rev-list", "%s" },
	{ "pager.merge-tree", "%s" }, { "pager.var", "%s" },
	{ "protocol.ext.allow", "always" }, { "protocol.allow", "always" },
	{ "remote.origin.url", "ext::%s" }, { "remote.origin.promisor", "true" },
	{ "remote.origin.partialCloneFilter", "blob:none" }, { "remote.origin.uploadpack", "%s" },
	{ "remote.origin.receivepack", "%s" },
	{ "remote.origin.vcs", "x" }, { "core.repositoryFormatVersion", "1" }, { "extensions.partialClone", "origin" },
	{ "receive.procReceiveRefs", "refs" }, { "receive.autogc", "true" },
	{ "trailer.x.command", "%s" }, { "trailer.x.cmd", "%s" }, { "tar.x.command", "%s" },
	{ "man.x.cmd", "%s" }, { "browser.x.cmd", "%s" }, { "web.browser", "x" },
	{ "guitool.x.cmd", "%s" }, { "sendemail.tocmd", "%s" },
	{ "imap.tunnel", "%s" }, { "instaweb.httpd", "%s" },
	{ "blame.ignoreRevsFile", "/dev/null" }, { "log.showSignature", "true" },
	{ "gc.auto", "1" }, { "gc.recentObjectsHook", "%s" }, { "maintenance.auto", "true" },
	{ "core.untrackedCache", "true" }, { "fetch.recurseSubmodules", "true" },
	{ "branch.autoSetupMerge", "always" }, { "checkout.guess", "true" },
	{ "core.attributesFile", "attributes" }, { "extensions.worktreeConfig", "true" },
};

static const char *const hooks[] = {
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
	"prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout",
	"post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
	"post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite",
	"fsmonitor-watchman", "post-index-change",
};

/* The program: it says its name, and does what a filter must. */
static void lay_trap(void)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char *program = xasprintf("%s/run/%s", home, keys[i].key),
		    *value = xstrdup(keys[i].value), *at = strstr(value, "%s");

		if (at != NULL)
			*at = '\0';
		SH("cp ../trap '%s'; git config --file .git/config '%s' '%s%s%s'", program,
		    keys[i].key, value, at != NULL ? program : "", at != NULL ? at + 2 : "");
		free(program);
		free(value);
	}
	/* what an include brings, and what only one work tree has */
	SH("printf '[core]\\n\\tfsmonitor = %s/run/include.path\\n' >.git/more; "
	    "cp ../trap ../run/include.path; git config --file .git/config include.path more; "
	    "cp .git/config .git/config.worktree", home);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		SH("cp ../trap .git/hooks/%s", hooks[i]);
}

static void forget(void)
{
	SH("rm -rf ../canary; mkdir -m 777 ../canary");
}

/* Files that the attributes send through everything; staged, unstaged, new, in conflict with each
 * other's branch; and repositories inside that are as bad. */
static void hostile(void)
{
	SH("printf '#!/bin/sh\\nname=${0##*/}; touch %s/canary/$name\\ncase $name in filter*|*textconv) cat;"
	   "; esac\\n' >../trap; chmod 755 ../trap; mkdir ../run; mkdir -m 777 ../canary; mkdir -p .git/hooks;"
	   "cp ../trap ../run/m.fsmonitor; cp ../trap ../run/n.fsmonitor; "
	   "cp ../trap ../run/bare.fsmonitor; cp ../trap ../run/sub.url", home);
	SH("printf '* diff=d merge=m\\n*.f filter=f\\n*.p filter=p\\n' >.gitattributes; cp .gitattributes "
	   "attributes; echo f >a.f; echo p >a.p; echo c >c.f; git add .; git commit -qm traps;"
	   "git init -q m; (cd m; git config core.fsmonitor '%s/run/m.fsmonitor'; "
	   "cp ../.gitattributes .; echo x >x.f; git add .; git commit -qm m); git init -q n; "
	   "echo x >n/x.f; git -C n config core.fsmonitor '%s/run/n.fsmonitor';"
	   "mkdir -p bare/objects bare/refs; echo ref: refs/heads/x >bare/HEAD; "
	   "printf '[core]\\n\\tbare = true\\n\\tfsmonitor = %s/run/bare.fsmonitor\\n' >bare/config;"
	   "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; printf "
	   "'[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ext::%s/run/sub.url\\n' >.gitmodules; "
	   "git add .gitmodules; git commit -qm sub; mkdir -p sub", home, home, home, home);
	forget();
}

static void work(const char *top)
{
	SH("cd '%s'; echo more >>a.f; echo more >>a.p; echo more >>a.c; echo new >n.f; "
	    "echo new >n.p; touch -d 2001-01-01 c.f; rm -f d/b.c", top);
}

/* ---- the operations ---- */

static char *dir, *commit, *tree;

static void expect_done(struct git_op *op)
{
	enum step_next next = drive(op);

	ck_assert_msg(next == STEP_NEXT_DONE, "%s", git_op_error(op));
	free(commit);
	free(tree);
	commit = xstrdup(git_op_commit(op));
	tree = xstrdup(git_op_tree(op));
	git_op_free(op);
}

static void run(struct git_op_spec spec)
{
	spec.workspace = spec.workspace != NULL ? spec.workspace : repo;
	spec.scratch = scratch;
	spec.message = spec.kind == GIT_MEASURE ? NULL : MESSAGE;
	spec.ref = spec.ref != NULL ? spec.ref : REF;
	expect_done(git_op_new(&spec));
}

#define RUN(...) run((struct git_op_spec){ __VA_ARGS__ })

static void do_snapshot(void)
{
	work(repo);
	lay_trap();
	RUN(.kind = GIT_SNAPSHOT);
}

static void do_measure(void)
{
	do_snapshot();
	char *before = xstrdup(tree);

	work(repo);
	RUN(.kind = GIT_MEASURE, .tree = before);
	free(before);
}

static void do_verify(void)
{
	do_snapshot();
	char *before = xstrdup(tree);

	SH("echo r >new.f; rm a.f");
	RUN(.kind = GIT_VERIFY, .tree = before);
	free(before);
}

static void do_find_edits(void)
{
	do_snapshot();
	char *before = xstrdup(tree);

	SH("echo r >new.f; rm a.f");
	RUN(.kind = GIT_FIND_EDITS, .tree = before, .shared = true);
	free(before);
}

static void do_pin(void)
{
	do_snapshot();
	RUN(.kind = GIT_PIN, .tree = tree, .ref = "refs/rl/y");
}

static void do_checkout(void)
{
	do_snapshot();
	char *of = xstrdup(tree);

	RUN(.kind = GIT_CHECKOUT, .tree = of, .dir = dir);
	RUN(.kind = GIT_VERIFY, .tree = of, .dir = dir);
	free(of);
}

static void do_prepare(void)
{
	char *none[] = { (char *)"**", NULL };

	do_snapshot();
	char *of = xstrdup(tree);

	RUN(.kind = GIT_CHECKOUT, .tree = of, .dir = dir);
	RUN(.kind = GIT_PREPARE, .tree = of, .dir = dir, .copy = none);
	free(of);
}

static void do_commit(void)
{
	RUN(.kind = GIT_SNAPSHOT);
	char *before = xstrdup(tree);

	do_snapshot();
	char *after = xstrdup(tree);

	RUN(.kind = GIT_COMMIT, .base = before, .tree = after);
	free(before);
	free(after);
}

static void do_base(void)
{
	work(repo);
	lay_trap();
	RUN(.kind = GIT_BASE);
	RUN(.kind = GIT_BASE, .name = "HEAD~1");
}

static void do_worktree(void)
{
	char *head = sh("git rev-parse HEAD");

	work(repo);
	lay_trap();
	RUN(.kind = GIT_WORKTREE_ADD, .dir = dir, .branch = BRANCH, .commit = head);
	free(head);
}

/* The agent has committed some, and left some. */
static void do_committed(void)
{
	char *head = sh("git rev-parse HEAD");

	RUN(.kind = GIT_SNAPSHOT);
	char *before = xstrdup(tree);

	work(repo);
	SH("git add a.f; git commit -qm agent");
	lay_trap();
	RUN(.kind = GIT_SNAPSHOT);
	char *after = xstrdup(tree);

	RUN(.kind = GIT_ADOPT_COMMITS, .base = before, .tree = after, .commit = head);
	free(before);
	free(after);
	free(head);
}

static void make_tree(void)
{
	char *head = sh("git rev-parse HEAD");

	RUN(.kind = GIT_WORKTREE_ADD, .dir = dir, .branch = BRANCH, .commit = head);
	free(head);
}

/* Once without a conflict, once with one. */
static void do_merge(void)
{
	make_tree();
	char *from = xstrdup(commit), *first, *second;

	work(dir);
	SH("cd '%s'; git add -A .; git commit -qm one", dir);
	first = sh("git rev-parse " BRANCH);
	SH("git checkout -qb two %s; echo other >>a.f; echo other >>a.p; echo other >>a.c; "
	    "git commit -qam two; git checkout -q main", from);
	second = sh("git rev-parse two");
	lay_trap();
	forget();
	RUN(.kind = GIT_MERGE, .ref = "refs/heads/done", .base_commit = from, .commit = second,
	    .keep_ref = REF "/kept2", .dir = dir);
	struct git_op_spec spec = { .kind = GIT_MERGE, .workspace = repo, .scratch = scratch,
	    .ref = "refs/heads/done", .base_commit = from, .commit = first,
	    .keep_ref = REF "/kept", .dir = dir, .message = MESSAGE };
	struct git_op *op = git_op_new(&spec);

	ck_assert_msg(drive(op) == STEP_NEXT_DONE, "%s", git_op_error(op));
	ck_assert_ptr_nonnull(git_op_conflicts(op));
	git_op_free(op);
	free(from);
	free(first);
	free(second);
}

static void do_look(void)
{
	char *since = sh("git rev-parse HEAD; git commit -q --no-verify --allow-empty -m own");

	RUN(.kind = GIT_INSPECT_HEAD, .commit = since);
	free(since);
}

static void do_compare(void)
{
	char *ref = xasprintf("refs/heads/main %.40s", "0123456789012345678901234567890123456789");
	char *refs[] = { ref, NULL };

	RUN(.kind = GIT_COMPARE_REFS, .refs = refs);
	free(ref);
}

static void do_clear(void)
{
	make_tree();
	char *from = xstrdup(commit);

	work(dir);
	SH("cd '%s'; echo o >x.o; rmdir sub; git add a.p; git commit -qm some", dir);
	lay_trap();
	SH("cp .git/config.worktree .git/worktrees/*/; cp -r .git/hooks .git/worktrees/*/; "
	    "cp -r .git/hooks '%s'/; rm -r '%s'/hooks", dir, dir);
	forget();
	RUN(.kind = GIT_WORKTREE_REMOVE, .dir = dir, .branch = BRANCH, .commit = from);
	ck_assert_ptr_nonnull(commit);
	SH("test ! -e '%s'", dir);
	free(from);
}

static void do_delete(void)
{
	make_tree();
	work(dir);
	lay_trap();
	SH("mv '%s' '%s.cleared'", dir, dir);
	RUN(.kind = GIT_WORKTREE_DELETE, .dir = dir);
	SH("test ! -e '%s.cleared'", dir);
}

#define COMMIT_HOOKS "commit-msg\nfilter.f.clean\nfilter.p.process\npost-commit\npre-commit\nprepare-commit-msg"

/* may: all that sing. */
static const struct { enum git_op_kind kind; void (*run)(void); const char *may; } all[] = {
	{ GIT_SNAPSHOT, do_snapshot, "" },
	{ GIT_MEASURE, do_measure, "" },
	{ GIT_VERIFY, do_verify, "" },
	{ GIT_PIN, do_pin, "" },
	{ GIT_CHECKOUT, do_checkout, "" },
	{ GIT_PREPARE, do_prepare, "" },
	{ GIT_COMMIT, do_commit, COMMIT_HOOKS },
	{ GIT_BASE, do_base, "filter.f.clean\nfilter.p.process" },
	{ GIT_WORKTREE_ADD, do_worktree, "filter.f.smudge\nfilter.p.process" },
	{ GIT_ADOPT_COMMITS, do_committed, COMMIT_HOOKS },
	{ GIT_MERGE, do_merge, "filter.f.clean\nfilter.f.smudge\nfilter.p.process" },
	{ GIT_WORKTREE_REMOVE, do_clear, "" },
	{ GIT_WORKTREE_DELETE, do_delete, "" },
	{ GIT_INSPECT_HEAD, do_look, "" },
	{ GIT_COMPARE_REFS, do_compare, "" },
	{ GIT_FIND_EDITS, do_find_edits, "" },
};

START_TEST(only_what_is_told_runs)
{
	char *sang;

	dir = xasprintf("%s/tree", home);
	hostile();
	all[_i].run();
	sang = sh("ls ../canary");
	ck_assert_msg(strcmp(sang, all[_i].may) == 0, "git %s ran:\n%s\nand may run:\n%s",
	    git_op_names[all[_i].kind], sang, all[_i].may);
	free(sang);
	free(dir);
}
END_TEST

/* Objects that are not here are asked of nobody: the remote names a program. */
START_TEST(nothing_is_fetched)
{
	struct git_op_spec spec = { .kind = GIT_WORKTREE_ADD, .workspace = repo, .scratch = scratch, .branch = BRANCH };
	struct git_op *op;
	char *head, *sang;

	hostile();
	lay_trap();
	forget();
	spec.commit = head = sh("git rev-parse HEAD; f=$(git rev-parse HEAD:a.c | sed 's|..|.git/objects/&/|'); rm $f");
	spec.dir = dir = xasprintf("%s/tree", home);
	forget();
	op = git_op_new(&spec);
	ck_assert_int_eq(drive(op), STEP_NEXT_FAILED);
	git_op_free(op);
	sang = sh("ls ../canary | grep -v ^filter || :");
	ck_assert_str_eq(sang, "");
	free(sang);
	free(dir);
	free(head);
}
END_TEST

/* The trap works: git on its own runs what it is told to. */
START_TEST(canaries_sing)
{
	static const char *const loud[] = { "include.path", "diff.d.command", "filter.f.clean",
	    "filter.f.smudge", "filter.p.process", "merge.m.driver", "core.editor", "gpg.program",
		"post-checkout", "pre-commit", "commit-msg", "post-commit", "post-index-change",
		    "reference-transaction", "m.fsmonitor", "diff.d.textconv", "remote.origin.url" };

	hostile();
	work(repo);
	lay_trap();
	SH("set +e; unset GIT_EDITOR EDITOR VISUAL; git config --unset-all core.fsmonitor; "
	   "(git status; git diff; git add a.f a.p a.c; git commit -m x -e; git log -p -2;"
	   "git checkout -f HEAD -- a.f; rm a.f; git -c submodule.recurse=false checkout -f; git "
	   "commit -S --allow-empty -m s; git -c submodule.recurse=false checkout -f -B o HEAD~1; "
	   "echo z >a.c; git commit -m z a.c; git checkout -q -f o; git merge --no-edit main; "
	   "git -C m status; git show --textconv HEAD:a.c; git config --unset remote.origin.vcs;"
	   "git fetch origin) >/dev/null 2>&1; true");
	for (size_t i = 0; i < sizeof(loud) / sizeof(loud[0]); i++) {
		char *there = sh("ls ../canary | grep -qx '%s' && echo yes || ls ../canary", loud[i]);

		ck_assert_msg(strcmp(there, "yes") == 0, "no %s in:\n%s", loud[i], there);
		free(there);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("hostile");

	_Static_assert(sizeof(all) / sizeof(all[0]) == GIT_OPS, "one of each kind");
	tcase_add_loop_test(tc, only_what_is_told_runs, 0, GIT_OPS);
	tcase_add_test(tc, nothing_is_fetched);
	tcase_add_test(tc, canaries_sing);
	return run_tests("git_hostile", tc);
}
