/* SPDX-License-Identifier: MIT */
/* What is submitted: plans of every kind, and the tasks of every source. */
#include <math.h>
#include <stdio.h>

#include "core/plan.h"
#include "core/plan_json.h"
#include "core/profile.h"
#include "day.h"
#include "world_int.h"

/* Half of the runs change what their profile says. */
static void draw_knobs(struct world *w, struct plan *plan)
{
	static const enum commit_mode commits[] = { COMMIT_MODE_NONE, COMMIT_MODE_AUTO,
	    COMMIT_MODE_AGENT, COMMIT_MODE_AGENT };
	bool own = below(w, 2) == 0;
	const struct profile *p = plan->profile;

	plan->max_fixes = own ? below(w, 4) : p->max_fixes;
	plan->stall_limit = own ? below(w, 3) : p->stall_limit;
	plan->on_malformed = own ? (enum bad_end)below(w, BAD_ENDS) : (enum bad_end)p->on_malformed;
	plan->malformed_again = own ? (enum bad_end)below(w, BAD_END_ASK) : (enum bad_end)p->on_malformed;
	plan->on_reviewer_error = own ? (enum bad_end)below(w, BAD_END_ASK) : (enum bad_end)p->on_reviewer_error;
	plan->on_exhausted = own ? (enum bad_end)below(w, BAD_END_ASK) : (enum bad_end)p->on_exhausted;
	plan->fixer = own ? (enum fixer)below(w, FIXERS) : (enum fixer)p->fixer;
	plan->scope = own ? (enum scope)below(w, SCOPES) : (enum scope)p->scope;
	plan->commit = own ? commits[below(w, 4)] : (enum commit_mode)p->commit;
	plan->commit_said = own;
	plan->workspace = own ? (enum review_place)below(w, REVIEW_PLACES) : REVIEW_IN_PLACE;
	plan->on_cut = (enum on_cut)below(w, ON_CUTS);
	plan->on_question = (enum on_question)below(w, ON_QUESTIONS);
	if (below(w, 3) == 0)
		strings_append(&plan->protect, "tests/**");
	plan->read_only = p->read_only != 0;
	for (unsigned n = below(w, 2) == 0 ? below(w, 4) : 0; n > 0; n--) {
		char *check = xasprintf("make test%u", n);

		strings_append(&plan->checks, check);
		free(check);
	}
	for (unsigned n = below(w, 3) == 0 ? 1 + below(w, 2) : 0; n > 0; n--)
		strings_append(&plan->setup, "make deps");
	if (below(w, 6) == 0)
		strings_append(&plan->copy, ".env");
	plan->check_on_base = (enum check_on_base)below(w, CHECK_ON_BASES);
	plan->checks_mode = (enum checks_mode)below(w, CHECKS_MODES);
	plan->evidence_age_ms = below(w, 2) == 0 ? 60000 : 0;
	plan->checks_in_room = below(w, 8) != 0;		/* those of an older version */
	plan->any_round = below(w, 8) != 0;
	plan->checks_merged = below(w, 8) != 0;
	plan->review_merged = (enum review_merged)below(w, REVIEW_MERGED_CHOICES);
	plan->base_beside = below(w, 8) != 0;
}

/* Two tasks of one run seldom pass: of some runs they do, and what they merge is judged. */
static void draw_merges(struct world *w, struct plan *plan)
{
	plan->scope = SCOPE_TASK;
	plan->parallel = 2 + (int)below(w, 3);
	plan->iterations = ROW_NONE;
	plan->on_failure = ON_FAILURE_CONTINUE;
	plan->assign = ASSIGN_DAEMON;
	plan->isolation = ISOLATION_AUTO;
	plan->integrate = INTEGRATE_AUTO;
	plan->checks_merged = true;
	plan->on_malformed = plan->on_reviewer_error = plan->on_exhausted = BAD_END_ACCEPT;
	plan->max_fixes = 2;
	plan->workspace = (enum review_place)below(w, REVIEW_PLACES);
	if (strings_count(plan->checks) == 0)
		strings_append(&plan->checks, "make test1");
	plan->review_merged = below(w, 4) == 0 ? REVIEW_MERGED_ON_CONFLICT : REVIEW_MERGED_ALWAYS;
	if (plan->review_merged == REVIEW_MERGED_ON_CONFLICT && below(w, 4) != 0) {
		plan->workspace = REVIEW_IN_ROOM;
		plan->checks_in_room = true;
		plan->checks_mode = CHECKS_ALL;
	}
	strings_free(plan->setup);
	strings_free(plan->protect);
	plan->setup = plan->protect = NULL;
}

