/* SPDX-License-Identifier: MIT */
#include "core/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/cause.h"
#include "proto/memory.h"

static const char *const via[PROMPT_VIAS] = {
	[PROMPT_STDIN] = "stdin",
	[PROMPT_ARG] = "arg",
	[PROMPT_FILE] = "file",
};

static const char *const readers[READER_KINDS] = {
	[READER_TEXT] = "text",
	[READER_CLAUDE] = "claude",
	[READER_CODEX] = "codex",
	[READER_GEMINI] = "gemini",
	[READER_OPENCODE] = "opencode",
	[READER_COPILOT] = "copilot",
	[READER_QWEN] = "qwen",
	[READER_PI] = "pi",
};

const struct state_names prompt_via_names = { "prompt delivery", via, PROMPT_VIAS, NULL };
const struct state_names reader_names = { "reader", readers, READER_KINDS, NULL };

static void agent_plan_release(struct agent_plan *agent)
{
	free(agent->name);
	strings_free(agent->command);
	strings_free(agent->resume);
	free(agent->model);
	strings_free(agent->set);
	strings_free(agent->env);
	strings_free(agent->writable);
	free(agent->account);
	free(agent->launcher);
	strings_free(agent->launch);
	strings_free(agent->cancel);
	strings_free(agent->hosts);
	for (size_t i = 0; i < agent->nfallbacks; i++)
		agent_plan_release(&agent->fallbacks[i]);
	free(agent->fallbacks);
}

void plan_swap_agent(struct plan *plan, struct plan *other, enum role role)
{
	struct agent_plan agent = plan->agents[role];

	plan->agents[role] = other->agents[role];
	other->agents[role] = agent;
}

void plan_drop_fallbacks(struct agent_plan *agent, size_t kept)
{
	while (agent->nfallbacks > kept)
		agent_plan_release(&agent->fallbacks[--agent->nfallbacks]);
}

bool plan_has_panel(const struct plan *plan)
{
	return plan->review && plan->nreviewers > 1;
}

void plan_drop_panel(struct plan *plan)
{
	for (size_t i = 0; i < plan->nreviewers; i++)
		agent_plan_release(&plan->reviewers[i]);
	free(plan->reviewers);
	plan->reviewers = NULL;
	plan->nreviewers = 0;
}

void plan_take_reviewer(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nreviewers; i++) {
		struct agent_plan agent = plan->reviewers[i];

		if (strcmp(agent.name, name) != 0)
			continue;
		plan->reviewers[i] = plan->agents[ROLE_REVIEW];
		plan->agents[ROLE_REVIEW] = agent;
		break;
	}
	plan_drop_panel(plan);
}

static void swap_strings(char ***a, char ***b)
{
	char **list = *a;

	*a = *b;
	*b = list;
}

void plan_swap_setup(struct plan *plan, struct plan *other)
{
	enum review_place workspace = plan->workspace;

	plan->workspace = other->workspace;
	other->workspace = workspace;
	swap_strings(&plan->setup, &other->setup);
	swap_strings(&plan->copy, &other->copy);
	swap_strings(&plan->setup_inputs, &other->setup_inputs);
}

const struct agent_plan *plan_agent_at(const struct agent_plan *agent, size_t i)
{
	return i == 0 ? agent : i <= agent->nfallbacks ? &agent->fallbacks[i - 1] : NULL;
}

const struct agent_plan *plan_agent(const struct plan *plan, enum role role, const char *name)
{
	const struct agent_plan *first = &plan->agents[role], *agent;

	for (size_t i = 0; (agent = plan_agent_at(first, i)) != NULL; i++)
		if (agent->name != NULL && strcmp(agent->name, name) == 0)
			return agent;
	return first;
}

const char *plan_model(const struct plan *plan, enum role role, const struct agent_plan *agent, int64_t fix)
{
	bool works = role == ROLE_IMPLEMENT || role == ROLE_FIX;
	size_t count = plan->review && works && agent == &plan->agents[role] ? strings_count(plan->escalate) : 0;

	if (count == 0)
		return agent->model;
	return plan->escalate[(size_t)fix < count ? (size_t)fix : count - 1];
}

/* An impossible combination, with the parameter at fault and the remedy. */
struct refusal {
	bool holds;
	const char *field, *text;
};

