/* SPDX-License-Identifier: MIT */
/* An operation as seen by the engine: its spec and its result, each a table of fields. */
#include "git/git_op.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "git/git_run.h"
#include "record/exit_record.h"
#include "record/fields.h"
#include "record/layout.h"

const char *const git_op_names[GIT_OPS] = {
	[GIT_SNAPSHOT] = "snapshot",
	[GIT_MEASURE] = "measure",
	[GIT_VERIFY] = "verify",
	[GIT_PIN] = "pin",
	[GIT_CHECKOUT] = "checkout",
	[GIT_PREPARE] = "prepare",
	[GIT_COMMIT] = "commit",
	[GIT_BASE] = "base",
	[GIT_WORKTREE_ADD] = "worktree",
	[GIT_ADOPT_COMMITS] = "committed",
	[GIT_MERGE] = "merge",
	[GIT_WORKTREE_REMOVE] = "clear",
	[GIT_WORKTREE_DELETE] = "delete",
	[GIT_INSPECT_HEAD] = "look",
	[GIT_FIND_EDITS] = "edits",
	[GIT_COMPARE_REFS] = "refs",
};

/* An rl-git of another version may read what this rld writes: the names in the files are fixed,
 * whatever the fields are called. */
#define SPEC_AS(name, field, kind) { name, kind, offsetof(struct git_op_spec, field), 0, NULL }
#define SPEC(field, kind) SPEC_AS(#field, field, kind)

static const struct fields_row spec_rows[] = {
	{ "kind", FIELDS_NAME, offsetof(struct git_op_spec, kind), GIT_OPS, git_op_names },
	SPEC(workspace, FIELDS_STRING),
	SPEC(repository, FIELDS_STRING),
	SPEC(scratch, FIELDS_STRING),
	SPEC(evidence, FIELDS_STRING),
	SPEC(settings_kept, FIELDS_BOOL),
	SPEC(explains, FIELDS_BOOL),
	SPEC(reuses, FIELDS_BOOL),
	SPEC(room_only, FIELDS_BOOL),
	SPEC(room_base, FIELDS_STRING),
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
	SPEC(moves, FIELDS_STRING),
	SPEC(origin, FIELDS_STRING),
	SPEC(holds_back, FIELDS_BOOL),
	SPEC(onto, FIELDS_STRING),
	SPEC(stands, FIELDS_BOOL),
	SPEC(message, FIELDS_STRING),
	SPEC(artifacts, FIELDS_LIST),
	SPEC(copy, FIELDS_LIST),
	SPEC_AS("others", shared_paths, FIELDS_LIST),
	SPEC_AS("others_tree", shared_paths_tree, FIELDS_STRING),
	SPEC(judged, FIELDS_STRING),
	SPEC(settings, FIELDS_STRING),
	SPEC_AS("beside", appeared_tree, FIELDS_STRING),
	SPEC_AS("judges", basis, FIELDS_LIST),
	SPEC(attributes_tree, FIELDS_STRING),
	SPEC(refs, FIELDS_LIST),
	SPEC(rooms, FIELDS_LIST),
	SPEC(displaces, FIELDS_BOOL),
	SPEC(may_change, FIELDS_LIST),
	SPEC(protect, FIELDS_LIST),
	SPEC(judging, FIELDS_LIST),
	SPEC(setup, FIELDS_STRING),
	SPEC(keep, FIELDS_OPTION),
	SPEC(copied, FIELDS_STRING),
	SPEC(setup_inputs, FIELDS_LIST),
	SPEC(disk_floor, FIELDS_OPTION64),
};

static const struct fields_type spec_type = {
	.kind = "git-operation",
	.version = 1,
	.rows = spec_rows,
	.count = sizeof(spec_rows) / sizeof(spec_rows[0]),
	.object_size = sizeof(struct git_op_spec),
	.file_max = 64 * 1024 * 1024,
};

#define RESULT_AS(name, field, kind) { name, kind, offsetof(struct git_result, field), 0, NULL }
#define RESULT(field, kind) RESULT_AS(#field, field, kind)

