/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/config.h"
#include "config/values.h"
#include "core/profile.h"

/* What each role asks for first; its agent falls back to the implementer's. */
static const struct {
	const char *agent, *model;
} role_paths[ROLES] = {
	[ROLE_IMPLEMENT] = { "default_agent", "run.model" },
	[ROLE_REVIEW] = { "review.agent", "review.model" },
	[ROLE_FIX] = { "review.fixer_agent", "review.fixer_model" },
};

static int64_t get_number(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL, NULL);
	int64_t number = setting_number(setting_find(path, NULL), json);

	json_decref(json);
	return number;
}

/* New string; NULL when unset or "". */
static char *get_text(const struct layers *layers, const char *path)
{
	json_t *json = layers_get(layers, path, NULL, NULL);
	char *text = json_string_length(json) == 0 ? NULL : xstrdup(json_string_value(json));

	json_decref(json);
	return text;
}

/* New list: the words of an array, "K=V" of an object. */
static char **get_words(const struct layers *layers, const char *path)
{
	char **words = xcalloc(1, sizeof(*words));
	json_t *json = layers_get(layers, path, NULL, NULL), *item;
	const char *name;
	size_t i;

	json_array_foreach(json, i, item)
		strings_append(&words, json_string_value(item));
	json_object_foreach(json, name, item) {
		char *word = xasprintf("%s=%s", name, json_string_value(item));

		strings_append(&words, word);
		free(word);
	}
	json_decref(json);
	return words;
}

/* Check what a submit gave, so that later lookups need not. */
static int take_overrides(const struct config *config, const struct config_override *overrides, size_t count,
    struct values *submit, struct config_error *error)
{
	for (size_t i = 0; i < count; i++) {
		const struct config_override *o = &overrides[i];
		const char *rest, *name = o->field != NULL ? o->field : o->path;
		const struct setting *setting = setting_find(o->path, &rest);
		json_t *json;
		char *why;

		if (setting == NULL || rest != NULL || !(setting->layers & LAYER_SUBMIT))
			return config_refuse(error, o->field, "%s: a submit cannot set '%s'", name, o->path);
		json = json_loads(o->value, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
		if (json == NULL)
			return config_refuse(error, o->field, "%s: the value is not JSON", name);
		if ((why = setting_refuse(setting, json)) != NULL) {
			json_decref(json);
			config_refuse(error, o->field, "%s: %s", name, why);
			free(why);
			return -1;
		}
		values_put(submit, o->path, setting, json)->field = xstrdup(name);
		if (setting->kind == SETTING_AGENT && !config_has_agent(config, json_string_value(json)))
			return config_refuse_agent(config, error, o->field, name, json_string_value(json));
	}
	return 0;
}

static int fill_agent(const struct layers *layers, enum role role, const struct agent_plan *implementer, struct agent_plan *agent,
    struct config_error *error)
{
	static const struct { const char *key; size_t offset; } lists[] = {
		{ "command", offsetof(struct agent_plan, command) },
		{ "env", offsetof(struct agent_plan, env) },
		{ "set", offsetof(struct agent_plan, set) },
	};
	json_t *model;
	char *path;

	agent->name = get_text(layers, role_paths[role].agent);
	if (agent->name == NULL)
		agent->name = xstrdup(implementer->name);
	/* only the built-in default can still be unknown here */
	if (!config_has_agent(layers->config, agent->name))
		return config_refuse_agent(layers->config, error, "agent", "default_agent", agent->name);
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

	/* A model belongs to one program: the implementer's goes with its agent only. */
	model = layers_get(layers, role_paths[role].model, NULL, NULL);
	path = xasprintf("agent.%s.model", agent->name);
	if (model != NULL)
		agent->model = get_text(layers, role_paths[role].model);
	else if (role != ROLE_IMPLEMENT && strcmp(agent->name, implementer->name) == 0)
		agent->model = xstrdup(implementer->model);
	else
		agent->model = get_text(layers, path);
	free(path);
	json_decref(model);
	return 0;
}

/* A template that was named must be there now: a run should not fail for it hours later. */
static int check_prompt(const struct layers *layers, const char *path, const char *file, struct config_error *error)
{
	const char *field;
	json_t *json;
	char *from;
	struct stat st;
	int rv = 0;

	if (file == NULL)
		return 0;
	json = layers_get(layers, path, &from, &field);
	if (stat(file, &st) == -1 || access(file, R_OK) == -1)
		rv = config_refuse(error, field, "%s: %s: %s; name a readable file", from, file, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rv = config_refuse(error, field, "%s: %s: is not a regular file; name a readable file", from, file);
	free(from);
	json_decref(json);
	return rv;
}

/* Whether there will be a review; skip_reason says why not. */
static void fill_review(const struct layers *layers, struct plan *plan)
{
	const char *reason = NULL;

	plan->reviewer_prompt = get_text(layers, "review.reviewer_prompt");
	if (get_number(layers, "review.skip"))
		reason = "--skip-review flag set";
	else if (!get_number(layers, "review.enabled"))
		reason = "review is off";
	else if (plan->reviewer_prompt != NULL && strcmp(plan->reviewer_prompt, "none") == 0)
		reason = "reviewer_prompt = none";
	plan->review = reason == NULL;
	plan->skip_reason = xstrdup(reason);
	if (!plan->review) {
		free(plan->reviewer_prompt);
		plan->reviewer_prompt = NULL;
	}
}

int config_resolve(const struct config *config, const struct config_override *overrides, size_t count, struct plan *plan, struct config_error *error)
{
	struct values submit = { 0 };
	struct layers layers = { .submit = &submit, .config = config };
	char *profile;
	int rv;

	*plan = (struct plan){ 0 };
	*error = (struct config_error){ 0 };
	rv = take_overrides(config, overrides, count, &submit, error);
	if (rv == -1)
		goto out;
	profile = get_text(&layers, "review.profile");
	plan->profile = layers.profile = profile_find(profile);
	free(profile);
	for (int role = 0; rv == 0 && role < ROLES; role++)
		rv = fill_agent(&layers, (enum role)role, &plan->agents[ROLE_IMPLEMENT], &plan->agents[role], error);
	if (rv == -1)
		goto out;
	fill_review(&layers, plan);
	plan->max_fixes = get_number(&layers, "review.max_fixes");
	plan->stall_limit = get_number(&layers, "review.stall_limit");
	plan->on_lost = (enum on_lost)get_number(&layers, "run.on_lost");
	plan->developer_prompt = get_text(&layers, "review.developer_prompt");
	plan->timeout_ms = get_number(&layers, "limits.timeout");
	plan->review_timeout_ms = get_number(&layers, "review.timeout");
	plan->idle_timeout_ms = get_number(&layers, "limits.idle_timeout");
	plan->grace_ms = get_number(&layers, "limits.grace");
	plan->output_bytes = get_number(&layers, "limits.output");
	plan->env = get_words(&layers, "run.env");
	rv = check_prompt(&layers, "review.developer_prompt", plan->developer_prompt, error);
	if (rv == 0)
		rv = check_prompt(&layers, "review.reviewer_prompt", plan->reviewer_prompt, error);
out:
	if (rv == -1)
		plan_release(plan);
	values_release(&submit);
	return rv;
}