/* How many at a time, how often, and where. */
static void draw_loop(struct world *w, struct plan *plan, enum source_kind source)
{
	static const int parallel[] = { 1, 1, 2, 2, 3, 4, 8, 64 };
	static const int isolation[] = { ISOLATION_AUTO, ISOLATION_AUTO, ISOLATION_WORKTREE, ISOLATION_SHARED };
	static const int integrate[] = { INTEGRATE_AUTO, INTEGRATE_AUTO, INTEGRATE_AUTO,
	    INTEGRATE_NONE, INTEGRATE_MERGE };

	plan->parallel = 1;
	plan->iterations = ROW_NONE;
	plan->isolation = below(w, source == SOURCE_PROMPT ? 4 : 1) == 0 ?
	    (enum isolation)isolation[below(w, 4)] : ISOLATION_AUTO;
	plan->integrate = (enum integrate)integrate[below(w, 5)];
	strings_append(&plan->stop_markers, "no_beads_available");
	strings_append(&plan->no_change_markers, "no_change_needed");
	plan->on_no_change = (enum on_no_change)below(w, ON_NO_CHANGES);
	if (source == SOURCE_PROMPT)
		return;
	plan->parallel = parallel[below(w, sizeof(parallel) / sizeof(parallel[0]))];
	plan->iterations = below(w, 3) == 0 ? 1 + (int64_t)below(w, 3) : ROW_NONE;
	plan->pause_ms = below(w, 3) == 0 ? 1000 : 0;
	plan->on_failure = (enum on_failure)below(w, ON_FAILURES);
	plan->assign = source == SOURCE_BEADS && below(w, 4) == 0 ? ASSIGN_AGENT : ASSIGN_DAEMON;
	if (below(w, 2) == 0)
		draw_merges(w, plan);
}

/* Another takes over while its account is exhausted. */
static void add_spare(struct agent_plan *agent)
{
	agent->fallbacks = xcalloc(1, sizeof(*agent->fallbacks));
	agent->nfallbacks = 1;
	agent->fallbacks->name = xstrdup("spare");
	strings_append(&agent->fallbacks->command, "spare");
}

/* Two or three that review together; one may have a spare. */
static void draw_panel(struct world *w, struct plan *plan)
{
	static const char *const names[] = { "critic", "second", "third" };
	static const char *const quorums[] = { "all", "all", "majority", "1", "2" };
	size_t count = 2 + below(w, 2);

	plan->reviewers = xcalloc(count, sizeof(*plan->reviewers));
	for (; plan->nreviewers < count; plan->nreviewers++) {
		struct agent_plan *agent = &plan->reviewers[plan->nreviewers];

		agent->name = xstrdup(names[plan->nreviewers]);
		strings_append(&agent->command, "fake");
		if (below(w, 2) == 0)
			strings_append(&agent->resume, "{session}");
		if (plan->nreviewers == 0 && below(w, 3) == 0)
			add_spare(agent);
		agent->reader = below(w, 2) == 0 ? READER_CLAUDE : READER_TEXT;
	}
	plan->quorum = xstrdup(quorums[below(w, 5)]);
	plan->workspace = REVIEW_IN_ROOM;
}

/* Behind one and the same launcher, of which each run has its own limit and list of machines. A
 * program that reviews is no agent. */
static void draw_launcher(struct world *w, struct plan *plan)
{
	static const int64_t limits[] = { 0, 1, 1, 2, 3 };
	static const char *const hosts[] = { "n1=1", "n2=2", "n3=1" };
	int64_t limit = limits[below(w, 5)];
	size_t count = limit == 0 ? 3 : 0;
	struct agent_plan *agent;

	for (size_t i = 0; i < ROLES + plan->nreviewers; i++) {
		struct agent_plan *first = i < ROLES ? &plan->agents[i] : &plan->reviewers[i - ROLES];

		if (i == ROLE_REVIEW && plan->profile->carrier == CARRIER_EXIT)
			continue;
		for (size_t n = 0; (agent = (struct agent_plan *)plan_agent_at(first, n)) != NULL; n++) {
			agent->launcher = xstrdup("far");
			strings_append(&agent->launch, "far");
			strings_append(&agent->cancel, "end");
			agent->launcher_slots = limit;
			for (size_t h = 0; h < count; h++)
				strings_append(&agent->hosts, hosts[h]);
		}
	}
}