/* The first that applies. */
static char *plan_refuse(const struct refusal *refusals, size_t count, const char **field)
{
	for (size_t i = 0; i < count; i++) {
		if (!refusals[i].holds)
			continue;
		*field = refusals[i].field;
		return xstrdup(refusals[i].text);
	}
	return NULL;
}

#define REFUSE(refusals, field) plan_refuse(refusals, sizeof(refusals) / sizeof((refusals)[0]), field)

/* Whether the agent, or one that may replace it, works in a copy of the tree. */
static bool agent_copies(const struct agent_plan *agent)
{
	bool copies = agent->copies;

	for (size_t i = 0; i < agent->nfallbacks; i++)
		copies = copies || agent->fallbacks[i].copies;
	return copies;
}

static bool workers_copy(const struct plan *plan)
{
	return agent_copies(&plan->agents[ROLE_IMPLEMENT]) || agent_copies(&plan->agents[ROLE_FIX]) ||
	    agent_copies(&plan->agents[ROLE_COMMIT]);
}

static bool reviewers_copy(const struct plan *plan)
{
	bool copies = agent_copies(&plan->agents[ROLE_REVIEW]);

	for (size_t i = 0; i < plan->nreviewers; i++)
		copies = copies || agent_copies(&plan->reviewers[i]);
	return copies;
}

static char *settle_isolation(struct plan *plan, bool has_git, const char **field)
{
	bool copies = workers_copy(plan);

	if (plan->isolation == ISOLATION_AUTO)
		plan->isolation = (plan->parallel > 1 || copies) && has_git && plan->assign == ASSIGN_DAEMON ?
		    ISOLATION_WORKTREE : ISOLATION_SHARED;
	return REFUSE(((struct refusal[]){
		{ copies && !has_git, "launcher",
		    "a launcher with files = \"copied\" needs a git repository, and the working directory is in "
		    "none; run 'git init' there, or choose --launcher local" },
		{ copies && plan->isolation == ISOLATION_SHARED, "isolation",
		    "a launcher with files = \"copied\" needs work trees of the run's own: it would overwrite what "
		    "others change in a shared directory; choose --isolation worktree, or --launcher local" },
		{ plan->base != NULL && !has_git, "base",
		    "--base needs a git repository, and the working directory is in none; run 'git "
		    "init' there, or leave --base out" },
		{ plan->isolation == ISOLATION_WORKTREE && !has_git, "isolation",
		    "work trees need a git repository, and the working directory is in none; run "
		    "'git init' there, or choose --isolation shared" },
		{ plan->isolation == ISOLATION_WORKTREE && plan->assign == ASSIGN_AGENT, "assign",
		    "agents that pick their own tasks need one shared directory; choose "
		    "--isolation shared, or --assign daemon" },
	}), field);
}

/* Commit in a work tree unless the settings say otherwise: without commits its work is hard to take
 * over. */
static void settle_commit(struct plan *plan, bool many)
{
	bool worktree = plan->isolation == ISOLATION_WORKTREE,
	    whole = (plan->review || plan->skipped) && plan->scope == SCOPE_RUN;

	if (worktree && plan->commit == COMMIT_MODE_NONE && !plan->commit_said)
		plan->commit = COMMIT_MODE_AUTO;
	if (plan->integrate == INTEGRATE_AUTO)
		plan->integrate = worktree && (many || whole) && plan->commit != COMMIT_MODE_NONE ?
		    INTEGRATE_MERGE : INTEGRATE_NONE;
}

