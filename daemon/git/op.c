/* SPDX-License-Identifier: MIT */
#include "git/op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/artifact.h"
#include "git/gitdir.h"
#include "git/op_int.h"
#include "proto/escape.h"
#include "record/layout.h"
#include "record/output.h"

#define PATCH_KEEP (64 * 1024 * 1024)	/* of a patch: head and tail */
#define MESSAGE_MAX 600			/* of git's own words in an error */
#define HOOK_MESSAGE_MAX 4000		/* of those of a hook */
#define NAMES_SHOWN 3

const char *const git_op_names[GIT_OPS] = {
	[GIT_SNAPSHOT] = "snapshot",
	[GIT_MEASURE] = "measure",
	[GIT_VERIFY] = "verify",
	[GIT_PIN] = "pin",
	[GIT_CHECKOUT] = "checkout",
	[GIT_COMMIT] = "commit",
	[GIT_BASE] = "base",
	[GIT_WORKTREE] = "worktree",
	[GIT_COMMITTED] = "committed",
	[GIT_MERGE] = "merge",
	[GIT_CLEAR] = "clear",
};

static result_fn last_done;

#define WORDS 10

enum {
	INDEX = 1,		/* on the private index */
	READ = 2,		/* its stdout is wanted */
	MAY_FAIL = 4,		/* that it failed is an answer */
	AGAIN = 8,		/* it fails when a file vanishes: look once more */
	INSIDE = 16,		/* in the nested repository */
	HOOKED = 32,		/* the repository's hooks run */
};

enum arg { ARG_NONE, ARG_GIVEN, ARG_BASE, ARG_TREE, ARG_REF, ARG_TIP, ARG_COMMIT, ARG_ARTIFACT };

static const struct {
	const char *name;
	const char *words[WORDS];
	enum arg args[2];	/* behind the words */
	unsigned flags;
	int64_t keep;
	result_fn *done;
} stages[STAGES] = {
	[STAGE_LIST] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard" }, { 0 }, READ | AGAIN, 0, list_done },
	[STAGE_IN_HEAD] = { "ls-tree", { "ls-tree", "-z", "--name-only", "--full-tree", "HEAD", "--" }, { ARG_ARTIFACT }, READ | MAY_FAIL, 0, in_head_done },
	[STAGE_HEAD] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD" }, { 0 }, READ | MAY_FAIL, 0, head_done },
	[STAGE_INSIDE] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard" }, { 0 }, READ | AGAIN | INSIDE, 0, inside_done },
	[STAGE_HASH] = { "hash-object", { "hash-object", "-w", "--no-filters", "--stdin-paths" }, { 0 }, READ | AGAIN, 0, hash_done },
	[STAGE_INDEX] = { "update-index", { "update-index", "-z", "--index-info" }, { 0 }, INDEX, 0, index_done },
	/* missing-ok: every object was just written or is the repository's own; a partial clone must not fetch. */
	[STAGE_TREE] = { "write-tree", { "write-tree", "--missing-ok" }, { 0 }, INDEX | READ, 0, tree_done },
	/* ignore-submodules: .gitmodules may say that they are to be overlooked. */
	[STAGE_PATCH] = { "diff-tree", { "diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
	    "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none" }, { ARG_GIVEN, ARG_TREE }, INDEX, PATCH_KEEP, last_done },
	[STAGE_COMPARE] = { "diff-tree", { "diff-tree", "-r", "-z", "--name-status", "--ignore-submodules=none" }, { ARG_GIVEN, ARG_TREE }, INDEX | READ, 0, compare_done },
	[STAGE_PIN] = { "update-ref", { "update-ref", "--no-deref" }, { ARG_REF, ARG_TREE }, 0, 0, last_done },
	[STAGE_ENTRIES] = { "ls-tree", { "ls-tree", "-r", "-z", "--full-tree" }, { ARG_TREE }, READ, 0, entries_done },
	[STAGE_BLOBS] = { "cat-file", { "cat-file", "--batch", "--buffer" }, { 0 }, 0, 0, blobs_done },
	[STAGE_CHANGES] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--ignore-submodules=none" }, { ARG_BASE, ARG_TREE }, READ, 0, changes_done },
	[STAGE_TIP] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ | MAY_FAIL, 0, tip_done },
	[STAGE_TIP_TEXT] = { "cat-file", { "cat-file", "commit" }, { ARG_TIP }, READ, 0, tip_text_done },
	[STAGE_READ] = { "read-tree", { "read-tree" }, { ARG_TIP }, INDEX, 0, read_done },
	[STAGE_REMOVE] = { "update-index", { "update-index", "--force-remove", "-z", "--stdin" }, { 0 }, INDEX, 0, remove_done },
	[STAGE_ADD] = { "update-index", { "update-index", "--add", "--replace", "-z", "--stdin" }, { 0 }, INDEX, 0, add_done },
	[STAGE_STAGED] = { "diff-index", { "diff-index", "--cached", "-z", "--name-only", "--ignore-submodules=none" }, { ARG_TIP }, INDEX | READ, 0, staged_done },
	[STAGE_IDENT] = { "var", { "var", "GIT_COMMITTER_IDENT" }, { 0 }, MAY_FAIL, 0, ident_done },
	[STAGE_COMMIT] = { "commit", { "commit", "-q", "--cleanup=whitespace", "--no-status", "-F", "-" }, { 0 }, INDEX | HOOKED, 0, commit_done },
	[STAGE_MADE] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD^{commit}" }, { 0 }, READ, 0, made_done },
	[STAGE_CHECK] = { "diff-tree", { "diff-tree", "-r", "-z", "--raw", "--root", "--no-commit-id", "--ignore-submodules=none" }, { ARG_COMMIT }, READ, 0, check_done },
	[STAGE_OWN_INDEX] = { "update-index", { "update-index", "-z", "--index-info" }, { 0 }, 0, 0, own_index_done },
};