static const struct fields_row result_rows[] = {
	RESULT(error, FIELDS_STRING),
	RESULT(fault, FIELDS_OPTION),
	RESULT(tree, FIELDS_STRING),
	RESULT(commit, FIELDS_STRING),
	RESULT(branch, FIELDS_STRING),
	RESULT(head, FIELDS_STRING),
	RESULT(head_at, FIELDS_STRING),
	RESULT(base, FIELDS_STRING),
	RESULT_AS("beside", appeared_tree, FIELDS_STRING),
	RESULT(changed, FIELDS_STRING),
	RESULT(permitted, FIELDS_STRING),
	RESULT(appeared, FIELDS_STRING),
	RESULT(edited, FIELDS_STRING),
	RESULT(differing, FIELDS_STRING),
	RESULT(conflicts, FIELDS_STRING),
	RESULT(refused, FIELDS_STRING),
	RESULT(unfit, FIELDS_STRING),
	RESULT(taken, FIELDS_STRING),
	RESULT_AS("judges", modified_basis, FIELDS_STRING),
	RESULT(ahead, FIELDS_LIST),
	RESULT(ignored, FIELDS_LIST),
	RESULT(manifests, FIELDS_LIST),
	RESULT(rewritten, FIELDS_BOOL),
	RESULT(branch_left, FIELDS_BOOL),
	RESULT(rest, FIELDS_BOOL),
	RESULT(hook_changed, FIELDS_BOOL),
	RESULT(held_back, FIELDS_BOOL),
	RESULT(new_tree, FIELDS_BOOL),
	RESULT(put_off, FIELDS_BOOL),
	RESULT(moved, FIELDS_STRING),
	RESULT(whole, FIELDS_BOOL),
	RESULT(laid, FIELDS_BOOL),
	RESULT(copied, FIELDS_STRING),
	RESULT(unconverted, FIELDS_STRING),
	RESULT(prepared, FIELDS_OPTION),
	RESULT(protected, FIELDS_STRING),
	RESULT(judging, FIELDS_STRING),
	RESULT(modules, FIELDS_STRING),
};

static const struct fields_type result_type = {
	.kind = "git-result",
	.version = 1,
	.rows = result_rows,
	.count = sizeof(result_rows) / sizeof(result_rows[0]),
	.object_size = sizeof(struct git_result),
	.file_max = 64 * 1024 * 1024,
};

/* ---- there and back ---- */

struct git_op *git_op_new(const struct git_op_spec *spec)
{
	struct git_op *op = xcalloc(1, sizeof(*op));

	if (fields_copy(&spec_type, &op->spec, spec) != 0)
		abort();
	op->result.branch = xstrdup(spec->branch);
	op->result.appeared_tree = xstrdup(spec->appeared_tree);
	return op;
}

void git_op_free(struct git_op *op)
{
	if (op == NULL)
		return;
	fields_release(&spec_type, &op->spec);
	fields_release(&result_type, &op->result);
	child_end_release(&op->end);
	strings_free(op->artifacts);
	strings_free(op->shared_paths);
	buf_release(&op->user_files);
	free(op->common);
	free(op->git_dir);
	free(op->index);
	free(op);
}

char *git_op_text(const struct git_op *op, size_t *size)
{
	return fields_text(&spec_type, &op->spec, size);
}

struct git_op *git_op_read(int fd)
{
	struct git_op_spec spec;
	struct git_op *op;
	int rv = fields_read_from(fd, &spec_type, &spec);

	if (rv != 0) {
		errno = -rv;
		return NULL;
	}
	op = git_op_new(&spec);
	fields_release(&spec_type, &spec);
	return op;
}

int git_op_write(const struct git_op *op, int dirfd)
{
	return fields_write(dirfd, RECORD_RESULT, &result_type, &op->result, false);
}

int git_op_result(struct git_op *op, int dirfd)
{
	struct exit_record record;
	struct git_result result;
	int rv;

	if (exit_record_read(dirfd, &record) == 0 && record.by == EXIT_WALL) {
		free(op->result.error);
		op->result.error = xasprintf("git %s in %s timed out and was killed; find out what "
		    "hangs there: a hook, a filter, or the disk",
		    git_op_names[op->spec.kind], op->spec.workspace);
		return 0;
	}
	rv = fields_read(dirfd, RECORD_RESULT, &result_type, &result);
	if (rv != 0)
		return rv;
	fields_release(&result_type, &op->result);
	op->result = result;
	return 0;
}

