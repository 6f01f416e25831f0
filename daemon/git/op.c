/* SPDX-License-Identifier: MIT */
#include "git/op.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "git/aside.h"
#include "git/command.h"
#include "git/snapshot.h"
#include "proto/escape.h"
#include "record/layout.h"
#include "record/output.h"

/*   LIST ─▶ HEAD ⇄ INSIDE ─▶ HASH ─▶ INDEX ─▶ TREE ─┬─▶ SNAPSHOT: done
 *    ▲  (nested repositories)    │                  ├─▶ MEASURE: PATCH ─▶ done
 *    └── once, when files moved ─┘                  └─▶ VERIFY: done when equal, else COMPARE ─▶ done
 *   PIN ─▶ done */
enum stage { STAGE_NONE, STAGE_LIST, STAGE_HEAD, STAGE_INSIDE, STAGE_HASH, STAGE_INDEX, STAGE_TREE, STAGE_PATCH, STAGE_COMPARE, STAGE_PIN, STAGES };

#define PATCH_KEEP (64 * 1024 * 1024)	/* of a patch: head and tail */
#define MESSAGE_MAX 600			/* of git's own words in an error */
#define NAMES_SHOWN 3

const char *const git_op_names[GIT_OPS] = {
	[GIT_SNAPSHOT] = "snapshot",
	[GIT_MEASURE] = "measure",
	[GIT_VERIFY] = "verify",
	[GIT_PIN] = "pin",
	[GIT_CHECKOUT] = "checkout",
	[GIT_COMMIT] = "commit",
};

/* A list of names for people: "a.c, b.c, d.c and 3 more". */
struct names {
	struct buf text;
	size_t count;
};

struct git_op {
	enum git_op_kind kind;
	char *workspace, *scratch, *base, *ref, *aside, *index;
	enum stage stage;		/* whose result comes next */
	struct snapshot *snapshot;
	char *inside;			/* nested repository that HEAD or INSIDE is about */
	bool again;			/* the work tree moved once already */
	struct git_command command;
	struct buf input;
	char *tree, *error;
	struct names changed, moved;
};

/* What a finished process leads to; STAGE_NONE: done, or failed when op->error is set. data: its stdout. */
typedef enum stage result_fn(struct git_op *op, bool ok, const char *data, size_t size);

static result_fn list_done, head_done, inside_done, hash_done, index_done, tree_done, patch_done, compare_done, pin_done;

#define WORDS 10

static const struct {
	const char *name;
	const char *words[WORDS];
	bool index;		/* on the private index */
	bool read;		/* its stdout is wanted */
	int64_t keep;
	result_fn *done;
} stages[STAGES] = {
	[STAGE_LIST] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard" }, false, true, 0, list_done },
	[STAGE_HEAD] = { "rev-parse", { "rev-parse", "--verify", "-q", "HEAD" }, false, true, 0, head_done },
	[STAGE_INSIDE] = { "ls-files", { "ls-files", "-c", "-o", "-s", "-t", "-z", "--exclude-standard" }, false, true, 0, inside_done },
	[STAGE_HASH] = { "hash-object", { "hash-object", "-w", "--no-filters", "--stdin-paths" }, false, true, 0, hash_done },
	[STAGE_INDEX] = { "update-index", { "update-index", "-z", "--index-info" }, true, false, 0, index_done },
	/* missing-ok: every object was just written or is the repository's own; a partial clone must not fetch. */
	[STAGE_TREE] = { "write-tree", { "write-tree", "--missing-ok" }, true, true, 0, tree_done },
	[STAGE_PATCH] = { "diff-tree", { "diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
	    "--src-prefix=a/", "--dst-prefix=b/" }, true, false, PATCH_KEEP, patch_done },
	[STAGE_COMPARE] = { "diff-tree", { "diff-tree", "-r", "-z", "--name-status" }, true, true, 0, compare_done },
	[STAGE_PIN] = { "update-ref", { "update-ref", "--no-deref" }, false, false, 0, pin_done },
};

/* ---- results ---- */

static void names_add(struct names *names, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);

	if (names->count++ < NAMES_SHOWN)
		buf_addf(&names->text, "%s%s", names->text.size > 0 ? ", " : "", shown);
	free(shown);
}

static void names_end(struct names *names)
{
	if (names->count > NAMES_SHOWN)
		buf_addf(&names->text, " and %zu more", names->count - NAMES_SHOWN);
}

static enum stage fail(struct git_op *op, char *error)
{
	free(op->error);
	op->error = error;
	return STAGE_NONE;
}

