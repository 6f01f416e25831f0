/* SPDX-License-Identifier: MIT */
/* Repositories of the simulated world: contents are numbers, commits know their parent, and each
 * operation is one process. What a process has begun is there even when nobody hears of its end. */
#include <stdio.h>

#include "core/slot.h"
#include "git/toplevel.h"
#include "world_int.h"

struct git_op {
	enum git_op_kind kind;
	struct where where;
	char *workspace, *dir, *branch, *ref;
	int64_t given_tree, given_base, given_commit, given_base_commit, given_onto, given_known;
	bool stands, carried, put_off;
	bool holds_back, named, copies, sets_up, keeps, explains;
	int prepared;			/* 1: it is ready, 2: there is none to clone */
	bool asks_hooks, protects;
	int calls;
	struct world *world;	/* once it has begun */
	/* results */
	int64_t number;		/* of tree */
	char tree[32], base[32], commit[32], head[32];
	const char *protected, *changed, *appeared, *refused, *conflicts, *moved, *error;
	bool hook_changed, held_back, new_tree, rest;
};

const char *const git_op_names[GIT_OPS] = {
	[GIT_SNAPSHOT] = "snapshot", [GIT_MEASURE] = "measure", [GIT_VERIFY] = "verify",
	[GIT_PIN] = "pin", [GIT_CHECKOUT] = "checkout", [GIT_PREPARE] = "prepare",
	[GIT_COMMIT] = "commit", [GIT_BASE] = "base", [GIT_WORKTREE_ADD] = "worktree",
	[GIT_ADOPT_COMMITS] = "committed", [GIT_MERGE] = "merge", [GIT_WORKTREE_REMOVE] = "clear",
	[GIT_INSPECT_HEAD] = "look", [GIT_COMPARE_REFS] = "refs",
	[GIT_FIND_EDITS] = "edits", [GIT_WORKTREE_DELETE] = "delete",
};

/* "t12", "c7" */
static int64_t number_of(const char *id)
{
	return id != NULL ? strtoll(id + 1, NULL, 10) : 0;
}

/* "/state/runs/3/scratch", "/state/runs/3/scratch/1-2" */
static struct where where_of(const char *scratch)
{
	struct where where = { 0, OWN, OWN };
	long long run = 0, iteration = OWN, slot = OWN;

	sscanf(strstr(scratch, "/runs/"), "/runs/%lld/scratch/%lld-%lld", &run, &iteration, &slot);
	where.run = run;
	where.iteration = iteration;
	where.slot = slot;
	return where;
}

struct git_op *git_op_new(const struct git_op_spec *spec)
{
	struct git_op *op = xcalloc(1, sizeof(*op));

	op->kind = spec->kind;
	op->where = where_of(spec->scratch);
	op->workspace = xstrdup(spec->workspace);
	op->dir = xstrdup(spec->dir);
	op->branch = xstrdup(spec->branch);
	op->ref = xstrdup(spec->ref);
	op->given_tree = number_of(spec->tree);
	op->given_base = number_of(spec->base);
	op->given_commit = number_of(spec->commit);
	op->given_base_commit = number_of(spec->base_commit);
	op->copies = spec->copy != NULL;
	op->sets_up = spec->setup != NULL;
	op->keeps = spec->keep != 0;
	op->holds_back = spec->holds_back;
	op->given_onto = number_of(spec->onto);
	op->given_known = number_of(spec->known);
	op->stands = spec->stands;
	op->explains = spec->explains;
	op->named = spec->name != NULL;
	op->asks_hooks = spec->kind == GIT_MEASURE && spec->message != NULL;
	op->protects = spec->protect != NULL && spec->protect[0] != NULL;
	op->error = "git said no";
	return op;
}

void git_op_free(struct git_op *op)
{
	if (op == NULL)
		return;
	if (op->world != NULL && op->world->merging[op->where.run] == op)
		op->world->merging[op->where.run] = NULL;
	free(op->workspace);
	free(op->dir);
	free(op->branch);
	free(op->ref);
	free(op);
}

