/* SPDX-License-Identifier: MIT */
/* Those who ask: cancels, retries, pauses, limits, and humans who decide about holds. */
#include "continued.h"
#include "core/dismissal.h"
#include "core/next_stage.h"
#include "core/slot.h"
#include "engine/needs.h"
#include "proto/error.h"
#include "run/finding_dismissal.h"
#include "run/retry_submit.h"
#include "world_int.h"

void submit_cb(void *arg, const struct engine_reply *reply)
{
	struct world *w = arg;

	disk_answer(w, reply);
	if (w->dying || reply->code != RPC_OK)
		return;
	if (view_run(w->disk, reply->id) == NULL)
		world_fail(w, "run %lld was acknowledged before it was on disk", (long long)reply->id);
}

/* One that can still be asked about, mostly. */
static const struct run_rows *random_run(struct world *w)
{
	size_t count = view_count(w->disk);
	const struct run_rows *rows = NULL;

	for (unsigned n = count > 0 ? below(w, (unsigned)count) + 1 : 0; n > 0; n--)
		rows = view_next(w->disk, rows != NULL ? rows->run.id : 0);
	return rows;
}

static struct asked *asked_of(struct world *w, int64_t run)
{
	struct asked fresh = { run, false };

	for (size_t i = 0; i < w->nasked; i++)
		if (w->asked[i].run == run)
			return &w->asked[i];
	PUSH(asked, fresh);
	return &w->asked[w->nasked - 1];
}

static void cancel_cb(void *arg, const struct engine_reply *reply)
{
	struct world *w = arg;
	const struct run_rows *rows;

	disk_answer(w, reply);
	if (w->dying || reply->code != RPC_OK)
		return;
	rows = view_run(w->disk, reply->id);
	if (rows->run.state == RUN_S_CANCELLED || rows->run.end_kind == END_CANCELLED ||
	    rows->run.end_kind == END_RETRIED)
		asked_of(w, reply->id)->acked = true;
	else if (!run_state_is_end((enum run_state)rows->run.state))
		world_fail(w, "cancel of run %lld was acknowledged, but is not on disk", (long long)reply->id);
}

/* One that commits, pins or merges, which is soon over; NULL: none does. */
static const struct run_rows *committing_run(const struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nslots; i++)
			if (slot_phase((enum slot_stage)rows->slots[i]->stage) == PHASE_COMMITTING)
				return rows;
	return NULL;
}

static void retry_run(struct world *w, const struct run_rows *rows)
{
	if (rows->run.state == RUN_S_HELD)
		asked_of(w, rows->run.id);	/* a retry cancels it */
	engine_retry(w->engine, rows, &(struct retry){ .by = 1000, .from_scratch = !continued_fits(w, rows),
	    .new_judge = below(w, 4) == 0 }, submit_cb, w);
}

static void pruned_cb(void *arg, const struct engine_reply *reply)
{
	if (reply->code == RPC_OK)
		world_fail(arg, "a retry was accepted of a run that is being pruned");
}

/* Its rows were read, and then prune has marked it. */
static void retry_pruned(struct world *w, const struct run_rows *rows)
{
	engine_set_pruned(w->engine, rows->run.id, true);
	engine_retry(w->engine, rows, &(struct retry){ .by = 1000 }, pruned_cb, w);
	engine_set_pruned(w->engine, rows->run.id, false);
}

static void cancel(struct world *w, int64_t run)
{
	asked_of(w, run);
	engine_cancel(w->engine, run, "uid 1000", false, cancel_cb, w);
}

void client_cancel(struct world *w)
{
	const struct run_rows *rows = below(w, 3) == 0 ? committing_run(w) : NULL;

	if (rows == NULL)
		rows = random_run(w);
	if (rows == NULL || run_state_is_end((enum run_state)rows->run.state))
		return;
	cancel(w, rows->run.id);
	/* retried while it is still being cancelled */
	if (rows->run.state == RUN_S_HELD && below(w, 2) == 0)
		retry_run(w, rows);
}

