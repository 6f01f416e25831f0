/* SPDX-License-Identifier: MIT */
/* Task sources of the simulated world: directories of beads, with bd and without, an imaginary
 * other program that works on the same beads, stories that are written back, and agents that
 * pick by themselves. */
#include <stdio.h>
#include <time.h>

#include "core/slot.h"
#include "job/read_pick.h"
#include "world_int.h"

struct task_op {
	enum task_op_kind kind;
	enum source_kind source;
	char *path, *task, *actor;
	int calls;
	bool has_bd, failed;
	enum task_trouble trouble;	/* of what has failed */
	struct task_list list;
	char *taken;
};

const char *const task_op_names[TASK_OPS] = { "load", "claim", "close", "release" };

struct task_op *task_op_new(const struct task_op_spec *spec)
{
	struct task_op *op = xcalloc(1, sizeof(*op));

	op->kind = spec->kind;
	op->source = spec->source;
	op->path = xstrdup(spec->path);
	op->task = xstrdup(spec->task);
	op->actor = xstrdup(spec->actor);
	return op;
}

void task_op_free(struct task_op *op)
{
	if (op == NULL)
		return;
	task_list_release(&op->list);
	free(op->path);
	free(op->task);
	free(op->actor);
	free(op->taken);
	free(op);
}

/* The world answers &operation_step_type itself. */
enum step_next task_op_begin(struct task_op *op) { (void)op; abort(); }
char *task_op_text(const struct task_op *op, size_t *size) { (void)op, (void)size; abort(); }
int task_op_result(struct task_op *op, int dirfd) { (void)op, (void)dirfd; abort(); }

const char *task_op_error(const struct task_op *op) { (void)op; return "bd said no"; }
enum task_trouble task_op_trouble(const struct task_op *op) { return op->trouble; }
int task_op_fault(const struct task_op *op) { (void)op; return 0; }
const struct task_list *task_op_list(const struct task_op *op) { return &op->list; }
bool task_op_has_bd(const struct task_op *op) { return op->has_bd; }
void task_op_redact(struct task_op *op, const struct redactor *redactor) { (void)op, (void)redactor; }
const char *task_op_taken(const struct task_op *op) { return op->taken; }

/* Beads */

static const char *const bead_dirs[] = { "/beads/bd", "/beads/file" };

bool beads_have_bd(const char *dir)
{
	return strcmp(dir, bead_dirs[0]) == 0;
}

void beads_init(struct world *w)
{
	for (size_t d = 0; d < sizeof(bead_dirs) / sizeof(bead_dirs[0]); d++) {
		int64_t count = w->crowd ? 40 : (int64_t)below(w, 12);

		for (int64_t i = 0; i < count; i++) {
			struct bead bead = { .dir = bead_dirs[d], .id = xasprintf("b%lld",
			    (long long)i + 1), .priority = (int64_t)below(w, 4), .changed_at = w->now };

			if (i > 0 && !w->crowd && below(w, 4) == 0)
				bead.after = w->beads[w->nbeads - 1].id;
			PUSH(beads, bead);
		}
	}
}

void beads_free(struct world *w)
{
	for (size_t i = 0; i < w->nbeads; i++) {
		free(w->beads[i].id);
		free(w->beads[i].assignee);
	}
	free(w->beads);
}

struct bead *bead_find(struct world *w, const char *dir, const char *id)
{
	for (size_t i = 0; i < w->nbeads; i++)
		if (strcmp(w->beads[i].dir, dir) == 0 && strcmp(w->beads[i].id, id) == 0)
			return &w->beads[i];
	return NULL;
}

static void set_bead(struct world *w, struct bead *bead, int status, const char *assignee)
{
	char *copy = xstrdup(assignee);

	free(bead->assignee);
	bead->assignee = copy;
	bead->status = status;
	bead->changed_at = w->now;
}

static bool is_ready(struct world *w, const struct bead *bead)
{
	return bead->status == BEAD_OPEN &&
	    (bead->after == NULL || bead_find(w, bead->dir, bead->after)->status == BEAD_CLOSED);
}

/* Compare and swap: it is his when nobody has it, or he. */
static bool claim(struct world *w, struct bead *bead, const char *actor)
{
	if (bead->status == BEAD_BUSY && bead->assignee != NULL && strcmp(bead->assignee, actor) == 0)
		return true;
	if (bead->status != BEAD_OPEN)
		return false;
	set_bead(w, bead, BEAD_BUSY, actor);
	return true;
}

