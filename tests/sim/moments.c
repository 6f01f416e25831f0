/* SPDX-License-Identifier: MIT */
/* What must hold at each moment: workspaces, slots of the daemon, reasons. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/dispute.h"
#include "core/quorum.h"
#include "core/profile.h"
#include "core/slot.h"
#include "world_int.h"

/* From its start to its end, be it held, paused or sent back. Work trees are everybody's own. */
static bool has_workspace(const struct world *w, const struct run_rows *rows)
{
	return !run_state_is_end((enum run_state)rows->run.state) && rows->run.started_at != ROW_NONE &&
	    world_plan(w, rows->run.id)->isolation != ISOLATION_WORKTREE;
}

static void check_workspaces(struct world *w)
{
	const struct run_rows *rows = NULL, *other;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		other = has_workspace(w, rows) ? rows : NULL;
		while (other != NULL && (other = view_next(w->disk, other->run.id)) != NULL)
			if (has_workspace(w, other) && strcmp(other->run.workspace, rows->run.workspace) == 0)
				world_fail(w, "runs %lld and %lld share a workspace",
				    (long long)rows->run.id, (long long)other->run.id);
	}
}

/* Slots of the daemon */

struct use {
	struct world *world;
	int64_t used, checks, night, night_slots;
};

/* One of group checks, or none at all. */
static bool checks_merge(const struct world *w, const struct attempt_row *a)
{
	const struct slot_row *slot = disk_slot(w, (struct where){ a->run, a->iteration, a->slot });

	return a->role == ROLE_CHECK && slot != NULL && slot->merge == MERGE_JUDGING;
}

static void add_group(void *arg, const struct group_info *group)
{
	struct use *use = arg;
	int64_t running = 0;

	/* checks of merges use none of the slots of the daemon */
	*(strcmp(group->name, "checks") == 0 ? &use->checks : &use->used) += group->used;
	if (strcmp(group->name, "night") == 0) {
		use->night = group->used;
		use->night_slots = group->slots;
	}
	for (size_t i = 0; i < use->world->nlive; i++) {
		const struct process *p = use->world->live[i];
		const struct run_rows *rows = p->kind == PROC_ATTEMPT && p->watched &&
		    p->state == PROC_RUNNING ? view_run(use->world->disk, p->run) : NULL;
		const struct attempt_row *a = rows != NULL ? disk_attempt(use->world, p->id) : NULL;

		/* a set-up needs no slot, nor does a check beside the work or of a merge */
		running += a != NULL && a->role != ROLE_SETUP && a->slot != SLOT_BASELINE &&
		    !checks_merge(use->world, a) &&
		    strcmp(rows->run.group, group->name) == 0;
	}
	if (running > group->used)
		world_fail(use->world, "%lld attempts of group %s run in %lld slots",
		    (long long)running, group->name, (long long)group->used);
}

/* A limit is never passed; what was lowered below what is in use only goes down. What was found at
 * start has its permits anyhow. */
static void check_permits(struct world *w)
{
	struct use use = { .world = w, .night_slots = ROW_NONE };

	if (w->nquestions > 0) {
		w->used = w->night_used = INT64_MAX;
		return;
	}
	engine_groups(w->engine, add_group, &use);
	if (use.used > w->parallel && use.used > w->used)
		world_fail(w, "%lld of %lld slots of the daemon are in use", (long long)use.used,
		    (long long)w->parallel);
	if (use.night_slots != ROW_NONE && use.night > use.night_slots && use.night > w->night_used)
		world_fail(w, "%lld of %lld slots of the group are in use", (long long)use.night,
		    (long long)use.night_slots);
	w->used = use.used;
	w->night_used = use.night;
}

/* Reasons */

static const struct group_row *group_of(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->ngroups; i++)
		if (strcmp(w->groups[i]->name, name) == 0)
			return w->groups[i];
	return NULL;
}

static bool is_unfinished(const struct world *w, long long id)
{
	const struct run_rows *rows = view_run(w->disk, id);

	return rows != NULL && !run_state_is_end((enum run_state)rows->run.state);
}

/* What a human has to do about a run: 'h', it is held, 'p', it is paused, or nothing. */
static char halt_of(const struct run_rows *rows)
{
	const struct run_row *run = &rows->run;
	bool open = false;

	for (size_t i = 0; i < rows->nholds; i++)
		open = open || rows->holds[i]->state == HOLD_S_OPEN;
	if (run->end_kind != END_NONE)
		return '\0';
	if (run->state == RUN_S_HELD)
		return open ? 'h' : '\0';
	return run->state == RUN_S_PAUSED || run->paused == 1 ? 'p' : '\0';
}

