/* SPDX-License-Identifier: MIT */
/* The laws that every row and every decision has to keep, whatever the history. */
#include <jansson.h>

#include "core/cause.h"
#include "core/entries.h"
#include "core/slot.h"
#include "model/slots.h"
#include "world_int.h"

/* Single rows, before they are on disk */

static void check_run(struct world *w, const struct run_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->id);

	if (before == NULL)
		return;
	if (run_state_is_end((enum run_state)before->run.state))
		world_fail(w, "run %lld was changed after its end", (long long)row->id);
	if (row->state == RUN_S_HELD && before->run.state != RUN_S_HELD && row->wait_kind == WAIT_CANCELLING)
		world_fail(w, "run %lld is cancelled, and becomes held", (long long)row->id);
	if (row->started_at != ROW_NONE && before->run.started_at == ROW_NONE &&
	    row->after_run != ROW_NONE && view_run(w->disk, row->after_run)->run.state != RUN_S_SUCCEEDED)
		world_fail(w, "run %lld starts before run %lld has succeeded", (long long)row->id,
		    (long long)row->after_run);
	if (before->run.end_kind != END_NONE && row->end_kind != before->run.end_kind)
		world_fail(w, "run %lld: its cause was \"%s\", and becomes \"%s\"",
		    (long long)row->id, before->run.cause, row->cause != NULL ? row->cause : "none");
	if (row->iteration != before->run.iteration && row->iteration != before->run.iteration + 1)
		world_fail(w, "run %lld: iteration %lld comes after %lld", (long long)row->id,
		    (long long)row->iteration, (long long)before->run.iteration);
	if (row->result_branch != NULL && before->run.result_commit != NULL &&
	    (row->result_commit == NULL || !git_is_before(w, before->run.result_commit, row->result_commit)))
		world_fail(w, "run %lld: its result was %s, and becomes %s, which has not all of it",
		    (long long)row->id, before->run.result_commit,
		    row->result_commit != NULL ? row->result_commit : "nothing");
}

static void check_task(struct world *w, const struct task_row *row)
{
	const struct task_row *before = disk_task(w, row->run, row->id);

	if (before == NULL)
		return;
	if (before->locked_tree != NULL &&
	    (row->locked_tree == NULL || strcmp(row->locked_tree, before->locked_tree) != 0))
		world_fail(w, "run %lld: the lock of task %s was changed", (long long)row->run, row->id);
	if (before->state == TASK_S_PASSED && row->state != TASK_S_PASSED)
		world_fail(w, "run %lld: task %s had passed, and becomes %s", (long long)row->run,
		    row->id, state_name(&task_state_names, row->state));
	if (before->state == TASK_S_FAILED && row->state != TASK_S_FAILED)
		world_fail(w, "run %lld: task %s had failed, and becomes %s", (long long)row->run,
		    row->id, state_name(&task_state_names, row->state));
}

/* Whether an implementer of the task was begun before. */
static bool was_begun(const struct run_rows *rows, const struct task_row *task)
{
	for (size_t i = 0; i < rows->nattempts; i++)
		if (rows->attempts[i]->role == ROLE_IMPLEMENT && text_equal(rows->attempts[i]->task, task->id))
			return true;
	return false;
}

/* Every task that it depends on has passed, or is none of the run. */
/* bd may offer a task, or open it again, after what depends on it was claimed. That is ours then,
 * and is begun. */
static bool was_offered_late(struct world *w, const struct task_row *task, const struct task_row *on)
{
	const struct run_rows *rows = view_run(w->disk, task->run);
	size_t ours = rows->nslots, other = 0;

	if (on->position > task->position || (on->state == TASK_S_TAKEN && on->end_kind == END_SOURCE))
		return true;
	/* it has begun behind ours */
	for (size_t i = 0; i < rows->nslots; i++) {
		if (rows->slots[i]->voter_of != ROW_NONE)
			continue;
		ours = text_equal(rows->slots[i]->task, task->id) && i < ours ? i : ours;
		other = text_equal(rows->slots[i]->task, on->id) ? i : other;
	}
	/* it was open again behind ours, and another run has it */
	if (on->state == TASK_S_TAKEN && was_begun(rows, task))
		return strcmp(rows->run.source, "beads") == 0;
	return strcmp(rows->run.source, "beads") == 0 && ours < other;
}

static void check_dependencies(struct world *w, const struct task_row *task)
{
	json_t *ids = task->depends_on != NULL ? json_loads(task->depends_on, 0, NULL) : NULL, *id;
	size_t i;

	json_array_foreach(ids, i, id) {
		const struct task_row *on = disk_task(w, task->run, json_string_value(id));

		if (on != NULL && on->state != TASK_S_PASSED && on->state != TASK_S_IMPLEMENTED &&
		    on->state != TASK_S_DONE && !was_offered_late(w, task, on))
			world_fail(w, "run %lld: task %s is begun, and %s, which it depends on, is %s",
			    (long long)task->run, task->id, on->id,
			    state_name(&task_state_names, on->state));
	}
	json_decref(ids);
}

