/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "config/launcher_fill.h"
#include "config/layers.h"
#include "config/panel_check.h"
#include "config/resolved.h"
#include "config/review_asked.h"
#include "core/plan_words.h"
#include "core/profile.h"
#include "core/row.h"
#include "proto/memory.h"

/* The settings of each role; its agent defaults to the implementer's. Commands have none. */
static const struct {
	const char *agent, *model;
} role_paths[ROLES] = {
	[ROLE_IMPLEMENT] = { "default_agent", "run.model" },
	[ROLE_REVIEW] = { "review.agent", "review.model" },
	[ROLE_FIX] = { "review.fixer_agent", "review.fixer_model" },
	[ROLE_COMMIT] = { "default_agent", "run.model" },
};

static int64_t get_number(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	int64_t number = setting_number(setting_find(path, NULL), json);

	json_decref(json);
	return number;
}

/* New string; NULL if unset or "". */
static char *get_text(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	char *text = json_string_length(json) == 0 ? NULL : xstrdup(json_string_value(json));

	json_decref(json);
	return text;
}

static char **get_words(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	char **words = plan_words(json);

	json_decref(json);
	return words;
}

/* A model belongs to a program: the implementer's model applies only to its agent. path: the
 * agent's own model. */
static char *get_model(const struct layers *layers, enum role role,
    const struct agent_plan *implementer, bool same, const char *path)
{
	json_t *model = layers_get(layers, role_paths[role].model, NULL);
	bool given = model != NULL;

	json_decref(model);
	if (given)
		return get_text(layers, role_paths[role].model);
	return role != ROLE_IMPLEMENT && same ? xstrdup(implementer->model) : get_text(layers, path);
}

/* Everything but the model, from its [agent.NAME]. */
static void fill_words(const struct layers *layers, struct agent_plan *agent)
{
	static const struct { const char *key; size_t offset; } lists[] = {
		{ "command", offsetof(struct agent_plan, command) },
		{ "resume", offsetof(struct agent_plan, resume) },
		{ "env", offsetof(struct agent_plan, env) },
		{ "set", offsetof(struct agent_plan, set) },
		{ "writable", offsetof(struct agent_plan, writable) },
	};
	char *path;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		path = xasprintf("agent.%s.%s", agent->name, lists[i].key);
		*(char ***)(void *)((char *)agent + lists[i].offset) = get_words(layers, path);
		free(path);
	}
	path = xasprintf("agent.%s.prompt", agent->name);
	agent->prompt = (enum prompt_via)get_number(layers, path);
	free(path);
	path = xasprintf("agent.%s.reader", agent->name);
	agent->reader = (enum reader_kind)get_number(layers, path);
	free(path);
	path = xasprintf("agent.%s.account", agent->name);
	agent->account = get_text(layers, path);
	free(path);
}

/* Each with its own model, because a model belongs to a program. */
static void fill_fallbacks(const struct layers *layers, struct agent_plan *agent)
{
	char *path = xasprintf("agent.%s.fallback", agent->name), **names = get_words(layers, path);

	free(path);
	agent->nfallbacks = strings_count(names);
	agent->fallbacks = xcalloc(agent->nfallbacks, sizeof(*agent->fallbacks));
	for (size_t i = 0; i < agent->nfallbacks; i++) {
		agent->fallbacks[i].name = xstrdup(names[i]);
		fill_words(layers, &agent->fallbacks[i]);
		path = xasprintf("agent.%s.model", names[i]);
		agent->fallbacks[i].model = get_text(layers, path);
		free(path);
	}
	strings_free(names);
}