/* What a reason says of the run that it names: "...; it is held: ...". */
static char says_of(const char *reason)
{
	const char *mark = strchr(reason, ';');

	return mark != NULL ? mark[sizeof("; it is ") - 1] : '\0';
}

/* As far as the disk can tell. */
static bool is_true(const struct world *w, const struct run_row *run, enum wait_kind kind, const char *reason)
{
	const struct group_row *group = group_of(w, run->group);
	const struct run_rows *other;
	long long id = strtoll(reason + strcspn(reason, "0123456789"), NULL, 10);

	/* of the slots, see memory.c */
	if (kind == WAIT_PICK || kind == WAIT_SPACE || kind == WAIT_SLOTS)
		return true;
	if (kind == WAIT_PAUSED)
		return run->paused == 1;
	other = kind == WAIT_AFTER || kind == WAIT_WORKSPACE ? view_run(w->disk, id) : NULL;
	if (other != NULL && says_of(reason) != halt_of(other))
		return false;
	if (kind == WAIT_AFTER)
		return (run->after_run == id || run->retry_of == id) && is_unfinished(w, id);
	if (kind == WAIT_WORKSPACE) {
		return other != NULL && id != run->id && has_workspace(w, other) &&
		    strcmp(other->run.workspace, run->workspace) == 0;
	}
	if (kind == WAIT_GROUP_PAUSED)
		return group != NULL && group->paused == 1;
	/* which of both limits it is may change, and is told once */
	if (kind != WAIT_PERMIT && kind != WAIT_GROUP)
		return false;
	return w->used >= w->parallel || (group != NULL && group->slots != ROW_NONE && strcmp(run->group,
	    "night") == 0 && w->night_used >= group->slots);
}

static void check_waiting(struct world *w, const struct run_row *run, const char *who, int kind, const char *reason)
{
	if (reason == NULL)
		world_fail(w, "run %lld: %s waits, and nobody says why", (long long)run->id, who);
	else if (!is_true(w, run, (enum wait_kind)kind, reason))
		world_fail(w, "run %lld: %s waits, it says: %s", (long long)run->id, who, reason);
}

/* It was told once, and answers what is so at this moment. */
static void check_queued(struct world *w, const struct run_row *run)
{
	enum wait_kind kind = WAIT_NOTHING;
	char *reason = NULL;

	if (run->reason == NULL)
		world_fail(w, "run %lld: it waits, and was never told why", (long long)run->id);
	if (engine_reason(w->engine, run->id, &kind, &reason))
		check_waiting(w, run, "it", (int)kind, reason);
	else
		check_waiting(w, run, "it", run->wait_kind, run->reason);
	free(reason);
}

/* Between two decisions each who waits says why, and it is so. */
static void check_reasons(struct world *w)
{
	const struct run_rows *rows = NULL;

	if (w->ncommits > 0 || w->nquestions > 0)
		return;
	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		const struct run_row *run = &rows->run;

		if (run->end_kind != END_NONE || run_state_is_end((enum run_state)run->state))
			continue;
		if (run->state == RUN_S_QUEUED)
			check_queued(w, run);
		if ((run->state == RUN_S_HELD || run->state == RUN_S_PAUSED) && run->reason == NULL)
			world_fail(w, "run %lld is %s, and nobody says why", (long long)run->id,
			    state_name(&run_state_names, run->state));
		for (size_t i = 0; i < rows->nslots && run->state == RUN_S_RUNNING; i++)
			if (rows->slots[i]->stage == SLOT_S_WAITING)
				check_waiting(w, run, "a slot", rows->slots[i]->wait_kind, rows->slots[i]->reason);
	}
}

/* ---- panels ---- */

/* The vote of that number, and that its reviewer's is no other. */
static const struct review_row *vote_at(const struct run_rows *rows, const json_t *votes, size_t at)
{
	const struct review_row *vote = run_rows_review(rows, json_integer_value(json_array_get(votes, at)));

	for (size_t i = 0; vote != NULL && vote->reviewer != NULL && i < at; i++) {
		const struct review_row *other = run_rows_review(rows, json_integer_value(json_array_get(votes, i)));

		if (other == NULL || strcmp(other->reviewer, vote->reviewer) == 0)
			return NULL;
	}
	return vote;
}

static int64_t passes_of(struct world *w, const struct run_rows *rows, const struct review_row *decision,
    const struct plan *plan, bool *sound)
{
	json_t *votes = json_loads(decision->votes, 0, NULL);
	int64_t passes = 0;

	*sound = json_array_size(votes) == plan->nreviewers;
	for (size_t i = 0; i < json_array_size(votes); i++) {
		const struct review_row *vote = vote_at(rows, votes, i);
		bool named = false;

		for (size_t k = 0; vote != NULL && vote->reviewer != NULL && k < plan->nreviewers; k++)
			named |= strcmp(plan->reviewers[k].name, vote->reviewer) == 0;
		if (!named || vote->number >= decision->number || strcmp(vote->task_id, decision->task_id) != 0 ||
		    !text_equal(vote->tree, decision->tree)) {
			world_fail(w, "run %lld: review %lld has a vote that is none", (long long)rows->run.id,
			    (long long)decision->number);
			break;
		}
		passes += strcmp(vote->decision, plan->profile->pass_word) == 0;
		*sound &= strcmp(vote->decision, "violation") != 0 && strcmp(vote->decision, "error") != 0;
	}
	json_decref(votes);
	return passes;
}

