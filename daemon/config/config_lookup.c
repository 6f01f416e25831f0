/* SPDX-License-Identifier: MIT */
/* Effective values that belong to no run: of the daemon, its groups, accounts and agents. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_int.h"
#include "config/layers.h"
#include "core/row.h"
#include "proto/memory.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of [review] and of every profile, because the run's profile is not known here. */
static void add_review_env(const struct config *config, char ***names)
{
	const struct setting *setting = setting_find("review.env", NULL);
	const struct values *values = config_values(config);
	const json_t *name;
	size_t k;

	for (size_t i = 0; i < values->count; i++) {
		if (values->list[i].setting != setting)
			continue;
		json_array_foreach(values->list[i].json, k, name)
			strings_append(names, json_string_value(name));
	}
}

char **config_collect_env(const struct config *config)
{
	char **names = xcalloc(1, sizeof(*names));
	size_t count, kept = 0;

	for (size_t i = 0; config->agents[i] != NULL; i++) {
		char *path = xasprintf("agent.%s.env", config->agents[i]);
		json_t *env = layers_get(&(struct layers){ .config = config }, path, NULL);
		const json_t *name;
		size_t k;

		json_array_foreach(env, k, name)
			strings_append(&names, json_string_value(name));
		json_decref(env);
		free(path);
	}
	add_review_env(config, &names);
	count = strings_count(names);
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && strcmp(names[kept - 1], names[i]) == 0)
			free(names[i]);
		else
			names[kept++] = names[i];
	}
	names[kept] = NULL;
	return names;
}

int64_t config_parallel(const struct config *config)
{
	json_t *json = layers_get(&(struct layers){ .config = config }, "parallel", NULL);
	int64_t parallel = json_integer_value(json);

	json_decref(json);
	return parallel;
}

static char *text_at(const struct config *config, const char *key)
{
	json_t *json = layers_get(&(struct layers){ .config = config }, key, NULL);
	char *text = xstrdup(json_string_value(json));

	json_decref(json);
	return text;
}

char *config_attest_key(const struct config *config)
{
	return text_at(config, "attest_key");
}

char *config_agent_user(const struct config *config)
{
	return text_at(config, "agent_user");
}

/* ROW_NONE if unset. */
static int64_t number_at(const struct config *config, const char *path)
{
	json_t *json = layers_get(&(struct layers){ .config = config }, path, NULL);
	int64_t number = json != NULL ? setting_number(setting_find(path, NULL), json) : ROW_NONE;

	json_decref(json);
	return number;
}

/* 0 if unset. */
static int64_t limit_at(const struct config *config, const char *path)
{
	int64_t number = number_at(config, path);

	return number != ROW_NONE ? number : 0;
}

int64_t config_attempt_memory(const struct config *config)
{
	return limit_at(config, "limits.memory");
}

int64_t config_attempt_processes(const struct config *config)
{
	return limit_at(config, "limits.processes");
}

struct retention_policy config_keep(const struct config *config, bool *automatic)
{
	*automatic = number_at(config, "keep.automatic") == 1;
	return (struct retention_policy){
		.age = number_at(config, "keep.age"), .failures = number_at(config, "keep.failures"),
		.number = number_at(config, "keep.number"), .size = number_at(config, "keep.size"),
	};
}

void config_groups(const struct config *config, char ***names, int64_t **slots)
{
	*names = strings_copy(config->groups);
	*slots = xcalloc(strings_count(config->groups), sizeof(**slots));
	for (size_t i = 0; config->groups[i] != NULL; i++) {
		char *path = xasprintf("group.%s.slots", config->groups[i]);
		json_t *json = layers_get(&(struct layers){ .config = config }, path, NULL);

		(*slots)[i] = json_integer_value(json);
		json_decref(json);
		free(path);
	}
}

/* New reference, NULL if unset. */
static json_t *get_of_account(const struct config *config, const char *name, const char *key,
    const struct setting **setting)
{
	char *path = xasprintf("account.%s.%s", name, key);
	json_t *json = layers_get(&(struct layers){ .config = config }, path, NULL);

	*setting = setting_find(path, NULL);
	free(path);
	return json;
}

/* ROW_NONE if unset. */
static int64_t number_of_account(const struct config *config, const char *name, const char *key)
{
	const struct setting *setting;
	json_t *json = get_of_account(config, name, key, &setting);
	int64_t number = json != NULL ? setting_number(setting, json) : ROW_NONE;

	json_decref(json);
	return number;
}

struct config_account *config_accounts(const struct config *config, size_t *count)
{
	struct config_account *accounts;

	*count = strings_count(config->accounts);
	accounts = xcalloc(*count, sizeof(*accounts));
	for (size_t i = 0; i < *count; i++) {
		const char *name = config->accounts[i];
		const struct setting *setting;
		json_t *usd = get_of_account(config, name, "budget_day_usd", &setting);

		accounts[i] = (struct config_account){
			.name = name,
			.cooldown_max_ms = number_of_account(config, name, "cooldown_max"),
			.budget_day_usd = usd != NULL ? setting_money(usd) : (double)NAN,
			.budget_day_tokens = number_of_account(config, name, "budget_day_tokens"),
			.budget_day_wall_ms = number_of_account(config, name, "budget_day_wall"),
		};
		json_decref(usd);
	}
	return accounts;
}

struct config_principal *config_access(const struct config *config, bool system, size_t *count)
{
	struct config_principal *list = xcalloc(1, sizeof(*list));
	bool unset = values_find(&config->values, "access.submit") == NULL;

	*count = 0;
	for (enum rank rank = RANK_READ; rank < RANKS; rank++) {
		char *path = xasprintf("access.%s", state_name(&rank_names, (int)rank));
		const struct value *value = values_find(&config->values, path);
		const json_t *name;
		size_t i;

		json_array_foreach(value != NULL ? value->json : NULL, i, name) {
			list = xreallocarray(list, *count + 2, sizeof(*list));
			list[(*count)++] = (struct config_principal){ rank, json_string_value(name), value->line };
		}
		free(path);
	}
	if (system && unset)
		list[(*count)++] = (struct config_principal){ RANK_SUBMIT, "@" ACCESS_GROUP, 0 };
	return list;
}

char *config_agent_set(const struct config *config, const char *agent, const char *name)
{
	char *path = xasprintf("agent.%s.set", agent), *value = NULL;
	json_t *set = NULL;

	if (strings_contain(config->agents, agent))
		set = layers_get(&(struct layers){ .config = config }, path, NULL);
	value = xstrdup(json_string_value(json_object_get(set, name)));
	json_decref(set);
	free(path);
	return value;
}