/* The newest run of the check on that tree that is on record; NULL: none. */
static const struct evidence_row *newest_check(const struct run_rows *rows, const char *tree, const char *command)
{
	for (size_t i = rows->nevidence; i > 0; i--) {
		const struct evidence_row *e = rows->evidence[i - 1];

		if (e->kind == EVIDENCE_CHECK && e->attempt != ROW_NONE && e->tree != NULL &&
		    strcmp(e->tree, tree) == 0 && strcmp(e->subject, command) == 0)
			return e;
	}
	return NULL;
}

/* It runs for another one that has failed. */
static bool is_replayed(const struct run_rows *rows, const struct slot_row *slot, const struct attempt_row *row)
{
	/* the slot's own row may come later in the same commit */
	const struct attempt_row *red = run_rows_attempt(rows, slot->gap == 1 ? slot->attempt : slot->red_check);

	return red != NULL && strcmp(red->agent, row->agent) != 0;
}

/* A slot does not run a check again that was green there on its tree. */
static void check_known(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct slot_row *slot = disk_slot(w, (struct where){ row->run, row->iteration, row->slot });
	bool room = slot != NULL && slot->tree != NULL && plan_checks_room(world_plan(w, row->run));
	const char *base = slot != NULL && slot->base_tree != NULL ? slot->base_tree : rows->run.base_tree;
	const struct evidence_row *newest = room ?
	    newest_check(rows, slot->base == BASE_CHECKING ? base : slot->tree, row->agent) : NULL;
	const struct attempt_row *green = newest != NULL && newest->result == EVIDENCE_GREEN ?
	    run_rows_attempt(rows, newest->attempt) : NULL;

	if (green != NULL && green->slot == row->slot && green->iteration == row->iteration &&
	    !is_replayed(rows, slot, row))
		world_fail(w, "run %lld: attempt %lld runs a check that was green on its tree", (long long)row->run,
		    (long long)row->id);
}

static bool same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static const struct slot_row *baseline_of(const struct run_rows *rows)
{
	for (size_t i = rows->nslots; i-- > 0;)
		if (rows->slots[i]->slot == SLOT_BASELINE)
			return rows->slots[i];
	return NULL;
}

static size_t early_at(const struct world *w, struct where where)
{
	size_t i = 0;

	while (i < w->nearly && !same_where(w->early[i], where))
		i++;
	return i;
}

/* A slot may ask its base before any implementer begins, and the baseline with it: work that a
 * retry continues. Then both do. */
static void note_early(struct world *w, const struct slot_row *row)
{
	const struct where where = { row->run, row->iteration, row->slot };
	const size_t at = early_at(w, where);

	if (row->base != BASE_CHECKING && at < w->nearly)
		REMOVE(early, at);
	else if (row->base == BASE_CHECKING && at == w->nearly && baseline_of(view_run(w->disk, row->run)) == NULL)
		PUSH(early, where);
}

/* Nothing runs on the base what its baseline is about to run there. */
static void check_baseline(struct world *w, const struct attempt_row *row)
{
	const struct where where = { row->run, row->iteration, row->slot };
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct slot_row *slot = disk_slot(w, where), *base = baseline_of(rows);

	if (base == NULL || slot == NULL || slot == base || slot->base != BASE_CHECKING ||
	    slot_stage_is_end((enum slot_stage)base->stage) || early_at(w, where) < w->nearly ||
	    world_task_plan(w, row->run, row->task) != world_plan(w, row->run) ||
	    !same_text(slot->base_tree != NULL ? slot->base_tree : rows->run.base_tree, base->base_tree))
		return;
	world_fail(w, "run %lld: attempt %lld runs a check on the base beside the baseline", (long long)row->run,
	    (long long)row->id);
}

static void check_attempt(struct world *w, const struct attempt_row *row)
{
	const struct task_row *task = row->task != NULL ? disk_task(w, row->run, row->task) : NULL;
	const struct attempt_row *before = disk_attempt(w, row->id);

	law_served(w, before, row);
	law_refused(w, before, row);
	if (before != NULL && before->started_at != ROW_NONE && row->started_at != before->started_at)
		world_fail(w, "attempt %lld has started, and starts again", (long long)row->id);
	if (row->end_kind == END_LIMIT)
		money_forgone(w, row);
	if (before == NULL && row->role == ROLE_CHECK) {
		check_known(w, row);
		check_baseline(w, row);
	}
	if (task == NULL || before != NULL)
		return;
	if (task->locked_tree != NULL)
		world_fail(w, "run %lld: attempt %lld takes task %s, which is locked",
		    (long long)row->run, (long long)row->id, row->task);
	if (row->slot != 0 && task->state == TASK_S_PASSED)
		world_fail(w, "run %lld: attempt %lld takes task %s, which has passed",
		    (long long)row->run, (long long)row->id, row->task);
	if (row->role == ROLE_IMPLEMENT)
		check_dependencies(w, task);
}

