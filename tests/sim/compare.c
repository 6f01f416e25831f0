/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/profile.h"
#include "reference.h"

static struct ref_attempt describe(const struct world *w, const struct attempt_row *row)
{
	const struct fate *f = world_fate(w, row->id);
	struct ref_attempt a = {
		.role = state_name(&role_names, row->role),
		.slot = (int)row->slot,
		.round = (int)row->round,
		.ended = row->state == ATTEMPT_S_EXITED || row->state == ATTEMPT_S_LOST,
		.lost = row->state == ATTEMPT_S_LOST,
	};

	if (f == NULL)
		return a;
	a.failed = f->result != FATE_OK;
	a.not_started = f->result == FATE_NOT_STARTED;
	a.changed = row->role == ROLE_REVIEW ? !f->changes_tree : f->changes_tree;
	a.denied = f->denied;
	a.told = f->told;
	a.answer = f->answer == FATE_ANSWER_NEW ? (int)row->id : -f->answer;
	a.verdict = "pfmu"[f->verdict];
	a.same = f->same;
	a.news = f->news;
	a.suggestion = f->suggestion && world_plan(w, row->run)->profile->carrier == CARRIER_COMMENTS;
	return a;
}

static bool starts_with(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static int count_findings(const struct run_rows *rows, int64_t review, enum finding_state state)
{
	int count = 0;

	for (size_t i = 0; i < rows->nfindings; i++)
		count += rows->findings[i]->review == review && rows->findings[i]->state == (int)state;
	return count;
}

static void compare_reviews(struct world *w, const struct run_rows *rows, const struct ref_end *end)
{
	long long run = rows->run.id;

	if ((int)rows->nreviews > end->nreviews)
		world_fail(w, "run %lld: %zu reviews, expected %d", run, rows->nreviews, end->nreviews);
	for (int i = 0; i < (int)rows->nreviews && i < end->nreviews; i++) {
		const struct review_row *row = rows->reviews[i];
		const struct ref_review *want = &end->reviews[i];
		int new = count_findings(rows, row->number, FINDING_NEW), repeated = count_findings(rows, row->number, FINDING_REPEATED),
		    resolved = count_findings(rows, row->number, FINDING_RESOLVED);

		if (strcmp(row->decision, want->decision) != 0 || row->iteration != want->round)
			world_fail(w, "run %lld: review %d is %s of round %lld, expected %s of round %d", run, i + 1, row->decision,
			    (long long)row->iteration, want->decision, want->round);
		if (strcmp(row->reviewer_agent, want->human ? "human:ann" : "critic") != 0)
			world_fail(w, "run %lld: review %d is by %s", run, i + 1, row->reviewer_agent);
		if (new != want->new || repeated != want->repeated || resolved != want->resolved)
			world_fail(w, "run %lld: review %d has %d new, %d repeated, %d resolved findings, expected %d, %d, %d", run, i + 1,
			    new, repeated, resolved, want->new, want->repeated, want->resolved);
	}
}

static void compare_holds(struct world *w, const struct run_rows *rows, const struct ref_end *end)
{
	if ((int)rows->nholds > end->nholds)
		world_fail(w, "run %lld: %zu holds, expected %d", (long long)rows->run.id, rows->nholds, end->nholds);
	for (int i = 0; i < (int)rows->nholds && i < end->nholds; i++)
		if (strcmp(state_name(&hold_kind_names, rows->holds[i]->kind), end->holds[i]) != 0)
			world_fail(w, "run %lld: hold %d is for %s, expected %s", (long long)rows->run.id, i + 1,
			    state_name(&hold_kind_names, rows->holds[i]->kind), end->holds[i]);
}

static int count_strings(const char *json)
{
	json_t *list = json != NULL ? json_loads(json, 0, NULL) : NULL;
	int count = (int)json_array_size(list);

	json_decref(list);
	return count;
}

static int fixes_used(const struct run_rows *rows)
{
	int fixes = 0;

	for (size_t i = 0; i < rows->nslots; i++)
		fixes += (int)rows->slots[i]->fix;
	return fixes;
}

/* The story was told to its end, and neither a cancel nor git cut it short. */
static void compare_end(struct world *w, const struct run_rows *rows, const struct ref_end *end)
{
	const struct run_row *run = &rows->run;
	const struct task_row *task = rows->tasks[0];
	const char *state = state_name(&run_state_names, run->state);
	long long id = run->id;

	if (strcmp(state, end->state) != 0)
		world_fail(w, "run %lld is %s (%s), expected %s (%s)", id, state, run->cause ? run->cause : "no cause", end->state, end->cause);
	if (end->cause[0] == '\0' ? run->cause != NULL : !starts_with(run->cause, end->cause))
		world_fail(w, "run %lld: the cause is \"%s\", expected \"%s\"", id, run->cause ? run->cause : "none", end->cause);
	if ((int)rows->nreviews != end->nreviews || (int)rows->nholds != end->nholds)
		world_fail(w, "run %lld: %zu reviews and %zu holds on record, expected %d and %d", id, rows->nreviews, rows->nholds, end->nreviews, end->nholds);
	if (fixes_used(rows) != end->fixes)
		world_fail(w, "run %lld used %d fix rounds, expected %d", id, fixes_used(rows), end->fixes);
	if (count_strings(run->known_issues) != end->known)
		world_fail(w, "run %lld has %d known issues, expected %d", id, count_strings(run->known_issues), end->known);
	if ((run->result_ref != NULL) != end->pinned || (run->result_tree != NULL) != end->pinned || (task->locked_tree != NULL) != end->pinned)
		world_fail(w, "run %lld is %s: pinned %s", id, state, run->result_ref != NULL ? run->result_ref : "nothing");
	if ((run->result_commit != NULL) != end->committed)
		world_fail(w, "run %lld is %s: committed %s", id, state, run->result_commit != NULL ? run->result_commit : "nothing");
	if (strcmp(state, "succeeded") == 0 && (task->state != TASK_S_PASSED || run->result_attempt == ROW_NONE))
		world_fail(w, "run %lld succeeded, its task %s", id, state_name(&task_state_names, task->state));
	if (strcmp(state, "failed") == 0 && task->state != TASK_S_FAILED)
		world_fail(w, "run %lld failed, its task %s", id, state_name(&task_state_names, task->state));
}

/* A run ends with all of its slots, and as they do. */
static void compare_slots(struct world *w, const struct run_rows *rows)
{
	static const enum slot_stage ends[RUN_STATES] = {
		[RUN_S_SUCCEEDED] = SLOT_S_PASSED,
		[RUN_S_FAILED] = SLOT_S_FAILED,
		[RUN_S_CANCELLED] = SLOT_S_CANCELLED,
	};

	for (size_t i = 0; i < rows->nslots && run_state_is_end((enum run_state)rows->run.state); i++)
		if (rows->slots[i]->stage != (int)ends[rows->run.state])
			world_fail(w, "run %lld is %s, its slot %lld %s", (long long)rows->run.id, state_name(&run_state_names, rows->run.state),
			    (long long)rows->slots[i]->slot, state_name(&slot_stage_names, rows->slots[i]->stage));
}

static struct ref_run make_run(const struct plan *plan, const struct run_rows *rows)
{
	static const char policies[BAD_ENDS] = {
		[BAD_END_FAIL] = 'f', [BAD_END_HOLD] = 'h', [BAD_END_ACCEPT] = 'a', [BAD_END_KNOWN_ISSUES] = 'k',
	};

	return (struct ref_run){
		.profile = plan->profile->name,
		.review = plan->review,
		.has_git = rows->run.has_git == 1,
		.whole_run = plan->scope == SCOPE_RUN,
		.commit = plan->commit == COMMIT_MODE_AUTO,
		.one_fixer_each = plan->fixer == FIXER_PER_FINDING,
		.checks = (int)strings_count(plan->checks),
		.max_fixes = (int)plan->max_fixes,
		.stall_limit = (int)plan->stall_limit,
		.on_lost = "hrf"[plan->on_lost],
		.on_malformed = policies[plan->on_malformed],
		.on_reviewer_error = policies[plan->on_reviewer_error],
		.on_exhausted = policies[plan->on_exhausted],
		.review_file = plan->review_file,
		.count = (int)rows->nattempts,
		.nholds = (int)rows->nholds,
	};
}

static void compare_run(struct world *w, const struct run_rows *rows)
{
	struct ref_attempt attempts[REF_MAX * 2];
	struct ref_hold holds[REF_MAX];
	struct ref_run run = make_run(world_plan(w, rows->run.id), rows);
	struct ref_end end;
	const char *state = state_name(&run_state_names, rows->run.state);
	long long id = rows->run.id;
	bool cancelled = strcmp(state, "cancelled") == 0, broken = starts_with(rows->run.cause, "git ") || starts_with(rows->run.cause, "prepare: ");

	if (rows->nattempts > REF_MAX * 2 || rows->nholds >= REF_MAX || rows->nreviews >= REF_MAX) {
		world_fail(w, "run %lld is too long to look at", id);
		return;
	}
	for (size_t i = 0; i < rows->nattempts; i++)
		attempts[i] = describe(w, rows->attempts[i]);
	for (size_t i = 0; i < rows->nholds; i++)
		holds[i] = (struct ref_hold){ state_name(&hold_kind_names, rows->holds[i]->kind), state_name(&hold_state_names, rows->holds[i]->state) };
	run.attempts = attempts;
	run.holds = holds;
	reference(&run, &end);
	if (end.wrong[0] != '\0')
		world_fail(w, "run %lld: %s", id, end.wrong);
	if (end.used < run.count)
		world_fail(w, "run %lld: %d attempts on record, %d were needed", id, run.count, end.used);
	if (cancelled && !world_cancel_asked(w, rows->run.id))
		world_fail(w, "run %lld is cancelled, but nobody asked", id);
	if (world_cancel_acked(w, rows->run.id) && !cancelled)
		world_fail(w, "run %lld: the cancel was acknowledged, but it is %s", id, state);
	if (broken && strcmp(state, "failed") != 0)
		world_fail(w, "run %lld: %s, but it is %s", id, rows->run.cause, state);
	compare_reviews(w, rows, &end);
	compare_holds(w, rows, &end);
	compare_slots(w, rows);
	if (!cancelled && !broken && (strcmp(state, "queued") != 0 || run.count > 0))
		compare_end(w, rows, &end);
	/* whatever cut it short: leave is no verdict */
	if (!end.passed && (rows->run.result_ref != NULL || rows->tasks[0]->locked_tree != NULL))
		world_fail(w, "run %lld has no verdict, but %s", id, rows->run.result_ref != NULL ? rows->run.result_ref : "a lock");
}

void compare_runs(struct world *w)
{
	const struct run_rows *rows = NULL, *other;

	while ((rows = view_next(world_disk(w), rows != NULL ? rows->run.id : 0)) != NULL) {
		compare_run(w, rows);
		if (rows->run.state == RUN_S_RUNNING)
			world_fail(w, "run %lld is still running, but nothing moves", (long long)rows->run.id);
		if (rows->run.state != RUN_S_QUEUED)
			continue;
		for (other = NULL; (other = view_next(world_disk(w), other != NULL ? other->run.id : 0)) != NULL;)
			if (other->run.state == RUN_S_HELD && strcmp(other->run.workspace, rows->run.workspace) == 0)
				break;
		if (other == NULL)
			world_fail(w, "run %lld stays queued, and nothing holds it back", (long long)rows->run.id);
	}
}