/* name: owned by the agent from then on. */
static int fill_named(const struct layers *layers, enum role role, char *agent_name,
    const struct agent_plan *implementer, struct agent_plan *agent, struct config_error *error)
{
	json_t *name;
	char *path;
	int rv;

	agent->name = agent_name;
	/* only the built-in default can still be unknown here */
	name = json_string(agent->name);
	rv = config_check_name(layers->config, setting_find("default_agent", NULL), name, "agent",
	    "default_agent", error);
	json_decref(name);
	if (rv == -1)
		return -1;
	fill_words(layers, agent);
	fill_fallbacks(layers, agent);
	path = xasprintf("agent.%s.model", agent->name);
	agent->model = get_model(layers, role, implementer, strcmp(agent->name, implementer->name) == 0, path);
	free(path);
	return 0;
}

static int fill_agent(const struct layers *layers, enum role role,
    const struct agent_plan *implementer, struct agent_plan *agent, struct config_error *error)
{
	char *name = get_text(layers, role_paths[role].agent);

	return fill_named(layers, role, name != NULL ? name : xstrdup(implementer->name), implementer, agent, error);
}

/* A program whose exit status is the verdict: it is no agent, but gets the implementer's
 * environment. */
static void fill_reviewer(const struct layers *layers, const struct agent_plan *implementer,
    const char *program, struct agent_plan *agent)
{
	const char *slash = strrchr(program, '/');

	agent->name = xstrdup(slash == NULL || slash[1] == '\0' ? program : slash + 1);
	agent->account = xstrdup(agent->name);
	strings_append(&agent->command, program);
	agent->resume = xcalloc(1, sizeof(*agent->resume));
	agent->prompt = PROMPT_STDIN;
	agent->reader = READER_TEXT;
	agent->model = get_model(layers, ROLE_REVIEW, implementer, true, NULL);
	agent->set = strings_copy(implementer->set);
	agent->env = get_words(layers, "review.env");
	for (char **name = implementer->env; name != NULL && *name != NULL; name++)
		strings_append(&agent->env, *name);
	agent->writable = strings_copy(implementer->writable);
}