static void check_hold(struct world *w, const struct hold_row *row)
{
	const struct hold_row *before = disk_hold(w, row->id);

	if (before != NULL && before->state != HOLD_S_OPEN && before->state != HOLD_S_REWORK)
		world_fail(w, "hold %lld was changed after it was closed", (long long)row->id);
	if (before != NULL && before->state == HOLD_S_REWORK && row->state != HOLD_S_REWORKED &&
	    row->state != HOLD_S_CANCELLED)
		world_fail(w, "hold %lld was decided twice", (long long)row->id);
}

static void check_review(struct world *w, const struct review_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);

	if (before != NULL && row->number <= (int64_t)before->nreviews)
		world_fail(w, "run %lld: review %lld was written over", (long long)row->run, (long long)row->number);
}

/* It has a parent, unless it is a base, and another tree than that if it is work. */
static void check_product(struct world *w, const struct product_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);
	const struct product_row *parent = row->parent != ROW_NONE ? run_rows_product(before, row->parent) : NULL;

	if (row->number <= (int64_t)before->nproducts)
		world_fail(w, "run %lld: product %lld was written over", (long long)row->run,
		    (long long)row->number);
	if (row->parent == ROW_NONE && row->kind != PRODUCT_BASE)
		world_fail(w, "run %lld: product %lld was made of nothing", (long long)row->run,
		    (long long)row->number);
	if (row->kind == PRODUCT_WORK && row->from_run == ROW_NONE && parent != NULL &&
	    strcmp(parent->tree, row->tree) == 0)
		world_fail(w, "run %lld: product %lld is work that changed nothing", (long long)row->run,
		    (long long)row->number);
}

/* The check ran in that attempt on that tree, with that result. */
static bool has_said(const struct run_rows *rows, const struct evidence_row *row)
{
	for (size_t i = 0; i < rows->nevidence; i++) {
		const struct evidence_row *e = rows->evidence[i];

		if (e->kind == EVIDENCE_CHECK && e->attempt != ROW_NONE && e->tree != NULL &&
		    strcmp(e->tree, row->tree) == 0 && strcmp(e->subject, row->subject) == 0 &&
		    e->result == row->result && run_rows_attempt(rows, e->attempt)->number == row->from_attempt)
			return true;
	}
	return false;
}

/* Nothing else than the newest run of a check stands for it, and on work only if it was green. */
static void check_reuse(struct world *w, const struct run_rows *rows, const struct evidence_row *row)
{
	const struct product_row *product = row->product != ROW_NONE ? run_rows_product(rows, row->product) : NULL;
	bool base = product == NULL || product->kind == PRODUCT_BASE, ours = row->from_run == row->run;
	const struct evidence_row *newest = ours ? newest_check(rows, row->tree, row->subject) : NULL;
	const struct run_rows *of = ours ? rows : view_run(w->disk, row->from_run);

	if (row->from_attempt != ROW_NONE && (row->attempt != ROW_NONE || of == NULL || !has_said(of, row) ||
	    (row->result != EVIDENCE_GREEN && !base) || (ours && (newest == NULL ||
	    run_rows_attempt(rows, newest->attempt)->number != row->from_attempt))))
		world_fail(w, "run %lld: evidence %lld repeats what was not green", (long long)row->run,
		    (long long)row->number);
}

static void check_evidence(struct world *w, const struct evidence_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);

	if (row->kind == EVIDENCE_CHECK && row->tree != NULL)
		check_reuse(w, before, row);

	if (row->number <= (int64_t)before->nevidence)
		world_fail(w, "run %lld: evidence %lld was written over", (long long)row->run,
		    (long long)row->number);
	/* a human may decide before anything was made, a check run before it is measured */
	if (before->run.has_git == 1 && row->tree == NULL && row->kind != EVIDENCE_HUMAN &&
	    (row->kind != EVIDENCE_CHECK || plan_checks_room(world_plan(w, row->run))))
		world_fail(w, "run %lld: evidence %lld is about no product", (long long)row->run,
		    (long long)row->number);
}