void beads_other(struct world *w)
{
	struct bead *bead = w->nbeads > 0 ? &w->beads[below(w, (unsigned)w->nbeads)] : NULL;

	if (bead == NULL)
		return;
	/* a file tells times in seconds */
	w->now += 2000;
	if (bead->status == BEAD_OPEN && is_ready(w, bead))
		claim(w, bead, "other");
	else if (bead->status == BEAD_BUSY && strcmp(bead->assignee, "other") == 0)
		set_bead(w, bead, below(w, 2) == 0 ? BEAD_OPEN : BEAD_CLOSED, NULL);
	else if (bead->status == BEAD_CLOSED && below(w, 4) == 0)
		set_bead(w, bead, BEAD_OPEN, NULL);
	else
		return;
	bead->ours_passed = false;
}

/* Operations */

static char *time_text(int64_t ms)
{
	char text[40];
	struct tm tm;
	time_t seconds = (time_t)(ms / 1000);

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return xstrdup(text);
}

static int compare_items(const void *a, const void *b)
{
	const struct task_item *x = a, *y = b;

	return x->priority != y->priority ? (x->priority < y->priority ? -1 : 1) : strcmp(x->id, y->id);
}

static bool waits(struct world *w, const struct bead *bead)
{
	return bead->status == BEAD_OPEN && !is_ready(w, bead);
}

/* What bd says is ready or blocked, or the whole file. */
static void load(struct world *w, struct task_op *op)
{
	for (size_t i = 0; i < w->nbeads; i++) {
		const struct bead *bead = &w->beads[i];
		struct task_item item = { .priority = bead->priority, .max_reviews = ROW_NONE };

		if (strcmp(bead->dir, op->path) != 0 || (op->has_bd && !is_ready(w, bead) && !waits(w, bead)))
			continue;
		item.id = xstrdup(bead->id);
		item.title = xasprintf("bead %s", bead->id);
		item.ready = is_ready(w, bead);
		if (waits(w, bead))
			strings_append(&item.held_by, bead->after);
		item.done = bead->status == BEAD_CLOSED;
		item.updated_at = time_text(bead->changed_at);
		if (bead->after != NULL)
			strings_append(&item.depends_on, bead->after);
		op->list.items = xreallocarray(op->list.items, op->list.count + 1, sizeof(*op->list.items));
		op->list.items[op->list.count++] = item;
	}
	if (op->list.count > 0)
		qsort(op->list.items, op->list.count, sizeof(*op->list.items), compare_items);
}

/* The task of the run that asks. */
static const struct task_row *row_of(const struct world *w, const struct task_op *op)
{
	return disk_task(w, strtoll(op->actor + 4, NULL, 10), op->task);
}

static void give_back(struct world *w, const struct task_op *op)
{
	const struct task_row *row = row_of(w, op);
	struct bead *bead = bead_find(w, op->path, op->task);

	if (row->state == TASK_S_CLAIMED || (op->kind == TASK_OP_CLOSE) != (row->state == TASK_S_PASSED))
		world_fail(w, "%s of task %s, which is %s", task_op_names[op->kind], op->task,
		    state_name(&task_state_names, row->state));
	if (!op->has_bd || bead == NULL)
		return;
	if (op->kind == TASK_OP_CLOSE) {
		if (bead->assignee != NULL && strcmp(bead->assignee, "other") == 0 &&
		    world_plan(w, row->run)->assign == ASSIGN_DAEMON)
			world_fail(w, "bead %s is closed, and somebody else works on it", bead->id);
		set_bead(w, bead, BEAD_CLOSED, NULL);
	} else if (bead->assignee == NULL || strcmp(bead->assignee, op->actor) == 0) {
		set_bead(w, bead, BEAD_OPEN, NULL);
	}
}

static void act(struct world *w, struct task_op *op)
{
	struct bead *bead;

	switch (op->kind) {
	case TASK_OP_LOAD:
		load(w, op);
		break;
	case TASK_OP_CLAIM:
		bead = bead_find(w, op->path, op->task);
		if (op->has_bd && !claim(w, bead, op->actor))
			op->taken = xstrdup(bead->assignee != NULL ? bead->assignee :
			    "not claimed, but it has status closed");
		break;
	case TASK_OP_CLOSE:
	case TASK_OP_RELEASE:
		give_back(w, op);
		break;
	case TASK_OPS:
		break;
	}
}