void git_op_redact(struct git_op *op, const struct redactor *redactor)
{
	struct git_result *r = &op->result;
	char **const said[] = { &r->error, &r->refused, &r->changed, &r->permitted, &r->appeared,
	    &r->edited, &r->differing, &r->conflicts, &r->unfit, &r->moved,
	    &r->unconverted };

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		redact_string(redactor, said[i]);
}

/* ---- the result ---- */

const char *git_op_tree(const struct git_op *op)
{
	return op->result.tree;
}

const char *git_op_error(const struct git_op *op)
{
	return op->result.error;
}

const char *git_op_commit(const struct git_op *op)
{
	return op->result.commit;
}

const char *git_op_branch(const struct git_op *op)
{
	return op->result.branch;
}

const char *git_op_head(const struct git_op *op)
{
	return op->result.head;
}

const char *git_op_head_at(const struct git_op *op)
{
	return op->result.head_at;
}

const char *git_op_refused(const struct git_op *op)
{
	return op->result.refused;
}

bool git_op_hook_changed(const struct git_op *op)
{
	return op->result.refused != NULL && op->result.hook_changed;
}

const char *git_op_moved(const struct git_op *op)
{
	return op->result.moved;
}

const char *git_op_copied(const struct git_op *op)
{
	return op->result.copied;
}

const char *git_op_unconverted(const struct git_op *op)
{
	return op->result.unconverted;
}

bool git_op_ready(const struct git_op *op)
{
	return op->result.prepared == GIT_ROOM_READY;
}

bool git_op_unprepared(const struct git_op *op)
{
	return op->result.prepared == GIT_ROOM_MISSING;
}

const char *git_op_unfit(const struct git_op *op)
{
	return op->result.unfit;
}

const char *git_op_conflicts(const struct git_op *op)
{
	return op->result.conflicts;
}

bool git_op_held_back(const struct git_op *op)
{
	return op->result.held_back;
}

bool git_op_writes_patch(const struct git_op *op)
{
	return op->spec.kind == GIT_MEASURE || op->spec.kind == GIT_MERGE;
}

bool git_op_put_off(const struct git_op *op)
{
	return op->result.put_off;
}

bool git_op_new_tree(const struct git_op *op)
{
	return op->result.new_tree;
}

const char *git_op_taken(const struct git_op *op)
{
	return op->result.taken;
}

const char *git_op_base(const struct git_op *op)
{
	return op->result.base;
}

const char *git_op_protected(const struct git_op *op)
{
	return op->result.protected;
}

const char *git_op_modules(const struct git_op *op)
{
	return op->result.modules;
}

const char *git_op_judging(const struct git_op *op)
{
	return op->result.judging;
}

const char *git_op_modified_basis(const struct git_op *op)
{
	return op->result.modified_basis;
}

const char *git_op_changed(const struct git_op *op)
{
	return op->result.changed;
}

const char *git_op_permitted(const struct git_op *op)
{
	return op->result.permitted;
}

const char *git_op_appeared(const struct git_op *op)
{
	return op->result.appeared;
}

const char *git_op_edited(const struct git_op *op)
{
	return op->result.edited;
}

const char *git_op_differing(const struct git_op *op)
{
	return op->result.differing;
}

const char *git_op_appeared_tree(const struct git_op *op)
{
	return op->result.appeared_tree;
}

int git_op_fault(const struct git_op *op)
{
	return op->result.fault;
}

char *const *git_op_ahead(const struct git_op *op)
{
	return op->result.ahead;
}

char *const *git_op_ignored(const struct git_op *op)
{
	return op->result.ignored;
}

char *const *git_op_manifests(const struct git_op *op)
{
	return op->result.manifests;
}

bool git_op_rewritten(const struct git_op *op)
{
	return op->result.rewritten;
}

bool git_op_whole(const struct git_op *op)
{
	return op->result.whole;
}

bool git_op_laid(const struct git_op *op)
{
	return op->result.laid;
}

bool git_op_rest(const struct git_op *op)
{
	return op->result.rest;
}

bool git_op_branch_left(const struct git_op *op)
{
	return op->result.branch_left;
}