/* What has ended enters the record, in the decision that ended it. */
static void check_entry(struct world *w, const struct entry_row *row)
{
	const struct run_rows *before = view_run(w->disk, row->run);
	const struct entry_row *last;

	if (row->number <= (int64_t)before->nentries)
		world_fail(w, "run %lld: entry %lld was written over", (long long)row->run, (long long)row->number);
	last = entry_newest(before->entries, before->nentries, row->kind, row->key);
	if (last != NULL && strcmp(last->row_hash, row->row_hash) == 0)
		world_fail(w, "run %lld: %s %s enters the record twice in one form", (long long)row->run, row->kind,
		    row->key);
}

/* Whoever has it keeps it until he gives it back. */
static void check_claim(struct world *w, const struct claim_row *row)
{
	for (size_t i = 0; i < w->nclaims; i++) {
		const struct claim_row *before = w->claims[i];

		if (strcmp(before->source, row->source) == 0 && strcmp(before->task, row->task) == 0 &&
		    before->state == CLAIM_S_HELD && before->run != row->run)
			world_fail(w, "task %s is claimed by run %lld, and taken from it by run %lld",
			    row->task, (long long)before->run, (long long)row->run);
	}
}

/* Its task is nobody's any more; a work tree may still have to be cleared. */
static bool is_over(const struct slot_row *slot)
{
	return slot_stage_is_end((enum slot_stage)slot->stage) && slot->leaving != LEAVING_TASK;
}

/* A round about work that touches a protected path ends with no pass and no acceptance. */
static void check_protected(struct world *w, const struct slot_row *before, const struct slot_row *row)
{
	bool on = row->stage == SLOT_S_PINNING || row->stage == SLOT_S_COMMIT_AGENT ||
	    row->stage == SLOT_S_COMMITTING || row->stage == SLOT_S_PASSED || row->stage == SLOT_S_MEASURING;

	if ((before->stage == SLOT_S_VERIFYING || before->stage == SLOT_S_PANEL) && before->voter_of == ROW_NONE &&
	    before->protected_paths != NULL && on)
		world_fail(w, "run %lld: slot %lld touches %s, and becomes %s", (long long)row->run,
		    (long long)row->slot, before->protected_paths, state_name(&slot_stage_names, row->stage));
}

/* It does not end twice, and what it took is given back before it is over. */
static void check_slot(struct world *w, const struct slot_row *row)
{
	const struct slot_row *before = disk_slot(w, (struct where){ row->run, row->iteration, row->slot });

	law_cooling(w, row);
	note_early(w, row);
	if (before != NULL)
		check_protected(w, before, row);
	/* a voter is taken again in the next round */
	if (before != NULL && row->voter_of == ROW_NONE && slot_stage_is_end((enum slot_stage)before->stage) &&
	    before->stage != row->stage)
		world_fail(w, "run %lld: slot %lld was %s, and becomes %s", (long long)row->run,
		    (long long)row->slot, state_name(&slot_stage_names, before->stage),
		    state_name(&slot_stage_names, row->stage));
}

/* A sentence has a kind, and no kind is without a sentence. */
static void check_kind(struct world *w, const char *what, int64_t run, const char *text,
    const struct state_names *names, int kind)
{
	if ((text == NULL) != (kind == 0))
		world_fail(w, "run %lld: the %s \"%s\" is of kind %s", (long long)run, what,
		    text != NULL ? text : "none", kind != 0 ? state_name(names, kind) : "none");
}

static void check_kinds(struct world *w, enum row_kind kind, const void *row)
{
	const struct run_row *run = row;
	const struct slot_row *slot = row;
	const struct task_row *task = row;
	const struct attempt_row *a = row;

	if (kind == ROW_RUN) {
		check_kind(w, "cause", run->id, run->cause, &end_kind_names, run->end_kind);
		check_kind(w, "reason", run->id, run->reason, &wait_kind_names, run->wait_kind);
		check_kind(w, "wait", run->id, run->wait_reason, &wait_kind_names, run->wait);
	} else if (kind == ROW_SLOT) {
		check_kind(w, "cause of a slot", slot->run, slot->cause, &end_kind_names, slot->end_kind);
		check_kind(w, "reason of a slot", slot->run, slot->reason, &wait_kind_names, slot->wait_kind);
		if (slot->accepted != (int)end_accepted((enum end_kind)slot->end_kind) && slot->stage != SLOT_S_HELD)
			world_fail(w, "run %lld: a slot that ended as %s is accepted by %d",
			    (long long)slot->run, slot->cause, slot->accepted);
	} else if (kind == ROW_TASK) {
		check_kind(w, "reason of a task", task->run, task->reason, &end_kind_names, task->end_kind);
	} else if (kind == ROW_ATTEMPT) {
		check_kind(w, "cause of an attempt", a->run, a->cause, &end_kind_names, a->end_kind);
	}
}