static enum stage last_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_NONE;
}

/* ---- for all operations ---- */

void names_add(struct names *names, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);

	if (names->count++ < NAMES_SHOWN)
		buf_addf(&names->text, "%s%s", names->text.size > 0 ? ", " : "", shown);
	free(shown);
}

void names_end(struct names *names)
{
	if (names->count > NAMES_SHOWN)
		buf_addf(&names->text, " and %zu more", names->count - NAMES_SHOWN);
}

enum stage op_fail(struct git_op *op, char *error)
{
	free(op->error);
	op->error = error;
	return STAGE_NONE;
}

void op_fresh_index(struct git_op *op)
{
	char *lock = xasprintf("%s.lock", op->index);

	unlink(op->index);
	unlink(lock);		/* of a git that was killed */
	free(lock);
}

/* ---- processes ---- */

/* The whole of a recorded stream, at most max bytes. 0 or -errno; -ENODATA: some of it was not kept. */
static int read_stream(int dirfd, const char *stream, size_t max, struct buf *out)
{
	char chunk[65536];
	struct output_chunk got;

	do {
		int rv = output_read(dirfd, stream, out->size, chunk, sizeof(chunk), &got);

		if (rv == -ENOENT)
			return 0;
		if (rv != 0)
			return rv;
		if (got.dropped > 0)
			return -ENODATA;
		buf_add(out, chunk, got.size);
	} while (got.size > 0 && out->size < got.end && out->size < max);
	return 0;
}

/* What git said on stderr, in one line and at most max bytes; "" when it said nothing. */
static char *message(int dirfd, size_t max)
{
	struct buf raw = { 0 };
	char *text;

	read_stream(dirfd, RECORD_STDERR, max, &raw);
	if (raw.size > max)
		raw.size = max;
	while (raw.size > 0 && raw.data[raw.size - 1] == '\n')
		raw.size--;
	for (size_t i = 0; i < raw.size; i++) {
		if (raw.data[i] == '\n')
			raw.data[i] = ' ';
	}
	text = text_escape(raw.data != NULL ? raw.data : "", raw.size, false);
	buf_release(&raw);
	return text;
}

static const char *remedy(const struct git_op *op, const char *said)
{
	/* stage: only there; STAGE_NONE: anywhere. */
	static const struct { enum stage stage; const char *sign, *remedy; } remedies[] = {
		{ STAGE_OWN_INDEX, "", "the commit was made, but your index does not know it yet: run `git reset -q` there" },
		{ STAGE_NONE, "No space left", "free some space and retry the run" },
		{ STAGE_NONE, ".lock': File exists", "another git works there: wait for it, or remove the file when there is none" },
		{ STAGE_COMMIT, "failed to sign", "let signing work without a question, or set commit.gpgsign=false there; the work is in the work tree" },
		{ STAGE_COMMIT, "", "if a hook refused it, make it pass and commit what is in the work tree yourself" },
		{ STAGE_NONE, "Permission denied", "make it readable for the daemon's user, or have .gitignore name it" },
		{ STAGE_NONE, "could not open", "make it readable, or have .gitignore name it" },
		{ STAGE_NONE, "index file", "see what `git status` says there" },
		{ STAGE_NONE, "", "run `git status` there to see what git needs" },
	};
	size_t i = 0;

	while ((remedies[i].stage != STAGE_NONE && remedies[i].stage != op->stage) || strstr(said, remedies[i].sign) == NULL)
		i++;
	return remedies[i].remedy;
}