static void draw_plan(struct world *w, struct plan *plan, bool git, enum source_kind source)
{
	for (int role = 0; role < ROLES; role++) {
		plan->agents[role].name = xstrdup(role == ROLE_REVIEW ? "critic" : "fake");
		strings_append(&plan->agents[role].command, "fake");
		if (below(w, 2) == 0)
			strings_append(&plan->agents[role].resume, "{session}");
		if (below(w, 4) == 0)
			add_spare(&plan->agents[role]);
	}
	plan->retries = below(w, 4);
	plan->profile = profile_find("exit");
	if (git)
		plan->profile = &profiles[below(w, (unsigned)profiles_count)];
	plan_skip(plan, source != SOURCE_WORKFLOW && below(w, 6) != 0 ? SKIP_NOTHING : SKIP_OFF);
	draw_knobs(w, plan);
	draw_loop(w, plan, source);
	plan->disk_floor_bytes = below(w, 4) == 0;
	plan->review_file = xstrdup(plan->profile->carrier_file);
	plan->review_log = xstrdup(below(w, 3) == 0 ? "logs" : plan->profile->review_log);
	plan->report = below(w, 3) == 0 ? xstrdup("/w/report.json") : NULL;
	if (below(w, 2) == 0)
		strings_append(&plan->on_hold, "tell");
	if (below(w, 2) == 0)
		strings_append(&plan->on_pass, "tell");
	if (below(w, 2) == 0)
		strings_append(&plan->on_end, "tell");
	plan->on_lost = (enum on_lost)below(w, ON_LOST_CHOICES);
	for (int role = 0; role < ROLES; role++) {
		/* one whose status is the verdict is no agent */
		if (below(w, 2) == 0 && (role != ROLE_REVIEW || plan->profile->carrier != CARRIER_EXIT))
			plan->agents[role].reader = READER_CLAUDE;
		for (int clock = 0; clock < CLOCKS; clock++)
			plan->clocks[role].ms[clock] = 1000;
	}
	plan->grace_ms = 1000;
	plan->output_bytes = 1000;
	plan->max_cost_usd = below(w, 4) == 0 ? 0.5 * below(w, 25) : (double)NAN;
	plan->max_tokens = below(w, 8) == 0 ? 1 + (int64_t)below(w, 8000) : ROW_NONE;
	plan->max_wall_ms = below(w, 8) == 0 ? 100 + (int64_t)below(w, 3000) : ROW_NONE;
	if (git && plan->profile->carrier != CARRIER_EXIT && below(w, 5) == 0)
		draw_panel(w, plan);
	if (below(w, 3) == 0)
		draw_launcher(w, plan);
}

/* Stories are offered as they are listed; a step of a workflow may come after some of
 * those before it. */
static void draw_tasks(struct world *w, struct submission *s, struct task_list *list)
{
	size_t count = w->merges ? 8 : 1 + below(w, 6);

	list->items = xcalloc(count, sizeof(*list->items));
	for (; list->count < count; list->count++) {
		struct task_item *item = &list->items[list->count];

		item->id = xasprintf("s%zu", list->count + 1);
		item->title = xasprintf("task %zu", list->count + 1);
		item->priority = item->max_reviews = ROW_NONE;
		item->done = s->source == SOURCE_STORIES && below(w, 6) == 0;
		for (size_t i = 0; s->source == SOURCE_WORKFLOW && i < list->count; i++)
			if (below(w, 3) == 0)
				strings_append(&item->depends_on, list->items[i].id);
	}
	s->tasks = list;
}

/* Some steps of a workflow are reviewed, each by a profile of its own, and the run is not. */
static void draw_task_plans(struct world *w, const struct plan *plan, size_t count, char **plans)
{
	const char *names[] = { "decision", "decision", "verdict", "comments" };

	for (size_t i = 0; i < count; i++) {
		char *json = plan_to_json(plan);
		struct plan own;

		if (plan_from_json(json, &own) == -1)
			abort();
		free(json);
		if (below(w, 3) != 0) {
			plan_skip(&own, SKIP_NOTHING);
			own.profile = profile_find(names[below(w, 4)]);
			own.scope = SCOPE_TASK;
			own.max_fixes = below(w, 3);
			free(own.review_file);
			own.review_file = xstrdup(own.profile->carrier_file);
			plans[i] = plan_to_json(&own);
		}
		plan_release(&own);
	}
}

static const char *draw_workdir(struct world *w)
{
	static const char *const dirs[] = { "/w/a", "/w/b", "/w/c", "/w/d", "/w/e", "/w/f", "/w/nogit1", "/w/nogit2" };

	return w->crowd ? dirs[below(w, 2)] : dirs[below(w, sizeof(dirs) / sizeof(dirs[0]))];
}