void client_retry(struct world *w)
{
	const struct run_rows *rows = random_run(w);

	if (rows == NULL)
		return;
	if (run_state_is_end((enum run_state)rows->run.state) && !engine_needs_run(w->engine, rows->run.id))
		retry_pruned(w, rows);
	retry_run(w, rows);
}

bool client_continue(struct world *w)
{
	const struct run_rows *ended = continued_run(w, true), *rows = ended == NULL ? continued_run(w, false) : NULL;

	if (ended != NULL && below(w, 3) == 0) {
		retry_run(w, ended);
		return true;
	}
	if (rows == NULL || below(w, continued_merges(rows) ? 4 : 100) != 0)
		return false;
	cancel(w, rows->run.id);
	return true;
}

bool world_cancel_acked(const struct world *w, int64_t run)
{
	for (size_t i = 0; i < w->nasked; i++)
		if (w->asked[i].run == run)
			return w->asked[i].acked;
	return false;
}

bool world_cancel_asked(const struct world *w, int64_t run)
{
	for (size_t i = 0; i < w->nasked; i++)
		if (w->asked[i].run == run)
			return true;
	return false;
}

/* What a decided hold looks like on disk. */
static bool is_as_said(const struct hold_row *hold, enum hold_decision decision)
{
	switch (decision) {
	case HOLD_APPROVE:
		return hold->state == HOLD_S_APPROVED;
	case HOLD_REJECT:
		return hold->state == HOLD_S_REJECTED;
	case HOLD_REWORK:
	case HOLD_ANSWER:
		return (hold->state == HOLD_S_REWORK || hold->state == HOLD_S_REWORKED ||
		    hold->state == HOLD_S_CANCELLED) && starts_with(hold->decided_by, "human:ann");
	}
	return false;
}

static void hold_cb(void *arg, const struct engine_reply *reply)
{
	struct said *said = arg;
	struct world *w = said->world;
	const struct hold_row *hold = disk_hold(w, said->hold);

	disk_answer(w, reply);
	if (w->dying || reply->code != RPC_OK)
		return;
	if (said->wrong)
		world_fail(w, "hold %lld: a wrong decision was taken", (long long)said->hold);
	if (said->check)
		return;
	said->acked = true;
	if (hold == NULL || !is_as_said(hold, said->decision))
		world_fail(w, "hold %lld: the decision was acknowledged, but is not on disk", (long long)said->hold);
	for (size_t i = 0; i < w->nsaid; i++)
		if (w->said[i] != said && w->said[i]->acked && w->said[i]->hold == said->hold)
			world_fail(w, "hold %lld: two decisions were acknowledged", (long long)said->hold);
}

/* An open one, mostly; sometimes one that was decided, or never was. */
static int64_t random_hold(struct world *w)
{
	int64_t open[4 * RUNS_MAX];
	const struct run_rows *rows = NULL;
	unsigned count = 0;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nholds; i++)
			if (rows->holds[i]->state == HOLD_S_OPEN && count < 4 * RUNS_MAX)
				open[count++] = rows->holds[i]->id;
	if (count == 0 || below(w, 8) == 0)
		return (int64_t)below(w, (unsigned)w->last_hold + 2);
	return open[below(w, count)];
}