static enum stage process_failed(struct git_op *op)
{
	const char *name = stages[op->stage].name;
	bool hooked = (stages[op->stage].flags & HOOKED) != 0;
	char *said = message(op->dirfd, hooked ? HOOK_MESSAGE_MAX : MESSAGE_MAX), *error;

	if (said[0] == '\0' && hooked)
		error = xasprintf("git %s failed in %s without a word: a hook of the repository refused it; %s", name, op->workspace, remedy(op, said));
	else if (said[0] == '\0')
		error = xasprintf("git %s failed in %s and said nothing; is git installed and on PATH?", name, op->workspace);
	else
		error = xasprintf("git %s in %s: %s; %s", name, op->workspace, said, remedy(op, said));
	free(said);
	/* Something that vanished, or something that cannot be read: only another look tells. */
	return (stages[op->stage].flags & AGAIN) != 0 ? tree_start_again(op, error) : op_fail(op, error);
}

/* ls-files passes over what it cannot open, with a warning and exit status 0. */
static bool missed_something(struct git_op *op)
{
	bool list = op->stage == STAGE_LIST || op->stage == STAGE_INSIDE;
	char *said = list ? message(op->dirfd, MESSAGE_MAX) : NULL;
	bool missed = said != NULL && strstr(said, "could not open directory") != NULL;

	free(said);
	return missed;
}

static enum stage result(struct git_op *op, bool ok)
{
	unsigned flags = stages[op->stage].flags;
	struct buf data = { 0 };
	enum stage next;
	int rv = 0;

	if ((!ok && (flags & MAY_FAIL) == 0) || missed_something(op))
		return process_failed(op);
	if ((flags & READ) != 0)
		rv = read_stream(op->dirfd, RECORD_STDOUT, SIZE_MAX, &data);
	if (rv != 0)
		next = op_fail(op, xasprintf("output of git %s in %s: %s", stages[op->stage].name, op->workspace, strerror(-rv)));
	else
		next = stages[op->stage].done(op, ok, data.data != NULL ? data.data : "", data.size);
	buf_release(&data);
	return next;
}

/* The tree without anything in it, in the repository's kind of id. */
static const char *empty_tree(const struct git_op *op)
{
	return strlen(op->tree) == 40 ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904" :
	    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";
}

static void add_arg(struct git_op *op, enum arg arg)
{
	const char *const words[] = {
		[ARG_GIVEN] = op->given,
		[ARG_BASE] = op->base,
		[ARG_TREE] = op->tree,
		[ARG_REF] = op->ref,
		[ARG_TIP] = op->tip,
		[ARG_COMMIT] = op->commit,
		[ARG_ARTIFACT] = op->snapshot != NULL ? snapshot_tracked_artifact(op->snapshot) : NULL,
	};

	if (arg == ARG_TIP && op->tip == NULL)
		git_command_add(&op->command, empty_tree(op));
	else if (arg != ARG_NONE)
		git_command_add(&op->command, words[arg]);
}

static void prepare(struct git_op *op, struct step_spec *step)
{
	unsigned flags = stages[op->stage].flags;
	const char *index = (flags & INDEX) != 0 ? op->index : NULL;
	const char *words[WORDS + 2] = { NULL };
	bool checkout = op->kind == GIT_VERIFY && op->dir != NULL && (op->stage == STAGE_HEAD || op->stage == STAGE_HASH);
	const char *place = checkout ? op->dir : op->workspace;
	char *dir = NULL;
	size_t n = 0;

	/* Named outright, so that git does not go looking in the directories above. */
	if (op->stage == STAGE_HEAD) {
		words[n++] = dir = xasprintf("--git-dir=%s/.git", op->inside);
	} else if (checkout) {
		char *own = git_dir_own(op->workspace);

		words[n++] = dir = xasprintf("--git-dir=%s", own != NULL ? own : op->workspace);
		free(own);
	}
	memcpy(words + n, stages[op->stage].words, sizeof(stages[op->stage].words));
	if ((flags & HOOKED) != 0)
		git_command_set_hooked(&op->command, place, index, words);
	else
		git_command_set(&op->command, place, (flags & INSIDE) != 0 ? op->inside : NULL, index, words);
	free(dir);
	if (op->anonymous)
		git_command_set_ident(&op->command);
	for (size_t i = 0; i < 2; i++)
		add_arg(op, stages[op->stage].args[i]);
	*step = (struct step_spec){
		.name = stages[op->stage].name,
		.argv = (const char *const *)op->command.argv,
		.env = (const char *const *)op->command.env,
		.input = op->input.data,
		.input_size = op->input.size,
		.output_bytes = stages[op->stage].keep,
	};
}