/* A named template must exist now, so that the run does not fail hours later. */
static int check_prompt(const struct layers *layers, const char *path, const char *file, struct config_error *error)
{
	struct origin origin;
	json_t *json;
	struct stat st;
	int rv = 0;

	if (file == NULL)
		return 0;
	json = layers_get(layers, path, &origin);
	if (stat(file, &st) == -1 || access(file, R_OK) == -1)
		rv = config_refuse(error, origin.field, "%s: %s: %s; name a readable file",
		    origin.name, file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rv = config_refuse(error, origin.field,
		    "%s: %s: is not a regular file; name a readable file", origin.name, file);
	free(origin.text);
	json_decref(json);
	return rv;
}

/* Whether there is a review, and why not. */
static void fill_review(const struct layers *layers, struct plan *plan)
{
	enum skip_kind skip = SKIP_NOTHING;

	plan->reviewer_prompt = get_text(layers, "review.reviewer_prompt");
	if (!get_number(layers, "review.enabled"))
		skip = SKIP_OFF;
	else if (plan->reviewer_prompt != NULL && strcmp(plan->reviewer_prompt, "none") == 0)
		skip = SKIP_PROMPT;
	if (skip != SKIP_NOTHING) {
		free(plan->reviewer_prompt);
		plan->reviewer_prompt = NULL;
	}
	if (get_number(layers, "review.skip")) {
		plan->skipped = skip == SKIP_NOTHING;
		skip = SKIP_FLAG;
	}
	plan_skip(plan, skip);
}

/* When the reviewer is asked about its answer, the profile's own value decides about the second
 * one. */
static enum bad_end malformed_again(const struct layers *layers, const struct profile *profile)
{
	json_t *json = layers_profile(layers, "review.on_malformed");
	int value = json != NULL ? state_value(&bad_end_names, json_string_value(json)) : -1;

	json_decref(json);
	return (enum bad_end)(value != -1 ? value : profile->on_malformed);
}

static void fill_policy(const struct layers *layers, struct plan *plan)
{
	plan->profile = config_profile(layers->config, layers->profile);
	plan->profile_name = xstrdup(layers->profile);
	plan->max_fixes = get_number(layers, "review.max_fixes");
	plan->stall_limit = get_number(layers, "review.stall_limit");
	plan->any_round = true;
	plan->on_malformed = (enum bad_end)get_number(layers, "review.on_malformed");
	plan->malformed_again = malformed_again(layers, plan->profile);
	plan->on_reviewer_error = (enum bad_end)get_number(layers, "review.on_reviewer_error");
	plan->on_exhausted = (enum bad_end)get_number(layers, "review.on_exhausted");
	plan->fixer = (enum fixer)get_number(layers, "review.fixer");
	plan->scope = (enum scope)get_number(layers, "review.scope");
	plan->strictness = (enum strictness)get_number(layers, "review.strictness");
	plan->read_only = get_number(layers, "review.read_only") != 0;
	plan->on_cut = (enum on_cut)get_number(layers, "review.on_cut");
	plan->on_question = (enum on_question)get_number(layers, "review.on_question");
	plan->nonce = true;
	plan->silence = (enum silence)get_number(layers, "review.silence");
	plan->sandbox = (enum sandbox)get_number(layers, "review.sandbox");
	plan->workspace = (enum review_place)get_number(layers, "review.workspace");
	plan->room = (enum room_of)get_number(layers, "review.room");
	plan->checks = get_words(layers, "review.checks");
	plan->checks_mode = (enum checks_mode)get_number(layers, "review.checks_mode");
	plan->checks_in_room = plan->checks_merged = plan->base_beside = true;
	plan->review_merged = (enum review_merged)get_number(layers, "review.review_merged");
	plan->may_change = get_words(layers, "review.reviewer_may_change");
	plan->protect = get_words(layers, "review.protect");
	plan->escalate = get_words(layers, "review.escalate");
	plan->quorum = panel_quorum_text(layers);
	plan->guidelines = get_words(layers, "review.guidelines");
	plan->conventions = get_words(layers, "review.conventions");
	if (plan->profile->carrier_file != NULL)
		plan->review_file = get_text(layers, "review.review_file");
	plan->review_log = get_text(layers, "review.review_log");
	if (plan->profile->carrier == CARRIER_EXIT)
		plan->reviewer = get_text(layers, "review.reviewer");
	plan->developer_prompt = get_text(layers, "review.developer_prompt");
}

static bool is_said(const struct layers *layers, const char *path)
{
	struct origin origin;

	json_decref(layers_get(layers, path, &origin));
	free(origin.text);
	return origin.said;
}

/* ROW_NONE if unset. */
static int64_t get_limit(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	bool set = json != NULL;

	json_decref(json);
	return set ? get_number(layers, path) : ROW_NONE;
}

/* Whether it is set in a layer above rld.toml. */
static bool is_nearer(const struct layers *layers, const char *path)
{
	struct origin origin;

	json_decref(layers_get(layers, path, &origin));
	free(origin.text);
	return origin.field != NULL;
}

/* Limits of a single role, which only rld.toml can set, precede those of all roles in rld.toml or a
 * profile. */
static void fill_clocks(const struct layers *layers, enum role role, struct clocks *clocks)
{
	for (int clock = 0; clock < CLOCKS; clock++) {
		const char *own = clocks_own_setting(role, (enum clock)clock),
		    *common = clocks_common_setting(role, (enum clock)clock);

		clocks->own[clock] = own != NULL && setting_find(own, NULL) != NULL && is_said(layers, own) &&
		    !is_nearer(layers, common);
		clocks->ms[clock] = get_number(layers, clocks->own[clock] ? own : common);
	}
}

/* NaN if unset. */
static double get_money(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL);
	double money = json != NULL ? setting_money(json) : (double)NAN;

	json_decref(json);
	return money;
}