static void decide(struct world *w, int64_t id, enum hold_decision decision, const char *message, bool check)
{
	struct said *said = xcalloc(1, sizeof(*said));
	const struct hold_row *hold = disk_hold(w, id);

	*said = (struct said){ .world = w, .hold = id, .decision = decision, .check = check };
	said->wrong = hold == NULL || hold->state != HOLD_S_OPEN ||
	    ((hold->kind == HOLD_LOST || hold->kind == HOLD_SETUP) && decision == HOLD_APPROVE) ||
	    (hold->kind != HOLD_LOST && hold->kind != HOLD_SETUP && hold->kind != HOLD_VIOLATION &&
	    hold->kind != HOLD_REVIEWER && hold->kind != HOLD_QUESTION &&
	    decision == HOLD_REWORK && (message == NULL || message[0] != 'l')) ||
	    (decision == HOLD_ANSWER && (hold->kind != HOLD_QUESTION || message == NULL || message[0] != 't'));
	PUSH(said, said);
	engine_hold(w->engine, id, decision, &(struct decider){ "ann", 1000, 4711, ROW_NONE }, message, check,
	    hold_cb, said);
}

void client_hold(struct world *w)
{
	static const enum hold_decision decisions[] = { HOLD_APPROVE, HOLD_REJECT, HOLD_REWORK,
	    HOLD_REWORK, HOLD_REWORK };
	static const char *const messages[] = { NULL, "", " \n", "look again", "look again", "look again" };
	const char *message = messages[below(w, sizeof(messages) / sizeof(messages[0]))];
	int64_t id = random_hold(w);
	enum hold_decision decision = decisions[below(w, sizeof(decisions) / sizeof(decisions[0]))];
	const struct hold_row *hold = disk_hold(w, id);

	/* few holds are of a pass, and each way to commit begins there, too */
	if (hold != NULL && hold_of_pass((enum hold_kind)hold->kind) && below(w, 4) != 0)
		decision = HOLD_APPROVE;
	/* most questions are answered; what asks nothing is, too, now and then */
	if (hold != NULL && hold->kind == HOLD_QUESTION ? below(w, 3) != 0 : below(w, 40) == 0) {
		decision = HOLD_ANSWER;
		message = below(w, 10) == 0 ? " \n" : WORLD_ANSWER;
	}
	decide(w, id, decision, message, below(w, 10) == 0);
}

/* Dismissed findings */

static bool is_dismissed(const struct world *w, const struct dismissed *said)
{
	const struct run_rows *rows = view_run(w->disk, said->run);
	struct dismissals d = dismissals_read(rows != NULL ? rows->run.dismissed : NULL);
	bool is = dismissals_find(&d, said->task, said->finding) != NULL;

	dismissals_release(&d);
	return is;
}

static void dismiss_cb(void *arg, const struct engine_reply *reply)
{
	struct dismissed *said = arg;
	struct world *w = said->world;

	disk_answer(w, reply);
	if (w->dying || reply->code != RPC_OK || said->check)
		return;
	said->acked = true;
	if (!is_dismissed(w, said))
		world_fail(w, "run %lld: the dismissal of %s was acknowledged, but is not on disk",
		    (long long)said->run, said->finding);
	for (size_t i = 0; i < w->ndismissed; i++)
		if (w->dismissed[i] != said && w->dismissed[i]->acked && w->dismissed[i]->run == said->run &&
		    strcmp(w->dismissed[i]->task, said->task) == 0 &&
		    strcmp(w->dismissed[i]->finding, said->finding) == 0)
			world_fail(w, "run %lld: %s was dismissed twice", (long long)said->run, said->finding);
}

/* A run with open findings, mostly; NULL: there is none. */
static const struct run_rows *run_to_dismiss(struct world *w)
{
	const struct run_rows *rows = NULL, *found = NULL;
	unsigned seen = 0;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL) {
		size_t count;

		free(open_findings(rows, &count));
		if (count > 0 && !run_state_is_end((enum run_state)rows->run.state) && below(w, ++seen) == 0)
			found = rows;
	}
	return found != NULL && below(w, 8) != 0 ? found : random_run(w);
}