/* ---- the face ---- */

struct git_op *git_op_new(const struct git_op_spec *spec)
{
	struct git_op *op = xcalloc(1, sizeof(*op));

	op->kind = spec->kind;
	op->workspace = xstrdup(spec->workspace);
	op->scratch = xstrdup(spec->scratch);
	op->given = xstrdup(spec->tree);
	op->base = xstrdup(spec->base);
	op->ref = xstrdup(spec->ref);
	op->dir = xstrdup(spec->dir);
	op->name = xstrdup(spec->name);
	op->branch = xstrdup(spec->branch);
	op->given_commit = xstrdup(spec->commit);
	op->base_commit = xstrdup(spec->base_commit);
	op->keep_ref = xstrdup(spec->keep_ref);
	op->message = xstrdup(spec->message);
	op->aside = xstrdup(spec->aside);
	op->artifacts = artifacts_copy(spec->artifacts);
	op->index = xasprintf("%s/index", spec->scratch);
	return op;
}

void git_op_free(struct git_op *op)
{
	if (op == NULL)
		return;
	snapshot_free(op->snapshot);
	unlink(op->index);
	git_command_release(&op->command);
	checkout_release(op);
	changes_release(&op->wanted);
	changes_release(&op->made);
	buf_release(&op->input);
	buf_release(&op->changed.text);
	buf_release(&op->moved.text);
	buf_release(&op->conflicts.text);
	strings_free(op->artifacts);
	free(op->workspace);
	free(op->scratch);
	free(op->given);
	free(op->base);
	free(op->ref);
	free(op->dir);
	free(op->name);
	free(op->branch);
	free(op->given_commit);
	free(op->base_commit);
	free(op->keep_ref);
	free(op->message);
	free(op->aside);
	free(op->index);
	free(op->inside);
	free(op->tree);
	free(op->tip);
	free(op->commit);
	free(op->refused);
	free(op->tip_tree);
	free(op->error);
	free(op);
}

static enum stage begin_pin(struct git_op *op)
{
	op->tree = xstrdup(op->given);
	return STAGE_PIN;
}

static enum stage begin_checkout(struct git_op *op)
{
	op->tree = xstrdup(op->given);
	return STAGE_ENTRIES;
}

static enum stage begin_verify(struct git_op *op)
{
	return op->dir != NULL ? begin_checkout(op) : tree_start(op);
}

static enum stage begin_commit(struct git_op *op)
{
	op->tree = xstrdup(op->given);
	return STAGE_CHANGES;
}

static enum stage not_available(struct git_op *op)
{
	return op_fail(op, xasprintf("git %s is not available here; use another isolation", git_op_names[op->kind]));
}

static enum stage (*const begin[GIT_OPS])(struct git_op *op) = {
	[GIT_SNAPSHOT] = tree_start,
	[GIT_MEASURE] = tree_start,
	[GIT_VERIFY] = begin_verify,
	[GIT_PIN] = begin_pin,
	[GIT_CHECKOUT] = begin_checkout,
	[GIT_COMMIT] = begin_commit,
	[GIT_BASE] = not_available,
	[GIT_WORKTREE] = not_available,
	[GIT_COMMITTED] = not_available,
	[GIT_MERGE] = not_available,
	[GIT_CLEAR] = not_available,
};

enum step_next git_op_next(struct git_op *op, int dirfd, bool ok, struct step_spec *step)
{
	buf_release(&op->input);
	op->dirfd = dirfd;
	op->stage = dirfd == -1 ? begin[op->kind](op) : result(op, ok);
	if (op->stage == STAGE_NONE)
		return op->error != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
	prepare(op, step);
	return STEP_NEXT_RUN;
}

const char *git_op_tree(const struct git_op *op)
{
	return op->tree;
}

const char *git_op_error(const struct git_op *op)
{
	return op->error;
}

const char *git_op_commit(const struct git_op *op)
{
	return op->commit;
}

const char *git_op_refused(const struct git_op *op)
{
	return op->refused;
}

const char *git_op_conflicts(const struct git_op *op)
{
	return op->conflicts.text.data;
}

const char *git_op_base(const struct git_op *op)
{
	return op->tip_tree;
}

const char *git_op_changed(const struct git_op *op)
{
	return op->changed.text.data;
}

const char *git_op_moved(const struct git_op *op)
{
	return op->moved.text.data;
}