void law_row(struct world *w, enum row_kind kind, const void *row)
{
	check_kinds(w, kind, row);
	switch (kind) {
	case ROW_RUN:
		check_run(w, row);
		break;
	case ROW_TASK:
		check_task(w, row);
		break;
	case ROW_SLOT:
		check_slot(w, row);
		break;
	case ROW_ATTEMPT:
		check_attempt(w, row);
		break;
	case ROW_HOLD:
		check_hold(w, row);
		break;
	case ROW_REVIEW:
		check_review(w, row);
		break;
	case ROW_PRODUCT:
		check_product(w, row);
		break;
	case ROW_EVIDENCE:
		check_evidence(w, row);
		break;
	case ROW_ENTRY:
		check_entry(w, row);
		break;
	case ROW_CLAIM:
		check_claim(w, row);
		break;
	case ROW_JUDGE:
	case ROW_ITERATION:
	case ROW_STEP:
	case ROW_FINDING:
	case ROW_PRUNED:
	case ROW_HOOK:
	case ROW_SALVAGE:
	case ROW_GROUP:
	case ROW_COOLDOWN:
	case ROW_SPEND:
	case ROW_EVENT:
	case ROW_SETTING:
	case ROW_KINDS:
		break;
	}
}

/* The whole, once it is on disk */

static void check_chain(struct world *w, int64_t run)
{
	const struct run_rows *rows = view_run(w->disk, run);
	char *broken = run_rows_verify(rows);

	if (broken != NULL)
		world_fail(w, "run %lld: %s", (long long)run, broken);
	free(broken);
}

static bool is_unfinished(const struct attempt_row *row)
{
	return row->state == ATTEMPT_S_STARTING || row->state == ATTEMPT_S_RUNNING;
}

/* At most one at a time in a slot; and of an iteration that is on record, with the counter. */
static void check_alone(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	bool known = false;

	for (size_t i = 0; i < rows->nattempts; i++) {
		const struct attempt_row *other = rows->attempts[i];

		if (other->id != row->id && other->slot == row->slot && text_equal(other->reviewer, row->reviewer) &&
		    other->iteration == row->iteration && is_unfinished(other) && is_unfinished(row))
			world_fail(w, "run %lld: attempts %lld and %lld work in one slot",
			    (long long)row->run, (long long)row->id, (long long)other->id);
	}
	for (size_t i = 0; i < rows->niterations; i++)
		known |= rows->iterations[i]->number == row->iteration;
	if (!known || rows->run.iteration < row->iteration)
		world_fail(w, "run %lld: attempt %lld is of iteration %lld, and the counter says %lld",
		    (long long)row->run, (long long)row->id,
		    (long long)row->iteration, (long long)rows->run.iteration);
}

/* An iteration */

static bool is_begun(const struct decision *d, const char *task)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->changes[i].kind == ROW_TASK &&
		    strcmp(((const struct task_row *)d->changes[i].row)->id, task) == 0 &&
		    ((const struct task_row *)d->changes[i].row)->state == TASK_S_CLAIMED)
			return true;
	return false;
}

static bool has_passed(const struct run_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->ntasks; i++)
		if (strcmp(rows->tasks[i]->id, id) == 0)
			return rows->tasks[i]->state == TASK_S_PASSED ||
			    rows->tasks[i]->state == TASK_S_IMPLEMENTED ||
			    rows->tasks[i]->state == TASK_S_DONE;
	return true;
}

/* Open, and nothing holds it back. */
static bool is_ready(const struct run_rows *rows, const struct task_row *task)
{
	json_t *ids = task->depends_on != NULL ? json_loads(task->depends_on, 0, NULL) : NULL, *id;
	bool ready = task->state == TASK_S_OPEN;
	size_t i;

	json_array_foreach(ids, i, id)
		ready &= has_passed(rows, json_string_value(id));
	json_decref(ids);
	return ready;
}