void client_dismiss(struct world *w)
{
	const struct run_rows *rows = run_to_dismiss(w);
	const struct finding_row **open, *finding;
	struct dismissed *said;
	size_t count;

	/* what a panel has found is no part of that story */
	if (rows == NULL || world_plan(w, rows->run.id)->nreviewers > 1)
		return;
	open = open_findings(rows, &count);
	finding = count > 0 ? open[below(w, (unsigned)count)] : NULL;
	said = xcalloc(1, sizeof(*said));
	*said = (struct dismissed){ .world = w, .run = rows->run.id, .check = below(w, 10) == 0,
	    .task = xstrdup(finding != NULL ? finding_task(rows, finding) : "t1"),
	    .finding = xstrdup(finding != NULL ? finding->id : "0123456789abcdef") };
	free(open);
	PUSH(dismissed, said);
	engine_dismiss(w->engine, &(struct finding_dismissal){ .run = said->run, .task = said->task,
	    .finding = said->finding, .reason = "on purpose", .check = said->check,
	    .by = &(struct decider){ "ann", 1000, 4711, ROW_NONE } }, dismiss_cb, said);
}

static void check_dismissed(struct world *w, const struct dismissed *said)
{
	if (said->acked && !is_dismissed(w, said))
		world_fail(w, "run %lld: an acknowledged dismissal is gone", (long long)said->run);
}

static void check_said(struct world *w, const struct said *said)
{
	if (said->acked && !is_as_said(disk_hold(w, said->hold), said->decision))
		world_fail(w, "hold %lld: an acknowledged decision is gone", (long long)said->hold);
}

void clients_check_end(struct world *w)
{
	for (size_t i = 0; i < w->ndismissed; i++)
		check_dismissed(w, w->dismissed[i]);
	for (size_t i = 0; i < w->nsaid; i++)
		check_said(w, w->said[i]);
}

static bool is_about(const struct world *w, const struct said *said, int64_t run)
{
	const struct run_rows *rows = view_run_of_hold(w->disk, said->hold);

	return rows != NULL && rows->run.id == run;
}

static void forget_dismissed(struct world *w, struct dismissed *said)
{
	check_dismissed(w, said);
	free(said->task);
	free(said->finding);
	free(said);
}

static void forget_said(struct world *w, struct said *said)
{
	check_said(w, said);
	free(said);
}

void clients_retire(struct world *w, int64_t run)
{
	REMOVE_IF(asked, i, w->asked[i].run == run, (void)0);
	REMOVE_IF(dismissed, i, w->dismissed[i]->run == run, forget_dismissed(w, w->dismissed[i]));
	REMOVE_IF(said, i, is_about(w, w->said[i], run), forget_said(w, w->said[i]));
}

/* Pauses, of runs and of groups */

static struct paused *paused_of(struct world *w, int64_t run, const char *group)
{
	struct paused *paused;

	for (size_t i = 0; i < w->npaused; i++)
		if (w->paused[i]->run == run && (group == NULL || strcmp(w->paused[i]->group, group) == 0))
			return w->paused[i];
	paused = xcalloc(1, sizeof(*paused));
	paused->world = w;
	paused->run = run;
	paused->group = group;
	PUSH(paused, paused);
	return paused;
}

bool is_paused(const struct world *w, const struct run_row *run)
{
	for (size_t i = 0; i < w->npaused; i++) {
		const struct paused *p = w->paused[i];

		if (p->acked && (p->run == run->id || (p->run == 0 && strcmp(p->group, run->group) == 0)))
			return true;
	}
	return false;
}

bool may_be_paused(const struct world *w, const struct run_row *run)
{
	for (size_t i = 0; i < w->npaused; i++) {
		const struct paused *p = w->paused[i];

		if (p->said && (p->run == run->id || (p->run == 0 && strcmp(p->group, run->group) == 0)))
			return true;
	}
	return false;
}

static bool is_kept(const struct world *w, const char *group)
{
	for (size_t i = 0; i < w->ngroups; i++)
		if (strcmp(w->groups[i]->name, group) == 0)
			return w->groups[i]->paused == 1;
	return false;
}

