/* SPDX-License-Identifier: MIT */
#include "git/op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "git/artifact.h"
#include "git/gitdir.h"
#include "git/lock.h"
#include "git/op_int.h"
#include "git/registration.h"
#include "git/sync.h"
#include "proto/escape.h"
#include "record/exit_record.h"
#include "record/fields.h"
#include "record/host_fault.h"
#include "record/layout.h"
#include "record/output.h"

#define MESSAGE_MAX 600			/* of git's own words in an error */
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
	[GIT_LOOK] = "look",
};

/* ---- for all operations ---- */

void names_add(struct names *names, const char *path)
{
	char *shown = text_escape(path, strlen(path), false);

	if (names->count++ < (names->shown != 0 ? names->shown : NAMES_SHOWN))
		buf_addf(&names->text, "%s%s", names->text.size > 0 ? ", " : "", shown);
	free(shown);
}

void names_end(struct names *names)
{
	size_t shown = names->shown != 0 ? names->shown : NAMES_SHOWN;

	if (names->count > shown)
		buf_addf(&names->text, " and %zu more", names->count - shown);
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

/* What git said on stderr, in one line and at most max bytes; "" when it said nothing. */
static char *message(int dirfd, size_t max)
{
	char *said, *text;
	size_t size;

	if (output_read_all(dirfd, RECORD_STDERR, max, &said, &size) != 0)
		return xstrdup("");
	while (size > 0 && said[size - 1] == '\n')
		size--;
	for (size_t i = 0; i < size; i++) {
		if (said[i] == '\n')
			said[i] = ' ';
	}
	text = text_escape(said, size, false);
	free(said);
	return text;
}

static const char *remedy(const struct git_op *op, const char *said)
{
	/* stage: only there; STAGE_NONE: anywhere. */
	static const struct { enum stage stage; const char *sign, *remedy; } remedies[] = {
		{ STAGE_OWN_INDEX, "", "the commit was made, but your index does not know it yet: run `git reset -q` there" },
		{ STAGE_NONE, ".lock': File exists", "another git works there: wait for it, or remove the file when there is none" },
		{ STAGE_COMMIT, "failed to sign", "let signing work without a question, or set commit.gpgsign=false there" },
		{ STAGE_COMMIT, "", "see what `git commit` says there" },
		{ STAGE_NONE, "cannot run ", "a hook of the repository cannot be run: put it right, or take it away, then retry the run" },
		{ STAGE_NONE, "died of signal", "a hook of the repository was ended by a signal: see why, then retry the run" },
		{ STAGE_BASE_ADD, " filter '", "let that filter work for the daemon's user, or commit what you have without it" },
		{ STAGE_WORKTREE, " filter '", "let that filter work for the daemon's user, then retry the run" },
		{ STAGE_WORKTREE, "cannot create", "another branch has a part of that name: rename it with `git branch -m`, then retry the run" },
		{ STAGE_WORKTREE, "already checked out", "end the work there, and remove it with `git worktree remove`, then retry the run" },
		{ STAGE_WORKTREE, "already used by worktree", "end the work there, and remove it with `git worktree remove`, then retry the run" },
		{ STAGE_NONE, "insufficient permission", "make its .git writable for the daemon's user" },
		{ STAGE_WORKTREE, "Permission denied", "make its .git, and the place of the task's work tree, writable for the daemon's user" },
		{ STAGE_NONE, "Unable to create '", "make its .git writable for the daemon's user" },
		{ STAGE_NONE, "unable to create directory for", "make its .git writable for the daemon's user" },
		{ STAGE_NONE, "Read-only file system", "make its .git writable for the daemon's user" },
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

/* ---- faults of the host ---- */

#define WORDS_MAX ((size_t)256 * 1024)
#define FULL_BYTES ((uint64_t)64 * 1024)	/* git has taken away again what it could not finish */
#define FULL_FILES 4

static bool is_full(const char *path)
{
	struct statvfs fs;

	if (path == NULL || statvfs(path, &fs) == -1)
		return false;
	return (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES || (fs.f_files > 0 && fs.f_favail < FULL_FILES);
}

/* What git says on stderr of the host. Of one whose hooks have written there too, its own last word counts. */
static int fault_said(const struct git_op *op)
{
	char *said;
	size_t size;
	int fault = 0;

	if (output_read_all(op->dirfd, RECORD_STDERR, WORDS_MAX, &said, &size) != 0)
		return 0;
	fault = host_fault_said(said, (stages[op->stage].flags & HOOKED) != 0);
	free(said);
	return fault;
}

static int fault_of(const struct git_op *op)
{
	int fault = fault_said(op);

	if (fault == 0 && (is_full(op->scratch) || is_full(op->place) || is_full(op->repository)))
		fault = ENOSPC;
	return fault;
}

char *op_said(const struct git_op *op)
{
	return message(op->dirfd, MESSAGE_MAX);
}

/* What is known of a git without words: how it ended. */
static char *silent(const struct git_op *op, const char *name)
{
	struct exit_record record;

	if (exit_record_read(op->dirfd, &record) != 0)
		return xasprintf("git %s failed in %s and said nothing; run it there by hand to see why", name, op->workspace);
	if (record.how == EXIT_NOT_STARTED)
		return xasprintf("git %s in %s: %s; is git installed and on PATH?", name, op->workspace, record.error);
	if (record.by == EXIT_WALL)
		return xasprintf("git %s in %s did not end in time, and was killed; see what hangs there: a hook, a filter, or the disk", name, op->workspace);
	return xasprintf("git %s in %s %s %d and said nothing; run it there by hand to see why", name, op->workspace,
	    record.how == EXIT_BY_CODE ? "exited with status" : "was ended by signal", record.status);
}

enum stage op_process_failed(struct git_op *op)
{
	const char *name = stages[op->stage].name;
	char *said = op_said(op), *error;

	op->fault = fault_of(op);
	if (op->fault != 0) {
		error = xasprintf("git %s in %s: %s", name, op->workspace, said[0] != '\0' ? said : host_words(op->fault));
		free(said);
		return op_fail(op, error);
	}
	if (said[0] == '\0')
		error = silent(op, name);
	else
		error = xasprintf("git %s in %s: %s; %s%s%s", name, op->workspace, said, remedy(op, said), op->stage == STAGE_COMMIT ? "; " : "",
		    op->stage == STAGE_COMMIT ? op_remedy(op, "the work is in the work tree") : "");
	free(said);
	/* Something that vanished, or something that cannot be read: only another look tells. */
	return (stages[op->stage].flags & AGAIN) != 0 ? tree_start_again(op, error) : op_fail(op, error);
}

const char *op_remedy(const struct git_op *op, const char *there)
{
	return op->repository == NULL ? there : OP_KEPT;
}

/* ls-files passes over what it cannot open, with a warning and exit status 0. */
static bool missed_something(struct git_op *op)
{
	bool list = op->stage == STAGE_LIST || op->stage == STAGE_INSIDE || op->stage == STAGE_ALL || op->stage == STAGE_ALL_OURS;
	char *said = list ? message(op->dirfd, MESSAGE_MAX) : NULL;
	bool missed = said != NULL && strstr(said, "could not open directory") != NULL;

	free(said);
	return missed;
}

static enum stage result(struct git_op *op, bool ok)
{
	unsigned flags = stages[op->stage].flags;
	char *data = NULL;
	size_t size = 0;
	enum stage next;
	int rv = 0;

	/* what the host keeps it from is no answer */
	if ((!ok && ((flags & MAY_FAIL) == 0 || fault_said(op) != 0)) || missed_something(op))
		return op_process_failed(op);
	if ((flags & READ) != 0)
		rv = output_read_all(op->dirfd, RECORD_STDOUT, SIZE_MAX, &data, &size);
	if (rv != 0)
		next = op_fail(op, xasprintf("output of git %s in %s: %s", stages[op->stage].name, op->workspace, host_words(-rv)));
	else
		next = stages[op->stage].done(op, ok, data != NULL ? data : "", size);
	free(data);
	return next;
}

/* ---- the face ---- */

static const struct fields_type spec_type;

struct git_op *git_op_new(const struct git_op_spec *spec)
{
	struct git_op *op = xcalloc(1, sizeof(*op));

	op->text = fields_text(&spec_type, spec, &op->text_size);
	op->kind = spec->kind;
	op->shared = spec->shared;
	op->workspace = xstrdup(spec->workspace);
	op->repository = xstrdup(spec->repository);
	op->scratch = xstrdup(spec->scratch);
	op->given = xstrdup(spec->tree);
	op->base = xstrdup(spec->kind == GIT_MEASURE ? spec->tree : spec->base);
	op->ref = xstrdup(spec->ref);
	op->dir = xstrdup(spec->dir);
	op->name = xstrdup(spec->name);
	op->branch = xstrdup(spec->branch);
	op->instance = xstrdup(spec->instance);
	op->given_commit = xstrdup(spec->commit);
	op->base_commit = xstrdup(spec->base_commit);
	op->keep_ref = xstrdup(spec->keep_ref);
	op->note_ref = xstrdup(spec->note_ref);
	op->known = xstrdup(spec->known);
	op->message = xstrdup(spec->message);
	op->beside = xstrdup(spec->beside);
	op->artifacts = artifacts_copy(spec->artifacts);
	op->others = artifacts_copy(spec->others);
	op->judges = strings_copy(spec->judges);
	op->others_tree = xstrdup(spec->others_tree != NULL ? spec->others_tree : spec->tree);
	op->place = op->workspace;
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
	merge_release(op);
	changes_release(&op->wanted);
	changes_release(&op->made);
	changes_release(&op->led);
	changes_release(&op->undone);
	buf_release(&op->input);
	buf_release(&op->changed.text);
	buf_release(&op->appeared.text);
	buf_release(&op->conflicts.text);
	strings_free(op->artifacts);
	strings_free(op->others);
	strings_free(op->judges);
	buf_release(&op->unlike.text);
	free(op->others_tree);
	strings_free(op->words);
	strings_free(op->ahead);
	free(op->git_dir);
	free(op->common);
	free(op->also);
	free(op->workspace);
	free(op->repository);
	free(op->scratch);
	free(op->given);
	free(op->base);
	free(op->ref);
	free(op->dir);
	free(op->name);
	free(op->branch);
	free(op->branch_tip);
	free(op->instance);
	free(op->given_commit);
	free(op->base_commit);
	free(op->keep_ref);
	free(op->note_ref);
	free(op->known);
	free(op->message);
	free(op->beside);
	changes_release(&op->unwanted);
	changes_release(&op->seen);
	free(op->index);
	free(op->inside);
	free(op->tree);
	free(op->tip);
	free(op->commit);
	free(op->head_at);
	free(op->refused);
	free(op->planned);
	free(op->rehearsed);
	free(op->taken);
	free(op->tip_tree);
	free(op->error);
	free(op->text);
	free(op);
}

static enum stage begin_pin(struct git_op *op)
{
	op->tree = xstrdup(op->given);
	return STAGE_PIN;
}

enum stage pin_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	char *name;

	(void)ok, (void)data, (void)size;
	if (op->name == NULL)
		return STAGE_NONE;
	name = xasprintf("%s^{commit}", op->name);
	strings_append(&op->words, name);
	free(name);
	return STAGE_PIN_NAMED;
}

enum stage pin_named_done(struct git_op *op, bool ok, const char *data, size_t size)
{
	op->commit = ok && size > 1 ? xmemdup0(data, size - 1) : NULL;
	return STAGE_NONE;
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
	return attach_start(op);
}

static enum stage begin_place(struct git_op *op)
{
	(void)op;
	return STAGE_PLACE;
}

static enum stage begin_look(struct git_op *op)
{
	(void)op;
	return STAGE_LOOK_TIP;
}

static enum stage (*const begin[GIT_OPS])(struct git_op *op) = {
	[GIT_SNAPSHOT] = tree_start,
	[GIT_MEASURE] = tree_start,
	[GIT_VERIFY] = begin_verify,
	[GIT_PIN] = begin_pin,
	[GIT_CHECKOUT] = begin_checkout,
	[GIT_COMMIT] = begin_commit,
	[GIT_BASE] = begin_place,
	[GIT_WORKTREE] = begin_place,
	[GIT_COMMITTED] = attach_start,
	[GIT_MERGE] = begin_place,
	[GIT_CLEAR] = begin_place,
	[GIT_LOOK] = begin_look,
};

/* Of a git of ours that was killed, or of one of an agent that was: nobody else works on these. */
static void unlock(const struct git_op *op)
{
	char *common = git_dir_common(op->repository != NULL ? op->repository : op->workspace);
	/* one that is only now reserved may be another daemon's */
	bool reserves = op->instance != NULL && (op->kind == GIT_BASE || op->kind == GIT_WORKTREE);
	char *branch = op->branch != NULL && !reserves ? xasprintf("refs/heads/%s", op->branch) : NULL;

	if (common != NULL) {
		lock_remove_ref(common, op->ref);
		lock_remove_ref(common, op->keep_ref);
		lock_remove_ref(common, op->note_ref);
		lock_remove_ref(common, branch);
		if (op->repository != NULL)
			lock_remove_tree(common, op->workspace);
		else if (op->kind == GIT_MERGE && op->dir != NULL)
			lock_remove_tree(common, op->dir);
	}
	free(branch);
	free(common);
}

enum stage op_begin(struct git_op *op)
{
	return begin[op->kind](op);
}

static enum stage first(struct git_op *op)
{
	char *error = op->repository != NULL ? attach_trouble(op) : NULL;

	unlock(op);

	if (error != NULL)
		return op_fail(op, error);
	return op->judges != NULL ? judges_start(op) : op_begin(op);
}

/* Before anything is told of it: objects, refs, and a work tree that was laid. */
static void to_disk(struct git_op *op)
{
	char *common = git_dir_common(op->repository != NULL ? op->repository : op->workspace);
	const char *places[] = { common != NULL ? common : op->workspace, op->kind == GIT_WORKTREE || op->kind == GIT_MERGE ? op->dir : NULL };

	for (size_t i = 0; op->kind != GIT_CHECKOUT && op->error == NULL && i < 2 && places[i] != NULL; i++) {
		int rv = sync_all(places[i]);

		if (rv != 0)
			op_fail(op, xasprintf("%s: what git wrote is not on the disk: %s; see to the disk, then retry the run", places[i], host_words(-rv)));
	}
	if (op->kind == GIT_WORKTREE && op->error == NULL)
		worktree_made(op);
	free(common);
}

/* Of a work tree that others work in, too. */
static void see_head(struct git_op *op)
{
	static const bool sees[GIT_OPS] = {
		[GIT_SNAPSHOT] = true, [GIT_BASE] = true, [GIT_LOOK] = true, [GIT_COMMIT] = true, [GIT_COMMITTED] = true,
	};
	char *own = sees[op->kind] && op->repository == NULL ? git_dir_own(op->workspace) : NULL;

	if (own != NULL)
		op->head_at = registration_line(own, "HEAD");
	free(own);
}

enum step_next git_op_next(struct git_op *op, int dirfd, bool ok, struct step_spec *step)
{
	buf_release(&op->input);
	strings_free(op->words);
	op->words = NULL;
	op->dirfd = dirfd;
	op->stage = dirfd == -1 ? first(op) : result(op, ok);
	if (op->stage == STAGE_NONE) {
		if (op->refused == NULL)
			hook_over(op);
		see_head(op);
		if (op->error == NULL)
			to_disk(op);
		return op->error != NULL ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
	}
	stage_prepare(op, step);
	return STEP_NEXT_RUN;
}

void git_op_redact(struct git_op *op, const struct redactor *redactor)
{
	struct buf *const names[] = { &op->changed.text, &op->appeared.text, &op->conflicts.text };

	redact_string(redactor, &op->error);
	redact_string(redactor, &op->refused);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *masked = names[i]->data != NULL ? redact_text(redactor, names[i]->data, names[i]->size, NULL) : NULL;

		if (masked == NULL)
			continue;
		buf_release(names[i]);
		buf_adds(names[i], masked);
		free(masked);
	}
}

int git_op_fault(const struct git_op *op)
{
	return op->fault;
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

const char *git_op_branch(const struct git_op *op)
{
	return op->branch;
}

const char *git_op_head(const struct git_op *op)
{
	return op->tip;
}

char *const *git_op_ahead(const struct git_op *op)
{
	return op->ahead;
}

bool git_op_rewritten(const struct git_op *op)
{
	return op->rewritten;
}

bool git_op_branch_left(const struct git_op *op)
{
	return op->branch_left;
}

const char *git_op_refused(const struct git_op *op)
{
	return op->refused;
}

const char *git_op_conflicts(const struct git_op *op)
{
	return op->conflicts.text.data;
}

const char *git_op_taken(const struct git_op *op)
{
	return op->taken;
}

const char *git_op_head_at(const struct git_op *op)
{
	return op->head_at;
}

const char *git_op_base(const struct git_op *op)
{
	return op->tip_tree;
}

const char *git_op_judges(const struct git_op *op)
{
	return op->unlike.text.data;
}

const char *git_op_changed(const struct git_op *op)
{
	return op->changed.text.data;
}

const char *git_op_appeared(const struct git_op *op)
{
	return op->appeared.text.data;
}

const char *git_op_beside(const struct git_op *op)
{
	return op->beside;
}

/* ---- as text ---- */

#define SPEC(name, kind) { #name, kind, offsetof(struct git_op_spec, name), 0, NULL }

static const struct fields_row spec_rows[] = {
	{ "kind", FIELDS_NAME, offsetof(struct git_op_spec, kind), GIT_OPS, git_op_names },
	SPEC(workspace, FIELDS_STRING),
	SPEC(repository, FIELDS_STRING),
	SPEC(scratch, FIELDS_STRING),
	SPEC(tree, FIELDS_STRING),
	SPEC(base, FIELDS_STRING),
	SPEC(ref, FIELDS_STRING),
	SPEC(dir, FIELDS_STRING),
	SPEC(name, FIELDS_STRING),
	SPEC(branch, FIELDS_STRING),
	SPEC(instance, FIELDS_STRING),
	SPEC(commit, FIELDS_STRING),
	SPEC(shared, FIELDS_BOOL),
	SPEC(base_commit, FIELDS_STRING),
	SPEC(keep_ref, FIELDS_STRING),
	SPEC(note_ref, FIELDS_STRING),
	SPEC(known, FIELDS_STRING),
	SPEC(message, FIELDS_STRING),
	SPEC(artifacts, FIELDS_LIST),
	SPEC(others, FIELDS_LIST),
	SPEC(others_tree, FIELDS_STRING),
	SPEC(beside, FIELDS_STRING),
	SPEC(judges, FIELDS_LIST),
};

static const struct fields_type spec_type = {
	.kind = "git-operation",
	.version = 1,
	.rows = spec_rows,
	.count = sizeof(spec_rows) / sizeof(spec_rows[0]),
	.object_size = sizeof(struct git_op_spec),
	.file_max = 64 * 1024 * 1024,
};

struct git_result {
	char *error;
	int fault;
	char *tree, *commit, *branch, *head, *head_at, *base, *beside, *changed, *appeared, *conflicts, *refused, *taken, *judges;
	char **ahead;
	bool rewritten, branch_left;
};

#define RESULT(name, kind) { #name, kind, offsetof(struct git_result, name), 0, NULL }

static const struct fields_row result_rows[] = {
	RESULT(error, FIELDS_STRING),
	RESULT(fault, FIELDS_OPTION),
	RESULT(tree, FIELDS_STRING),
	RESULT(commit, FIELDS_STRING),
	RESULT(branch, FIELDS_STRING),
	RESULT(head, FIELDS_STRING),
	RESULT(head_at, FIELDS_STRING),
	RESULT(base, FIELDS_STRING),
	RESULT(beside, FIELDS_STRING),
	RESULT(changed, FIELDS_STRING),
	RESULT(appeared, FIELDS_STRING),
	RESULT(conflicts, FIELDS_STRING),
	RESULT(refused, FIELDS_STRING),
	RESULT(taken, FIELDS_STRING),
	RESULT(judges, FIELDS_STRING),
	RESULT(ahead, FIELDS_LIST),
	RESULT(rewritten, FIELDS_BOOL),
	RESULT(branch_left, FIELDS_BOOL),
};

static const struct fields_type result_type = {
	.kind = "git-result",
	.version = 1,
	.rows = result_rows,
	.count = sizeof(result_rows) / sizeof(result_rows[0]),
	.object_size = sizeof(struct git_result),
	.file_max = 64 * 1024 * 1024,
};

char *git_op_text(const struct git_op *op, size_t *size)
{
	*size = op->text_size;
	return xmemdup0(op->text, op->text_size);
}

struct git_op *git_op_read(int fd)
{
	struct git_op_spec spec;
	struct git_op *op;

	if (fields_read_from(fd, &spec_type, &spec) != 0)
		return NULL;
	op = git_op_new(&spec);
	fields_release(&spec_type, &spec);
	return op;
}

int git_op_write(const struct git_op *op, int dirfd)
{
	struct git_result r = {
		.error = op->error, .fault = op->fault, .tree = op->tree, .commit = op->commit, .branch = op->branch, .head = op->tip, .head_at = op->head_at,
		.base = op->tip_tree, .beside = op->beside, .changed = op->changed.text.data, .appeared = op->appeared.text.data,
		.conflicts = op->conflicts.text.data, .refused = op->refused, .taken = op->taken, .judges = op->unlike.text.data, .ahead = op->ahead,
		.rewritten = op->rewritten, .branch_left = op->branch_left,
	};

	return fields_write(dirfd, RECORD_RESULT, &result_type, &r, false);
}

static void take_names(struct names *names, const char *text)
{
	buf_release(&names->text);
	if (text != NULL)
		buf_adds(&names->text, text);
}

/* It took too long, and was ended. */
static bool was_late(int dirfd)
{
	struct exit_record record;

	return exit_record_read(dirfd, &record) == 0 && record.by == EXIT_WALL;
}

int git_op_result(struct git_op *op, int dirfd)
{
	struct git_result r;
	int rv;

	if (was_late(dirfd)) {
		op_fail(op, xasprintf("git %s in %s did not end in time, and was killed; see what hangs there: a hook, a filter, or the disk",
		    git_op_names[op->kind], op->workspace));
		return 0;
	}
	rv = fields_read(dirfd, RECORD_RESULT, &result_type, &r);
	if (rv != 0)
		return rv;
	text_set(&op->error, r.error);
	op->fault = r.fault;
	text_set(&op->tree, r.tree);
	text_set(&op->commit, r.commit);
	text_set(&op->branch, r.branch);
	text_set(&op->tip, r.head);
	text_set(&op->head_at, r.head_at);
	text_set(&op->tip_tree, r.base);
	text_set(&op->beside, r.beside);
	take_names(&op->changed, r.changed);
	take_names(&op->appeared, r.appeared);
	take_names(&op->conflicts, r.conflicts);
	text_set(&op->refused, r.refused);
	text_set(&op->taken, r.taken);
	take_names(&op->unlike, r.judges);
	strings_free(op->ahead);
	op->ahead = strings_copy(r.ahead);
	op->rewritten = r.rewritten;
	op->branch_left = r.branch_left;
	fields_release(&result_type, &r);
	return 0;
}