/* It takes what is offered first, as much as it has slots for. */
static void check_filled(struct world *w, const struct decision *d, const struct run_rows *rows,
    const struct plan *plan)
{
	int64_t slots = 0, begun = 0, ready = 0, last = 0;

	for (size_t i = 0; i < rows->nslots; i++)
		slots += rows->slots[i]->iteration == rows->run.iteration && rows->slots[i]->slot != 0 &&
		    rows->slots[i]->voter_of == ROW_NONE;
	for (size_t i = 0; i < rows->ntasks; i++) {
		if (!is_begun(d, rows->tasks[i]->id))
			continue;
		begun++;
		last = rows->tasks[i]->position > last ? rows->tasks[i]->position : last;
	}
	for (size_t i = 0; i < rows->ntasks; i++) {
		if (!is_ready(rows, rows->tasks[i]))
			continue;
		ready++;
		if (plan->assign == ASSIGN_DAEMON && rows->tasks[i]->position < last)
			world_fail(w, "run %lld: iteration %lld passes over task %s",
			    (long long)rows->run.id, (long long)rows->run.iteration, rows->tasks[i]->id);
	}
	if (slots == 0 || slots > plan->parallel || (slots < plan->parallel && slots != ready + begun) ||
	    (plan->assign == ASSIGN_DAEMON && begun != slots))
		world_fail(w, "run %lld: iteration %lld has %lld slots and begins %lld tasks; "
		    "%lld are left, and it may have %lld slots", (long long)rows->run.id,
		    (long long)rows->run.iteration, (long long)slots, (long long)begun,
		    (long long)ready, (long long)plan->parallel);
}

/* It takes one of the slots. */
static bool is_working(const struct slot_row *slot)
{
	return slot->slot != 0 && !slot_row_is_beside(slot) && slot->stage != SLOT_S_HELD &&
	    slot->stage != SLOT_S_IMPLEMENTED &&
	    (!slot_stage_is_end((enum slot_stage)slot->stage) ||
	    (slot->leaving != LEAVING_NOTHING && slot->leaving != LEAVING_DELETE));
}

/* The places of a run that are taken: a task whose merge is judged leaves its own, as long as no
 * more do so than there are places. */
static int64_t places_taken(const struct run_rows *rows, const struct plan *plan)
{
	int64_t working = 0, merging = 0;

	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];
		bool agent = slot->stage == SLOT_S_REVIEWING || slot->stage == SLOT_S_VERIFYING ||
		    slot->stage == SLOT_S_PANEL || slot->stage == SLOT_S_ENDING;

		working += is_working(slot);
		merging += is_working(slot) && !agent && !slot_stage_is_end((enum slot_stage)slot->stage) &&
		    (slot->merge == MERGE_JUDGING || slot->merge == MERGE_SUSPECTED || slot->merge == MERGE_AGAIN);
	}
	return working - (merging < plan->parallel ? merging : plan->parallel);
}

/* A task begins in a free slot: those that are held, or wait for the review of the run, need
 * none. */
static void check_room(struct world *w, const struct decision *d, const struct slot_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct plan *plan = world_plan(w, row->run);

	if (row->stage != SLOT_S_WAITING || row->task == NULL || row->slot == 0 || !is_begun(d, row->task))
		return;
	if (plan->rolls && places_taken(rows, plan) > plan->parallel)
		world_fail(w, "run %lld: task %s begins, and %lld are at work", (long long)row->run, row->task,
		    (long long)places_taken(rows, plan));
}

/* Nothing may begin in the run, whatever is free. */
static bool is_closed(const struct world *w, const struct run_rows *rows, const struct plan *plan)
{
	bool closed = rows->run.stopped != 0 || world_is_spent(w, rows);

	for (size_t i = 0; i < rows->ntasks; i++)
		closed |= rows->tasks[i]->state == TASK_S_FAILED && plan->on_failure == ON_FAILURE_STOP;
	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];

		if (slot->voter_of != ROW_NONE)
			continue;
		closed |= slot->stage == SLOT_S_FAILED && (slot->slot == SLOT_BASELINE || slot->slot == 0 ||
		    plan->on_failure == ON_FAILURE_STOP);
		closed |= slot->stage == SLOT_S_CANCELLED && slot->slot != SLOT_BASELINE;
		closed |= slot->stage == SLOT_S_HELD && (slot->slot == 0 || plan->isolation != ISOLATION_WORKTREE);
		closed |= slot->slot == 0 && !is_over(slot);
	}
	return closed;
}

void law_rolls(struct world *w, const struct run_rows *rows)
{
	const struct plan *plan = world_plan(w, rows->run.id);
	int64_t working = 0, ready = 0, taken = places_taken(rows, plan);

	if (!plan->rolls || rows->run.iteration == 0 || is_closed(w, rows, plan))
		return;
	for (size_t i = 0; i < rows->nslots; i++)
		working += is_working(rows->slots[i]);
	for (size_t i = 0; i < rows->ntasks; i++)
		ready += is_ready(rows, rows->tasks[i]);
	if (working > 0 && taken < plan->parallel && ready > 0)
		world_fail(w, "run %lld: %lld of %lld slots work, and %lld tasks are ready", (long long)rows->run.id,
		    (long long)taken, (long long)plan->parallel, (long long)ready);
}

/* Who resumes a run ends its rest as well. */
static bool was_paused(const struct world *w, int64_t run)
{
	for (size_t i = 0; i < w->npaused; i++)
		if (w->paused[i]->run == run)
			return true;
	return false;
}