/* What lies aside already was moved by a daemon that died before it could tell. */
static void note_moved(void *arg, const char *path)
{
	names_add(&((struct git_op *)arg)->moved, path);
}

/* A fresh look at the work tree. */
static enum stage start(struct git_op *op)
{
	char *lock = xasprintf("%s.lock", op->index);

	unlink(op->index);
	unlink(lock);		/* of a git that was killed */
	free(lock);
	snapshot_free(op->snapshot);
	op->snapshot = snapshot_new(op->workspace, op->scratch);
	return STAGE_LIST;
}

/* Something in the work tree moved between two looks: look once more, then give up. Takes error. */
static enum stage start_again(struct git_op *op, char *error)
{
	if (op->again)
		return fail(op, error);
	free(error);
	op->again = true;
	return start(op);
}

/* On to the next nested repository, or to the files. */
static enum stage list_next(struct git_op *op)
{
	const char *nested = snapshot_nested(op->snapshot);
	char *error;

	free(op->inside);
	op->inside = xstrdup(nested);
	if (nested != NULL)
		return STAGE_HEAD;
	error = snapshot_paths(op->snapshot, &op->input);
	return error != NULL ? start_again(op, error) : STAGE_HASH;
}

static enum stage list_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *error = snapshot_list(op->snapshot, op->inside, data, size);

	(void)ok;
	return error != NULL ? fail(op, error) : list_next(op);
}

static enum stage inside_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	return list_done(op, ok, data, size);
}

static enum stage head_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *id = ok && size > 1 ? xmemdup0(data, size - 1) : NULL;
	bool list = snapshot_nested_head(op->snapshot, id);

	free(id);
	return list ? STAGE_INSIDE : list_next(op);
}

static enum stage hash_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *error;

	(void)ok;
	error = snapshot_ids(op->snapshot, data, size);
	if (error == NULL)
		error = snapshot_check(op->snapshot);
	if (error != NULL)
		return start_again(op, error);
	snapshot_index(op->snapshot, &op->input);
	return STAGE_INDEX;
}

static enum stage index_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_TREE;
}

static enum stage tree_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok;
	if (size < 2)
		return fail(op, xasprintf("git write-tree: no tree id in %s", op->workspace));
	op->tree = xmemdup0(data, size - 1);
	switch (op->kind) {
	case GIT_MEASURE:
		return STAGE_PATCH;
	case GIT_VERIFY:
		aside_each(op->aside, note_moved, op);
		if (strcmp(op->tree, op->base) != 0)
			return STAGE_COMPARE;
		names_end(&op->moved);
		return STAGE_NONE;
	case GIT_SNAPSHOT:
	case GIT_PIN:
	case GIT_CHECKOUT:
	case GIT_COMMIT:
	case GIT_OPS:
		break;
	}
	return STAGE_NONE;
}

static enum stage patch_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)op, (void)ok, (void)data, (void)size;
	return STAGE_NONE;
}

static int move_aside(struct git_op *op, const char *path)
{
	int from = open(op->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC), to = open(op->aside, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rv = from == -1 || to == -1 ? -errno : aside_move(from, to, path);

	if (from != -1)
		close(from);
	if (to != -1)
		close(to);
	return rv;
}

/* Pairs of a letter and a path: A is new, anything else changed or gone. */
static enum stage compare_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	const char *end = data + size;

	(void)ok;
	for (const char *p = data; p < end; ) {
		const char *path = p + strlen(p) + 1;
		bool is_new = strcmp(p, "A") == 0;
		int rv = 0;

		if (path >= end)
			return fail(op, xasprintf("git diff-tree: its output ends in the middle of a name in %s", op->workspace));
		if (is_new)
			rv = move_aside(op, path);
		if (rv != 0)
			return fail(op, xasprintf("%s/%s: cannot be moved to %s: %s", op->workspace, path, op->aside, strerror(-rv)));
		names_add(is_new ? &op->moved : &op->changed, path);
		p = path + strlen(path) + 1;
	}
	names_end(&op->moved);
	names_end(&op->changed);
	return STAGE_NONE;
}

static enum stage pin_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	(void)ok, (void)data, (void)size;
	op->tree = xstrdup(op->base);
	return STAGE_NONE;
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

