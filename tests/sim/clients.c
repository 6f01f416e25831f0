/* SPDX-License-Identifier: MIT */
/* Those who ask: submits, cancels, retries, and humans who decide about holds. */
#include "config/config.h"
#include "core/profile.h"
#include "proto/error.h"
#include "world_int.h"

static void submit_cb(void *arg, const struct engine_reply *reply)
{
	struct world *w = arg;

	if (w->dying || reply->code != RPC_OK)
		return;
	if (view_run(w->disk, reply->id) == NULL)
		world_fail(w, "run %lld was acknowledged before it was on disk", (long long)reply->id);
}

/* Half of the runs change what their profile says. */
static void draw_knobs(struct world *w, struct plan *plan)
{
	bool own = below(w, 2) == 0;
	const struct profile *p = plan->profile;

	plan->max_fixes = own ? below(w, 4) : p->max_fixes;
	plan->stall_limit = own ? below(w, 3) : p->stall_limit;
	plan->on_malformed = own ? (enum bad_end)below(w, BAD_ENDS) : (enum bad_end)p->on_malformed;
	plan->on_reviewer_error = own ? (enum bad_end)below(w, BAD_ENDS) : (enum bad_end)p->on_reviewer_error;
	plan->on_exhausted = own ? (enum bad_end)below(w, BAD_ENDS) : (enum bad_end)p->on_exhausted;
	plan->fixer = own ? (enum fixer)below(w, FIXERS) : (enum fixer)p->fixer;
	plan->scope = own ? (enum scope)below(w, SCOPES) : (enum scope)p->scope;
	plan->commit = own ? (enum commit_mode)below(w, COMMIT_MODES) : (enum commit_mode)p->commit;
	plan->workspace = own ? (enum review_place)below(w, REVIEW_PLACES) : PLACE_SAME;
	plan->read_only = p->read_only != 0;
	for (unsigned n = below(w, 3) == 0 ? below(w, 4) : 0; n > 0; n--)
		strings_append(&plan->checks, "make test");
}

static void draw_plan(struct world *w, struct plan *plan, bool git)
{
	for (int role = 0; role < ROLES; role++) {
		plan->agents[role].name = xstrdup(role == ROLE_REVIEW ? "critic" : "fake");
		strings_append(&plan->agents[role].command, "fake");
		if (below(w, 2) == 0)
			strings_append(&plan->agents[role].resume, "{session}");
	}
	plan->profile = profile_find("exit");
	if (git)
		plan->profile = &profiles[below(w, (unsigned)profiles_count)];
	plan->review = below(w, 6) != 0;
	plan->skip_reason = plan->review ? NULL : xstrdup("review is off");
	draw_knobs(w, plan);
	plan->review_file = xstrdup(plan->profile->carrier_file);
	plan->review_log = xstrdup(below(w, 3) == 0 ? "logs" : plan->profile->review_log);
	plan->report = below(w, 3) == 0 ? xstrdup("/w/report.json") : NULL;
	if (below(w, 2) == 0)
		strings_append(&plan->on_hold, "tell");
	if (below(w, 2) == 0)
		strings_append(&plan->on_end, "tell");
	plan->on_lost = (enum on_lost)below(w, ON_LOST_CHOICES);
	plan->timeout_ms = plan->review_timeout_ms = plan->idle_timeout_ms = plan->grace_ms = 1000;
	plan->output_bytes = 1000;
}