/* It may begin at all. */
static void check_iteration(struct world *w, const struct decision *d, const struct iteration_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct plan *plan = world_plan(w, row->run);
	long long run = row->run, number = row->number;

	if (row->state != ITERATION_S_RUNNING)
		return;
	if (plan->iterations != ROW_NONE && row->number > plan->iterations)
		world_fail(w, "run %lld: iteration %lld is beyond its limit", run, number);
	if (rows->run.stopped == 1)
		world_fail(w, "run %lld: iteration %lld comes after a stop marker", run, number);
	if (money_is_gone(w, rows))
		world_fail(w, "run %lld: iteration %lld begins, and nothing is left to pay it", run, number);
	for (size_t i = 0; i < rows->ntasks && plan->on_failure == ON_FAILURE_STOP; i++)
		if (rows->tasks[i]->state == TASK_S_FAILED)
			world_fail(w, "run %lld: iteration %lld begins, and task %s has failed",
			    run, number, rows->tasks[i]->id);
	for (size_t i = 0; i < rows->niterations; i++) {
		const struct iteration_row *before = rows->iterations[i];

		if (before->number + 1 == row->number && (before->ended_at == ROW_NONE ||
		    (row->started_at < before->ended_at + plan->pause_ms && !was_paused(w, row->run))))
			world_fail(w, "run %lld: iteration %lld begins too early", run, number);
	}
	check_filled(w, d, rows, plan);
}

/* A task of a source is in one slot of one run. */
static void check_owner(struct world *w, const struct slot_row *row)
{
	const struct run_rows *mine = view_run(w->disk, row->run), *rows = NULL;

	if (row->task == NULL || row->slot == 0 || row->voter_of != ROW_NONE || is_over(row))
		return;
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		if (rows != mine && (strcmp(mine->run.source,
		    "workflow") == 0 || !same_text(rows->run.source_path, mine->run.source_path) ||
		    strcmp(rows->run.source, mine->run.source) != 0))
			continue;
		for (size_t i = 0; i < rows->nslots; i++) {
			const struct slot_row *other = rows->slots[i];
			bool self = rows == mine && other->iteration == row->iteration && other->slot == row->slot;

			if (!self && other->slot != 0 && other->voter_of == ROW_NONE && !is_over(other) &&
			    same_text(other->task, row->task))
				world_fail(w,
				    "task %s is in slot %lld of run %lld, and in slot %lld of run %lld",
				    row->task, (long long)row->slot, (long long)row->run,
				    (long long)other->slot, (long long)other->run);
		}
	}
}

/* What has passed is not begun again, by no run, unless somebody has opened it since. */
static void check_passed(struct world *w, const struct task_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	struct bead *bead = strcmp(rows->run.source, "beads") == 0 ?
	    bead_find(w, rows->run.source_path, row->id) : NULL;

	if (bead == NULL)
		return;
	if (row->state == TASK_S_CLAIMED && bead->ours_passed && bead->passed_by != row->run)
		world_fail(w, "run %lld begins %s, which has passed in run %lld",
		    (long long)row->run, row->id, (long long)bead->passed_by);
	/* where bd is there, it is closed only when it has been told; the row is written again when
	 * its work tree goes */
	if (row->state == TASK_S_PASSED && bead->passed_by != row->run &&
	    !(beads_have_bd(bead->dir) && bead->status != BEAD_CLOSED)) {
		bead->ours_passed = true;
		bead->passed_by = row->run;
	}
}

/* A source may offer thousands of tasks each time, of which nothing has changed. */
static void check_news(struct world *w, const struct task_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct task_row *before = rows != NULL ? run_rows_task(rows, row->id) : NULL;

	if (before != NULL && before->state == row->state &&
	    (row->state == TASK_S_OPEN || row->state == TASK_S_TAKEN) && row_equal(ROW_TASK, before, row))
		world_fail(w, "run %lld: the row of task %s is written again as it is", (long long)row->run, row->id);
}

void law_news(struct world *w, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct slot_row *slot = d->changes[i].kind == ROW_SLOT ? d->changes[i].row : NULL;
		const struct slot_row *before = slot != NULL ?
		    disk_slot(w, (struct where){ slot->run, slot->iteration, slot->slot }) : NULL;

		if (d->changes[i].kind == ROW_TASK)
			check_news(w, d->changes[i].row);
		if (before != NULL)
			law_uses_nothing(w, d, before, slot);
	}
}