/* The world answers &operation_step_type itself. */
char *git_op_text(const struct git_op *op, size_t *size) { (void)op, (void)size; abort(); }
int git_op_result(struct git_op *op, int dirfd) { (void)op, (void)dirfd; abort(); }

static const char *unless_empty(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

int git_op_fault(const struct git_op *op) { (void)op; return 0; }
const char *git_op_tree(const struct git_op *op) { return op->tree; }
const char *git_op_base(const struct git_op *op) { return op->base; }
const char *git_op_error(const struct git_op *op) { return op->error; }
const char *git_op_modified_basis(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_protected(const struct git_op *op) { return op->protected; }
const char *git_op_modules(const struct git_op *op)
{
	return (void)op, NULL;
}

const char *git_op_judging(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_changed(const struct git_op *op) { return op->changed; }
const char *git_op_copied(const struct git_op *op) { return op->copies ? "copied" : NULL; }
bool git_op_ready(const struct git_op *op) { return op->prepared == 1; }
bool git_op_unprepared(const struct git_op *op) { return op->prepared == 2; }
const char *git_op_permitted(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_appeared(const struct git_op *op) { return op->appeared; }
const char *git_op_edited(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_differing(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_appeared_tree(const struct git_op *op) { (void)op; return NULL; }
void git_op_redact(struct git_op *op, const struct redactor *redactor) { (void)op, (void)redactor; }
const char *git_op_branch(const struct git_op *op) { return op->branch; }
const char *git_op_head(const struct git_op *op) { return unless_empty(op->head); }
bool git_op_held_back(const struct git_op *op) { return op->held_back; }
bool git_op_put_off(const struct git_op *op) { return op->put_off; }
bool git_op_new_tree(const struct git_op *op) { return op->new_tree; }
bool git_op_writes_patch(const struct git_op *op) { (void)op; return true; }
const char *git_op_head_at(const struct git_op *op) { (void)op; return NULL; }
char *const *git_op_ahead(const struct git_op *op) { (void)op; return NULL; }
char *const *git_op_manifests(const struct git_op *op) { (void)op; return NULL; }

/* About every other directory has something. */
char *const *git_op_ignored(const struct git_op *op)
{
	static char name[] = ".env", *const list[] = { name, NULL };

	return op->explains && op->given_tree % 2 == 0 ? list : NULL;
}

bool git_op_whole(const struct git_op *op) { (void)op; return true; }
bool git_op_rewritten(const struct git_op *op) { (void)op; return false; }
bool git_op_laid(const struct git_op *op) { return op->given_tree != 0; }
/* Of every third work tree. */
bool git_op_rest(const struct git_op *op) { return op->rest; }
bool git_op_branch_left(const struct git_op *op) { return op->given_commit == 0; }
const char *git_op_unfit(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_unconverted(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_refused(const struct git_op *op) { return op->refused; }
const char *git_op_conflicts(const struct git_op *op) { return op->conflicts; }
bool git_op_hook_changed(const struct git_op *op) { return op->hook_changed; }
const char *git_op_moved(const struct git_op *op) { return op->moved; }
const char *git_op_taken(const struct git_op *op) { (void)op; return NULL; }
const char *git_op_commit(const struct git_op *op) { return unless_empty(op->commit); }
int git_toplevel(const char *dir, char **top) { *top = xstrdup(dir); return 0; }

/* What there is */

struct place *place_of(struct world *w, const char *path)
{
	struct place *place;

	for (size_t i = 0; i < w->nplaces; i++)
		if (strcmp(w->places[i]->path, path) == 0)
			return w->places[i];
	place = xcalloc(1, sizeof(*place));
	place->path = xstrdup(path);
	place->tree = ++w->trees;
	place->where = (struct where){ 0, OWN, OWN };
	PUSH(places, place);
	return place;
}

struct place *place_of_slot(struct world *w, const struct slot_row *slot)
{
	return place_of(w, slot->worktree != NULL ? slot->worktree : view_run(w->disk, slot->run)->run.workspace);
}

static int64_t make(struct world *w, int64_t tree, int64_t parent, struct where where, int64_t of)
{
	struct made made = { tree, parent, where, of };

	PUSH(made, made);
	return (int64_t)w->nmade;
}

static const struct made *made_of(const struct world *w, int64_t id)
{
	return id > 0 ? &w->made[id - 1] : NULL;
}

bool same_where(struct where a, struct where b)
{
	return a.run == b.run && a.iteration == b.iteration && a.slot == b.slot;
}

static bool is_in(const struct world *w, int64_t id, int64_t tip)
{
	while (tip != 0 && tip != id)
		tip = made_of(w, tip)->parent;
	return tip == id;
}

bool git_is_before(const struct world *w, const char *older, const char *newer)
{
	return is_in(w, number_of(older), number_of(newer));
}

static struct branch *branch_of(struct world *w, const char *ref)
{
	for (size_t i = 0; i < w->nbranches; i++)
		if (strcmp(w->branches[i].ref, ref) == 0)
			return &w->branches[i];
	return NULL;
}

static void set_branch(struct world *w, const char *ref, int64_t tip)
{
	struct branch *branch = branch_of(w, ref), fresh = { NULL, tip };

	if (branch != NULL) {
		if (strstr(ref, "-result") != NULL && !is_in(w, branch->tip, tip))
			world_fail(w, "%s moves to a commit that has not what it had", ref);
		branch->tip = tip;
		return;
	}
	fresh.ref = xstrdup(ref);
	PUSH(branches, fresh);
}

static void give_tree(struct git_op *op, int64_t tree)
{
	op->number = tree;
	snprintf(op->tree, sizeof(op->tree), "t%lld", (long long)tree);
}

static void give_commit(struct git_op *op, int64_t id)
{
	snprintf(op->commit, sizeof(op->commit), "c%lld", (long long)id);
}

/* Operations that make something where a work tree is */

static struct fate *fate_of_slot(struct world *w, const struct git_op *op)
{
	const struct slot_row *slot = disk_slot(w, op->where);

	return slot != NULL && slot->attempt != ROW_NONE ? fate_of(w, slot->attempt) : NULL;
}

static int64_t start_of_worktree(struct world *w, const struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->branch);
	struct branch *branch = branch_of(w, ref);

	free(ref);
	return op->given_commit != 0 ? op->given_commit : branch != NULL ? branch->tip : 0;
}

/* Its directory is there from the first process on. */
static bool begin_worktree(struct world *w, struct git_op *op)
{
	struct place *place = place_of(w, op->dir);
	int64_t start = start_of_worktree(w, op);

	for (size_t i = 0; i < w->nplaces; i++)
		if (w->places[i] != place && w->places[i]->there && strcmp(w->places[i]->branch, op->branch) == 0)
			world_fail(w, "branch %s is in two work trees", op->branch);
	if (start == 0)
		world_fail(w, "the work tree %s begins at no commit", op->dir);
	if (place->there && place->head != start) {
		op->error = "the work tree is that of another start";
		return false;
	}
	if (place->there)
		return true;
	place->where = op->where;
	free(place->branch);
	place->branch = xstrdup(op->branch);
	place->there = true;
	place->created++;
	place->before = 0;
	place->head = start;
	place->tree = made_of(w, start)->tree;
	return true;
}

static void create_worktree(struct world *w, struct git_op *op)
{
	struct place *place = place_of(w, op->dir);

	give_tree(op, made_of(w, place->head)->tree);
	give_commit(op, place->head);
	/* the work of an earlier run is laid out there */
	if (op->given_tree != 0)
		place->tree = op->given_tree;
}

static void commit_as(struct world *w, struct git_op *op, struct place *place, int64_t tree)
{
	place->head = make(w, tree, place->head, op->where, (int64_t)w->nmade + 1);
	place->conflict = false;
	if (place->branch != NULL) {
		char *ref = xasprintf("refs/heads/%s", place->branch);

		set_branch(w, ref, place->head);
		free(ref);
	}
}

static void commit(struct world *w, struct git_op *op)
{
	struct place *place = place_of(w, op->workspace);
	const struct made *head = made_of(w, place->head);
	const struct fate *f = fate_of_slot(w, op);

	if (head != NULL && same_where(head->where, op->where) && head->tree == op->given_tree) {
		give_commit(op, place->head);	/* begun again */
	} else if (op->kind == GIT_COMMIT && head != NULL && head->tree == op->given_tree &&
	    place->head != op->given_commit) {
		give_commit(op, place->head);	/* the earlier run has committed it */
	} else if (place->conflict && f != NULL && f->unresolved) {
		op->conflicts = "a.c";
	} else if (f != NULL && f->refused) {
		op->refused = "the hook says no";
	} else if (op->given_tree != op->given_base && (head == NULL || head->tree != op->given_tree)) {
		op->hook_changed = f != NULL && f->hook_changes;
		if (op->hook_changed) {
			op->refused = "a hook changed a.c";
			place->tree = ++w->trees;
		}
		commit_as(w, op, place, op->hook_changed ? place->tree : op->given_tree);
		give_commit(op, place->head);
	}
}

static bool is_merged(const struct world *w, const struct git_op *op, int64_t tip)
{
	for (; tip != 0; tip = made_of(w, tip)->parent)
		if (tip == op->given_commit || made_of(w, tip)->of == op->given_commit)
			return true;
	return false;
}

/* The merged tree lies on the tip, and the branch waits. */
static void hold_back(struct world *w, struct git_op *op, struct place *place, int64_t tip, int64_t made)
{
	place->conflict = false;
	place->head = tip;
	place->tree = made_of(w, made)->tree;
	op->held_back = op->new_tree = true;
	give_tree(op, place->tree);
	give_commit(op, made);
	snprintf(op->head, sizeof(op->head), "c%lld", (long long)tip);
	snprintf(op->base, sizeof(op->base), "t%lld", (long long)made_of(w, tip)->tree);
}

static const struct evidence_row *green(const struct run_rows *rows, const char *check, int64_t tree)
{
	for (size_t i = 0; i < rows->nevidence; i++)
		if (number_of(rows->evidence[i]->tree) == tree && strcmp(rows->evidence[i]->subject, check) == 0 &&
		    (rows->evidence[i]->result == EVIDENCE_GREEN || rows->evidence[i]->result == EVIDENCE_FLAKY))
			return rows->evidence[i];
	return NULL;
}

/* The result of a run has no merged tree of which a check was not green. */
static void check_judged(struct world *w, const struct git_op *op, int64_t made)
{
	const struct run_rows *rows = view_run(w->disk, op->where.run);
	const struct plan *plan = world_plan(w, op->where.run);

	if (!op->holds_back || made_of(w, made)->of == made || plan->review_merged == REVIEW_MERGED_ALWAYS ||
	    plan->checks_mode != CHECKS_ALL || !plan_checks_room(plan))
		return;
	for (size_t i = 0; i < strings_count(plan->checks); i++)
		if (green(rows, plan->checks[i], made_of(w, made)->tree) == NULL)
			world_fail(w, "run %lld: its result moves to tree t%lld, of which check %zu was not green",
			    (long long)op->where.run, (long long)made_of(w, made)->tree, i + 1);
}

/* On what waits for the word on its own tree. If it does not fit there, nothing happens. */
static void merge_onto(struct world *w, struct git_op *op, struct place *place, const struct fate *f)
{
	op->put_off = (f != NULL && f->conflict) || op->given_commit == op->given_base_commit;
	if (!op->put_off)
		hold_back(w, op, place, op->given_onto,
		    make(w, ++w->trees, op->given_onto, op->where, op->given_commit));
}

static void merge(struct world *w, struct git_op *op)
{
	struct branch *branch = branch_of(w, op->ref);
	int64_t tip = branch != NULL ? branch->tip : op->given_base_commit, made = tip;
	const struct fate *f = fate_of_slot(w, op);
	struct place *place = place_of(w, op->dir);

	w->merging[op->where.run] = NULL;
	op->carried = tip != op->given_commit && is_in(w, op->given_commit, tip);
	if (op->given_onto != 0 && !is_merged(w, op, tip)) {
		merge_onto(w, op, place, f);
		return;
	}
	if (!is_merged(w, op, tip) && (tip == op->given_base_commit ||
	    (op->stands && is_in(w, tip, op->given_base_commit)))) {
		made = op->given_commit;
	} else if (!is_merged(w, op, tip) && f != NULL && f->conflict) {
		op->conflicts = "a.c";
		place->conflict = true;
		place->head = tip;
		place->tree = ++w->trees;
		give_tree(op, place->tree);
		give_commit(op, tip);
		snprintf(op->base, sizeof(op->base), "t%lld", (long long)made_of(w, tip)->tree);
		return;
	} else if (!is_merged(w, op, tip) && op->given_commit != op->given_base_commit) {
		made = make(w, ++w->trees, tip, op->where, op->given_commit);
		if (op->holds_back) {
			hold_back(w, op, place, tip, made);
			return;
		}
	}
	op->new_tree = made_of(w, made)->tree != made_of(w, op->given_commit)->tree;
	/* what was held back is committed now */
	if (op->holds_back && place->head == op->given_base_commit)
		place->head = op->given_commit;
	if (made != tip)
		check_judged(w, op, made);
	set_branch(w, op->ref, made);
	give_commit(op, made);
	give_tree(op, made_of(w, made)->tree);
}

static void clear(struct world *w, struct git_op *op)
{
	struct place *place = place_of(w, op->dir);

	if (place->there && place->tree != made_of(w, place->head)->tree)
		place->saved = make(w, place->tree, place->head, op->where, (int64_t)w->nmade + 1);
	place->rest |= place->there && place->tree % 3 == 0;
	place->there = false;
	op->rest = place->rest;
	if (place->saved != 0)
		give_commit(op, place->saved);
}

/* What git sees in the beginning */

static void check_begin(struct world *w, const struct git_op *op)
{
	const struct slot_row *slot = op->where.slot == OWN ? NULL : disk_slot(w, op->where);
	bool jobs = op->kind == GIT_MEASURE || op->kind == GIT_COMMIT ||
	    op->kind == GIT_ADOPT_COMMITS || op->kind == GIT_VERIFY;

	if (op->where.slot != OWN && slot == NULL)
		world_fail(w, "git works for slot %lld/%lld/%lld, which is not on disk",
		    (long long)op->where.run, (long long)op->where.iteration,
		    (long long)op->where.slot);
	else if (jobs && strcmp(op->workspace, place_of_slot(w, slot)->path) != 0)
		world_fail(w, "git %s of run %lld looks at %s", git_op_names[op->kind],
		    (long long)op->where.run, op->workspace);
	else if (op->kind == GIT_WORKTREE_REMOVE && !slot_stage_is_end((enum slot_stage)slot->stage))
		world_fail(w, "the work tree %s is cleared before its slot has ended", op->dir);
}

static void begin(struct world *w, struct git_op *op)
{
	op->world = w;
	check_begin(w, op);
	if (op->kind != GIT_MERGE)
		return;
	if (w->merging[op->where.run] != NULL)
		world_fail(w, "run %lld merges two slots at a time", (long long)op->where.run);
	w->merging[op->where.run] = op;
}

/* Nobody begins without a commit. */
static void give_head(struct world *w, struct git_op *op, struct place *place)
{
	if (place->head == 0)
		place->head = make(w, place->tree, 0, op->where, (int64_t)w->nmade + 1);
	give_commit(op, place->head);
}

/* A retry has the base of the run before it, and a branch with what that has merged. */
static void begin_after(struct world *w, struct git_op *op)
{
	char *ref = xasprintf("refs/heads/%s", op->branch);

	give_commit(op, op->given_commit);
	give_tree(op, made_of(w, op->given_commit)->tree);
	if (op->branch != NULL && branch_of(w, ref) == NULL)
		set_branch(w, ref, op->given_known != 0 ? op->given_known : op->given_commit);
	free(ref);
}

static void act(struct world *w, struct git_op *op)
{
	const struct fate *f = op->where.slot == OWN ? NULL : fate_of_slot(w, op);
	struct place *place;

	switch (op->kind) {
	case GIT_SNAPSHOT:
		place = place_of(w, op->workspace);
		give_tree(op, place->tree);
		if (op->named)
			give_head(w, op, place);
		break;
	case GIT_INSPECT_HEAD:
		place = place_of(w, op->workspace);
		if (place->head != op->given_commit) {
			give_commit(op, place->head);
			give_tree(op, place->tree);
		}
		break;
	case GIT_MEASURE:
		place = place_of(w, op->workspace);
		give_tree(op, place->tree);
		/* every third tree has another test than the base */
		if (op->protects && op->number != op->given_tree && op->number % 3 == 0)
			op->protected = "tests/a.c";
		if (place->conflict && f != NULL && f->unresolved)
			op->conflicts = "a.c";
		else if (op->asks_hooks && op->number != op->given_tree && f != NULL && f->refused)
			op->refused = "the hook says no";
		break;
	case GIT_BASE:
		place = place_of(w, op->workspace);
		if (op->given_commit != 0) {
			begin_after(w, op);
			break;
		}
		give_tree(op, place->tree);
		give_commit(op, make(w, place->tree, place->head, op->where, (int64_t)w->nmade + 1));
		break;
	case GIT_VERIFY:
		op->changed = f != NULL && !f->changes_tree ? "file.c" : NULL;
		op->appeared = f != NULL && f->denied ? "new.c" : NULL;
		break;
	case GIT_FIND_EDITS:
		op->appeared = f != NULL && f->denied ? "new.c" : NULL;
		break;
	case GIT_CHECKOUT:
		place_of(w, op->dir)->fresh = true;
		break;
	case GIT_WORKTREE_ADD:
		create_worktree(w, op);
		break;
	case GIT_COMMIT:
	case GIT_ADOPT_COMMITS:
		commit(w, op);
		break;
	case GIT_MERGE:
		merge(w, op);
		break;
	case GIT_WORKTREE_REMOVE:
		clear(w, op);
		break;
	case GIT_WORKTREE_DELETE:
		place_of(w, op->dir)->rest = false;
		break;
	case GIT_PIN:
		place = place_of(w, op->workspace);
		if (op->named)
			give_head(w, op, place);
		op->moved = f != NULL && f->ref_moved ? "refs/heads/x is elsewhere" : NULL;
		break;
	case GIT_PREPARE:
		if (op->sets_up && !op->keeps)
			op->prepared = f != NULL && f->prepared ? 1 : op->given_tree != op->given_base ? 2 : 0;
		break;
	case GIT_COMPARE_REFS:
	case GIT_OPS:
		break;
	}
}

enum step_next git_move(struct world *w, struct git_op *op, bool ok)
{
	if (op->calls++ == 0) {
		begin(w, op);
		if (op->kind == GIT_WORKTREE_ADD && !begin_worktree(w, op))
			return STEP_NEXT_FAILED;
		return STEP_NEXT_RUN;
	}
	if (!ok && w->merging[op->where.run] == op)
		w->merging[op->where.run] = NULL;
	if (!ok)
		return STEP_NEXT_FAILED;
	act(w, op);
	return STEP_NEXT_DONE;
}

char git_answer(const struct git_op *op, enum step_next next, struct where *where, int64_t *value)
{
	static const char words[GIT_OPS] = {
		[GIT_MEASURE] = 'T', [GIT_PIN] = 'P', [GIT_CHECKOUT] = 'O', [GIT_PREPARE] = 'A',
		[GIT_WORKTREE_ADD] = 'W',
		[GIT_COMMIT] = 'C', [GIT_ADOPT_COMMITS] = 'C', [GIT_MERGE] = 'M',
	};

	*where = op->where;
	*value = op->kind == GIT_PREPARE ? op->prepared : op->number;
	if (op->carried)
		*value = made_of(op->world, op->given_commit)->tree;
	if (op->held_back || (op->kind == GIT_MERGE && op->conflicts != NULL))
		*value = op->number << 32 | number_of(op->base);
	if (next == STEP_NEXT_RUN || op->where.slot == OWN || op->kind == GIT_WORKTREE_REMOVE ||
	    op->kind == GIT_WORKTREE_DELETE || op->kind == GIT_INSPECT_HEAD || op->kind == GIT_COMPARE_REFS ||
	    op->kind == GIT_FIND_EDITS || op->put_off)
		return 0;
	if (next == STEP_NEXT_FAILED)
		return op->kind == GIT_VERIFY ? 'f' : 'F';
	if (op->hook_changed)
		return 'H';
	if (op->moved != NULL)
		return 'V';
	if (op->refused != NULL)
		return 'R';
	if (op->conflicts != NULL)
		return op->kind == GIT_MERGE ? 'X' : 'Y';
	if (op->held_back)
		return 'B';
	if (op->carried)
		return 'G';
	return words[op->kind] == 'C' && op->commit[0] == '\0' ? 'N' : words[op->kind];
}

/* It is not left behind, unless it could not be removed, which is told; and nothing that was in it
 * is lost. */
static void check_place(struct world *w, const struct place *place)
{
	const struct run_rows *rows = view_run(w->disk, place->where.run);
	bool told = rows != NULL && rows->run.warnings != NULL &&
	    strstr(rows->run.warnings, "git clear failed") != NULL, salvaged = told,
	    left = rows != NULL && rows->run.warnings != NULL &&
	    strstr(rows->run.warnings, "git delete failed") != NULL;

	for (size_t s = 0; s < w->nsalvage; s++)
		salvaged |= number_of(w->salvage[s]->commit_id) == place->saved;
	if (place->there && run_state_is_end((enum run_state)rows->run.state) && !told)
		world_fail(w, "run %lld is over, and its work tree %s is still there",
		    (long long)rows->run.id, place->path);
	if (place->rest && run_state_is_end((enum run_state)rows->run.state) && !told && !left)
		world_fail(w, "run %lld is over, and the rest of its work tree %s is still there",
		    (long long)rows->run.id, place->path);
	if (place->created > 1)
		world_fail(w, "the work tree %s was created again after it was removed", place->path);
	if (place->saved != 0 && !place->there && !salvaged)
		world_fail(w, "what %s had is kept, and nobody is told where", place->path);
}

void git_check_end(struct world *w)
{
	for (size_t i = 0; i < w->nplaces; i++)
		check_place(w, w->places[i]);
}

static void forget_place(struct world *w, struct place *place)
{
	check_place(w, place);
	free(place->path);
	free(place->branch);
	free(place);
}

/* A directory, a branch, a ref. */
static bool is_of_run(const char *name, const char *before, int64_t run)
{
	const char *at = strstr(name, before);
	char *end;

	return at != NULL && strtoll(at + strlen(before), &end, 10) == run && end > at + strlen(before);
}

void git_retire(struct world *w, int64_t run)
{
	REMOVE_IF(places, i, w->places[i]->where.run == run || is_of_run(w->places[i]->path, "/runs/", run) ||
	    is_of_run(w->places[i]->path, "/worktrees/", run), forget_place(w, w->places[i]));
	REMOVE_IF(branches, i, is_of_run(w->branches[i].ref, "refs/heads/rl/", run), free(w->branches[i].ref));
	REMOVE_IF(salvage, i, w->salvage[i]->run == run, row_free(ROW_SALVAGE, w->salvage[i]));
}