static char *settle_trees(struct plan *plan, bool has_git, bool many, const char **field)
{
	bool worktree = plan->isolation == ISOLATION_WORKTREE,
	    merge = plan->integrate == INTEGRATE_MERGE, commit = plan->commit != COMMIT_MODE_NONE;
	/* other slots write to the tree while it is measured */
	bool concurrent = !worktree && plan->parallel > 1 && many && has_git;
	char *text = REFUSE(((struct refusal[]){
		{ merge && !worktree, "integrate",
		    "--integrate merges commits, which needs a work tree for each task; add "
		    "--isolation worktree, or leave --integrate out" },
		{ merge && !commit, "commit",
		    "--integrate merges commits, and this run makes none; choose --commit auto, or "
		    "--integrate none" },
		{ concurrent && commit && !(plan->review && plan->scope == SCOPE_RUN), "commit",
		    "slots that share a directory would commit each other's work; choose "
		    "--isolation worktree, --commit none, or one slot" },
	}), field);

	if (text != NULL)
		return text;
	if (plan->scope == SCOPE_RUN && worktree && !merge && plan->skipped)
		/* --skip-review overrides every option; a retry ignores it */
		plan->skipped = false;
	if (concurrent && plan->scope == SCOPE_TASK)
		plan->workspace = REVIEW_IN_ROOM;
	if (!has_git)
		plan->workspace = REVIEW_IN_PLACE;
	return REFUSE(((struct refusal[]){
		{ plan->review && reviewers_copy(plan) && !worktree && plan->workspace != REVIEW_IN_ROOM,
		    "review.workspace",
		    "a launcher with files = \"copied\" needs a tree of the run's own: choose review.workspace "
		    "\"room\", in a git repository, or a local reviewer" },
		{ plan_has_panel(plan) && plan->workspace != REVIEW_IN_ROOM, "review.reviewers",
		    "several reviewers work in a room each, which needs a git repository and review.workspace "
		    "\"room\"; or name one reviewer" },
		{ plan->review && plan->scope == SCOPE_RUN && worktree && !merge, "review.scope",
		    "a review of the whole run needs all work in one tree; add --integrate merge, "
		    "or choose --isolation shared" },
		{ plan->review && plan->checks_mode == CHECKS_NEW_FAILURES && strings_count(plan->checks) > 0 &&
		    (plan->workspace != REVIEW_IN_ROOM || plan->check_on_base == CHECK_ON_BASE_SKIP),
		    "review.checks_mode",
		    "\"new_failures\" compares with the base: choose review.workspace \"room\", in a git "
		    "repository, and check_on_base \"warn\"; or checks_mode \"all\"" },
	}), field);
}

char *plan_settle(struct plan *plan, bool has_git, bool many, const char **field)
{
	char *text = settle_isolation(plan, has_git, field);

	if (text != NULL)
		return text;
	plan->rolls = many && plan->assign == ASSIGN_DAEMON && plan->iterations == ROW_NONE && plan->pause_ms == 0;
	settle_commit(plan, many);
	return settle_trees(plan, has_git, many, field);
}

bool check_is_of_task(const char *command)
{
	return strstr(command, "RL_") != NULL;
}

bool plan_checks_room(const struct plan *plan)
{
	return plan->checks_in_room && plan->workspace == REVIEW_IN_ROOM;
}

bool plan_judges_merges(const struct plan *plan)
{
	return plan->checks_merged && plan->review && plan->scope == SCOPE_TASK &&
	    (strings_count(plan->checks) > 0 || plan->review_merged == REVIEW_MERGED_ALWAYS);
}

bool plan_prepares(const struct plan *plan)
{
	return strings_count(plan->setup) > 0 || strings_count(plan->copy) > 0;
}

void plan_skip(struct plan *plan, enum skip_kind kind)
{
	plan->review = kind == SKIP_NOTHING;
	plan->skip_kind = kind;
	free(plan->skip_reason);
	plan->skip_reason = xstrdup(skip_text(kind));
}

bool plan_unskip(struct plan *plan)
{
	if (!plan->skipped)
		return false;
	plan->skipped = false;
	plan_skip(plan, SKIP_NOTHING);
	return true;
}

void plan_move(struct plan *to, struct plan *from)
{
	*to = *from;
	*from = (struct plan){ 0 };
}

void plan_release(struct plan *plan)
{
	for (int role = 0; role < ROLES; role++)
		agent_plan_release(&plan->agents[role]);
	free(plan->skip_reason);
	free(plan->profile_name);
	strings_free(plan->stop_markers);
	strings_free(plan->no_change_markers);
	free(plan->base);
	strings_free(plan->checks);
	strings_free(plan->may_change);
	strings_free(plan->protect);
	strings_free(plan->read_as);
	strings_free(plan->escalate);
	plan_drop_panel(plan);
	free(plan->quorum);
	strings_free(plan->setup);
	strings_free(plan->copy);
	strings_free(plan->setup_inputs);
	strings_free(plan->guidelines);
	strings_free(plan->conventions);
	free(plan->review_file);
	free(plan->review_log);
	free(plan->reviewer);
	free(plan->reviewer_sha256);
	free(plan->report);
	strings_free(plan->on_hold);
	strings_free(plan->on_pass);
	strings_free(plan->on_end);
	free(plan->developer_prompt);
	free(plan->reviewer_prompt);
	strings_free(plan->env);
	strings_free(plan->labels);
	*plan = (struct plan){ 0 };
}