enum step_next source_move(struct world *w, struct task_op *op, bool ok)
{
	op->has_bd = op->source == SOURCE_BEADS && beads_have_bd(op->path);
	if (op->calls++ == 0 && op->has_bd)
		return STEP_NEXT_RUN;
	/* bd may well have done it all the same */
	if (ok || below(w, 2) == 0)
		act(w, op);
	op->trouble = below(w, 2) == 0 ? TROUBLE_PASSES : TROUBLE_LASTS;
	op->failed = !ok || (!op->has_bd && below(w, 60) == 0);
	return op->failed ? STEP_NEXT_FAILED : STEP_NEXT_DONE;
}

char source_answer(const struct task_op *op, enum step_next next)
{
	if (op->kind != TASK_OP_CLAIM || next == STEP_NEXT_RUN)
		return 0;
	/* what passes is asked again */
	if (next == STEP_NEXT_FAILED && op->trouble == TROUBLE_PASSES)
		return 0;
	return next == STEP_NEXT_FAILED ? 'F' : op->taken != NULL ? 'k' : 'K';
}

/* Agents that pick */

static struct picked *pick_of(struct world *w, int64_t attempt)
{
	struct picked fresh = { attempt, NULL };

	for (size_t i = 0; i < w->npicks; i++)
		if (w->picks[i].attempt == attempt)
			return &w->picks[i];
	PUSH(picks, fresh);
	return &w->picks[w->npicks - 1];
}

/* Most look at what is open; some say what another has, or nothing, or a word that is no task. */
static void choose(struct world *w, struct picked *picked, const struct pick_job *job)
{
	const struct run_rows *rows = view_run(w->disk, job->run);
	unsigned count = (unsigned)strings_count(job->ids), how = below(w, 10);
	struct bead *bead;

	if (how == 0)
		return;
	if (how < 3 || count == 0) {
		bead = w->nbeads > 0 ? &w->beads[below(w, (unsigned)w->nbeads)] : NULL;
		picked->id = xstrdup(bead != NULL ? bead->id : "b999");
		return;
	}
	picked->id = xstrdup(job->ids[below(w, count)]);
	bead = bead_find(w, rows->run.source_path, picked->id);
	if (beads_have_bd(rows->run.source_path) && bead != NULL) {
		char *actor = run_actor(job->job.state_dir, &rows->run);

		/* bd is asked first: he does not say what he was not given */
		if (!claim(w, bead, actor)) {
			free(picked->id);
			picked->id = NULL;
		}
		free(actor);
	}
}

void job_pick(struct world *w, struct pick_job *job)
{
	struct picked *picked;

	/* whoever never ran has said nothing */
	if (fate_of(w, job->attempt)->started == 0 || (!job->last && below(w, 3) != 0))
		return;
	picked = pick_of(w, job->attempt);
	if (picked->id == NULL)
		choose(w, picked, job);
	for (size_t i = 0; picked->id != NULL && job->ids[i] != NULL; i++)
		if (strcmp(job->ids[i], picked->id) == 0)
			job->picked = xstrdup(picked->id);
}

/* What a run claimed is given back, unless it goes on, or the source could not be
 * told, which is told. */
void tasks_check_end(struct world *w)
{
	for (size_t i = 0; i < w->nclaims; i++) {
		const struct claim_row *claim = w->claims[i];

		if (claim->state == CLAIM_S_HELD &&
		    run_state_is_end((enum run_state)view_run(w->disk, claim->run)->run.state))
			world_fail(w, "run %lld is over, and keeps its claim of %s",
			    (long long)claim->run, claim->task);
	}
	for (size_t i = 0; i < w->nbeads; i++) {
		const struct bead *bead = &w->beads[i];
		const struct run_rows *rows;

		if (bead->status != BEAD_BUSY || strncmp(bead->assignee, "rld-", 4) != 0)
			continue;
		rows = view_run(w->disk, strtoll(bead->assignee + 4, NULL, 10));
		if (run_state_is_end((enum run_state)rows->run.state) &&
		    (rows->run.warnings == NULL || strstr(rows->run.warnings, "failed: ") == NULL) &&
		    world_plan(w, rows->run.id)->assign == ASSIGN_DAEMON)
			world_fail(w, "run %lld is over, and bd says that it works on %s",
			    (long long)rows->run.id, bead->id);
	}
}