static void fill_run(const struct layers *layers, struct plan *plan)
{
	plan->iterations = get_limit(layers, "run.iterations");
	plan->parallel = get_number(layers, "run.parallel");
	plan->pause_ms = get_number(layers, "run.pause_ms");
	plan->isolation = (enum isolation)get_number(layers, "run.isolation");
	plan->base = get_text(layers, "run.base");
	plan->commit = (enum commit_mode)get_number(layers, "run.commit");
	plan->commit_said = is_said(layers, "run.commit");
	plan->integrate = (enum integrate)get_number(layers, "run.integrate");
	plan->on_failure = (enum on_failure)get_number(layers, "run.on_failure");
	plan->assign = (enum assign)get_number(layers, "run.assign");
	plan->stop_markers = get_words(layers, "run.stop_markers");
	plan->on_no_change = (enum on_no_change)get_number(layers, "run.on_no_change");
	plan->no_change_markers = get_words(layers, "run.no_change_markers");
	plan->max_cost_usd = get_money(layers, "run.max_cost");
	plan->max_tokens = get_limit(layers, "run.max_tokens");
	plan->strict_budget = get_number(layers, "run.strict_budget") != 0;
	plan->max_wall_ms = get_limit(layers, "run.max_wall");
	plan->evidence_age_ms = get_number(layers, "run.evidence_age");
	plan->on_lost = (enum on_lost)get_number(layers, "run.on_lost");
	plan->retries = get_number(layers, "run.retries");
	plan->setup = get_words(layers, "run.setup");
	plan->copy = get_words(layers, "run.copy");
	plan->setup_inputs = get_words(layers, "run.setup_inputs");
	plan->check_on_base = (enum check_on_base)get_number(layers, "run.check_on_base");
	plan->report = get_text(layers, "run.report");
	plan->env = get_words(layers, "run.env");
	plan->labels = get_words(layers, "run.label");
	plan->on_hold = get_words(layers, "hook.on_hold");
	plan->on_pass = get_words(layers, "hook.on_pass");
	plan->on_end = get_words(layers, "hook.on_end");
	for (int role = 0; role < ROLES; role++)
		fill_clocks(layers, (enum role)role, &plan->clocks[role]);
	plan->grace_ms = get_number(layers, "limits.grace");
	plan->output_bytes = get_number(layers, "limits.output");
	plan->disk_floor_bytes = get_number(layers, "limits.disk_floor");
}

/* A read-only command for reviewers replaces the general one. */
static void fill_review_command(const struct layers *layers, struct agent_plan *agent)
{
	char *path = xasprintf("agent.%s.review", agent->name), **words = get_words(layers, path);

	free(path);
	if (words[0] == NULL) {
		strings_free(words);
		return;
	}
	strings_free(agent->command);
	agent->command = words;
}

/* name: as fill_named(). */
static int fill_reviewing_agent(const struct layers *layers, struct plan *plan, char *name,
    struct agent_plan *agent, struct config_error *error)
{
	if (fill_named(layers, ROLE_REVIEW, name, &plan->agents[ROLE_IMPLEMENT], agent, error) == -1)
		return -1;
	/* a program that cannot write could not write the review file */
	if (plan->profile->carrier == CARRIER_FILE || plan->profile->carrier == CARRIER_COMMENTS)
		return 0;
	fill_review_command(layers, agent);
	for (size_t i = 0; i < agent->nfallbacks; i++)
		fill_review_command(layers, &agent->fallbacks[i]);
	return 0;
}

/* A fallback must not vote twice. */
static void drop_named(struct agent_plan *agent, char *const *names)
{
	size_t kept = 0;

	for (size_t i = 0; i < agent->nfallbacks; i++) {
		struct agent_plan fallback = agent->fallbacks[i];

		/* those that are left stay in their order, the others behind them */
		if (strings_contain((char **)names, fallback.name))
			continue;
		agent->fallbacks[i] = agent->fallbacks[kept];
		agent->fallbacks[kept++] = fallback;
	}
	plan_drop_fallbacks(agent, kept);
}