void client_submit(struct world *w)
{
	static const char *const dirs[] = { "/w/a", "/w/b", "/w/c", "/w/d", "/w/e", "/w/f", "/w/nogit1", "/w/nogit2" };
	struct plan plan = { 0 };
	struct submission s = { .owner = 1000, .body_hash = "body", .task = "do it", .task_size = 5 };
	char *json;

	s.workdir = dirs[below(w, sizeof(dirs) / sizeof(dirs[0]))];
	s.priority = (int64_t)below(w, 3);
	draw_plan(w, &plan, strstr(s.workdir, "nogit") == NULL);
	json = plan_to_json(&plan);
	s.plan_json = json;
	engine_submit(w->engine, &s, submit_cb, w);
	free(json);
	plan_release(&plan);
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

static bool starts_with(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

static void cancel_cb(void *arg, const struct engine_reply *reply)
{
	struct world *w = arg;
	const struct run_rows *rows;

	if (w->dying || reply->code != RPC_OK)
		return;
	rows = view_run(w->disk, reply->id);
	if (rows->run.state == RUN_S_CANCELLED || starts_with(rows->run.cause, "cancelled") || starts_with(rows->run.cause, "retried"))
		asked_of(w, reply->id)->acked = true;
	else if (!run_state_is_end((enum run_state)rows->run.state))
		world_fail(w, "cancel of run %lld was acknowledged, but is not on disk", (long long)reply->id);
}

void client_cancel(struct world *w)
{
	const struct run_rows *rows = random_run(w);

	if (rows == NULL || run_state_is_end((enum run_state)rows->run.state))
		return;
	asked_of(w, rows->run.id);
	engine_cancel(w->engine, rows->run.id, "uid 1000", false, cancel_cb, w);
}

void client_retry(struct world *w)
{
	const struct run_rows *rows = random_run(w);

	if (rows == NULL)
		return;
	if (rows->run.state == RUN_S_HELD)
		asked_of(w, rows->run.id);	/* a retry cancels it */
	engine_retry(w->engine, rows, 1000, NULL, false, submit_cb, w);
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
		return (hold->state == HOLD_S_REWORK || hold->state == HOLD_S_REWORKED || hold->state == HOLD_S_CANCELLED) &&
		    starts_with(hold->decided_by, "human:ann");
	}
	return false;
}

static void hold_cb(void *arg, const struct engine_reply *reply)
{
	struct said *said = arg;
	struct world *w = said->world;
	const struct hold_row *hold = disk_hold(w, said->hold);

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
	int64_t open[RUNS_MAX];
	const struct run_rows *rows = NULL;
	unsigned count = 0;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		for (size_t i = 0; i < rows->nholds; i++)
			if (rows->holds[i]->state == HOLD_S_OPEN && count < RUNS_MAX)
				open[count++] = rows->holds[i]->id;
	if (count == 0 || below(w, 8) == 0)
		return (int64_t)below(w, (unsigned)w->last_hold + 2);
	return open[below(w, count)];
}

void client_hold(struct world *w)
{
	static const enum hold_decision decisions[] = { HOLD_APPROVE, HOLD_REJECT, HOLD_REWORK, HOLD_REWORK, HOLD_REWORK };
	static const char *const messages[] = { NULL, "", " \n", "look again", "look again", "look again" };
	struct said *said = xcalloc(1, sizeof(*said));
	const char *message = messages[below(w, sizeof(messages) / sizeof(messages[0]))];
	const struct hold_row *hold;

	said->world = w;
	said->hold = random_hold(w);
	said->decision = decisions[below(w, sizeof(decisions) / sizeof(decisions[0]))];
	said->check = below(w, 10) == 0;
	hold = disk_hold(w, said->hold);
	said->wrong = hold == NULL || hold->state != HOLD_S_OPEN || (hold->kind == HOLD_LOST && said->decision == HOLD_APPROVE) ||
	    (hold->kind != HOLD_LOST && said->decision == HOLD_REWORK && (message == NULL || message[0] != 'l'));
	PUSH(said, said);
	engine_hold(w->engine, said->hold, said->decision, "ann", message, said->check, hold_cb, said);
}

void clients_check_end(struct world *w)
{
	for (size_t i = 0; i < w->nsaid; i++) {
		const struct hold_row *hold = disk_hold(w, w->said[i]->hold);

		if (w->said[i]->acked && !is_as_said(hold, w->said[i]->decision))
			world_fail(w, "hold %lld: an acknowledged decision is gone", (long long)w->said[i]->hold);
	}
}