/* One that has not ended. */
static int64_t draw_after(struct world *w)
{
	const struct run_rows *rows = NULL;

	while ((rows = view_next(w->disk, rows != NULL ? rows->run.id : 0)) != NULL)
		if (!run_state_is_end((enum run_state)rows->run.state) && below(w, 4) == 0)
			return rows->run.id;
	return ROW_NONE;
}

/* Of one source, so that most settings are those of the run. */
static void draw_train(struct world *w, struct plan *plan, struct submission *s)
{
	plan_skip(plan, SKIP_NOTHING);
	if (below(w, 2) == 0)
		plan_drop_panel(plan);
	plan->profile = profile_find("verdict");
	free(plan->review_file);
	plan->review_file = xstrdup(plan->profile->carrier_file);
	draw_merges(w, plan);
	plan->parallel = 8;
	plan->review_merged = below(w, 4) == 0 ? REVIEW_MERGED_ALWAYS : REVIEW_MERGED_ON_CONFLICT;
	plan->workspace = REVIEW_IN_ROOM;
	plan->checks_in_room = true;
	plan->checks_mode = CHECKS_ALL;
	plan->commit = COMMIT_MODE_AUTO;
	plan->max_cost_usd = NAN;
	plan->max_tokens = plan->max_wall_ms = ROW_NONE;
	plan->on_lost = ON_LOST_RETRY;
	s->source = below(w, 2) == 0 ? SOURCE_BEADS : SOURCE_STORIES;
}

static void draw_crowd(struct plan *plan, struct submission *s)
{
	plan_skip(plan, SKIP_OFF);
	plan->scope = SCOPE_TASK;
	plan->commit = COMMIT_MODE_NONE;
	plan->commit_said = true;
	plan->isolation = plan->assign == ASSIGN_AGENT ? ISOLATION_SHARED : ISOLATION_WORKTREE;
	plan->integrate = INTEGRATE_NONE;
	plan->parallel = 64;
	plan->iterations = ROW_NONE;
	plan->on_failure = ON_FAILURE_CONTINUE;
	plan->on_lost = ON_LOST_RETRY;
	plan->max_cost_usd = NAN;
	plan->max_tokens = plan->max_wall_ms = ROW_NONE;
	s->source = SOURCE_BEADS;
}

void client_submit(struct world *w)
{
	static const enum source_kind kinds[] = { SOURCE_PROMPT, SOURCE_PROMPT, SOURCE_PROMPT,
	    SOURCE_PROMPT, SOURCE_BEADS, SOURCE_BEADS, SOURCE_STORIES, SOURCE_WORKFLOW };
	struct plan plan = { 0 }, whole;
	struct task_list list = { 0 };
	struct submission s = { .owner = 1000 + (int64_t)below(w, 3), .body_hash = "body", .after = ROW_NONE };
	char *plans[8] = { NULL }, *json;

	s.source = w->crowd ? SOURCE_BEADS : kinds[below(w, sizeof(kinds) / sizeof(kinds[0]))];
	s.workdir = draw_workdir(w);
	s.priority = (int64_t)below(w, 3);
	s.group = below(w, 4) == 0 ? "night" : NULL;
	if (!w->crowd && below(w, 8) == 0)
		s.after = draw_after(w);
	draw_plan(w, &plan, strstr(s.workdir, "nogit") == NULL, s.source);
	if (w->crowd)
		draw_crowd(&plan, &s);
	else if (w->day != NULL)
		day_draw(w, &plan, &s);
	else if (w->merges && below(w, 4) != 0 && strstr(s.workdir, "nogit") == NULL)
		draw_train(w, &plan, &s);
	if (s.source == SOURCE_PROMPT) {
		s.task = "do it";
		s.task_size = 5;
	} else if (s.source == SOURCE_BEADS) {
		s.source_path = below(w, 2) == 0 ? "/beads/bd" : "/beads/file";
	} else {
		s.source_path = s.source == SOURCE_WORKFLOW ? "/w/flow.yaml" : below(w, 2) == 0 ?
		    "/w/prd.json" : "/w/more.json";
		draw_tasks(w, &s, &list);
	}
	if (s.source == SOURCE_WORKFLOW) {
		draw_task_plans(w, &plan, list.count, plans);
		s.task_plans = plans;
	}
	json = plan_to_json(&plan);
	if (plan_from_json(json, &whole) == -1)	/* as the settings give it: no list is NULL */
		abort();
	s.plan = &whole;
	if (w->day != NULL)
		day_submit(w, &s);
	else
		engine_submit(w->engine, &s, submit_cb, w);
	plan_release(&whole);
	free(json);
	for (size_t i = 0; i < 8; i++)
		free(plans[i]);
	task_list_release(&list);
	plan_release(&plan);
}