static int fill_reviewers(const struct layers *layers, struct plan *plan, struct config_error *error)
{
	struct agent_plan *first = &plan->agents[ROLE_REVIEW];
	char **names = panel_reviewers(layers), *name = get_text(layers, "review.agent");
	size_t count = strings_count(names);
	int rv = 0;

	if (count > 0) {
		free(name);
		name = xstrdup(names[0]);
	}
	rv = fill_reviewing_agent(layers, plan, name != NULL ? name : xstrdup(plan->agents[ROLE_IMPLEMENT].name), first,
	    error);
	plan->reviewers = xcalloc(count, sizeof(*plan->reviewers));
	for (size_t i = 0; rv == 0 && i < count && count > 1; i++) {
		plan->nreviewers++;
		rv = fill_reviewing_agent(layers, plan, xstrdup(names[i]), &plan->reviewers[i], error);
		drop_named(&plan->reviewers[i], names);
	}
	strings_free(names);
	return rv;
}

static int fill_agents(const struct layers *layers, struct plan *plan, struct config_error *error)
{
	struct agent_plan *agents = plan->agents, *implementer = &agents[ROLE_IMPLEMENT];

	if (fill_agent(layers, ROLE_IMPLEMENT, implementer, implementer, error) == -1 ||
	    fill_agent(layers, ROLE_FIX, implementer, &agents[ROLE_FIX], error) == -1 ||
	    fill_agent(layers, ROLE_COMMIT, implementer, &agents[ROLE_COMMIT], error) == -1)
		return -1;
	if (plan->reviewer == NULL)
		return fill_reviewers(layers, plan, error);
	fill_reviewer(layers, implementer, plan->reviewer, &agents[ROLE_REVIEW]);
	return 0;
}

/* Fixers that do not work with a profile. */
static int check_fixer(const struct layers *layers, const struct plan *plan, struct config_error *error)
{
	const struct {
		enum fixer fixer;
		bool impossible;
		const char *why;
	} rows[] = {
		{ FIXER_CORRECTOR, plan->profile->carrier != CARRIER_FILE,
		    "it needs a review file" },
		{ FIXER_RESUME, plan->profile->no_task,
		    "it resumes the implementer's conversation, which knows the task; the agents "
		    "of this profile must not" },
	};
	struct origin origin;
	int rv = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rv == 0; i++) {
		if (plan->fixer != rows[i].fixer || !rows[i].impossible)
			continue;
		json_decref(layers_get(layers, "review.fixer", &origin));
		rv = config_refuse(error, origin.field,
		    "%s: fixer '%s' does not work with profile '%s': %s; choose another fixer", origin.name,
		    state_name(&fixer_names, (int)plan->fixer), plan->profile_name, rows[i].why);
		free(origin.text);
	}
	return rv;
}

/* Refuse an impossible review now, not when the work has been paid for. */
static int check_review(const struct layers *layers, const struct plan *plan, struct config_error *error)
{
	if (plan->profile->carrier == CARRIER_EXIT && plan->reviewer == NULL)
		return config_refuse(error, "reviewer",
		    "profile '%s' needs a reviewing program: name it with --reviewer, or set "
		    "reviewer in [review]", plan->profile_name);
	if (check_fixer(layers, plan, error) == -1 || panel_check(layers, plan, error) == -1)
		return -1;
	return check_prompt(layers, "review.reviewer_prompt", plan->reviewer_prompt, error);
}

/* The limits of a budget, and the report that each needs. */
static const struct kept {
	const char *run, *account;	/* settings; the last part of the latter */
	bool (*tells)(enum reader_kind kind);
	const char *what, *remedies[2];		/* for the run, for the account */
} kept[] = {
	{ "run.max_cost", "budget_day_usd", reader_tells_cost, "its cost",
	    { "limit tokens instead if the agent reports them",
	        "set budget_day_tokens instead if the agent reports them" } },
	{ "run.max_tokens", "budget_day_tokens", reader_tells_tokens, "its tokens",
	    { "limit the time with max_wall instead", "limit the time with budget_day_wall instead" } },
};