static void pause_cb(void *arg, const struct engine_reply *reply)
{
	struct pause_word *word = arg;
	struct paused *paused = word->paused;

	disk_answer(paused->world, reply);
	if (!paused->world->dying && reply->code == RPC_OK && paused->asked == word->number) {
		paused->acked = word->pause;
		if (word->pause && paused->run == 0 && !is_kept(paused->world, paused->group))
			world_fail(paused->world, "group %s: an acknowledged pause is not on the disk", paused->group);
	}
	free(word);
}

static struct pause_word *say(struct paused *paused, bool pause)
{
	struct pause_word *word = xcalloc(1, sizeof(*word));

	*word = (struct pause_word){ paused, ++paused->asked, pause };
	paused->said = pause;
	if (!pause)
		paused->acked = false;
	return word;
}

/* Held runs are few. */
static const struct run_rows *held_run(struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (rows->run.state == RUN_S_HELD && rows->run.paused != 1)
			return rows;
	return NULL;
}

/* What can be accepted is, though no attempt of the run may begin. */
static void accept_held(struct world *w, const struct run_rows *rows)
{
	for (size_t i = 0; i < rows->nholds; i++)
		if (rows->holds[i]->state == HOLD_S_OPEN && rows->holds[i]->kind != HOLD_LOST &&
		    rows->holds[i]->kind != HOLD_SETUP) {
			decide(w, rows->holds[i]->id, HOLD_APPROVE, NULL, false);
			return;
		}
}

/* Who is paused is mostly to go on. */
void client_pause(struct world *w)
{
	const struct run_rows *held = below(w, 2) == 0 ? held_run(w) : NULL,
	    *rows = held != NULL ? held : random_run(w);
	bool pause;

	for (size_t i = 0; held == NULL && i < w->npaused && below(w, 2) == 0; i++)
		if (w->paused[i]->acked && w->paused[i]->run != 0)
			rows = view_run(w->disk, w->paused[i]->run);
	if (rows == NULL || run_state_is_end((enum run_state)rows->run.state))
		return;
	pause = rows->run.paused != 1 && below(w, 8) != 0;
	if (pause)
		engine_pause(w->engine, rows->run.id, "uid 1000", false, pause_cb,
		    say(paused_of(w, rows->run.id, NULL), true));
	if (pause && held != NULL && below(w, 4) == 0)
		accept_held(w, held);
	if (!pause)
		engine_unpause(w->engine, rows->run.id, "uid 1000", false, pause_cb,
		    say(paused_of(w, rows->run.id, NULL), false));
}

void client_group(struct world *w)
{
	static const char *const names[] = { "default", "night", "checks", "checks" };
	const char *name = names[below(w, sizeof(names) / sizeof(names[0]))];
	int paused = (int)below(w, 3) - 1;
	int64_t slots = strcmp(name, "default") == 0 || below(w, 2) == 0 ? -1 : below(w, 3) == 0 ?
	    ROW_NONE : 1 + (int64_t)below(w, 2);

	if (strcmp(name, "checks") == 0)
		slots = 1 + (int64_t)below(w, 2);
	if (w->settling)
		paused = 0;
	engine_group_set(w->engine, name, slots, paused, false, pause_cb, say(paused_of(w, 0, name), paused == 1));
}

void client_slots(struct world *w)
{
	w->parallel = 1 + (int64_t)below(w, 4);
	engine_set_parallel(w->engine, w->parallel);
}

/* Nobody is to stay paused for ever. */
void clients_settle(struct world *w)
{
	for (size_t i = 0; i < w->npaused; i++) {
		const struct paused *p = w->paused[i];

		if (p->run == 0)
			engine_group_set(w->engine, p->group, -1, 0, false, pause_cb, say(w->paused[i], false));
		else if (below(w, 2) == 0)
			engine_unpause(w->engine, p->run, "uid 1000", false, pause_cb, say(w->paused[i], false));
	}
}