static const struct review_row *newest_review(const struct run_rows *rows, const struct slot_row *slot)
{
	for (size_t i = rows->nreviews; i > 0; i--)
		if (strcmp(rows->reviews[i - 1]->task_id, slot->task != NULL ? slot->task : "run") == 0 &&
		    rows->reviews[i - 1]->reviewer == NULL)
			return rows->reviews[i - 1];
	return NULL;
}

/* No panel passes without its quorum of all that are named, nor with a vote that is none; and no
 * work is pinned that its panel, or a human after it, has not passed. */
static void check_panels_of(struct world *w, const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->nreviews; i++) {
		const struct review_row *row = rows->reviews[i];
		const struct plan *plan = row->votes == NULL ? NULL :
		    world_task_plan(w, rows->run.id, strcmp(row->task_id, "run") == 0 ? NULL : row->task_id);
		int64_t passes;
		bool sound, passed;

		if (plan == NULL)
			continue;
		if (!plan_has_panel(plan))
			plan = world_plan(w, rows->run.id);
		passes = passes_of(w, rows, row, plan, &sound);
		passed = strcmp(row->decision, plan->profile->pass_word) == 0;
		if (passed != (sound && passes >= panel_quorum(plan->quorum, plan->nreviewers)) &&
		    (passed || strcmp(row->decision, plan->profile->findings_word) == 0))
			world_fail(w, "run %lld: review %lld is %s, and %lld of %zu have passed",
			    (long long)rows->run.id, (long long)row->number, row->decision, (long long)passes,
			    plan->nreviewers);
	}
	for (size_t i = 0; i < rows->nslots; i++) {
		const struct slot_row *slot = rows->slots[i];
		const struct plan *plan = world_task_plan(w, rows->run.id, slot->slot == 0 ? NULL : slot->task);
		const struct review_row *last = slot->stage == SLOT_S_PINNING && plan_has_panel(plan) ?
		    newest_review(rows, slot) : NULL;

		if (slot->stage == SLOT_S_PINNING && plan_has_panel(plan) && (last == NULL ||
		    (last->votes == NULL && strcmp(last->source, "human") != 0)))
			world_fail(w, "run %lld: slot %lld is pinned, and its panel has not passed it",
			    (long long)rows->run.id, (long long)slot->slot);
	}
}

static void check_panels(struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		check_panels_of(w, rows);
}

/* A verdict after the fixer's word has answered it. */
static void check_dispute(struct world *w, const struct run_rows *rows, const struct dispute *d)
{
	for (size_t i = 0; i < rows->nreviews; i++) {
		const struct review_row *review = rows->reviews[i];

		if (d->answer == NULL && review->attempt != ROW_NONE && review->reviewer == NULL &&
		    review->attempt > d->attempt &&
		    strcmp(review->task_id, d->task) == 0 && strcmp(review->decision, "violation") != 0 &&
		    strcmp(review->decision, "error") != 0)
			world_fail(w, "run %lld: review %lld has not answered what attempt %lld disputes",
			    (long long)rows->run.id, (long long)review->number, (long long)d->attempt);
	}
}

static void check_disputes(struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		struct disputes d = disputes_read(rows->run.disputed);

		for (size_t i = 0; i < d.count; i++)
			check_dispute(w, rows, &d.list[i]);
		disputes_release(&d);
	}
}

void world_check(struct world *w)
{
	check_disputes(w);
	check_panels(w);
	check_workspaces(w);
	check_permits(w);
	check_reasons(w);
	services_check(w);
	processes_check(w);
	memory_check(w);
}

/* Nothing moves: nobody has a slot of the daemon. */
static void check_permits_end(struct world *w)
{
	struct use use = { .world = w, .night_slots = ROW_NONE };

	engine_groups(w->engine, add_group, &use);
	if (use.used + use.checks > 0)
		world_fail(w, "%lld slots of the daemon are in use, and nothing moves",
		    (long long)(use.used + use.checks));
}

void world_check_end(struct world *w)
{
	check_permits_end(w);
	hooks_check_end(w);
	files_check_end(w);
	git_check_end(w);
	tasks_check_end(w);
	money_check_end(w);
	clients_check_end(w);
}