/* Refuse an agent that would spend under a limit without reporting it. where: its
 * part in the run. */
static int check_spender(const struct layers *layers, const struct kept *k,
    const struct agent_plan *agent, const char *where, struct config_error *error)
{
	char *path = xasprintf("account.%s.%s", agent->account, k->account);
	const char *const limits[] = { k->run, path };
	int rv = 0;

	for (size_t i = 0; i < 2 && rv == 0 && !k->tells(agent->reader); i++) {
		struct origin origin;
		json_t *cap = layers_get(layers, limits[i], &origin);

		if (cap != NULL)
			rv = config_refuse(error, origin.field != NULL ? origin.field : "agent",
			    "%s: %s cannot be enforced, because agent '%s', which %s, does not "
			    "report %s; choose another agent, remove the limit, or %s", origin.name,
			    limits[i], agent->name, where, k->what, k->remedies[i]);
		json_decref(cap);
		free(origin.text);
	}
	free(path);
	return rv;
}

/* For all agents that may be started. A reviewing program is not one: its costs are not counted. */
static int check_budget(const struct layers *layers, const struct plan *plan, bool reviewed, struct config_error *error)
{
	/* what git refuses is fixed even without a review */
	bool fixed = reviewed || plan->commit != COMMIT_MODE_NONE ||
	    plan->isolation == ISOLATION_WORKTREE || plan->parallel > 1;
	const struct { enum role role; bool used; const char *where; } rows[] = {
		{ ROLE_IMPLEMENT, true, "implements" },
		{ ROLE_REVIEW, reviewed && plan->reviewer == NULL, "reviews" },
		{ ROLE_FIX, fixed, "fixes" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct agent_plan *agent;

		for (size_t n = 0; rows[i].used && (agent = plan_agent_at(&plan->agents[rows[i].role], n)) != NULL; n++)
			for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
				if (check_spender(layers, &kept[k], agent,
				    n > 0 ? "is a fallback" : rows[i].where, error) == -1)
					return -1;
	}
	for (size_t i = 0; reviewed && i < plan->nreviewers; i++)
		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			if (check_spender(layers, &kept[k], &plan->reviewers[i], "reviews", error) == -1)
				return -1;
	return 0;
}

static int resolve(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    struct plan *plan, struct config_error *error)
{
	struct layers layers;
	int rv;

	*plan = (struct plan){ 0 };
	rv = layers_open(&layers, config, project, overrides, count, error);
	if (rv == -1)
		goto out;
	fill_review(&layers, plan);
	fill_policy(&layers, plan);
	fill_run(&layers, plan);
	rv = fill_agents(&layers, plan, error);
	if (rv == 0)
		rv = launcher_fill_plan(&layers, plan, error);
	if (rv == 0)
		rv = check_prompt(&layers, "review.developer_prompt", plan->developer_prompt, error);
	if (rv == 0)
		rv = review_asked_check(&layers, plan, error);
	if (rv == 0)
		rv = check_budget(&layers, plan, plan->review, error);
	if (rv == 0 && (plan->review || plan->skipped) &&
	    (check_review(&layers, plan, error) == -1 || check_budget(&layers, plan, true, error) == -1)) {
		/* --skip-review overrides every option; a retry ignores it */
		plan->skipped = false;
		rv = plan->review ? -1 : 0;
	}
out:
	if (rv == -1)
		plan_release(plan);
	layers_close(&layers);
	return rv;
}

int config_resolve(const struct config *config, const struct project *project,
    const struct config_override *overrides, size_t count,
    struct plan *plan, struct config_error *error)
{
	struct resolved_key key = resolved_key(project, overrides, count);
	int rv = 0;

	*error = (struct config_error){ 0 };
	if (!resolved_find(config_resolved(config), &key, plan)) {
		rv = resolve(config, project, overrides, count, plan, error);
		if (rv == 0)
			resolved_keep(config_resolved(config), &key, plan);
	}
	resolved_key_release(&key);
	return rv;
}