/* What git said on stderr, in one line; "" when it said nothing. */
static char *message(int dirfd)
{
	struct buf raw = { 0 };
	char *text;

	read_stream(dirfd, RECORD_STDERR, MESSAGE_MAX, &raw);
	if (raw.size > MESSAGE_MAX)
		raw.size = MESSAGE_MAX;
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

static const char *remedy(const char *said)
{
	static const struct { const char *sign, *remedy; } remedies[] = {
		{ "Permission denied", "make it readable for the daemon's user, or have .gitignore name it" },
		{ "could not open", "make it readable, or have .gitignore name it" },
		{ "No space left", "free some space and retry the run" },
		{ "index file", "see what `git status` says there" },
		{ "", "run `git status` there to see what git needs" },
	};
	size_t i = 0;

	while (strstr(said, remedies[i].sign) == NULL)
		i++;
	return remedies[i].remedy;
}

static enum stage process_failed(struct git_op *op, int dirfd)
{
	const char *name = stages[op->stage].name;
	char *said = message(dirfd), *error;

	if (said[0] == '\0')
		error = xasprintf("git %s failed in %s and said nothing; is git installed and on PATH?", name, op->workspace);
	else
		error = xasprintf("git %s in %s: %s; %s", name, op->workspace, said, remedy(said));
	free(said);
	/* Something that vanished, or something that cannot be read: only another look tells. */
	return op->stage <= STAGE_HASH ? start_again(op, error) : fail(op, error);
}

/* ls-files passes over what it cannot open, with a warning and exit status 0. */
static bool missed_something(struct git_op *op, int dirfd)
{
	bool list = op->stage == STAGE_LIST || op->stage == STAGE_INSIDE;
	char *said = list ? message(dirfd) : NULL;
	bool missed = said != NULL && strstr(said, "could not open directory") != NULL;

	free(said);
	return missed;
}

static enum stage result(struct git_op *op, int dirfd, bool ok)
{
	struct buf data = { 0 };
	enum stage next;
	int rv = 0;

	if ((!ok && op->stage != STAGE_HEAD) || missed_something(op, dirfd))
		return process_failed(op, dirfd);
	if (stages[op->stage].read)
		rv = read_stream(dirfd, RECORD_STDOUT, SIZE_MAX, &data);
	if (rv != 0)
		next = fail(op, xasprintf("output of git %s in %s: %s", stages[op->stage].name, op->workspace, strerror(-rv)));
	else
		next = stages[op->stage].done(op, ok, data.data != NULL ? data.data : "", data.size);
	buf_release(&data);
	return next;
}

static void prepare(struct git_op *op, struct git_step *step)
{
	const char *index = stages[op->stage].index ? op->index : NULL;

	if (op->stage == STAGE_HEAD) {
		/* Named outright, so that git does not go looking in the directories above. */
		char *dir = xasprintf("--git-dir=%s/.git", op->inside);
		const char *words[WORDS + 1] = { dir };

		memcpy(words + 1, stages[op->stage].words, sizeof(stages[op->stage].words));
		git_command_set(&op->command, op->workspace, NULL, index, words);
		free(dir);
	} else {
		git_command_set(&op->command, op->workspace, op->inside, index, stages[op->stage].words);
	}
	if (op->stage == STAGE_PATCH || op->stage == STAGE_COMPARE) {
		git_command_add(&op->command, op->base);
		git_command_add(&op->command, op->tree);
	} else if (op->stage == STAGE_PIN) {
		git_command_add(&op->command, op->ref);
		git_command_add(&op->command, op->base);
	}
	*step = (struct git_step){
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
	op->base = xstrdup(spec->tree);
	op->ref = xstrdup(spec->ref);
	op->aside = xstrdup(spec->aside);
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
	buf_release(&op->input);
	buf_release(&op->changed.text);
	buf_release(&op->moved.text);
	free(op->workspace);
	free(op->scratch);
	free(op->base);
	free(op->ref);
	free(op->aside);
	free(op->index);
	free(op->inside);
	free(op->tree);
	free(op->error);
	free(op);
}

enum git_next git_op_next(struct git_op *op, int dirfd, bool ok, struct git_step *step)
{
	buf_release(&op->input);
	if (dirfd == -1)
		op->stage = op->kind == GIT_PIN ? STAGE_PIN : start(op);
	else
		op->stage = result(op, dirfd, ok);
	if (op->stage == STAGE_NONE)
		return op->error != NULL ? GIT_NEXT_FAILED : GIT_NEXT_DONE;
	prepare(op, step);
	return GIT_NEXT_STEP;
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
	(void)op;
	return NULL;
}

const char *git_op_changed(const struct git_op *op)
{
	return op->changed.text.data;
}

const char *git_op_moved(const struct git_op *op)
{
	return op->moved.text.data;
}