void law_decision(struct world *w, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct change *c = &d->changes[i];

		if (c->drop)
			continue;
		if (c->kind == ROW_RUN)
			check_chain(w, ((const struct run_row *)c->row)->id);
		if (c->kind == ROW_ATTEMPT) {
			check_alone(w, c->row);
			law_again(w, d, c->row);
			law_resumes(w, c->row);
		}
		if (c->kind == ROW_SLOT)
			check_owner(w, c->row);
		if (c->kind == ROW_SLOT)
			check_room(w, d, c->row);
		if (c->kind == ROW_TASK)
			check_passed(w, c->row);
		if (c->kind == ROW_ITERATION)
			check_iteration(w, d, c->row);
	}
}

/* When it is decided */

static bool is_starting(const struct world *w, const struct decision *d, int64_t run)
{
	const struct run_rows *rows = view_run(w->disk, run);

	for (size_t i = 0; rows != NULL && i < d->count; i++) {
		const struct run_row *row = d->changes[i].row;

		if (d->changes[i].kind == ROW_RUN && row->id == run &&
		    row->started_at != ROW_NONE && rows->run.started_at == ROW_NONE)
			return true;
	}
	return false;
}

/* Another has the workspace to itself: one that starts, or one that has started since the row was
 * written that says what this run waits for. */
static bool is_locked_out(const struct world *w, const struct decision *d, const struct run_row *run)
{
	const struct run_rows *rows = NULL;

	if (world_plan(w, run->id)->isolation == ISOLATION_WORKTREE)
		return false;
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (strcmp(rows->run.workspace, run->workspace) == 0 && (is_starting(w, d, rows->run.id) ||
		    (rows->run.started_at != ROW_NONE && !run_state_is_end((enum run_state)rows->run.state) &&
		        world_plan(w, rows->run.id)->isolation != ISOLATION_WORKTREE)))
			return true;
	return false;
}

/* Somebody of his has a slot of the daemon, or may have. */
static bool is_served(const struct world *w, const struct decision *d, int64_t owner)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (rows->run.owner == owner && !run_state_is_end((enum run_state)rows->run.state) &&
		    (rows->run.started_at != ROW_NONE || is_starting(w, d, rows->run.id)))
			return true;
	return false;
}

/* Who waits only for a slot of the daemon is not passed over: by nobody who matters less, nor, when
 * he has none yet, by a younger one. */
void law_fair(struct world *w, const struct decision *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct run_row *row = d->changes[i].row;
		const struct run_rows *rows = NULL;

		if (d->changes[i].kind != ROW_RUN || !is_starting(w, d, row->id))
			continue;
		while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
			if (rows->run.state != RUN_S_QUEUED || rows->run.end_kind != END_NONE ||
			    rows->run.wait_kind != WAIT_PERMIT ||
			    strcmp(rows->run.group, "default") != 0 ||
			    may_be_paused(w, &rows->run) || is_starting(w, d, rows->run.id) ||
			    rows->run.started_at != ROW_NONE || is_locked_out(w, d, &rows->run))
				continue;
			if (rows->run.priority > row->priority)
				world_fail(w, "run %lld starts before run %lld, which matters more",
				    (long long)row->id, (long long)rows->run.id);
			if (rows->run.priority == row->priority && rows->run.id < row->id &&
			    !is_served(w, d, rows->run.owner))
				world_fail(w, "run %lld starts before run %lld, which is older, and "
				    "whose owner has none", (long long)row->id, (long long)rows->run.id);
		}
	}
}

/* An attempt is about to cost money. */
void law_start(struct world *w, const struct attempt_row *row)
{
	const struct run_rows *rows = view_run(w->disk, row->run);
	const struct slot_row *slot = disk_slot_of(w, row);

	if (is_paused(w, &rows->run))
		world_fail(w, "attempt %lld is started, and its run %lld is paused",
		    (long long)row->id, (long long)row->run);
	/* that it goes on may be on its way to the disk */
	if (rows->run.state != RUN_S_RUNNING && rows->run.state != RUN_S_QUEUED)
		world_fail(w, "attempt %lld is started, and its run %lld is %s", (long long)row->id,
		    (long long)row->run, state_name(&run_state_names, rows->run.state));
	if (slot == NULL || is_over(slot))
		world_fail(w, "attempt %lld is started in no slot", (long long)row->id);
	else
		law_warm(w, row, slot);
	money_start(w, row);
	if (rows->run.source_path != NULL && strcmp(rows->run.source, "beads") == 0 &&
	    row->task != NULL && beads_have_bd(rows->run.source_path)) {
		const struct bead *bead = bead_find(w, rows->run.source_path, row->task);

		if (bead != NULL && bead->assignee != NULL && strcmp(bead->assignee, "other") == 0 &&
		    world_plan(w, row->run)->assign == ASSIGN_DAEMON)
			world_fail(w, "attempt %lld works on %s, which somebody else has",
			    (long long)row->id, row->task);
	}
}
